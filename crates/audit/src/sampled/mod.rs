//! Audits by sampling: run a mechanism many times on neighbouring data sets and look for an event that gives it away.
//!
//! Exact audits enumerate small cases of our own code. These attack anything that can be run: a shipped binary, a whole
//! pipeline, somebody else's function. They can refute a promise, never confirm one.
//!
//! # Guarantee
//!
//! If the promise (epsilon, delta) is true of every neighbouring pair, [`attack`] raises an alarm with probability at most
//! `false_alarm`; and with probability at least `1 - false_alarm` every lower bound it reports is below the truth.
//!
//! # Why
//!
//! 1. Each round draws two halves. The first chooses a pair, a direction and an event; the second, which is fresh, only
//!    counts how often the event happens. So the event is fixed as far as the counts are concerned.
//! 2. Clopper and Pearson's bounds on both chances hold together with probability one minus the round's share of
//!    `false_alarm`; where they hold, `P(event) - e^epsilon·Q(event)` is at most delta if the promise is true.
//! 3. The shares of all rounds, halved from round to round, sum to `false_alarm`. Stopping by the clock looks at no output.
//!
//! ```
//! use equipoise_audit::sampled::{Limits, Promise, Seen, Subject, Which, attack};
//! use equipoise_core::coins::Words;
//!
//! // A pipeline that adds a coin to its secret, and promises epsilon 1.
//! let leaky = |which: Which, words: &mut dyn Words| Seen::Number(f64::from(which.second) + (words.word() >> 63) as f64);
//! let subject = Subject { pairs: 1, run: &leaky };
//! let coins = || equipoise_entropy::OsCoins::new().expect("the system has entropy");
//! let promise = Promise { eps: 1.0, delta: 0.0 };
//! let found = attack(&subject, &promise, &Limits { seconds: 10.0, ..Limits::default() }, &coins);
//! assert!(found.alarm && found.eps_lower > 1.0);
//! ```

pub mod clopper_pearson;
mod events;
mod parts;
mod shipped;
pub mod tracing;
mod zoo;

use clopper_pearson::{lower, upper};
use equipoise_core::coins::Words;
use events::Event;
use parts::Views;
use std::{
    collections::BTreeMap,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

/// One output of a mechanism, as an attacker sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// A number. All of its bits count.
    Number(f64),
    /// Several numbers.
    Numbers(Vec<f64>),
    /// Anything else, such as a refusal or a name.
    Text(String),
    /// Everything that one run shows, by name: numbers and texts, of which some may be missing.
    Parts(BTreeMap<String, Part>),
}

/// One thing of several that a run shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A number. All of its bits count.
    Number(f64),
    /// Anything else.
    Text(String),
}

/// Which data set to run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Which {
    /// The neighbouring pair, counted from zero.
    pub pair: usize,
    /// Its second data set instead of its first.
    pub second: bool,
}

/// What is attacked: it can be run on either data set of each neighbouring pair.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// How many neighbouring pairs there are.
    pub pairs: usize,
    /// One run. A pipeline with randomness of its own may leave the words alone.
    pub run: &'a (dyn Fn(Which, &mut dyn Words) -> Seen + Sync),
}

/// What the mechanism promises.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// Epsilon.
    pub eps: f64,
    /// Delta.
    pub delta: f64,
}

/// How long and how surely to attack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The largest chance of an alarm about a true promise.
    pub false_alarm: f64,
    /// About how long.
    pub seconds: f64,
    /// The most runs on one data set in one half of a round.
    pub most_runs: usize,
    /// Threads.
    pub threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Self { false_alarm: 1e-6, seconds: 60.0, most_runs: 1 << 20, threads }
    }
}

/// What an attack found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The promise is refuted.
    pub alarm: bool,
    /// A lower bound on epsilon at the promised delta; zero where nothing was found.
    pub eps_lower: f64,
    /// A lower bound on delta at the promised epsilon; zero where nothing was found.
    pub delta_lower: f64,
    /// The event, in words.
    pub event: String,
    /// The pair on which it was found.
    pub pair: usize,
    /// Runs in all.
    pub runs: usize,
    /// Seconds in all.
    pub seconds: f64,
}

impl Found {
    fn nothing() -> Self {
        Self {
            alarm: false,
            eps_lower: 0.0,
            delta_lower: 0.0,
            event: String::new(),
            pair: 0,
            runs: 0,
            seconds: 0.0,
        }
    }
}

/// Runs on one data set in the first half of the first round, and how much more each round draws.
const FIRST_RUNS: usize = 1 << 12;
const GROWTH: usize = 8;

/// Attack until an alarm or a limit.
pub fn attack<W: Words>(
    subject: &Subject,
    promise: &Promise,
    limits: &Limits,
    coins: &(impl Fn() -> W + Sync),
) -> Found {
    let start = Instant::now();
    let mut found = Found::nothing();
    let (mut runs, mut share) = (FIRST_RUNS, limits.false_alarm / 2.0);
    loop {
        let began = Instant::now();
        let test_runs = runs * subject.pairs.min(4);
        round(subject, promise, limits, coins, runs, test_runs, share, &mut found);
        found.runs += 2 * runs * subject.pairs + 2 * test_runs;
        let next = began.elapsed() * u32::try_from(GROWTH).unwrap_or(u32::MAX);
        let late = start.elapsed() + next > Duration::from_secs_f64(limits.seconds);
        (runs, share) = (runs * GROWTH, share / 2.0);
        if found.alarm || late || runs > limits.most_runs {
            found.seconds = start.elapsed().as_secs_f64();
            return found;
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "one caller, and each is named there")]
fn round<W: Words>(
    subject: &Subject,
    promise: &Promise,
    limits: &Limits,
    coins: &(impl Fn() -> W + Sync),
    runs: usize,
    test_runs: usize,
    share: f64,
    found: &mut Found,
) {
    let draw = |which, count| sample(subject, which, count, limits.threads, coins);
    let mut best: Option<(f64, Which, Event)> = None;
    for pair in 0..subject.pairs {
        let halves = [false, true].map(|second| draw(Which { pair, second }, runs));
        for second in [false, true] {
            let (likely, other) = (&halves[usize::from(second)], &halves[usize::from(!second)]);
            if let Some((score, event)) = events::best(likely, other, &Views::new(likely, other), promise)
                && best.as_ref().is_none_or(|(known, ..)| score > *known)
            {
                best = Some((score, Which { pair, second }, event));
            }
        }
    }
    let Some((_, which, event)) = best else { return };
    let fresh =
        [which.second, !which.second].map(|second| draw(Which { pair: which.pair, second }, test_runs));
    judge(&event, [&fresh[0], &fresh[1]], which.pair, promise, share, found);
}

/// How often the event happens where it is likely and where it should be about as likely, and what that refutes.
fn judge(event: &Event, fresh: [&[Seen]; 2], pair: usize, promise: &Promise, share: f64, found: &mut Found) {
    let (low, high) = ends(event, fresh, share);
    // Rounded against the alarm.
    let delta = low - promise.eps.exp() * (1.0 + 1e-12) * high - 1e-12;
    let eps = lost(low, high, promise.delta);
    if eps > found.eps_lower || delta > found.delta_lower {
        found.eps_lower = eps.max(0.0);
        found.delta_lower = delta.max(0.0);
        found.event = event.words();
        found.pair = pair;
    }
    found.alarm |= delta > promise.delta;
}

/// How often the event happens at least where it is likely, and at most where it is not.
fn ends(event: &Event, fresh: [&[Seen]; 2], share: f64) -> (f64, f64) {
    let [often, rarely] = fresh.map(|seen| seen.iter().filter(|seen| event.holds(seen)).count());
    (lower(often, fresh[0].len(), share / 2.0), upper(rarely, fresh[1].len(), share / 2.0))
}

/// The epsilon that these refute all smaller ones of.
fn lost(low: f64, high: f64, delta: f64) -> f64 {
    if low > delta && high > 0.0 { ((low - delta) / high).ln() - 1e-12 } else { 0.0 }
}

/// Where no event exceeds the promise by as many standard deviations, an alarm is not to be had, and an event is chosen for what
/// it says about the loss itself.
const WORTH_TESTING: f64 = 4.0;
/// At which parts of the promised epsilon such an event is looked for.
const PARTS: [f64; 6] = [0.85, 0.7, 0.5, 0.3, 0.1, 0.0];

/// The same for outputs that were collected before, of any pipeline: many independent runs on one data set, and many on a
/// neighbour. The first half of each chooses the event, the second half counts it; so the runs must be in no order that
/// means anything. Of the longer list only as many count as the shorter has.
pub fn compare(first: &[Seen], second: &[Seen], promise: &Promise, false_alarm: f64) -> Found {
    let start = Instant::now();
    let mut found = Found::nothing();
    let runs = first.len().min(second.len());
    let (first, second) = (&first[..runs], &second[..runs]);
    let (first, second) = (first.split_at(first.len() / 2), second.split_at(second.len() / 2));
    let directions = [(first, second), (second, first)]
        .map(|(likely, other)| (likely, other, Views::new(likely.0, other.0)));
    let best_at = |eps: f64| {
        let scored = directions.iter().filter_map(|(likely, other, views)| {
            let (likely, other) = (*likely, *other);
            let (score, event) = events::best(likely.0, other.0, views, &Promise { eps, ..*promise })?;
            Some((score, event, [likely, other]))
        });
        scored.max_by(|one, two| one.0.total_cmp(&two.0))
    };
    // Only first halves decide which event is tested on the second ones.
    let said = |event: &Event, halves: &[(&[Seen], &[Seen]); 2]| {
        let (low, high) = ends(event, halves.map(|half| half.0), false_alarm);
        lost(low, high, promise.delta)
    };
    let chosen = best_at(promise.eps).filter(|(score, ..)| *score >= WORTH_TESTING).or_else(|| {
        let events = PARTS.iter().filter_map(|part| best_at(part * promise.eps));
        events.max_by(|one, two| said(&one.1, &one.2).total_cmp(&said(&two.1, &two.2)))
    });
    if let Some((_, event, halves)) = chosen {
        judge(&event, halves.map(|half| half.1), 0, promise, false_alarm, &mut found);
    }
    found.runs = 2 * (first.1.len() + second.1.len());
    found.seconds = start.elapsed().as_secs_f64();
    found
}

/// Runs on all threads.
fn sample<W: Words>(
    subject: &Subject,
    which: Which,
    count: usize,
    threads: usize,
    coins: &(impl Fn() -> W + Sync),
) -> Vec<Seen> {
    let all = Mutex::new(Vec::with_capacity(count));
    let threads = threads.clamp(1, count.max(1));
    thread::scope(|scope| {
        for thread in 0..threads {
            let all = &all;
            scope.spawn(move || {
                let mut words = coins();
                let share = count / threads + usize::from(thread < count % threads);
                let seen: Vec<Seen> = (0..share).map(|_| (subject.run)(which, &mut words)).collect();
                all.lock().expect("no run panicked").extend(seen);
            });
        }
    });
    all.into_inner().expect("no run panicked")
}

/// What an audit by sampling expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Shipped: no alarm.
    Quiet,
    /// Broken: an alarm.
    Caught,
}

/// The run of an entry, made once for each audit.
pub type Run = Box<dyn Fn(Which, &mut dyn Words) -> Seen + Sync + Send>;

/// One line of `equipoise audit --sampled`.
pub struct Entry {
    /// A name that stays.
    pub name: &'static str,
    /// What is run.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What should come out.
    pub expect: Expect,
    /// What it promises: epsilon and delta as decimals.
    pub promise: (&'static str, &'static str),
    /// How many neighbouring pairs.
    pub pairs: usize,
    /// The mechanism, calibrated.
    pub prepare: fn() -> Run,
}

impl Entry {
    /// The promise as numbers.
    pub fn promise(&self) -> Promise {
        let number = |text: &str| text.parse().expect("a decimal");
        Promise { eps: number(self.promise.0), delta: number(self.promise.1) }
    }

    /// Attack it.
    pub fn attack<W: Words>(&self, limits: &Limits, coins: &(impl Fn() -> W + Sync)) -> Found {
        let run = (self.prepare)();
        attack(&Subject { pairs: self.pairs, run: &*run }, &self.promise(), limits, coins)
    }
}

/// Every entry: shipped mechanisms first, then the broken ones that only sampling sees.
pub fn all() -> Vec<&'static Entry> {
    shipped::ALL.iter().chain(zoo::ALL).collect()
}

/// Words behind a reference, so that code generic over coins can use them.
pub struct Borrowed<'a>(pub &'a mut dyn Words);

impl Words for Borrowed<'_> {
    fn word(&mut self) -> u64 {
        self.0.word()
    }
}

/// A float in (0, 1), as programs without care draw it: 53 bits.
fn careless_uniform(words: &mut dyn Words) -> f64 {
    ((words.word() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fixed words (SplitMix64), so that these tests of the attack itself cannot fail by chance.
    pub(super) struct FixedWords(pub u64);

    impl Words for FixedWords {
        fn word(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.0;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }
    }

    fn coins() -> FixedWords {
        FixedWords(7)
    }

    /// One thread and no clock that matters: runs end at `most_runs`.
    fn quick() -> Limits {
        Limits { seconds: 600.0, most_runs: 1 << 15, threads: 1, ..Limits::default() }
    }

    #[test]
    fn randomized_response_is_found_at_its_epsilon_and_not_above() {
        // True with probability e/(1 + e) on the second data set, 1/(1 + e) on the first.
        let answer = |which: Which, words: &mut dyn Words| {
            let truth = careless_uniform(words) < 1.0 / (1.0 + (-1f64).exp());
            Seen::Text(format!("{}", truth == which.second))
        };
        let subject = Subject { pairs: 1, run: &answer };
        let honest = attack(&subject, &Promise { eps: 1.0, delta: 0.0 }, &quick(), &coins);
        assert!(!honest.alarm && honest.eps_lower > 0.9 && honest.eps_lower <= 1.0, "{honest:?}");
        let lie = attack(&subject, &Promise { eps: 0.9, delta: 0.0 }, &quick(), &coins);
        assert!(lie.alarm && lie.eps_lower > 0.9, "{lie:?}");
    }

    #[test]
    fn a_leak_of_probability_delta_is_found_as_delta() {
        let leak = |which: Which, words: &mut dyn Words| {
            Seen::Number(f64::from(u8::from(which.second && words.word() >> 60 == 0)))
        };
        let subject = Subject { pairs: 1, run: &leak };
        let found = attack(&subject, &Promise { eps: 1.0, delta: 0.01 }, &quick(), &coins);
        assert!(found.alarm && found.delta_lower > 0.03 && found.delta_lower < 1.0 / 16.0, "{found:?}");
        assert!(!attack(&subject, &Promise { eps: 1.0, delta: 0.07 }, &quick(), &coins).alarm);
    }

    #[test]
    fn the_pair_that_leaks_is_found_among_others() {
        let run = |which: Which, words: &mut dyn Words| {
            let shift = if which.pair == 2 { f64::from(u8::from(which.second)) } else { 0.0 };
            Seen::Numbers(vec![careless_uniform(words), careless_uniform(words) + 0.5 * shift])
        };
        let found =
            attack(&Subject { pairs: 4, run: &run }, &Promise { eps: 0.5, delta: 0.0 }, &quick(), &coins);
        assert!(found.alarm && found.pair == 2, "{found:?}");
    }

    #[test]
    fn outputs_that_were_collected_before_are_judged_the_same_way() {
        let mut words = FixedWords(3);
        let answers = |shift: f64, words: &mut FixedWords| -> Vec<Seen> {
            (0..20_000).map(|_| Seen::Number((careless_uniform(words) + shift).round())).collect()
        };
        let (first, second) = (answers(0.0, &mut words), answers(0.3, &mut words));
        let promise = Promise { eps: 0.3, delta: 0.0 };
        let found = compare(&first, &second, &promise, 1e-6);
        assert!(found.alarm && found.eps_lower > 0.3, "{found:?}");
        // Where the promise holds, what is lost is told as far as it shows.
        let generous = Promise { eps: 2.0, delta: 0.0 };
        let told = compare(&first, &second, &generous, 1e-6);
        assert!(!told.alarm && told.eps_lower > 0.2 && !told.event.is_empty(), "{told:?}");
        let again = answers(0.0, &mut words);
        assert!(compare(&first, &again, &generous, 1e-6).eps_lower < 0.05);
        assert!(!compare(&first, &again, &promise, 1e-6).alarm);
        // Lists of different lengths once made the sure event look best.
        let few = &first[..2_000];
        assert!(compare(few, &second, &promise, 1e-6).alarm && compare(&second, few, &promise, 1e-6).alarm);
        for few in [&[][..], &[Seen::Text("refused".into())][..]] {
            assert!(!compare(few, few, &promise, 1e-6).alarm);
        }
    }
}
