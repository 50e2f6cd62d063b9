//! The same question on public or made-up data, many times: how people choose, and how audits sample.
//!
//! Nothing is charged, nothing is recorded, and what comes out is no [`Release`](crate::release::Release): whoever
//! simulates on private rows has published them. The rows are read once, or where people have many rows once for each
//! trial; each trial has fresh coins. Answers and their error bars are held against what is true of the rows that took part,
//! which plain functions without noise tell. Where rows are drawn, what is true of all rows is told beside it.

pub(crate) mod own;
mod series;
mod truth;

pub use own::Simulated;
pub use series::{Series, Spread};

use crate::{
    answer::{Answer, BatchAnswer, Group, Named},
    bar::ErrorBar,
    error::PlanError,
    gather::ScanResult,
    gather::groups::Standing,
    need::Key,
    plan::Plan,
    quiet::{ended_by, privately},
    release::Outcome,
    rows::ScanKeys,
    session::gather,
    source::Source,
    task::SUMMARY,
    unanswered::Unanswered,
};
use equipoise_core::stop;
use equipoise_entropy::OsCoins;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZero,
    sync::{Arc, Mutex, PoisonError},
    thread,
};
use truth::{Facts, Measure, Question};

/// What many trials came to.
#[derive(Clone, Debug, Default)]
pub struct Simulation {
    /// One for each trial, in no order that means anything.
    pub trials: Vec<Trial>,
    /// Every number and text of the answers; of groups, those first that were told most often.
    pub series: Vec<Series>,
    /// How many keys of the rows no trial told, of all questions whose keys are found; nothing where rows of people are
    /// drawn, or where there are no groups.
    pub unsaid: Option<u64>,
}

impl Simulation {
    /// In how many trials this question of the plan, from zero, was refused.
    pub fn refused(&self, question: usize) -> usize {
        let refused = |trial: &&Trial| {
            trial.answers.get(question).is_some_and(|answer| answer.outcome() == Outcome::Refused)
        };
        self.trials.iter().filter(refused).count()
    }

    /// The numbers and texts of one question.
    pub fn of(&self, question: usize) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(move |series| series.question == question)
    }
}

/// One answer to each question.
#[derive(Clone, Debug)]
pub struct Trial {
    answers: Vec<Answer>,
    batch: bool,
}

impl Trial {
    /// The value or the groups, or `None` for a refusal; for a batch, the list of them.
    pub fn value(&self) -> Option<Value> {
        let mut values = self.answers.iter().map(value);
        if self.batch { Some(values.collect()) } else { values.next().flatten() }
    }

    /// The error bar of a single answer; that of groups, lists and summaries stands in [`document`](Self::document).
    pub fn error(&self) -> Option<&ErrorBar> {
        self.answers.first().filter(|_| !self.batch)?.error.as_ref()
    }

    /// Whether there is any answer.
    pub fn is_released(&self) -> bool {
        self.answers.iter().any(|answer| answer.outcome() == Outcome::Released)
    }

    /// All that a release would show of the answer, as one JSON object: outcome, value, error bar, noisy number of rows,
    /// groups, advice; for a batch, the list of them.
    pub fn document(&self) -> Value {
        let mut documents = self.answers.iter().map(document);
        if self.batch { documents.collect() } else { documents.next().unwrap_or_default() }
    }
}

/// Why a plan cannot be simulated, before any row is read.
pub fn check(plan: &Plan) -> Result<(), PlanError> {
    plan.parts().iter().try_for_each(|part| Question::new(part).map(drop))
}

/// Ask many times.
pub fn simulate(plan: &Plan, source: &dyn Source, trials: usize) -> Result<Simulation, Unanswered> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    privately(|| {
        let questions: Vec<Question> =
            plan.parts().iter().map(Question::new).collect::<Result<_, _>>().map_err(|_| Unanswered::Data)?;
        // Where rows of people are drawn, every trial draws its own.
        let drawn = plan.draws();
        let once = if drawn { None } else { Some(gather(plan, source)?) };
        let known = once.as_ref().map(|gathered| Known::new(&questions, gathered));
        let whole = if drawn { Some(all_rows(plan, source)?) } else { None };
        let part = |trials: usize| -> Result<Seen, Unanswered> {
            let mut coins = OsCoins::new().map_err(|_| Unanswered::Coins)?;
            let mut seen = Seen::default();
            for _ in 0..trials {
                stop::look();
                let own;
                let known = if let Some(known) = &known {
                    known
                } else {
                    let hands = ScanKeys::new(1, &mut coins);
                    let gathered = ScanResult::scan(source, plan.rows(), &plan.needs(), &hands)?;
                    own = gathered;
                    &Known::new(&questions, &own)
                };
                let answers = plan.answers(known.gathered, &mut coins);
                seen.trial(known, &answers, drawn);
                seen.trials.push(Trial { answers, batch: plan.is_batch() });
            }
            Ok(seen)
        };
        let workers = threads.min(trials).max(1);
        let share = |worker: usize| trials / workers + usize::from(worker < trials % workers);
        let seen = thread::scope(|scope| {
            let running: Vec<_> =
                (0..workers).map(|worker| scope.spawn(stop::carried(move || part(share(worker))))).collect();
            let mut all = Seen::default();
            for worker in running {
                all.take(worker.join().map_err(|panic| ended_by(&*panic))??, drawn);
            }
            Ok::<_, Unanswered>(all)
        })?;
        let mut seen = seen;
        if let Some(whole) = &whole {
            Known::new(&questions, whole).tell_all_rows(&mut seen.series);
        }
        let unsaid = known.as_ref().and_then(|known| known.unsaid(&seen.series));
        Ok(Simulation { trials: seen.trials, series: ordered(seen.series), unsaid })
    })
}

/// The rows of which those of a trial are drawn.
fn all_rows<'a>(plan: &Plan, source: &'a dyn Source) -> Result<ScanResult<'a>, Unanswered> {
    let mut coins = OsCoins::new().map_err(|_| Unanswered::Coins)?;
    let hands = ScanKeys::new(1, &mut coins);
    ScanResult::scan(source, &plan.rows().undrawn(), &plan.needs(), &hands)
}

/// The question, the key as text, and the place among the question's numbers and texts.
type Place = (usize, String, usize);

/// What one worker has seen.
#[derive(Default)]
struct Seen {
    trials: Vec<Trial>,
    series: BTreeMap<Place, Series>,
}

impl Seen {
    fn trial(&mut self, known: &Known<'_>, answers: &[Answer], drawn: bool) {
        for (number, (question, answer)) in known.questions.iter().zip(answers).enumerate() {
            let groups = flat(answer, question);
            let keys: Vec<Option<&Value>> = groups.iter().map(|(key, _)| key.as_ref()).collect();
            let facts = known.facts(number, &keys);
            for ((key, one), facts) in groups.into_iter().zip(facts) {
                let text = key.as_ref().map_or_else(String::new, Value::to_string);
                for (place, told) in one.into_iter().enumerate() {
                    let series = self.series.entry((number, text.clone(), place)).or_insert_with(|| {
                        let (name, measure) = &question.measures[place];
                        Series {
                            question: number,
                            name: name.clone(),
                            key: key.clone(),
                            value_type: question.types[place].clone(),
                            frequent: matches!(measure, Measure::Frequent | Measure::Top),
                            ..Series::default()
                        }
                    });
                    if drawn || series.truths.is_empty() {
                        series.truths.push(facts.truths[place].clone());
                    }
                    told.into_series(series, question, place, &facts);
                }
            }
        }
    }

    fn take(&mut self, other: Self, drawn: bool) {
        self.trials.extend(other.trials);
        for (place, series) in other.series {
            match self.series.get_mut(&place) {
                Some(known) => known.take(series, drawn),
                None => {
                    self.series.insert(place, series);
                }
            }
        }
    }
}

/// One number or text of one answer.
struct Told {
    value: Option<Value>,
    error: Option<ErrorBar>,
}

impl Told {
    fn into_series(self, series: &mut Series, question: &Question, place: usize, facts: &Facts) {
        let Some(value) = self.value else {
            series.refused += 1;
            return;
        };
        if let Some(error) = &self.error
            && let Some(held) = question.holds(place, facts, &value, error)
        {
            series.bars += 1;
            series.held += usize::from(held);
            series.confidence = series.confidence.or(Some(error.confidence()));
            if let Some((plainly, moved)) = question.limiting(place, facts, error) {
                series.held_plainly += usize::from(plainly);
                series.moved.push(moved);
            }
        }
        series.values.push(value);
    }
}

/// What is true of rows that were gathered, looked up once for all trials that share them.
struct Known<'g> {
    questions: &'g [Question],
    gathered: &'g ScanResult<'g>,
    facts: Mutex<BTreeMap<(usize, String), Arc<Facts>>>,
}

impl<'g> Known<'g> {
    fn new(questions: &'g [Question], gathered: &'g ScanResult<'g>) -> Self {
        Self { questions, gathered, facts: Mutex::default() }
    }

    /// The facts of a question's groups, or of all its rows.
    fn facts(&self, number: usize, keys: &[Option<&Value>]) -> Vec<Arc<Facts>> {
        let question = &self.questions[number];
        let text = |key: Option<&Value>| (number, key.map_or_else(String::new, Value::to_string));
        let mut known = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<Option<&Value>> =
            keys.iter().copied().filter(|&key| !known.contains_key(&text(key))).collect();
        match self.gathered.groups(&question.by) {
            Some(groups) if !question.by.is_empty() => {
                let of_group = |key| groups.written(&question.key_of_group(key_of(key)));
                let written: Vec<Vec<u8>> = new.iter().map(|&key| of_group(key)).collect();
                let mut bins: BTreeMap<&[u8], BTreeMap<String, Value>> = BTreeMap::new();
                groups.each_of(&written, |place, group| {
                    let facts = match key_of(new[place]).get(question.by.len()) {
                        Some(label) => {
                            let bins =
                                bins.entry(&written[place]).or_insert_with(|| question.truths_of_bins(group));
                            Facts::of_truth(label.as_ref().and_then(|label| bins.get(label)).cloned())
                        }
                        None => question.facts(group),
                    };
                    known.insert(text(new[place]), Arc::new(facts));
                });
            }
            _ if question.binned.is_some() => {
                let counts = question.truths_of_bins(self.gathered);
                for key in new {
                    let label = key.and_then(Value::as_str).unwrap_or_default();
                    known.insert(text(key), Arc::new(Facts::of_truth(counts.get(label).cloned())));
                }
            }
            _ => {
                for key in new {
                    known.insert(text(key), Arc::new(question.facts(self.gathered)));
                }
            }
        }
        keys.iter().map(|&key| Arc::clone(&known[&text(key)])).collect()
    }

    /// Say what is true of all rows beside what is true of those that were drawn.
    fn tell_all_rows(&self, series: &mut BTreeMap<Place, Series>) {
        for (&(question, _, place), series) in series {
            let facts = self.facts(question, &[series.key.as_ref()]);
            series.all_rows = Some(facts[0].truths[place].clone());
        }
    }

    /// How many keys of the rows no trial told.
    fn unsaid(&self, series: &BTreeMap<Place, Series>) -> Option<u64> {
        let mut unsaid = None;
        for (number, question) in self.questions.iter().enumerate() {
            let Some(groups) = self.gathered.groups(&question.by).filter(|_| !question.by.is_empty()) else {
                continue;
            };
            let told: BTreeSet<Vec<u8>> = series
                .values()
                .filter(|series| series.question == number)
                .map(|series| groups.written(&question.key_of_group(key_of(series.key.as_ref()))))
                .collect();
            let mut keys = 0;
            groups.each_count(&question.counted(), |key, count| {
                keys += u64::from(count > 0 && !told.contains(key));
            });
            unsaid = Some(unsaid.unwrap_or_default() + keys);
        }
        unsaid
    }
}

/// The texts of a key from its JSON.
fn key_of(key: Option<&Value>) -> Key {
    let text = |value: &Value| value.as_str().map(str::to_string);
    match key {
        Some(Value::Array(parts)) => parts.iter().map(text).collect(),
        Some(one) => vec![text(one)],
        None => Vec::new(),
    }
}

/// Questions in their order, keys by how often they were told, numbers of an answer in theirs.
fn ordered(series: BTreeMap<Place, Series>) -> Vec<Series> {
    let mut told: BTreeMap<(usize, String), usize> = BTreeMap::new();
    for ((question, key, _), series) in &series {
        let most = told.entry((*question, key.clone())).or_default();
        *most = (*most).max(series.values.len());
    }
    let mut series: Vec<(usize, Standing, Key, Place, Series)> = series
        .into_iter()
        .map(|(place, series)| {
            let told = told[&(place.0, place.1.clone())];
            let key = key_of(series.key.as_ref());
            (told, Standing::of(&key), key, place, series)
        })
        .collect();
    series.sort_by(|(told, standing, key, place, _), (other_told, other_standing, other_key, other, _)| {
        let questions = place.0.cmp(&other.0).then(other_told.cmp(told));
        questions.then_with(|| standing.cmp(key, other_standing, other_key)).then(place.2.cmp(&other.2))
    });
    series.into_iter().map(|(.., series)| series).collect()
}

/// Every number and text of an answer, by key.
fn flat(answer: &Answer, question: &Question) -> Vec<(Option<Value>, Vec<Told>)> {
    let many = question.measures.len();
    let Some(groups) = &answer.groups else {
        if !question.by.is_empty() {
            // More keys than a release tells.
            return Vec::new();
        }
        let named = |Named { statistic, answer, .. }: &Named| {
            numbers(answer.value.as_ref(), answer.error.as_ref(), many_of(statistic))
        };
        let told = match &answer.several {
            Some(several) => several.iter().flat_map(named).collect(),
            None => numbers(answer.value.as_ref(), answer.error.as_ref(), many),
        };
        return vec![(None, told)];
    };
    let released = |outcome: Outcome| outcome == Outcome::Released;
    let item = |item: &BatchAnswer| {
        let value = released(item.outcome).then_some(&item.value);
        numbers(value, item.error.as_ref(), many_of(&item.statistic))
    };
    let one = |group: &Group| {
        let told = match &group.answers {
            Some(answers) => answers.iter().flat_map(item).collect(),
            None => numbers(released(group.outcome).then_some(&group.value), group.error.as_ref(), many),
        };
        (Some(group.key.clone()), told)
    };
    groups.iter().map(one).collect()
}

/// How many numbers this answer of a summary has.
fn many_of(statistic: &str) -> usize {
    if statistic == "quantiles" { SUMMARY.len() } else { 1 }
}

fn numbers(value: Option<&Value>, error: Option<&ErrorBar>, many: usize) -> Vec<Told> {
    match value {
        // What a list does not tell is null. A set of texts is one answer.
        Some(Value::Array(values)) if many > 1 => {
            let one = |(place, value): (usize, &Value)| Told {
                value: (!value.is_null()).then(|| value.clone()),
                error: error.map(|error| error.at(place)),
            };
            values.iter().enumerate().map(one).collect()
        }
        Some(value) => vec![Told { value: Some(value.clone()), error: error.cloned() }],
        None => (0..many).map(|_| Told { value: None, error: None }).collect(),
    }
}

/// What is seen of an answer: its value, or its groups.
fn value(answer: &Answer) -> Option<Value> {
    match &answer.groups {
        Some(groups) => serde_json::to_value(groups).ok(),
        None => answer.value.clone(),
    }
}

/// An answer with everything that a release shows of it.
fn document(answer: &Answer) -> Value {
    let mut shown = json!({ "outcome": answer.outcome(), "value": answer.value, "error": answer.error });
    for (name, told) in [("rows", json!(answer.rows)), ("advice", json!(answer.advice))] {
        if !told.is_null() {
            shown[name] = told;
        }
    }
    if let Some(groups) = &answer.groups {
        shown["groups"] = json!(groups);
    }
    if let Some(several) = &answer.several {
        let named = |named: &Named| {
            let mut shown = document(&named.answer);
            shown["statistic"] = json!(named.statistic);
            shown
        };
        shown["answers"] = several.iter().map(named).collect();
    }
    shown
}

#[cfg(test)]
mod tests;
