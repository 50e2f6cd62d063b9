//! Smooth sensitivity: medians, quartiles and trimmed means with each of the four noises.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::smooth::{Calibrated, Noise, Smooth},
    ratio::Ratio,
    stability::{Profile, Quantile, Range, Reach, Sorted, TrimmedMean, smooth::Bound},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "smooth",
    about: "noise in proportion to a smooth bound keeps epsilon with Cauchy, Student and PolyPlace noise, (epsilon, delta) with Laplace noise",
    source: "002_c9075a084346ce80.txt, section 1.6; Nissim, Raskhodnikova, Smith 2007",
    kind: Kind::Claim {
        shipped: || {
            let statistics = cases().iter().map(|case| case.measure(case.bound)).collect();
            [statistics, vec![farthest_bounds("0.01"), farthest_bounds("0.1")]].concat()
        },
        change: "beta is ignored: the local sensitivity stands in for the smooth bound",
        mutant: || cases().iter().filter(|case| case.size > 2).map(|case| case.measure(local)).collect(),
    },
};

/// A data set's value and bound.
type MakeBound = fn(&Calibrated, &[i64], Adjacency) -> (Ratio, Bound);

struct Case {
    noise: Noise,
    beta: &'static str,
    adjacency: Adjacency,
    size: usize,
    bound: MakeBound,
}

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect("a number in range")
}

fn range() -> Range {
    Range::new(0, 4).expect("in order")
}

fn cases() -> Vec<Case> {
    let poly = |alpha| Noise::PolyPlace { alpha: number(alpha) };
    let mut cases = Vec::new();
    for adjacency in Adjacency::ALL {
        let mut add = |noise, beta, size, bound| cases.push(Case { noise, beta, adjacency, size, bound });
        add(Noise::Cauchy, "0.5", 4, median);
        add(Noise::Cauchy, "0.9", 3, quartile);
        add(poly("3"), "0.5", 4, median);
        add(poly("11"), "0.1", 3, quartile);
        add(Noise::Laplace { delta: number("0.01") }, "0.2", 4, median);
        // Student's distribution function takes long.
        add(Noise::StudentT { nu: number("2") }, "0.3", 2, median);
    }
    let replace = Adjacency::Replace;
    cases.push(Case { noise: Noise::Cauchy, beta: "0.6", adjacency: replace, size: 4, bound: middle });
    cases
}

impl Case {
    fn measure(&self, bound: MakeBound) -> Measured {
        let delta =
            if let Noise::Laplace { delta } = &self.noise { delta.ratio().clone() } else { Ratio::zero() };
        let mut claim = pairs::claim("1", "0", self.adjacency);
        claim.delta = delta;
        let mechanism = Smooth {
            eps: number("1"),
            noise: self.noise.clone(),
            beta: number(self.beta),
            range: Some(range()),
            grid: Ratio::new(1, 2),
        };
        let calibrated = mechanism.calibrate().expect("valid parameters");
        claim.over_universe(&[0, 1, 4], self.size, |rows| {
            let (value, bound) = bound(&calibrated, rows, self.adjacency);
            enumerate(&pairs::floor(), |tape| calibrated.run(&value, &bound, tape))
        })
    }
}

/// Values as far apart as the smaller bound allows, whose bounds differ by as much as beta allows, in a range so wide that it hides
/// no tail: every part of epsilon and delta of Laplace noise is needed for such pairs.
fn farthest_bounds(delta: &str) -> Measured {
    let mut claim = pairs::claim("1", delta, Adjacency::AddRemove);
    claim.delta = number(delta);
    let mechanism = Smooth {
        eps: number("1"),
        noise: Noise::Laplace { delta: number(delta) },
        beta: number("0.1"),
        range: Some(Range::new(-200, 200).expect("in order")),
        grid: Ratio::one(),
    };
    let calibrated = mechanism.calibrate().expect("valid parameters");
    // One local sensitivity at distance k, none elsewhere: a bound of that times e^(-beta k).
    let bound = |distance: usize| {
        let mut at_distance = vec![Ratio::zero(); distance + 1];
        at_distance[distance] = Ratio::from(8u64);
        calibrated.decay().profile(&Profile { at_distance, beyond: Ratio::zero() })
    };
    let law = |(distance, moved): &(usize, bool)| {
        let least = bound(1);
        let value = if *moved { least.value().clone() } else { Ratio::zero() };
        enumerate(&pairs::floor(), |tape| calibrated.run(&value, &bound(*distance), tape))
    };
    let pairs =
        [((0, false), (1, false)), ((0, false), (1, true)), ((0, true), (1, false)), ((1, false), (1, true))];
    claim
        .over_inputs("values and bounds as far apart as neighbours can be", pairs, law)
        .case("Laplace noise, beta 0.1")
}

fn quantile(fraction: &str, calibrated: &Calibrated, rows: &[i64], adjacency: Adjacency) -> (Ratio, Bound) {
    let quantile = Quantile::new(&number(fraction)).expect("between 0 and 1");
    let decay = calibrated.decay();
    let window = quantile.window(rows, range(), decay.reach(quantile, adjacency));
    (Ratio::from(window.target().or(0)), decay.quantile(quantile, &window, adjacency))
}

fn median(calibrated: &Calibrated, rows: &[i64], adjacency: Adjacency) -> (Ratio, Bound) {
    quantile("1/2", calibrated, rows, adjacency)
}

fn quartile(calibrated: &Calibrated, rows: &[i64], adjacency: Adjacency) -> (Ratio, Bound) {
    quantile("1/4", calibrated, rows, adjacency)
}

/// The mean of the two middle rows of four.
fn middle(calibrated: &Calibrated, rows: &[i64], _adjacency: Adjacency) -> (Ratio, Bound) {
    let mean = TrimmedMean::new(4, 1).expect("two remain");
    let sorted = Sorted::new(rows, range());
    (mean.value(&sorted), calibrated.decay().trimmed_mean(mean, &sorted))
}

fn local(calibrated: &Calibrated, rows: &[i64], adjacency: Adjacency) -> (Ratio, Bound) {
    let median = Quantile::new(&number("1/2")).expect("between 0 and 1");
    let window = median.window(rows, range(), Reach::All);
    let moved = median.local_sensitivity_at_distance(&window, 0, adjacency).expect("a whole window");
    let bound = calibrated.decay().profile(&Profile { at_distance: vec![moved], beyond: 0 });
    (Ratio::from(window.target().or(0)), bound)
}
