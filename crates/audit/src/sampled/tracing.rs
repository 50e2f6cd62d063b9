//! A tracing attack: was this person among the rows whose averages were published?
//!
//! Source: Dwork, Smith, Steinke, Ullman and Vadhan, "Robust traceability from trace amounts" (2015): the score is the
//! scalar product of what was published with the person's own row, both centred.
//!
//! Each run draws the other people afresh. That is a mixture of neighbouring pairs, and a mixture of pairs that keep
//! (epsilon, delta) keeps it; so an alarm about the score refutes the promise.

use super::{Run, Seen, Which};
use equipoise_core::coins::Words;

/// What is published about people with yes-or-no attributes: one number an attribute, near the share of yes.
pub type Release = Box<dyn Fn(&[Vec<bool>], &mut dyn Words) -> Vec<f64> + Sync + Send>;

/// People with attributes that are each as likely as not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowd {
    /// How many people.
    pub people: usize,
    /// How many attributes of each.
    pub attributes: usize,
}

/// The attack: on the second data set the traced person is the first row; on the first somebody else is.
pub fn attack_on(crowd: Crowd, release: Release) -> Run {
    Box::new(move |which: Which, words: &mut dyn Words| {
        let mut rows: Vec<Vec<bool>> = (0..crowd.people).map(|_| person(crowd.attributes, words)).collect();
        let traced = if which.second { rows[0].clone() } else { person(crowd.attributes, words) };
        let published = release(&rows, words);
        rows.clear();
        let signed = |yes: bool| if yes { 1.0 } else { -1.0 };
        let score = published.iter().zip(&traced).map(|(share, yes)| (share - 0.5) * signed(*yes)).sum();
        Seen::Number(score)
    })
}

fn person(attributes: usize, words: &mut dyn Words) -> Vec<bool> {
    let mut all = Vec::with_capacity(attributes);
    while all.len() < attributes {
        let word = words.word();
        all.extend((0..(attributes - all.len()).min(64)).map(|bit| word >> bit & 1 == 1));
    }
    all
}

/// How many say yes to each attribute.
pub fn counts(rows: &[Vec<bool>]) -> Vec<i64> {
    let width = rows.first().map_or(0, Vec::len);
    (0..width).map(|i| rows.iter().map(|row| i64::from(row[i])).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampled::{Limits, Promise, Subject, attack, tests::FixedWords};

    #[test]
    fn exact_averages_are_traced_and_constants_are_not() {
        let coins = || FixedWords(11);
        let crowd = Crowd { people: 10, attributes: 60 };
        let limits = Limits { seconds: 600.0, most_runs: 1 << 12, threads: 1, ..Limits::default() };
        let traced = |release: Release| {
            let run = attack_on(crowd, release);
            attack(&Subject { pairs: 1, run: &*run }, &Promise { eps: 1.0, delta: 0.0 }, &limits, &coins)
        };
        let shares = |rows: &[Vec<bool>]| counts(rows).iter().map(|&count| count as f64 / 10.0).collect();
        let exact = traced(Box::new(move |rows, _| shares(rows)));
        assert!(exact.alarm && exact.eps_lower > 2.0, "{exact:?}");
        assert!(!traced(Box::new(|rows, _| vec![0.5; rows[0].len()])).alarm);
    }
}
