//! Publishes a noisy upper bound on how far one change can move the value here, then the value with noise at
//! that bound.
//!
//! Source: 002_c9075a084346ce80.txt, section 1.5, framework 1; Vadhan 2017, section 7.3.4.
//!
//! # Guarantee
//!
//! Let `local(x)` bound how far the value moves from x to any neighbour, and let it move by at most
//! `sensitivity` between neighbours itself. Then bound and value together are
//! (bound_eps + value_eps, delta)-DP under that adjacency.
//!
//! # Why
//!
//! 1. On the grid, `local` is rounded up: it moves by at most steps = ceil(sensitivity/grid) grid steps, and
//!    the value, rounded to the nearest step, by at most `local` steps. The rounding needs nothing more.
//! 2. The published bound is `local + Z + offset` with discrete Laplace noise of scale steps/bound_eps:
//!    bound_eps-DP. Clamping it to public ends is post-processing.
//! 3. Given a bound b, noise of scale b/value_eps hides a move of at most b: value_eps-DP, if b is at least
//!    the smaller one of the two neighbours' `local`.
//! 4. It is not with probability at most `P(Z < -offset) = q^(offset+1)/(1+q)`, q = e^(-bound_eps/steps). The
//!    offset is the least whole number that makes this at most delta.
//!
//! # Differs
//!
//! Whole numbers in place of reals. A bound at or below zero, part of what delta pays for, becomes a public
//! floor, so that the value never shows itself without noise. At the upper end either no value can move
//! farther than a public ceiling, or a bound beyond it refuses the value, which the bound alone decides.
//!
//! The running time of the second noise depends on the published bound, and on nothing else.
//!
//! # Example
//!
//! ```
//! use equipoise_core::mechanism::bound_local_sensitivity::{BoundLocalSensitivity, Ceiling};
//! use equipoise_core::{coins::ScriptedWords, mechanism::Values, ratio::Ratio, stability::triangles::Graph};
//!
//! // How many triangles does a graph of 30 people have, if the edges are private? One edge moves the count by
//! // up to 28, but here by 2 only.
//! let graph = Graph::new(30, (0..29).map(|a| (a, a + 1)).chain((0..28).map(|a| (a, a + 2))));
//! let triangles = BoundLocalSensitivity {
//!     bound_eps: "0.5".parse()?,
//!     value_eps: "1".parse()?,
//!     delta: "1e-6".parse()?,
//!     sensitivity: Ratio::one(),
//!     grid: Ratio::one(),
//!     values: Values::OnGrid,
//!     floor: Ratio::one(),
//!     ceiling: Ceiling::Global(Ratio::from(graph.global_sensitivity())),
//! };
//! let calibrated = triangles.calibrate()?;
//! assert_eq!(calibrated.cost().to_string(), "(1.5, 0.000001)-differential privacy");
//! let (count, local) = (Ratio::from(graph.triangles()), Ratio::from(graph.local_sensitivity()));
//! # let mut coins = ScriptedWords::new(vec![1 << 40; 9]);
//! let release = calibrated.run(&count, &local, &mut coins);
//! // The error bar follows from the published bound.
//! let error = calibrated.error_given(&release.bound, &"0.05".parse()?);
//! # let _ = error;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{Values, laplace::discrete_tail_steps};
use crate::{
    coins::Coins,
    interval::{exp_lower, ln_lower, ln_upper},
    loss::{Approx, Delta, Eps, Loss, ParameterError},
    outcome::Outcome,
    ratio::Ratio,
    sampler::discrete_laplace::DiscreteLaplace,
    solve,
};
use dashu_int::IBig;

/// Where bounds end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ceiling {
    /// No change ever moves the value farther than this, so that no bound needs to be larger.
    Global(Ratio),
    /// Nothing is known. A published bound above this refuses the value.
    RefuseAbove(Ratio),
}

/// Parameters of the mechanism; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundLocalSensitivity {
    /// Privacy of the bound.
    pub bound_eps: Eps,
    /// Privacy of the value, where the bound is one.
    pub value_eps: Eps,
    /// How often the bound may fail to be one. Above zero.
    pub delta: Delta,
    /// The most that the local bound moves between neighbours.
    pub sensitivity: Ratio,
    /// Bounds and answers are multiples of this.
    pub grid: Ratio,
    /// Whether values and local bounds lie on the grid already.
    pub values: Values,
    /// Noise is never scaled to less. Above zero.
    pub floor: Ratio,
    /// Noise is never scaled to more.
    pub ceiling: Ceiling,
}

/// A mechanism ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    shape: BoundLocalSensitivity,
    law: DiscreteLaplace,
    scale_steps: Ratio,
    offset: i64,
    /// The largest bound, in steps, with which a value is answered.
    last: i64,
}

/// What is published.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// A bound on how far one change moves the value, true except with probability delta.
    pub bound: Ratio,
    /// The value with noise of scale `bound / value_eps`.
    pub value: Outcome<Ratio>,
}

impl BoundLocalSensitivity {
    /// Compute the noise of the bound. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let refuse = |name, value: &Ratio, next| ParameterError::out_of_range(name, value, next);
        if self.delta.is_zero() {
            let next =
                "a bound that always holds is the global sensitivity; give a number above 0 such as 1e-6";
            return Err(refuse("delta", self.delta.ratio(), next));
        }
        for (name, value) in
            [("sensitivity", &self.sensitivity), ("grid", &self.grid), ("floor", &self.floor)]
        {
            if !value.is_positive() {
                return Err(refuse(name, value, "give a positive number"));
            }
        }
        let steps = &self.sensitivity / &self.grid;
        let steps =
            Ratio::whole(if self.values == Values::OnGrid { steps.floor_big() } else { steps.ceil_big() });
        if steps.is_zero() {
            let next = "the grid step must not exceed the sensitivity when values lie on the grid";
            return Err(refuse("grid", &self.grid, next));
        }
        let scale_steps = &steps / self.bound_eps.ratio();
        let law = DiscreteLaplace::new(&scale_steps)?;
        let last = self.last_bound()?;
        // A floor between two grid steps may be above the largest bound.
        DiscreteLaplace::new(&(&self.floor / &self.grid / self.value_eps.ratio())).map_err(|_| {
            refuse(
                "floor",
                &self.floor,
                "noise of that scale spans more than 2^52 grid steps; use a coarser grid",
            )
        })?;
        let offset = offset_up(&scale_steps, self.delta.ratio())?;
        Ok(Calibrated { shape: self.clone(), law, scale_steps, offset, last })
    }

    /// The largest bound in steps, once the noise at that bound is known to exist.
    fn last_bound(&self) -> Result<i64, ParameterError> {
        let (ceiling, steps) = match &self.ceiling {
            Ceiling::Global(most) => (most, (most / &self.grid).ceil_big()),
            Ceiling::RefuseAbove(most) => (most, (most / &self.grid).floor_big()),
        };
        let refused = |next| ParameterError::out_of_range("ceiling", ceiling, next);
        if steps <= IBig::ZERO || *ceiling < self.floor {
            return Err(refused("give a number not below the floor and the grid"));
        }
        // Dividing by epsilon <= 1000 keeps whatever has a sampler within 64 bits.
        DiscreteLaplace::new(&(Ratio::whole(steps.clone()) / self.value_eps.ratio())).map_err(|_| {
            refused("noise of that scale spans more than 2^52 grid steps; use a coarser grid")
        })?;
        i64::try_from(steps).map_err(|_| refused("use a coarser grid"))
    }

    /// The least total epsilon (six digits), split as here, with which the error is within `error` with
    /// probability 1 - beta wherever the local bound is `local`.
    pub fn eps_for(&self, local: &Ratio, error: &Ratio, beta: &Ratio) -> Option<Eps> {
        let total = self.bound_eps.ratio() + self.value_eps.ratio();
        solve::smallest_eps(|eps| {
            let share = |part: &Eps| Eps::new(part.ratio() / &total * eps.ratio());
            let (Ok(bound_eps), Ok(value_eps)) = (share(&self.bound_eps), share(&self.value_eps)) else {
                return false;
            };
            let here = Self { bound_eps, value_eps, ..self.clone() };
            here.calibrate().is_ok_and(|here| here.accuracy(local, beta).is_some_and(|found| found <= *error))
        })
    }
}

/// The least t >= 0 with `P(Z < -t) = q^(t+1)/(1+q) <= delta`, perhaps one more; q = e^(-1/scale).
pub(super) fn offset_up(scale: &Ratio, delta: &Ratio) -> Result<i64, ParameterError> {
    let one_plus_q = Ratio::one() + exp_lower(&-scale.recip());
    let log = ln_upper(&delta.recip()) - ln_lower(&one_plus_q);
    let offset = (log * scale).ceil_big() - IBig::ONE;
    i64::try_from(offset.max(IBig::ZERO)).map_err(|_| {
        ParameterError::out_of_range(
            "delta",
            delta,
            "the noise scale is too large for it; use a coarser grid",
        )
    })
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        let bound = Approx::new(&self.shape.bound_eps, &self.shape.delta);
        Loss::Approx(bound.compose(&Approx::new(&self.shape.value_eps, &Delta::zero())))
    }

    /// How far the bound lies above the local one on average, in the unit of the values.
    pub fn offset(&self) -> Ratio {
        Ratio::from(self.offset) * &self.shape.grid
    }

    /// The local bound in steps, cut off where it makes no difference.
    fn local_steps(&self, local: &Ratio) -> i64 {
        let cut = match self.shape.ceiling {
            Ceiling::Global(_) => self.last,
            Ceiling::RefuseAbove(_) => self.last + 1,
        };
        let steps = (local / &self.shape.grid).ceil_big().clamp(IBig::ZERO, IBig::from(cut));
        i64::try_from(steps).expect("between two small numbers")
    }

    fn refuses(&self, bound_steps: i64) -> bool {
        bound_steps > self.last && matches!(self.shape.ceiling, Ceiling::RefuseAbove(_))
    }

    /// What noise is scaled to, for a noisy bound in steps.
    fn bound_of(&self, steps: i64) -> Ratio {
        let most = if self.refuses(steps) { self.last + 1 } else { self.last };
        (Ratio::from(steps.min(most)) * &self.shape.grid).max(self.shape.floor.clone())
    }

    fn noise_scale_steps(&self, bound: &Ratio) -> Ratio {
        bound / &self.shape.grid / self.shape.value_eps.ratio()
    }

    /// The bound and the value, both noisy. `local` bounds how far one change moves the value from here.
    pub fn run(&self, value: &Ratio, local: &Ratio, coins: &mut impl Coins) -> Release {
        let steps = self.noisy_bound(local, coins);
        let bound = self.bound_of(steps);
        let value = if self.refuses(steps) {
            Outcome::Refused
        } else {
            Outcome::Value(self.noisy_value(value, &bound, coins))
        };
        Release { bound, value }
    }

    fn noisy_bound(&self, local: &Ratio, coins: &mut impl Coins) -> i64 {
        self.local_steps(local).saturating_add(self.offset).saturating_add(coins.sample(&self.law))
    }

    fn noisy_value(&self, value: &Ratio, bound: &Ratio, coins: &mut impl Coins) -> Ratio {
        let law = DiscreteLaplace::new(&self.noise_scale_steps(bound)).expect("between floor and ceiling");
        let rounded = Ratio::whole((value / &self.shape.grid).round_big());
        (rounded + Ratio::from(coins.sample(&law))) * &self.shape.grid
    }

    /// With probability 1 - beta the value of a release with this bound is off by at most this.
    pub fn error_given(&self, bound: &Ratio, beta: &Ratio) -> Ratio {
        let grid = &self.shape.grid;
        let rounding =
            if self.shape.values == Values::Any { grid / &Ratio::from(2u64) } else { Ratio::zero() };
        discrete_tail_steps(&self.noise_scale_steps(bound), beta) * grid + rounding
    }

    /// With probability 1 - beta the value is off by at most this wherever the local bound is `local`;
    /// `None` where it may be refused that often.
    pub fn accuracy(&self, local: &Ratio, beta: &Ratio) -> Option<Ratio> {
        // Both sides of the first noise beyond t have probability beta, the upper one half of it.
        let above = discrete_tail_steps(&self.scale_steps, beta).ceil_i64()?;
        let steps = self.local_steps(local).saturating_add(self.offset).saturating_add(above);
        let bound = self.bound_of(steps);
        (!self.refuses(steps)).then(|| self.error_given(&bound, &(beta / &Ratio::from(2u64))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::{AUDIT_BITS, Interval},
        stability::triangles::Graph,
        tape::{Pmf, Tape, delta_between, enumerate},
    };
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    /// Whole numbers that move by up to one, with bounds up to `most`.
    fn shape(bound_eps: &str, value_eps: &str, delta: &str, ceiling: Ceiling) -> BoundLocalSensitivity {
        BoundLocalSensitivity {
            bound_eps: bound_eps.parse().unwrap(),
            value_eps: value_eps.parse().unwrap(),
            delta: delta.parse().unwrap(),
            sensitivity: Ratio::one(),
            grid: Ratio::one(),
            values: Values::OnGrid,
            floor: Ratio::one(),
            ceiling,
        }
    }

    fn global(most: u64) -> Ceiling {
        Ceiling::Global(Ratio::from(most))
    }

    #[test]
    fn hand_computed_offsets() {
        // The least t with q^(t+1)/(1+q) <= delta: at scale 1, q = .3679, e^-14/(1+q) = 6.1e-7.
        for (eps, delta, offset) in [
            ("1", "1e-6", 13),
            ("1", "0.5", 0),
            ("1", "0.27", 0),
            ("1", "0.26", 1),
            ("0.5", "1e-6", 26),
            ("2", "1e-400", 460i64),
        ] {
            let calibrated = shape(eps, "1", delta, global(99)).calibrate().unwrap();
            assert_eq!(calibrated.offset(), Ratio::from(offset), "{eps} {delta}");
            let q = (-eps.parse::<f64>().unwrap()).exp();
            let chance = |t: i32| q.powi(t + 1) / (1.0 + q);
            if delta.len() < 6 {
                let delta: f64 = delta.parse().unwrap();
                let offset = i32::try_from(offset).unwrap();
                assert!(chance(offset) <= delta && (offset == 0 || chance(offset - 1) > delta));
            }
        }
        let fine = BoundLocalSensitivity {
            grid: ratio("0.3"),
            values: Values::Any,
            ..shape("0.5", "1", "1e-6", global(99))
        };
        // A move of one is a move of four steps of 0.3 at most: scale 8 steps, q = .8825, ln(1/(1e-6·1.8825))·8 = 105.5.
        assert_eq!(fine.calibrate().unwrap().offset(), ratio("0.3") * ratio("105"));
        assert_eq!(fine.calibrate().unwrap().last, 330);
    }

    #[test]
    fn bad_parameters_are_refused_in_one_line() {
        let good = shape("1", "1", "1e-6", global(9));
        let error = |change: &dyn Fn(&mut BoundLocalSensitivity)| {
            let mut shape = good.clone();
            change(&mut shape);
            shape.calibrate().unwrap_err().to_string()
        };
        for (found, expected) in [
            (
                error(&|s| s.delta = Delta::zero()),
                "delta 0 is not accepted: a bound that always holds is the global sensitivity; give a number above 0 such as 1e-6",
            ),
            (
                error(&|s| s.sensitivity = Ratio::zero()),
                "sensitivity 0 is not accepted: give a positive number",
            ),
            (error(&|s| s.grid = ratio("-1")), "grid -1 is not accepted: give a positive number"),
            (error(&|s| s.floor = Ratio::zero()), "floor 0 is not accepted: give a positive number"),
            (
                error(&|s| s.grid = ratio("2")),
                "grid 2 is not accepted: the grid step must not exceed the sensitivity when values lie on the grid",
            ),
            (
                error(&|s| s.floor = ratio("10")),
                "ceiling 9 is not accepted: give a number not below the floor and the grid",
            ),
            (
                error(&|s| s.ceiling = Ceiling::RefuseAbove(ratio("1e300"))),
                "ceiling 1000000000000000000000000000000000000... is not accepted: noise of that scale spans more than 2^52 grid steps; use a coarser grid",
            ),
        ] {
            assert_eq!(found, expected);
        }
        assert!(error(&|s| s.grid = ratio("1e-30")).starts_with("noise scale"));
    }

    /// A data set as the mechanism sees it.
    type Seen = (i64, i64);

    /// Every pair that the guarantee speaks of: values apart by at most both local bounds, those by at most one.
    fn pairs(most: i64) -> Vec<(Seen, Seen)> {
        let locals = (0..=most).flat_map(|local| [(local, local), (local, local + 1)]);
        let apart = locals.flat_map(|(a, b)| (0..=a).map(move |apart| ((0, a), (apart, b))));
        apart.filter(|(a, b)| a != b).collect()
    }

    /// The worst delta over pairs, each data set enumerated once.
    fn worst(eps: &Ratio, pairs: &[(Seen, Seen)], run: impl Fn(Seen, &mut Tape) -> Release) -> Interval {
        let mut seen: BTreeMap<Seen, Pmf<Release>> = BTreeMap::new();
        for &data in pairs.iter().flat_map(|(a, b)| [a, b]) {
            seen.entry(data).or_insert_with(|| enumerate(&ratio("1e-8"), |tape| run(data, tape)));
        }
        let deltas = pairs.iter().map(|(a, b)| delta_between(eps, &seen[a], &seen[b]));
        deltas.fold(Interval::zero(AUDIT_BITS), |worst, delta| worst.max(&delta))
    }

    fn shipped(calibrated: &Calibrated) -> impl Fn(Seen, &mut Tape) -> Release {
        |(value, local), tape| calibrated.run(&Ratio::from(value), &Ratio::from(local), tape)
    }

    #[test]
    fn exact_audit_over_every_value_and_local_bound() {
        // A local bound may exceed what is answered; a floor near zero makes a failed bound show everything.
        for (delta, ceiling, floor) in [
            ("0.05", global(3), "1"),
            ("0.05", global(3), "0.05"),
            ("0.2", Ceiling::RefuseAbove(ratio("1.5")), "0.05"),
        ] {
            let shape =
                BoundLocalSensitivity { floor: ratio(floor), ..shape("1", "2", delta, ceiling.clone()) };
            let calibrated = shape.calibrate().unwrap();
            let most = if ceiling == global(3) { 2 } else { 3 };
            let delta = worst(&ratio("3"), &pairs(most), shipped(&calibrated));
            assert!(delta.upper() <= &ratio("1e-5") + shape.delta.ratio(), "{ceiling:?} {}", delta.to_f64());
            // With hardly any noise below the bound, the whole chance of a failed bound counts.
            let failed = (-1f64 - calibrated.offset().to_f64()).exp() / (1.0 + (-1f64).exp());
            assert!(floor == "1" || delta.lower().to_f64() > 0.99 * failed, "{}", delta.to_f64());
        }
    }

    #[test]
    fn exact_audit_over_all_graphs_of_four_people() {
        let edges: Vec<(usize, usize)> = (0..4).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        let seen = |bits: usize| {
            let chosen = edges.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
            let graph = Graph::new(4, chosen.map(|(_, &edge)| edge));
            let count = |number: u64| i64::try_from(number).unwrap();
            (count(graph.triangles()), count(graph.local_sensitivity()))
        };
        let steps = |bits: usize| (0..6).map(move |edge| (seen(bits), seen(bits ^ (1 << edge))));
        let mut pairs: Vec<_> = (0..64).flat_map(steps).filter(|(a, b)| a != b).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let shape = shape("1", "1", "0.1", global(2));
        let delta = worst(&ratio("2"), &pairs, shipped(&shape.calibrate().unwrap()));
        assert!(delta.upper() <= ratio("0.1"), "{}", delta.to_f64());
    }

    #[test]
    fn a_mutant_without_the_logarithm_of_delta_is_caught() {
        let shape = BoundLocalSensitivity { floor: ratio("0.05"), ..shape("1", "2", "0.05", global(2)) };
        let mutant = Calibrated { offset: 0, ..shape.calibrate().unwrap() };
        let delta = worst(&ratio("3"), &pairs(1), shipped(&mutant));
        // P(Z < 0) = q/(1+q) = .269 instead of .05.
        assert!(delta.lower() > ratio("0.26"), "{}", delta.to_f64());
        let off_by_one = Calibrated { offset: shape.calibrate().unwrap().offset - 1, ..mutant };
        assert!(worst(&ratio("3"), &pairs(1), shipped(&off_by_one)).lower() > ratio("0.05"));
    }

    #[test]
    fn a_mutant_with_noise_at_the_local_bound_itself_is_caught() {
        let calibrated = shape("1", "2", "0.05", global(4)).calibrate().unwrap();
        let mutant = |(value, local): Seen, tape: &mut Tape| {
            let bound = calibrated.bound_of(calibrated.noisy_bound(&Ratio::from(local), tape));
            let noisy = calibrated.noisy_value(&Ratio::from(value), &Ratio::from(local.max(1)), tape);
            Release { bound, value: Outcome::Value(noisy) }
        };
        let delta = worst(&ratio("3"), &pairs(2), mutant);
        assert!(delta.lower() > ratio("0.06"), "{}", delta.to_f64());
    }

    #[test]
    fn values_between_grid_points_move_no_farther_than_their_bound() {
        let shape = BoundLocalSensitivity {
            grid: ratio("0.5"),
            values: Values::Any,
            floor: ratio("0.1"),
            ..shape("2", "2", "0.1", global(2))
        };
        let calibrated = shape.calibrate().unwrap();
        let pmf = |value: &str, local: &str| {
            enumerate(&ratio("1e-8"), |tape| calibrated.run(&ratio(value), &ratio(local), tape))
        };
        for (a, b) in [
            (("0.2", "0.6"), ("0.8", "1.4")),
            (("0", "0.3"), ("0.3", "1.2")),
            (("0.24", "0.02"), ("0.26", "0.9")),
        ] {
            let delta = delta_between(&ratio("4"), &pmf(a.0, a.1), &pmf(b.0, b.1));
            assert!(delta.upper() <= ratio("0.1"), "{a:?} {b:?} {}", delta.to_f64());
        }
    }

    #[test]
    fn accuracy_holds_and_its_inverse_agrees() {
        let shape = shape("1", "1", "0.01", Ceiling::RefuseAbove(ratio("30")));
        let calibrated = shape.calibrate().unwrap();
        let (beta, local) = (ratio("0.1"), ratio("2"));
        let bound = calibrated.accuracy(&local, &beta).unwrap();
        let pmf = enumerate(&ratio("1e-7"), |tape| calibrated.run(&Ratio::zero(), &local, tape));
        let off = pmf.iter().filter(|(release, _)| match &release.value {
            Outcome::Value(value) => value.abs() > bound,
            Outcome::Refused => true,
        });
        assert!(off.map(|(_, mass)| mass.to_f64()).sum::<f64>() <= 0.1);
        assert!(calibrated.accuracy(&ratio("30"), &beta).is_none());
        let eps = shape.eps_for(&local, &bound, &beta).unwrap();
        assert!(*eps.ratio() <= ratio("2") && *eps.ratio() > ratio("1"), "{eps}");
        assert!(shape.eps_for(&local, &ratio("-1"), &beta).is_none());
        // The error bar of a release is that of Laplace noise at its bound: P(|Z| > 32) = .0474 at scale 10.
        assert_eq!(calibrated.error_given(&ratio("10"), &ratio("0.05")), ratio("30"));
    }

    #[test]
    fn a_scripted_run() {
        // A strip of one, a negative sign: the bound is 3 + 1 - 1. At that scale a strip of two: the value is 7 + 2.
        let calibrated = shape("1", "1", "0.26", global(9)).calibrate().unwrap();
        let words = vec![1 << 58, 1 << 63, 1 << 57, 0];
        let release = calibrated.run(&ratio("7"), &ratio("3"), &mut ScriptedWords::new(words));
        assert_eq!(release.bound, ratio("3"));
        assert_eq!(release.value, Outcome::Value(ratio("9")));
    }

    #[test]
    fn a_floor_without_a_noise_is_refused_before_it_is_drawn() {
        // The largest bound, 2^52 steps, has a noise; the floor between two steps has none.
        let ceiling = Ceiling::RefuseAbove(ratio("4503599627370496.95"));
        let floor = ratio("4503599627370496.9");
        let error =
            BoundLocalSensitivity { floor, ..shape("1", "1", "1e-6", ceiling) }.calibrate().unwrap_err();
        assert!(
            error.to_string().starts_with("floor 4503599627370496.9 is not accepted: noise of that scale")
        );
    }

    #[test]
    fn the_ends_are_public_whatever_the_local_bound() {
        for (local, sign) in [("1e300", 0), ("-1e300", 1 << 63)] {
            for ceiling in [global(9), Ceiling::RefuseAbove(ratio("9"))] {
                let calibrated = shape("1", "1", "0.26", ceiling).calibrate().unwrap();
                let release = calibrated.run(
                    &ratio("1e200"),
                    &ratio(local),
                    &mut ScriptedWords::new(vec![1 << 58, sign, 1 << 58, sign]),
                );
                assert!(release.bound >= Ratio::one() && release.bound <= ratio("10"));
            }
        }
    }
}
