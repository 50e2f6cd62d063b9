//! Keeps a bounds-free answer on a handful of rows from looking like a number.
//!
//! A rank-based answer can lie anywhere unless there are as many rows on the shorter side of its quantile as it may be off.
//! The number of rows is public under replace, stated by the data holder, or bought with a small share of epsilon.

use super::count::{whole_noise, within};
use crate::plan::{PlanError, Said};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Loss},
    mechanism::laplace,
    ratio::Ratio,
};

/// One part in this many of epsilon buys the number of rows.
const SHARE: u64 = 20;

/// How the number of rows is known.
#[derive(Clone, Debug)]
pub(crate) enum Guard {
    /// Public: replace adjacency.
    Public,
    /// Stated by the data holder.
    Declared(u64),
    /// Bought: noise, and how far it goes.
    Bought { noise: Box<laplace::Calibrated>, within: i64 },
}

/// How many rows there seem to be.
pub(crate) struct Counted {
    known: i64,
    pub noisy_rows: Option<i64>,
}

impl Counted {
    pub fn at_least(&self, needed: u64) -> bool {
        u64::try_from(self.known).is_ok_and(|known| known >= needed)
    }
}

impl Guard {
    /// The guard that the request's words lead to, and the epsilon that is left for the answer.
    pub fn plan(said: &Said) -> Result<(Self, Eps), PlanError> {
        if let Some(rows) = said.rows()? {
            return Ok((Self::Declared(rows), said.eps().clone()));
        }
        if said.adjacency() == Adjacency::Replace {
            return Ok((Self::Public, said.eps().clone()));
        }
        let share = Eps::new(said.eps().ratio() / &Ratio::from(SHARE))?;
        let noise = whole_noise(&share)?;
        let within = within(&noise, said.failure())?;
        let rest = Eps::new(said.eps().ratio() - share.ratio())?;
        Ok((Self::Bought { noise: Box::new(noise), within }, rest))
    }

    /// What the number of rows costs, where it is bought.
    pub fn cost(&self) -> Option<Loss> {
        match self {
            Self::Bought { noise, .. } => Some(noise.cost()),
            Self::Public | Self::Declared(_) => None,
        }
    }

    /// The number of rows is at most so far below what it seems, but for this chance.
    pub fn margin(&self, failure: &Ratio) -> Result<u64, PlanError> {
        match self {
            Self::Public | Self::Declared(_) => Ok(0),
            Self::Bought { noise, .. } => Ok(within(noise, failure)?.unsigned_abs()),
        }
    }

    /// A declared number of rows that is too small needs no data to be refused.
    pub fn check_declared(&self, rank_error: u64, needed: u64) -> Result<(), PlanError> {
        match self {
            Self::Declared(rows) if *rows < needed => Err(PlanError::line(format!(
                "{rows} rows are too few: the answer may be off by {rank_error} ranks, which takes at least {needed} rows; \
                 raise epsilon, or declare --range and --resolution"
            ))),
            _ => Ok(()),
        }
    }

    /// How many rows there seem to be. Draws its noise in every case.
    pub fn count<C: Coins>(&self, rows: u64, coins: &mut C) -> Counted {
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        let (known, noisy_rows) = match self {
            Self::Public => (rows, None),
            Self::Declared(declared) => (i64::try_from(*declared).unwrap_or(i64::MAX), None),
            Self::Bought { noise, .. } => {
                let noisy = noise.run_whole(rows, coins);
                (noisy, Some(noisy))
            }
        };
        Counted { known, noisy_rows }
    }

    /// The words for a plan: from how many rows on there is an answer.
    pub fn words(&self, needed: u64) -> String {
        match self {
            Self::Declared(rows) => format!("released: the {rows} rows that were declared are enough"),
            Self::Public => format!("refused with fewer than {needed} rows"),
            Self::Bought { .. } => format!("refused when {} is below {needed}", self.counted()),
        }
    }

    /// The same for several quantiles, each of which is told or not.
    pub fn list_words(&self, needed: &[u64]) -> String {
        let each = needed.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let rows = match self {
            Self::Declared(rows) => format!("the {rows} rows that were declared are"),
            Self::Public => "the number of rows is".to_string(),
            Self::Bought { .. } => format!("{} is", self.counted()),
        };
        format!("each is told where {rows} at least {each} in turn")
    }

    fn counted(&self) -> String {
        match self {
            Self::Bought { within, .. } => {
                format!("a noisy count of the rows (off by at most {within}, from 1/{SHARE} of epsilon)")
            }
            Self::Public | Self::Declared(_) => "the number of rows".to_string(),
        }
    }

    /// What to do after a refusal.
    pub fn advice(&self, rank_error: u64, needed: u64) -> String {
        let or_state = match self {
            Self::Bought { .. } => ", or state --rows where their number is public",
            Self::Public | Self::Declared(_) => "",
        };
        format!(
            "too few rows: the answer may be off by {rank_error} ranks, which takes at least {needed} rows; \
             raise epsilon, or declare --range and --resolution{or_state}"
        )
    }
}

/// From how many rows on a quantile that may be off by so many ranks lies among the rows: there are as many on its shorter
/// side.
pub(crate) fn needed(rank_error: u64, fraction: &Ratio) -> u64 {
    let shorter = fraction.clone().min(Ratio::one() - fraction);
    let rows = (Ratio::from(rank_error) / shorter).ceil_i64();
    rows.and_then(|rows| u64::try_from(rows).ok()).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gather::tests::{FixedWords, Memory, all_rows},
        plan::{DataFacts, Plan},
        request::Request,
    };
    use serde_json::Value;

    fn plan(request: &Request) -> Result<Plan, PlanError> {
        let facts = DataFacts {
            name: "people".into(),
            columns: vec!["salary".into()],
            registered: None,
            kinds: Vec::new(),
        };
        Plan::new(request, &facts)
    }

    fn asked(statistic: &str, epsilon: &str) -> Request {
        Request { column: Some("salary".into()), epsilon: Some(epsilon.into()), ..Request::new(statistic) }
    }

    /// Answers from so many rows between 10,000 and 10,000 plus their number.
    fn answers(request: &Request, rows: u32, many: usize) -> Vec<Option<Value>> {
        let plan = plan(request).unwrap();
        let memory = Memory::new((0..rows).map(|row| 10_000.0 + f64::from(row)).collect(), &["a"]);
        let gathered = all_rows(&memory, &plan.needs(), 1);
        let mut words = FixedWords(11);
        (0..many).map(|_| plan.task().answer(&gathered, &mut words).value).collect()
    }

    #[test]
    fn the_shorter_side_must_hold_the_rank_error() {
        let needed = |error, fraction: &str| needed(error, &fraction.parse().unwrap());
        assert_eq!(
            [needed(50, "0.5"), needed(50, "0.75"), needed(50, "0.01"), needed(50, "0.99")],
            [100, 200, 5000, 5000]
        );
        assert_eq!([needed(0, "0.5"), needed(7, "0.3")], [1, 24]);
    }

    /// The 0.99 quantile of a thousand rows was released, and lay beyond all of them in 97 cases of 100.
    #[test]
    fn extreme_quantiles_are_refused_or_lie_among_the_rows() {
        for fraction in ["0.5", "0.9", "0.99", "0.001"] {
            let request = Request { fraction: Some(fraction.into()), ..asked("quantile", "5") };
            let rank = plan(&request).unwrap().expected().error.unwrap().rank.unwrap().as_u64().unwrap();
            let rows = u32::try_from(needed(rank, &fraction.parse().unwrap())).unwrap();
            let stated = |rows: u32| Request { rows: Some(rows.to_string()), ..request.clone() };
            assert!(plan(&stated(rows / 2)).unwrap_err().to_string().contains("rows are too few"));
            let answers = answers(&stated(rows), rows, 100);
            let among = |value: &&Option<Value>| {
                let value = value.as_ref().unwrap().as_f64().unwrap();
                (10_000.0..10_000.0 + f64::from(rows)).contains(&value)
            };
            // At least 95 of 100, and in fact all: the bound is over all data sets.
            assert!(answers.iter().filter(among).count() >= 95, "{fraction}");
        }
    }

    /// The quantiles 0.05 and 0.95 of a summary were numbers like 1e-41 and 1e151.
    #[test]
    fn a_list_tells_the_quantiles_that_there_are_rows_enough_for() {
        let request = Request { fraction: Some("0.01,0.5,0.99".into()), ..asked("quantile", "4") };
        for value in answers(&request, 1000, 50) {
            let value = value.expect("the middle one is told");
            assert!(value[0].is_null() && value[2].is_null(), "{value}");
            assert!((10_000.0..11_000.0).contains(&value[1].as_f64().unwrap()), "{value}");
        }
        assert!(answers(&request, 10, 50).iter().all(Option::is_none));
    }

    /// A searched range lay anywhere with fewer rows than four times the ranks that a quartile may be off, and the mean of no
    /// rows was released at a large epsilon.
    #[test]
    fn means_over_a_searched_range_need_rows_around_both_quartiles() {
        for statistic in ["sum", "mean", "variance"] {
            assert!(answers(&asked(statistic, "1000"), 0, 20).iter().all(Option::is_none), "{statistic}");
        }
        let few = Request { rows: Some("500".into()), ..asked("mean", "1") };
        assert!(plan(&few).unwrap_err().to_string().contains("a range is found from about 5"));
        let answers = answers(&asked("mean", "1"), 620, 200);
        let means: Vec<f64> = answers.into_iter().flatten().map(|value| value.as_f64().unwrap()).collect();
        // Each quartile may be farther off in one case of twenty, where rows are as bad as they can be.
        let near = means.iter().filter(|mean| (5_000.0..15_000.0).contains(*mean)).count();
        assert!(means.len() > 100 && near * 10 >= means.len() * 9, "{near} of {}", means.len());
    }
}
