//! What was spent, what is allowed, what is left: free to look at.

use super::{
    Fallible, Ledger,
    chain::{self, Link},
    cost::Cost,
    entries::{Entries, values},
    entry::{self, Event, kind},
    entry_of,
    error::{DataSetError, Fault, LedgerError, RegisterError},
    latest,
    limit::{AtOrder, Limit},
    registry::{ANALYST, check_name, find},
    renewing::{self, InWindow},
    reregistration, store,
};
use equipoise_core::loss::Approx;

/// What was spent from one budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// In total.
    pub spent: Cost,
    /// What may be spent in total; `None` without a limit.
    pub limit: Option<Limit>,
    /// What was spent at the order of the limit, where it has one.
    pub at_order: Option<AtOrder>,
}

impl Account {
    /// Nothing spent, no limit.
    pub(super) fn new() -> Self {
        Self { spent: Cost::nothing(), limit: None, at_order: None }
    }

    /// What was spent in the currency of the limit; `None` without a limit, or where it is not known in it.
    pub fn spent_of_limit(&self) -> Option<Limit> {
        match self.limit.as_ref()? {
            Limit::Approx(_) => Some(Limit::Approx(self.spent.approx.clone())),
            Limit::Zcdp(_) => self.spent.zcdp.clone().map(Limit::Zcdp),
            Limit::Renyi(_) => self.at_order.clone().map(Limit::Renyi),
        }
    }

    /// What is left; `None` without a limit. Zero where the limit was lowered below what was spent.
    pub fn remaining(&self) -> Option<Limit> {
        let limit = self.limit.as_ref()?;
        Some(self.spent_of_limit().map_or_else(|| limit.none(), |spent| limit.left(&spent)))
    }

    /// The account with so much more, whatever the limit is.
    pub(super) fn with(&self, cost: &Cost) -> Self {
        Self {
            spent: self.spent.plus(cost),
            limit: self.limit.clone(),
            at_order: self.at_order.as_ref().map(|spent| spent.plus(cost, 1)),
        }
    }

    /// The account with this charge, if that still fits.
    pub(super) fn after(&self, cost: &Cost) -> Result<Self, ()> {
        let after = self.with(cost);
        let fits = match (&after.limit, after.spent_of_limit()) {
            (None, _) => true,
            (Some(limit), Some(spent)) => limit.allows(&spent),
            (Some(_), None) => false,
        };
        if fits { Ok(after) } else { Err(()) }
    }

    /// The account under another limit, with what was charged so far: each cost and how often.
    pub(super) fn under(
        self,
        limit: Option<Limit>,
        charges: impl FnOnce() -> Fallible<Charges>,
    ) -> Fallible<Self> {
        let at_order = match &limit {
            Some(Limit::Renyi(limit)) => {
                let nothing = AtOrder::nothing(&limit.order);
                Some(charges()?.iter().fold(nothing, |sum, (cost, count)| sum.plus(cost, *count)))
            }
            _ => None,
        };
        Ok(Self { spent: self.spent, limit, at_order })
    }
}

/// Each cost that was charged, and how often.
pub type Charges = Vec<(Cost, u64)>;

/// The accounts that a charge goes to: the data set's, and the analyst's on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balance {
    /// Everybody together.
    pub data_set: Account,
    /// One analyst, if one was named.
    pub analyst: Option<Account>,
    /// The windows that a question counts in, where a limit renews.
    pub windows: Vec<InWindow>,
}

impl Balance {
    /// What everybody together spent on the data set.
    pub fn spent(&self) -> &Approx {
        &self.data_set.spent.approx
    }

    /// The tighter limit of each part, the data set's where an analyst's is in another currency; `None` without any.
    pub fn limit(&self) -> Option<Limit> {
        self.tighter(|account| account.limit.clone())
    }

    /// What may still be asked for; `None` without any limit. Where an analyst's limit, or that of a window, is in another currency,
    /// the data set's, unless nothing is left of the other.
    pub fn remaining(&self) -> Option<Limit> {
        let windows = self.windows.iter().map(|one| &one.account);
        let mut others = self.analyst.iter().chain(windows).filter_map(Account::remaining);
        others.find(|left| left.parts()[0].is_zero()).or_else(|| self.tighter(Account::remaining))
    }

    fn tighter(&self, part: impl Fn(&Account) -> Option<Limit>) -> Option<Limit> {
        let parts = [Some(&self.data_set), self.analyst.as_ref()].into_iter().flatten();
        parts
            .chain(self.windows.iter().map(|one| &one.account))
            .filter_map(part)
            .reduce(|one, two| Limit::least(one, &two))
    }
}

impl Ledger {
    /// Each cost that was charged to a data set for the unit and adjacency in force, by everybody or by one analyst, and how
    /// often.
    pub fn charges(&self, data_set: &str, analyst: Option<&str>) -> Result<Charges, LedgerError> {
        self.read_whole(|entries| {
            charges(entries, data_set, analyst, &reregistration::in_force(entries, data_set)?)
        })
    }

    /// Were more than so many charges made for the unit and adjacency in force? Stops counting there.
    pub fn has_more_charges(&self, data_set: &str, than: u32) -> Result<bool, LedgerError> {
        self.read_whole(|entries| {
            let scope = reregistration::in_force(entries, data_set)?;
            let sql = format!(
                "SELECT count(*) FROM (SELECT 1 FROM entries WHERE kind = ?1 AND data_set = ?2 {scope} LIMIT ?3) AS counted"
            );
            let most = i64::from(than) + 1;
            Ok(entries.number(&sql, values![kind::CHARGE, data_set, most])? == most)
        })
    }

    /// What was spent on a data set for the unit and adjacency in force, and by this analyst; with the window of the ledger's time that is
    /// now, where a limit renews with it. A name that was never used has spent nothing.
    pub fn balance(&self, data_set: &str, analyst: Option<&str>) -> Result<Balance, LedgerError> {
        self.balance_in(data_set, analyst, &[])
    }

    /// Everybody who asked, was shown an answer or has a limit on a data set, in order.
    pub fn analysts(&self, data_set: &str) -> Result<Vec<String>, LedgerError> {
        self.read(|entries| analysts(entries, data_set))
    }

    /// Allow so much in total from now on, what was already spent included; `None` lifts the limit. A limit
    /// below what was spent grants nothing more. The data set must be registered.
    pub fn set_limit(
        &mut self,
        data_set: &str,
        analyst: Option<&str>,
        limit: Option<&Limit>,
    ) -> Result<Balance, RegisterError> {
        self.set_limit_by(data_set, analyst, limit, None)
    }

    /// The same with who set it in the entry itself. The file is from here on for programs that know such entries.
    pub fn set_limit_by(
        &mut self,
        data_set: &str,
        analyst: Option<&str>,
        limit: Option<&Limit>,
        by: Option<&str>,
    ) -> Result<Balance, RegisterError> {
        for name in [analyst, by].into_iter().flatten() {
            check_name(ANALYST, name)?;
        }
        let limit = limit.map(Limit::written_down);
        if matches!(limit, Some(Limit::Renyi(_))) {
            // What was spent at its order is the sum over every charge.
            self.read_whole(|_| Ok(()))?;
        }
        self.write(|entries, coins| {
            if find(entries, data_set)?.is_none() {
                return Err(DataSetError::Unregistered { name: data_set.to_string() }.into());
            }
            if by.is_some() {
                entries.raise(store::WITH_COUNTED)?;
            }
            let (id, body) = (store::fresh_id(coins), entry::limit_body(limit.as_ref(), by));
            let link = Link { kind: kind::LIMIT, id: &id, data_set, analyst, request_id: None, body };
            chain::append_in_time(entries, link, renewing::time(entries)?.1)?;
            Ok(balance(entries, data_set, analyst)?)
        })
    }
}

pub(super) fn balance(entries: &dyn Entries, data_set: &str, analyst: Option<&str>) -> Fallible<Balance> {
    Ok(Balance {
        data_set: account(entries, data_set, None)?,
        analyst: analyst.map(|name| account(entries, data_set, Some(name))).transpose()?,
        windows: Vec::new(),
    })
}

pub(super) fn analysts(entries: &dyn Entries, data_set: &str) -> Fallible<Vec<String>> {
    let sql = "SELECT DISTINCT analyst FROM entries \
               WHERE kind IN ('charge', 'limit', 'seen') AND data_set = ?1 AND analyst <> '' ORDER BY analyst";
    entries.texts(sql, values![data_set])
}

/// What the last entry within a scope that counts for this account says was spent.
pub(super) fn spent(
    entries: &dyn Entries,
    data_set: &str,
    analyst: Option<&str>,
    scope: &str,
) -> Fallible<Cost> {
    // A charge counts for everybody together and for its analyst; the others for the one account that they name.
    let own = Some(analyst.unwrap_or_default());
    let rows = [(kind::CHARGE, analyst), (kind::GAP, own), (kind::SEEN, own)]
        .map(|(kind, analyst)| latest(entries, kind, data_set, analyst, scope));
    let mut last = None;
    for row in rows {
        last = [last, row?].into_iter().flatten().max_by_key(|row| row.number);
    }
    let Some(row) = last else { return Ok(Cost::nothing()) };
    let damaged = || Fault::damaged(row.number.unsigned_abs(), "it has no sum of its analyst");
    match entry_of(&row)?.event {
        Event::Charged { spent_by_analyst, .. } if analyst.is_some() => spent_by_analyst.ok_or_else(damaged),
        Event::Gap { spent, .. } | Event::Seen { spent, .. } | Event::Charged { spent, .. } => Ok(spent),
        _ => Err(damaged()),
    }
}

pub(super) fn account(entries: &dyn Entries, data_set: &str, analyst: Option<&str>) -> Fallible<Account> {
    let scope = reregistration::in_force(entries, data_set)?;
    let spent = spent(entries, data_set, analyst, &scope)?;
    // A limit for everybody names no analyst.
    let limit = limit(entries, data_set, analyst.unwrap_or_default())?;
    Account { spent, ..Account::new() }.under(limit, || charges(entries, data_set, analyst, &scope))
}

/// The limit in force of an analyst, or of everybody.
pub(super) fn limit(entries: &dyn Entries, data_set: &str, analyst: &str) -> Fallible<Option<Limit>> {
    match latest(entries, kind::LIMIT, data_set, Some(analyst), "")? {
        None => Ok(None),
        Some(row) => match entry_of(&row)?.event {
            Event::Limited { limit, .. } => Ok(limit),
            _ => unreachable!("a row of this kind reads as such an event"),
        },
    }
}

/// Equal costs are counted where they lie, so that a year of equal questions is one line.
pub(super) fn charges(
    entries: &dyn Entries,
    data_set: &str,
    analyst: Option<&str>,
    scope: &str,
) -> Fallible<Charges> {
    let narrower = if analyst.is_some() { "AND analyst = ?3" } else { "" };
    let cost = entries.field("cost");
    let sql = format!(
        "SELECT {cost}, count(*), min(number) FROM entries \
         WHERE data_set = ?2 AND ((kind = ?1 {narrower}) OR (kind IN (?4, ?5) AND analyst = ?3)) {scope} \
         GROUP BY {cost} ORDER BY min(number)"
    );
    let analyst = analyst.unwrap_or_default();
    let mut found = Vec::new();
    for (text, count, first) in
        entries.numbered(&sql, values![kind::CHARGE, data_set, analyst, kind::GAP, kind::SEEN])?
    {
        let cost = serde_json::from_str(&text).ok().and_then(|value| Cost::from_json(&value));
        let cost = cost.ok_or_else(|| Fault::damaged(first.unsigned_abs(), "its cost cannot be read"))?;
        found.push((cost, count.unsigned_abs()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::Accountant;
    use equipoise_core::loss::Amount;

    fn cost(eps: &str) -> Cost {
        let eps = Amount::new(eps.parse().unwrap()).unwrap();
        Cost::from(Approx { eps, delta: Amount::zero() })
    }

    fn limited(accountant: Accountant) -> Account {
        let limit = Limit::within(&"1".parse().unwrap(), &"1e-6".parse().unwrap(), accountant).unwrap();
        Account::new().under(Some(limit), || Ok(Vec::new())).unwrap()
    }

    /// A loss without a bound in the currency of the limit could be any loss.
    #[test]
    fn a_cost_that_a_limit_cannot_express_is_not_admitted() {
        let unknown = Cost { zcdp: None, ..cost("0.000001") };
        let concentrated = limited(Accountant::Zcdp);
        assert!(concentrated.after(&cost("0.000001")).is_ok());
        assert_eq!(concentrated.after(&unknown), Err(()));
        // Nor anything after it, where the limit came later; and nothing is left.
        let later = Account { spent: unknown.clone(), ..concentrated };
        assert_eq!(later.after(&cost("0.000001")), Err(()));
        assert_eq!(later.remaining(), later.limit.as_ref().map(Limit::none));
        // In the other currencies it has a bound.
        for accountant in [Accountant::Basic, Accountant::Renyi] {
            assert!(limited(accountant).after(&unknown).is_ok(), "{accountant:?}");
        }
        assert!(Account::new().after(&unknown).is_ok());
    }

    /// An account under a limit at an order: what was charged before counts, as often as it was.
    #[test]
    fn what_was_charged_before_a_limit_counts_as_often() {
        let Some(limit @ Limit::Renyi(_)) = limited(Accountant::Renyi).limit else { panic!("an order") };
        let thrice = Account::new().under(Some(limit.clone()), || Ok(vec![(cost("0.1"), 3)])).unwrap();
        let mut one_by_one = limited(Accountant::Renyi);
        for _ in 0..3 {
            one_by_one = one_by_one.after(&cost("0.1")).unwrap();
        }
        assert_eq!(thrice.at_order, one_by_one.at_order);
        assert_eq!(one_by_one.spent_of_limit(), limit.spent(&[(cost("0.1"), 3)]));
    }
}
