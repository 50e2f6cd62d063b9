//! How many records each key has: over keys that nobody wrote down, or over keys that are public.
//!
//! # Guarantee
//!
//! Under add/remove (epsilon, delta) for keys that are found, epsilon for keys that were stated. One row has one
//! key and moves one count by one: noise on that count is epsilon-DP, and the key of a single row is told with
//! probability at most delta ([`noisy_distance`], where the distance of a key from being nobody's is its count).
//! The count that decides is the noisy one that is told, so nothing is used twice. Under replace two counts move;
//! the add/remove form runs at a price of which two steps cost what was said.

use super::{
    Answering, Expected,
    count::{counted, whole_noise, within},
    noise::LAWS,
};
use crate::{
    answer::{Answer, MOST_TOLD},
    bar::ErrorBar,
    error::PlanError,
    field::number,
    gather::groups::sort_by_key,
    need::Key,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::RowFacts,
    source::{ColumnRead, ColumnType},
    statistic::Argument,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    interval::ln_upper,
    loss::{Delta, Eps, Loss},
    mechanism::{
        laplace,
        noisy_distance::{self, NoisyDistance},
    },
    outcome::{Outcome, Slack},
    ratio::Ratio,
    wording,
};
use serde_json::json;
use std::sync::Arc;

/// Noisy counts by key.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    by: Vec<ColumnRead>,
    counted: Need,
    cost: Loss,
    keys: Keys,
    confidence: f64,
}

#[derive(Clone, Debug)]
enum Keys {
    Stated { keys: Vec<Key>, noise: Arc<laplace::Calibrated>, within: i64 },
    Found(Box<Found>),
}

/// Keys that enough rows have.
#[derive(Clone, Debug)]
pub(super) struct Found {
    noise: noisy_distance::Calibrated,
    within: i64,
    /// A noisy count below this may be that of a key that was only just told.
    just_told: i64,
    /// From this many rows on a key is released in 19 cases of 20.
    told_from: u64,
}

impl Histogram {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        let column = said.optional_column()?;
        let (by, counted) = match (said.group_by(), column) {
            ([], _) => (vec![said.column()?], Need::Records),
            (by, Some(column)) => (by.to_vec(), Need::Present(said.key(column))),
            (by, None) => (by.to_vec(), Need::Records),
        };
        let by: Vec<ColumnRead> = by.into_iter().map(|column| said.key(column)).collect();
        let single = said.in_single_steps()?;
        let moved = Ratio::from(said.groups_per_unit());
        let eps = Eps::new(single.eps().ratio() / &moved)?;
        let keys = match stated_keys(said, &by)? {
            Some(keys) => {
                let noise = whole_noise(&eps)?;
                let within = within(&noise, said.failure())?;
                Keys::Stated { keys, noise, within }
            }
            None => Keys::Found(Box::new(Found::plan(said, &eps, &(single.delta().ratio() / &moved))?)),
        };
        let cost = match &keys {
            Keys::Stated { .. } => Loss::pure(said.eps()),
            Keys::Found(_) => Loss::approx(said.eps(), said.delta()),
        };
        Ok(Self { by, counted, cost, keys, confidence: said.confidence() })
    }

    pub fn need(&self) -> Need {
        Need::Grouped { by: self.by.clone(), need: Box::new(self.counted.clone()) }
    }

    pub fn within(&self) -> f64 {
        match &self.keys {
            Keys::Stated { within, .. } => *within as f64,
            Keys::Found(found) => found.within as f64,
        }
    }

    fn bar(&self, low: f64, high: f64) -> ErrorBar {
        ErrorBar::noise(self.confidence, low, high)
    }
}

impl Answering for Histogram {
    fn cost(&self) -> Loss {
        self.cost.clone()
    }

    fn expected(&self) -> Expected {
        let within = self.within();
        let words = match &self.keys {
            Keys::Stated { .. } => {
                format!("each count is off by at most {within}; every stated key has one")
            }
            Keys::Found(found) => format!(
                "each count is off by at most {within}; {}; rarer keys are not released",
                found.told_from_words()
            ),
        };
        Expected { error: Some(self.bar(-within, within)), words }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        let groups = gathered.groups(&self.by);
        match &self.keys {
            Keys::Stated { keys, noise, within } => {
                let written: Vec<Vec<u8>> = keys.iter().map(|key| groups.written(key)).collect();
                let counts = groups.counts_of(&self.counted, &written);
                let group = |(key, count): (&Key, u64)| {
                    let noisy = noise.run_whole(whole(count), coins);
                    counted(self.confidence, noisy, *within).into_group(key)
                };
                Answer::grouped(keys.iter().zip(counts).map(group).collect(), String::new)
            }
            Keys::Found(found) => {
                let mut told: Vec<(Key, i64)> = Vec::new();
                groups.each_count(&self.counted, &mut |key, count| {
                    if let Some(noisy) = found.told(whole(count), coins)
                        && told.len() <= MOST_TOLD
                    {
                        told.push((groups.read(key), noisy));
                    }
                });
                if told.len() > MOST_TOLD {
                    return Answer::too_many_groups();
                }
                sort_by_key(&mut told, |(key, ..)| key);
                let group =
                    |(key, noisy): &(Key, i64)| found.released(self.confidence, *noisy).into_group(key);
                let advice = || {
                    format!(
                        "no key was released: {}; raise epsilon or delta, group by fewer columns, or state the `keys`",
                        found.told_from_words()
                    )
                };
                Answer::grouped(told.iter().map(group).collect(), advice)
            }
        }
    }

    fn mechanism(&self) -> &'static str {
        LAWS[0]
    }

    fn needs(&self) -> Vec<Need> {
        vec![self.need()]
    }

    fn group_by(&self) -> &[ColumnRead] {
        &self.by
    }

    fn keys_from(&self) -> Option<u64> {
        match &self.keys {
            Keys::Stated { .. } => None,
            Keys::Found(found) => Some(found.told_from),
        }
    }

    fn predicted(&self) -> Option<f64> {
        Some(self.within())
    }
}

impl Found {
    /// The bars hold for the keys that are told. A key at or above the threshold is told at least every second
    /// time, so a bar that fails half as often does. The noisy count of a key below it is the threshold and a
    /// geometric number more: a bar that begins at one row, unless that number is unlikely, holds.
    pub fn plan(said: &ResolvedRequest, eps: &Eps, delta: &Ratio) -> Result<Self, PlanError> {
        if delta.is_zero() {
            return Err(needs_delta());
        }
        let shape = NoisyDistance {
            eps: eps.clone(),
            delta: Delta::new(delta.clone())?,
            adjacency: Adjacency::AddRemove,
        };
        let noise = shape.calibrate()?;
        let within = within(&*whole_noise(eps)?, &(said.failure() / &Ratio::from(2u64)))?;
        let least = noise.threshold().saturating_add(1);
        let unlikely = (ln_upper(&said.failure().recip()) / eps.ratio()).ceil_i64().unwrap_or(i64::MAX);
        let rows = |count: u64| Slack::rows_to_change(count, Adjacency::AddRemove);
        let rarely = Ratio::new(1, 20);
        let (mut unsaid, mut told) = (0, u64::try_from(least.saturating_add(within)).unwrap_or(u64::MAX));
        while told - unsaid > 1 {
            let middle = unsaid + (told - unsaid) / 2;
            if noise.accuracy(rows(middle)) <= rarely { told = middle } else { unsaid = middle }
        }
        Ok(Self { noise, within, just_told: least.saturating_add(unlikely), told_from: told })
    }

    /// The noisy count of a key that some row has, unless it stays unsaid.
    pub fn told<C: Coins>(&self, count: i64, coins: &mut C) -> Option<i64> {
        // A key whose rows are all empty in the counted column is nobody's.
        let rows = u64::try_from(count).ok().filter(|&rows| rows > 0)?;
        let seen = self.noise.run((), Slack::rows_to_change(rows, Adjacency::AddRemove), coins);
        match seen {
            noisy_distance::Seen { outcome: Outcome::Value(()), distance: Some(distance) } => {
                Some(distance.saturating_add(1))
            }
            _ => None,
        }
    }

    /// From how many rows on a key is named in 19 cases of 20.
    pub fn told_from(&self) -> u64 {
        self.told_from
    }

    /// A noisy count that was told, with its bar.
    pub fn released(&self, confidence: f64, noisy: i64) -> Answer {
        // What is told is at least one, so that the upper end lies above.
        let low = if noisy < self.just_told { 1 } else { noisy.saturating_sub(self.within) };
        let high = noisy.saturating_add(self.within) as f64;
        Answer::released(json!(noisy), ErrorBar::noise(confidence, low.max(1) as f64, high))
    }

    /// How far off a count may be.
    pub fn within(&self) -> i64 {
        self.within
    }

    pub fn told_from_words(&self) -> String {
        format!("a key is released in 19 cases of 20 when at least {} rows have it", self.told_from)
    }
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(super) fn needs_delta() -> PlanError {
    PlanError::about(Argument::Delta, "finding keys needs a delta above 0")
        .hint("give `delta=1e-6`, or state the keys of one column with `keys`")
}

/// The keys that were stated, each once; `None` where they are to be found.
pub(super) fn stated_keys(said: &ResolvedRequest, by: &[ColumnRead]) -> Result<Option<Vec<Key>>, PlanError> {
    if said.keys().is_empty() {
        return Ok(None);
    }
    let &[key] = by else {
        return Err(PlanError::about(Argument::Keys, "`keys` states the keys of one column")
            .hint("group by one, or leave `keys` out"));
    };
    let mut keys: Vec<Key> = said
        .keys()
        .iter()
        // An empty text is the key of rows that have none.
        .map(|text| Ok(vec![if text.is_empty() { None } else { Some(stated(text, said, key.column)?) }]))
        .collect::<Result<_, PlanError>>()?;
    sort_by_key(&mut keys, |key| key);
    match keys.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(_) => Err(PlanError::about(Argument::Keys, "a key is stated twice").hint("state each once")),
        None => Ok(Some(keys)),
    }
}

/// A stated value as the text that stands for it in rows, by the type of its column.
pub(super) fn stated(text: &str, said: &ResolvedRequest, column: usize) -> Result<String, PlanError> {
    let Some(kind) = said.kind(column) else { return Ok(text.to_string()) };
    if let Some(whole) = kind.read(text) {
        return Ok(kind.write(whole));
    }
    // Schemas declare numbers that no whole type holds; each is written as its digits.
    let number = !kind.is_time() && kind != ColumnType::Boolean && said.key(column).kind == ColumnType::Text;
    if kind == ColumnType::Text || number && !number::float(text.as_bytes()).is_nan() {
        return Ok(text.to_string());
    }
    let shown = wording::shown(text);
    let problem = format!("'{shown}' was stated and is no {kind}");
    let argument = if said.among().is_empty() { Argument::Keys } else { Argument::Among };
    Err(PlanError::about(argument, problem).hint("state values of the column's type"))
}

#[cfg(test)]
mod tests {
    use crate::{plan::DataFacts, request::Request};

    /// Else it would be counted, and published, twice for one price.
    #[test]
    fn a_key_or_a_candidate_that_is_stated_twice_is_refused_wherever_it_stands() {
        let facts = DataFacts {
            name: "people".into(),
            columns: vec!["town".into()],
            registered: None,
            kinds: Vec::new(),
            windows: None,
        };
        let planned = |statistic: &str, texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
            let (by, column) = ("town".to_string(), Some("town".to_string()));
            let asked = Request { epsilon: Some("1".into()), ..Request::new(statistic) };
            let asked = match statistic {
                "count" => Request { group_by: vec![by], keys: texts, ..asked },
                _ => Request { column, among: texts, ..asked },
            };
            crate::plan::Plan::new(&asked, &facts).map(|_| ()).map_err(|error| error.to_string())
        };
        for (statistic, what) in [("count", "a key"), ("select", "a candidate")] {
            assert_eq!(planned(statistic, &["b", "a", "c"]), Ok(()));
            for twice in [&["a", "a"][..], &["b", "a", "b"], &["a", "c", "b", "c"]] {
                let refused = Err(format!("{what} is stated twice; state each once"));
                assert_eq!(planned(statistic, twice), refused, "{twice:?}");
            }
        }
    }
}
