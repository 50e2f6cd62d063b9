//! What sampling the records first does to a loss: amplification as accounting.
//!
//! Source: 003_82bbcee9e9852ea0.txt, "DP-Stability Amplification" (Algorithm B); the exact form and the
//! replace relation: Balle, Barthe and Gaboardi, "Privacy amplification by subsampling" (2018).
//!
//! # Guarantee
//!
//! A mechanism that is (epsilon, delta)-DP, run on a secret and fresh sample, has the returned loss under
//! the adjacency that the function names. The mechanism must be private on data of every size that a
//! sample can have, and must not reveal the sample by other means, such as its size or running time.
//!
//! # Why
//!
//! 1. With rate p, the output on the larger data set is the mixture (1-p)·M0 + p·M1 of runs without and with
//!    the record; on the smaller one it is M0.
//! 2. Where M1(E) <= e^eps·M0(E) + delta, the mixture is at most `(1 + p·(e^eps - 1))·M0(E) + p·delta`.
//! 3. The other way round, M0 is at most the mixture over c plus `p·e^-eps·delta/c`, with
//!    `c = 1 - p·(1 - e^-eps)`. Its epsilon `-ln c` is the smaller of the two.
//! 4. Under replace both outputs are mixtures, of M0 with M1 and of M0 with M1'. What they share cancels: at
//!    `e^eps' = 1 + p·(e^eps - 1)` the delta is p times that of M1 against `(1-b)·M0 + b·M1'`, `b = e^(eps' - eps)`.
//! 5. A sample of fixed size without the record has another in its place: there M0 and M1 are neighbours
//!    under replace, so step 4 needs the replace relation alone.
//!
//! # Differs
//!
//! The source claims (p, p·delta) from (1, delta). That is refuted by randomized response: `1 + p·(e - 1)`
//! exceeds e^p. Its own proof shows (2p, p·delta); the form above is exact.

use crate::{
    interval::Interval,
    loss::{Amount, Approx, Eps, ParameterError, Rate, significant_down, significant_up},
    ratio::Ratio,
};
use dashu_base::BitTest;

/// Each record is kept with probability `rate`, independently. Add/remove; the base under add/remove.
///
/// `(ln(1 + p·(e^eps - 1)), p·delta)`, epsilon rounded up.
pub fn poisson_add_remove(base: &Approx, rate: &Rate) -> Approx {
    Approx { eps: amplified_eps_up(base.eps.ratio(), rate), delta: share(&base.delta, rate) }
}

/// The same in one direction only: how much likelier an output can be *without* the record than with it.
///
/// `(-ln c, p·e^-eps·delta/c)` with `c = 1 - p·(1 - e^-eps)`, both rounded up. A guarantee needs both
/// directions; accountants that keep them apart gain from this one.
pub fn poisson_add_remove_reverse(base: &Approx, rate: &Rate) -> Approx {
    let (eps, p) = (base.eps.ratio(), rate.ratio());
    if *p == Ratio::one() {
        return base.clone();
    }
    let bits = precision(eps, rate);
    let decay = Interval::exact(&-eps.clone(), bits).exp();
    let c = decay.mul_ratio(p).add(&Interval::exact(&(Ratio::one() - p), bits));
    let shrink = decay.mul_ratio(p).div(&c).upper();
    Approx {
        eps: Amount::clamped(significant_up(&c.ln().neg().upper(), 128)),
        delta: Amount::clamped(significant_up(&(shrink * base.delta.ratio()), 128)),
    }
}

/// Each record is kept with probability `rate`, independently. Replace; the base under *both* relations.
///
/// `(ln(1 + p·(e^eps - 1)), p·((1-b)·delta_add_remove + b·delta_replace))` with `b = p + (1-p)·e^-eps`, rounded
/// up; eps is the larger of the two. A base that is private under replace alone may reveal the size of its
/// sample, and then nothing is gained.
pub fn poisson_replace(add_remove: &Approx, replace: &Approx, rate: &Rate) -> Approx {
    let eps = add_remove.eps.ratio().max(replace.eps.ratio());
    let bits = precision(eps, rate);
    let b = overlap(eps, rate, bits);
    let at = |delta: &Amount| Interval::exact(delta.ratio(), bits);
    let mixed = Interval::one(bits).sub(&b).mul(&at(&add_remove.delta)).add(&b.mul(&at(&replace.delta)));
    let either = add_remove.delta.ratio().max(replace.delta.ratio());
    // A mixture is at most the larger part, whatever rounding says; so equal deltas stay exact.
    let delta = Amount::clamped(significant_up(&mixed.upper(), 128).min(either.clone()));
    Approx { eps: amplified_eps_up(eps, rate), delta: share(&delta, rate) }
}

/// `size` of `rows` records, each such set equally likely. Replace, `rows` public; the base under replace.
pub fn fixed_size_replace(base: &Approx, size: u64, rows: u64) -> Result<Approx, ParameterError> {
    Ok(poisson_add_remove(base, &rate_of(size, rows)?))
}

/// The share of the records that a sample of fixed size takes.
pub(crate) fn rate_of(size: u64, rows: u64) -> Result<Rate, ParameterError> {
    if size == 0 || size > rows {
        let next = "give at least 1 and at most the number of rows";
        return Err(ParameterError::out_of_range("sample size", size, next));
    }
    Rate::new(Ratio::from(size) / Ratio::from(rows))
}

/// The largest rate, rounded down, at which a base of epsilon `base` has at most the epsilon `wanted`:
/// `(e^wanted - 1)/(e^base - 1)`, or one.
pub fn rate_for(wanted: &Eps, base: &Eps) -> Rate {
    let (small, large) = (wanted.ratio(), base.ratio());
    if small >= large {
        return Rate::new(Ratio::one()).expect("one is a rate");
    }
    let gap = small - large;
    let bits = 256 + small.denominator().bit_len() + whole(&gap.abs()) * 3 / 2;
    let one = Interval::one(bits);
    let decay = |x: &Ratio| Interval::exact(&-x.clone(), bits).exp();
    let rate = decay(&-gap).mul(&one.sub(&decay(small))).div(&one.sub(&decay(large)));
    let mut rate = significant_down(&rate.lower(), 64);
    // The way forth rounds up, so give way until it agrees.
    let mut cut = Ratio::dyadic(1.into(), 63);
    loop {
        let candidate = Rate::new(rate.clone()).expect("between zero and one");
        if amplified_eps_up(large, &candidate).ratio() <= small {
            return candidate;
        }
        rate = significant_down(&(&rate * &(Ratio::one() - &cut)), 64);
        cut = &cut * &Ratio::from(2u64);
    }
}

/// `ln(1 + p·(e^eps - 1)) = eps + ln(p + (1-p)·e^-eps)`, rounded up; the second form never grows large.
fn amplified_eps_up(eps: &Ratio, rate: &Rate) -> Amount {
    let logarithm = overlap(eps, rate, precision(eps, rate)).ln().upper();
    Amount::clamped(significant_up(&(eps + &logarithm), 128).min(eps.clone()))
}

/// `p + (1-p)·e^-eps`, which is `e^(eps' - eps)`.
fn overlap(eps: &Ratio, rate: &Rate, bits: usize) -> Interval {
    let p = rate.ratio();
    let decay = Interval::exact(&-eps.clone(), bits).exp();
    decay.mul_ratio(&(Ratio::one() - p)).add(&Interval::exact(p, bits))
}

/// Bits after the point that leave over 128 significant ones, however small the rate and epsilon.
fn precision(eps: &Ratio, rate: &Rate) -> usize {
    256 + 2 * (eps.denominator().bit_len() + rate.ratio().denominator().bit_len())
}

fn whole(value: &Ratio) -> usize {
    usize::try_from(value.ceil_i64().unwrap_or(0)).unwrap_or(0)
}

fn share(delta: &Amount, rate: &Rate) -> Amount {
    Amount::clamped(delta.ratio() * rate.ratio())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        adjacency::Adjacency,
        universe::{datasets, neighbours},
    };
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn approx(eps: &str, delta: &str) -> Approx {
        let amount = |text: &str| Amount::new(text.parse().unwrap()).unwrap();
        Approx { eps: amount(eps), delta: amount(delta) }
    }

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    #[test]
    fn known_figures() {
        for (p, eps) in [("0.1", 0.1586), ("0.25", 0.3574), ("0.5", 0.6201), ("0.9", 0.9347)] {
            let loss = poisson_add_remove(&approx("1", "1e-6"), &rate(p));
            assert!((loss.eps.ratio().to_f64() - eps).abs() < 5e-5, "{p}: {}", loss.eps);
            assert_eq!(*loss.delta.ratio(), rate(p).ratio() * &"1e-6".parse().unwrap());
            assert!(poisson_add_remove_reverse(&approx("1", "1e-6"), &rate(p)).eps < loss.eps);
        }
        // -ln(1 - (1 - 1/e)/2)
        let reverse = poisson_add_remove_reverse(&approx("1", "0.1"), &rate("0.5"));
        assert!((reverse.eps.ratio().to_f64() - 0.379_885_493_041_721_8).abs() < 1e-12);
        assert!((reverse.delta.ratio().to_f64() - 0.1 / (1.0 + 1f64.exp())).abs() < 1e-12);
        // b = (1 + 1/e)/2 = 0.6839397…, and (1-b)/2 + 3b/2 = 1.1839397…
        let both = poisson_replace(&approx("1", "1e-6"), &approx("0.9", "3e-6"), &rate("0.5"));
        assert!((both.delta.ratio().to_f64() / 1e-6 - 1.183_939_720_585_721).abs() < 1e-12);
        assert_eq!(both.eps, poisson_add_remove(&approx("1", "0"), &rate("0.5")).eps);
        assert_eq!(
            fixed_size_replace(&approx("1", "0"), 3, 12).unwrap(),
            poisson_add_remove(&approx("1", "0"), &rate("0.25"))
        );
    }

    #[test]
    fn edges() {
        let base = approx("3", "0.25");
        let one = rate("1");
        assert_eq!(poisson_add_remove(&base, &one), base);
        assert_eq!(poisson_add_remove_reverse(&base, &one), base);
        assert_eq!(poisson_replace(&base, &base, &one), base);
        assert!(poisson_add_remove(&approx("0", "0.5"), &rate("0.5")).eps.is_zero());
        let tiny = poisson_add_remove(&approx("1e-30", "0"), &rate("1e-30")).eps.ratio().to_f64();
        assert!((tiny / 1e-60 - 1.0).abs() < 1e-12);
        let huge = poisson_add_remove(&approx("100000", "0"), &rate("1e-300")).eps.ratio().to_f64();
        assert!((huge - (100_000.0 + 1e-300f64.ln())).abs() < 1e-6);
        for (size, rows) in [(0, 3), (4, 3)] {
            assert_eq!(
                fixed_size_replace(&base, size, rows).unwrap_err().to_string(),
                format!("sample size {size} is not accepted: give at least 1 and at most the number of rows")
            );
        }
    }

    #[test]
    fn the_rate_for_a_wanted_epsilon_is_the_largest() {
        for (wanted, base) in [
            ("0.62", "1"),
            ("0.1", "10"),
            ("1e-12", "1"),
            ("1e-45", "1e-44"),
            ("0.5", "1000"),
            ("999", "1000"),
        ] {
            let (wanted, base): (Eps, Eps) = (wanted.parse().unwrap(), base.parse().unwrap());
            let p = rate_for(&wanted, &base);
            let spent = |p: &Rate| amplified_eps_up(base.ratio(), p);
            assert!(spent(&p).ratio() <= wanted.ratio());
            let more = Rate::new(p.ratio() * &"1.000000000001".parse().unwrap()).unwrap();
            assert!(spent(&more).ratio() > wanted.ratio(), "{wanted} {base}");
        }
        assert_eq!(rate_for(&"2".parse().unwrap(), &"1".parse().unwrap()), rate("1"));
        let p = rate_for(&"0.5".parse().unwrap(), &"1".parse().unwrap()).ratio().to_f64();
        assert!((p - (0.5f64.exp() - 1.0) / (1f64.exp() - 1.0)).abs() < 1e-15);
    }

    // The theorems themselves, without any rounding: e^eps is a rational number w, the mechanism is a random
    // table with rational entries, and every data set of two values and up to three rows is looked at.

    type Law = Vec<Ratio>;
    type Table = BTreeMap<Vec<i64>, Law>;

    const VALUES: [i64; 2] = [0, 1];

    fn table(weights: &[[u8; 3]]) -> Table {
        let laws = weights.iter().map(|w| {
            let total: i64 = w.iter().map(|&w| i64::from(w)).sum();
            w.iter().map(|&w| Ratio::from(i64::from(w)) / Ratio::from(total)).collect()
        });
        datasets(&VALUES, 3, Adjacency::AddRemove).into_iter().zip(laws).collect()
    }

    fn stick(w: &Ratio, p: &Law, q: &Law) -> Ratio {
        p.iter().zip(q).map(|(p, q)| (p - &(w * q)).max(Ratio::zero())).sum()
    }

    fn mix(p: &Ratio, a: &Law, b: &Law) -> Law {
        a.iter().zip(b).map(|(a, b)| a * &(Ratio::one() - p) + b * p).collect()
    }

    /// The worst delta from `of(data)` to `of(neighbour)` over the data sets that satisfy `within`.
    fn worst(
        w: &Ratio,
        adjacency: Adjacency,
        of: &dyn Fn(&[i64]) -> Law,
        within: &dyn Fn(&[i64]) -> bool,
    ) -> Ratio {
        let all = datasets(&VALUES, 3, Adjacency::AddRemove);
        let pairs = all.iter().flat_map(|data| {
            neighbours(data, &VALUES, adjacency).into_iter().map(move |other| (data.clone(), other))
        });
        pairs
            .filter(|(data, other)| other.len() <= 3 && within(data) && within(other))
            .map(|(data, other)| stick(w, &of(&data), &of(&other)))
            .max()
            .unwrap_or_else(Ratio::zero)
    }

    fn poisson(table: &Table, p: &Ratio, kept: Vec<i64>, rest: &[i64]) -> Law {
        let Some((&first, rest)) = rest.split_first() else { return table[&kept].clone() };
        let mut with = kept.clone();
        with.push(first);
        mix(p, &poisson(table, p, kept, rest), &poisson(table, p, with, rest))
    }

    fn any_table() -> impl Strategy<Value = Table> {
        let row = (0u8..10, 0u8..10, 0u8..10).prop_map(|(a, b, c)| [a, b, c + u8::from(a + b + c == 0)]);
        proptest::collection::vec(row, 10).prop_map(|weights| table(&weights))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn poisson_sampling_loses_at_most_its_bound(table in any_table(), p in 1i64..10, w in 10i64..40) {
            let (p, w) = (Ratio::new(p, 10), Ratio::new(w, 10));
            let everything = |_: &[i64]| true;
            let base = |data: &[i64]| table[data].clone();
            let sampled = |data: &[i64]| poisson(&table, &p, Vec::new(), data);
            let amplified = Ratio::one() + &p * &(&w - &Ratio::one());
            let add_remove = worst(&w, Adjacency::AddRemove, &base, &everything);
            let replace = worst(&w, Adjacency::Replace, &base, &everything);

            let bound = &p * &add_remove;
            prop_assert!(worst(&amplified, Adjacency::AddRemove, &sampled, &everything) <= bound);

            let b = &amplified / &w;
            let bound = &p * &((Ratio::one() - &b) * &add_remove + &b * &replace);
            prop_assert!(worst(&amplified, Adjacency::Replace, &sampled, &everything) <= bound);

            // The reverse direction alone, from the smaller data set to the larger.
            let c = Ratio::one() - &p * &(Ratio::one() - w.recip());
            let bound = &p * &add_remove / (&w * &c);
            for data in datasets(&VALUES, 2, Adjacency::AddRemove) {
                for value in VALUES {
                    let mut larger = data.clone();
                    larger.push(value);
                    larger.sort_unstable();
                    prop_assert!(stick(&c.recip(), &sampled(&data), &sampled(&larger)) <= bound);
                }
            }
        }

        #[test]
        fn a_fixed_size_loses_at_most_its_bound(table in any_table(), w in 10i64..40, size in 1usize..=3) {
            let w = Ratio::new(w, 10);
            let p = Ratio::new(i64::try_from(size).unwrap(), 3);
            let base = |data: &[i64]| table[data].clone();
            // Every subset of `size` among three rows, equally likely.
            let sampled = |data: &[i64]| -> Law {
                let subsets: Vec<Vec<i64>> = (0u8..8)
                    .filter(|mask| mask.count_ones() as usize == size)
                    .map(|mask| (0..3).filter(|i| mask >> i & 1 == 1).map(|i| data[i]).collect())
                    .collect();
                let each = Ratio::new(1, subsets.len() as u64);
                (0..3).map(|y| subsets.iter().map(|s| &table[s][y] * &each).sum()).collect()
            };
            let bound = &p * &worst(&w, Adjacency::Replace, &base, &|data| data.len() == size);
            let amplified = Ratio::one() + &p * &(&w - &Ratio::one());
            prop_assert!(worst(&amplified, Adjacency::Replace, &sampled, &|data| data.len() == 3) <= bound);
        }
    }
}
