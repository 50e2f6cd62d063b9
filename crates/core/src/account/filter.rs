//! A filter: releases go on, with parameters chosen along the way, until the next would exceed a limit fixed beforehand.
//!
//! Source: Rogers, Roth, Ullman and Vadhan, "Privacy odometers and filters" (2016), for the basic sum; Feldman and
//! Zrnic, "Individual privacy accounting via a Renyi filter" (2021), for Renyi and zCDP; Whitehouse, Ramdas,
//! Rogers and Wu, "Fully-adaptive composition in differential privacy" (2023), for their delta-approximate forms.
//!
//! # Guarantee
//!
//! Let an analyst choose mechanisms and their parameters one after the other, each with all earlier answers in
//! hand, and run exactly those that [`Filter::admit`] accepts. Everything seen together has at most the loss
//! `limit`: the limit of the family it is written in, (epsilon, delta), zCDP or Renyi.
//!
//! # Why
//!
//! 1. Basic: each release is, up to its delta, a pure one; on every transcript the log-ratios add up to at most
//!    the admitted epsilons, and the deltas to at most the limit's.
//! 2. Renyi at one order a: e^((a-1)·(loss so far - divergences so far)) is a supermartingale under the second data
//!    set's law, tilted; stopped while the divergences are at most the limit's it has a mean of at most one.
//! 3. A Renyi limit holds at every order it names because the sum is held at every one of them; an order
//!    without a limit is not watched. zCDP is the curve `order·rho`.
//! 4. What fails with probability delta is split off first, on the same transcript for both data sets.
//!
//! Watching several orders and going on while *any* is within its limit is not covered by step 3.

use crate::{
    loss::{Amount, Approx, Delta, Eps, Loss, ParameterError, Renyi, RenyiCurve, Zcdp, rho_for},
    ratio::Ratio,
};
use std::fmt;

/// A limit and what was spent of it. Plain data: a ledger may store both and build it again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Filter {
    /// What may be lost in all, fixed beforehand; its family is the one in which sums are held.
    pub limit: Loss,
    /// The sum of what was admitted, in the family of the limit.
    pub spent: Loss,
}

/// The release would exceed the limit, or its loss has no bound in the limit's family. Nothing was spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exceeded {
    /// What was spent before.
    pub spent: Loss,
    /// What was asked for: in the limit's family, or as it is where it has no bound there.
    pub requested: Loss,
    /// What is left; see [`Filter::remaining`].
    pub remaining: Loss,
    /// The request has no bound in the limit's family.
    pub foreign: bool,
}

impl Filter {
    /// Nothing spent yet.
    pub fn new(limit: Loss) -> Self {
        let spent = nothing_like(&limit);
        Self { limit, spent }
    }

    /// A concentrated filter whose limit implies (epsilon, delta): `share` of delta, between zero and one, is kept
    /// for releases that have a delta of their own.
    pub fn concentrated(eps: &Eps, delta: &Delta, share: &Ratio) -> Result<Self, ParameterError> {
        let own = own_share(delta, share)?;
        let rho = rho_for(eps, &Delta::new(delta.ratio() - own.ratio())?)?;
        Ok(Self::new(Loss::Zcdp(Zcdp { rho: (&rho).into(), delta: own })))
    }

    /// A filter at one Renyi order, the one of [`RenyiCurve::orders`] at `index`, whose limit implies
    /// (epsilon, delta); `share` as above. `None` where this order cannot reach that epsilon.
    pub fn at_order(eps: &Eps, delta: &Delta, share: &Ratio, index: usize) -> Option<Self> {
        let own = own_share(delta, share).ok()?;
        let order = RenyiCurve::orders().get(index)?;
        let left = Delta::new(delta.ratio() - own.ratio()).ok().filter(|left| !left.is_zero())?;
        let bound = eps.ratio() - crate::loss::order_cost_upper(order, left.ratio());
        let bound = bound.is_positive().then(|| crate::loss::significant_down(&bound, 128))?;
        let curve =
            RenyiCurve::from_amounts(|i| (i == index).then(|| Amount::new(bound.clone()).expect("positive")));
        Some(Self::new(Loss::Renyi(Renyi { curve, delta: own })))
    }

    /// The filter at the order that admits the most small releases, whose loss grows as their order does.
    /// `None` where no order reaches that epsilon, as without a delta.
    pub fn at_best_order(eps: &Eps, delta: &Delta, share: &Ratio) -> Option<Self> {
        let orders = RenyiCurve::orders().len();
        let filters = (0..orders).filter_map(|index| Self::at_order(eps, delta, share, index));
        let small_releases = |filter: &Self| {
            let Loss::Renyi(limit) = &filter.limit else { unreachable!("a filter at an order") };
            let watched = limit.curve.iter().find_map(|(order, bound)| Some((order, bound?)));
            watched.map(|(order, bound)| bound.ratio() / order)
        };
        filters.max_by_key(small_releases)
    }

    /// This filter after a release of this loss, or why the release must not run.
    pub fn admit(&self, request: &Loss) -> Result<Self, Box<Exceeded>> {
        let refuse = |requested: &Loss, foreign: bool| {
            let (spent, requested, remaining) = (self.spent.clone(), requested.clone(), self.remaining());
            Box::new(Exceeded { spent, requested, remaining, foreign })
        };
        let Some(cost) = in_family(&self.limit, request) else { return Err(refuse(request, true)) };
        let spent = self.spent.compose(&cost);
        if within(&spent, &self.limit) {
            Ok(Self { limit: self.limit.clone(), spent })
        } else {
            Err(refuse(&cost, false))
        }
    }

    /// The largest loss that would still be admitted: the limit minus what was spent, number by number.
    pub fn remaining(&self) -> Loss {
        match (&self.limit, &self.spent) {
            (Loss::Approx(limit), Loss::Approx(spent)) => Loss::Approx(Approx {
                eps: minus(&limit.eps, &spent.eps),
                delta: minus(&limit.delta, &spent.delta),
            }),
            (Loss::Zcdp(limit), Loss::Zcdp(spent)) => Loss::Zcdp(Zcdp {
                rho: minus(&limit.rho, &spent.rho),
                delta: minus(&limit.delta, &spent.delta),
            }),
            (Loss::Renyi(limit), Loss::Renyi(spent)) => {
                let left: Vec<Option<Amount>> = limit
                    .curve
                    .iter()
                    .zip(spent.curve.iter())
                    .map(|((_, limit), (_, spent))| {
                        limit.map(|limit| spent.map_or_else(Amount::zero, |spent| minus(limit, spent)))
                    })
                    .collect();
                Loss::Renyi(Renyi {
                    curve: RenyiCurve::from_amounts(|i| left[i].clone()),
                    delta: minus(&limit.delta, &spent.delta),
                })
            }
            _ => unreachable!("spent is kept in the limit's family"),
        }
    }
}

/// What releases with a delta of their own may use.
fn own_share(delta: &Delta, share: &Ratio) -> Result<Amount, ParameterError> {
    if share.is_negative() || *share >= Ratio::one() {
        let next = "give 0, or a part below 1 of delta that releases of their own delta may use";
        return Err(ParameterError::out_of_range("share", share, next));
    }
    Amount::new(delta.ratio() * share)
}

fn nothing_like(limit: &Loss) -> Loss {
    match limit {
        Loss::Approx(_) => Loss::nothing(),
        Loss::Zcdp(_) => Loss::Zcdp(Zcdp { rho: Amount::zero(), delta: Amount::zero() }),
        Loss::Renyi(_) => Loss::Renyi(Loss::nothing().to_renyi()),
    }
}

/// The request in the limit's family, if it has a bound there.
fn in_family(limit: &Loss, request: &Loss) -> Option<Loss> {
    match (limit, request) {
        (Loss::Approx(_), Loss::Approx(_)) => Some(request.clone()),
        (Loss::Approx(_), _) => None,
        (Loss::Zcdp(_), _) => request.to_zcdp().map(Loss::Zcdp),
        (Loss::Renyi(_), _) => Some(Loss::Renyi(request.to_renyi())),
    }
}

/// Is every number of the sum at most the limit's?
fn within(sum: &Loss, limit: &Loss) -> bool {
    match (sum, limit) {
        (Loss::Approx(sum), Loss::Approx(limit)) => sum.eps <= limit.eps && sum.delta <= limit.delta,
        (Loss::Zcdp(sum), Loss::Zcdp(limit)) => sum.rho <= limit.rho && sum.delta <= limit.delta,
        (Loss::Renyi(sum), Loss::Renyi(limit)) => {
            let mut orders = sum.curve.iter().zip(limit.curve.iter());
            sum.delta <= limit.delta
                && limit.curve.iter().any(|(_, limit)| limit.is_some())
                && orders.all(|((_, sum), (_, limit))| {
                    limit.is_none_or(|limit| sum.is_some_and(|sum| sum <= limit))
                })
        }
        _ => false,
    }
}

/// The difference, or zero.
fn minus(limit: &Amount, spent: &Amount) -> Amount {
    Amount::clamped(limit.ratio() - spent.ratio())
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requested, remaining, spent, foreign } = self;
        if *foreign {
            return write!(
                f,
                "the request is {requested}, which has no bound in the family of the limit ({remaining} left); convert it first"
            );
        }
        write!(f, "the request is {requested}, but only {remaining} is left after {spent}; ask for less")
    }
}

impl std::error::Error for Exceeded {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Rho;

    fn approx(eps: &str, delta: &str) -> Loss {
        Loss::approx(&eps.parse().unwrap(), &delta.parse().unwrap())
    }

    fn rho(text: &str) -> Loss {
        Loss::zcdp(&text.parse::<Rho>().unwrap())
    }

    #[test]
    fn ten_tenths_fit_exactly_and_the_eleventh_does_not() {
        let mut filter = Filter::new(approx("1", "1e-6"));
        for _ in 0..10 {
            filter = filter.admit(&approx("0.1", "1e-7")).unwrap();
        }
        assert_eq!(filter.spent, filter.limit);
        let error = filter.admit(&approx("0.1", "0")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the request is 0.1-differential privacy, but only 0-differential privacy is left after (1, 0.000001)-differential privacy; ask for less"
        );
        // A refusal spends nothing, and a free release still fits.
        assert_eq!(filter.admit(&Loss::nothing()).unwrap(), filter);
    }

    #[test]
    fn each_number_of_the_limit_is_watched() {
        let filter = Filter::new(approx("1", "1e-6"));
        assert!(filter.admit(&approx("0.1", "2e-6")).is_err() && filter.admit(&approx("1.1", "0")).is_err());
        let filter = Filter::new(rho("0.5"));
        assert!(filter.admit(&approx("0.1", "1e-9")).is_err(), "a limit without delta takes no delta");
        assert!(filter.admit(&rho("0.5")).unwrap().admit(&rho("1e-30")).is_err());
    }

    #[test]
    fn a_loss_without_a_bound_in_the_family_is_foreign() {
        let error = Filter::new(approx("1", "1e-6")).admit(&rho("0.01")).unwrap_err();
        assert!(error.foreign && error.to_string().ends_with("convert it first"), "{error}");
        let curve = Loss::Renyi(rho("0.01").to_renyi());
        assert!(Filter::new(rho("1")).admit(&curve).unwrap_err().foreign);
        assert!(Filter::new(curve.clone()).admit(&rho("0.01")).is_ok());
    }

    #[test]
    fn a_concentrated_filter_keeps_what_it_promises_and_admits_more() {
        let (eps, delta) = ("1".parse().unwrap(), "1e-6".parse().unwrap());
        let mut filter = Filter::concentrated(&eps, &delta, &Ratio::new(1, 10)).unwrap();
        let mut count = 0;
        while let Ok(next) = filter.admit(&approx("0.01", "1e-11")) {
            (filter, count) = (next, count + 1);
        }
        // The basic sum stops at 100.
        assert!((450..500).contains(&count), "{count}");
        let total = filter.spent.to_approx(&delta).unwrap();
        assert!(total.eps.ratio() <= eps.ratio());
        assert!(Filter::concentrated(&eps, &delta, &Ratio::one()).is_err());
    }

    #[test]
    fn a_filter_at_one_order_keeps_its_epsilon() {
        let (eps, delta) = ("2".parse::<Eps>().unwrap(), "1e-6".parse().unwrap());
        let mut best = 0;
        for index in 0..RenyiCurve::orders().len() {
            let Some(mut filter) = Filter::at_order(&eps, &delta, &Ratio::zero(), index) else { continue };
            let mut count = 0;
            while let Ok(next) = filter.admit(&rho("0.002")) {
                (filter, count) = (next, count + 1);
            }
            let Loss::Renyi(spent) = &filter.spent else { panic!("a Renyi sum") };
            let limited = RenyiCurve::from_amounts(|i| {
                (i == index).then(|| spent.curve.iter().nth(i).unwrap().1.unwrap().clone())
            });
            let total = Renyi { curve: limited, delta: Amount::zero() }.to_approx(&delta);
            assert!(count == 0 || total.unwrap().eps.ratio() <= eps.ratio());
            best = best.max(count);
        }
        let concentrated = rho_for(&eps, &delta).unwrap().ratio() / &Ratio::new(2, 1000);
        assert!((concentrated.to_f64() - f64::from(best)).abs() < 2.0, "{best}");
    }

    #[test]
    fn the_best_order_admits_as_many_small_releases_as_any() {
        let (eps, delta) = ("2".parse::<Eps>().unwrap(), "1e-6".parse().unwrap());
        let count = |mut filter: Filter| {
            let mut count = 0;
            while let Ok(next) = filter.admit(&rho("0.002")) {
                (filter, count) = (next, count + 1);
            }
            count
        };
        let share = Ratio::new(1, 10);
        let best =
            (0..136).filter_map(|index| Filter::at_order(&eps, &delta, &share, index)).map(count).max();
        assert_eq!(Filter::at_best_order(&eps, &delta, &share).map(count), best);
        assert_eq!(Filter::at_best_order(&eps, &Delta::zero(), &share), None);
    }

    #[test]
    fn no_order_watched_admits_nothing() {
        let curve = RenyiCurve::from_amounts(|_| None);
        let filter = Filter::new(Loss::Renyi(Renyi { curve, delta: Amount::zero() }));
        assert!(filter.admit(&Loss::nothing()).is_err());
    }

    /// The mutant with `<` for `<=` in the sum of deltas would be as safe; the one that forgets deltas is not.
    #[test]
    fn a_mutant_that_forgets_deltas_admits_too_much() {
        let filter = Filter::new(approx("1", "1e-6"));
        let twice = filter.admit(&approx("0.1", "6e-7")).unwrap().admit(&approx("0.1", "6e-7"));
        let exceeded = twice.unwrap_err();
        assert!(!exceeded.foreign);
        assert_eq!(exceeded.remaining, approx("0.9", "4e-7"));
    }

    /// The deltas of releases and of the reading come out of one delta: were its own share counted twice, the limit would imply
    /// more than the epsilon at that delta. What it implies is close to what it may.
    #[test]
    fn the_whole_limit_implies_what_was_asked_for_whatever_is_kept() {
        let (eps, delta) = ("1".parse::<Eps>().unwrap(), "1e-3".parse::<Delta>().unwrap());
        let tight = |filter: &Filter| {
            let total = filter.limit.to_approx(&delta).unwrap();
            assert!(total.eps.ratio() <= eps.ratio(), "{filter:?}");
            assert!(total.eps.ratio() > &Ratio::new(999, 1000), "{}", total.eps);
            assert!(total.delta.ratio() <= delta.ratio());
        };
        for share in ["0", "0.1", "0.9"] {
            let share: Ratio = share.parse().unwrap();
            let own = delta.ratio() * &share;
            let concentrated = Filter::concentrated(&eps, &delta, &share).unwrap();
            tight(&concentrated);
            let Loss::Zcdp(limit) = &concentrated.limit else { panic!("concentrated") };
            assert_eq!(*limit.delta.ratio(), own);
            let filters: Vec<Filter> =
                (0..136).filter_map(|index| Filter::at_order(&eps, &delta, &share, index)).collect();
            assert!(filters.len() > 50, "{}", filters.len());
            for filter in filters {
                tight(&filter);
                let Loss::Renyi(limit) = &filter.limit else { panic!("at an order") };
                assert_eq!(*limit.delta.ratio(), own);
            }
        }
        assert!(Filter::concentrated(&eps, &delta, &-Ratio::new(1, 10)).is_err());
    }

    #[test]
    fn what_remains_is_the_difference_in_every_family() {
        let half = Filter::new(rho("1")).admit(&rho("0.4")).unwrap();
        assert_eq!(half.remaining(), rho("0.6"));
        let (eps, delta) = ("1".parse().unwrap(), "1e-3".parse().unwrap());
        let filter = Filter::at_best_order(&eps, &delta, &Ratio::new(1, 10)).unwrap();
        let loss = approx("0.1", "1e-5");
        let rest = filter.admit(&loss).unwrap().remaining();
        let (Loss::Renyi(limit), Loss::Renyi(rest), spent) = (&filter.limit, &rest, loss.to_renyi()) else {
            panic!("at an order")
        };
        assert_eq!(rest.delta.ratio() + spent.delta.ratio(), *limit.delta.ratio());
        let parts = limit.curve.iter().zip(rest.curve.iter()).zip(spent.curve.iter());
        for (((_, limit), (_, rest)), (_, spent)) in parts {
            assert_eq!(limit.is_some(), rest.is_some());
            if let (Some(limit), Some(rest), Some(spent)) = (limit, rest, spent) {
                assert_eq!(rest.ratio() + spent.ratio(), *limit.ratio());
            }
        }
    }
}
