//! Several statistics of one column for one price: count, mean, standard deviation and five quantiles.
//!
//! Half of epsilon buys noisy sums, which carry count, mean and standard deviation together; half buys the quantiles. Where there are too few
//! rows for some of these, all of them come from noisy counts of the cells of the range that the sums were taken over ([`cell_quantiles`](super::cell_quantiles)).
//! Without quantiles the sums have all of epsilon. By group the same for each group, with what the keys left ([`groups`](super::groups)).

use super::{Answering, Expected, moments::Moments, quantiles::Quantiles, stages::SharedRange};
use crate::{
    answer::{Answer, Named},
    error::{PlanError, list},
    need::Need,
    resolved::ResolvedRequest,
    row_facts::{Ask, RowFacts},
    statistic::Argument,
};
#[cfg(test)]
use equipoise_core::adjacency::Adjacency;
use equipoise_core::{
    coins::Coins,
    loss::{Delta, Eps, Loss},
    ratio::Ratio,
};

/// What the noisy sums carry.
const MOMENTS: &str = "count, mean and standard deviation";

/// Count, mean, standard deviation, and the quantiles together.
pub(super) const ANSWERS: usize = 4;

/// The quantiles of a summary, in hundredths. The extremes themselves hang on single rows.
pub(crate) const SUMMARY: [i64; 5] = [5, 25, 50, 75, 95];

/// What describes a column.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    moments: Moments,
    /// With the fraction of each as text; nothing where they are left out.
    quantiles: Option<(Quantiles, Vec<String>)>,
    eps: Eps,
}

impl Summary {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        Self::of(said, &SUMMARY)
    }

    /// The same with other quantiles; few can be enumerated.
    pub fn of(said: &ResolvedRequest, hundredths: &[i64]) -> Result<Self, PlanError> {
        let eps = said.eps().clone();
        let moments = |said: &ResolvedRequest| {
            if said.is_concentrated() { Moments::plan(&said.by("gaussian")) } else { Moments::plan(said) }
        };
        if !said.has_quantiles() {
            if said.interval() || said.has_step() {
                let argument = if said.interval() { Argument::Interval } else { Argument::Resolution };
                let problem = format!("{} is for the quantiles, which are left out", argument.name());
                return Err(PlanError::about(argument, problem).hint("leave it out"));
            }
            let moments = moments(&said.part(eps.clone(), Delta::zero()))?;
            return Ok(Self { moments, quantiles: None, eps });
        }
        let half = said.part(Eps::new(eps.ratio() / &Ratio::from(2u64))?, Delta::zero());
        let moments = moments(&half)?;
        let quantiles = Quantiles::summary(&half, hundredths)?;
        let fractions = hundredths.iter().map(|&part| Ratio::new(part, 100).to_short_up(2, 4)).collect();
        Ok(Self { moments, quantiles: Some((quantiles, fractions)), eps })
    }

    /// What the parts cost, added up.
    #[cfg(test)]
    pub fn spent(&self, adjacency: Adjacency) -> Loss {
        let sums = self.moments.spent(adjacency);
        self.quantiles.iter().fold(sums, |sum, (quantiles, _)| sum.compose(&quantiles.cost()))
    }
}

impl Answering for Summary {
    fn cost(&self) -> Loss {
        Loss::pure(&self.eps)
    }

    fn losses(&self) -> Vec<Loss> {
        let quantiles = self.quantiles.iter().flat_map(|(quantiles, _)| quantiles.losses());
        self.moments.losses().into_iter().chain(quantiles).collect()
    }

    fn needs(&self) -> Vec<Need> {
        [self.moments.need()].into_iter().chain(self.quantiles.iter().map(|(one, _)| one.need())).collect()
    }

    fn expected(&self) -> Expected {
        let sums = format!("{MOMENTS}: {}", self.moments.expected().words);
        let Some((quantiles, fractions)) = &self.quantiles else {
            return Expected { words: sums, error: None };
        };
        let quantiles = quantiles.expected();
        let words = format!("{sums}; the quantiles {}: {}", list(fractions), quantiles.words);
        Expected { words, ..quantiles }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        self.answer_group(None, gathered, coins)
    }

    fn asks(&self, shared: Option<&SharedRange>) -> Vec<Ask> {
        let quantiles = self.quantiles.iter().flat_map(|(quantiles, _)| quantiles.asks(shared));
        self.moments.asks(shared).into_iter().chain(quantiles).collect()
    }

    fn shared_need(&self) -> Option<Need> {
        self.moments.shared_need()
    }

    fn shared<C: Coins>(&self, all: &dyn RowFacts, coins: &mut C) -> Option<SharedRange> {
        self.moments.shared(all, coins)
    }

    fn answer_group<C: Coins>(
        &self,
        shared: Option<&SharedRange>,
        gathered: &dyn RowFacts,
        coins: &mut C,
    ) -> Answer {
        let (sums, limits) = self.moments.summary(shared, gathered, coins);
        let sums = sums.map(|(statistic, answer)| Named {
            statistic,
            column: None,
            mechanism: self.moments.mechanism(),
            answer,
        });
        let quantiles = self.quantiles.iter().map(|(quantiles, _)| Named {
            statistic: "quantiles",
            column: None,
            mechanism: quantiles.mechanism(),
            answer: quantiles.drawn_within(limits.as_ref(), gathered, coins).answer,
        });
        Answer::summary(sums.into_iter().chain(quantiles).collect())
    }

    fn mechanism(&self) -> &'static str {
        match (self.moments.mechanism(), self.quantiles.is_some()) {
            ("gaussian", true) => "gaussian, inverse-sensitivity",
            ("gaussian", false) => "gaussian",
            (_, true) => "laplace, inverse-sensitivity",
            (_, false) => "laplace",
        }
    }

    fn answers(&self) -> usize {
        ANSWERS
    }

    fn rows_needed(&self) -> Option<u64> {
        let quantiles = self.quantiles.as_ref().filter(|(quantiles, _)| !quantiles.has_cells());
        self.moments.rows_needed().max(quantiles.and_then(|(one, _)| one.rows_needed()))
    }

    fn rows_assured(&self) -> Option<u64> {
        let quantiles = self.quantiles.as_ref().filter(|(quantiles, _)| !quantiles.has_cells());
        self.moments.rows_assured().max(quantiles.and_then(|(one, _)| one.rows_assured()))
    }

    fn rows_within(&self) -> u64 {
        let quantiles = self.quantiles.as_ref().map_or(0, |(one, _)| one.rows_within());
        self.moments.rows_within().max(quantiles)
    }

    fn parts_needed(&self) -> Vec<(Option<String>, u64)> {
        let sums = (None, self.moments.rows_needed().unwrap_or(0));
        let refused = self.quantiles.iter().filter(|(quantiles, _)| !quantiles.has_cells());
        let each = refused.flat_map(|(quantiles, fractions)| {
            fractions.iter().cloned().map(Some).zip(quantiles.needed_each().iter().copied())
        });
        [sums].into_iter().chain(each).collect()
    }

    fn no_prediction(&self) -> String {
        "a summary has several errors; give `epsilon`".to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gather::tests::{FixedWords, Memory, all_rows},
        plan::{DataFacts, Plan},
        request::Request,
        task::Task,
    };

    fn planned(no_quantiles: Option<bool>, adjacency: Adjacency) -> Result<Plan, PlanError> {
        let facts = DataFacts {
            name: "people".into(),
            columns: vec!["salary".into()],
            registered: None,
            kinds: Vec::new(),
            windows: None,
        };
        let request = Request {
            column: Some("salary".into()),
            epsilon: Some("1".into()),
            adjacency: Some(adjacency.to_string()),
            no_quantiles,
            ..Request::new("summary")
        };
        Plan::new(&request, &facts)
    }

    /// With quantiles and without, the parts cost what the whole is charged, and all of it.
    #[test]
    fn the_parts_of_a_summary_cost_what_it_is_charged() {
        for adjacency in Adjacency::ALL {
            for no_quantiles in [None, Some(true)] {
                let plan = planned(no_quantiles, adjacency).unwrap();
                let Task::Summary(summary) = plan.task() else { panic!("a summary") };
                let Loss::Approx(spent) = summary.spent(adjacency) else {
                    panic!("an (epsilon, delta) price")
                };
                assert_eq!(spent.eps.ratio(), &Ratio::one(), "{adjacency} {no_quantiles:?}");
                assert_eq!((plan.cost().eps.ratio(), plan.cost().delta.is_zero()), (&Ratio::one(), true));
            }
        }
    }

    /// The quantiles of 342 penguins were refused at epsilon 1. Masses in grams lie about as these do.
    #[test]
    fn a_summary_of_342_rows_has_all_parts_at_epsilon_1() {
        const TRIALS: usize = 200;
        let rows: Vec<f64> =
            (0..342).map(|row| 2700.0 + 3600.0 * (f64::from(row) / 341.0).powf(1.3)).collect();
        let truths = [17, 85, 170, 256, 324].map(|place: usize| rows[place]);
        let plan = planned(None, Adjacency::AddRemove).unwrap();
        let words = plan.expected().words;
        assert!(words.contains("all come from noisy counts of cells of the range"), "{words}");
        assert_eq!(plan.task().parts_needed().len(), 1, "nothing is foreseen to be refused but all of it");
        let memory = Memory::new(rows, &["a"]);
        let gathered = all_rows(&memory, &plan.needs(), 1);
        let mut coins = FixedWords(31);
        let (mut released, mut held) = (0, 0);
        let mut off: [Vec<f64>; 5] = Default::default();
        for _ in 0..TRIALS {
            let answer = plan.task().answer(&gathered, &mut coins);
            let parts = answer.several.expect("four parts");
            let [count, mean, deviation, quantiles] = &parts[..] else { panic!("four parts") };
            let all = [count, mean, deviation, quantiles].iter().all(|part| part.answer.error.is_some());
            let Some(values) = quantiles.answer.value.as_ref().filter(|_| all) else { continue };
            released += 1;
            let bar = quantiles.answer.error.as_ref().unwrap();
            held += usize::from(truths.iter().enumerate().all(|(place, truth)| {
                let [low, high] = bar.at(place).numeric_ends().unwrap();
                low <= *truth && *truth <= high
            }));
            for (place, truth) in truths.iter().enumerate() {
                off[place].push((values[place].as_f64().unwrap() - truth).abs());
            }
        }
        let middle = off.map(|mut off| {
            off.sort_unstable_by(f64::total_cmp);
            off[off.len() / 2].round()
        });
        println!("342 rows, epsilon 1: {released} of {TRIALS} whole, {held} held, off by {middle:?} g");
        assert!(released >= 190 && held >= released * 9 / 10, "{released} {held}");
        // The rows lie 10 g apart.
        assert!(middle.iter().all(|&off| off < 400.0), "{middle:?}");
    }

    #[test]
    fn what_is_for_quantiles_alone_is_an_error_without_them() {
        let plan = planned(Some(true), Adjacency::AddRemove).unwrap();
        assert_eq!((plan.task().needs().len(), plan.mechanism().as_str()), (1, "laplace"));
        let words = plan.expected().words;
        assert!(
            words.starts_with("count, mean and standard deviation: ") && !words.contains("quantile"),
            "{words}"
        );
        let request = Request { interval: Some(true), ..plan.request().clone() };
        let facts = DataFacts {
            name: "p".into(),
            columns: vec!["salary".into()],
            registered: None,
            kinds: Vec::new(),
            windows: None,
        };
        let error = Plan::new(&request, &facts).unwrap_err().to_string();
        assert!(error.contains("interval is for the quantiles, which are left out"), "{error}");
    }
}
