//! How a holdout is worn out, and one that is not: the classic demonstration of adaptive data analysis.
//!
//! Somebody looks for features that predict a label. They ask the holdout about every feature, keep those on which training
//! and holdout agree, build a classifier from the best of them, and ask the holdout how good it is. With a plain holdout the
//! answer is far too good, because the holdout helped to choose. The reusable holdout answers the same questions, within the
//! number of rows that its guarantee needs, and does not deceive.
//!
//! After Dwork, Feldman, Hardt, Pitassi, Reingold and Roth, "The reusable holdout", Science 2015.

use equipoise_core::{
    coins::{Coins, Words},
    monitor::holdout::{Answer, Asking, Holdout},
    ratio::Ratio,
};
use equipoise_entropy::OsCoins;
use equipoise_examples::{Failure, uniform};
use plotters::prelude::*;

/// What is made up, and what the holdout promises of it.
struct Shape {
    features: usize,
    /// How many of them tell something about the label.
    telling: usize,
    /// How much more often than half of the time those agree with it.
    bias: f64,
    /// How many features the classifiers use.
    sizes: Vec<usize>,
    corrections: u64,
    tolerance: Ratio,
    threshold: Ratio,
}

/// Accuracies of one classifier.
#[derive(Clone, Copy, Debug)]
struct Line {
    size: usize,
    training: f64,
    /// What the holdout said.
    said: f64,
    /// On rows that nobody has seen.
    fresh: f64,
}

/// What came of one analysis.
struct Found {
    lines: Vec<Line>,
    corrections_used: u64,
}

/// For each feature, a bit for each row: does it agree with the row's label? Nothing else of a table matters here.
struct Table {
    rows: usize,
    features: Vec<Vec<u64>>,
}

impl Table {
    fn draw(rows: usize, shape: &Shape, words: &mut impl Words) -> Self {
        let mut features = Vec::with_capacity(shape.features);
        for feature in 0..shape.features {
            let mut bits: Vec<u64> = (0..rows.div_ceil(64)).map(|_| words.word()).collect();
            if feature < shape.telling {
                // Some of the disagreeing rows come to agree.
                for row in 0..rows {
                    let flips = uniform(words) < 2.0 * shape.bias;
                    bits[row / 64] |= u64::from(flips) << (row % 64);
                }
            }
            if let (Some(last), rest @ 1..) = (bits.last_mut(), rows % 64) {
                *last &= u64::MAX >> (64 - rest);
            }
            features.push(bits);
        }
        Self { rows, features }
    }

    /// How often a feature agrees with the label: an exact mean.
    fn agreement(&self, feature: usize) -> Ratio {
        let count: u32 = self.features[feature].iter().map(|word| word.count_ones()).sum();
        Ratio::from(u64::from(count)) / Ratio::from(self.rows as u64)
    }

    /// The accuracy of the vote of the first so many features, for each size; a tie is half right.
    fn accuracies(&self, votes: &[(usize, bool)], sizes: &[usize]) -> Vec<Ratio> {
        let mut sums = vec![0i32; self.rows];
        let mut found = Vec::new();
        let mut used = 0;
        for &size in sizes {
            for &(feature, agrees) in &votes[used..size.min(votes.len())] {
                let bits = &self.features[feature];
                for (block, &word) in sums.chunks_mut(64).zip(bits) {
                    let word = if agrees { word } else { !word };
                    for (place, sum) in block.iter_mut().enumerate() {
                        *sum += 2 * (word >> place & 1) as i32 - 1;
                    }
                }
            }
            used = size.min(votes.len());
            let halves: u64 = sums.iter().map(|sum| 1 + u64::try_from(sum.signum() + 1).unwrap_or(0)).sum();
            let halves = halves - self.rows as u64;
            found.push(Ratio::from(halves) / Ratio::from(2 * self.rows as u64));
        }
        found
    }
}

/// Who answers questions about the holdout.
enum Judge<'a> {
    /// The holdout mean itself.
    Plain,
    /// The reusable holdout.
    Reusable(&'a mut Asking),
}

impl Judge<'_> {
    fn say(&mut self, training: &Ratio, holdout: &Ratio, coins: &mut impl Coins) -> Option<Ratio> {
        match self {
            Self::Plain => Some(holdout.clone()),
            Self::Reusable(asking) => match asking.ask(training, holdout, coins) {
                Answer::Training(mean) | Answer::Holdout(mean) => Some(mean),
                Answer::Exhausted => None,
            },
        }
    }
}

/// The analyst: asks about every feature, keeps those that seem confirmed, best first, and asks about their votes.
fn analyse(
    shape: &Shape,
    [training, holdout, fresh]: [&Table; 3],
    mut judge: Judge<'_>,
    coins: &mut impl Coins,
) -> Option<Vec<Line>> {
    let half = Ratio::new(1, 2);
    let mut kept: Vec<(Ratio, usize, bool)> = Vec::new();
    for feature in 0..shape.features {
        let seen = training.agreement(feature);
        let said = judge.say(&seen, &holdout.agreement(feature), coins)?;
        if (seen > half) == (said > half) {
            let strength = (&seen - &half).abs().min((said - &half).abs());
            kept.push((strength, feature, seen > half));
        }
    }
    kept.sort_by(|one, other| other.0.cmp(&one.0));
    let votes: Vec<(usize, bool)> = kept.into_iter().map(|(_, feature, agrees)| (feature, agrees)).collect();
    let [seen, held, unseen] =
        [training, holdout, fresh].map(|table| table.accuracies(&votes, &shape.sizes));
    let mut lines = Vec::new();
    for (place, &size) in shape.sizes.iter().enumerate() {
        let said = judge.say(&seen[place], &held[place], coins)?;
        let [training, said, fresh] = [&seen[place], &said, &unseen[place]].map(Ratio::to_f64);
        lines.push(Line { size, training, said, fresh });
    }
    Some(lines)
}

/// The same analysis with a plain holdout and with a reusable one, on the same rows.
fn compare(shape: &Shape, coins: &mut (impl Coins + Words)) -> Result<(Found, Found, u64), Failure> {
    let mut holdout = Holdout {
        rows: 0,
        questions: (shape.features + shape.sizes.len()) as u64,
        corrections: shape.corrections,
        tolerance: shape.tolerance.clone(),
        threshold: shape.threshold.clone(),
        beta: Ratio::new(5, 100),
        eps: "1".parse()?,
    };
    // As many rows as the guarantee needs, no more.
    holdout.rows = holdout.rows_needed()?;
    let rows = usize::try_from(holdout.rows)?;
    let mut asking = holdout.calibrate()?.start(coins);
    let tables = [(); 3].map(|()| Table::draw(rows, shape, coins));
    let [training, held, fresh] = &tables;
    let tables = [training, held, fresh];
    let plain = analyse(shape, tables, Judge::Plain, coins).ok_or("a plain holdout always answers")?;
    let reusable = analyse(shape, tables, Judge::Reusable(&mut asking), coins).ok_or("the holdout is used up")?;
    let used = shape.corrections - asking.corrections_left();
    Ok((Found { lines: plain, corrections_used: 0 }, Found { lines: reusable, corrections_used: used }, holdout.rows))
}

fn main() -> Result<(), Failure> {
    let mut coins = OsCoins::new()?;
    let path = std::env::args().nth(1).unwrap_or_else(|| "holdout.svg".to_string());
    let mut panels = Vec::new();
    for (name, telling) in [("no feature tells anything", 0), ("20 of the features tell something", 20)] {
        let shape = Shape {
            features: 10_000,
            telling,
            bias: 0.05,
            sizes: vec![21, 101, 501, 1001, 2001, 3001, 4001],
            corrections: 30,
            tolerance: "0.05".parse()?,
            threshold: "0.04".parse()?,
        };
        let (plain, reusable, rows) = compare(&shape, &mut coins)?;
        println!("{} features, {name}; {rows} rows to train on and {rows} held out", shape.features);
        println!("{:>10}  {:>28}  {:>28}", "", "a plain holdout", "a reusable holdout");
        println!(
            "{:>10}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}",
            "features", "training", "it says", "truth", "training", "it says", "truth"
        );
        for (one, other) in plain.lines.iter().zip(&reusable.lines) {
            println!(
                "{:>10}  {:>8.3}  {:>8.3}  {:>8.3}  {:>8.3}  {:>8.3}  {:>8.3}",
                one.size, one.training, one.said, one.fresh, other.training, other.said, other.fresh
            );
        }
        println!(
            "{:>10}  the reusable holdout corrected {} of {} answers\n",
            "",
            reusable.corrections_used,
            shape.features + shape.sizes.len()
        );
        panels.push((name, plain, reusable));
    }
    plot(&path, &panels)?;
    println!("What holdouts say, and the truth: {path}");
    Ok(())
}

fn plot(path: &str, panels: &[(&str, Found, Found)]) -> Result<(), Failure> {
    let root = SVGBackend::new(path, (960, 420)).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, (name, plain, reusable)) in root.split_evenly((1, panels.len().max(1))).iter().zip(panels) {
        let last = plain.lines.iter().map(|line| line.size).max().unwrap_or(1) as f64;
        let mut chart = ChartBuilder::on(area)
            .margin(16)
            .caption(name, ("sans-serif", 16))
            .x_label_area_size(36)
            .y_label_area_size(44)
            .build_cartesian_2d(0f64..last, 0.45f64..0.85)?;
        chart.configure_mesh().x_desc("features in the classifier").y_desc("accuracy").draw()?;
        for (label, found, said, colour) in [
            ("a plain holdout says", plain, true, RED),
            ("the truth about that classifier", plain, false, RGBColor(240, 160, 160)),
            ("the reusable holdout says", reusable, true, BLUE),
            ("the truth about that one", reusable, false, RGBColor(150, 170, 240)),
        ] {
            let points = found.lines.iter().map(|line| (line.size as f64, if said { line.said } else { line.fresh }));
            let series = chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
            series.label(label).legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour));
        }
        chart.configure_series_labels().position(SeriesLabelPosition::UpperLeft).border_style(BLACK).draw()?;
    }
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same words in every run (SplitMix64).
    struct FixedWords(u64);

    impl Words for FixedWords {
        fn word(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.0;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }
    }

    fn shape(telling: usize, bias: f64) -> Shape {
        Shape {
            features: 300,
            telling,
            bias,
            sizes: vec![11, 41, 81],
            corrections: 5,
            tolerance: "0.1".parse().unwrap(),
            threshold: "0.08".parse().unwrap(),
        }
    }

    #[test]
    fn a_plain_holdout_deceives_and_the_reusable_one_does_not() {
        let (plain, reusable, rows) = compare(&shape(0, 0.0), &mut FixedWords(1)).unwrap();
        assert!((2000..4000).contains(&rows), "{rows} rows");
        let (worn, kept) = (plain.lines[2], reusable.lines[2]);
        assert!(worn.said > 0.55 && (worn.fresh - 0.5).abs() < 0.03, "{worn:?}");
        assert!(kept.training > 0.58 && (kept.said - 0.5).abs() <= 0.1 && kept.said < worn.said, "{kept:?}");
        assert!(reusable.corrections_used >= 1 && reusable.corrections_used <= 5);
    }

    #[test]
    fn what_is_there_is_found_with_either() {
        let (plain, reusable, _) = compare(&shape(20, 0.1), &mut FixedWords(2)).unwrap();
        assert!(plain.lines[0].fresh > 0.7 && reusable.lines[0].fresh > 0.7);
        // Within the tolerance, the rounding and the threshold.
        for line in &reusable.lines {
            assert!((line.said - line.fresh).abs() < 0.2, "{line:?}");
        }
    }

    #[test]
    fn accuracies_by_hand() {
        // Three rows; two features that agree with the labels 1, 1, 0 and 1, 0, 0.
        let table = Table { rows: 3, features: vec![vec![0b011], vec![0b001]] };
        let votes = [(0, true), (1, true)];
        let found = table.accuracies(&votes, &[1, 2]);
        assert_eq!(found, ["2/3".parse().unwrap(), "1/2".parse().unwrap()]);
        assert_eq!(table.agreement(1), "1/3".parse().unwrap());
    }
}
