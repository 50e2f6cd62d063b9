//! What a run shows by name: the numbers that can be made of it, one by one, in pairs and all together.
//!
//! A release shows more than its value: a noisy number of rows, the range that was found, which groups have an answer. Each of them may
//! be quiet where all of them together are not. For parts whose noise is independent the joint loss is the sum of the parts'
//! losses, so the sum of their logarithmic likelihood ratios is the best feature there is; noise that parts share shows in
//! their differences.

use super::{Part, Seen, events::lowest_bit};
use std::collections::{BTreeMap, BTreeSet};

/// Between how many of the numbers differences are looked at.
const PAIRED: usize = 6;
/// How many parts, in the order of their names, are looked at one by one; all of them are looked at together.
const SINGLE: usize = 64;
/// Bins of one part where all are looked at together. Few, because each is estimated.
const BINS: usize = 24;

/// A number that what is shown by name has.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shown {
    /// A number itself; of a text its place in the alphabet, so that days are in order.
    Value(String),
    /// The lowest bit of a number.
    LowestBit(String),
    /// One number less another.
    Difference(String, String),
    /// How much likelier all parts together are in one sample than in the other.
    Together(BTreeMap<String, Likelier>),
}

/// How much likelier values of one part are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Likelier {
    cuts: Vec<f64>,
    bins: Vec<f64>,
    missing: f64,
}

impl Shown {
    /// The number of this output.
    pub(super) fn of(&self, seen: &Seen) -> Option<f64> {
        let Seen::Parts(parts) = seen else { return None };
        match self {
            Self::Value(name) => parts.get(name).map(number),
            Self::LowestBit(name) => match parts.get(name)? {
                Part::Number(value) => Some(lowest_bit(*value)),
                Part::Text(_) => None,
            },
            Self::Difference(one, other) => match (parts.get(one)?, parts.get(other)?) {
                (Part::Number(one), Part::Number(other)) => Some(one - other),
                _ => None,
            },
            Self::Together(likelier) => {
                Some(likelier.iter().map(|(name, part)| part.of(parts.get(name).map(number))).sum())
            }
        }
    }

    /// In words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Value(name) => name.clone(),
            Self::LowestBit(name) => format!("the lowest bit of {name}"),
            Self::Difference(one, other) => format!("{one} less {other}"),
            Self::Together(_) => "the likelihood of everything together".to_string(),
        }
    }
}

/// A part as a number.
fn number(part: &Part) -> f64 {
    match part {
        Part::Number(value) => *value,
        Part::Text(text) => place_in_alphabet(text),
    }
}

/// The first ten letters and digits, as digits of a number that a float holds exactly.
fn place_in_alphabet(text: &str) -> f64 {
    let digits = text.chars().filter_map(|c| c.to_ascii_lowercase().to_digit(36)).map(|digit| digit + 1);
    digits.chain(std::iter::repeat(0)).take(10).fold(0.0, |place, digit| place * 37.0 + f64::from(digit))
}

/// The text of a part.
pub(super) fn text(name: &str, seen: &Seen) -> Option<String> {
    match seen {
        Seen::Parts(parts) => match parts.get(name)? {
            Part::Text(text) => Some(text.clone()),
            Part::Number(_) => Some("a number".to_string()),
        },
        _ => None,
    }
}

/// Which parts there are, and the texts among them.
pub(super) fn shape(parts: &BTreeMap<String, Part>) -> String {
    let one = |(name, part): (&String, &Part)| match part {
        Part::Number(_) => name.clone(),
        Part::Text(text) => format!("{name} {text}"),
    };
    parts.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// What there is to look at: the parts whose texts are looked at one by one, and every number that can be made of the parts.
#[derive(Default)]
pub(super) struct Views {
    pub texts: Vec<String>,
    pub numbers: Vec<Shown>,
}

impl Views {
    /// Of two samples; nothing where nothing is shown by name.
    pub(super) fn new(likely: &[Seen], other: &[Seen]) -> Self {
        let all = names(likely, other);
        let names: Vec<String> = all.iter().take(SINGLE).map(|name| (*name).to_string()).collect();
        let mut numbers: Vec<Shown> = Vec::new();
        for name in &names {
            numbers.extend([Shown::Value(name.clone()), Shown::LowestBit(name.clone())]);
        }
        for (place, one) in names.iter().take(PAIRED).enumerate() {
            let others = names.iter().take(PAIRED).skip(place + 1);
            numbers.extend(others.map(|other| Shown::Difference(one.clone(), other.clone())));
        }
        // The ends of a bar that move with the value say nothing more, and would count its loss again.
        let mut known: BTreeSet<Vec<u8>> = BTreeSet::new();
        let mut together: BTreeMap<String, Likelier> = BTreeMap::new();
        for name in all {
            let (likelier, order) = Likelier::new(name, likely, other);
            if known.insert(order) {
                together.insert(name.to_string(), likelier);
            }
        }
        numbers.extend((together.len() > 1).then_some(Shown::Together(together)));
        Self { texts: names, numbers }
    }
}

/// The parts by name that are not the same in all outputs.
fn names<'a>(likely: &'a [Seen], other: &'a [Seen]) -> BTreeSet<&'a str> {
    let shown = |seen: &'a Seen| match seen {
        Seen::Parts(parts) => Some(parts),
        _ => None,
    };
    let outputs: Vec<&BTreeMap<String, Part>> = likely.iter().chain(other).filter_map(shown).collect();
    let Some(first) = outputs.first() else { return BTreeSet::new() };
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for parts in &outputs {
        let differs = |(name, part): &(&String, &Part)| first.get(*name) != Some(*part);
        names.extend(parts.iter().filter(differs).map(|(name, _)| name.as_str()));
        names.extend(first.keys().filter(|name| !parts.contains_key(*name)).map(String::as_str));
    }
    names
}

impl Likelier {
    /// With the bin of each output, by which parts that always move together are known.
    fn new(name: &str, likely: &[Seen], other: &[Seen]) -> (Self, Vec<u8>) {
        let value = |seen: &Seen| match seen {
            Seen::Parts(parts) => parts.get(name).map(number),
            _ => None,
        };
        let values = |sample: &[Seen]| -> Vec<f64> { sample.iter().filter_map(value).collect() };
        let (a, b) = (values(likely), values(other));
        let mut pooled = [&a[..], &b[..]].concat();
        pooled.sort_by(f64::total_cmp);
        let mut cuts: Vec<f64> =
            (1..BINS).filter_map(|bin| pooled.get(bin * pooled.len() / BINS).copied()).collect();
        cuts.dedup();
        let count = |sample: &[f64]| {
            let mut counts = vec![0.0f64; cuts.len() + 1];
            for &value in sample {
                counts[place(&cuts, value)] += 1.0;
            }
            counts
        };
        // One more on either side keeps what was not seen from looking impossible.
        let ratio = |often: f64, rarely: f64| ((often + 1.0) / (rarely + 1.0)).ln();
        let bins = count(&a).into_iter().zip(count(&b)).map(|(often, rarely)| ratio(often, rarely)).collect();
        let missing = ratio((likely.len() - a.len()) as f64, (other.len() - b.len()) as f64);
        let number = |place: usize| u8::try_from(place).unwrap_or(u8::MAX);
        let bin = |seen: &Seen| value(seen).map_or(u8::MAX, |value| number(place(&cuts, value)));
        let order = likely.iter().chain(other).map(bin).collect();
        (Self { cuts, bins, missing }, order)
    }

    fn of(&self, value: Option<f64>) -> f64 {
        value.map_or(self.missing, |value| self.bins[place(&self.cuts, value)])
    }
}

fn place(cuts: &[f64], value: f64) -> usize {
    cuts.partition_point(|&cut| cut < value)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Promise, careless_uniform, compare, tests::FixedWords},
        *,
    };

    /// Laplace noise of scale one as programs without care draw it, then rounded, so that last digits tell nothing.
    fn noise(words: &mut FixedWords) -> f64 {
        let careless = careless_uniform(words).ln() - careless_uniform(words).ln();
        (careless * 64.0).round() / 64.0
    }

    fn runs(count: usize, mut one: impl FnMut() -> Vec<(&'static str, Part)>) -> Vec<Seen> {
        let parts =
            |parts: Vec<(&'static str, Part)>| parts.into_iter().map(|(name, part)| (name.to_string(), part));
        (0..count).map(|_| Seen::Parts(parts(one()).collect())).collect()
    }

    /// Value and number of rows each keep epsilon 1, and together no less than epsilon 2: a promise of 1.4 for both is found
    /// broken by both together alone.
    #[test]
    fn parts_that_keep_a_promise_each_break_it_together() {
        let mut words = FixedWords(5);
        let mut sample = |shift: f64| {
            runs(40_000, || {
                let (value, rows) = (shift + noise(&mut words), shift + noise(&mut words));
                vec![("value", Part::Number(value)), ("rows", Part::Number(rows))]
            })
        };
        let (first, second) = (sample(0.0), sample(1.0));
        let found = compare(&first, &second, &Promise { eps: 1.4, delta: 0.0 }, 1e-6);
        assert!(found.alarm && found.eps_lower > 1.4 && found.eps_lower < 2.0, "{found:?}");
        let kept = compare(&first, &second, &Promise { eps: 2.0, delta: 0.0 }, 1e-6);
        assert!(!kept.alarm && kept.eps_lower < 2.0, "{kept:?}");
        let values = |sample: &[Seen]| -> Vec<Seen> {
            let value = Shown::Value("value".to_string());
            sample.iter().map(|seen| Seen::Number(value.of(seen).expect("there"))).collect()
        };
        let alone = compare(&values(&first), &values(&second), &Promise { eps: 1.4, delta: 0.0 }, 1e-6);
        assert!(!alone.alarm, "{alone:?}");
    }

    #[test]
    fn noise_that_two_parts_share_shows_in_their_difference() {
        let mut words = FixedWords(6);
        let mut sample = |shift: f64| {
            runs(2_000, || {
                let common = 20.0 * noise(&mut words);
                vec![("value", Part::Number(shift + common)), ("rows", Part::Number(common))]
            })
        };
        let found = compare(&sample(0.0), &sample(1.0), &Promise { eps: 1.0, delta: 0.0 }, 1e-6);
        assert!(found.alarm && found.event.starts_with("rows less value"), "{found:?}");
    }

    #[test]
    fn what_is_missing_and_what_is_text_is_seen() {
        let mut words = FixedWords(8);
        let mut sample = |often: f64, day: u32| {
            runs(4_000, || {
                let outcome = if careless_uniform(&mut words) < often { "released" } else { "refused" };
                let noisy = day + u32::from(careless_uniform(&mut words) < 0.5);
                let mut parts = vec![("outcome", Part::Text(outcome.into()))];
                if outcome == "released" {
                    parts.push(("value", Part::Text(format!("2024-01-{noisy:02}"))));
                }
                parts
            })
        };
        let promise = Promise { eps: 0.5, delta: 0.0 };
        assert!(compare(&sample(0.9, 3), &sample(0.5, 3), &promise, 1e-6).alarm);
        assert!(compare(&sample(0.9, 3), &sample(0.9, 4), &promise, 1e-6).alarm);
        assert!(!compare(&sample(0.9, 3), &sample(0.9, 3), &promise, 1e-6).alarm);
    }

    #[test]
    fn days_are_in_order() {
        let table = ["", "2019-12-31", "2024-01-09", "2024-01-10", "a", "ab", "b"];
        assert!(table.windows(2).all(|pair| place_in_alphabet(pair[0]) < place_in_alphabet(pair[1])));
    }
}
