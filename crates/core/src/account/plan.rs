//! The total of a fixed list of releases under every accountant.
//!
//! # Guarantee
//!
//! Each total is a true (epsilon, delta) of all releases together, as long as their parameters were fixed beforehand; so
//! the smallest of them is one too.

use super::{Event, Homogeneous, LossDistribution};
use crate::{
    loss::{Amount, Approx, Delta, Loss, Renyi, Zcdp},
    ratio::Ratio,
};

/// Events and how often each happens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// In the order in which they were written.
    pub events: Vec<(Event, u64)>,
}

/// A way to add losses up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accountant {
    /// The sum of epsilons and of deltas.
    Basic,
    /// The best that holds for all releases of one and the same (epsilon, delta).
    Optimal,
    /// The sum of rhos.
    Zcdp,
    /// The sum of divergences at every order.
    Renyi,
    /// The distribution of the sum of losses.
    LossDistribution,
}

impl Accountant {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Basic, Self::Optimal, Self::Zcdp, Self::Renyi, Self::LossDistribution];

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Optimal => "optimal",
            Self::Zcdp => "zcdp",
            Self::Renyi => "renyi",
            Self::LossDistribution => "pld",
        }
    }
}

/// What one accountant says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Total {
    /// Which.
    pub accountant: Accountant,
    /// The total; `None` where it does not apply or has no epsilon at this delta.
    pub loss: Option<Approx>,
}

impl Plan {
    /// Every accountant's total at this delta.
    pub fn totals(&self, delta: &Delta) -> Vec<Total> {
        let total = |accountant| Total { accountant, loss: self.total(accountant, delta) };
        Accountant::ALL.into_iter().map(total).collect()
    }

    /// One accountant's total at this delta.
    pub fn total(&self, accountant: Accountant, delta: &Delta) -> Option<Approx> {
        match accountant {
            Accountant::Basic => self.basic(delta),
            Accountant::Optimal => self.optimal(delta),
            Accountant::Zcdp => {
                let nothing = Zcdp { rho: Amount::zero(), delta: Amount::zero() };
                let add = |sum: Zcdp, (event, times): &(Event, u64)| {
                    Some(sum.compose(&event.zcdp()?.times(*times)))
                };
                self.events.iter().try_fold(nothing, add)?.to_approx(delta)
            }
            Accountant::Renyi => {
                let add = |sum: Renyi, (event, times): &(Event, u64)| {
                    Some(sum.compose(&event.renyi()?.times(*times)))
                };
                self.events.iter().try_fold(Loss::nothing().to_renyi(), add)?.to_approx(delta)
            }
            Accountant::LossDistribution => {
                LossDistribution::new(self.events.iter().cloned()).eps_above(delta)
            }
        }
    }

    /// The smallest total.
    pub fn tightest(totals: &[Total]) -> Option<&Total> {
        totals.iter().filter(|total| total.loss.is_some()).min_by(|a, b| {
            let eps = |total: &Total| total.loss.as_ref().map(|loss| loss.eps.clone());
            eps(a).cmp(&eps(b))
        })
    }

    /// Events without an (epsilon, delta) of their own share what the others leave of delta, equally.
    fn basic(&self, delta: &Delta) -> Option<Approx> {
        let own = |(event, times): &(Event, u64)| event.approx().map(|loss| loss.times(*times));
        let known = self.events.iter().filter_map(own);
        let sum =
            known.fold(Approx { eps: Amount::zero(), delta: Amount::zero() }, |sum, loss| sum.compose(&loss));
        let without = self.events.iter().filter(|(event, _)| event.approx().is_none());
        let without: Ratio = without.map(|(_, times)| Ratio::from(*times)).sum();
        if without.is_zero() {
            return (sum.delta.ratio() <= delta.ratio()).then_some(sum);
        }
        let left = delta.ratio() - sum.delta.ratio();
        let share = left.is_positive().then(|| Delta::new(left / without).ok())??;
        self.events.iter().filter(|(event, _)| event.approx().is_none()).try_fold(
            sum,
            |sum, (event, times)| {
                let one = event.zcdp().and_then(|loss| loss.to_approx(&share));
                let one = one.or_else(|| event.renyi()?.to_approx(&share))?;
                Some(sum.compose(&one.times(*times)))
            },
        )
    }

    fn optimal(&self, delta: &Delta) -> Option<Approx> {
        /// Beyond, the exact sum takes long and the distribution says the same.
        const MOST: u64 = 4096;
        let (first, _) = self.events.first()?;
        let each = first.approx()?;
        let count = self.events.iter().try_fold(0u64, |count, (event, times)| {
            (event.approx()? == each).then(|| count.saturating_add(*times))
        })?;
        (count <= MOST).then(|| Homogeneous { each, count }.eps_upper(delta))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eps_of(plan: &Plan, delta: &str) -> Vec<Option<f64>> {
        let totals = plan.totals(&delta.parse().unwrap());
        totals.iter().map(|total| total.loss.as_ref().map(|loss| loss.eps.ratio().to_f64())).collect()
    }

    #[test]
    fn a_hundred_releases_of_a_tenth() {
        let tenth = Amount::new("0.1".parse().unwrap()).unwrap();
        let event = Event::Approx(Approx { eps: tenth, delta: Amount::zero() });
        let eps = eps_of(&Plan { events: vec![(event.clone(), 40), (event, 60)] }, "1e-6");
        for (got, figure) in eps.iter().zip([10.0, 4.7746, 5.22, 5.073, 4.7746]) {
            assert!((got.unwrap() - figure).abs() < 4e-3, "{eps:?}");
        }
    }

    #[test]
    fn the_number_of_releases_does_not_wrap_around() {
        let noisy = |ratio| (Event::Gaussian { ratio }, 1u64 << 63);
        let plan = Plan { events: vec![noisy(Ratio::one()), noisy(Ratio::new(1, 2))] };
        let basic = plan.total(Accountant::Basic, &"1e-6".parse().unwrap()).unwrap();
        assert!(basic.eps.ratio().to_f64() > 1e18, "{}", basic.eps);
    }

    #[test]
    fn each_accountant_says_where_it_does_not_apply() {
        let gaussian = Event::Gaussian { ratio: Ratio::new(1, 20) };
        let sampled = Event::Sampled { base: Box::new(gaussian.clone()), rate: "0.1".parse().unwrap() };
        let plan = Plan { events: vec![(gaussian, 100), (sampled, 10)] };
        let eps = eps_of(&plan, "1e-6");
        assert!(eps[1].is_none() && eps[2].is_none() && eps[0] > eps[3] && eps[3] > eps[4], "{eps:?}");
        let totals = plan.totals(&"1e-6".parse().unwrap());
        assert_eq!(Plan::tightest(&totals).unwrap().accountant, Accountant::LossDistribution);
        assert!(eps_of(&plan, "0").iter().all(Option::is_none));
        assert_eq!(eps_of(&Plan::default(), "1e-6")[0], Some(0.0));
    }

    /// Two releases with a delta of their own leave eight tenths, which three without one share: each is read at a third of that.
    #[test]
    fn the_sum_shares_out_what_is_left_of_delta() {
        let amount = |text: &str| Amount::new(text.parse().unwrap()).unwrap();
        let own = Event::Approx(Approx { eps: amount("0.1"), delta: amount("1e-7") });
        let noisy = Event::Gaussian { ratio: Ratio::new(1, 20) };
        let plan = Plan { events: vec![(own, 2), (noisy.clone(), 3)] };
        let total = plan.total(Accountant::Basic, &"1e-6".parse().unwrap()).unwrap();
        let share = Delta::new(Ratio::new(8, 30_000_000)).unwrap();
        let one = noisy.zcdp().unwrap().to_approx(&share).unwrap();
        assert_eq!(*total.eps.ratio(), one.times(3).eps.ratio() + &Ratio::new(1, 5));
        assert_eq!(total.delta.ratio().to_string(), "0.000001");
        // Where nothing is left for them there is no total; without them nothing needs to be left.
        assert_eq!(plan.total(Accountant::Basic, &"2e-7".parse().unwrap()), None);
        let alone = Plan { events: plan.events[..1].to_vec() };
        let total = |delta: &str| alone.total(Accountant::Basic, &delta.parse().unwrap());
        assert_eq!(total("2e-7").map(|loss| loss.eps.to_string()), Some("0.2".into()));
        assert_eq!(total("1.9e-7"), None);
    }

    /// The optimal sum is proved for equal releases alone.
    #[test]
    fn unequal_releases_are_not_taken_as_equal() {
        let amount = |text: &str| Amount::new(text.parse().unwrap()).unwrap();
        let event = |eps: &str, delta: &str| Event::Approx(Approx { eps: amount(eps), delta: amount(delta) });
        let optimal = |events: Vec<(Event, u64)>| {
            Plan { events }.total(Accountant::Optimal, &"1e-3".parse().unwrap()).map(|loss| loss.eps)
        };
        let first = event("0.1", "1e-9");
        for other in [event("0.2", "1e-9"), event("0.1", "1e-8"), event("0.1", "0")] {
            assert_eq!(optimal(vec![(first.clone(), 5), (other, 5)]), None);
        }
        let together = optimal(vec![(first.clone(), 5), (first.clone(), 7)]);
        assert!(together.is_some() && together == optimal(vec![(first.clone(), 12)]));
        assert!(together > optimal(vec![(first.clone(), 11)]));
        assert!(optimal(vec![(first.clone(), 4097)]).is_none() && optimal(Vec::new()).is_none());
    }
}
