//! One suite for ledgers in files and in Postgres: the same story, races from two hosts, killed processes; and what only a server can do:
//! stop at once, lose the reply to a commit, forget, and let in roles that may do too much.

mod ledger_support;
mod support;

use equipoise_session::ledger::{
    AskedWindows, ChargeError, ChargeRequest, Charging, DayColumn, Event, Every, Fault, Ledger, LedgerError,
    Limit, Renewing, VerifyError, Window, Windows,
};
use ledger_support::{
    Asking, CHILD, Place, approx, cut::Cut, data_set, file, granted, in_postgres, installed, limited,
    on_a_server_to_stop, on_a_small_disk, process, request, storm,
};
use std::{
    fmt::Write as _,
    ops::ControlFlow,
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// What happens to a ledger from its beginning, in words that have no id, hash or time in them.
fn story(path: &Path) -> String {
    let mut told = String::new();
    let mut ledger = Ledger::open(path).expect("the ledger opens");
    let mut tell = |what: &str, said: String| writeln!(told, "{what}: {said}").expect("a text");
    let kind = |error: ChargeError| format!("{} {}", error.exit_code(), error);
    tell("new", format!("{:?}", ledger.register(&data_set(), Some(&mut &b"1\n2\n"[..])).unwrap()));
    let other = equipoise_session::ledger::DataSet { name: "copy".into(), ..data_set() };
    tell("same content", format!("{:?}", ledger.register(&other, Some(&mut &b"1\n2\n"[..])).unwrap()));
    tell("limit", format!("{:?}", ledger.set_limit("salaries", None, Some(&approx("2").into())).unwrap()));
    ledger.set_limit("salaries", Some("ada"), Some(&approx("1").into())).unwrap();
    let charge = granted(&mut ledger, &request("0.5", Some("monday")));
    let receipt = ledger.record(&charge, "{\"value\":\"tab\\t, quote \\\", snow \u{2603}\"}").unwrap();
    assert_eq!(receipt.ledger.as_deref(), Some(ledger.id()));
    assert!(ledger.record(&charge, "{}").is_err_and(|error| error.fault == Fault::AlreadyRecorded));
    let Ok(Charging::Replay(again)) = ledger.charge(&request("0.50", Some("monday"))) else {
        panic!("asked again")
    };
    tell("again", again.release);
    assert_eq!(again.receipt, receipt);
    tell("another", kind(ledger.charge(&request("0.25", Some("monday"))).unwrap_err()));
    tell("over", kind(ledger.charge(&request("0.6", None)).unwrap_err()));
    let nobody = ChargeRequest { analyst: None, ..request("0.1", None) };
    tell("nameless", kind(ledger.charge(&nobody).unwrap_err()));
    let lost = granted(&mut ledger, &request("0.25", Some("lost")));
    let error = ledger.charge(&request("0.25", Some("lost"))).unwrap_err();
    assert!(matches!(error, ChargeError::Lost { .. }), "{error}");
    assert!(ledger.see("salaries", "ben", charge.id()).unwrap());
    assert!(ledger.has_seen("salaries", "ben", charge.id()).unwrap());
    let by_person = equipoise_session::ledger::DataSet {
        unit: equipoise_core::adjacency::Unit::Column("person".into()),
        ..data_set()
    };
    assert!(ledger.begin_anew(&by_person, false).is_err());
    let earlier = ledger.begin_anew(&by_person, true).unwrap().expect("something was spent");
    tell("earlier", format!("{:?} {}", earlier.spent, earlier.charges));
    let anew = ChargeRequest { data_set: by_person.clone(), ..request("0.5", None) };
    let _ = granted(&mut ledger, &anew);
    let renyi = Limit::within(
        &"3".parse().unwrap(),
        &"1e-6".parse().unwrap(),
        equipoise_session::ledger::Accountant::Renyi,
    );
    ledger.set_limit("salaries", None, Some(&renyi.unwrap())).unwrap();
    let _ = granted(&mut ledger, &anew);
    ledger.restored("sam", Some(&approx("0.125"))).unwrap();
    for analyst in [None, Some("ada"), Some("ben")] {
        tell("balance", format!("{:?}", ledger.balance("salaries", analyst).unwrap()));
    }
    tell("names", format!("{:?} {:?}", ledger.data_sets().unwrap(), ledger.analysts("salaries").unwrap()));
    tell("charges", format!("{:?}", ledger.charges("salaries", Some("ada")).unwrap()));
    tell("more", format!("{:?}", [1, 2, 3].map(|than| ledger.has_more_charges("salaries", than).unwrap())));
    tell("guarded", format!("{:?}", ledger.guarded().unwrap()));
    tell("found", format!("{:?}", ledger.beginning_with(&charge.id()[..6]).unwrap().len()));
    tell("latest", format!("{:?}", ledger.latest_records("salaries", Some("ada"), 5).unwrap().len()));
    tell("longest", format!("{:?}", ledger.longest_analyst().unwrap()));
    let witness = ledger.witness(charge.id(), charge.hash()).unwrap();
    tell("witness", format!("{:?}", ledger.witnessed(&witness).unwrap()));
    assert!(ledger.has_hash(&charge.hash().to_uppercase()).unwrap() && !ledger.has_hash("0").unwrap());
    let visits = equipoise_session::ledger::DataSet { name: "visits".into(), ..by_person.clone() };
    ledger.register(&visits, None).unwrap();
    let day = Some(DayColumn { name: "visited".into(), moments: true });
    let windows = Windows { every: Every::Month, day };
    let renewing = Renewing { windows: windows.clone(), limit: approx("1").into() };
    ledger.set_renewing("visits", Some(&renewing), false, Some("sam")).unwrap();
    let about = |names: &[&str], eps: &str| {
        let month = |name: &&str| Window::named(Every::Month, name).expect("a month");
        let asked = AskedWindows { windows: windows.clone(), asked: names.iter().map(month).collect() };
        ChargeRequest { data_set: visits.clone(), windows: Some(asked), ..request(eps, None) }
    };
    let _ = granted(&mut ledger, &about(&["2026-10"], "0.25"));
    let _ = granted(&mut ledger, &about(&["2026-10", "2026-11"], "0.25"));
    tell("window over", kind(ledger.charge(&about(&["2026-10"], "0.5")).unwrap_err()));
    let whole = ChargeRequest { data_set: visits.clone(), ..request("0.1", None) };
    tell("no window", kind(ledger.charge(&whole).unwrap_err()));
    tell("windows", format!("{:?}", ledger.windows("visits").unwrap()));
    let head = ledger.head().unwrap();
    assert!(ledger.has_head(&head).unwrap() && ledger.contains(&head).unwrap());
    let verified = ledger.verify(Some(&head)).unwrap();
    assert_eq!(verified.lost_ids.first().map(String::as_str), Some(lost.id()));
    tell("verified", format!("{} {} {}", verified.charges, verified.recorded, verified.lost));
    ledger
        .each_entry(None, &mut |entry| {
            let words = format!("{:?}", std::mem::discriminant(&entry.event));
            tell("entry", format!("{} {:?} {:?} {words}", entry.number, entry.data_set, entry.analyst));
            if let Event::Charged { cost, spent, .. } = &entry.event {
                tell("sum", format!("{cost:?} {spent:?}"));
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    let mut exported = 0;
    ledger
        .export(&mut |piece| {
            exported += piece.len();
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(exported > 1000);
    told
}

#[test]
fn files_and_postgres_tell_one_story() {
    let Some(there) = in_postgres() else { return };
    let (_folder, here) = file();
    let (one, two) = (story(&here), story(there.address()));
    assert!(one.contains("over: 4") && one.contains("verified: "), "{one}");
    assert_eq!(one, two);
    // What is shown of the place has neither role nor password.
    let error = Ledger::open(&there.address_as("nobody_like_this")).err().expect("no such role").to_string();
    assert!(error.contains("does not let this role in") && !error.contains("nobody_like_this"), "{error}");
}

/// One process of a race or a storm.
#[test]
fn asking_process() {
    if let Ok(text) = std::env::var(CHILD) {
        process(&Asking::read(&text));
    }
}

/// 8 processes under two host names, and a limit: exactly the limit is granted.
#[test]
fn eight_processes_of_two_hosts_never_overspend() {
    for place in Place::and_a_file(in_postgres()) {
        limited(place.address(), "1.23");
        let began = Instant::now();
        let seen = storm(&place, &Asking { processes: 8, requests: 160, kills: 0, stops: 0 });
        let seconds = began.elapsed().as_secs_f64();
        let ledger = Ledger::open_read_only(place.address()).unwrap();
        let verified = ledger.verify(None).unwrap();
        println!("race on {place}: {} granted of 160 in {seconds:.1} s", seen.charged.len());
        assert_eq!((seen.charged.len(), seen.refused, verified.charges, verified.lost), (123, 37, 123, 0));
        assert_eq!(ledger.balance("salaries", None).unwrap().spent(), &approx("1.23"));
    }
}

/// Processes are killed, and the server is stopped as a crash would: what was told is there, nothing is over the limit.
/// `EQUIPOISE_STORM=1`: 10,000 requests, 200 kills, 20 stops.
#[test]
fn a_storm_loses_nothing() {
    let whole = std::env::var_os("EQUIPOISE_STORM").is_some();
    let asking = if whole {
        Asking { processes: 8, requests: 10_000, kills: 200, stops: 20 }
    } else {
        Asking { processes: 4, requests: 200, kills: 6, stops: 2 }
    };
    // Nine of ten fit.
    let limit = asking.requests * 9 / 10;
    for place in Place::and_a_file(on_a_server_to_stop()) {
        limited(place.address(), &format!("{limit}/100"));
        let began = Instant::now();
        let seen = storm(&place, &asking);
        let ledger = Ledger::open_read_only(place.address()).unwrap();
        let verified = ledger.verify(None).unwrap();
        println!(
            "storm on {place}: {} requests, {} kills, {} stops: {} charged and told, {} answered, {} refused, {} tried again; ledger: {} charges, {} lost; {:.0} s",
            asking.requests,
            seen.kills,
            seen.stops,
            seen.charged.len(),
            seen.answered.len(),
            seen.refused,
            seen.failed,
            verified.charges,
            verified.lost,
            began.elapsed().as_secs_f64()
        );
        assert_eq!(verified.charges, limit as u64, "all that fits, and no more");
        for id in &seen.charged {
            assert!(ledger.find(id).unwrap().is_some(), "a charge was lost: {id}");
        }
        for (id, hash) in &seen.answered {
            let (_, recorded) = ledger.find(id).unwrap().expect("its charge");
            assert_eq!(
                recorded.map(|recorded| recorded.receipt.hash).as_ref(),
                Some(hash),
                "an answer was lost"
            );
        }
    }
}

/// The line breaks in the middle of a commit: before the server has it, or before its reply comes.
#[test]
fn a_commit_without_a_reply_is_looked_up() {
    let Some(place) = in_postgres() else { return };
    limited(place.address(), "1");
    for (cut, charges) in [(Cut::Reply, 1), (Cut::Request, 1)] {
        let line = cut.between(place.port());
        let mut ledger = Ledger::open(&place.over_tcp(line.port())).expect("the ledger opens");
        line.arm();
        let charged = ledger.charge(&request("0.25", None));
        assert!(line.has_cut(), "{cut:?}");
        match (cut, charged) {
            // It was done: whoever waited for it has it, once.
            (Cut::Reply, Ok(Charging::Granted(charge))) => {
                ledger.record(&charge, "{}").expect("the ledger goes on");
            }
            // It was not, and nothing is charged.
            (Cut::Request, Err(ChargeError::Ledger(LedgerError { fault: Fault::Gone, .. }))) => {}
            (cut, other) => panic!("{cut:?}: {other:?}"),
        }
        let verified = Ledger::open_read_only(place.address()).unwrap().verify(None).unwrap();
        assert_eq!((verified.charges, verified.lost), (charges, 0), "{cut:?}");
    }
}

/// The disk of the server is full again and again: what was told is there, what was not granted may be asked for again, and once there is
/// space all that fits is granted.
#[test]
fn a_full_disk_loses_nothing() {
    let Some((disk, place)) = on_a_small_disk() else { return };
    limited(place.address(), "4");
    // Long enough that pages and the log of the server grow with every few of them.
    let text = "x".repeat(20_000);
    let mut told: Vec<(String, Option<String>)> = Vec::new();
    let (mut refused_by_disk, mut granted) = (0, 0_u64);
    let mut opened: Option<Ledger> = None;
    for number in 0..400 {
        if number % 100 == 50 {
            disk.fill();
        }
        if number % 100 == 90 {
            disk.free();
            opened = patiently_opened(place.address());
        }
        let mut ask = request("0.01", Some(&format!("d{number}")));
        ask.question = format!("{{\"statistic\":\"median\",\"of\":\"{text}\"}}");
        opened = opened.or_else(|| Ledger::open(place.address()).ok());
        let Some(ledger) = &mut opened else {
            refused_by_disk += 1;
            continue;
        };
        match ledger.charge(&ask) {
            Ok(Charging::Granted(charge)) => {
                granted += 1;
                let receipt = ledger.record(&charge, &format!("{{\"value\":\"{text}\"}}")).ok();
                told.push((charge.id().to_string(), receipt.map(|receipt| receipt.hash)));
            }
            Err(ChargeError::Ledger(LedgerError {
                fault: Fault::Full | Fault::Gone | Fault::Unreachable | Fault::Busy | Fault::Unfinished { .. },
                ..
            })) => {
                refused_by_disk += 1;
                opened = None;
            }
            other => panic!("{other:?}"),
        }
    }
    let mut ledger = patiently_opened(place.address()).expect("there is space again");
    println!("full disk: {granted} granted, {refused_by_disk} turned down by the disk");
    assert!(refused_by_disk > 0, "the disk was full");
    let verified = ledger.verify(None).unwrap();
    assert!(verified.charges >= granted, "{} of {granted}", verified.charges);
    for (id, hash) in &told {
        let (_, recorded) = ledger.find(id).unwrap().expect("a charge that was told");
        if hash.is_some() {
            assert_eq!(
                recorded.map(|recorded| recorded.receipt.hash).as_ref(),
                hash.as_ref(),
                "an answer was lost"
            );
        }
    }
    // The rest of the limit, and no more.
    let left = 400 - verified.charges;
    for number in 0..=left {
        let charged = ledger.charge(&request("0.01", Some(&format!("after{number}"))));
        assert_eq!(matches!(charged, Ok(Charging::Granted(_))), number < left, "{charged:?}");
    }
    assert_eq!(ledger.balance("salaries", None).unwrap().spent(), &approx("4"));
}

/// A server that recovers takes its time.
fn patiently_opened(address: &Path) -> Option<Ledger> {
    (0..600).find_map(|_| {
        let ledger = Ledger::open(address).ok();
        if ledger.is_none() {
            thread::sleep(Duration::from_millis(50));
        }
        ledger
    })
}

/// A line that breaks outside of any commit is made anew, and nobody notices.
#[test]
fn a_server_that_comes_back_is_found_again() {
    let Some(place) = on_a_server_to_stop() else { return };
    limited(place.address(), "1");
    let mut ledger = Ledger::open(place.address()).unwrap();
    let charge = granted(&mut ledger, &request("0.25", None));
    place.stop();
    ledger.record(&charge, "{}").expect("the server is back");
    assert_eq!(ledger.verify(None).unwrap().recorded, 1);
}

#[test]
fn who_could_forget_or_change_entries_is_refused() {
    let Some(place) = in_postgres() else { return };
    let opened = |role: &str| Ledger::open(&place.address_as(role)).map(drop).map_err(|error| error.fault);
    assert_eq!(opened("boss"), Err(Fault::MayChange), "a superuser");
    place.run("CREATE ROLE careless LOGIN; GRANT USAGE ON SCHEMA equipoise TO careless");
    assert!(matches!(opened("careless"), Err(Fault::Server { .. })), "it may not read");
    place.run("GRANT SELECT ON ALL TABLES IN SCHEMA equipoise TO careless");
    assert!(matches!(opened("careless"), Err(Fault::Server { .. })), "it may not add");
    Ledger::open_read_only(&place.address_as("careless")).expect("it may look");
    place.run("GRANT INSERT ON ALL TABLES IN SCHEMA equipoise TO careless");
    assert_eq!(opened("careless"), Ok(()));
    for (right, table) in [
        ("UPDATE", "entries"),
        ("DELETE", "entries"),
        ("TRUNCATE", "entries"),
        ("TRIGGER", "entries"),
        ("UPDATE (body)", "entries"),
        ("UPDATE", "secret"),
        ("DELETE", "versions"),
    ] {
        place.run(&format!("GRANT {right} ON equipoise.{table} TO careless"));
        assert_eq!(opened("careless"), Err(Fault::MayChange), "{right} on {table}");
        place.run(&format!("REVOKE {right} ON equipoise.{table} FROM careless"));
    }
    for (gets, loses) in [
        ("ALTER ROLE careless CREATEROLE", "ALTER ROLE careless NOCREATEROLE"),
        ("GRANT pg_execute_server_program TO careless", "REVOKE pg_execute_server_program FROM careless"),
    ] {
        place.run(gets);
        assert_eq!(opened("careless"), Err(Fault::MayChange), "{gets}");
        place.run(loses);
    }
    assert_eq!(opened("careless"), Ok(()));
    limited(place.address(), "1");
    for setting in ["off", "local", "remote_write"] {
        place.run(&format!("ALTER ROLE asking SET synchronous_commit = {setting}"));
        let mut ledger = Ledger::open(place.address()).unwrap();
        let error = ledger.charge(&request("0.25", None)).unwrap_err().to_string();
        assert!(error.contains(&format!("synchronous_commit={setting} and could forget charges")), "{error}");
    }
    place.run("ALTER ROLE asking RESET ALL");
    let role = place.psql_as("asking", "DELETE FROM equipoise.entries");
    assert!(role.contains("permission denied"), "{role}");
    let owner = place.psql_as("boss", "DELETE FROM equipoise.entries");
    assert!(owner.contains("entries are never changed or deleted"), "{owner}");
}

/// Where everybody may make functions and operators, an operator that fits better than the server's own ran as the role that charges.
#[test]
fn nothing_that_others_made_runs_as_the_role_that_charges() {
    let Some(place) = in_postgres() else { return };
    place.run(
        "CREATE TABLE public.trapped (who text); GRANT INSERT ON public.trapped TO PUBLIC; \
         CREATE FUNCTION public.trap(oid, integer) RETURNS boolean LANGUAGE plpgsql AS \
           $$ BEGIN INSERT INTO public.trapped VALUES (current_user); RETURN $1 = $2::oid; END $$; \
         CREATE OPERATOR public.= (LEFTARG = oid, RIGHTARG = integer, FUNCTION = public.trap); \
         CREATE FUNCTION public.trap(bigint, integer) RETURNS boolean LANGUAGE plpgsql AS \
           $$ BEGIN INSERT INTO public.trapped VALUES (current_user); RETURN $1 >= $2::bigint; END $$; \
         CREATE OPERATOR public.>= (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = public.trap); \
         CREATE TABLE public.entries (number bigint); CREATE TABLE public.versions (version bigint)",
    );
    limited(place.address(), "1");
    let mut ledger = Ledger::open(place.address()).unwrap();
    let charge = granted(&mut ledger, &request("0.25", None));
    ledger.record(&charge, "{}").unwrap();
    assert_eq!(ledger.verify(None).unwrap().recorded, 1);
    place.run(
        "DO $$ BEGIN IF EXISTS (SELECT FROM public.trapped) THEN RAISE EXCEPTION 'trapped'; END IF; END $$",
    );
}

/// A trigger that swallows entries raises no error, and a charge that is nowhere was granted.
#[test]
fn an_entry_that_is_swallowed_is_no_charge() {
    let Some(place) = in_postgres() else { return };
    limited(place.address(), "1");
    let mut ledger = Ledger::open(place.address()).unwrap();
    place.run(
        "CREATE FUNCTION public.lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$; \
         CREATE TRIGGER lose BEFORE INSERT ON equipoise.entries FOR EACH ROW EXECUTE FUNCTION public.lose()",
    );
    let charged = ledger.charge(&request("0.25", None));
    assert!(matches!(charged, Err(ChargeError::Ledger(_))), "{charged:?}");
}

/// Rows that a policy hides are sums that are too small.
#[test]
fn entries_that_are_hidden_are_not_taken_for_all() {
    let Some(place) = in_postgres() else { return };
    limited(place.address(), "1");
    let mut ledger = Ledger::open(place.address()).unwrap();
    let charge = granted(&mut ledger, &request("0.75", None));
    ledger.record(&charge, "{}").unwrap();
    place.run(
        "ALTER TABLE equipoise.entries ENABLE ROW LEVEL SECURITY; \
         CREATE POLICY hide ON equipoise.entries USING (kind <> 'charge') WITH CHECK (true)",
    );
    let charged = ledger.charge(&request("0.5", None));
    assert!(matches!(charged, Err(ChargeError::Ledger(_))), "{charged:?}");
}

#[test]
fn of_two_who_make_a_ledger_at_once_one_does() {
    let Some(place) = in_postgres() else { return };
    place.run("DROP SCHEMA equipoise CASCADE");
    let address = place.address_as("boss");
    let made: Vec<bool> = std::thread::scope(|scope| {
        let one = || match Ledger::make_on_server(&address, "asking") {
            Ok(()) => true,
            Err(error) => {
                assert!(matches!(error.fault, Fault::Begun | Fault::Busy), "{error}");
                false
            }
        };
        let started: Vec<_> = (0..4).map(|_| scope.spawn(one)).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(made.iter().filter(|made| **made).count(), 1);
    limited(place.address(), "1");
    Ledger::open_read_only(place.address()).unwrap().verify(None).unwrap();
}

#[test]
fn a_server_without_fsync_is_refused() {
    installed();
    // The cluster of the other tests has none, because it keeps nothing.
    let Some(cluster) = support::cluster() else { return };
    let database = cluster.database("CREATE ROLE asking LOGIN");
    Ledger::make_on_server(&database.ledger_as("boss"), "asking").unwrap();
    let error = Ledger::open(&database.ledger_as("asking")).unwrap().register(&data_set(), None).unwrap_err();
    assert!(error.to_string().contains("fsync=off and could forget charges; have it set to on"), "{error}");
}

#[test]
fn beginnings_that_are_none() {
    let Some(place) = in_postgres() else { return };
    let fault = |role: &str| Ledger::make_on_server(&place.empty(), role).map_err(|error| error.to_string());
    for (role, said) in [
        ("boss", "could change entries"),
        ("no such", "there is no role 'no such'"),
        ("x'; DROP SCHEMA public; --", "there is no role"),
    ] {
        let error = fault(role).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
    let error = Ledger::open(&place.empty()).err().expect("none yet");
    assert_eq!((error.exit_code(), &error.fault), (2, &Fault::NotBegun));
    fault("asking").unwrap();
    assert!(fault("asking").is_err_and(|error| error.contains("has a ledger already")));
    let table = place.empty().display().to_string() + "?table=a.b";
    let error = Ledger::open(Path::new(&table)).err().expect("no ledger").to_string();
    assert!(error.contains("leave out table="), "{error}");
}

/// What an owner does with force is found, as in a file.
#[test]
fn edits_are_found() {
    for (edit, said) in [
        (
            "UPDATE equipoise.entries SET body = replace(body, '0.25', '0.125') WHERE kind = 'charge'",
            "at entry 4",
        ),
        ("DELETE FROM equipoise.entries WHERE number = 4", "at entry 4"),
        ("UPDATE equipoise.secret SET secret = 'x'", "its secret or its version"),
        ("INSERT INTO equipoise.versions VALUES (5)", "its secret or its version"),
        ("DROP INDEX equipoise.entries_by_id", "tables, indexes or triggers"),
        ("ALTER TABLE equipoise.entries DISABLE TRIGGER ALL", "tables, indexes or triggers"),
        ("ALTER TABLE equipoise.entries ALTER analyst DROP NOT NULL", "tables, indexes or triggers"),
        (
            "CREATE RULE lose AS ON INSERT TO equipoise.entries DO INSTEAD NOTHING",
            "tables, indexes or triggers",
        ),
    ] {
        let Some(place) = in_postgres() else { return };
        limited(place.address(), "1");
        let mut ledger = Ledger::open(place.address()).unwrap();
        let charge = granted(&mut ledger, &request("0.25", None));
        ledger.record(&charge, "{}").unwrap();
        ledger.verify(None).unwrap();
        place.run(&format!("SET session_replication_role = replica; {edit}"));
        match ledger.verify(None) {
            Err(error @ VerifyError::Broken { .. }) => {
                assert!(error.to_string().contains(said), "{edit}: {error}");
            }
            other => panic!("{edit}: {other:?}"),
        }
    }
}
