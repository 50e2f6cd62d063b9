//! Accounting for many releases: filters that stop in time, odometers, and the total of a fixed plan.
//!
//! | question | answer |
//! |---|---|
//! | may this release still run? | [`Filter`] |
//! | how much has been lost by now? | [`Odometer`], readable at any time |
//! | what will this fixed list of releases cost? | [`Plan`], under every accountant |
//!
//! # Which is tightest
//!
//! For parameters that are fixed beforehand the privacy-loss distribution is: it is the curve itself, up to
//! its grid, for the worst pair of every mechanism (Kairouz, Oh and Viswanath show that nothing better exists
//! for releases of which only (epsilon, delta) is known). Renyi curves come next, then zCDP, which is a line
//! above them, then the basic sum; the basic sum wins for a few releases and for delta 0. The plan shows all.
//! For parameters that are chosen along the way only a filter or an odometer is a guarantee; of the filters,
//! zCDP costs nothing against the same sum fixed beforehand.
//!
//! # Interactive mechanisms that run side by side
//!
//! A filter stays valid when interactive mechanisms (a monitor, a sparse vector) are open at the same time and
//! the analyst goes back and forth between them, as long as each is charged in full when it is opened
//! (Haney, Shoemate, Tian, Vadhan, Vyrros, Xu and Zhang, "Concurrent composition for interactive differential
//! privacy with adaptive privacy-loss parameters", 2023: for (epsilon, delta), Renyi and zCDP filters). So an
//! opened mechanism needs no other care than its charge.

mod event;
mod filter;
mod homogeneous;
mod odometer;
mod plan;
mod pld;

pub use event::Event;
pub use filter::{Exceeded, Filter};
pub use homogeneous::Homogeneous;
pub use odometer::{Odometer, Reading};
pub use plan::{Accountant, Plan, Total};
pub use pld::LossDistribution;
