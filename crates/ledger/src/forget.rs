//! What an odometer forgets: charges whose sum a later one carries, and their answers.
//!
//! # Guarantee
//!
//! After every charge the sums are those of all charges, forgotten ones too; asking again under a request id gives the same
//! answer. At most two charges of a data set and an analyst are kept besides those with a request id and those whose answer
//! was lost.
//!
//! # Why
//!
//! Sums stand in the last charge of an account ([`balance`](super::balance)), and that one is never forgotten. A charge is forgotten
//! only when its answer is recorded, so that no answer under way misses its charge.

use super::{
    Fallible,
    charge::by_id,
    entries::{Entries, values},
    entry::{Row, kind},
};

/// This charge was just recorded: it is forgotten where a later one is there, and so is the one before it.
pub(super) fn after(entries: &dyn Entries, paid: &Row) -> Fallible<()> {
    let neighbour = |order: &str| {
        let condition = format!("kind = ?1 AND data_set = ?2 AND analyst = ?3 AND number {order}");
        entries.one(&condition, values![kind::CHARGE, &paid.data_set, &paid.analyst, paid.number])
    };
    if paid.request_id.is_none() && neighbour("> ?4 ORDER BY number")?.is_some() {
        drop_charge(entries, &paid.id)?;
    }
    if let Some(before) = neighbour("< ?4 ORDER BY number DESC")?
        && before.request_id.is_none()
        && by_id(entries, kind::RECORD, &before.id)?.is_some()
    {
        drop_charge(entries, &before.id)?;
    }
    Ok(())
}

fn drop_charge(entries: &dyn Entries, id: &str) -> Fallible<()> {
    let sql = "DELETE FROM entries WHERE id = ?1 AND kind IN (?2, ?3)";
    entries.rows(sql, values![id, kind::CHARGE, kind::RECORD]).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::super::{
        Charging, Fault, Ledger, LedgerError,
        tests::{granted, loss, request, salaries},
    };
    use crate::{Accountant, ChargeRequest, Limit};

    fn entries(ledger: &Ledger) -> i64 {
        ledger.read(|entries| entries.number("SELECT count(*) FROM entries", &[])).unwrap()
    }

    fn spent(ledger: &Ledger) -> String {
        ledger.balance("salaries", None).unwrap().spent().eps.to_string()
    }

    #[test]
    fn an_odometer_keeps_its_sums_and_not_its_charges() {
        let mut ledger = Ledger::odometer().unwrap();
        for _ in 0..1000 {
            let charge = granted(&mut ledger, &request("0.001"));
            let _ = ledger.record(&charge, "{}").unwrap();
        }
        assert_eq!(
            (spent(&ledger).as_str(), entries(&ledger)),
            ("1", 4),
            "created, registered, charged, recorded"
        );
    }

    #[test]
    fn charges_that_overlap_find_their_way() {
        let mut ledger = Ledger::odometer().unwrap();
        for _ in 0..100 {
            let charges = [(); 3].map(|()| granted(&mut ledger, &request("1")));
            for place in [1, 0, 2] {
                let _ = ledger.record(&charges[place], "{}").unwrap();
            }
        }
        assert_eq!(spent(&ledger), "300");
        assert!(entries(&ledger) <= 6, "{}", entries(&ledger));
    }

    #[test]
    fn what_has_a_request_id_and_what_is_lost_stays() {
        let mut ledger = Ledger::odometer().unwrap();
        let named = ChargeRequest { request_id: Some("monday".into()), ..request("0.5") };
        let charge = granted(&mut ledger, &named);
        let receipt = ledger.record(&charge, "{\"value\":7}").unwrap();
        let lost = granted(&mut ledger, &ChargeRequest { request_id: Some("lost".into()), ..request("0.5") });
        for _ in 0..10 {
            let charge = granted(&mut ledger, &request("0.1"));
            let _ = ledger.record(&charge, "{}").unwrap();
        }
        let Ok(Charging::Replay(again)) = ledger.charge(&named) else { panic!("it was answered") };
        assert_eq!((again.release.as_str(), again.receipt), ("{\"value\":7}", receipt));
        let _ = ledger.record(&lost, "{}").unwrap();
        assert_eq!(spent(&ledger), "2");
    }

    #[test]
    fn what_needs_every_charge_is_refused() {
        let mut ledger = Ledger::odometer().unwrap();
        ledger.register(&salaries(), None).unwrap();
        let forgets = |error: LedgerError| error.fault == Fault::Forgets;
        assert!(ledger.charges("salaries", None).is_err_and(forgets));
        assert!(ledger.export(&mut |_| std::ops::ControlFlow::Continue(())).is_err_and(forgets));
        assert!(ledger.verify(None).is_err_and(|error| error.to_string().contains("sums only")));
        let limit =
            Limit::within(&"1".parse().unwrap(), &"1e-6".parse().unwrap(), Accountant::Renyi).unwrap();
        assert!(ledger.set_limit("salaries", None, Some(&limit)).is_err());
        // A limit that a sum can be held against is a limit.
        ledger.set_limit("salaries", None, Some(&loss("1", "0").into())).unwrap();
        for _ in 0..4 {
            let charge = granted(&mut ledger, &request("0.25"));
            let _ = ledger.record(&charge, "{}").unwrap();
        }
        assert_eq!(ledger.charge(&request("0.25")).unwrap_err().exit_code(), 4);
    }
}
