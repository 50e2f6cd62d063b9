//! Which mechanisms can answer a statistic, and which of them `auto` takes.
//!
//! All of it comes from public words, so looking at every candidate is free. `auto` takes the one with the least predicted
//! error, on rows that lie evenly where the error depends on the rows; where no error can be told, or none is of use,
//! the first of the list, which answers whatever the rows. Where that is refused because too few rows were stated, a scale may
//! still be found.

use super::{Answering, Expected, Task};
use crate::{error::PlanError, planned::RunnerUp, resolved::ResolvedRequest};
use std::cmp::Ordering;

/// A mechanism that could answer, or why it cannot.
pub(crate) struct Candidate {
    mechanism: &'static str,
    /// Whether `auto` may take it: where keys are found privately, they have all of delta.
    eligible: bool,
    planned: Result<Task, PlanError>,
}

impl Candidate {
    /// The predicted error, where there is one.
    fn error(&self) -> Option<f64> {
        let task = self.planned.as_ref().ok()?;
        task.likely().map(|likely| likely.error).or_else(|| task.predicted()).or_else(|| task.noise_share())
    }

    fn helps(&self) -> bool {
        let helps = |task: &Task| task.likely().is_none_or(|likely| likely.helps);
        self.eligible && self.planned.as_ref().is_ok_and(helps)
    }

    /// Does it answer, up to a factor, where so few rows were stated that the first of the list is refused?
    fn suits_few(&self, stated: Option<u64>) -> bool {
        match (&self.planned, stated) {
            (Ok(Task::Scale(scale)), Some(rows)) => self.eligible && scale.suits(rows),
            _ => false,
        }
    }

    /// Possible ones with a predicted error first, the least error before others.
    fn by_error(&self, other: &Self) -> Ordering {
        let least = |error: Option<f64>| error.unwrap_or(f64::INFINITY);
        let impossible = |candidate: &Self| candidate.planned.is_err();
        impossible(self).cmp(&impossible(other)).then(least(self.error()).total_cmp(&least(other.error())))
    }

    /// What is told of it where it was not taken; of a task that answers several questions, by the one that answers this.
    pub fn runner_up(&self, of: impl FnOnce(&Task) -> Task) -> RunnerUp {
        let (likely, Expected { error, words }, possible) = match &self.planned {
            Ok(task) => {
                let task = of(task);
                (task.likely(), task.expected(), true)
            }
            Err(error) => {
                let words = if error.is_of_a_share() {
                    "needs a larger epsilon".to_string()
                } else {
                    error.to_string()
                };
                (None, Expected { error: None, words }, false)
            }
        };
        RunnerUp { mechanism: self.mechanism, possible, error, likely, expected: words }
    }
}

/// The mechanisms that `auto` may take.
pub(crate) fn eligible(said: &ResolvedRequest) -> Vec<&'static str> {
    let grouped = !said.group_by().is_empty();
    let own = grouped && !said.is_concentrated();
    let eligible = said.mechanisms().filter(|mechanism| !(own && mechanism.needs_delta));
    eligible.map(|mechanism| mechanism.name).collect()
}

/// The mechanism that was named, or the one that `auto` takes; and what the others would do, the least predicted error first.
/// Each is planned once.
pub(crate) fn choose(said: &ResolvedRequest) -> Result<(Task, Vec<RunnerUp>), PlanError> {
    let (task, others) = choose_among(said, Task::plan)?;
    Ok((task, others.iter().map(|other| other.runner_up(Task::clone)).collect()))
}

/// The same where a task is planned so, with all that could be taken too.
pub(crate) fn choose_among(
    said: &ResolvedRequest,
    plan: impl Fn(&ResolvedRequest) -> Result<Task, PlanError>,
) -> Result<(Task, Vec<Candidate>), PlanError> {
    let eligible = eligible(said);
    let mut candidates: Vec<Candidate> = said
        .mechanisms()
        .map(|mechanism| Candidate {
            mechanism: mechanism.name,
            eligible: eligible.contains(&mechanism.name),
            planned: plan(&said.by(mechanism.name)),
        })
        .collect();
    let stated = said.rows()?;
    let taken = match said.mechanism() {
        Some(named) => candidates.iter().position(|candidate| candidate.mechanism == named),
        None => (0..candidates.len())
            .filter(|&place| candidates[place].helps() && candidates[place].error().is_some())
            .min_by(|&a, &b| candidates[a].by_error(&candidates[b]))
            .or_else(|| candidates.iter().position(|candidate| candidate.suits_few(stated)))
            .or((!candidates.is_empty()).then_some(0)),
    };
    // A statistic whose parts have their own mechanisms, or a mechanism that it does not have.
    let Some(taken) = taken else { return plan(said).map(|task| (task, Vec::new())) };
    let task = candidates.remove(taken).planned?;
    candidates.sort_by(Candidate::by_error);
    Ok((task, candidates))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        plan::{DataFacts, Plan},
        request::Request,
        statistic::{Only, Statistic},
    };
    use equipoise_core::adjacency::Adjacency;

    fn statistic_of(request: &Request) -> Statistic {
        Statistic::named(&request.statistic).expect("a statistic")
    }

    fn facts() -> DataFacts {
        DataFacts {
            name: "people".into(),
            columns: vec!["salary".into()],
            registered: None,
            kinds: Vec::new(),
            windows: None,
        }
    }

    fn asked(statistic: &str, epsilon: &str) -> Request {
        Request { column: Some("salary".into()), epsilon: Some(epsilon.into()), ..Request::new(statistic) }
    }

    fn on_a_grid(request: Request) -> Request {
        Request {
            range: Some("0,1000000".into()),
            resolution: Some("1".into()),
            delta: Some("1e-6".into()),
            ..request
        }
    }

    fn planned(request: &Request) -> (&'static str, Vec<RunnerUp>) {
        let plan = Plan::new(request, &facts()).unwrap();
        (plan.parts()[0].mechanism(), plan.parts()[0].runners_up().to_vec())
    }

    #[test]
    fn auto_takes_the_least_predicted_error_and_ranks_the_others() {
        for adjacency in Adjacency::ALL {
            for (statistic, many) in [("median", 4), ("iqr", 1)] {
                let adjacency = Some(adjacency.to_string());
                let request = Request { adjacency, ..on_a_grid(asked(statistic, "1")) };
                let plan = Plan::new(&request, &facts()).unwrap();
                let part = &plan.parts()[0];
                let others = part.runners_up();
                assert_eq!((part.mechanism(), others.len()), ("inverse-sensitivity", many));
                let taken = part.likely().unwrap().error;
                let errors: Vec<f64> = others
                    .iter()
                    .map(|other| other.likely.map_or(f64::INFINITY, |likely| likely.error))
                    .collect();
                assert!(others.iter().all(|other| other.possible) && errors.is_sorted(), "{errors:?}");
                assert!(errors.iter().all(|&error| taken <= error), "{taken} {errors:?}");
                // What is not stable is refused, so nothing can be said of its error.
                assert_eq!(others.iter().filter(|other| other.likely.is_none()).count(), many / 4);
            }
        }
    }

    #[test]
    fn auto_takes_the_bell_curve_where_a_bar_must_hardly_ever_fail() {
        for (statistic, range) in [
            ("count", None),
            ("sum", Some("0,9")),
            ("mean", Some("0,9")),
            ("variance", Some("0,9")),
            ("mean", None),
        ] {
            let by = |confidence: &str, delta: Option<&str>| {
                let (delta, confidence) = (delta.map(str::to_string), Some(confidence.to_string()));
                let range = range.map(str::to_string);
                planned(&Request { delta, range, confidence, ..asked(statistic, "1") })
            };
            assert_eq!(by("0.95", Some("1e-3")).0, "laplace", "{statistic}");
            let (taken, others) = by("0.999999999", Some("0.01"));
            assert_eq!((taken, others[0].mechanism), ("gaussian", "laplace"), "{statistic}");
            let (taken, others) = by("0.999999999", None);
            assert_eq!((taken, others[0].possible), ("laplace", false), "{statistic}");
            assert!(others[0].expected.contains("needs a delta above 0"), "{}", others[0].expected);
        }
    }

    #[test]
    fn a_choice_among_stated_values_shows_the_gaps_of_the_other_laws() {
        let among: Vec<String> = ["a", "b", "c", "d"].map(String::from).to_vec();
        for adjacency in Adjacency::ALL {
            let adjacency = Some(adjacency.to_string());
            let request = Request { among: among.clone(), adjacency, ..asked("select", "0.1") };
            let (taken, others) = planned(&request);
            assert_eq!(taken, "permute-and-flip");
            let gap = |other: &RunnerUp| other.error.as_ref().unwrap().in_gap().unwrap();
            let names: Vec<&str> = others.iter().map(|other| other.mechanism).collect();
            assert_eq!(names, ["exponential", "noisy-max"]);
            let best = Plan::new(&request, &facts()).unwrap().expected().error.unwrap().in_gap().unwrap();
            assert!(best < gap(&others[0]) && gap(&others[0]) < gap(&others[1]), "{best} {others:?}");
        }
    }

    #[test]
    fn what_is_not_possible_says_what_it_needs() {
        let (taken, others) = planned(&asked("median", "1"));
        assert_eq!(taken, "inverse-sensitivity");
        for other in others {
            let needs =
                if other.mechanism == "stable" { "needs a delta" } else { "give `range` and `resolution`" };
            assert!(
                !other.possible && other.expected.contains(needs),
                "{}: {}",
                other.mechanism,
                other.expected
            );
        }
        let (_, others) = planned(&Request { delta: None, ..on_a_grid(asked("median", "1")) });
        let possible: Vec<&str> =
            others.iter().filter(|other| other.possible).map(|other| other.mechanism).collect();
        assert_eq!(possible, ["smooth"]);
    }

    /// Ten declared rows are too few for a median: noise as wide as the range is no way out.
    #[test]
    fn auto_gives_no_answer_that_is_as_wide_as_the_range() {
        let request = Request { rows: Some("10".into()), ..on_a_grid(asked("median", "0.1")) };
        let error = Plan::new(&request, &facts()).unwrap_err().to_string();
        assert!(error.contains("10 rows are too few"), "{error}");
    }

    /// Prices are those of the mechanism, and never above what was said.
    #[test]
    fn every_mechanism_costs_what_was_said() {
        for adjacency in Adjacency::ALL {
            for (statistic, unit) in [
                ("median", None),
                ("iqr", None),
                ("count", None),
                ("sum", None),
                ("mean", Some("salary")),
                ("variance", None),
                ("median", Some("salary")),
            ] {
                let request = Request {
                    adjacency: Some(adjacency.to_string()),
                    unit: unit.map(str::to_string),
                    max_rows_per_unit: unit.map(|_| "3".to_string()),
                    ..on_a_grid(asked(statistic, "1"))
                };
                let request = match statistic {
                    "count" => Request { range: None, resolution: None, ..request },
                    "sum" | "mean" | "variance" => Request { resolution: None, ..request },
                    _ => request,
                };
                for mechanism in statistic_of(&request).spec().mechanisms {
                    let name = &mechanism.name;
                    let mut request = Request { mechanism: Some(name.to_string()), ..request.clone() };
                    if mechanism.only == Only::NoStep {
                        request.resolution = None;
                    }
                    let cost = Plan::new(&request, &facts()).unwrap().cost().clone();
                    // The noise of smooth that is best here needs no delta.
                    let pure = matches!(*name, "laplace" | "inverse-sensitivity" | "smooth" | "spread");
                    assert_eq!(cost.eps.to_string(), "1", "{name} {adjacency}");
                    assert!(
                        *cost.delta.ratio() <= "1e-6".parse().unwrap() && cost.delta.is_zero() == pure,
                        "{name} {adjacency}"
                    );
                }
            }
        }
    }
}
