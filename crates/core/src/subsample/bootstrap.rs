//! The elections of the texts by name: A_samp and SA as printed, with the guarantee they really have, and both with
//! calibrated constants.
//!
//! Source: 000_4d769f04a6a550e8.txt, Algorithm 14, Theorem 7.3 and Lemma 7.4; 001_3b43439ac39fb76e.txt, SA and Theorem 4.
//!
//! # Guarantee
//!
//! A_samp as printed: (epsilon, delta/2) under replace with a public number of rows; (epsilon, delta/2 + P(Bin(m, q) > 2mq))
//! under add/remove with m computed from a declared or released number; refused where that is private. SA as printed:
//! `(epsilon, P(Bin(k, p) > c) + ½e^(-epsilon(n/(16m) - 1)))` under replace, with `p = 1 - (1 - 1/n)^m` and
//! `c = floor(2km/n)`. Calibrated: (epsilon, delta), see [`majority`].
//!
//! # Why
//!
//! 1. A_samp: a row in at most c = floor(2mq) samples moves each count by at most c and the gap of two by at most 2c <= 4mq,
//!    so d moves by at most one. Where the modes of neighbours differ, the gap is at most 2c and d at most zero: it passes
//!    with probability at most delta/2.
//! 2. Under replace, "some row is in more than 2mq samples" does not depend on the data: it halts for both or for neither.
//!    Under add/remove the row that is there in one data set only can halt it by itself.
//! 3. With m computed from a private n, m differs between neighbours, and so do all samples: the printed proof, which
//!    fixes m, says nothing. Hence the refusal.
//! 4. SA: where modes differ, f <= k/2 + c, so passing 5k/8 takes noise of at least k/8 - c, at scale 2km/(epsilon n). A row
//!    in more than c samples is an event that delta pays for.
//! 5. Calibrated forms cap the samples of each row instead ([`partition`](super::partition)).
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::{Adjacency, RowCount}, subsample::bootstrap::Printed};
//!
//! let rows = RowCount::Public(100_000);
//! let printed = Printed { eps: "1".parse()?, delta: "1e-6".parse()?, rows, adjacency: Adjacency::Replace };
//! let calibrated = printed.calibrate()?;
//! // Twenty million evaluations; the majority of 110 blocks does the same.
//! assert_eq!(calibrated.samples() / 1_000_000, 19);
//! assert_eq!(calibrated.cost().to_string(), "(1, 0.0000005)-differential privacy");
//! let unknown = Printed { rows: RowCount::Unknown, adjacency: Adjacency::AddRemove, ..printed };
//! assert!(unknown.calibrate().is_err());
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::{
    VotesPerUnit, binomial,
    majority::{self, Majority},
    partition::{Blocks, Design, Partition},
};
use crate::{
    adjacency::{Adjacency, RowCount},
    chance::Enclosed,
    coins::Coins,
    interval::{Interval, exp_upper, ln_upper},
    loss::{Amount, Approx, Delta, Eps, Loss, ParameterError, Rate, significant_down},
    outcome::Outcome,
    ratio::Ratio,
    stability::mode::Tally,
};

/// A_samp as printed; all parameters public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// Epsilon.
    pub eps: Eps,
    /// Delta, above zero.
    pub delta: Delta,
    /// How many rows there are, and how that is known.
    pub rows: RowCount,
    /// What one person may change.
    pub adjacency: Adjacency,
}

/// A_samp as printed, ready to run.
#[derive(Clone, Debug)]
pub struct CalibratedPrinted {
    eps: Eps,
    delta: Delta,
    adjacency: Adjacency,
    rate: Ratio,
    samples: u64,
    cost: Approx,
}

impl Printed {
    /// Lines 1 and 12, and the guarantee. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<CalibratedPrinted, ParameterError> {
        if self.delta.is_zero() {
            return Err(ParameterError::out_of_range("delta", 0, "give a number above 0 such as 1e-6"));
        }
        let rows = self.known_rows()?;
        let rate = significant_down(
            &(self.eps.ratio() / &(Ratio::from(64u64) * ln_upper(&self.delta.ratio().recip()))),
            64,
        );
        if rate > Ratio::one() {
            let accepted = "the printed rate epsilon/(64 ln(1/delta)) is above one; give a smaller epsilon";
            return Err(ParameterError::out_of_range("epsilon", &self.eps, accepted));
        }
        let wanted = ln_upper(&(Ratio::from(rows.max(1)) / self.delta.ratio())) / rate.squared();
        let samples = wanted.ceil_i64().and_then(|samples| u64::try_from(samples).ok()).ok_or_else(|| {
            ParameterError::out_of_range("epsilon", &self.eps, "the printed number of samples is beyond 2^63")
        })?;
        let delta = delta_upper(&self.delta, self.adjacency, samples, &rate);
        let cost = Approx { eps: (&self.eps).into(), delta: Amount::new(delta)? };
        let (eps, delta, adjacency) = (self.eps.clone(), self.delta.clone(), self.adjacency);
        Ok(CalibratedPrinted { eps, delta, adjacency, rate, samples, cost })
    }

    fn known_rows(&self) -> Result<u64, ParameterError> {
        let refuse = |accepted| Err(ParameterError::out_of_range("rows", "private", accepted));
        match (self.rows, self.adjacency) {
            (RowCount::Public(rows), Adjacency::Replace) | (RowCount::Declared(rows), _) => Ok(rows),
            (RowCount::Released(rows), _) => Ok(u64::try_from(rows).unwrap_or(0)),
            (RowCount::Public(_) | RowCount::Unknown, Adjacency::AddRemove) => refuse(
                "A_samp computes its number of samples from the number of rows; under add-remove that is private, \
                 neighbours draw different numbers of samples and the printed proof fails; declare the rows, or use \
                 the calibrated form, which needs no number of rows",
            ),
            (RowCount::Unknown, Adjacency::Replace) => refuse("say how many rows there are"),
        }
    }
}

/// What the test keeps, and under add/remove the chance that one row halts everything; rounded up.
fn delta_upper(delta: &Delta, adjacency: Adjacency, samples: u64, rate: &Ratio) -> Ratio {
    let test = delta.ratio() / &Ratio::from(2u64);
    match adjacency {
        Adjacency::Replace => test,
        Adjacency::AddRemove => test + binomial::above_upper(samples, rate, most_samples(rate, samples)),
    }
}

/// 2mq, rounded down.
fn most_samples(rate: &Ratio, samples: u64) -> u64 {
    let most = Ratio::from(2u64) * rate * Ratio::from(samples);
    most.floor_i64().and_then(|most| u64::try_from(most).ok()).unwrap_or(u64::MAX)
}

impl CalibratedPrinted {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::Approx(self.cost.clone())
    }

    /// Other numbers in the printed places, for audits: the test keeps delta/2 for rows in at most 2mq samples, and the
    /// cost is that of these numbers.
    #[must_use]
    pub fn with_details(self, samples: u64, rate: Ratio) -> Self {
        let delta = delta_upper(&self.delta, self.adjacency, samples, &rate);
        let cost = Approx { delta: Amount::clamped(delta), ..self.cost.clone() };
        Self { rate, samples, cost, ..self }
    }

    /// How often the function is evaluated.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// How many samples there are, and how many of them one row is in at most where nothing halts.
    pub fn touch(&self) -> Result<VotesPerUnit, ParameterError> {
        VotesPerUnit::new(self.samples, most_samples(&self.rate, self.samples).max(1), self.adjacency)
    }

    /// The share of the rows in a sample, the printed one to 64 digits in binary.
    pub fn rate(&self) -> &Ratio {
        &self.rate
    }

    /// Lines 2 to 4: the samples, or nothing where some row is in more than 2mq of them. Takes as many decisions as rows
    /// times samples.
    pub fn deal<C: Coins>(&self, rows: usize, coins: &mut C) -> Option<Blocks> {
        let rate = Rate::new(self.rate.clone()).expect("at most one");
        let samples = u32::try_from(self.samples).expect("as many samples as anyone can evaluate");
        let design = Design::SampledRows { samples, rate, cap: samples };
        let partition =
            Partition { design, adjacency: Adjacency::Replace }.calibrate().expect("a plain design");
        let blocks = partition.deal_rows(rows, coins);
        let mut times = vec![0u64; rows];
        blocks.iter().flatten().for_each(|&row| times[row] += 1);
        let most = most_samples(&self.rate, self.samples);
        times.iter().all(|&times| times <= most).then_some(blocks)
    }

    /// Lines 6 to 16 on the votes of the samples, one for each. Nothing dealt is a refusal.
    pub fn run<T: Ord + Clone>(&self, votes: Option<&[T]>, coins: &mut impl Coins) -> Outcome<T> {
        let Some(votes) = votes else { return Outcome::Refused };
        let mut sorted = votes.to_vec();
        sorted.sort_unstable();
        let Some(tally) = Tally::from_sorted(&sorted) else { return Outcome::Refused };
        let counts = sorted.chunk_by(|a, b| a == b).map(<[T]>::len);
        let second =
            counts.clone().fold(
                (0, 0),
                |(best, second), count| {
                    if count > best { (count, best) } else { (best, second.max(count)) }
                },
            );
        let gap = Ratio::from((second.0 - second.1) as u64);
        let slots = Ratio::from(4u64) * Ratio::from(self.samples) * &self.rate;
        let distance = gap / slots - Ratio::one();
        let pass = self.chance_to_pass(&distance);
        if coins.bernoulli(&pass) { Outcome::Value(tally.mode().clone()) } else { Outcome::Refused }
    }

    /// P(d + Lap(1/epsilon) > ln(1/delta)/epsilon).
    fn chance_to_pass(&self, distance: &Ratio) -> Enclosed<impl Fn(usize) -> Interval + use<>> {
        let (shift, delta) = (self.eps.ratio() * distance, self.delta.ratio().clone());
        Enclosed::new(move |bits| {
            laplace_above(&Interval::exact(&delta, bits).ln().neg().sub(&Interval::exact(&shift, bits)), bits)
        })
    }
}

/// The chance that Laplace noise of scale one is above y.
fn laplace_above(y: &Interval, bits: usize) -> Interval {
    let (zero, one) = (Interval::zero(bits), Interval::one(bits));
    let half = one.div_small(2);
    // ½e^-y above zero, 1 - ½e^y below; where y is next to zero both are next to a half.
    let above = half.mul(&y.max(&zero).neg().exp());
    let below = one.sub(&half.mul(&y.min(&zero).exp()));
    above.add(&below).sub(&half)
}

/// Samples of a rate, with the least cap that loses few of them: A_samp with calibrated constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// Epsilon.
    pub eps: Eps,
    /// Delta, above zero.
    pub delta: Delta,
    /// How many samples.
    pub samples: u32,
    /// The share of the rows or people in a sample.
    pub rate: Rate,
    /// What one person may change.
    pub adjacency: Adjacency,
    /// Are people sampled, by hashes?
    pub people: bool,
}

/// A part of the inclusions this small may be lost to the cap.
const LOST: (i64, u64) = (1, 1000);

impl Bootstrap {
    /// The design, and the election of its votes. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<(Partition, majority::Calibrated), ParameterError> {
        let trials = u64::from(self.samples);
        // An inclusion is lost only in a row that is in more samples than the cap: that many rows are rare.
        let cap = binomial::least_exceeded(trials, self.rate.ratio(), &Ratio::new(LOST.0, LOST.1)).max(1);
        let cap = u32::try_from(cap).expect("at most the samples");
        let (samples, rate) = (self.samples, self.rate.clone());
        let design = if self.people {
            Design::SampledPeople { samples, rate, cap }
        } else {
            Design::SampledRows { samples, rate, cap }
        };
        let partition = Partition { design, adjacency: self.adjacency };
        let touch = partition.calibrate()?.touch();
        let election = Majority { eps: self.eps.clone(), delta: self.delta.clone(), touch };
        Ok((partition, election.calibrate()?))
    }
}

/// SA: samples with repetition from a public number of rows; all parameters public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleAndAggregate {
    /// Epsilon.
    pub eps: Eps,
    /// How many rows there are: n, public.
    pub rows: u64,
    /// Rows of a sample: m.
    pub size: u64,
}

impl SampleAndAggregate {
    /// The printed number of samples, `epsilon (n/m)^3`, rounded up.
    pub fn printed_samples(&self) -> Result<u64, ParameterError> {
        if self.size == 0 || self.rows == 0 {
            return Err(ParameterError::out_of_range(
                "size",
                self.size,
                "give at least 1 row, and 1 in a sample",
            ));
        }
        let times = Ratio::from(self.rows) / Ratio::from(self.size);
        let samples = (self.eps.ratio() * &times.squared() * times).ceil_i64();
        samples.and_then(|samples| u64::try_from(samples).ok()).ok_or_else(|| {
            ParameterError::out_of_range("size", self.size, "the printed number of samples is beyond 2^63")
        })
    }

    /// What so many samples really keep, with the printed noise and threshold; delta rounded up.
    pub fn cost(&self, samples: u64) -> Loss {
        let chance = binomial::in_sample_upper(self.rows, self.size);
        let cap = Ratio::from(2u64) * Ratio::from(self.size) * Ratio::from(samples) / Ratio::from(self.rows);
        let cap = cap.floor_i64().and_then(|cap| u64::try_from(cap).ok()).unwrap_or(u64::MAX);
        let overload = binomial::above_upper(samples, &chance, cap);
        let delta = (overload + self.passes_upper()).min(Ratio::one());
        Loss::Approx(Approx { eps: (&self.eps).into(), delta: Amount::clamped(delta) })
    }

    /// The part of delta that the test spends, where no row is in more samples than was counted for; rounded up.
    pub fn passes_upper(&self) -> Ratio {
        let share = Ratio::from(self.rows) / (Ratio::from(16u64) * Ratio::from(self.size));
        let exponent = self.eps.ratio() * &(share - Ratio::one());
        exp_upper(&-exponent.min(Ratio::from(2000u64))) / Ratio::from(2u64)
    }

    /// The printed test on the votes of the samples: the most frequent vote, where its count plus Laplace noise of scale
    /// 2km/(epsilon n) is above 5k/8.
    pub fn run<T: Ord + Clone>(&self, votes: &[T], coins: &mut impl Coins) -> Outcome<T> {
        let mut sorted = votes.to_vec();
        sorted.sort_unstable();
        let Some(tally) = Tally::from_sorted(&sorted) else { return Outcome::Refused };
        let most = sorted.chunk_by(|a, b| a == b).map(<[T]>::len).max().unwrap_or(0) as u64;
        let samples = Ratio::from(votes.len() as u64);
        let missing = &samples * &Ratio::new(5, 8) - Ratio::from(most);
        let scale = Ratio::from(2u64) * samples * Ratio::from(self.size)
            / (self.eps.ratio() * &Ratio::from(self.rows));
        let y = missing / scale;
        let pass = Enclosed::new(move |bits| laplace_above(&Interval::exact(&y, bits), bits));
        if coins.bernoulli(&pass) { Outcome::Value(tally.mode().clone()) } else { Outcome::Refused }
    }

    /// The calibrated form: samples whose rows are capped, and the election of their votes. Under replace only, as the
    /// number of rows is public.
    pub fn calibrate(
        &self,
        samples: u32,
        delta: &Delta,
    ) -> Result<(Partition, majority::Calibrated), ParameterError> {
        self.printed_samples()?;
        let chance = binomial::in_sample_upper(self.rows, self.size);
        let cap = binomial::least_exceeded(samples.into(), &chance, &Ratio::new(LOST.0, LOST.1)).max(1);
        let size = u32::try_from(self.size)
            .map_err(|_| ParameterError::out_of_range("size", self.size, "give a size below 2^32"))?;
        let cap = u32::try_from(cap).expect("at most the samples");
        let design = Design::Repeated { samples, size, cap };
        let touch = VotesPerUnit::new(samples.into(), cap.into(), Adjacency::Replace)?;
        let election = Majority { eps: self.eps.clone(), delta: delta.clone(), touch }.calibrate()?;
        Ok((Partition { design, adjacency: Adjacency::Replace }, election))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        interval::AUDIT_BITS,
        tape::{delta_between, enumerate},
        universe::votes_within,
    };

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn printed(eps: &str, delta: &str, rows: RowCount, adjacency: Adjacency) -> Printed {
        Printed { eps: eps.parse().unwrap(), delta: delta.parse().unwrap(), rows, adjacency }
    }

    fn small(samples: u64, rate: Ratio) -> CalibratedPrinted {
        let form = printed("1", "0.02", RowCount::Public(9), Adjacency::Replace).calibrate().unwrap();
        form.with_details(samples, rate)
    }

    fn delta_of(loss: &Loss) -> f64 {
        let Loss::Approx(loss) = loss else { panic!("(epsilon, delta)") };
        loss.delta.ratio().to_f64()
    }

    #[test]
    fn the_printed_constants() {
        let found = printed("1", "1e-6", RowCount::Public(100_000), Adjacency::Replace).calibrate().unwrap();
        // q = 1/884, m = 1.98e7.
        assert!((found.rate().to_f64().recip() - 884.2).abs() < 0.1);
        assert!((found.samples() as f64 / 1.98e7 - 1.0).abs() < 0.01, "{}", found.samples());
        // The overload of a single row is beyond any delta.
        let declared =
            printed("1", "1e-6", RowCount::Declared(100_000), Adjacency::AddRemove).calibrate().unwrap();
        assert!((delta_of(&declared.cost()) - 5e-7).abs() < 1e-20);
        let tenth =
            printed("0.1", "1e-6", RowCount::Public(100_000), Adjacency::Replace).calibrate().unwrap();
        assert!(tenth.samples() > 1_900_000_000);
    }

    #[test]
    fn samples_of_nothing_are_refused() {
        let of = |rows, size| {
            let form = SampleAndAggregate { eps: "1".parse().unwrap(), rows, size };
            form.calibrate(64, &"1e-6".parse().unwrap()).map_err(|error| error.to_string())
        };
        for (rows, size) in [(0, 5), (100, 0)] {
            let error = of(rows, size).unwrap_err();
            assert!(error.contains("give at least 1 row, and 1 in a sample"), "{rows} {size}: {error}");
        }
        assert!(of(100, 5).is_ok());
    }

    #[test]
    fn a_private_number_of_rows_is_refused_with_the_reason() {
        let error = printed("1", "1e-6", RowCount::Unknown, Adjacency::AddRemove).calibrate().unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("rows private is not accepted: A_samp computes") && text.contains("proof fails")
        );
        assert!(printed("1", "1e-6", RowCount::Unknown, Adjacency::Replace).calibrate().is_err());
        assert!(printed("1000", "0.5", RowCount::Public(9), Adjacency::Replace).calibrate().is_err());
    }

    /// Lines 6 to 16 alone, on votes of which as many as the printed cap are replaced.
    fn worst(form: &CalibratedPrinted, votes: usize, replaced: usize) -> Interval {
        let mut worst = Interval::zero(AUDIT_BITS);
        for (a, b) in votes_within(&[0, 1, 2], votes, replaced) {
            let law = |votes: &[i64]| enumerate(&ratio("1e-20"), |tape| form.run(Some(votes), tape));
            worst = worst.max(&delta_between(form.eps.ratio(), &law(&a), &law(&b)));
        }
        worst
    }

    #[test]
    fn exact_audit_of_the_printed_test() {
        // Small numbers in the printed places: six samples of rate 1/6, so that a row is in at most two.
        let form = small(6, Ratio::new(1, 6));
        let delta = worst(&form, 6, 2);
        assert!(delta.certainly_at_most(&ratio("0.010000001")), "{}", delta.to_f64());
        assert!(delta.lower() > ratio("0.0099"));
    }

    #[test]
    fn a_mutant_whose_rows_are_in_twice_as_many_samples_is_caught() {
        let form = small(6, Ratio::new(1, 6));
        let delta = worst(&form, 6, 4);
        assert!(delta.certainly_above(&ratio("0.011")), "{}", delta.to_f64());
    }

    #[test]
    fn dealing_halts_when_a_row_is_in_too_many_samples() {
        let form = small(2, Ratio::new(1, 2));
        let law = enumerate(&ratio("1e-9"), |tape| {
            form.deal(1, tape).map(|blocks| blocks.iter().flatten().count())
        });
        // At most two samples, and there are but two: never too many.
        assert!((law.mass(&Some(2)).to_f64() - 0.25).abs() < 1e-9 && law.mass(&None).to_f64() < 1e-9);
        let form = small(2, Ratio::new(1, 4));
        let law = enumerate(&ratio("1e-9"), |tape| form.deal(1, tape).is_none());
        assert!((law.mass(&true).to_f64() - 1.0 / 16.0).abs() < 1e-9);
        assert_eq!(form.run::<u8>(None, &mut crate::coins::ScriptedWords::new(vec![])), Outcome::Refused);
    }

    /// With few samples a single row halts the run often, and under add/remove that is for delta to pay.
    #[test]
    fn other_numbers_in_the_printed_places_have_a_cost_of_their_own() {
        let printed = printed("1", "0.02", RowCount::Declared(9), Adjacency::AddRemove).calibrate().unwrap();
        let form = printed.with_details(2, Ratio::new(1, 4));
        // A row is in both samples with probability 1/16, which is more than 2mq = 1.
        let halts = enumerate(&ratio("1e-9"), |tape| form.deal(1, tape).is_none()).mass(&true).to_f64();
        assert!(
            delta_of(&form.cost()) >= halts && delta_of(&form.cost()) < 0.0726,
            "{}",
            delta_of(&form.cost())
        );
    }

    /// Sixteen times the size was counted in 64 bits, and wrapped around to a delta of nothing.
    #[test]
    fn sizes_beyond_64_bits_do_not_look_private() {
        let sa = SampleAndAggregate { eps: "1".parse().unwrap(), rows: 2000, size: (1 << 60) + 1 };
        assert!(delta_of(&sa.cost(10)) > 0.5);
    }

    #[test]
    fn rows_in_every_sample_are_in_every_sample() {
        let (eps, delta) = ("1".parse().unwrap(), "1e-6".parse().unwrap());
        let (rate, adjacency) = ("1".parse().unwrap(), Adjacency::AddRemove);
        let all = Bootstrap { eps, delta, samples: 5, rate, adjacency, people: false };
        assert_eq!(all.calibrate().unwrap().1.touch().per_unit(), 5);
    }

    /// The table of the theory page.
    #[test]
    fn what_sa_keeps_as_printed() {
        for (times, eps, samples, bound) in [
            (64, "0.5", 131_072, 0.1116),
            (64, "1", 262_144, 0.0249),
            (128, "1", 2_097_152, 4.56e-4),
            (226, "1", 11_543_176, 9.97e-7),
        ] {
            let sa = SampleAndAggregate { eps: eps.parse().unwrap(), rows: times * 10, size: 10 };
            let found = sa.printed_samples().unwrap();
            assert_eq!(found, samples);
            let delta = delta_of(&sa.cost(found));
            assert!((delta / bound - 1.0).abs() < 0.01, "{times} {eps}: {delta}");
        }
        // Far fewer samples keep the same.
        let sa = SampleAndAggregate { eps: "1".parse().unwrap(), rows: 2260, size: 10 };
        assert!(delta_of(&sa.cost(7100)) < 2e-6, "{}", delta_of(&sa.cost(7100)));
        assert!(SampleAndAggregate { size: 0, ..sa }.printed_samples().is_err());
    }

    /// A pair whose most frequent votes differ attains about half of what the test may spend; the same noise on votes of
    /// which twice as many are replaced is caught.
    #[test]
    fn exact_audit_of_the_test_of_sa_and_a_mutant() {
        let sa = SampleAndAggregate { eps: "1".parse().unwrap(), rows: 32, size: 1 };
        let worst = |replaced: usize| {
            let law = |votes: &[i64]| enumerate(&ratio("1e-20"), |tape| sa.run(votes, tape));
            let pairs = votes_within(&[0, 1], 16, replaced);
            let delta = |(a, b): &(Vec<i64>, Vec<i64>)| delta_between(&Ratio::one(), &law(a), &law(b));
            pairs.iter().map(delta).fold(Interval::zero(AUDIT_BITS), |worst, delta| worst.max(&delta))
        };
        // c = floor(2km/n) = 1.
        assert!(worst(1).upper() <= sa.passes_upper(), "{}", worst(1).to_f64());
        assert!(worst(1).lower() > sa.passes_upper() / Ratio::from(4u64), "{}", worst(1).to_f64());
        assert!(worst(4).lower() > sa.passes_upper(), "{}", worst(4).to_f64());
    }

    #[test]
    fn calibrated_forms() {
        let bootstrap = Bootstrap {
            eps: "1".parse().unwrap(),
            delta: "1e-6".parse().unwrap(),
            samples: 500,
            rate: "1/300".parse().unwrap(),
            adjacency: Adjacency::AddRemove,
            people: false,
        };
        let (partition, election) = bootstrap.calibrate().unwrap();
        assert_eq!(partition.calibrate().unwrap().touch(), election.touch());
        assert_eq!(election.touch().per_unit(), 7);
        assert!(election.success_lower(&Ratio::new(3, 4)) > ratio("0.9"));
        let replace = Bootstrap { people: true, adjacency: Adjacency::Replace, ..bootstrap };
        assert_eq!(replace.calibrate().unwrap().1.touch().per_unit(), 14);
        let sa = SampleAndAggregate { eps: "1".parse().unwrap(), rows: 30_000, size: 100 };
        let (partition, election) = sa.calibrate(500, &"1e-6".parse().unwrap()).unwrap();
        assert_eq!(partition.calibrate().unwrap().touch(), election.touch());
        assert!(election.success_lower(&Ratio::new(3, 4)) > ratio("0.9"));
    }
}
