//! What counts against a budget without being charged for an answer here: what was lost with a restored backup, and answers of
//! others that somebody was shown.
//!
//! # Guarantee
//!
//! - After [`Ledger::restored`] no account is below what it can have been before the entries were lost: every limit counts as spent, or the
//!   stated bound was added to every account, of data sets and of analysts.
//! - Somebody who is shown an answer that another paid for has its price added to what they have seen, within their limit; the sum of the
//!   data set has it already and stays.
//!
//! # Why
//!
//! 1. What was lost was charged under limits, so that a data set cannot have spent more than its limit, nor an analyst more
//!    than theirs; that somebody raised a limit in the meantime is what a stated bound is for.
//! 2. Each of these entries has the sum of the one account that it belongs to, as a charge has those of its two; the last of them
//!    all is what was spent.

use super::{
    Fallible, Ledger, Stop,
    balance::{self, Account},
    chain::{self, Link},
    charge::by_id,
    cost::Cost,
    entries::{Entries, values},
    entry::{self, kind},
    entry_of,
    error::{ChargeError, DataSetError, Fault, OverBudget, RegisterError},
    limit::Limit,
    registry::{self, ANALYST, check_name},
    renewing, reregistration, store,
};
use crate::entry::Event;
use equipoise_core::loss::Approx;
use equipoise_entropy::OsCoins;

impl Ledger {
    /// This file is an older copy that was put back: from here on every limit counts as spent, or as much more as the bound says that was
    /// spent in the entries that are missing, by everybody together and by each analyst. A limit in another currency than epsilon
    /// needs a bound.
    pub fn restored(&mut self, by: &str, bound: Option<&Approx>) -> Result<(), RegisterError> {
        check_name(ANALYST, by)?;
        self.read_whole(|_| Ok(()))?;
        let bound = bound.map(|bound| Cost::from(bound.clone()).written_up());
        self.write(|entries, coins| {
            entries.raise(store::WITH_COUNTED)?;
            let id = store::fresh_id(coins);
            let body = entry::restored_body(by, bound.as_ref());
            let link =
                Link { kind: kind::RESTORED, id: &id, data_set: "", analyst: None, request_id: None, body };
            chain::append(entries, link)?;
            for name in registry::names(entries)? {
                let mut analysts = balance::analysts(entries, &name)?;
                analysts.insert(0, String::new());
                for analyst in analysts {
                    fill(entries, coins, &name, &analyst, bound.as_ref())?;
                }
            }
            Ok(())
        })
    }

    /// Show an answer that another was charged for: its price is added to what this analyst has seen, once. False where it was
    /// there already, or is the analyst's own.
    pub fn see(&mut self, data_set: &str, analyst: &str, answer: &str) -> Result<bool, ChargeError> {
        check_name(ANALYST, analyst)?;
        self.read_whole(|_| Ok(()))?;
        self.write(|entries, coins| {
            let row = by_id(entries, kind::CHARGE, answer)?.filter(|row| row.data_set == data_set);
            let recorded = by_id(entries, kind::RECORD, answer)?.is_some();
            let Some(row) = row.filter(|_| recorded) else {
                return Err(Stop::Failed(Fault::NotItsCharge));
            };
            if !reregistration::is_in_force(entries, data_set, row.number)? {
                return Err(Stop::Failed(Fault::NotItsCharge));
            }
            if row.analyst == analyst || has_seen(entries, data_set, analyst, answer)? {
                return Ok(false);
            }
            let Event::Charged { cost, .. } = entry_of(&row)?.event else {
                unreachable!("a row of this kind reads as such an event")
            };
            let account = balance::account(entries, data_set, Some(analyst))?;
            let after = account.after(&cost).map_err(|()| over(data_set, analyst, &account, &cost))?;
            entries.raise(store::WITH_COUNTED)?;
            let body = entry::seen_body(answer, &cost, &after.spent);
            let id = store::fresh_id(coins);
            let link =
                Link { kind: kind::SEEN, id: &id, data_set, analyst: Some(analyst), request_id: None, body };
            chain::append(entries, link)?;
            Ok(true)
        })
    }

    /// Was this answer, which another paid for, shown to this analyst?
    pub fn has_seen(&self, data_set: &str, analyst: &str, answer: &str) -> Result<bool, super::LedgerError> {
        self.read(|entries| has_seen(entries, data_set, analyst, answer))
    }
}

/// Count an account as spent up to its limit, or as so much more than it says.
fn fill(
    entries: &dyn Entries,
    coins: &mut OsCoins,
    data_set: &str,
    analyst: &str,
    bound: Option<&Cost>,
) -> Result<(), Stop<RegisterError>> {
    let account = balance::account(entries, data_set, (!analyst.is_empty()).then_some(analyst))?;
    // What is missing may have been spent in any window, up to its limit.
    let in_each = if analyst.is_empty() { renewing::in_force(entries, data_set)? } else { None };
    let limits = [account.remaining(), in_each.map(|force| force.renewing.limit)];
    let cost = match (bound, limits.into_iter().flatten().collect::<Vec<_>>().as_slice()) {
        (Some(bound), _) => bound.clone(),
        (None, []) => return Ok(()),
        (None, [Limit::Approx(left)]) => Cost::from(left.clone()).written_up(),
        (None, [Limit::Approx(left), Limit::Approx(in_each)]) => {
            let eps = left.eps.clone().max(in_each.eps.clone());
            let delta = left.delta.clone().max(in_each.delta.clone());
            Cost::from(Approx { eps, delta }).written_up()
        }
        (None, _) => {
            let unbounded = DataSetError::Unbounded { name: data_set.to_string() };
            return Err(Stop::Refused(unbounded.into()));
        }
    };
    let spent = account.with(&cost).spent;
    let id = store::fresh_id(coins);
    let body = entry::gap_body(&cost, &spent);
    let analyst = (!analyst.is_empty()).then_some(analyst);
    let link = Link { kind: kind::GAP, id: &id, data_set, analyst, request_id: None, body };
    chain::append(entries, link)?;
    Ok(())
}

fn over(data_set: &str, analyst: &str, account: &Account, cost: &Cost) -> Stop<ChargeError> {
    Stop::Refused(ChargeError::OverBudget(Box::new(OverBudget {
        data_set: data_set.to_string(),
        analyst: Some(analyst.to_string()),
        window: None,
        spent: account.spent_of_limit(),
        requested: account.limit.as_ref().and_then(|limit| limit.spent(&[(cost.clone(), 1)])),
        remaining: account.remaining().expect("only a limit refuses"),
        limit: account.limit.clone().expect("only a limit refuses"),
    })))
}

pub(super) fn has_seen(entries: &dyn Entries, data_set: &str, analyst: &str, answer: &str) -> Fallible<bool> {
    let condition =
        format!("kind = ?1 AND data_set = ?2 AND analyst = ?3 AND {} = ?4", entries.field("answer"));
    // The id of a charge has no character that JSON writes otherwise.
    entries.any(&condition, values![kind::SEEN, data_set, analyst, &format!("\"{answer}\"")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ChargeRequest, VerifyError,
        limit::Accountant,
        tests::{granted, loss, on_disk, request, salaries},
    };
    use rusqlite::{Connection, params};

    fn by(analyst: &str, eps: &str) -> ChargeRequest {
        ChargeRequest { analyst: Some(analyst.into()), ..request(eps) }
    }

    fn spent(ledger: &Ledger, analyst: Option<&str>) -> String {
        let balance = ledger.balance("salaries", analyst).unwrap();
        balance.analyst.unwrap_or(balance.data_set).spent.approx.eps.to_exact()
    }

    /// A ledger with a limit of 2, 1 for ada, and 0.5 spent by her.
    fn begun(path: &std::path::Path) -> Ledger {
        let mut ledger = Ledger::open(path).unwrap();
        ledger.register(&salaries(), None).unwrap();
        ledger.set_limit("salaries", None, Some(&loss("2", "0").into())).unwrap();
        ledger.set_limit("salaries", Some("ada"), Some(&loss("1", "0").into())).unwrap();
        let charge = granted(&mut ledger, &by("ada", "0.5"));
        ledger.record(&charge, "{}").unwrap();
        ledger
    }

    #[test]
    fn every_limit_counts_as_spent_after_a_restored_copy() {
        let (_folder, path) = on_disk();
        let mut ledger = begun(&path);
        ledger.restored("sam", None).unwrap();
        assert_eq!((spent(&ledger, None), spent(&ledger, Some("ada"))), ("2".into(), "1".into()));
        assert_eq!(ledger.charge(&by("ada", "0.001")).unwrap_err().exit_code(), 4);
        assert_eq!(ledger.charge(&by("ben", "0.001")).unwrap_err().exit_code(), 4);
        // Whoever raises a limit gives what lies above the old one, and no more.
        ledger.set_limit("salaries", None, Some(&loss("3", "0").into())).unwrap();
        assert_eq!(ledger.charge(&by("ada", "0.001")).unwrap_err().exit_code(), 4, "her own is spent, too");
        let _charge = granted(&mut ledger, &by("ben", "1"));
        assert_eq!(ledger.charge(&by("ben", "0.001")).unwrap_err().exit_code(), 4);
        ledger.verify(None).unwrap();
    }

    #[test]
    fn a_stated_bound_is_added_to_every_account() {
        let (_folder, path) = on_disk();
        let mut ledger = begun(&path);
        ledger.restored("sam", Some(&loss("0.25", "0"))).unwrap();
        assert_eq!((spent(&ledger, None), spent(&ledger, Some("ada"))), ("0.75".into(), "0.75".into()));
        let charge = granted(&mut ledger, &by("ada", "0.25"));
        assert_eq!(charge.balance().spent().eps.to_exact(), "1");
        assert_eq!(ledger.charge(&by("ada", "0.001")).unwrap_err().exit_code(), 4);
        // A limit that comes later counts it, at an order as well.
        let renyi =
            Limit::within(&"5".parse().unwrap(), &"1e-6".parse().unwrap(), Accountant::Renyi).unwrap();
        ledger.set_limit("salaries", None, Some(&renyi)).unwrap();
        let charges = ledger.charges("salaries", None).unwrap();
        assert_eq!(charges.iter().map(|(_, count)| count).sum::<u64>(), 3, "{charges:?}");
        let _charge = granted(&mut ledger, &by("ben", "0.1"));
        ledger.verify(None).unwrap();
        // And where a limit is in another currency, nothing can be counted without a bound.
        let error = ledger.restored("sam", None).unwrap_err().to_string();
        assert!(error.contains("state a bound"), "{error}");
        ledger.restored("sam", Some(&loss("0.25", "0"))).unwrap();
        ledger.verify(None).unwrap();
    }

    #[test]
    fn an_answer_of_another_counts_for_its_reader_alone_and_once() {
        let (_folder, path) = on_disk();
        let mut ledger = begun(&path);
        let charge = granted(&mut ledger, &by("ben", "0.75"));
        let error = ledger.see("salaries", "cleo", charge.id()).unwrap_err();
        assert!(matches!(error, ChargeError::Ledger(_)), "what is not recorded is shown to nobody: {error}");
        ledger.record(&charge, "{}").unwrap();
        assert!(!ledger.see("salaries", "ben", charge.id()).unwrap(), "it is his own");
        assert!(ledger.see("salaries", "cleo", charge.id()).unwrap());
        assert!(!ledger.see("salaries", "cleo", charge.id()).unwrap(), "once");
        assert!(ledger.has_seen("salaries", "cleo", charge.id()).unwrap());
        assert!(!ledger.has_seen("salaries", "ada", charge.id()).unwrap());
        assert_eq!((spent(&ledger, None), spent(&ledger, Some("cleo"))), ("1.25".into(), "0.75".into()));
        let refused = ledger.see("salaries", "ada", charge.id()).unwrap_err();
        assert_eq!(refused.exit_code(), 4, "0.5 of her 1 is spent");
        assert!(ledger.see("pay", "cleo", charge.id()).is_err(), "of another data set");
        let charge = granted(&mut ledger, &by("cleo", "0.1"));
        assert_eq!(charge.balance().analyst.as_ref().unwrap().spent.approx.eps.to_exact(), "0.85");
        ledger.verify(None).unwrap();
    }

    /// Each number of these entries is checked, and an older program does not take such a file.
    #[test]
    fn what_these_entries_say_is_verified() {
        let (_folder, path) = on_disk();
        let mut ledger = begun(&path);
        ledger.see("salaries", "cleo", &answers(&ledger)).unwrap();
        ledger.restored("sam", Some(&loss("0.25", "0"))).unwrap();
        assert_eq!(ledger.verify(None).unwrap().charges, 1);
        drop(ledger);
        let version = |path: &std::path::Path| -> i64 {
            let raw = Connection::open(path).unwrap();
            raw.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
        };
        assert_eq!(version(&path), store::WITH_COUNTED);
        for (from, to) in [
            (r#""spent":{"epsilon":"0.75""#, r#""spent":{"epsilon":"0.5""#),
            (r#""cost":{"epsilon":"0.25""#, r#""cost":{"epsilon":"0""#),
            (r#""spent":{"epsilon":"0.5","delta":"0","rho":"0.125","rho_delta":"0"},"#, ""),
        ] {
            let (_folder, copy) = on_disk();
            std::fs::copy(&path, &copy).unwrap();
            let raw = Connection::open(&copy).unwrap();
            raw.execute_batch("DROP TRIGGER entries_are_final").unwrap();
            let sql = "UPDATE entries SET body = replace(body, ?1, ?2) WHERE kind IN ('gap', 'seen')";
            raw.execute(sql, [from, to]).unwrap();
            rehash(&raw);
            raw.execute_batch(crate::sqlite::SCHEMA[7]).unwrap();
            drop(raw);
            let found = Ledger::open_read_only(&copy).unwrap().verify(None);
            let is_unchanged = to.is_empty();
            assert_eq!(
                matches!(found, Err(VerifyError::Broken { .. })),
                !is_unchanged,
                "{from} -> {to}: {found:?}"
            );
        }
    }

    fn answers(ledger: &Ledger) -> String {
        let mut found = String::new();
        ledger
            .each_entry(None, &mut |entry| {
                if matches!(entry.event, Event::Recorded { .. }) {
                    found.clone_from(&entry.id);
                }
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
        found
    }

    /// The chain made anew over what was changed, so that only sums can show it.
    fn rehash(raw: &Connection) {
        let mut rows = Vec::new();
        chain::walk(raw, |row, _| {
            rows.push(row);
            Ok(())
        })
        .unwrap();
        let mut before = chain::BEGINNING.to_string();
        for row in rows {
            before = chain::hash(&before, &row);
            raw.execute("UPDATE entries SET hash = ?1 WHERE number = ?2", params![before, row.number])
                .unwrap();
        }
    }
}
