//! Keeps a bounds-free answer on a handful of rows from looking like a number.
//!
//! A rank-based answer can lie anywhere unless there are as many rows on the shorter side of its quantile as it may be off.
//! The number of rows is public under replace, stated by the data holder, or bought with a share of epsilon.
//!
//! # Which share
//!
//! A larger share leaves less for the answer, which then needs more rows; a smaller one makes the number of rows so noisy that
//! enough rows seem too few. From so many rows on, 99 of 100 answers are released: what the answer needs, and how far the noise
//! falls once in a hundred times, ln(50) over the epsilon that it has. The share is the one of [`SHARES`] for which these
//! rows times the error of the answer, which grows as one over what is left, are fewest. It depends on the words of the
//! question alone: its fraction, its lattice and its confidence.

use super::{
    count::{whole_noise, within},
    holding::{DOUBT, Holding},
};
use crate::{
    bar::{Condition, ErrorBar},
    error::PlanError,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::{Nulls, RowFacts},
    statistic::Argument,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Loss},
    mechanism::laplace,
    ratio::Ratio,
};
use std::sync::Arc;

/// The parts of epsilon that may buy the number of rows, as fractions.
const SHARES: [(i64, u64); 4] = [(1, 40), (1, 20), (1, 10), (3, 20)];

/// Noise falls below this over its epsilon once in a hundred times: the logarithm of 50, for one of two sides.
const FALLS: f64 = 3.912;

/// How the number of rows is known.
#[derive(Clone, Debug)]
pub(crate) enum MinimumRows {
    /// Public: replace adjacency. A number that was stated besides only says beforehand what will be refused.
    Public { stated: Option<u64> },
    /// Stated by the data holder.
    Declared(u64),
    /// Bought: noise, and how far it goes.
    Bought {
        noise: Arc<laplace::Calibrated>,
        within: i64,
        share: (i64, u64),
        stated: Stated,
        holding: Holding,
    },
}

/// What came of `--rows` where the number was bought all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stated {
    /// It was not said, and would help.
    Helps,
    /// It would not be believed, or not accepted.
    WouldNotHelp,
    /// It was said and not believed.
    NotBelieved,
}

/// How many rows there seem to be.
pub(crate) struct Counted {
    known: i64,
    pub noisy_rows: Option<i64>,
}

impl Counted {
    /// As a number of rows.
    pub fn known(&self) -> u64 {
        u64::try_from(self.known).unwrap_or(0)
    }

    pub fn at_least(&self, needed: u64) -> bool {
        u64::try_from(self.known).is_ok_and(|known| known >= needed)
    }
}

impl MinimumRows {
    /// The guard that the request's words lead to, and the epsilon that is left for the answer.
    ///
    /// A stated number is believed only where all rows take part: beside a filter or a bound on a person's rows it may be
    /// about others, and few rows would pass for many.
    ///
    /// `needed` is how many rows an answer with this epsilon takes, from public words.
    pub fn plan(
        said: &ResolvedRequest,
        needed: impl Fn(&Eps) -> Option<u64>,
    ) -> Result<(Self, Eps), PlanError> {
        let stated = match (said.adjacency(), said.rows()?) {
            (Adjacency::Replace, stated) => return Ok((Self::Public { stated }, said.eps().clone())),
            (Adjacency::AddRemove, Some(rows)) if said.takes_all_rows() => {
                return Ok((Self::Declared(rows), said.eps().clone()));
            }
            (Adjacency::AddRemove, Some(_)) => Stated::NotBelieved,
            (Adjacency::AddRemove, None) if said.takes_all_rows() && !said.is_by_group() => Stated::Helps,
            (Adjacency::AddRemove, None) => Stated::WouldNotHelp,
        };
        let share = best_share(said.eps(), needed)?;
        let (bought, rest) = split(said.eps(), share)?;
        let noise = whole_noise(&bought)?;
        let within = within(&noise, said.failure())?;
        let holding = Holding::of(said);
        Ok((Self::Bought { noise, within, share, stated, holding }, rest))
    }

    /// What the number of rows costs, where it is bought.
    pub fn cost(&self) -> Option<Loss> {
        match self {
            Self::Bought { noise, .. } => Some(noise.cost()),
            Self::Public { .. } | Self::Declared(_) => None,
        }
    }

    /// The same bar, with the number of rows that it takes for granted.
    pub fn conditioned(&self, bar: ErrorBar) -> ErrorBar {
        bar.on(self.condition().map(Condition::StatedRows))
    }

    fn condition(&self) -> Option<u64> {
        match self {
            Self::Declared(rows) => Some(*rows),
            Self::Public { .. } | Self::Bought { .. } => None,
        }
    }

    /// The number of rows is at most so far below what it seems, but for this chance.
    pub fn margin(&self, failure: &Ratio) -> Result<u64, PlanError> {
        match self {
            Self::Public { .. } | Self::Declared(_) => Ok(0),
            Self::Bought { noise, .. } => Ok(within(noise, failure)?.unsigned_abs()),
        }
    }

    /// The same for the chance that bars fail with.
    pub fn within(&self) -> u64 {
        match self {
            Self::Public { .. } | Self::Declared(_) => 0,
            Self::Bought { within, .. } => within.unsigned_abs(),
        }
    }

    /// A declared number of rows that is too small needs no data to be refused. `instead` is what else may answer.
    pub fn check_declared(&self, rank_error: u64, needed: u64, instead: &str) -> Result<(), PlanError> {
        match self {
            Self::Declared(rows) | Self::Public { stated: Some(rows) } if *rows < needed => {
                let problem = format!(
                    "{rows} rows are too few: the answer may be off by {rank_error} ranks, which takes at least {needed} rows"
                );
                Err(PlanError::about(Argument::Epsilon, problem)
                    .hint(format!("raise epsilon, or declare `range` and `resolution`{instead}")))
            }
            _ => Ok(()),
        }
    }

    /// How many rows there seem to be. Draws its noise in every case.
    pub fn count<C: Coins>(&self, rows: u64, coins: &mut C) -> Counted {
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        let (known, noisy_rows) = match self {
            Self::Public { .. } => (rows, None),
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
            Self::Declared(_) => format!("never refused: it takes {needed} rows"),
            Self::Public { .. } => format!("refused with fewer than {needed} rows"),
            Self::Bought { .. } => {
                format!("refused when {} is below {needed}{}", self.counted(), self.not_believed())
            }
        }
    }

    /// What is said of a stated number that does not count.
    fn not_believed(&self) -> &'static str {
        match self {
            Self::Bought { stated: Stated::NotBelieved, .. } => {
                "; `rows` is believed only where all rows take part"
            }
            _ => "",
        }
    }

    /// On which condition a bar holds, to stand behind it.
    pub fn condition_words(&self) -> String {
        self.condition().map_or(String::new(), |rows| format!(" if {rows} rows have a value, as stated"))
    }

    /// The same for several quantiles, each of which is told or not.
    pub fn list_words(&self, needed: &[u64]) -> String {
        let each = needed.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let rows = match self {
            Self::Declared(rows) => format!("the stated number of {rows} rows is"),
            Self::Public { .. } => "the number of rows is".to_string(),
            Self::Bought { .. } => format!("{} is", self.counted()),
        };
        format!("each is released where {rows} at least {each} in turn{}", self.not_believed())
    }

    /// The same where all quantiles of a list come from cells with fewer rows.
    pub fn or_cells_words(&self, needed: u64) -> String {
        format!(
            "with fewer than {needed} rows, by {}{}, all come from noisy counts of cells of the range, with bars in values",
            self.counted(),
            self.not_believed()
        )
    }

    fn counted(&self) -> String {
        match self {
            Self::Bought { within, share: (part, of), .. } => {
                format!("a noisy count of the rows (off by at most {within}, from {part}/{of} of epsilon)")
            }
            Self::Declared(rows) => format!("the stated number of {rows} rows"),
            Self::Public { .. } => "the number of rows".to_string(),
        }
    }

    /// How many of the rows have a value, to stand behind "too few rows". The number is bought under add/remove alone, where rows
    /// without one are counted with the same noise for the same price ([`holding`](super::holding)).
    pub fn seen<C: Coins>(&self, counted: &Counted, without: u64, coins: &mut C) -> String {
        match self {
            Self::Bought { noise, within, holding, .. } => {
                let without = noise.run_whole(i64::try_from(without).unwrap_or(i64::MAX), coins);
                format!(" ({})", holding.words(counted.known, without, *within))
            }
            Self::Public { .. } | Self::Declared(_) => String::new(),
        }
    }

    /// What to do after a refusal; `seen` is what the rows were seen to hold.
    pub fn advice(&self, seen: &str, rank_error: u64, needed: u64, instead: &str) -> String {
        // More epsilon helps no column without numbers.
        if seen.contains(DOUBT) {
            return format!("too few rows{seen}");
        }
        let or_state = match self {
            Self::Bought { stated: Stated::Helps, .. } => ", or state `rows` where their number is public",
            _ => "",
        };
        format!(
            "too few rows{seen}: the answer may be off by {rank_error} ranks, which takes at least {needed} rows; \
             raise epsilon, or declare `range` and `resolution`{or_state}{instead}"
        )
    }
}

/// What a share buys the number of rows with, and what is left.
fn split(eps: &Eps, (part, of): (i64, u64)) -> Result<(Eps, Eps), PlanError> {
    let bought = Eps::new(eps.ratio() * &Ratio::new(part, of))?;
    let rest = Eps::new(eps.ratio() - bought.ratio())?;
    Ok((bought, rest))
}

/// The share with the fewest rows times error. Floats choose among public numbers, all of which are as private.
fn best_share(eps: &Eps, needed: impl Fn(&Eps) -> Option<u64>) -> Result<(i64, u64), PlanError> {
    let mut best = (SHARES[1], f64::INFINITY);
    for share in SHARES {
        let (bought, rest) = split(eps, share)?;
        let Some(needed) = needed(&rest) else { continue };
        let rows = needed as f64 + FALLS / bought.ratio().to_f64();
        let worth = rows / rest.ratio().to_f64();
        if worth < best.1 {
            best = (share, worth);
        }
    }
    Ok(best.0)
}

/// From how many rows on a quantile that may be off by so many ranks lies among the rows: there are as many on its shorter
/// side.
pub(crate) fn needed(rank_error: u64, fraction: &Ratio) -> u64 {
    let shorter = fraction.clone().min(Ratio::one() - fraction);
    let rows = (Ratio::from(rank_error) / shorter).ceil_i64();
    rows.and_then(|rows| u64::try_from(rows).ok()).unwrap_or(u64::MAX).max(1)
}

/// Do rows without a value take part? Under replace they count as the lowest one.
pub(super) fn nulls(adjacency: Adjacency) -> Nulls {
    match adjacency {
        Adjacency::AddRemove => Nulls::LeftOut,
        Adjacency::Replace => Nulls::Counted,
    }
}

/// How many rows have no value.
pub(super) fn without_a_value(rows: &dyn RowFacts, need: &Need) -> u64 {
    rows.count(need, Nulls::Counted).saturating_sub(rows.count(need, Nulls::LeftOut))
}

#[cfg(test)]
mod tests {
    use super::{super::Answering, *};
    use crate::{
        gather::tests::{FixedWords, Memory, all_rows},
        plan::{DataFacts, Plan, ToldRows},
        request::Request,
    };
    use serde_json::Value;

    fn plan(request: &Request) -> Result<Plan, PlanError> {
        let facts = DataFacts {
            name: "people".into(),
            columns: vec!["salary".into()],
            registered: None,
            kinds: Vec::new(),
            windows: None,
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

    /// The error bars of answers from so many rows.
    fn bars(request: &Request, rows: u32, many: usize) -> Vec<Value> {
        let plan = plan(request).unwrap();
        let memory = Memory::new((0..rows).map(f64::from).collect(), &["a"]);
        let gathered = all_rows(&memory, &plan.needs(), 1);
        let mut words = FixedWords(12);
        let bar = |_| serde_json::to_value(plan.task().answer(&gathered, &mut words).error).unwrap();
        (0..many).map(bar).collect()
    }

    /// "is enough" stood beside an epsilon for which the noise of the next count was left out.
    #[test]
    fn what_is_said_to_be_enough_is_seldom_refused() {
        for statistic in ["median", "iqr", "mean", "sum", "max"] {
            for rows in [300, 1000] {
                let hopeless = plan(&asked(statistic, "0.01")).unwrap();
                let told = ToldRows { about: rows, off: 2 };
                let more = hopeless.with_more_epsilon(told).unwrap_or_else(|| panic!("{statistic}"));
                let answers = answers(&more.step.request, u32::try_from(rows).unwrap(), 400);
                let refused = answers.iter().filter(|answer| answer.is_none()).count();
                // A bar fails once in twenty times.
                assert!(more.is_sure && refused <= 28, "{statistic} of {rows}: {refused}, {:?}", more.step);
            }
        }
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
            let rank = plan(&request).unwrap().expected().error.unwrap().in_ranks().unwrap().each()[0];
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

    /// The median of rows that a filter left none of came out as -2.2e+237, "within 47 ranks": the stated number of all rows
    /// stood for theirs.
    #[test]
    fn stated_rows_are_believed_only_where_all_rows_take_part() {
        let rows = |request: Request| Request { rows: Some("1000".into()), ..request };
        let list = Request { fraction: Some("0.25,0.5".into()), ..asked("quantile", "2") };
        for stated in [asked("median", "1"), asked("iqr", "2"), list].map(rows) {
            let filtered = Request { filter: Some("salary > 1e6".into()), ..stated.clone() };
            let of_people = Request { unit: Some("salary".into()), ..stated.clone() };
            let replaced = Request { adjacency: Some("replace".into()), ..filtered.clone() };
            for some in [filtered, of_people, replaced] {
                // A bought count of no rows passes for enough in one case of two hundred.
                let released = answers(&some, 0, 200).iter().flatten().count();
                assert!(released <= 5, "{}: {released}", some.to_json());
                let error = plan(&some).unwrap().expected().error.unwrap();
                assert_eq!(serde_json::to_value(error).unwrap().get("stated_rows"), None);
            }
            // Where a row can only be replaced and all take part, their number is known: stated or not, none are too few.
            let public = Request { adjacency: Some("replace".into()), ..stated.clone() };
            assert!(answers(&public, 0, 50).iter().all(Option::is_none), "{}", public.to_json());
            // Else it is believed, and both the plan and the answer say on what condition.
            let expected = plan(&stated).unwrap().expected();
            assert_eq!(serde_json::to_value(expected.error).unwrap()["stated_rows"], 1000);
            assert!(expected.words.contains("if 1000 rows have a value, as stated"), "{}", expected.words);
            assert_eq!(bars(&stated, 1000, 1)[0]["stated_rows"], 1000);
        }
    }

    /// The mean of no rows was released at a large epsilon; and a range that holds none of the rows is none.
    #[test]
    fn means_over_a_searched_range_need_rows_to_search() {
        for statistic in ["sum", "mean", "variance"] {
            assert!(answers(&asked(statistic, "1000"), 0, 20).iter().all(Option::is_none), "{statistic}");
        }
        let few = Request { rows: Some("50".into()), ..asked("mean", "1") };
        assert!(plan(&few).unwrap_err().to_string().contains("a range is found from about 70 rows on"));
        // 342 rows had no mean without a range, and 110 are about as few as will do.
        for (rows, least) in [(110, 150), (342, 190), (620, 198)] {
            let answers = answers(&asked("mean", "1"), rows, 200);
            let means: Vec<f64> =
                answers.into_iter().flatten().map(|value| value.as_f64().unwrap()).collect();
            let near = means.iter().filter(|mean| (5_000.0..20_000.0).contains(*mean)).count();
            assert!(
                means.len() >= least && near * 10 >= means.len() * 9,
                "{rows}: {near} of {}",
                means.len()
            );
        }
    }
}
