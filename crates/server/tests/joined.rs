//! Queries about several data sets of a server: every one pays, with the same analyst and key, and the answer comes at its time. `./test --sql` names
//! the program that joins in EQUIPOISE_SQL_PROGRAM; it is built nowhere else.

mod support;

use axum::http::{Method, StatusCode};
use equipoise_core::adjacency::Unit;
use equipoise_server::acts::data_sets::{self, Limiting, Number, Registering};
use equipoise_session::ledger::Event;
use serde_json::{Value, json};
use std::{env, fmt::Write as _, fs, ops::ControlFlow};
use support::{Reply, Server, steward};

const QUERY: &str = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-6) COUNT(*) AS n, SUM(v.cost) AS s \
                     FROM people p JOIN visits v ON p.person = v.who WHERE v.day = 'b' AND p.town = 'Ayr'";

fn limit(server: &Server, id: &str, epsilon: &str) {
    let number = |text: &str| Some(Number::Text(text.to_string()));
    let limit = Limiting { epsilon: number(epsilon), delta: number("1e-5"), ..Limiting::default() };
    data_sets::limit(&server.state, &steward(), id, None, &limit).unwrap();
}

/// Two data sets of 2000 people, of whom half live in Ayr; ana may ask about both, bob about the first.
fn server() -> Server {
    let server = Server::new();
    let (mut people, mut visits) = (String::from("person,town\n"), String::from("who,day,cost\n"));
    for person in 0..2000 {
        writeln!(people, "{person},{}", ["Ayr", "Bern"][person % 2]).unwrap();
        writeln!(visits, "{person},a,1\n{person},b,{}", 10 + person % 2).unwrap();
    }
    for (id, text, unit, seconds) in [("people", &people, "person", 1), ("visits", &visits, "who", 2)] {
        let path = format!("{id}.csv");
        fs::write(server.folder.path().join("data").join(&path), text).unwrap();
        let said = Registering {
            path,
            unit: Some(unit.into()),
            answer_time: Some(seconds),
            ..Registering::default()
        };
        data_sets::register(&server.state, &steward(), id, &said).unwrap();
        data_sets::grant(&server.state, &steward(), id, "ana", true).unwrap();
        limit(&server, id, "5");
    }
    data_sets::grant(&server.state, &steward(), "people", "bob", true).unwrap();
    server
}

async fn ask(server: &Server, member: &str, key: &str, said: &Value) -> Reply {
    server.call_with(Method::POST, "/v1/sql", Some(member), Some(said), &[("idempotency-key", key)]).await
}

fn spent(server: &Server, id: &str) -> String {
    let ledger = server.state.ledger().unwrap();
    let balance = ledger.balance(id, Some("ana")).unwrap();
    assert_eq!(
        balance.spent().eps.to_string(),
        balance.analyst.as_ref().unwrap().spent.approx.eps.to_string()
    );
    balance.spent().eps.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_program_there_is_one_line_that_says_how_to_get_it() {
    if env::var_os("EQUIPOISE_SQL_PROGRAM").is_some() || env::var_os("PATH").is_some_and(|path| on(&path)) {
        return;
    }
    let server = server();
    let reply = ask(&server, "ana", "a", &json!({ "query": QUERY })).await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{}", reply.text);
    let problem = reply.json();
    assert!(problem["detail"].as_str().unwrap().contains("a join is not accepted"), "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("not installed on this server"), "{problem}");
    assert_eq!((problem["line"].as_u64(), spent(&server, "people").as_str()), (Some(1), "0"));
}

fn on(path: &std::ffi::OsStr) -> bool {
    env::split_paths(path).any(|folder| folder.join("equipoise-sql").is_file())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_data_set_pays_under_one_key_and_the_answer_comes_at_the_time_of_the_slowest() {
    if env::var_os("EQUIPOISE_SQL_PROGRAM").is_none() {
        return;
    }
    let server = server();
    let said = json!({ "query": QUERY, "given": { "types": { "cost": "number" } } });
    let mut dry = said.clone();
    dry["dry_run"] = true.into();
    let plan = server.call(Method::POST, "/v1/sql", Some("ana"), Some(&dry)).await;
    assert_eq!(
        (plan.status, plan.json()["answer_time"].as_u64()),
        (StatusCode::OK, Some(2)),
        "{}",
        plan.text
    );
    assert_eq!(spent(&server, "people"), "0");

    let asked = ask(&server, "ana", "a", &said).await;
    assert_eq!(asked.status, StatusCode::ACCEPTED, "{}", asked.text);
    let id = asked.json()["id"].as_str().unwrap().to_string();
    // Before its time there is no answer, however soon the rows were read.
    assert_eq!(server.get(&format!("/v1/releases/{id}"), "ana").await.status, StatusCode::ACCEPTED);
    let release = server.release("ana", &id).await.json();
    assert_eq!(release["guarantee"]["unit"], "person", "{release}");
    let rows = server.call(Method::POST, &format!("/v1/releases/{id}/rows"), Some("ana"), Some(&said)).await;
    let rows = rows.json();
    let (n, s) = (rows["rows"][0][0].as_f64().unwrap(), rows["rows"][0][1].as_f64().unwrap());
    assert!((n - 1000.0).abs() < 60.0 && (s - 10_000.0).abs() < 2000.0, "{rows}");
    assert_eq!((spent(&server, "people"), spent(&server, "visits")), ("1".to_string(), "1".to_string()));
    // Both are recorded, at one time, and nobody else reads either.
    let ledger = server.state.ledger().unwrap();
    let mut times = Vec::new();
    ledger
        .each_entry(None, &mut |entry| {
            if matches!(entry.event, Event::Recorded { .. }) {
                times.push(entry.time.clone());
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(times.len(), 2, "{times:?}");
    assert_eq!(times[0], times[1]);
    assert_eq!(server.get(&format!("/v1/releases/{id}"), "bob").await.status, StatusCode::NOT_FOUND);
    drop(ledger);

    // The same key is the same charge; another query under it is another one.
    let again = ask(&server, "ana", "a", &said).await;
    assert_eq!(
        (again.status, again.json()["id"].as_str()),
        (StatusCode::OK, Some(id.as_str())),
        "{}",
        again.text
    );
    let mut other = said.clone();
    other["query"] = QUERY.replace("'b'", "'a'").into();
    assert_eq!(ask(&server, "ana", "a", &other).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(spent(&server, "visits"), "1");

    // What does not fit the limit of one of them is charged to none.
    limit(&server, "visits", "1.5");
    let over = ask(&server, "ana", "b", &said).await;
    assert_eq!(over.status, StatusCode::FORBIDDEN, "{}", over.text);
    assert_eq!((spent(&server, "people"), spent(&server, "visits")), ("1".to_string(), "1".to_string()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_may_not_ask_about_or_is_not_registered_so_is_not_joined() {
    if env::var_os("EQUIPOISE_SQL_PROGRAM").is_none() {
        return;
    }
    let server = server();
    for (member, query, line) in [
        ("bob", QUERY.to_string(), "there is no data set 'visits' that you may ask about"),
        (
            "ana",
            QUERY.replace("visits v", "nowhere v"),
            "there is no data set 'nowhere' that you may ask about",
        ),
        (
            "ana",
            QUERY.replace("visits v", "pay v").replace("v.who", "v.person"),
            "'pay' is neither private nor public",
        ),
        ("ana", QUERY.replace("delta=1e-6", "public_tables=[visits]"), "what a server has is somebody's"),
        ("ana", QUERY.replace("delta=1e-6", "privacy_unit_column=[people.person, visits.day]"), "two units"),
        ("ana", QUERY.replace("p.person = v.who", "p.town = v.day"), "a row would belong to two units"),
        ("ana", QUERY.replace("delta=1e-6", "adjacency='replace'"), "registered with add-remove"),
    ] {
        let said = json!({ "query": query, "given": { "types": { "cost": "number" } } });
        let reply = ask(&server, member, "x", &said).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{query}: {}", reply.text);
        assert!(reply.json()["detail"].as_str().unwrap().contains(line), "{query}: {}", reply.text);
    }
    assert_eq!((spent(&server, "people"), spent(&server, "visits")), ("0".to_string(), "0".to_string()));
    // A data set without a limit is not charged, and so nothing is.
    let said = Registering { path: "visits.csv".into(), unit: Some("who".into()), ..Registering::default() };
    data_sets::register(&server.state, &steward(), "free", &said).unwrap();
    data_sets::grant(&server.state, &steward(), "free", "ana", true).unwrap();
    let registered = server.state.ledger().unwrap().data_set("free").unwrap().unwrap();
    assert_eq!(registered.unit, Unit::Column("who".into()));
    let said = json!({
        "query": QUERY.replace("visits v", "calls v"), "tables": { "calls": "free" },
        "given": { "types": { "cost": "number" } },
    });
    let reply = ask(&server, "ana", "y", &said).await;
    assert_eq!(reply.status, StatusCode::FORBIDDEN, "{}", reply.text);
    assert_eq!(spent(&server, "people"), "0");
}
