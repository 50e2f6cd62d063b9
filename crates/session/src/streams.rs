//! Mechanisms that answer one question after another, paid for as a whole before the first.
//!
//! What is charged is what calibration says that all answers together cost, for ever: a filter in front of the mechanism would
//! have nothing to add, because its own budgets (positive answers, corrections) stop it. Other charges may come in between: the
//! losses of interactive mechanisms add up like those of single answers.
//!
//! A stream lives in memory and ends with it. Threshold questions about records, with a budget for each, have a module of their
//! own: [`monitor`](crate::monitor).

use crate::{
    answer::Answer,
    caution,
    error::PlanError,
    facts::DataFacts,
    ledger::{DataSet, Receipt},
    planned::PlanSummary,
    release::{Promise, Release, Spent},
    session::{Charged, Held, Paid, PayError, Priced, Session},
    statistic::Argument,
    unanswered::Unanswered,
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::{Approx, Loss},
    monitor::{
        above_threshold::{self, Questions},
        holdout::{self, Asking},
    },
    ratio::Ratio,
    wording,
};
use serde_json::json;

/// A calibrated mechanism.
#[derive(Clone, Debug)]
pub enum Stream {
    /// Threshold questions until a number of positive answers; neighbours are those of its sensitivity.
    AboveThreshold(Box<above_threshold::Calibrated>, Adjacency),
    /// A holdout that lasts.
    Holdout(Box<holdout::Calibrated>),
}

/// A mechanism in use.
pub enum Started {
    /// Threshold questions until a number of positive answers.
    AboveThreshold(Box<Questions>),
    /// A holdout that lasts.
    Holdout(Box<Asking>),
}

impl Stream {
    /// The mechanism by name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::AboveThreshold(..) => "above-threshold",
            Self::Holdout(_) => "holdout",
        }
    }

    /// What all its answers together cost.
    pub fn cost(&self) -> Approx {
        let loss = match self {
            Self::AboveThreshold(mechanism, _) => mechanism.cost(),
            Self::Holdout(mechanism) => mechanism.cost(),
        };
        match loss {
            Loss::Approx(cost) => cost,
            Loss::Zcdp(_) | Loss::Renyi(_) => unreachable!("these are calibrated in (epsilon, delta)"),
        }
    }

    /// The adjacency that the cost is about.
    pub fn adjacency(&self) -> Adjacency {
        match self {
            Self::AboveThreshold(_, adjacency) => *adjacency,
            Self::Holdout(_) => Adjacency::Replace,
        }
    }

    /// What the budget of a data set is charged, and in which terms. Records are rows here.
    fn charge(&self, facts: &DataFacts) -> Result<(Approx, DataSet), PlanError> {
        crate::windows::none(facts)?;
        let (unit, adjacency) = facts.registered.clone().unwrap_or((Unit::Row, self.adjacency()));
        let name = facts.name.clone();
        let cost = match (self.adjacency(), adjacency, &unit) {
            (_, _, Unit::Column(column)) => {
                return Err(PlanError::about(
                    Argument::Unit,
                    format!(
                        "'{}' is registered with the unit {}, and a {} is promised for rows",
                        wording::shown(&name),
                        wording::shown(column),
                        self.name()
                    ),
                )
                .hint("ask of it under another name"));
            }
            (Adjacency::Replace, Adjacency::AddRemove, Unit::Row) => {
                return Err(PlanError::about(
                    Argument::Adjacency,
                    format!(
                        "'{}' is registered with add-remove, and this {} promises replace",
                        wording::shown(&name),
                        self.name()
                    ),
                )
                .hint("ask of it under another name"));
            }
            (Adjacency::AddRemove, Adjacency::Replace, Unit::Row) => self.cost().two_steps(),
            _ => self.cost(),
        };
        Ok((cost, DataSet { name, unit, adjacency }))
    }
}

/// A stream with the budget that pays for it.
struct Offered<'a> {
    stream: &'a Stream,
    cost: Approx,
    data_set: DataSet,
}

impl Priced for Offered<'_> {
    fn data_set(&self) -> DataSet {
        self.data_set.clone()
    }

    fn asked(&self) -> String {
        json!({ "statistic": self.stream.name() }).to_string()
    }

    fn summary(&self) -> PlanSummary {
        let (expected, stated) = self.stream.expected();
        let promised = self.stream.cost();
        let guarantee = Promise {
            max_rows_per_unit: None,
            max_groups_per_unit: None,
            once_for_each_value: false,
            per_unit: false,
            composition: None,
            epsilon: promised.eps.to_exact(),
            delta: promised.delta.to_exact(),
            adjacency: self.stream.adjacency().to_string(),
            unit: Unit::Row.to_string(),
            windows: None,
        };
        PlanSummary {
            warnings: caution::warnings(&guarantee, caution::Rows::Unknown),
            expected,
            stated,
            mechanism: self.stream.name().to_string(),
            charge: Spent::from(&self.cost),
            ..PlanSummary::bare(self.stream.name(), &self.data_set.name, guarantee)
        }
    }

    fn price(&self) -> Approx {
        self.cost.clone()
    }
}

impl Stream {
    /// What it will cost the budget of a data set, and what can be told of its answers. Free, and blind.
    pub fn plan(&self, facts: &DataFacts) -> Result<PlanSummary, PlanError> {
        let (cost, data_set) = self.charge(facts)?;
        Ok(Offered { stream: self, cost, data_set }.summary())
    }

    /// What can be told of the answers, and what the caller answers for.
    fn expected(&self) -> (String, Vec<String>) {
        match self {
            Self::AboveThreshold(mechanism, _) => {
                const QUESTIONS: u64 = 1000;
                let right = mechanism.accuracy(QUESTIONS, &Ratio::new(5, 100));
                let stream = mechanism.parameters();
                let together = if stream.monotone { ", all the same way" } else { "" };
                let expected = format!(
                    "answers to any number of questions, until {} above; of {QUESTIONS} questions none is answered wrongly with \
                     probability 0.95 whose number lies {} or more from the threshold",
                    if stream.cutoff == 1 { "one is".to_string() } else { format!("{} are", stream.cutoff) },
                    right.to_short_up(6, 12)
                );
                let moves = stream.sensitivity.to_exact();
                (
                    expected,
                    vec![format!(
                        "numbers that one row moves by at most {moves}{together}, as stated by the caller"
                    )],
                )
            }
            Self::Holdout(mechanism) => {
                let holdout = mechanism.parameters();
                let expected = format!(
                    "answers to {} questions, of which {} can be corrected by the holdout; with probability {} every answer is within {} of \
                     the mean of the population",
                    holdout.questions,
                    holdout.corrections,
                    (Ratio::one() - &holdout.beta * &Ratio::from(2u64)).to_short_down(6, 12),
                    mechanism.accuracy().to_short_up(6, 12)
                );
                let rows = format!(
                    "{} rows that are independent draws of the population, as stated by the caller",
                    holdout.rows
                );
                (expected, vec![rows])
            }
        }
    }
}

impl Session {
    /// Pay for all answers of a stream, durably, and start it.
    pub fn start_stream(
        &mut self,
        stream: &Stream,
        facts: &DataFacts,
    ) -> Result<(Started, Receipt), StreamError> {
        let (cost, data_set) = stream.charge(facts)?;
        let Paid::Charged(charged) = self.charge(Offered { stream, cost, data_set }, None)? else {
            unreachable!("without a request id every request is new")
        };
        let Charged { plan, charge } = *charged;
        let release = Release::of(&plan.summary(), Answer::given_elsewhere(), &charge);
        let release = self.record(Held::new(release, charge))?;
        let coins = &mut self.coins;
        let started = match stream {
            Stream::AboveThreshold(mechanism, _) => Started::AboveThreshold(Box::new(mechanism.start(coins))),
            Stream::Holdout(mechanism) => Started::Holdout(Box::new(mechanism.start(coins))),
        };
        Ok((started, release.receipt.expect("a recorded release has a receipt")))
    }
}

/// A stream was not started. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamError {
    /// The data set is promised something else.
    Plan(PlanError),
    /// It could not be paid for.
    Pay(PayError),
    /// It was paid for and could not be recorded; the charge stands.
    Lost(Unanswered),
}

impl std::fmt::Display for StreamError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::Pay(error) => error.fmt(f),
            Self::Lost(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StreamError {}

impl From<PlanError> for StreamError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl From<PayError> for StreamError {
    fn from(error: PayError) -> Self {
        Self::Pay(error)
    }
}

impl From<Unanswered> for StreamError {
    fn from(error: Unanswered) -> Self {
        Self::Lost(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Ledger;
    use equipoise_core::{
        mechanism::Values,
        monitor::{
            above_threshold::{AboveThreshold, Form},
            holdout::Holdout,
        },
        ratio::Ratio,
    };

    fn threshold(eps: &str) -> Stream {
        let mechanism = AboveThreshold {
            eps: eps.parse().unwrap(),
            threshold: Ratio::from(100u64),
            sensitivity: Ratio::one(),
            grid: Ratio::one(),
            values: Values::OnGrid,
            cutoff: 3,
            monotone: true,
            form: Form::OneSided,
        };
        Stream::AboveThreshold(Box::new(mechanism.calibrate().unwrap()), Adjacency::AddRemove)
    }

    fn holdout() -> Stream {
        let mechanism = Holdout {
            rows: 50_000,
            questions: 1000,
            corrections: 30,
            tolerance: "0.05".parse().unwrap(),
            threshold: "0.04".parse().unwrap(),
            beta: "0.05".parse().unwrap(),
            eps: "1".parse().unwrap(),
        };
        Stream::Holdout(Box::new(mechanism.calibrate().unwrap()))
    }

    fn start(session: &mut Session, stream: &Stream, name: &str) -> Result<Receipt, StreamError> {
        let facts = crate::session::facts(Some(session.ledger()), name, &[]).unwrap();
        session.start_stream(stream, &facts).map(|(_, receipt)| receipt)
    }

    fn spent(session: &Session, name: &str) -> (String, String) {
        let balance = session.ledger().balance(name, None).unwrap();
        (balance.spent().eps.to_string(), balance.spent().delta.to_string())
    }

    #[test]
    fn what_is_calibrated_is_charged_once_for_all_answers() {
        let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        start(&mut session, &threshold("0.25"), "people").unwrap();
        start(&mut session, &threshold("0.5"), "people").unwrap();
        assert_eq!(spent(&session, "people"), ("0.75".into(), "0".into()));
        start(&mut session, &holdout(), "rows").unwrap();
        assert_eq!(spent(&session, "rows"), ("1".into(), "0".into()));
        let verified = session.ledger().verify(None).unwrap();
        assert_eq!((verified.charges, verified.recorded), (3, 3));
        // Where replacing is counted, coming and going are two steps.
        start(&mut session, &threshold("0.25"), "rows").unwrap();
        assert_eq!(spent(&session, "rows").0, "1.5");
    }

    #[test]
    fn what_does_not_fit_is_refused_and_not_charged() {
        let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        start(&mut session, &threshold("1"), "people").unwrap();
        let error = start(&mut session, &holdout(), "people").unwrap_err().to_string();
        assert!(
            error.starts_with("'people' is registered with add-remove, and this holdout promises replace")
        );
        let unit = Unit::Column("id".into());
        let visits = DataSet { name: "visits".into(), unit, adjacency: Adjacency::AddRemove };
        session.ledger.register(&visits, None).unwrap();
        let error = start(&mut session, &threshold("0.5"), "visits").unwrap_err().to_string();
        assert!(error.starts_with("'visits' is registered with the unit id"), "{error}");
        let limit = Approx::new(&"1.2".parse().unwrap(), &"1e-5".parse().unwrap());
        session.ledger.set_limit("people", None, Some(&limit.into())).unwrap();
        assert!(matches!(start(&mut session, &threshold("0.5"), "people"), Err(StreamError::Pay(_))));
        assert_eq!(spent(&session, "people").0, "1");
    }
}
