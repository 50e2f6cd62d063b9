//! What a release promises, to whom, as one sentence.

use super::Loss;
use crate::adjacency::{Adjacency, Unit};
use std::fmt;

/// A loss together with what it is a loss against.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guarantee {
    /// How much may be learned.
    pub loss: Loss,
    /// Which data sets are hard to tell apart.
    pub adjacency: Adjacency,
    /// Whose records.
    pub unit: Unit,
}

impl Guarantee {
    /// The guarantee under replace that follows from this one: a replacement is a removal and an addition.
    ///
    /// Under replace it is already there. `None` where the loss has no bound for two steps: convert it to
    /// (epsilon, delta) first. Nothing leads from replace to add/remove.
    pub fn to_replace(&self) -> Option<Self> {
        let loss = match self.adjacency {
            Adjacency::Replace => self.loss.clone(),
            Adjacency::AddRemove => self.loss.two_steps()?,
        };
        Some(Self { loss, adjacency: Adjacency::Replace, unit: self.unit.clone() })
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for ", self.loss)?;
        match &self.unit {
            Unit::Row => f.write_str("one row")?,
            Unit::Column(name) => write!(f, "all rows of one {name}")?,
        }
        f.write_str(match self.adjacency {
            Adjacency::AddRemove => ", added or removed",
            Adjacency::Replace => ", replaced",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        loss::{Amount, Renyi, RenyiCurve, Zcdp},
        ratio::Ratio,
    };

    fn guarantee(loss: Loss) -> Guarantee {
        Guarantee { loss, adjacency: Adjacency::AddRemove, unit: Unit::Row }
    }

    fn approx(eps: &str, delta: &str) -> Loss {
        Loss::approx(&eps.parse().unwrap(), &delta.parse().unwrap())
    }

    #[test]
    fn guarantees_read_as_sentences() {
        let failing = |rho: &str| {
            let rho = Amount::new(rho.parse().unwrap()).unwrap();
            Loss::Zcdp(Zcdp { rho, delta: Amount::new(Ratio::new(1, 1000)).unwrap() })
        };
        let third = Amount::new(Ratio::new(1, 3)).unwrap();
        let curve = Loss::Renyi(Renyi { curve: RenyiCurve::zcdp(&third), delta: Amount::zero() });
        let unknown = Renyi { curve: RenyiCurve::from_upper_bounds(|_| None), delta: Amount::zero() };
        for (loss, sentence) in [
            (approx("1", "0.000001"), "(1, 0.000001)-differential privacy"),
            (approx("1", "1e-30"), "(1, 1e-30)-differential privacy"),
            (approx("0.5", "0"), "0.5-differential privacy"),
            (Loss::zcdp(&"0.1".parse().unwrap()), "0.1-zero-concentrated differential privacy"),
            (failing("1/3"), "0.001-approximate 0.333334-zero-concentrated differential privacy"),
            (curve, "Renyi differential privacy (0.666667 at order 2)"),
            (Loss::Renyi(unknown), "Renyi differential privacy (no bound)"),
        ] {
            assert_eq!(guarantee(loss).to_string(), format!("{sentence} for one row, added or removed"));
        }
        let mut people = guarantee(approx("1", "0"));
        (people.unit, people.adjacency) = (Unit::Column("user_id".into()), Adjacency::Replace);
        assert_eq!(people.to_string(), "1-differential privacy for all rows of one user_id, replaced");
    }

    #[test]
    fn a_replacement_is_two_steps() {
        let replaced = guarantee(approx("1", "1e-6")).to_replace().unwrap();
        assert_eq!(replaced.to_string(), "(2, 3.71829e-6)-differential privacy for one row, replaced");
        assert_eq!(replaced.to_replace(), Some(replaced.clone()));
        let concentrated = guarantee(Loss::zcdp(&"0.1".parse().unwrap())).to_replace().unwrap();
        assert_eq!(concentrated.loss, Loss::zcdp(&"0.4".parse().unwrap()));
        let zcdp = Zcdp { rho: Amount::zero(), delta: Amount::new(Ratio::new(1, 10)).unwrap() };
        assert!(guarantee(Loss::Zcdp(zcdp)).to_replace().is_none());
    }
}
