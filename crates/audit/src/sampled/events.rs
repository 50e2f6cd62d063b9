//! The events an attack considers, and the one that tells two samples apart best.
//!
//! An output has features: each number and their sum, the place of its lowest bit (floats that were computed on one side
//! only have holes there), or its text. Along each feature the values of both samples are cut into bins; the events are
//! "at most", "at least", and the union of all bins that are likelier than the promise allows. What shows several things by name has
//! more of them, in [`parts`](super::parts).

use super::{
    Promise, Seen,
    parts::{self, Shown, Views},
};
use std::collections::BTreeMap;

/// How many numbers of a vector are looked at one by one.
const COORDINATES: usize = 8;
/// Bins along a feature.
const BINS: usize = 96;
/// A text that both samples together have less often than this is one of all the rare ones: else every text of its own would
/// look like a difference.
const RARE: f64 = 8.0;

/// A set of outputs.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event {
    /// The feature lies in one of the chosen bins between these cuts (a value equal to a cut lies below it).
    Bins { feature: Feature, cuts: Vec<f64>, chosen: Vec<bool> },
    /// The text is one of these, or with `others` none of these.
    Texts { part: Option<String>, texts: Vec<String>, others: bool },
}

/// A number that an output has.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Feature {
    /// By its place among [`features`].
    Place(usize),
    /// Of what is shown by name.
    Named(Shown),
}

impl Feature {
    fn of(&self, seen: &Seen) -> Option<f64> {
        match self {
            Self::Place(place) => features(seen).get(*place).copied(),
            Self::Named(shown) => shown.of(seen),
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Place(place) => format!("feature {place}"),
            Self::Named(shown) => shown.words(),
        }
    }
}

/// All features of an output that are numbers, in an order that does not depend on its value.
fn features(seen: &Seen) -> Vec<f64> {
    match seen {
        Seen::Number(value) => vec![*value, lowest_bit(*value)],
        Seen::Numbers(values) => {
            let mut all: Vec<f64> = values.iter().copied().take(COORDINATES).collect();
            all.push(values.iter().sum());
            all.push(values.iter().copied().map(lowest_bit).fold(f64::INFINITY, f64::min));
            all
        }
        Seen::Text(_) | Seen::Parts(_) => Vec::new(),
    }
}

/// The exponent of the lowest bit that is set; zero has none and counts as very high.
pub(super) fn lowest_bit(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 2000.0;
    }
    let bits = value.to_bits();
    let exponent = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0).max(1) - 1075;
    let fraction = bits & ((1 << 52) - 1) | (1 << 52);
    f64::from(exponent) + f64::from(fraction.trailing_zeros())
}

/// The text of an output, or of a part of it; `None` where that is missing.
fn text(part: Option<&str>, seen: &Seen) -> Option<String> {
    match (part, seen) {
        (Some(part), seen) => parts::text(part, seen),
        (None, Seen::Text(text)) => Some(text.clone()),
        (None, Seen::Number(_) | Seen::Numbers(_)) => Some("a number".to_string()),
        (None, Seen::Parts(shown)) => Some(parts::shape(shown)),
    }
}

impl Event {
    /// Is the output in it?
    pub(super) fn holds(&self, seen: &Seen) -> bool {
        match self {
            Self::Bins { feature, cuts, chosen } => {
                feature.of(seen).is_some_and(|value| chosen[cuts.partition_point(|&cut| cut < value)])
            }
            Self::Texts { part, texts, others } => {
                text(part.as_deref(), seen).is_some_and(|text| texts.contains(&text) != *others)
            }
        }
    }

    /// In words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Texts { part, texts, others } => {
                let what = part.as_deref().unwrap_or("the output");
                let is = if *others { "is none of" } else { "is" };
                format!("{what} {is} {}", texts.join(" or "))
            }
            Self::Bins { feature, cuts, chosen } => {
                let what = feature.words();
                let count = chosen.iter().filter(|&&chosen| chosen).count();
                let last = chosen.len() - 1;
                let runs = chosen.windows(2).filter(|pair| pair[0] != pair[1]).count();
                match (chosen[0], chosen[last]) {
                    (true, false) if runs == 1 => format!("{what} is at most {}", cuts[count - 1]),
                    (false, true) if runs == 1 => format!("{what} is above {}", cuts[last - count]),
                    _ => format!("{what} lies in {count} of {} bins", chosen.len()),
                }
            }
        }
    }
}

/// By how many standard deviations the event exceeds what is promised, from counts among `n` each.
fn score(often: f64, rarely: f64, n: f64, promise: &Promise) -> f64 {
    let growth = promise.eps.min(300.0).exp();
    let (p, q) = (often / n, rarely / n);
    let excess = p - growth * q - promise.delta;
    // One more count on either side keeps rare events from looking certain.
    let variance = (p + 1.0 / n + growth * growth * (q + 1.0 / n)) / n;
    excess / variance.sqrt()
}

/// The event that exceeds the promise by most, and by how much.
pub(super) fn best(
    likely: &[Seen],
    other: &[Seen],
    views: &Views,
    promise: &Promise,
) -> Option<(f64, Event)> {
    let n = likely.len() as f64;
    let dimension = |sample: &[Seen]| sample.iter().map(|seen| features(seen).len()).max().unwrap_or(0);
    let columns = |sample: &[Seen], count: usize| {
        let mut columns = vec![Vec::with_capacity(sample.len()); count];
        for seen in sample {
            for (column, value) in columns.iter_mut().zip(features(seen)) {
                column.push(value);
            }
        }
        columns
    };
    let count = dimension(likely).max(dimension(other));
    let placed = columns(likely, count).into_iter().zip(columns(other, count)).enumerate();
    let placed = placed.map(|(place, (a, b))| (Feature::Place(place), a, b));
    let named = views.numbers.iter().map(|shown| {
        let values = |sample: &[Seen]| sample.iter().filter_map(|seen| shown.of(seen)).collect();
        (Feature::Named(shown.clone()), values(likely), values(other))
    });
    let along = placed.chain(named).filter_map(|(feature, a, b)| along(feature, a, b, n, promise));
    let parts = views.texts.iter().cloned().map(Some);
    let texts = [None].into_iter().chain(parts).filter_map(|part| texts(part, likely, other, n, promise));
    // Of equal ones the first: texts before numbers, as simpler words.
    texts.chain(along).reduce(|best, candidate| if candidate.0 > best.0 { candidate } else { best })
}

fn texts(
    part: Option<String>,
    likely: &[Seen],
    other: &[Seen],
    n: f64,
    promise: &Promise,
) -> Option<(f64, Event)> {
    let mut counts: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for text in likely.iter().filter_map(|seen| text(part.as_deref(), seen)) {
        counts.entry(text).or_default().0 += 1.0;
    }
    for text in other.iter().filter_map(|seen| text(part.as_deref(), seen)) {
        counts.entry(text).or_default().1 += 1.0;
    }
    let (rare, common): (Vec<_>, Vec<_>) =
        counts.into_iter().partition(|(_, (often, rarely))| often + rarely < RARE);
    let (names, mut bins): (Vec<String>, Vec<(f64, f64)>) = common.into_iter().unzip();
    if !rare.is_empty() {
        bins.push(rare.iter().fold((0.0, 0.0), |sum, (_, bin)| (sum.0 + bin.0, sum.1 + bin.1)));
    }
    if bins.len() < 2 {
        return None;
    }
    let (score, chosen) = union(&bins, n, promise);
    let others = chosen.get(names.len()).copied().unwrap_or(false);
    let texts = names.into_iter().zip(chosen).filter(|(_, chosen)| *chosen != others).map(|(name, _)| name);
    Some((score, Event::Texts { part, texts: texts.collect(), others }))
}

/// The bins in order of how much likelier they are, taken as long as that helps.
fn union(bins: &[(f64, f64)], n: f64, promise: &Promise) -> (f64, Vec<bool>) {
    let mut order: Vec<usize> = (0..bins.len()).collect();
    let ratio = |&(often, rarely): &(f64, f64)| (often + 0.5) / (rarely + 1.0);
    order.sort_by(|&a, &b| ratio(&bins[b]).total_cmp(&ratio(&bins[a])));
    let (mut sums, mut top, mut length) = ((0.0, 0.0), f64::NEG_INFINITY, 0);
    for (i, &bin) in order.iter().enumerate() {
        sums = (sums.0 + bins[bin].0, sums.1 + bins[bin].1);
        let here = score(sums.0, sums.1, n, promise);
        if here > top {
            (top, length) = (here, i + 1);
        }
    }
    let mut chosen = vec![false; bins.len()];
    order[..length].iter().for_each(|&bin| chosen[bin] = true);
    (top, chosen)
}

fn along(
    feature: Feature,
    mut a: Vec<f64>,
    mut b: Vec<f64>,
    n: f64,
    promise: &Promise,
) -> Option<(f64, Event)> {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let mut pooled = [&a[..], &b[..]].concat();
    pooled.sort_by(f64::total_cmp);
    // Every value where there are few, else evenly many in each bin, finer towards both ends.
    let mut cuts = pooled.clone();
    cuts.dedup();
    if cuts.len() > BINS {
        let part = |i: usize| {
            let x = i as f64 / BINS as f64;
            // From rare to common to rare again.
            if x < 0.5 { 0.5 * (2.0 * x).powi(3) } else { 1.0 - 0.5 * (2.0 - 2.0 * x).powi(3) }
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of the sample")]
        let at = |i: usize| pooled[(part(i) * (pooled.len() - 1) as f64) as usize];
        cuts = (1..BINS).map(at).collect();
        cuts.dedup();
    } else {
        cuts.pop();
    }
    if cuts.is_empty() {
        return None;
    }
    let below = |sample: &[f64], cut: f64| sample.partition_point(|&value| value <= cut) as f64;
    let counts: Vec<(f64, f64)> = cuts.iter().map(|&cut| (below(&a, cut), below(&b, cut))).collect();
    let all = (a.len() as f64, b.len() as f64);
    let mut bins = Vec::with_capacity(cuts.len() + 1);
    let mut before = (0.0, 0.0);
    for &count in counts.iter().chain([&all]) {
        bins.push((count.0 - before.0, count.1 - before.1));
        before = count;
    }
    let (mut top, mut chosen) = union(&bins, n, promise);
    for (i, &(often, rarely)) in counts.iter().enumerate() {
        let at_most = score(often, rarely, n, promise);
        let above = score(all.0 - often, all.1 - rarely, n, promise);
        // Half-lines are preferred where unions gain little: they fit the sample less closely.
        for (here, lower) in [(at_most * 1.02, true), (above * 1.02, false)] {
            if here > top {
                top = here;
                chosen = (0..bins.len()).map(|bin| (bin <= i) == lower).collect();
            }
        }
    }
    Some((top, Event::Bins { feature, cuts, chosen }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(likely: &[Seen], other: &[Seen], promise: &Promise) -> Option<(f64, Event)> {
        best(likely, other, &Views::default(), promise)
    }

    #[test]
    fn the_lowest_bit_of_a_float() {
        for (value, exponent) in
            [(1.0, 0.0), (0.5, -1.0), (6.0, 1.0), (-0.75, -2.0), (1.0 + f64::EPSILON, -52.0)]
        {
            assert!((lowest_bit(value) - exponent).abs() < 0.5, "{value}");
        }
        assert!(lowest_bit(0.0) > 1000.0);
    }

    #[test]
    fn the_event_is_where_the_samples_differ() {
        let numbers =
            |from: u32, to: u32| -> Vec<Seen> { (from..to).map(|i| Seen::Number(f64::from(i))).collect() };
        let promise = Promise { eps: 0.5, delta: 0.0 };
        let (score, event) = found(&numbers(500, 1500), &numbers(0, 1000), &promise).unwrap();
        assert!(score > 10.0 && event.holds(&Seen::Number(1400.0)) && !event.holds(&Seen::Number(100.0)));
        let (score, _) = found(&numbers(0, 1000), &numbers(0, 1000), &promise).unwrap();
        assert!(score < 1.0);
        assert!(found(&[Seen::Text("a".into())], &[Seen::Text("a".into())], &promise).is_none());
    }

    /// As many texts as runs, equally many on both sides: chosen one by one they looked like a certain difference.
    #[test]
    fn texts_that_come_once_are_no_difference() {
        let sample = |word: &str| -> Vec<Seen> {
            (0..400)
                .map(|i| Seen::Text(if i % 2 == 0 { "often".into() } else { format!("{word}{i}") }))
                .collect()
        };
        let (score, event) =
            found(&sample("a"), &sample("b"), &Promise { eps: 0.5, delta: 0.0 }).expect("an event");
        assert!(score < 1.0, "{score} {event:?}");
    }

    #[test]
    fn words_for_events() {
        let bins = |chosen: &[bool]| {
            let feature = Feature::Place(0);
            Event::Bins { feature, cuts: vec![1.0, 2.0], chosen: chosen.to_vec() }.words()
        };
        assert_eq!(bins(&[true, true, false]), "feature 0 is at most 2");
        assert_eq!(bins(&[false, false, true]), "feature 0 is above 2");
        assert_eq!(bins(&[true, false, true]), "feature 0 lies in 2 of 3 bins");
        let texts = |part, others| Event::Texts { part, texts: vec!["a".into(), "b".into()], others }.words();
        assert_eq!(texts(None, false), "the output is a or b");
        assert_eq!(texts(Some("outcome".into()), true), "outcome is none of a or b");
    }
}
