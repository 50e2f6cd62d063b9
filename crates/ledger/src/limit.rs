//! What may be spent in total: a filter for charges that are chosen one after the other.
//!
//! # Guarantee
//!
//! Where every charge that is granted passed [`Account::after`](super::Account), all answers together lose at most the
//! limit, in its currency (`equipoise_core::account::Filter` has the proof for each of them). What was spent before the
//! limit was set counts. The limit is fixed without looking at answers: where limits were changed after answers, the deltas of
//! all that were in force add up.

use super::cost::{
    Cost, LARGEST, LONGEST_NUMBER, amount, approx_from_json, approx_json, read, sum_up, text, written,
};
use equipoise_core::{
    account::Filter,
    loss::{Amount, Approx, Delta, Eps, Loss, ParameterError, RenyiCurve, Zcdp},
    ratio::Ratio,
};
use serde_json::{Value, json};

/// What may be spent in total, in one of three currencies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// In (epsilon, delta): charges add up part by part.
    Approx(Approx),
    /// Concentrated: rho adds up, and so do the deltas of charges that have one; the sum may be read as
    /// (epsilon, delta) at any delta.
    Zcdp(Zcdp),
    /// At one Renyi order: divergences add up, and so do the deltas of charges that have one.
    Renyi(AtOrder),
}

/// A sum of Renyi divergences at one order, or a limit on it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AtOrder {
    /// The order, one of [`RenyiCurve::orders`].
    pub order: Ratio,
    /// The divergence.
    pub divergence: Amount,
    /// The probability outside of it.
    pub delta: Amount,
}

impl AtOrder {
    /// Nothing spent at this order.
    pub(super) fn nothing(order: &Ratio) -> Self {
        Self { order: order.clone(), divergence: Amount::zero(), delta: Amount::zero() }
    }

    /// With `count` charges of this cost.
    #[must_use]
    pub(super) fn plus(&self, cost: &Cost, count: u64) -> Self {
        let (divergence, delta) = cost.at_order(&self.order);
        let times = |one: &Amount| amount(one.ratio() * &Ratio::from(count));
        Self {
            order: self.order.clone(),
            divergence: sum_up(&self.divergence, &times(&divergence)),
            delta: sum_up(&self.delta, &times(&delta)),
        }
    }
}

/// How charges are added up under a limit of (epsilon, delta).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accountant {
    /// Epsilons and deltas, each part by part.
    Basic,
    /// Concentrated losses.
    Zcdp,
    /// Renyi divergences at one order.
    Renyi,
}

impl Accountant {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Basic, Self::Zcdp, Self::Renyi];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Zcdp => "zcdp",
            Self::Renyi => "renyi",
        }
    }
}

impl From<Approx> for Limit {
    fn from(limit: Approx) -> Self {
        Self::Approx(limit)
    }
}

impl From<Zcdp> for Limit {
    fn from(limit: Zcdp) -> Self {
        Self::Zcdp(limit)
    }
}

impl Limit {
    /// A limit that keeps all charges together within (epsilon, delta), held by this accountant. Of the delta, a
    /// tenth is kept for charges that have a delta of their own where the accountant itself needs one.
    pub fn within(eps: &Eps, delta: &Delta, accountant: Accountant) -> Result<Self, ParameterError> {
        let share = Ratio::new(1, 10);
        let next = "this accountant needs a delta above 0, such as 1e-6, or a larger one for this epsilon";
        let too_small = || ParameterError::out_of_range("delta", delta.ratio(), next);
        let filter = match accountant {
            Accountant::Basic => return Ok(Self::Approx(Approx::new(eps, delta))),
            Accountant::Zcdp if delta.is_zero() => return Err(too_small()),
            Accountant::Zcdp => Filter::concentrated(eps, delta, &share)?,
            Accountant::Renyi => Filter::at_best_order(eps, delta, &share).ok_or_else(too_small)?,
        };
        Ok(match filter.limit {
            Loss::Approx(limit) => Self::Approx(limit),
            Loss::Zcdp(limit) => Self::Zcdp(limit),
            Loss::Renyi(limit) => {
                let watched = limit.curve.iter().find_map(|(order, bound)| Some((order, bound?)));
                let (order, bound) = watched.ok_or_else(too_small)?;
                Self::Renyi(AtOrder {
                    order: order.clone(),
                    divergence: bound.clone(),
                    delta: limit.delta.clone(),
                })
            }
        })
    }

    /// Which accountant holds it.
    pub fn accountant(&self) -> Accountant {
        match self {
            Self::Approx(_) => Accountant::Basic,
            Self::Zcdp(_) => Accountant::Zcdp,
            Self::Renyi(_) => Accountant::Renyi,
        }
    }

    /// What was spent in its currency, from every cost and how often it was charged; `None` where one of them has no
    /// bound in it.
    pub fn spent(&self, charges: &[(Cost, u64)]) -> Option<Self> {
        if let Self::Renyi(limit) = self {
            let add = |sum: AtOrder, (cost, count): &(Cost, u64)| sum.plus(cost, *count);
            return Some(Self::Renyi(charges.iter().fold(AtOrder::nothing(&limit.order), add)));
        }
        let add = |sum: Cost, (cost, count): &(Cost, u64)| sum.plus_times(cost, *count);
        let sum = charges.iter().fold(Cost::nothing(), add);
        match self {
            Self::Approx(_) => Some(Self::Approx(sum.approx)),
            _ => sum.zcdp.map(Self::Zcdp),
        }
    }

    /// As it is written down: not above, and not above what may ever be charged.
    #[must_use]
    pub(super) fn written_down(&self) -> Self {
        self.map(|value| {
            let value = value.ratio().clone().min(Ratio::from(LARGEST));
            amount(-written(&-value, LONGEST_NUMBER))
        })
    }

    /// Its two numbers: the loss and the delta.
    pub fn parts(&self) -> [&Amount; 2] {
        match self {
            Self::Approx(limit) => [&limit.eps, &limit.delta],
            Self::Zcdp(limit) => [&limit.rho, &limit.delta],
            Self::Renyi(limit) => [&limit.divergence, &limit.delta],
        }
    }

    /// Does it allow so much in total? `spent` is in the same currency.
    pub fn allows(&self, spent: &Self) -> bool {
        self.parts().into_iter().zip(spent.parts()).all(|(limit, spent)| spent <= limit)
    }

    /// What it leaves; nothing where more was spent of either part, because no charge fits then.
    #[must_use]
    pub fn left(&self, spent: &Self) -> Self {
        if !self.allows(spent) {
            return self.none();
        }
        let [loss, delta] = spent.parts();
        let left =
            |limit: &Amount, spent: &Amount| amount((limit.ratio() - spent.ratio()).max(Ratio::zero()));
        self.map_parts(|limit| left(limit, loss), |limit| left(limit, delta))
    }

    /// Nothing of its currency.
    #[must_use]
    pub fn none(&self) -> Self {
        self.map(|_| Amount::zero())
    }

    /// So many times as much of each part.
    #[must_use]
    pub fn times(&self, count: u64) -> Self {
        self.map(|part| amount(part.ratio() * &Ratio::from(count)))
    }

    /// In words: "epsilon 2, delta 0.000001".
    pub fn words(&self) -> String {
        let name = match self {
            Self::Approx(_) => "epsilon".to_string(),
            Self::Zcdp(_) => "rho".to_string(),
            Self::Renyi(at) => format!("divergence at order {}", at.order),
        };
        let [loss, delta] = self.parts();
        if delta.is_zero() { format!("{name} {loss}") } else { format!("{name} {loss}, delta {delta}") }
    }

    /// The smaller of each part; of two currencies, the first.
    pub(super) fn least(one: Self, two: &Self) -> Self {
        let same_currency = match (&one, two) {
            (Self::Renyi(one), Self::Renyi(two)) => one.order == two.order,
            _ => one.accountant() == two.accountant(),
        };
        if !same_currency {
            return one;
        }
        let [loss, delta] = two.parts();
        one.map_parts(|part| part.clone().min(loss.clone()), |part| part.clone().min(delta.clone()))
    }

    fn map(&self, part: impl Fn(&Amount) -> Amount) -> Self {
        self.map_parts(&part, &part)
    }

    fn map_parts(&self, loss: impl Fn(&Amount) -> Amount, delta: impl Fn(&Amount) -> Amount) -> Self {
        match self {
            Self::Approx(limit) => Self::Approx(Approx { eps: loss(&limit.eps), delta: delta(&limit.delta) }),
            Self::Zcdp(limit) => Self::Zcdp(Zcdp { rho: loss(&limit.rho), delta: delta(&limit.delta) }),
            Self::Renyi(limit) => Self::Renyi(AtOrder {
                order: limit.order.clone(),
                divergence: loss(&limit.divergence),
                delta: delta(&limit.delta),
            }),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Approx(limit) => approx_json(limit),
            Self::Zcdp(limit) => json!({ "rho": text(&limit.rho), "delta": text(&limit.delta) }),
            Self::Renyi(limit) => json!({
                "order": limit.order.to_string(),
                "divergence": text(&limit.divergence),
                "delta": text(&limit.delta),
            }),
        }
    }

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        if let Some(order) = value.get("order") {
            let order = order.as_str()?;
            let order = RenyiCurve::orders().iter().find(|known| known.to_string() == order)?.clone();
            let (divergence, delta) = (read(value, "divergence")?, read(value, "delta")?);
            return Some(Self::Renyi(AtOrder { order, divergence, delta }));
        }
        match value.get("rho") {
            None => approx_from_json(value).map(Self::Approx),
            Some(_) => Some(Self::Zcdp(Zcdp { rho: read(value, "rho")?, delta: read(value, "delta")? })),
        }
    }
}

/// Rounded down where it is long: `Amount` itself shows what was spent, and rounds up.
pub(super) fn shown_down(left: &Amount) -> String {
    left.ratio().to_short_down(6, 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(eps: &str, delta: &str) -> Cost {
        let number = |text: &str| amount(text.parse().unwrap());
        Cost::from(Approx { eps: number(eps), delta: number(delta) })
    }

    #[test]
    fn every_limit_keeps_its_epsilon_and_is_read_back_as_written() {
        let (eps, delta) = ("2".parse::<Eps>().unwrap(), "1e-6".parse::<Delta>().unwrap());
        let one = cost("0.01", "1e-11");
        let mut admitted = Vec::new();
        for accountant in Accountant::ALL {
            let limit = Limit::within(&eps, &delta, accountant).unwrap().written_down();
            assert_eq!(limit.accountant(), accountant);
            assert_eq!(Limit::from_json(&limit.to_json()), Some(limit.clone()));
            let fits = |count: u64| limit.allows(&limit.spent(&[(one.clone(), count)]).unwrap());
            let most = (1..20_000u64).rev().find(|&count| fits(count)).unwrap();
            let spent = limit.spent(&[(one.clone(), most)]).unwrap();
            let total = match spent {
                Limit::Approx(loss) => loss,
                Limit::Zcdp(loss) => loss.to_approx(&delta).unwrap(),
                Limit::Renyi(at) => {
                    let place = RenyiCurve::orders().iter().position(|order| *order == at.order);
                    let curve =
                        RenyiCurve::from_amounts(|i| (Some(i) == place).then(|| at.divergence.clone()));
                    equipoise_core::loss::Renyi { curve, delta: at.delta }.to_approx(&delta).unwrap()
                }
            };
            assert!(total.eps.ratio() <= eps.ratio() && total.delta.ratio() <= delta.ratio(), "{total:?}");
            admitted.push(most);
        }
        // The basic sum stops at 200; over many small answers the others go on, and one order is about as good as all.
        assert!(admitted[0] == 200 && admitted[1] > 1_500 && admitted[2] > 1_500, "{admitted:?}");
    }

    #[test]
    fn what_is_left_is_the_difference_and_never_below_nothing() {
        let limit =
            Limit::within(&"1".parse().unwrap(), &"1e-6".parse().unwrap(), Accountant::Renyi).unwrap();
        let spent = limit.spent(&[(cost("0.1", "0"), 3)]).unwrap();
        let left = limit.left(&spent);
        assert!(limit.allows(&left) && !left.allows(&limit));
        let everything = limit.spent(&[(cost("5", "0.1"), 1)]).unwrap();
        assert_eq!(limit.left(&everything), limit.none());
        assert!(!limit.allows(&everything));
    }

    #[test]
    fn accountants_that_need_a_delta_say_so() {
        for accountant in [Accountant::Zcdp, Accountant::Renyi] {
            let error = Limit::within(&"1".parse().unwrap(), &Delta::zero(), accountant).unwrap_err();
            assert!(error.to_string().contains("delta 0 is not accepted"), "{error}");
        }
    }

    #[test]
    fn an_order_off_the_grid_is_no_limit() {
        let json = |order: &str| json!({ "order": order, "divergence": "1", "delta": "0" });
        assert!(Limit::from_json(&json("2")).is_some());
        assert!(Limit::from_json(&json("2.01")).is_none() && Limit::from_json(&json("2.0")).is_none());
    }
}
