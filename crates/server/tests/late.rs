//! Answers whose rows take longer than the time after which they are shown: once late at twice that time, and lost beyond.

mod support;

use equipoise_server::desk::{Desk, Waiting};
use equipoise_session::{
    ledger::{Ledger, utc_seconds},
    plan::Plan,
    request::Request,
    session::{self, Charged, Paid, Session},
};
use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use support::Server;

fn charged(session: &mut Session, columns: &[String]) -> Charged {
    let request = Request { epsilon: Some("0.1".into()), ..Request::new("count") };
    let facts = session::facts(Some(session.ledger()), "pay", columns).unwrap();
    match session.charge(Plan::new(&request, &facts).unwrap(), None).unwrap() {
        Paid::Charged(charged) => *charged,
        Paid::Replayed(_) => panic!("no request id was given"),
    }
}

/// Let a question take so long, and give its id.
fn asked(desk: &Arc<Desk>, server: &Server, ledger: &Ledger, member: &str, takes: Duration) -> String {
    let mut session = Session::new(ledger.share().take().unwrap(), Some("ana".into())).unwrap();
    let data = server.state.store.data_set("pay").unwrap();
    let source = server.state.open_data(&data).unwrap();
    let charged = charged(&mut session, source.columns());
    let charge = charged.charge();
    let id = charge.id().to_string();
    let waiting = Waiting {
        member: member.into(),
        data_set: "pay".into(),
        ready_at: charge.time_after(1),
        late_at: charge.time_after(2),
        answer_time: 1,
        place: desk.place(member).unwrap(),
    };
    desk.begin(&id, waiting);
    drop(source);
    let (desk, key, state) = (desk.clone(), id.clone(), server.state.clone());
    thread::spawn(move || {
        desk.scan(&key, "pay", || {
            thread::sleep(takes);
            session.answer(charged, &*state.open_data(&data).unwrap())
        });
    });
    id
}

/// When each of these is no longer waited for, in tenths of a second after this call.
fn ready_after(desk: &Desk, ids: &[String]) -> Vec<u128> {
    let began = Instant::now();
    let mut found = vec![None; ids.len()];
    while found.iter().any(Option::is_none) {
        for (place, id) in ids.iter().enumerate() {
            if found[place].is_none() && desk.waits(id).is_none() {
                found[place] = Some(began.elapsed().as_millis() / 100);
            }
        }
        assert!(began.elapsed() < Duration::from_secs(10), "they never come");
        thread::sleep(Duration::from_millis(5));
    }
    found.into_iter().flatten().collect()
}

#[test]
fn late_once_at_twice_the_time_and_lost_beyond() {
    let server = Server::new();
    let ledger = server.state.ledger().unwrap();
    let desk = Desk::new(Session::new(server.state.ledger().unwrap(), None).unwrap());
    let ms = Duration::from_millis;
    let ids = [("a", ms(0)), ("b", ms(1300))].map(|(who, takes)| asked(&desk, &server, &ledger, who, takes));
    let quick_and_late = ready_after(&desk, &ids);
    assert!(
        (8..=13).contains(&quick_and_late[0]) && (18..=24).contains(&quick_and_late[1]),
        "{quick_and_late:?}"
    );
    let lost = [asked(&desk, &server, &ledger, "c", ms(2600))];
    // While it is late, it says when it will be shown, and nothing else.
    thread::sleep(ms(1300));
    let (_, at, seconds) = desk.waits(&lost[0]).unwrap();
    assert!(seconds <= 1 && at.len() == 20, "{at} in {seconds}");
    let when = ready_after(&desk, &lost);
    assert!((3..=11).contains(&when[0]), "{when:?}");
    assert_eq!(desk.lost(), 1);
    // The time that is written down is the scheduled one: one and two seconds after the charge.
    let mut after = Vec::new();
    for id in &ids {
        let (charge, recorded) = ledger.find(id).unwrap().unwrap();
        let times = [charge.time, recorded.unwrap().receipt.time].map(|time| utc_seconds(&time).unwrap());
        after.push(times[1] - times[0]);
    }
    assert_eq!(after, [1, 2]);
    // What comes after it was lost is thrown away.
    thread::sleep(ms(1000));
    assert!(ledger.find(&lost[0]).unwrap().unwrap().1.is_none());
    let verified = ledger.verify(None).unwrap();
    assert_eq!((verified.charges, verified.recorded, verified.lost), (3, 2, 1));
    desk.close();
}
