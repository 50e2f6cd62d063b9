//! All that an analysis of your own takes, in one line: `use equipoise_session::prelude::*;`.
//!
//! | you have | plan | behind the charge |
//! |---|---|---|
//! | a value, and what you know of it | [`StatedPlan`] of a [`StatedRequest`]: one of [`CALLS`] | [`Session::answer_stated`] with what you [`Found`], [`Session::answer_subsets`] for a function of subsets |
//! | a score that rows add up | [`ScoredPlan`] of a [`ScoredRequest`] | [`Session::answer_scored`] |
//! | rows that name edges | [`GraphPlan`] of a [`GraphRequest`] | [`Session::answer_graph`] |
//! | a function of blocks of rows | [`VotePlan`] of a [`VoteRequest`] | [`Session::count_votes`] |
//!
//! Each is planned for free, charged, and then answered: a [`Charged`] plan, which only [`Session::charge`] makes, is used up by its answer.
//! [`refute_distance`] and [`refute_slack`] search small data sets for what is wrong with a distance, and [`Simulated`] rehearses counts and
//! choices on public rows. Estimators that others react to are in `equipoise_robust::around`.
//!
//! ```
//! use equipoise_session::prelude::*;
//!
//! let mut session = Session::new(Ledger::in_memory()?, None)?;
//! let text = |text: &str| Some(text.to_string());
//!
//! // The price of a digital good: what it brings is 1 at most of one person, and all people add.
//! let bids = [0.5; 1000].into_iter().chain([0.3; 1000]);
//! let prices = ["0.1", "0.3", "0.5", "0.9"];
//! let request = StatedRequest {
//!     statistic: "choose".into(),
//!     epsilon: text("2"),
//!     sensitivity: text("1"),
//!     monotone: true,
//!     options: prices.map(Into::into).to_vec(),
//!     ..StatedRequest::default()
//! };
//! let plan = StatedPlan::new(&request, &facts(Some(session.ledger()), "bids", &[])?)?;
//! let Paid::Charged(charged) = session.charge(plan, None)? else { unreachable!("it is new") };
//! let revenue = |price: f64| price * bids.clone().filter(|bid| *bid >= price).count() as f64;
//! let numbers = prices.iter().map(|price| revenue(price.parse().unwrap())).collect();
//! let release = session.answer_stated(*charged, Some(&Found { numbers, ..Found::default() }))?;
//! assert_eq!(release.value, "0.3", "600 against 500; another one has a chance below e^-90");
//! assert_eq!(release.stated[0], "scores of sensitivity 1, monotone, as stated by the caller");
//!
//! // What is stated can be wrong, and small data sets show it: this distance moves by two.
//! let twice = |rows: &[i64]| Some(2 * rows.len() as u64);
//! assert!(refute_distance(twice, |rows| rows.is_empty(), &[0, 1], 3, Adjacency::AddRemove).is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::{
    error::PlanError,
    facts::DataFacts,
    graph::{GraphPlan, GraphRequest},
    ledger::Ledger,
    planned::PlanSummary,
    release::Release,
    session::{Charged, Paid, Priced, Session, facts},
    simulate::{Simulated, Simulation},
    source::Source,
    stated::{CALLS, Found, ScoredPlan, ScoredRequest, StatedPlan, StatedRequest},
    unanswered::Unanswered,
    votes::{VotePlan, VoteRequest},
};
pub use equipoise_core::{
    adjacency::Adjacency,
    refute::{Refutation, refute_distance, refute_slack},
};
