//! The global minimum cut of a graph while its edges come and go.
//!
//! - [`fixed`]: the cut of a graph that stands still (Nagamochi, Ono, Ibaraki), with a certificate and a witness.
//! - [`exact`]: the exact cut after every change. Deterministic, so nobody can steer it: use this one.
//! - [`sampled`]: an approximate cut from samples, for [`copies`](super::copies); [`attack`] breaks one without.
//! - [`stoer_wagner`] and [`karger_stein`] are simple algorithms that the tests compare with; [`kinds`] has graphs to try.
//!
//! # Example
//!
//! ```
//! use equipoise_robust::min_cut::{exact::MinCut, graph::{Change, EdgeWeight, Graph}};
//!
//! let edge = |u, v| EdgeWeight { ends: [u, v], weight: 1 };
//! let mut cut = MinCut::new(Graph::with_edges(4, [edge(0, 1), edge(1, 2), edge(2, 3), edge(3, 0)])?);
//! assert_eq!(cut.value(), 2);
//! cut.change(Change::Delete(edge(1, 2)))?;
//! assert_eq!(cut.value(), 1);
//! assert!(cut.change(Change::Delete(edge(1, 2))).is_err());
//! # Ok::<(), equipoise_robust::min_cut::graph::Misfit>(())
//! ```

pub mod attack;
pub mod exact;
pub mod fixed;
mod flow;
mod forests;
pub mod graph;
pub mod karger_stein;
pub mod kinds;
pub mod sampled;
pub mod stoer_wagner;
