//! The most frequent values of a column, so many as were asked for: nearly, among stated ones, or exactly as a set, or a refusal.
//!
//! # Guarantee
//!
//! Stated candidates: epsilon, by K [`Choice`]s one after another at epsilon/K each, every one among those that are left. Else (epsilon, delta):
//! the whole set passes the [`stable`] gate with the slack of [`stability::top`](equipoise_core::stability::top), which one row moves by
//! at most one, and one person who counts once for each value too.
//!
//! # Error bar
//!
//! Each choice names a value with at most so many rows fewer than the best that is left, except with a K-th of the probability that the
//! bar may fail with. Where all of them hold, no value that was left out has more than so many rows more than any that was named. Candidates
//! become fewer from choice to choice, so the bound of the first one holds for all.

use super::{
    Answering, Expected,
    choice::{Choice, NAMES},
    quantiles::STABLE,
    select::candidates,
    texts::Texts,
};
use crate::{
    answer::Answer,
    bar::{ErrorBar, GapUnit},
    error::PlanError,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::RowFacts,
    statistic::Argument,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Loss},
    mechanism::stable::{self, Stable},
    outcome::{Outcome, Slack},
    ratio::Ratio,
    stability::{Answer as Found, top},
};
use serde_json::Value;

/// So many of the most frequent values.
#[derive(Clone, Debug)]
pub(crate) struct Top {
    of: Texts,
    k: usize,
    how: How,
    confidence: f64,
    adjacency: Adjacency,
    cost: Loss,
    /// What is counted: rows, or people who have the value.
    counted: GapUnit,
}

#[derive(Clone, Debug)]
enum How {
    /// One after another among stated candidates; the first choice has all of them.
    Chosen { candidates: Vec<String>, mechanism: &'static str, choices: Vec<Choice>, gap: u64 },
    /// The set of all values, where it is stable. One that leads by so many changes is released in 19 cases of 20.
    Gate { stable: Box<stable::Calibrated>, lead: Option<u64> },
}

impl Top {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        let (of, k) = (Texts::plan(said)?, said.k()?);
        let (how, cost) =
            if said.among().is_empty() { Self::gate(said)? } else { Self::chosen(said, of, k)? };
        let counted = if said.counts_people() { GapUnit::People } else { GapUnit::Rows };
        let (confidence, adjacency) = (said.confidence(), said.adjacency());
        Ok(Self { of, k, how, confidence, adjacency, cost, counted })
    }

    fn chosen(said: &ResolvedRequest, of: Texts, k: usize) -> Result<(How, Loss), PlanError> {
        let candidates = candidates(said, of.wanted())?;
        if k >= candidates.len() {
            let problem = format!("{k} of {} candidates are all of them", candidates.len());
            return Err(
                PlanError::about(Argument::K, problem).hint("ask for fewer, or state more with `among`")
            );
        }
        let named = |name: &&&str| said.mechanism() == Some(**name);
        let mechanism = NAMES.iter().find(named).copied().unwrap_or(NAMES[0]);
        let times = Ratio::from(k as u64);
        let share = Eps::new(said.eps().ratio() / &times)?;
        let choices = (0..k)
            .map(|before| Choice::new(mechanism, &share, said.adjacency(), candidates.len() - before))
            .collect::<Result<Vec<_>, _>>()?;
        let gap = choices[0].gap(&(said.failure() / &times))?;
        Ok((How::Chosen { candidates, mechanism, choices, gap }, Loss::pure(said.eps())))
    }

    fn gate(said: &ResolvedRequest) -> Result<(How, Loss), PlanError> {
        if said.delta().is_zero() {
            return Err(PlanError::about(
                Argument::Delta,
                "top needs a delta above 0, because its values are not known beforehand",
            )
            .hint("give `delta=1e-6`, or state the candidates with `among=a,b,c`"));
        }
        let (eps, delta) = (said.eps().clone(), said.delta().clone());
        let stable = Stable { eps, delta, adjacency: said.adjacency() }.calibrate()?;
        let lead = stable.slack_for(&Ratio::new(1, 20)).and_then(Slack::until_change);
        let cost = stable.cost();
        Ok((How::Gate { stable: Box::new(stable), lead }, cost))
    }

    /// What the bar of chosen values says.
    fn bar(&self, gap: u64) -> ErrorBar {
        let others = "each value that is not among these".to_string();
        ErrorBar::gap(self.confidence, gap, self.counted).about(others)
    }

    /// What the bar of a set says.
    fn exact(&self) -> ErrorBar {
        let most = match self.counted {
            GapUnit::People => "values that the most people have",
            GapUnit::Rows | GapUnit::Votes => "most frequent values",
        };
        ErrorBar::exact().about(format!("the set of the {} {most}", self.k))
    }

    /// The sentence that plans and refusals of a set share.
    fn released_from(&self, lead: Option<u64>) -> String {
        let Some(changes) = lead else {
            return "no set is released in 19 cases of 20 at this delta".to_string();
        };
        let more = match self.adjacency {
            Adjacency::AddRemove => changes,
            Adjacency::Replace => changes.saturating_mul(2),
        };
        format!(
            "the set is released in 19 cases of 20 when each of its values has about {more} {} more than any other",
            self.counted.words()
        )
    }

    fn values(&self, texts: impl IntoIterator<Item = String>) -> Value {
        texts.into_iter().map(|text| self.of.value(&text)).collect()
    }
}

impl Answering for Top {
    fn mechanism(&self) -> &'static str {
        match &self.how {
            How::Chosen { mechanism, .. } => mechanism,
            How::Gate { .. } => STABLE,
        }
    }

    fn cost(&self) -> Loss {
        self.cost.clone()
    }

    fn answer_type(&self) -> Option<String> {
        self.of.answer_type()
    }

    fn expected(&self) -> Expected {
        match &self.how {
            How::Chosen { gap, .. } => Expected {
                error: Some(self.bar(*gap)),
                words: format!(
                    "values that have at most {gap} {} fewer than any that is left out; never refused",
                    self.counted.words()
                ),
            },
            How::Gate { lead, .. } => Expected {
                error: Some(self.exact()),
                words: format!("the exact set, or a refusal: {}", self.released_from(*lead)),
            },
        }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        match &self.how {
            How::Chosen { candidates, choices, gap, .. } => {
                let counts = gathered.with_texts(self.of.wanted(), candidates).into_iter().map(Ratio::from);
                let mut left: Vec<(String, Ratio)> = candidates.iter().cloned().zip(counts).collect();
                let mut named = Vec::new();
                for choice in choices {
                    let scores: Vec<Ratio> = left.iter().map(|(_, count)| count.clone()).collect();
                    named.push(left.remove(choice.run(&scores, coins)).0);
                }
                Answer::released(self.values(named), self.bar(*gap))
            }
            How::Gate { stable, lead } => {
                // Whether an empty field is replaced by a value or the other way round, no count moves by more than a replaced value moves
                // two: empty fields are dropped under both adjacencies.
                let top = top::Top::from_passes(self.k, |visit: &mut dyn FnMut(&str, u64)| {
                    gathered.each_text(self.of.wanted(), &mut |text, count| {
                        if !text.is_empty() {
                            visit(text, count);
                        }
                    });
                });
                match stable.run_found(top.value_and_slack(self.adjacency), coins) {
                    Outcome::Value(Found::Value(texts)) => Answer::released(self.values(texts), self.exact()),
                    Outcome::Value(Found::Empty) => Answer::released(self.values([]), self.exact()),
                    Outcome::Refused => Answer::refused(format!(
                        "the last of the values does not lead by enough: {}; raise epsilon or delta, ask for more or fewer values, or state the \
                         candidates with `among`",
                        self.released_from(*lead)
                    )),
                }
            }
        }
    }

    fn needs(&self) -> Vec<Need> {
        vec![self.of.need()]
    }

    fn predicted(&self) -> Option<f64> {
        match &self.how {
            How::Chosen { gap, .. } => Some(*gap as f64),
            How::Gate { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gather::tests::{FixedWords, Memory, all_rows},
        plan::{DataFacts, Plan},
        request::Request,
    };
    use equipoise_core::tape::enumerate;
    use serde_json::json;

    fn plan(request: &Request) -> Result<Plan, String> {
        let columns = ["salary", "town"].map(String::from).to_vec();
        let facts =
            DataFacts { name: "people".into(), columns, registered: None, kinds: Vec::new(), windows: None };
        Plan::new(request, &facts).map_err(|error| error.to_string())
    }

    fn asked(k: &str, among: &[&str]) -> Request {
        Request {
            column: Some("town".into()),
            k: Some(k.into()),
            epsilon: Some("1".into()),
            among: among.iter().map(ToString::to_string).collect(),
            ..Request::new("top")
        }
    }

    /// So many rows of each of four towns.
    fn towns(counts: [usize; 4]) -> Memory {
        let rows: Vec<&str> = ["ash", "beech", "cedar", "elm"]
            .into_iter()
            .zip(counts)
            .flat_map(|(town, count)| std::iter::repeat_n(town, count))
            .collect();
        Memory::new(vec![0.0; rows.len()], &rows)
    }

    fn answers(plan: &Plan, source: &Memory) -> Answer {
        plan.task().answer(&all_rows(source, &plan.needs(), 1), &mut FixedWords(3))
    }

    #[test]
    fn the_most_frequent_values_come_out() {
        let source = towns([900, 10, 700, 500]);
        let stated = plan(&asked("2", &["ash", "beech", "cedar", "elm"])).unwrap();
        // Wrong once in e^100.
        assert_eq!(answers(&stated, &source).value, Some(json!(["ash", "cedar"])));
        let delta = Some("1e-6".to_string());
        let found = plan(&Request { delta, ..asked("3", &[]) }).unwrap();
        assert_eq!((found.mechanism(), stated.mechanism()), ("stable".into(), "permute-and-flip".into()));
        let answer = answers(&found, &source);
        assert_eq!(answer.value, Some(json!(["ash", "cedar", "elm"])));
        assert_eq!(
            answer.error.unwrap().words(&json!([])),
            "none: this is exactly the set of the 3 most frequent values"
        );
        let refused = answers(&found, &towns([900, 499, 700, 500]));
        assert_eq!(refused.value, None);
        let advice = refused.advice.unwrap();
        assert!(advice.contains("does not lead by enough: the set is released"), "{advice}");
    }

    /// The bar of two values of four fails no more often than it says, exactly, where counts are as near as they can be.
    #[test]
    fn the_bar_of_all_choices_together_holds() {
        for confidence in ["0.5", "0.8", "0.95"] {
            for mechanism in NAMES {
                let request = Request {
                    confidence: Some(confidence.into()),
                    mechanism: Some(mechanism.into()),
                    epsilon: Some("4".into()),
                    ..asked("2", &["ash", "beech", "cedar", "elm"])
                };
                let plan = plan(&request).unwrap();
                let gap = plan.expected().error.and_then(|error| error.in_gap()).expect("a gap");
                let near = usize::try_from(gap).unwrap() + 1;
                for counts in [[near, near, 0, 0], [2 * near, near, 0, 0], [near, 0, 0, 0]] {
                    let source = towns(counts);
                    let gathered = all_rows(&source, &plan.needs(), 1);
                    let law = enumerate(&"1e-9".parse().unwrap(), |tape| {
                        let value = plan.task().answer(&gathered, tape).value.expect("never refused");
                        let named: Vec<String> = serde_json::from_value(value).expect("texts");
                        let count = |town: &str| {
                            counts[["ash", "beech", "cedar", "elm"]
                                .iter()
                                .position(|one| *one == town)
                                .unwrap()]
                        };
                        let least = named.iter().map(|town| count(town)).min().unwrap();
                        let others = ["ash", "beech", "cedar", "elm"]
                            .into_iter()
                            .filter(|town| !named.iter().any(|one| one == town));
                        others.map(count).max().unwrap() <= least + usize::try_from(gap).unwrap()
                    });
                    let failure = Ratio::one() - confidence.parse::<Ratio>().unwrap();
                    let failed = law.mass(&false).upper();
                    assert!(
                        failed <= failure + "1e-6".parse::<Ratio>().unwrap(),
                        "{mechanism} {confidence} {counts:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_is_one_line() {
        for (request, said) in [
            (Request { k: None, ..asked("1", &["ash", "elm"]) }, "Give `k`: a whole number"),
            (
                asked("0", &["ash", "elm"]),
                "0 of the most frequent values are not accepted: give a whole number",
            ),
            (asked("x", &["ash", "elm"]), "x of the most frequent values"),
            (asked("2", &["ash", "elm"]), "2 of 2 candidates are all of them; ask for fewer"),
            (asked("1", &["ash", "ash"]), "a candidate is stated twice"),
            (asked("1", &[]), "top needs a delta above 0"),
            (Request { statistic: "mode".into(), ..asked("1", &[]) }, "mode takes no k"),
            (
                Request { mechanism: Some("stable".into()), ..asked("1", &["ash", "elm"]) },
                "no mechanism is called 'stable'",
            ),
        ] {
            let error = plan(&request).unwrap_err();
            assert!(error.contains(said) && !error.contains('\n'), "{error}");
        }
    }
}
