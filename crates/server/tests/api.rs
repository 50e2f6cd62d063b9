//! The API from a plan to an answer: what is charged, when it is shown, and what is never shown.

mod support;

use axum::http::{Method, StatusCode};
use equipoise_server::state::State;
use equipoise_session::ledger::{Ledger, utc_seconds};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use support::{Server, settings};

fn median(epsilon: &str) -> Value {
    json!({ "statistic": "median", "column": "salary", "epsilon": epsilon })
}

#[tokio::test]
async fn a_plan_is_free_and_has_the_document_of_a_dry_run() {
    let server = Server::new();
    let before = Ledger::open_read_only(&server.ledger()).unwrap().head().unwrap();
    let plan = server.call(Method::POST, "/v1/data-sets/pay/plans", Some("ana"), Some(&median("1"))).await;
    assert_eq!(plan.status, StatusCode::OK, "{}", plan.text);
    let plan = plan.json();
    assert_eq!((&plan["outcome"], &plan["charge"]["epsilon"]), (&json!("planned"), &json!("1")));
    assert_eq!((&plan["remaining"]["epsilon"], &plan["data"]), (&json!("5"), &json!("pay")));
    assert_eq!(
        Ledger::open_read_only(&server.ledger()).unwrap().head().unwrap(),
        before,
        "nothing is written"
    );
    // A plan never reads rows: the same over any.
    std::fs::write(
        server.folder.path().join("data/pay.csv"),
        format!("person,salary,{}\n", support::HOSTILE),
    )
    .unwrap();
    let again = server.call(Method::POST, "/v1/data-sets/pay/plans", Some("ana"), Some(&median("1"))).await;
    assert_eq!(again.json(), plan);
}

#[tokio::test]
async fn what_is_wrong_with_a_question_is_one_line_for_free() {
    let server = Server::new();
    for (question, status, said) in [
        (json!({ "statistic": "median", "column": "pay", "epsilon": 1 }), 400, "no column"),
        (json!({ "statistic": "median", "column": "salary" }), 400, "epsilon"),
        (json!({ "statistic": "median", "column": "salary", "epsilon": 1, "seed": 7 }), 400, "unknown field"),
        (
            json!({ "statistic": "median", "column": "salary", "epsilon": 1, "header": false }),
            400,
            "registered",
        ),
        (json!({ "statistic": "median", "column": "salary", "epsilon": 6 }), 403, "has epsilon 5 left of 5"),
    ] {
        let reply = server.ask("ana", "wrong", &question).await;
        let problem = reply.json();
        assert_eq!(reply.status.as_u16(), status, "{problem}");
        assert_eq!(reply.header("content-type"), "application/problem+json");
        assert!(problem["detail"].as_str().unwrap().contains(said), "{problem}");
        assert_eq!(problem["exit"], if status == 403 { 4 } else { 2 });
    }
    let over = server.ask("ana", "over", &median("6")).await.json();
    assert_eq!(over["remaining"]["epsilon"], "5");
    let nameless =
        server.call(Method::POST, "/v1/data-sets/pay/questions", Some("ana"), Some(&median("1"))).await;
    assert!(nameless.status == 400 && nameless.text.contains("Idempotency-Key"));
    let ledger = Ledger::open_read_only(&server.ledger()).unwrap();
    assert_eq!(ledger.verify(None).unwrap().charges, 0);
}

/// What callers compute, state or run themselves is for whoever holds the rows.
#[tokio::test]
async fn calls_of_ones_own_are_no_questions_to_a_server() {
    let server = Server::new();
    let own =
        equipoise_session::stated::CALLS.into_iter().chain(["graph", "program", "subsample", "holdout"]);
    for (number, call) in own.enumerate() {
        let plain = json!({ "statistic": call, "epsilon": "1" });
        let stated = json!({ "statistic": call, "epsilon": "1", "sensitivity": "1", "options": ["a", "b"] });
        for (form, question) in [plain, stated].iter().enumerate() {
            for member in ["ana"] {
                let reply = server.ask(member, &format!("own-{number}-{form}"), question).await;
                assert!(reply.status.is_client_error(), "{call}: {}", reply.text);
            }
            let path = "/v1/data-sets/pay/plans";
            let plan = server.call(Method::POST, path, Some("ana"), Some(question)).await;
            assert_eq!(plan.status, StatusCode::BAD_REQUEST, "{call}: {}", plan.text);
        }
    }
    assert_eq!(Ledger::open_read_only(&server.ledger()).unwrap().verify(None).unwrap().charges, 0);
}

#[tokio::test]
async fn an_answer_is_recorded_and_shown_at_its_scheduled_time_whatever_it_is() {
    let server = Server::new();
    // One is released, one refused for want of rows; nobody can tell them apart until then.
    let refused =
        json!({ "statistic": "median", "column": "salary", "epsilon": "0.5", "where": "salary > 2998" });
    let mut seen = Vec::new();
    for (key, question) in [("one", median("1")), ("two", refused)] {
        let began = Instant::now();
        let reply = server.ask("ana", key, &question).await;
        assert_eq!(reply.status, StatusCode::ACCEPTED, "{}", reply.text);
        let accepted = reply.json();
        let id = accepted["id"].as_str().unwrap().to_string();
        assert_eq!(reply.header("location"), format!("/v1/releases/{id}"));
        tokio::time::sleep(Duration::from_millis(500)).await;
        let waiting = server.get(&format!("/v1/releases/{id}"), "ana").await;
        assert_eq!(waiting.status, StatusCode::ACCEPTED);
        assert_eq!(waiting.header("retry-after"), "1");
        let mut shape = waiting.json();
        assert_eq!(shape["ready_at"], accepted["ready_at"]);
        shape["ready_at"] = json!(null);
        let release = server.release("ana", &id).await;
        assert!(began.elapsed() >= Duration::from_secs(1), "shown too early");
        assert_eq!(release.status, StatusCode::OK, "a refusal is an answer");
        let release = release.json();
        assert_eq!(release["receipt"]["time"], accepted["ready_at"], "the scheduled time is written down");
        assert_eq!(release["receipt"]["id"], id.as_str());
        seen.push((shape, release["outcome"].clone()));
    }
    assert_eq!(seen[0].0, seen[1].0, "they look the same");
    assert_eq!([&seen[0].1, &seen[1].1], [&json!("released"), &json!("refused")]);
    let ledger = Ledger::open_read_only(&server.ledger()).unwrap();
    let verified = ledger.verify(None).unwrap();
    assert_eq!((verified.charges, verified.recorded, verified.lost), (2, 2, 0));
    let mut times = Vec::new();
    ledger
        .each_entry(None, &mut |entry| {
            if entry.id.len() == 32 && seen.len() == 2 {
                times.push((entry.id.clone(), utc_seconds(&entry.time).unwrap()));
            }
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    let pairs = times.iter().filter_map(|(id, at)| {
        let later = times.iter().rev().find(|(other, _)| other == id)?;
        (later.1 > *at).then_some(later.1 - at)
    });
    assert_eq!(pairs.collect::<Vec<_>>(), [1, 1], "one second after each charge");
}

#[tokio::test]
async fn asking_again_is_free_and_another_request_under_the_key_is_refused() {
    let server = Server::new();
    let first = server.ask("ana", "monday", &median("1")).await.json();
    let id = first["id"].as_str().unwrap();
    let early = server.ask("ana", "monday", &median("1")).await;
    assert_eq!(early.status, StatusCode::CONFLICT, "{}", early.text);
    assert_eq!(early.json()["id"], id);
    let release = server.release("ana", id).await.json();
    let again = server.ask("ana", "monday", &median("1")).await;
    assert_eq!(again.status, StatusCode::OK);
    assert_eq!((&again.json()["id"], &again.json()["charge"]["epsilon"]), (&json!(id), &json!("0")));
    assert_eq!(server.release("ana", id).await.json(), release);
    let other = server.ask("ana", "monday", &median("2")).await;
    assert_eq!(other.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", other.text);
    assert_eq!(Ledger::open_read_only(&server.ledger()).unwrap().verify(None).unwrap().charges, 1);
}

#[tokio::test]
async fn a_limit_holds_however_many_ask_at_once() {
    let server = std::sync::Arc::new(Server::new());
    let asked = (0..40).map(|number| {
        let server = server.clone();
        tokio::spawn(async move {
            loop {
                let status = server.ask("ana", &format!("key {number}"), &median("0.5")).await.status;
                // Four of one member wait at a time; others are not taken, for free.
                if status != StatusCode::SERVICE_UNAVAILABLE {
                    return status;
                }
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        })
    });
    let mut granted = 0;
    for status in asked.collect::<Vec<_>>() {
        match status.await.unwrap().as_u16() {
            202 => granted += 1,
            403 => {}
            other => panic!("status {other}"),
        }
    }
    assert_eq!(granted, 10, "5 of 0.5 each");
    let ledger = Ledger::open_read_only(&server.ledger()).unwrap();
    assert_eq!(ledger.balance("pay", None).unwrap().spent().eps.to_exact(), "5");
}

#[tokio::test]
async fn an_analysts_own_limit_holds_in_the_same_transaction() {
    let server = Server::new();
    let path = "/v1/data-sets/pay/limits/ana";
    let limited =
        server.call(Method::PUT, path, Some("sam"), Some(&json!({ "epsilon": "0.7", "delta": 1e-6 }))).await;
    assert_eq!(limited.status, StatusCode::OK, "{}", limited.text);
    assert_eq!(server.ask("ana", "a", &median("0.5")).await.status, StatusCode::ACCEPTED);
    let over = server.ask("ana", "b", &median("0.5")).await;
    assert_eq!((over.status.as_u16(), &over.json()["analyst"]), (403, &json!("ana")));
    let seen = server.get("/v1/data-sets/pay", "ana").await.json();
    assert_eq!(
        (&seen["yours"]["remaining"]["epsilon"], &seen["spent"]["epsilon"]),
        (&json!("0.2"), &json!("0.5"))
    );
    assert!(
        seen.get("path").is_none() && seen.get("analysts").is_none() && seen.get("longest_scan").is_none()
    );
}

#[tokio::test]
async fn what_waits_when_the_server_ends_is_lost_and_never_repeated() {
    let mut server = Server::new();
    let id = server.ask("ana", "monday", &median("1")).await.json()["id"].as_str().unwrap().to_string();
    // As after a kill: nothing is recorded any more, and another process opens the directory.
    server.state.desk.close();
    let folder = std::mem::replace(&mut server.folder, tempfile::TempDir::new().unwrap());
    let token = server.token("ana").to_string();
    drop(server);
    let state = loop {
        // The thread that read rows may still hold the directory.
        match State::open(settings(&folder)) {
            Ok(state) => break state,
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    let mut again = Server::new();
    again.app = equipoise_server::app(state);
    let lost = again.call(Method::GET, &format!("/v1/releases/{id}"), Some(&token), None).await;
    assert_eq!((lost.status.as_u16(), &lost.json()["exit"]), (410, &json!(1)), "{}", lost.text);
    let asked = again
        .call_with(
            Method::POST,
            "/v1/data-sets/pay/questions",
            Some(&token),
            Some(&median("1")),
            &[("idempotency-key", "monday")],
        )
        .await;
    assert_eq!(asked.status.as_u16(), 410, "{}", asked.text);
    let ledger = Ledger::open_read_only(&folder.path().join("server/equipoise.ledger")).unwrap();
    let verified = ledger.verify(None).unwrap();
    assert_eq!((verified.charges, verified.recorded), (1, 0));
}

#[tokio::test]
async fn explanations_pictures_and_the_ledger_say_what_the_command_line_says() {
    let server = Server::new();
    let accepted = server.ask("ana", "monday", &median("1")).await.json();
    let id = accepted["id"].as_str().unwrap();
    let early = server.get(&format!("/v1/releases/{id}/picture.svg"), "ana").await;
    assert_eq!(early.status, StatusCode::ACCEPTED);
    server.release("ana", id).await;
    let explained = server.get(&format!("/v1/releases/{id}/explanation"), "ana").await.json();
    assert!(
        explained["explanation"].as_str().unwrap().contains("the median of the column 'salary'"),
        "{explained}"
    );
    let picture = server.get(&format!("/v1/releases/{id}/picture.svg"), "ana").await;
    assert_eq!(picture.header("content-type"), "image/svg+xml");
    assert!(
        picture.text.starts_with("<svg") && picture.header("content-security-policy").contains("sandbox")
    );
    let head = server.get("/v1/ledger/head", "rita").await.json();
    let entries = server.get("/v1/ledger/entries?after=2", "rita").await.json();
    let entries = entries["entries"].as_array().unwrap().clone();
    assert_eq!(entries[0]["number"], 3);
    assert_eq!(entries.last().unwrap()["hash"], head["hash"]);
    let acts: Vec<&str> = entries.iter().filter_map(|entry| entry["event"]["by"].as_str()).collect();
    assert!(!acts.is_empty() && acts.iter().all(|by| *by == "sam"));
    let kept = json!({ "head": head["head"] });
    let verified = server.call(Method::POST, "/v1/ledger/verify", Some("rita"), Some(&kept)).await;
    assert_eq!((verified.status.as_u16(), &verified.json()["verified"]), (200, &json!(true)));
    let other = json!({ "head": format!("{} 99 {}", head["ledger"].as_str().unwrap(), head["hash"].as_str().unwrap()) });
    let broken = server.call(Method::POST, "/v1/ledger/verify", Some("rita"), Some(&other)).await;
    assert_eq!((broken.status.as_u16(), &broken.json()["exit"]), (409, &json!(1)), "{}", broken.text);
}

#[tokio::test]
async fn a_lost_answer_looks_like_any_other_until_its_time() {
    let server = Server::new();
    // Rows that cannot be read to the end: the file is gone between the plan and the scan, or is a broken archive.
    let broken = server.folder.path().join("data/broken.csv.gz");
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    // Stored blocks with a header line and rows, and then no block where the next should be.
    let text = format!("person,salary\n{}", "1,2\n".repeat(15_000));
    let length = u16::try_from(text.len()).unwrap();
    for _ in 0..40 {
        packed.push(0);
        packed.extend(length.to_le_bytes());
        packed.extend((!length).to_le_bytes());
        packed.extend(text.as_bytes());
    }
    packed.extend([7, 0xff, 0xff]);
    std::fs::write(&broken, packed).unwrap();
    let registered = server
        .call(
            Method::PUT,
            "/v1/data-sets/broken",
            Some("sam"),
            Some(&json!({ "path": "broken.csv.gz", "answer_time": 1 })),
        )
        .await;
    assert_eq!(registered.status, StatusCode::CREATED, "{}", registered.text);
    for (path, body) in [("limits", Some(json!({ "epsilon": 1 }))), ("grants/ana", None)] {
        let reply = server
            .call(Method::PUT, &format!("/v1/data-sets/broken/{path}"), Some("sam"), body.as_ref())
            .await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.text);
    }
    let question = json!({ "statistic": "count", "epsilon": "0.5" });
    let path = "/v1/data-sets/broken/questions";
    let accepted =
        server.call_with(Method::POST, path, Some("ana"), Some(&question), &[("idempotency-key", "k")]).await;
    assert_eq!(accepted.status, StatusCode::ACCEPTED, "{}", accepted.text);
    let began = Instant::now();
    let id = accepted.json()["id"].as_str().unwrap().to_string();
    let waiting = server.get(&format!("/v1/releases/{id}"), "ana").await;
    assert_eq!(waiting.status, StatusCode::ACCEPTED);
    let lost = server.release("ana", &id).await;
    assert_eq!(lost.status, StatusCode::GONE, "{}", lost.text);
    assert!(began.elapsed() > Duration::from_millis(900));
    let spent = server.get("/v1/data-sets/broken", "ana").await.json();
    assert_eq!(spent["spent"]["epsilon"], "0.5", "nothing is refunded");
}
