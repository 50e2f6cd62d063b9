//! Limits that renew: what each window is charged, what counts in all of them, and when the next one opens.

use super::*;
use crate::{
    cost::Cost,
    entry::{ChargeBody, kind},
    limit::{Accountant, Limit},
    tests::{exported, granted, loss, request, salaries},
};
use chain::Link;
use entry::Event;
use equipoise_core::adjacency::{Adjacency, Unit};

const DATA: &str = "salaries";

fn months() -> Windows {
    Windows { every: Every::Month, day: Some(DayColumn { name: "visited".into(), moments: false }) }
}

fn of_time() -> Windows {
    Windows { every: Every::Month, day: None }
}

fn limit(windows: Windows, eps: &str) -> Renewing {
    Renewing { windows, limit: loss(eps, "0").into() }
}

fn people() -> DataSet {
    DataSet { unit: Unit::Column("person".into()), ..salaries() }
}

/// A ledger with a limit for each month of the data.
fn by_month(eps: &str) -> Ledger {
    let mut ledger = Ledger::in_memory().unwrap();
    ledger.register(&salaries(), None).unwrap();
    ledger.set_renewing(DATA, Some(&limit(months(), eps)), false, None).unwrap();
    ledger
}

fn named(names: &[&str]) -> Vec<Window> {
    names.iter().map(|name| Window::named(Every::Month, name).unwrap()).collect()
}

fn about(names: &[&str], eps: &str) -> ChargeRequest {
    let windows = Some(AskedWindows { windows: months(), asked: named(names) });
    ChargeRequest { windows, ..request(eps) }
}

fn refused(ledger: &mut Ledger, request: &ChargeRequest) -> String {
    ledger.charge(request).unwrap_err().to_string()
}

fn left(ledger: &Ledger, name: &str) -> String {
    let balance = ledger.balance_in(DATA, None, &named(&[name])).unwrap();
    balance.windows[0].account.remaining().unwrap().parts()[0].to_string()
}

#[test]
fn each_window_of_rows_has_the_limit_for_ever() {
    let mut ledger = by_month("1");
    let charge = granted(&mut ledger, &about(&["2026-10"], "0.7"));
    assert_eq!(charge.balance().windows.len(), 1);
    assert_eq!(charge.balance().remaining().unwrap().parts()[0].to_string(), "0.3");
    let _ = granted(&mut ledger, &about(&["2026-11"], "1"));
    let error = ledger.charge(&about(&["2026-10"], "0.4")).unwrap_err();
    assert_eq!(error.exit_code(), 4);
    let said = "the budget of data set 'salaries' for the month 2026-10 has epsilon 0.3 left of 1, and 0.4 was asked for";
    assert!(error.to_string().starts_with(said), "{error}");
    // Two windows pay both, or neither.
    assert!(refused(&mut ledger, &about(&["2026-09", "2026-10"], "0.4")).contains("2026-10"));
    let _ = granted(&mut ledger, &about(&["2026-09", "2026-10"], "0.3"));
    assert_eq!(
        ["2026-09", "2026-10", "2026-11", "2026-12"].map(|name| left(&ledger, name)),
        ["0.7", "0", "0", "1"]
    );
    // The sum of the data set has every charge once.
    assert_eq!(ledger.balance(DATA, None).unwrap().spent().eps.to_string(), "2");
    assert_eq!(ledger.verify(None).unwrap().charges, 3);
    let windows = ledger.windows(DATA).unwrap();
    assert_eq!(
        windows.iter().map(|one| one.window.name()).collect::<Vec<_>>(),
        ["2026-09", "2026-10", "2026-11"]
    );
    assert!(exported(&ledger).contains(r#""windows":["2026-09","2026-10"]"#));
}

#[test]
fn what_states_no_windows_or_others_is_not_charged() {
    let mut ledger = by_month("1");
    let before = ledger.head().unwrap();
    let plain = refused(&mut ledger, &request("0.1"));
    assert!(
        plain.contains("a limit for each month of 'visited'") && plain.contains("`window=2026-11`"),
        "{plain}"
    );
    let asked = |windows: Windows, asked: Vec<Window>| ChargeRequest {
        windows: Some(AskedWindows { windows, asked }),
        ..request("0.1")
    };
    let day = Some(DayColumn { name: "paid".into(), moments: false });
    let moments = Some(DayColumn { name: "visited".into(), moments: true });
    let year = vec![Window::named(Every::Year, "2026").unwrap()];
    let [one, two] = named(&["2026-10", "2026-11"])[..] else { unreachable!() };
    for wrong in [
        asked(Windows { every: Every::Year, ..months() }, year.clone()),
        asked(Windows { day, ..months() }, vec![one]),
        asked(Windows { day: moments, ..months() }, vec![one]),
        asked(of_time(), vec![one]),
        asked(months(), year),
        asked(months(), Vec::new()),
        asked(months(), vec![one, one]),
        asked(months(), vec![two, one]),
    ] {
        assert!(refused(&mut ledger, &wrong).contains("were changed since"), "{wrong:?}");
    }
    assert_eq!(ledger.head().unwrap(), before);
    // A limit that was lifted since the question was planned.
    ledger.set_renewing(DATA, None, false, None).unwrap();
    assert!(refused(&mut ledger, &about(&["2026-10"], "0.1")).contains("were changed since"));
    let _ = granted(&mut ledger, &request("0.1"));
}

/// Where people have rows in several windows, those of one come or go in two steps.
#[test]
fn people_pay_two_steps_in_each_of_several_windows() {
    let mut ledger = Ledger::in_memory().unwrap();
    ledger.register(&people(), None).unwrap();
    ledger.set_renewing(DATA, Some(&limit(months(), "1")), false, None).unwrap();
    let ask = |names: &[&str], eps: &str| ChargeRequest { data_set: people(), ..about(names, eps) };
    let _ = granted(&mut ledger, &ask(&["2026-09"], "0.2"));
    let _ = granted(&mut ledger, &ask(&["2026-09", "2026-10"], "0.4"));
    assert_eq!(["2026-09", "2026-10"].map(|name| left(&ledger, name)), ["0", "0.2"]);
    assert_eq!(ledger.balance(DATA, None).unwrap().spent().eps.to_string(), "0.6");
    ledger.verify(None).unwrap();
}

#[test]
fn what_was_spent_before_and_without_windows_counts_in_each() {
    let mut ledger = Ledger::in_memory().unwrap();
    ledger.register(&salaries(), None).unwrap();
    let _ = granted(&mut ledger, &request("0.5"));
    ledger.set_renewing(DATA, Some(&limit(months(), "1")), false, None).unwrap();
    assert_eq!(left(&ledger, "2026-10"), "0.5");
    let _ = granted(&mut ledger, &about(&["2026-10"], "0.2"));
    // The same windows under another limit keep their sums.
    ledger.set_renewing(DATA, Some(&limit(months(), "0.6")), false, None).unwrap();
    assert_eq!(["2026-10", "2026-11"].map(|name| left(&ledger, name)), ["0", "0.1"]);
    ledger.set_renewing(DATA, Some(&limit(months(), "2")), false, None).unwrap();
    assert_eq!(["2026-10", "2026-11"].map(|name| left(&ledger, name)), ["1.3", "1.5"]);
    // Lifted and set again: what anybody spent by then counts in each, that of single windows too.
    ledger.set_renewing(DATA, None, false, None).unwrap();
    let _ = granted(&mut ledger, &request("0.1"));
    ledger.set_renewing(DATA, Some(&limit(months(), "2")), false, None).unwrap();
    assert_eq!(["2026-10", "2026-11"].map(|name| left(&ledger, name)), ["1.2", "1.2"]);
    // So it is with windows of another length.
    let _ = granted(&mut ledger, &about(&["2026-10"], "0.2"));
    let years = Windows { every: Every::Year, ..months() };
    ledger.set_renewing(DATA, Some(&limit(years, "2")), false, None).unwrap();
    let year = [Window::named(Every::Year, "1999").unwrap()];
    let balance = ledger.balance_in(DATA, None, &year).unwrap();
    assert_eq!(balance.windows[0].account.spent.approx.eps.to_string(), "1");
    ledger.verify(None).unwrap();
}

#[test]
fn limits_in_total_hold_beside_those_of_windows() {
    let mut ledger = by_month("1");
    ledger.set_limit(DATA, None, Some(&loss("1.5", "0").into())).unwrap();
    ledger.set_limit(DATA, Some("ada"), Some(&loss("0.4", "0").into())).unwrap();
    let by = |analyst: &str, names: &[&str], eps: &str| ChargeRequest {
        analyst: Some(analyst.into()),
        ..about(names, eps)
    };
    assert!(refused(&mut ledger, &by("ada", &["2026-10"], "0.5")).contains("for analyst 'ada'"));
    let _ = granted(&mut ledger, &by("ben", &["2026-10"], "1"));
    assert!(refused(&mut ledger, &by("ben", &["2026-10"], "0.1")).contains("for the month 2026-10"));
    let over = refused(&mut ledger, &by("ben", &["2026-11"], "0.6"));
    assert!(over.contains("'salaries' has epsilon 0.5 left of 1.5"), "{over}");
    // A name without an analyst is nobody's where analysts have limits.
    assert!(ledger.charge(&about(&["2026-11"], "0.1")).is_err());
    ledger.verify(None).unwrap();
}

#[test]
fn every_currency_holds_in_a_window() {
    for accountant in Accountant::ALL {
        let mut ledger = Ledger::in_memory().unwrap();
        ledger.register(&salaries(), None).unwrap();
        let _ = granted(&mut ledger, &request("0.05"));
        let within = Limit::within(&"0.5".parse().unwrap(), &"1e-6".parse().unwrap(), accountant).unwrap();
        let renewing = Renewing { windows: months(), limit: within };
        ledger.set_renewing(DATA, Some(&renewing), false, None).unwrap();
        let mut granted = 0;
        while ledger.charge(&about(&["2026-10"], "0.05")).is_ok() && granted < 40 {
            granted += 1;
        }
        // What was spent before the limit is one charge of them, and another window has only that.
        assert!((3..40).contains(&granted), "{accountant:?} {granted}");
        assert!(ledger.charge(&about(&["2026-11"], "0.05")).is_ok(), "{accountant:?}");
        ledger.verify(None).unwrap();
    }
}

#[test]
fn what_a_steward_may_not_set_is_one_line() {
    let mut ledger = Ledger::in_memory().unwrap();
    let replaced = DataSet { adjacency: Adjacency::Replace, ..salaries() };
    ledger.register(&replaced, None).unwrap();
    let moves = ledger.set_renewing(DATA, Some(&limit(months(), "1")), true, None).unwrap_err().to_string();
    assert!(moves.contains("needs add-remove") && !moves.contains('\n'), "{moves}");
    let adds_up =
        ledger.set_renewing(DATA, Some(&limit(of_time(), "0.5")), false, None).unwrap_err().to_string();
    assert!(adds_up.contains("adds up to epsilon 6 in a year") && adds_up.contains("`adds_up`"), "{adds_up}");
    assert!(ledger.set_renewing("others", Some(&limit(months(), "1")), false, None).is_err());
    let mut odometer = Ledger::odometer().unwrap();
    odometer.register(&salaries(), None).unwrap();
    assert!(odometer.set_renewing(DATA, Some(&limit(months(), "1")), false, None).is_err());
    // Windows of time hold under replace too, and a data set with windows of rows does not go there.
    ledger.set_renewing(DATA, Some(&limit(of_time(), "0.5")), true, None).unwrap();
    let mut ledger = by_month("1");
    let error = ledger.begin_anew(&replaced, true).unwrap_err().to_string();
    assert!(error.contains("needs add-remove"), "{error}");
}

#[test]
fn another_unit_has_sums_of_its_own_in_windows() {
    let mut ledger = by_month("1");
    let _ = granted(&mut ledger, &about(&["2026-10"], "0.7"));
    ledger.begin_anew(&people(), true).unwrap();
    assert_eq!(left(&ledger, "2026-10"), "1");
    let _ = granted(&mut ledger, &ChargeRequest { data_set: people(), ..about(&["2026-10"], "0.4") });
    assert_eq!(left(&ledger, "2026-10"), "0.6");
    ledger.begin_anew(&salaries(), true).unwrap();
    // What rows lost before counts again, in every window.
    assert_eq!(["2026-10", "2026-11"].map(|name| left(&ledger, name)), ["0.3", "0.3"]);
    let _ = granted(&mut ledger, &about(&["2026-11"], "0.3"));
    ledger.verify(None).unwrap();
}

#[test]
fn what_counts_for_missing_entries_counts_in_every_window() {
    let bound = loss("0.25", "0");
    let mut ledger = by_month("1");
    let _ = granted(&mut ledger, &about(&["2026-10"], "0.5"));
    ledger.restored("sam", Some(&bound)).unwrap();
    assert_eq!(["2026-10", "2026-11"].map(|name| left(&ledger, name)), ["0.25", "0.75"]);
    let _ = granted(&mut ledger, &about(&["2026-10"], "0.2"));
    assert_eq!(left(&ledger, "2026-10"), "0.05");
    ledger.verify(None).unwrap();
    // Without a bound every window may have been spent, those that nobody asked about too.
    let mut ledger = by_month("1");
    let _ = granted(&mut ledger, &about(&["2026-10"], "0.5"));
    ledger.restored("sam", None).unwrap();
    assert_eq!(["2026-10", "2026-11"].map(|name| left(&ledger, name)), ["0", "0"]);
    ledger.verify(None).unwrap();
}

/// The filter of a question is about the rows of one data set; what it would be of the others is not known.
#[test]
fn of_several_data_sets_none_has_windows() {
    let mut ledger = by_month("1");
    let visits = DataSet { name: "visits".into(), ..salaries() };
    ledger.register(&visits, None).unwrap();
    let plain = ChargeRequest { data_set: visits, ..request("0.1") };
    let error = ledger.charge_together(&plain, &[salaries()]).unwrap_err().to_string();
    assert!(error.contains("'salaries' has a limit for each month"), "{error}");
    assert_eq!(ledger.balance("visits", None).unwrap().spent().eps.to_string(), "0");
}

/// An entry of another time, as the clock of then would have made it.
fn at(ledger: &mut Ledger, kind: &'static str, data_set: &str, body: &str, time: &str) {
    let done: Result<(), LedgerError> = ledger.write(|entries, coins| {
        let id = store::fresh_id(coins);
        let body = body.to_string();
        let link = Link { kind, id: &id, data_set, analyst: None, request_id: None, body };
        entries.raise(store::WITH_WINDOWS)?;
        chain::append_at(entries, link, time.to_string())?;
        Ok(())
    });
    done.unwrap();
}

fn renewing_since(time: &str) -> Ledger {
    let mut ledger = Ledger::in_memory().unwrap();
    ledger.register(&salaries(), None).unwrap();
    let body = entry::renew_body(Some(&limit(of_time(), "1")), None);
    at(&mut ledger, kind::RENEW, DATA, &body, time);
    ledger
}

#[test]
fn a_window_of_time_that_ended_long_ago_is_opened_by_the_steward() {
    let mut ledger = renewing_since("2001-01-31T12:00:00Z");
    let jump = refused(&mut ledger, &request("0.5"));
    let today = clock::at(clock::seconds_now())[..10].to_string();
    assert!(
        jump.contains("2001-01-31T12:00:00Z")
            && jump.ends_with(&format!("'equipoise budget clock --is {today}'")),
        "{jump}"
    );
    // Of any data set: its charge would move ledger time.
    let visits = DataSet { name: "visits".into(), ..salaries() };
    ledger.register(&visits, None).unwrap();
    assert!(
        refused(&mut ledger, &ChargeRequest { data_set: visits, ..request("0.5") })
            .contains("the clock shows")
    );
    let other = ledger.confirm_clock("2001-01-31", None).unwrap_err().to_string();
    assert!(other.contains("not 2001-01-31"), "{other}");
    let time = ledger.confirm_clock(&today, Some("sam")).unwrap();
    assert_eq!(time[..10], today);
    let charge = granted(&mut ledger, &request("0.5"));
    assert_eq!(charge.balance().windows[0].window.name(), today[..7]);
    assert_eq!(charge.balance().remaining().unwrap().parts()[0].to_string(), "0.5");
    assert!(refused(&mut ledger, &request("0.6")).contains("for the month"));
    ledger.verify(None).unwrap();
}

/// A clock that is set back does not bring a window back, nor take time back.
#[test]
fn ledger_time_never_runs_back() {
    let mut ledger = renewing_since("2001-01-31T12:00:00Z");
    at(&mut ledger, kind::TIME, "", &entry::time_body(None), "2099-12-31T23:00:00Z");
    let charge = granted(&mut ledger, &request("0.5"));
    assert_eq!(
        (charge.time(), charge.balance().windows[0].window.name().as_str()),
        ("2099-12-31T23:00:00Z", "2099-12")
    );
    ledger.set_limit(DATA, None, Some(&loss("3", "0").into())).unwrap();
    let charge = granted(&mut ledger, &request("0.5"));
    assert_eq!(charge.time(), "2099-12-31T23:00:00Z");
    assert!(refused(&mut ledger, &request("0.1")).contains("for the month 2099-12"));
    ledger.verify(None).unwrap();
}

#[test]
fn a_month_that_ends_within_a_day_opens_the_next() {
    for (last, now, jumps) in [
        ("2026-10-31T23:59:59Z", "2026-11-01T00:00:00Z", false),
        ("2026-10-31T00:00:00Z", "2026-11-01T00:00:00Z", false),
        ("2026-10-30T23:59:59Z", "2026-11-01T00:00:00Z", true),
        ("2026-10-01T00:00:00Z", "2026-10-31T23:59:59Z", false),
        ("2026-11-01T00:00:00Z", "2026-10-01T00:00:00Z", false),
    ] {
        let seconds = |time: &str| clock::seconds_of(time).unwrap();
        assert_eq!(renewing::jumps(Every::Month, seconds(last), seconds(now)), jumps, "{last} {now}");
    }
    assert_eq!(
        renewing::window_at(Every::Month, clock::seconds_of("2026-10-31T23:59:59Z").unwrap()).name(),
        "2026-10"
    );
}

/// What is written in windows is recomputed: sums, which windows, and that there are some.
#[test]
fn verification_recomputes_windows() {
    let charged = |windows: &[(&str, &str)]| {
        let cost = Cost::from(loss("0.5", "0"));
        let of = |(name, eps): &(&str, &str)| {
            let spent = Cost::from(loss(eps, "0"));
            let account = Account { spent, limit: None, at_order: None };
            InWindow { window: name.parse().unwrap(), account }
        };
        let windows: Vec<InWindow> = windows.iter().map(of).collect();
        let body = ChargeBody {
            cost: &cost,
            request: "{}",
            question: "{}",
            spent: &cost,
            spent_by_analyst: None,
            windows: &windows,
        };
        body.text()
    };
    let fault = |mut ledger: Ledger, body: &str, time: &str| {
        at(&mut ledger, kind::CHARGE, DATA, body, time);
        ledger.verify(None).map(|_| ()).map_err(|error| error.to_string())
    };
    let now = clock::at(clock::seconds_now());
    assert_eq!(fault(by_month("1"), &charged(&[("month 2026-10", "0.5")]), &now), Ok(()));
    for (body, said) in [
        (charged(&[]), "its windows are not those"),
        (charged(&[("year 2026", "0.5")]), "its windows are not those"),
        (charged(&[("month 2026-10", "0.4")]), "the sum of its window"),
        (charged(&[("month 2026-10", "0.5"), ("month 2026-11", "0.6")]), "the sum of its window"),
    ] {
        let error = fault(by_month("1"), &body, &now).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
    assert!(
        fault(by_month("0.4"), &charged(&[("month 2026-10", "0.5")]), &now)
            .unwrap_err()
            .contains("beyond the limit of its window")
    );
    // Neither does a charge name windows where no limit renews any more.
    let mut lifted = by_month("1");
    lifted.set_renewing(DATA, None, false, None).unwrap();
    assert!(
        fault(lifted, &charged(&[("month 2026-10", "0.5")]), &now).unwrap_err().contains("no limit renews")
    );
    // The window of time is that of the entry.
    let since = || renewing_since("2026-10-31T12:00:00Z");
    let october = charged(&[("month 2026-10", "0.5")]);
    assert_eq!(fault(since(), &october, "2026-10-31T13:00:00Z"), Ok(()));
    for (time, said) in [
        ("2026-11-01T00:00:00Z", "its windows are not those"),
        ("2026-10-31T11:59:59Z", "ledger time runs back"),
        ("2026-11-02T00:00:00Z", "without a word of the steward"),
        ("yesterday", "its time cannot be read"),
    ] {
        let error = fault(since(), &october, time).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
    let november = charged(&[("month 2026-11", "0.5")]);
    assert_eq!(fault(since(), &november, "2026-11-01T11:00:00Z"), Ok(()));
}

/// An older program does not know such limits, and would grant what they do not.
#[test]
fn older_programs_refuse_a_ledger_with_windows() {
    let version = |ledger: &Ledger| ledger.read(|entries| entries.version()).unwrap();
    let mut ledger = Ledger::in_memory().unwrap();
    ledger.register(&salaries(), None).unwrap();
    let _ = granted(&mut ledger, &request("0.1"));
    assert_eq!(version(&ledger), store::VERSION);
    ledger.set_renewing(DATA, Some(&limit(months(), "1")), false, None).unwrap();
    assert_eq!(version(&ledger), 6);
    ledger.verify(None).unwrap();
    let body = entry::renew_body(Some(&limit(months(), "1")), Some("sam"));
    let row = entry::Row {
        number: 1,
        kind: kind::RENEW.into(),
        id: "a".into(),
        time: "t".into(),
        data_set: DATA.into(),
        analyst: String::new(),
        request_id: None,
        body,
        hash: String::new(),
    };
    let Event::Renews { renewing, by } = row.entry().unwrap().event else { panic!("{row:?}") };
    assert_eq!((renewing, by.as_deref()), (Some(limit(months(), "1")), Some("sam")));
}

/// A limit for each window guards the files of its data set as any limit does.
#[test]
fn a_ledger_with_windows_alone_takes_no_new_names() {
    let mut ledger = by_month("1");
    let visits = DataSet { name: "visits".into(), ..salaries() };
    assert!(
        refused(&mut ledger, &ChargeRequest { data_set: visits, ..request("0.1") })
            .contains("not registered")
    );
    assert!(ledger.guarded().unwrap().iter().all(|guarded| guarded.limited));
    ledger.set_renewing(DATA, None, false, None).unwrap();
    assert!(!ledger.guarded().unwrap()[0].limited);
}
