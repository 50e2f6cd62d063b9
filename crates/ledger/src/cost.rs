//! What a charge costs and what was spent, in exact numbers that a line of text can hold.
//!
//! # Guarantee
//!
//! What is written for a cost is never below it, what is written for a limit never above it, and a written
//! sum is never below the sum of what is written. All three are exact wherever the text stays short: for
//! every decimal and fraction that a person types, and for every sum of decimals of up to sixty places.

use equipoise_core::{
    loss::{Amount, Approx, Loss, Zcdp, renyi_pure_upper},
    ratio::Ratio,
};
use serde_json::{Value, json};

/// A number whose text is longer than this is rounded when it enters the ledger.
pub(super) const LONGEST_NUMBER: usize = 100;
/// A sum whose text is longer than this is rounded up. `Ratio` reads up to 400 characters.
const LONGEST_SUM: usize = 200;
/// No cost and no limit is larger than 10^12: sums of them stay short for ever.
pub(super) const LARGEST: u64 = 1_000_000_000_000;
/// Places after the point that rounding leaves.
const PLACES: usize = 60;

/// The loss of one charge, or of many together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cost {
    /// In (epsilon, delta).
    pub approx: Approx,
    /// As zero-concentrated loss, where one is known; in a sum, where it is known for every charge.
    pub zcdp: Option<Zcdp>,
}

impl Cost {
    /// Nothing at all.
    pub fn nothing() -> Self {
        let zero = Amount::zero;
        Self {
            approx: Approx { eps: zero(), delta: zero() },
            zcdp: Some(Zcdp { rho: zero(), delta: zero() }),
        }
    }

    /// The two together.
    #[must_use]
    pub(super) fn plus(&self, other: &Self) -> Self {
        Self {
            approx: Approx {
                eps: sum_up(&self.approx.eps, &other.approx.eps),
                delta: sum_up(&self.approx.delta, &other.approx.delta),
            },
            zcdp: self
                .zcdp
                .as_ref()
                .zip(other.zcdp.as_ref())
                .map(|(a, b)| Zcdp { rho: sum_up(&a.rho, &b.rho), delta: sum_up(&a.delta, &b.delta) }),
        }
    }

    /// What it is at one Renyi order, outside an event of a probability: (divergence, probability). Not below.
    #[must_use]
    pub(super) fn at_order(&self, order: &Ratio) -> (Amount, Amount) {
        let pure = || (renyi_pure_upper(&self.approx.eps, order), &self.approx.delta);
        let line = |loss: &Zcdp| order * loss.rho.ratio();
        let (bound, delta) = match &self.zcdp {
            Some(loss) if loss.delta < self.approx.delta => (line(loss), &loss.delta),
            Some(loss) if loss.delta == self.approx.delta => (line(loss).min(pure().0), &loss.delta),
            _ => pure(),
        };
        // Always with as many places, so that sums of them are exact in any order.
        (amount(places_up(&bound)), amount(places_up(delta.ratio())))
    }

    /// With `count` more of the other.
    #[must_use]
    pub(super) fn plus_times(&self, other: &Self, count: u64) -> Self {
        let times = |one: &Amount| amount(one.ratio() * &Ratio::from(count));
        let (approx, zcdp) = (&other.approx, &other.zcdp);
        self.plus(&Self {
            approx: Approx { eps: times(&approx.eps), delta: times(&approx.delta) },
            zcdp: zcdp.as_ref().map(|loss| Zcdp { rho: times(&loss.rho), delta: times(&loss.delta) }),
        })
    }

    /// As it is written down: not below. Only for what is accountable.
    #[must_use]
    pub(super) fn written_up(&self) -> Self {
        let up = |value: &Amount| amount(written(value.ratio(), LONGEST_NUMBER));
        Self {
            approx: Approx { eps: up(&self.approx.eps), delta: up(&self.approx.delta) },
            zcdp: self.zcdp.as_ref().map(|loss| Zcdp { rho: up(&loss.rho), delta: up(&loss.delta) }),
        }
    }

    /// Is every part small enough to be added up for ever?
    pub(super) fn is_accountable(&self) -> bool {
        let fits = |value: &Amount| *value.ratio() <= Ratio::from(LARGEST);
        let (approx, zcdp) = (&self.approx, self.zcdp.as_ref());
        fits(&approx.eps)
            && fits(&approx.delta)
            && zcdp.is_none_or(|loss| fits(&loss.rho) && fits(&loss.delta))
    }

    pub(super) fn to_json(&self) -> Value {
        let mut value = approx_json(&self.approx);
        if let Some(loss) = &self.zcdp {
            value["rho"] = text(&loss.rho).into();
            value["rho_delta"] = text(&loss.delta).into();
        }
        value
    }

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let zcdp = match value.get("rho") {
            None => None,
            Some(_) => Some(Zcdp { rho: read(value, "rho")?, delta: read(value, "rho_delta")? }),
        };
        Some(Self { approx: approx_from_json(value)?, zcdp })
    }
}

impl From<Approx> for Cost {
    /// With the zero-concentrated loss that every (epsilon, delta) loss has.
    fn from(approx: Approx) -> Self {
        let zcdp = Loss::Approx(approx.clone()).to_zcdp();
        Self { approx, zcdp }
    }
}

pub(super) fn approx_json(loss: &Approx) -> Value {
    json!({ "epsilon": text(&loss.eps), "delta": text(&loss.delta) })
}

pub(super) fn approx_from_json(value: &Value) -> Option<Approx> {
    Some(Approx { eps: read(value, "epsilon")?, delta: read(value, "delta")? })
}

/// The exact number, as text that `Ratio` and other programs read.
pub(super) fn text(value: &Amount) -> String {
    value.ratio().to_string()
}

pub(super) fn read(value: &Value, name: &str) -> Option<Amount> {
    let text = value.get(name)?.as_str()?;
    let number: Ratio = text.parse().ok()?;
    // One number, one text: an edit that keeps the value is still an edit.
    (number.to_string() == text).then(|| Amount::new(number).ok())?
}

pub(super) fn sum_up(one: &Amount, two: &Amount) -> Amount {
    amount(written(&(one.ratio() + two.ratio()), LONGEST_SUM))
}

/// Itself where its text is short enough, else the next multiple of 10^-60 above it.
pub(super) fn written(value: &Ratio, longest: usize) -> Ratio {
    if value.to_string().len() <= longest {
        return value.clone();
    }
    places_up(value)
}

/// The next multiple of 10^-60 that is not below.
fn places_up(value: &Ratio) -> Ratio {
    value.to_decimal_up(PLACES).parse().expect("sixty places of a bounded number are read back")
}

pub(super) fn amount(value: Ratio) -> Amount {
    Amount::new(value).expect("sums of nonnegative numbers are not negative")
}

#[cfg(test)]
mod tests {
    use super::{super::limit::Limit, *};
    use proptest::prelude::*;

    fn number(text: &str) -> Amount {
        amount(text.parse().unwrap())
    }

    fn cost(eps: &str, delta: &str) -> Cost {
        Cost::from(Approx { eps: number(eps), delta: number(delta) })
    }

    #[test]
    fn three_thirds_are_one() {
        let third = cost("1/3", "1e-7").written_up();
        let sum = third.plus(&third).plus(&third);
        assert_eq!(sum.approx, cost("1", "3e-7").approx);
        assert_eq!(sum.to_json()["epsilon"], "1");
    }

    #[test]
    fn long_numbers_are_rounded_against_ourselves() {
        let long = format!("1/{}", "7".repeat(120));
        let up = cost(&long, "1e-200").written_up();
        assert_eq!(up.approx, cost("1e-60", "1e-60").approx);
        let Limit::Approx(down) = Limit::Approx(cost(&long, "1e-200").approx).written_down() else {
            unreachable!()
        };
        assert_eq!(down, cost("0", "0").approx);
        assert!(!cost("1e13", "0").is_accountable() && cost("1e12", "0").is_accountable());
        assert_eq!(
            Limit::Approx(cost("1e400", "1e400").approx).written_down(),
            Limit::Approx(cost("1e12", "1e12").approx)
        );
    }

    #[test]
    fn one_number_has_one_text() {
        let good = json!({ "epsilon": "0.5", "delta": "0" });
        assert!(Cost::from_json(&good).is_some_and(|cost| cost.zcdp.is_none()));
        for bad in ["0.50", "1/2", " 0.5", "+0.5", "5e-1", "-0.5", "x", ""] {
            assert!(Cost::from_json(&json!({ "epsilon": bad, "delta": "0" })).is_none(), "{bad}");
        }
        assert!(Cost::from_json(&json!({ "epsilon": 0.5, "delta": "0" })).is_none());
    }

    #[test]
    fn a_sum_is_concentrated_where_every_part_is() {
        let mut plain = cost("1", "0");
        plain.zcdp = None;
        assert!(cost("1", "0").plus(&cost("1", "0")).zcdp.is_some());
        assert!(cost("1", "0").plus(&plain).zcdp.is_none());
    }

    proptest! {
        /// Sums of decimals and fractions are exact in any order, or above the truth by at most 1e-60 each.
        #[test]
        fn written_sums_are_exact_or_above(
            parts in proptest::collection::vec((0u64..u64::MAX, 1u64..u64::MAX), 1..60)
        ) {
            let value = |&(num, den): &(u64, u64)| Ratio::from(num % 1_000_000) / Ratio::from(den % 1_000_000 + 1);
            let decimal = |&(num, _): &(u64, u64)| Ratio::from(num % 1_000_000_000) / Ratio::from(1_000_000_000u64);
            let whole: Ratio = parts.iter().map(decimal).sum();
            let add = |sum: Cost, eps: Ratio| {
                let one = Cost { approx: Approx { eps: amount(eps), delta: Amount::zero() }, zcdp: None };
                sum.plus(&one.written_up())
            };
            let sum = parts.iter().map(decimal).fold(Cost::nothing(), add);
            prop_assert_eq!(sum.approx.eps.ratio(), &whole);

            let whole: Ratio = parts.iter().map(value).sum();
            let sum = parts.iter().map(value).fold(Cost::nothing(), add);
            let excess = sum.approx.eps.ratio() - &whole;
            let each: Ratio = "1e-60".parse().unwrap();
            prop_assert!(!excess.is_negative() && excess <= each * Ratio::from(parts.len() as u64));
            prop_assert_eq!(Cost::from_json(&sum.to_json()), Some(sum));
        }
    }
}
