//! A value that nearly most records have: among stated ones, or among those that enough rows have.
//!
//! # Guarantee
//!
//! Stated candidates: epsilon, by one [`Choice`] on their counts. Else (epsilon, delta): a share of epsilon and all of
//! delta keep the values that enough rows have ([`histogram_keys`]), and the choice is among them; which were kept is
//! not told. A record adds to one count, so under add/remove all counts move the same way; under replace
//! one falls and one rises. A person who counts once for each value adds to any number of counts, one each: they still move the same
//! way, by at most one, and the choice needs no more. Keeping values shows who has them, one at a time, and pays for as many as a
//! person may have.

use super::{
    Answering, Expected,
    choice::{Choice, NAMES},
    histogram::{needs_delta, stated as stated_value},
    texts::Texts,
};
use crate::{
    answer::Answer,
    bar::{ErrorBar, GapUnit},
    error::PlanError,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::RowFacts,
    source::ColumnRead,
    statistic::Argument,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Loss},
    mechanism::histogram_keys::{self, HistogramKeys},
    ratio::Ratio,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// One part in this many of epsilon keeps the candidates.
const SHARE: u64 = 2;

/// A choice among texts of a column.
#[derive(Clone, Debug)]
pub(crate) struct Select {
    of: Texts,
    among: Among,
    /// How one is chosen.
    mechanism: &'static str,
    eps: Eps,
    adjacency: Adjacency,
    failure: Ratio,
    confidence: f64,
    cost: Loss,
    /// What is counted: rows, or people who have the value.
    counted: GapUnit,
}

#[derive(Clone, Debug)]
enum Among {
    Stated {
        candidates: Vec<String>,
        choice: Box<Choice>,
        gap: u64,
    },
    /// Values that so many rows have are missed rarely enough for the error bar.
    Kept {
        keys: Box<histogram_keys::Calibrated>,
        kept_from: u64,
        gaps: Gaps,
    },
}

/// Gaps by the number of values to choose from. One takes milliseconds to work out, and many groups ask for the same.
#[derive(Clone, Debug, Default)]
struct Gaps(Arc<Mutex<BTreeMap<usize, u64>>>);

impl Gaps {
    fn of(&self, values: usize, gap: impl FnOnce() -> u64) -> u64 {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(values).or_insert_with(gap)
    }
}

impl Select {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        let named = |name: &&&str| said.mechanism() == Some(**name);
        let mechanism = NAMES.iter().find(named).copied().unwrap_or(NAMES[0]);
        let of = Texts::plan(said)?;
        let base = |among, eps: Eps, failure, cost| Self {
            of,
            among,
            mechanism,
            eps,
            adjacency: said.adjacency(),
            failure,
            confidence: said.confidence(),
            cost,
            counted: if said.counts_people() { GapUnit::People } else { GapUnit::Rows },
        };
        let stated = said.among();
        if !stated.is_empty() {
            let once = candidates(said, of.wanted())?;
            let choice = Choice::new(mechanism, said.eps(), said.adjacency(), once.len())?;
            let gap = choice.gap(said.failure())?;
            let among = Among::Stated { candidates: once, choice: Box::new(choice), gap };
            Ok(base(among, said.eps().clone(), said.failure().clone(), Loss::pure(said.eps())))
        } else if said.delta().is_zero() {
            Err(PlanError::about(Argument::Among, "which candidates?")
                .hint("State them with `among=a,b,c`, or give a delta such as `delta=1e-6` to find them"))
        } else {
            let share = Eps::new(said.eps().ratio() / &Ratio::from(SHARE))?;
            let keys = HistogramKeys {
                eps: share.clone(),
                delta: said.delta().clone(),
                max_keys_per_unit: said.values_per_unit().ok_or_else(unbounded)?,
                adjacency: said.adjacency(),
            };
            let keys = keys.calibrate()?;
            // The best value is kept, and the choice among the kept is good: each fails at most half as often.
            let half = said.failure() / &Ratio::from(2u64);
            let kept_from = keys.count_for(&(Ratio::one() - &half)).ok_or_else(needs_delta)?;
            let rest = Eps::new(said.eps().ratio() - share.ratio())?;
            let cost = Loss::approx(said.eps(), said.delta());
            // Whether this calibrates does not depend on how many are kept, so what can fail fails here.
            Choice::new(mechanism, &rest, said.adjacency(), 2)?.gap(&half)?;
            Ok(base(Among::Kept { keys: Box::new(keys), kept_from, gaps: Gaps::default() }, rest, half, cost))
        }
    }

    pub fn need(&self) -> Need {
        self.of.need()
    }

    fn kept_words(&self, kept_from: u64) -> String {
        let counted = self.counted.words();
        format!(
            "a value takes part when about {kept_from} {counted} have it, and there is a refusal where none has"
        )
    }

    /// One of these by its count.
    fn choose<C: Coins>(&self, scores: &[(String, u64)], choice: &Choice, gap: u64, coins: &mut C) -> Answer {
        let counts: Vec<Ratio> = scores.iter().map(|(_, count)| Ratio::from(*count)).collect();
        let chosen = choice.run(&counts, coins);
        Answer::released(self.of.value(&scores[chosen].0), ErrorBar::gap(self.confidence, gap, self.counted))
    }
}

/// The candidates that were stated, each once, as the texts that stand for them, in rising order.
pub(super) fn candidates(said: &ResolvedRequest, of: ColumnRead) -> Result<Vec<String>, PlanError> {
    let stated = said.among();
    if stated.iter().any(String::is_empty) {
        return Err(PlanError::about(Argument::Among, "a field that is empty is no candidate")
            .hint("leave it out of `among`"));
    }
    let mut once =
        stated.iter().map(|text| stated_value(text, said, of.column)).collect::<Result<Vec<_>, _>>()?;
    once.sort_unstable();
    if once.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(PlanError::about(Argument::Among, "a candidate is stated twice").hint("state each once"));
    }
    Ok(once)
}

/// Never seen: without stated candidates a person counts for every value only where a bound on values was stated.
fn unbounded() -> PlanError {
    PlanError::about(Argument::MaxGroupsPerUnit, "finding candidates needs a bound on the values of a person")
        .hint("give `max_groups_per_unit`, or state them with `among`")
}

impl Answering for Select {
    fn mechanism(&self) -> &'static str {
        self.mechanism
    }

    fn cost(&self) -> Loss {
        self.cost.clone()
    }

    fn answer_type(&self) -> Option<String> {
        self.of.answer_type()
    }

    fn expected(&self) -> Expected {
        match &self.among {
            Among::Stated { gap, .. } => {
                let words = format!(
                    "a value with at most {gap} {} fewer than the most frequent one; never refused",
                    self.counted.words()
                );
                Expected { error: Some(ErrorBar::gap(self.confidence, *gap, self.counted)), words }
            }
            Among::Kept { kept_from, .. } => Expected {
                error: None,
                words: format!("nearly the most frequent value; {}", self.kept_words(*kept_from)),
            },
        }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        match &self.among {
            Among::Stated { candidates, choice, gap } => {
                let counts = gathered.with_texts(self.of.wanted(), candidates);
                let scores: Vec<(String, u64)> = candidates.iter().cloned().zip(counts).collect();
                self.choose(&scores, choice, *gap, coins)
            }
            Among::Kept { keys, kept_from, gaps } => {
                let mut scores: Vec<(String, u64)> = Vec::new();
                gathered.each_text(self.of.wanted(), &mut |text, count| {
                    if !text.is_empty() && keys.names(count, coins) {
                        scores.push((text.to_string(), count));
                    }
                });
                if scores.is_empty() {
                    return Answer::refused(format!(
                        "no value has enough {}: {}; raise epsilon or delta, or state the candidates with `among`",
                        self.counted.words(),
                        self.kept_words(*kept_from)
                    ));
                }
                let choice = Choice::new(self.mechanism, &self.eps, self.adjacency, scores.len());
                let choice = choice.expect("calibrated before");
                let gap = gaps.of(scores.len(), || choice.gap(&self.failure).unwrap_or(u64::MAX));
                // A value that was not kept has fewer rows than this.
                self.choose(&scores, &choice, gap.max(kept_from.saturating_sub(1)), coins)
            }
        }
    }

    fn needs(&self) -> Vec<Need> {
        vec![self.need()]
    }

    fn predicted(&self) -> Option<f64> {
        self.expected().error.and_then(|error| error.in_gap()).map(|gap| gap as f64)
    }

    fn no_prediction(&self) -> String {
        "the error depends on how many values there are; state them with `among`, or give `epsilon`"
            .to_string()
    }
}
