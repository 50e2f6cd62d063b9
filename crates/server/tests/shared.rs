//! Answers that are shared, who spent what, rehearsals on made-up rows, and monitors.

mod support;

use axum::http::{Method, StatusCode};
use equipoise_server::{
    acts::releases::{self, Seen},
    authorise::{Caller, Shown},
    desk::Waiting,
    store::Role,
};
use equipoise_session::{
    ledger::Ledger,
    plan::Plan,
    request::Request,
    session::{self, Paid, Session},
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use support::Server;

fn median(epsilon: &str) -> Value {
    json!({ "statistic": "median", "column": "salary", "epsilon": epsilon })
}

async fn plan(server: &Server, member: &str, question: &Value) -> Value {
    server.call(Method::POST, "/v1/data-sets/pay/plans", Some(member), Some(question)).await.json()
}

async fn let_in(server: &Server, member: &str) {
    let path = format!("/v1/data-sets/pay/grants/{member}");
    assert_eq!(server.call(Method::PUT, &path, Some("sam"), None).await.status, StatusCode::OK);
}

#[tokio::test]
async fn an_answer_of_another_is_offered_where_it_is_shared_and_counts_as_seen() {
    let server = Server::new();
    let_in(&server, "bob").await;
    let id = server.ask("ana", "k", &median("1")).await.json()["id"].as_str().unwrap().to_string();
    assert_eq!(plan(&server, "ana", &median("1")).await["answered"], json!(null), "not before its time");
    let release = server.release("ana", &id).await.json();
    assert_eq!(plan(&server, "ana", &median("1")).await["answered"], json!({ "id": id, "seen": true }));
    assert_eq!(plan(&server, "bob", &median("1")).await["answered"], json!(null), "nobody shares");
    let see = format!("/v1/releases/{id}/seen");
    assert_eq!(server.call(Method::POST, &see, Some("bob"), None).await.status, StatusCode::NOT_FOUND);
    let sharing = json!({ "shared": true });
    server.call(Method::PUT, "/v1/data-sets/pay/sharing", Some("sam"), Some(&sharing)).await;
    assert_eq!(plan(&server, "bob", &median("1")).await["answered"], json!({ "id": id, "seen": false }));
    assert_eq!(plan(&server, "bob", &median("1.5")).await["answered"], json!(null), "another question");
    let path = format!("/v1/releases/{id}");
    assert_eq!(server.get(&path, "bob").await.status, StatusCode::NOT_FOUND, "offered is not shown");
    let seen = server.call(Method::POST, &see, Some("bob"), None).await.json();
    assert_eq!((&seen["spent"]["epsilon"], &seen["seen"]["epsilon"]), (&json!("1"), &json!("1")), "{seen}");
    server.call(Method::POST, &see, Some("bob"), None).await;
    assert_eq!(server.get(&path, "bob").await.json(), release);
    let own = server.get("/v1/data-sets/pay", "bob").await.json();
    assert_eq!(own["yours"]["spent"]["epsilon"], "1", "once");
    // What was seen fills an own limit like what was asked.
    let limit = json!({ "epsilon": "1.2", "delta": "1e-5" });
    server.call(Method::PUT, "/v1/data-sets/pay/limits/bob", Some("sam"), Some(&limit)).await;
    assert_eq!(server.ask("bob", "k", &median("0.5")).await.status, StatusCode::FORBIDDEN);
    // Another state of the data is other data.
    let data = server.folder.path().join("data/pay.csv");
    let text = std::fs::read_to_string(&data).unwrap();
    std::fs::write(&data, text + "9999,1,2\n").unwrap();
    assert_eq!(plan(&server, "bob", &median("1")).await["answered"], json!(null));
    assert_eq!(server.get(&path, "bob").await.status, StatusCode::OK, "what was shown stays shown");
    // Whoever may ask no more reads no more of what others paid for.
    server.call(Method::DELETE, "/v1/data-sets/pay/grants/bob", Some("sam"), None).await;
    assert_eq!(server.get(&path, "bob").await.status, StatusCode::NOT_FOUND);
    assert_eq!(server.call(Method::POST, &see, Some("bob"), None).await.status, StatusCode::NOT_FOUND);
    Ledger::open_read_only(&server.ledger()).unwrap().verify(None).unwrap();
}

/// What somebody was shown keeps them from paying for a refusal; what nobody showed them does not, and neither does what is about other rows.
#[tokio::test]
async fn a_count_that_was_shown_tells_that_a_question_would_be_refused() {
    let server = Server::new();
    let_in(&server, "bob").await;
    // Answers are recorded up to two seconds after their rows were read: what is younger than the file and these may be of other rows.
    tokio::time::sleep(Duration::from_millis(3200)).await;
    let count = json!({ "statistic": "count", "epsilon": "2" });
    let id = server.ask("ana", "count", &count).await.json()["id"].as_str().unwrap().to_string();
    assert!(
        plan(&server, "ana", &median("0.01")).await.get("would_be_refused").is_none(),
        "not before its time"
    );
    server.release("ana", &id).await;
    let told = plan(&server, "ana", &median("0.01")).await["would_be_refused"].clone();
    assert!(told["why"].as_str().unwrap().contains("give `anyway` to ask all the same"), "{told}");
    assert!(told["problem"].as_str().unwrap().starts_with("this would be refused: it takes about"), "{told}");
    let enough = told["next_step"]["request"].clone();
    assert!(plan(&server, "ana", &enough).await.get("would_be_refused").is_none(), "{enough}");
    let turned_down = server.ask("ana", "few", &median("0.01")).await;
    assert_eq!(turned_down.status, StatusCode::BAD_REQUEST);
    assert_eq!(turned_down.json()["next_step"]["request"], enough);
    let query = json!({ "query": "SELECT MEDIAN(salary) FROM pay", "given": { "epsilon": "0.01" } });
    let key = [("idempotency-key", "sql")];
    let sql = server.call_with(Method::POST, "/v1/sql", Some("ana"), Some(&query), &key).await;
    assert_eq!(sql.status, StatusCode::BAD_REQUEST, "{}", sql.text);
    assert!(
        sql.json()["detail"].as_str().unwrap().contains("column 8: this would be refused"),
        "{}",
        sql.text
    );
    let own = |text: Value| text["yours"]["spent"]["epsilon"].clone();
    assert_eq!(
        own(server.get("/v1/data-sets/pay", "ana").await.json()),
        "2",
        "nothing was charged for these"
    );
    // Nobody showed it to the other one, until it is shared and shown.
    let blind = plan(&server, "bob", &median("0.01")).await;
    assert!(blind.get("would_be_refused").is_none(), "{blind}");
    let sharing = json!({ "shared": true });
    server.call(Method::PUT, "/v1/data-sets/pay/sharing", Some("sam"), Some(&sharing)).await;
    let blind = plan(&server, "bob", &median("0.01")).await;
    assert!(blind.get("would_be_refused").is_none(), "shared is not shown: {blind}");
    let see = format!("/v1/releases/{id}/seen");
    assert_eq!(server.call(Method::POST, &see, Some("bob"), None).await.status, StatusCode::OK);
    let told = plan(&server, "bob", &median("0.01")).await;
    assert!(told.get("would_be_refused").is_some(), "{told}");
    let two = json!({ "questions": [median("0.01"), median("0.01"), count] });
    let told = plan(&server, "ana", &two).await["would_be_refused"]["problem"].clone();
    assert!(told.as_str().unwrap().starts_with("questions 1, 2 would be refused"), "{told}");
    let one = json!({ "questions": [count, median("0.01")] });
    let told = plan(&server, "ana", &one).await["would_be_refused"]["problem"].clone();
    assert!(told.as_str().unwrap().starts_with("question 2 would be refused: it takes"), "{told}");
    let parts = json!({ "statistic": "summary", "column": "salary", "epsilon": "0.2", "interval": true });
    let told = plan(&server, "ana", &parts).await["would_be_refused"]["problem"].clone();
    assert!(told.as_str().unwrap().starts_with("some of this would be refused: its quantiles"), "{told}");
    let mut rest = two.clone();
    rest["leave_out"] = json!([1, 2]);
    let rest = plan(&server, "ana", &rest).await;
    assert!(rest.get("would_be_refused").is_none() && rest["charge"]["epsilon"] == "2", "{rest}");
    for wrong in [json!([4]), json!([1, 2, 3]), json!("1")] {
        let mut question = two.clone();
        question["leave_out"] = wrong;
        let reply = server.ask("ana", "left out", &question).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{}", reply.text);
    }
    // Whoever wants to pay for it all the same may.
    let path = "/v1/data-sets/pay/questions?anyway=";
    let key = [("idempotency-key", "anyway")];
    for (word, status) in [("maybe", StatusCode::BAD_REQUEST), ("true", StatusCode::ACCEPTED)] {
        let path = format!("{path}{word}");
        let asked = server.call_with(Method::POST, &path, Some("ana"), Some(&median("0.01")), &key).await;
        assert_eq!(asked.status, status, "{word}: {}", asked.text);
    }
    let data = server.folder.path().join("data/pay.csv");
    let text = std::fs::read_to_string(&data).unwrap();
    std::fs::write(&data, text + "9999,1,2\n").unwrap();
    let other = plan(&server, "ana", &median("0.01")).await;
    assert!(other.get("would_be_refused").is_none(), "other rows: {other}");
}

#[tokio::test]
async fn plans_say_how_many_more_and_refusals_who_spent_what() {
    let server = Server::new();
    let_in(&server, "bob").await;
    for (epsilon, more) in [("1", 4), ("2", 1), ("3", 0), ("5", 0), ("5.1", -1)] {
        assert_eq!(plan(&server, "ana", &median(epsilon)).await["more_like_it"], more, "{epsilon}");
    }
    // Delta runs out before epsilon does.
    let groups = json!({ "statistic": "count", "group_by": ["person"], "epsilon": "0.01", "delta": "4e-6" });
    assert_eq!(plan(&server, "ana", &groups).await["more_like_it"], 1);
    assert_eq!(server.ask("ana", "a", &median("1")).await.status, StatusCode::ACCEPTED);
    assert_eq!(server.ask("bob", "b", &median("3")).await.status, StatusCode::ACCEPTED);
    let over = server.ask("ana", "c", &median("2")).await;
    assert_eq!(over.status, StatusCode::FORBIDDEN);
    let spent: Vec<(String, String)> = over.json()["spent_by"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["analyst"].to_string(), one["spent"]["epsilon"].to_string()))
        .collect();
    let text = |text: &str| format!("\"{text}\"");
    assert_eq!(spent, [(text("ana"), text("1")), (text("bob"), text("3"))]);
}

#[tokio::test]
async fn who_set_a_limit_is_in_its_own_entry_however_many_set_them_at_once() {
    let server = Arc::new(Server::new());
    server.state.store.add_member("sue", Role::Steward).unwrap();
    let sue = server.state.store.issue("sue", equipoise_server::store::Opens::Token, "").unwrap();
    let sue = sue.reveal().to_string();
    let mut all = Vec::new();
    for number in 1..=20u32 {
        let (server, token) =
            (server.clone(), if number.is_multiple_of(2) { "sam".to_string() } else { sue.clone() });
        all.push(tokio::spawn(async move {
            let limit = json!({ "epsilon": number, "delta": "1e-5" });
            server.call(Method::PUT, "/v1/data-sets/pay/limits", Some(&token), Some(&limit)).await.status
        }));
    }
    for one in all {
        assert_eq!(one.await.unwrap(), StatusCode::OK);
    }
    let entries = server.get("/v1/ledger/entries", "rita").await.json();
    let mut seen = 0;
    for entry in entries["entries"].as_array().unwrap() {
        if entry["event"]["kind"] == "limited" && entry["event"]["limit"]["epsilon"] != "5" {
            let number: u32 = entry["event"]["limit"]["epsilon"].as_str().unwrap().parse().unwrap();
            assert_eq!(entry["event"]["by"], if number.is_multiple_of(2) { "sam" } else { "sue" });
            seen += 1;
        }
    }
    assert_eq!(seen, 19, "all but the one of 5");
}

#[tokio::test]
async fn a_rehearsal_reads_no_row_and_charges_nothing() {
    let server = Server::new();
    let head = Ledger::open_read_only(&server.ledger()).unwrap().head().unwrap();
    let path = "/v1/data-sets/pay/rehearsals";
    let said = json!({ "question": median("1"), "trials": 5 });
    let tried = server.call(Method::POST, path, Some("ana"), Some(&said)).await;
    assert_eq!(tried.status, StatusCode::OK, "{}", tried.text);
    let tried = tried.json();
    assert_eq!((&tried["made_up"], tried["values"].as_array().unwrap().len()), (&json!(true), 5));
    for value in tried["values"].as_array().unwrap() {
        let value = value.as_f64().unwrap();
        assert!(
            (0.0..1000.0).contains(&value),
            "made-up numbers lie below 1000, those of the file above: {value}"
        );
    }
    // The same without any row behind the header.
    std::fs::write(server.folder.path().join("data/pay.csv"), "person,salary,x\n").unwrap();
    assert_eq!(server.call(Method::POST, path, Some("ana"), Some(&said)).await.status, StatusCode::OK);
    let grouped = json!({ "statistic": "mean", "column": "salary", "range": "0,1000", "group_by": ["x"], "epsilon": 2, "delta": "1e-6" });
    let said = json!({ "question": grouped });
    let tried = server.call(Method::POST, path, Some("ana"), Some(&said)).await;
    assert_eq!(tried.status, StatusCode::OK, "{}", tried.text);
    // One at a time for a member, so that they do not fill the threads of everybody.
    let long = json!({ "question": median("1"), "trials": 1000 });
    let one = || server.call(Method::POST, path, Some("ana"), Some(&long));
    let (first, second) = tokio::join!(one(), one());
    let mut statuses = [first.status, second.status];
    statuses.sort();
    assert_eq!(statuses, [StatusCode::OK, StatusCode::SERVICE_UNAVAILABLE]);
    let many = json!({ "question": { "questions": vec![median("1"); 20] }, "trials": 51 });
    let many = server.call(Method::POST, path, Some("ana"), Some(&many)).await;
    assert_eq!(many.status, StatusCode::BAD_REQUEST, "{}", many.text);
    for trials in [0, 1001] {
        let said = json!({ "question": median("1"), "trials": trials });
        assert_eq!(
            server.call(Method::POST, path, Some("ana"), Some(&said)).await.status,
            StatusCode::BAD_REQUEST
        );
    }
    assert_eq!(Ledger::open_read_only(&server.ledger()).unwrap().head().unwrap(), head);
}

#[tokio::test]
async fn a_monitor_is_charged_once_and_answers_on_a_grid_of_times() {
    let server = Server::new();
    let said = json!({ "data_set": "pay", "epsilon": "2", "delta": "1e-6", "budget_per_unit": 3 });
    let begin = |key: &'static str, said: Value| {
        let server = &server;
        async move {
            let headers = [("idempotency-key", key)];
            server.call_with(Method::POST, "/v1/monitors", Some("ana"), Some(&said), &headers).await
        }
    };
    let mut free = said.clone();
    free["dry_run"] = json!(true);
    let planned = begin("", free).await;
    assert_eq!((planned.status, &planned.json()["charge"]["epsilon"]), (StatusCode::OK, &json!("2")));
    let begun = begin("m", said.clone()).await;
    assert_eq!(begun.status, StatusCode::CREATED, "{}", begun.text);
    let id = begun.json()["id"].as_str().unwrap().to_string();
    let again = begin("m", said.clone()).await;
    assert_eq!((again.status, &again.json()["id"]), (StatusCode::OK, &json!(id)), "{}", again.text);
    let mut other = said.clone();
    other["epsilon"] = json!("1");
    assert_eq!(begin("m", other.clone()).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    // One key, one charge, whatever is asked for.
    let question = json!({ "statistic": "count", "epsilon": "0.1" });
    let under_it = server.ask("ana", "m", &question).await;
    assert_eq!(under_it.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", under_it.text);
    assert_eq!(server.ask("ana", "q", &question).await.status, StatusCode::ACCEPTED);
    let under_it = begin("q", other.clone()).await;
    assert_eq!(under_it.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", under_it.text);
    other["epsilon"] = json!("4");
    let over = begin("n", other).await;
    assert_eq!((over.status, &over.json()["exit"]), (StatusCode::FORBIDDEN, &json!(4)), "{}", over.text);
    let path = format!("/v1/monitors/{id}/questions");
    let questions = json!({ "questions": [
        { "where": "salary >= 0", "threshold": 100 }, { "where": "salary < 0", "threshold": 1900 }, { "where": "pay > 1", "threshold": 3 },
    ] });
    let began = std::time::Instant::now();
    let answers = server.call(Method::POST, &path, Some("ana"), Some(&questions)).await;
    assert!(began.elapsed() >= Duration::from_millis(100));
    assert_eq!(answers.status, StatusCode::OK, "{}", answers.text);
    let answers = answers.json();
    let answered: Vec<&Value> =
        answers["answers"].as_array().unwrap().iter().map(|one| &one["answer"]).collect();
    assert_eq!(answered, [&json!("above"), &json!("below"), &json!(null)], "{answers}");
    assert!(answers["answers"][2]["error"].as_str().unwrap().contains("pay"));
    let history = server.get(&format!("/v1/monitors/{id}/history"), "rita").await.json();
    assert_eq!(history["answers"].as_array().unwrap().len(), 2, "{history}");
    assert_eq!(history["answers"][0]["asked"]["threshold"], "100");
    let spent = server.get("/v1/data-sets/pay", "ana").await.json();
    assert_eq!(spent["spent"]["epsilon"], "2.1", "both charged once, and nothing for what was over budget");
    assert_eq!(server.get("/v1/monitors", "ana").await.json().as_array().unwrap().len(), 1);
    let charge = begun.json()["receipt"]["id"].as_str().unwrap().to_string();
    let page = server.get(&format!("/answers/{charge}"), "rita").await.text;
    assert!(page.contains("on the page Monitors") && !page.contains("there are no rows"), "{page}");
    assert_eq!(server.get("/v1/monitors", "bob").await.json(), json!([]));
    // Other rows than those that were paid for are not looked at.
    std::fs::write(server.folder.path().join("data/pay.csv"), "person,salary,x\n1,2,3\n").unwrap();
    let questions = json!({ "questions": [{ "where": "person > 3", "threshold": 5 }] });
    let changed = server.call(Method::POST, &path, Some("ana"), Some(&questions)).await;
    assert!(changed.status.is_server_error() && !changed.text.contains("pay.csv"), "{}", changed.text);
    for bad in [json!({ "questions": [] }), json!({ "questions": vec![json!({}); 65] })] {
        assert_eq!(
            server.call(Method::POST, &path, Some("ana"), Some(&bad)).await.status,
            StatusCode::BAD_REQUEST
        );
    }
}

/// Whoever looks in the moment between a charge and its place on the desk does not see a lost answer, but waits for that moment.
#[test]
fn nobody_sees_an_answer_as_lost_that_is_on_its_way() {
    let server = Server::new();
    let rita = Caller { name: "rita".into(), role: Role::Reviewer, shown: Shown::Token };
    let mut session = Session::new(server.state.ledger().unwrap(), Some("ana".into())).unwrap();
    let request = Request { epsilon: Some("0.1".into()), ..Request::new("count") };
    let facts = session::facts(Some(session.ledger()), "pay", &[]).unwrap();
    let taking_in = server.state.desk.take_in();
    let Paid::Charged(charged) = session.charge(Plan::new(&request, &facts).unwrap(), None).unwrap() else {
        panic!("no key was given")
    };
    let id = charged.charge().id().to_string();
    let (state, looked) = (server.state.clone(), id.clone());
    let looking = std::thread::spawn(move || releases::read(&state, &rita, &looked));
    std::thread::sleep(Duration::from_millis(300));
    assert!(!looking.is_finished(), "the charge is in the ledger and not yet on the desk");
    let waiting = Waiting {
        member: "ana".into(),
        data_set: "pay".into(),
        ready_at: charged.charge().time_after(1),
        late_at: charged.charge().time_after(2),
        answer_time: 1,
        place: server.state.desk.place("ana").unwrap(),
    };
    server.state.desk.begin(&id, waiting);
    drop(taking_in);
    let seen = looking.join().unwrap();
    assert!(matches!(seen, Ok(Seen::NotYet { .. })), "{:?}", seen.err());
}

#[tokio::test]
async fn a_query_in_sql_is_one_charge_and_its_rows_come_from_its_answer() {
    let server = Server::new();
    let query =
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) AS n, MEDIAN(salary) AS m FROM pay";
    let said = |query: &str| json!({ "query": query });
    let send = |path: &'static str, said: Value, key: &'static str| {
        let server = &server;
        async move {
            server.call_with(Method::POST, path, Some("ana"), Some(&said), &[("idempotency-key", key)]).await
        }
    };
    let planned = send("/v1/sql", json!({ "query": query, "dry_run": true }), "").await;
    assert_eq!((planned.status, &planned.json()["charge"]["epsilon"]), (StatusCode::OK, &json!("1")));
    let asked = send("/v1/sql", said(query), "k").await;
    assert_eq!(asked.status, StatusCode::ACCEPTED, "{}", asked.text);
    let id = asked.json()["id"].as_str().unwrap().to_string();
    let path: &'static str = Box::leak(format!("/v1/releases/{id}/rows").into_boxed_str());
    assert_eq!(send(path, said(query), "").await.status, StatusCode::ACCEPTED, "not before its time");
    server.release("ana", &id).await;
    let rows = send(path, said(query), "").await.json();
    assert_eq!(rows["columns"][0]["name"], "n");
    let count = rows["rows"][0][0].as_f64().unwrap();
    assert!((1900.0..2100.0).contains(&count), "{rows}");
    // What is done to rows afterwards is free: the questions are the same.
    let renamed = query.replace("AS n", "AS people");
    assert_eq!(send(path, said(&renamed), "").await.json()["columns"][0]["name"], "people");
    let other = query.replace("MEDIAN", "MAX");
    assert_eq!(send(path, said(&other), "").await.status, StatusCode::BAD_REQUEST);
    let again = send("/v1/sql", said(query), "k").await;
    assert_eq!((again.status, &again.json()["id"]), (StatusCode::OK, &json!(id)));
    assert_eq!(send("/v1/sql", said(&other), "k").await.status, StatusCode::UNPROCESSABLE_ENTITY);
    for (wrong, text) in [
        ("SELECT salary FROM pay", "line 1, column 8"),
        ("SELECT COUNT(*) FROM secrets", "no data set 'secrets'"),
        ("SELECT COUNT(*) FROM pay", "how much privacy"),
        (
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM '../data/pay.csv'",
            "no data set",
        ),
    ] {
        let reply = send("/v1/sql", said(wrong), "wrong").await;
        assert!(reply.status == 400 && reply.text.contains(text), "{wrong}: {}", reply.text);
    }
    let spent = server.get("/v1/data-sets/pay", "ana").await.json();
    assert_eq!(spent["spent"]["epsilon"], "1");
}
