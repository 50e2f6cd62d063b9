//! What was spent and what is left as each accountant adds it up, and which of them is tightest: for choosing a limit.
//!
//! # Guarantee
//!
//! What the accountant in force leaves is what the next charge may cost. The other lines say what they would leave had
//! their limit been set from the start. A total read as epsilon holds for parameters fixed beforehand; the odometer's
//! reading holds whenever it is read, however the questions were chosen.

use super::{
    balance::{Account, Charges},
    cost::Cost,
    limit::{Accountant, Limit},
};
use equipoise_core::{
    account::{Odometer, Reading},
    loss::{Amount, Approx, Delta, Eps, Loss, Renyi, RenyiCurve, Zcdp},
    ratio::Ratio,
};

/// Without a delta in the limit, totals are read at this one.
const READ_AT: &str = "0.000001";
/// The odometer's first filter; half of [`READ_AT`] is for its readings, half for the deltas of charges.
const FIRST_RHO: &str = "0.001";
const HALF: &str = "0.0000005";
/// Halvings in the search for what one more answer may cost: four digits and more.
const HALVINGS: u32 = 40;

/// How an account stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// One line for each accountant.
    pub lines: Vec<Line>,
    /// At which delta totals are read as epsilon.
    pub delta: Delta,
    /// What holds whenever it is read; `None` where the deltas of charges exceed what is kept for them.
    pub odometer: Option<Reading>,
    /// Was every charge looked at? Otherwise the order of Renyi and the odometer are missing.
    pub complete: bool,
}

/// One accountant's view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Which.
    pub accountant: Accountant,
    /// Does the limit count so?
    pub in_force: bool,
    /// The total; `None` where it has no epsilon at this delta.
    pub spent: Option<Approx>,
    /// The largest epsilon that one more answer without a delta may have, rounded down; `None` without a limit, or where
    /// this accountant cannot hold it.
    pub left: Option<Ratio>,
}

impl Standing {
    /// From an account and everything that was charged to it.
    pub fn new(account: &Account, charges: &Charges) -> Self {
        let target = account.limit.as_ref().and_then(target);
        let delta = target.as_ref().map(|(_, delta)| delta).filter(|delta| !delta.is_zero());
        let delta = delta.cloned().unwrap_or_else(|| READ_AT.parse().expect("a small number"));
        let line = |accountant: Accountant| {
            let in_force = account.limit.as_ref().is_some_and(|limit| limit.accountant() == accountant);
            let limit = match (&account.limit, &target) {
                (Some(limit), _) if in_force => Some(limit.clone()),
                (_, Some((eps, delta))) => Limit::within(eps, delta, accountant).ok(),
                _ => None,
            };
            let left = limit.and_then(|limit| one_more(&limit, charges));
            Line { accountant, in_force, spent: spent(accountant, charges, &delta), left }
        };
        let lines = Accountant::ALL.map(line).to_vec();
        Self { lines, delta, odometer: odometer(charges), complete: true }
    }

    /// From the sums that stand in the account alone, however many charges they are of.
    pub fn of_sums(account: &Account) -> Self {
        let sums = vec![(account.spent.clone(), 1)];
        let mut found = Self::new(account, &sums);
        found.lines.retain(|line| line.accountant != Accountant::Renyi);
        Self { odometer: None, complete: false, ..found }
    }

    /// The accountant that leaves most, or without a limit the one that says least was spent.
    pub fn tightest(&self) -> Option<Accountant> {
        let most_left =
            self.lines.iter().filter(|line| line.left.is_some()).max_by_key(|line| line.left.clone());
        let least_spent = || {
            let known = self.lines.iter().filter_map(|line| Some((line, line.spent.as_ref()?)));
            known.min_by_key(|(_, spent)| spent.eps.clone()).map(|(line, _)| line)
        };
        most_left.or_else(least_spent).map(|line| line.accountant)
    }
}

/// The (epsilon, delta) that a limit keeps.
fn target(limit: &Limit) -> Option<(Eps, Delta)> {
    let approx = match limit {
        Limit::Approx(limit) => limit.clone(),
        Limit::Zcdp(limit) => limit.to_approx(&whole_delta(&limit.delta))?,
        Limit::Renyi(limit) => {
            let place = RenyiCurve::orders().iter().position(|order| *order == limit.order);
            let curve = RenyiCurve::from_amounts(|at| (Some(at) == place).then(|| limit.divergence.clone()));
            Renyi { curve, delta: limit.delta.clone() }.to_approx(&whole_delta(&limit.delta))?
        }
    };
    Some((Eps::new(approx.eps.ratio().clone()).ok()?, Delta::new(approx.delta.ratio().clone()).ok()?))
}

/// The delta of which a tenth was kept for the charges' own.
fn whole_delta(own: &Amount) -> Delta {
    let whole = own.ratio() * &Ratio::from(10u64);
    Delta::new(whole)
        .ok()
        .filter(|delta| !delta.is_zero())
        .unwrap_or_else(|| READ_AT.parse().expect("a small number"))
}

/// The total as epsilon at this delta.
fn spent(accountant: Accountant, charges: &Charges, delta: &Delta) -> Option<Approx> {
    let sum = || charges.iter().fold(Cost::nothing(), |sum, (cost, count)| sum.plus_times(cost, *count));
    match accountant {
        Accountant::Zcdp | Accountant::Renyi if charges.is_empty() => Some(Cost::nothing().approx),
        Accountant::Basic => Some(sum().approx),
        Accountant::Zcdp => sum().zcdp?.to_approx(delta),
        Accountant::Renyi => {
            let add = |sum: Renyi, (cost, count): &(Cost, u64)| sum.compose(&renyi(cost).times(*count));
            charges.iter().fold(Loss::nothing().to_renyi(), add).to_approx(delta)
        }
    }
}

/// The curve of a charge: of its concentrated loss where that needs less delta, of its epsilon otherwise.
fn renyi(cost: &Cost) -> Renyi {
    match &cost.zcdp {
        Some(loss) if loss.delta < cost.approx.delta => Renyi::from(loss),
        _ => Renyi::from(&cost.approx),
    }
}

/// The largest epsilon that fits once more.
fn one_more(limit: &Limit, charges: &Charges) -> Option<Ratio> {
    let spent = limit.spent(charges)?;
    let left = limit.left(&spent);
    let fits = |eps: &Ratio| {
        let eps = Amount::new(eps.clone()).expect("not negative");
        let cost = Cost::from(Approx { eps, delta: Amount::zero() });
        limit.spent(&[(cost, 1)]).is_some_and(|cost| left.allows(&cost))
    };
    if !limit.allows(&spent) {
        return Some(Ratio::zero());
    }
    if let Limit::Approx(left) = &left {
        return Some(left.eps.ratio().clone());
    }
    let mut high = Ratio::one();
    while fits(&high) && high < Ratio::from(1_000u64) {
        high = &high * &Ratio::from(2u64);
    }
    let mut low = Ratio::zero();
    for _ in 0..HALVINGS {
        let middle = (&low + &high) / Ratio::from(2u64);
        if fits(&middle) { low = middle } else { high = middle }
    }
    Some(low)
}

fn odometer(charges: &Charges) -> Option<Reading> {
    let failures = Amount::new(HALF.parse().ok()?).ok()?;
    let mut meter = Odometer::new(FIRST_RHO.parse().ok()?, HALF.parse().ok()?, failures).ok()?;
    // The sums are those of all charges; in which order they came is of no meaning to a reading.
    for (cost, count) in charges {
        let (approx, zcdp) = (cost.approx.times(*count), cost.zcdp.as_ref().map(|loss| loss.times(*count)));
        meter.basic = meter.basic.map(|sum| sum.plus_up(&approx.eps));
        meter.own = meter.own.plus_up(&own(&approx, zcdp.as_ref()));
        meter.concentrated = meter.concentrated.zip(zcdp).map(|(sum, loss)| sum.plus_up(&loss.rho));
    }
    meter.read()
}

/// The delta outside of both forms: one event where they have the same, two where not.
fn own(approx: &Approx, zcdp: Option<&Zcdp>) -> Amount {
    match zcdp {
        Some(loss) if loss.delta != approx.delta => loss.delta.plus_up(&approx.delta),
        _ => approx.delta.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charges(eps: &str, count: u64) -> Charges {
        let eps = Amount::new(eps.parse().unwrap()).unwrap();
        vec![(Cost::from(Approx { eps, delta: Amount::zero() }), count)]
    }

    fn account(limit: Option<Limit>) -> Account {
        Account { limit, ..Account::new() }
    }

    fn limit(accountant: Accountant) -> Limit {
        Limit::within(&"5".parse().unwrap(), &"1e-6".parse().unwrap(), accountant).unwrap()
    }

    #[test]
    fn a_hundred_answers_of_a_tenth_under_each_accountant() {
        let standing = Standing::new(&account(None), &charges("0.1", 100));
        let spent: Vec<f64> =
            standing.lines.iter().map(|line| line.spent.as_ref().unwrap().eps.ratio().to_f64()).collect();
        for (spent, expected) in spent.iter().zip([10.0, 5.219, 5.075]) {
            assert!((spent - expected).abs() < 2e-3, "{spent} {expected}");
        }
        assert_eq!(standing.tightest(), Some(Accountant::Renyi));
        assert!(standing.lines.iter().all(|line| line.left.is_none() && !line.in_force));
        let read = standing.odometer.unwrap().loss.eps.ratio().to_f64();
        assert!((5.5..7.0).contains(&read), "{read}");
    }

    #[test]
    fn one_more_answer_fits_and_a_little_more_does_not() {
        for accountant in Accountant::ALL {
            let limit = limit(accountant);
            let account = account(Some(limit.clone()));
            let standing = Standing::new(&account, &charges("0.1", 20));
            let line = standing.lines.iter().find(|line| line.in_force).unwrap();
            assert_eq!(line.accountant, accountant);
            let left = line.left.clone().unwrap();
            let with = |more: &Ratio| {
                let mut all = charges("0.1", 20);
                let eps = Amount::new(more.clone()).unwrap();
                all.push((Cost::from(Approx { eps, delta: Amount::zero() }), 1));
                limit.allows(&limit.spent(&all).unwrap())
            };
            assert!(with(&left) && !with(&(&left + &Ratio::new(1, 1000))), "{accountant:?} {left}");
        }
    }

    #[test]
    fn few_large_answers_are_best_added_up_plainly() {
        let account = account(Some(limit(Accountant::Basic)));
        assert_eq!(Standing::new(&account, &charges("2", 1)).tightest(), Some(Accountant::Basic));
        let spent_up = Standing::new(&account, &charges("0.1", 60));
        assert_eq!(spent_up.lines[0].left, Some(Ratio::zero()));
        assert!(spent_up.lines[2].left.as_ref().unwrap().is_positive());
    }

    #[test]
    fn a_limit_without_a_delta_has_one_accountant() {
        let pure = Limit::within(&"1".parse().unwrap(), &Delta::zero(), Accountant::Basic).unwrap();
        let standing = Standing::new(&account(Some(pure)), &charges("0.1", 3));
        assert_eq!(standing.lines[0].left, Some(Ratio::new(7, 10)));
        assert!(standing.lines[1].left.is_none() && standing.lines[2].left.is_none());
    }

    #[test]
    fn sums_say_what_all_charges_say_where_they_can() {
        for limit in [None, Some(limit(Accountant::Basic)), Some(limit(Accountant::Zcdp))] {
            let mut account = account(limit);
            let charges = charges("0.1", 30);
            account.spent = Cost::nothing().plus_times(&charges[0].0, 30);
            let (all, sums) = (Standing::new(&account, &charges), Standing::of_sums(&account));
            assert_eq!(sums.lines[..], all.lines[..2]);
            assert!(all.complete && !sums.complete && sums.odometer.is_none());
        }
    }

    #[test]
    fn nothing_charged_is_nothing_spent() {
        let standing = Standing::new(&account(None), &Vec::new());
        assert!(standing.lines.iter().all(|line| line.spent.as_ref().unwrap().eps.is_zero()));
        assert!(standing.odometer.unwrap().loss.eps.is_zero());
    }
}
