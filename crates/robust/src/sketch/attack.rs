//! Attacks that learn a sketch's keys from its answers: each breaks a plain sketch.
//!
//! Source: O. Ben-Eliezer and others, "A framework for adversarially robust streaming algorithms" (2020) for squared
//! counts; S. Ahmadian and E. Cohen, "Unmasking vulnerabilities of cardinality sketches" (2024); E. Cohen and
//! others, "On the robustness of CountSketch to adaptive inputs" (2022). Simplified.

use super::Item;
use equipoise_core::{coins::Coins, sampler::uniform::shuffle};

/// What was answered and what is true.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// The answer.
    pub answer: f64,
    /// The truth.
    pub truth: f64,
}

impl Moment {
    /// Answer over truth.
    pub fn ratio(&self) -> f64 {
        self.answer / self.truth
    }
}

/// Insertions only, against a sum of squared counts: a new number comes, and comes again while the answer rises by less than
/// one. Those numbers are the ones that cancel others in the sketch.
///
/// `insert` follows one insertion and answers. There are at most `insertions` of them.
pub fn squares(insertions: usize, mut insert: impl FnMut(Item) -> i128) -> Vec<Moment> {
    let (mut last, mut truth) = (0, 0.0);
    let mut moments = Vec::with_capacity(insertions);
    for key in 1.. {
        let mut added = 1.0;
        loop {
            if moments.len() == insertions {
                return moments;
            }
            let answer = insert(Item { key, count: 1 });
            truth += added;
            // The square of one more is larger by the next odd number.
            added += 2.0;
            moments.push(Moment { answer: answer as f64, truth });
            let rose = answer - last;
            last = answer;
            if rose >= 1 {
                break;
            }
        }
    }
    moments
}

/// Sets under one key, against a distinct count: random halves of `0..universe`, each number scored by the answers of
/// the sets it was in; in the end, the half with the lowest scores. One moment for each of `rounds`, of the present half.
pub fn sets<C: Coins>(
    universe: u64,
    rounds: &[usize],
    coins: &mut C,
    mut ask: impl FnMut(&[u64]) -> i128,
) -> Vec<Moment> {
    let half = usize::try_from(universe / 2).expect("a small universe");
    let mut numbers: Vec<u64> = (0..universe).collect();
    let mut score = vec![0.0; numbers.len()];
    let mut moments = Vec::new();
    for round in 1..=rounds.last().copied().unwrap_or(0) {
        shuffle(&mut numbers, coins);
        let off = (ask(&numbers[..half]) as f64 / half as f64).max(1e-9).ln();
        for (place, &number) in numbers.iter().enumerate() {
            score[usize::try_from(number).expect("a small universe")] +=
                if place < half { off } else { -off };
        }
        if rounds.contains(&round) {
            let mut by_score: Vec<u64> = (0..universe).collect();
            let of = |number: &u64| score[usize::try_from(*number).expect("a small universe")];
            by_score.sort_by(|a, b| of(a).total_cmp(&of(b)));
            let answer = ask(&by_score[..half]);
            moments.push(Moment { answer: answer as f64, truth: half as f64 });
        }
    }
    moments
}

/// Against the count of one number that never came: others come, so many `together`, about as many as a row has buckets, and
/// those that did not raise its answer go again. The truth of a moment is the square root of the sum of squared counts, to which the error is
/// allowed to be in proportion.
///
/// `change` follows some items and answers for the number zero; it is called at most twice a step.
pub fn count_of_nothing(steps: u64, together: u64, mut change: impl FnMut(&[Item]) -> i128) -> Vec<Moment> {
    const COUNT: i64 = 16;
    let (mut last, mut kept) = (0, 0u64);
    let mut moments = Vec::new();
    for step in 0..steps {
        let items = |count: i64| -> Vec<Item> {
            (1..=together).map(|index| Item { key: step * together + index, count }).collect()
        };
        let answer = change(&items(COUNT));
        if answer > last {
            last = answer;
            kept += together;
        } else {
            last = change(&items(-COUNT));
        }
        moments.push(Moment { answer: last as f64, truth: COUNT as f64 * (kept.max(1) as f64).sqrt() });
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::super::{
        Counts,
        hyperloglog::{HyperLogLogSets, Registers},
        kmv::{Sets, Size},
        table::{Buckets, F2, Point},
    };
    use super::*;
    use crate::{Oblivious, TestWords, copies::Copies, grid::Grid, parameters::Wanted};
    use equipoise_core::ratio::Ratio;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn last(moments: &[Moment]) -> f64 {
        moments.last().unwrap().ratio()
    }

    /// Copies with few rows each: heuristic, so that the test is quick.
    fn copies<A: Oblivious>(shape: A::Shape, grid: Grid, input: A::Input) -> Copies<A> {
        let wanted = Wanted { answers: 1000, beta: ratio("0.05"), grid: grid.len() };
        let plan = wanted.heuristic(48, "1.8".parse().unwrap()).unwrap();
        Copies::new(plan, grid, shape, input, false, &mut TestWords(12)).unwrap()
    }

    #[test]
    fn squared_counts_fall_below_half_without_copies_only() {
        let (mut coins, mut more) = (TestWords(1), TestWords(2));
        let mut plain = F2::init(&Buckets::new(&ratio("0.25"), 1, 128).unwrap(), &Counts::new(), &mut coins);
        let moments = squares(900, |item| {
            plain.update(&item);
            plain.query(&())
        });
        assert!(last(&moments) < 0.5, "{}", last(&moments));
        let shape = Buckets::new(&ratio("0.25"), 3, 128).unwrap();
        let mut robust = copies::<F2>(shape, Grid::growing(&ratio("0.1"), 1 << 30).unwrap(), Counts::new());
        let moments = squares(900, |item| {
            robust.update(&item).unwrap();
            robust.query(&(), &mut more).unwrap()
        });
        for moment in &moments[20..] {
            assert!((0.6..1.4).contains(&moment.ratio()), "{moment:?}");
        }
    }

    #[test]
    fn distinct_counts_of_sets_fall_without_copies_only() {
        let (mut coins, mut more) = (TestWords(3), TestWords(4));
        let size = Size::new(&ratio("0.2"), 64).unwrap();
        let mut plain = Sets::init(&size, &(), &mut coins);
        let moments = sets(1000, &[300], &mut coins, |set| plain.query(set));
        assert!(last(&moments) < 0.7, "{}", last(&moments));
        let registers = Registers::new(6).unwrap();
        let mut plain = HyperLogLogSets::init(&registers, &(), &mut coins);
        let moments = sets(1000, &[300], &mut coins, |set| plain.query(set));
        assert!(last(&moments) < 0.75, "{}", last(&moments));
        let grid = Grid::growing(&ratio("0.05"), 1 << 20).unwrap();
        let mut robust = copies::<HyperLogLogSets>(registers, grid, ());
        let moments = sets(1000, &[300], &mut coins, |set| robust.query(set, &mut more).unwrap());
        assert!((0.8..1.3).contains(&last(&moments)), "{}", last(&moments));
        let mut robust = copies::<Sets>(size, Grid::growing(&ratio("0.05"), 1 << 20).unwrap(), ());
        let moments = sets(1000, &[300], &mut coins, |set| robust.query(set, &mut more).unwrap());
        assert!((0.8..1.3).contains(&last(&moments)), "{}", last(&moments));
    }

    #[test]
    fn the_count_of_nothing_grows_without_copies_only() {
        let (mut coins, mut more) = (TestWords(5), TestWords(6));
        let shape = Buckets::new(&ratio("0.5"), 3, 16).unwrap();
        let mut plain = Point::init(&shape, &Counts::new(), &mut coins);
        let moments = count_of_nothing(400, 8, |items| {
            plain.update_all(items);
            plain.query(&0)
        });
        assert!(last(&moments) > 1.0, "{}", last(&moments));
        let mut robust = copies::<Point>(shape, Grid::even(8, 1 << 12).unwrap(), Counts::new());
        let moments = count_of_nothing(400, 8, |items| {
            robust.update_all(items).unwrap();
            robust.query(&0, &mut more).unwrap()
        });
        assert!(last(&moments).abs() < 0.8, "{}", last(&moments));
    }
}
