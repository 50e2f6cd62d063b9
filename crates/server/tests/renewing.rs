//! Limits for each calendar window on a server: a steward sets them, questions state windows, and documents say what is left in each.

mod support;

use axum::http::{Method, StatusCode};
use equipoise_server::acts::data_sets::{self, Registering};
use serde_json::{Value, json};
use support::{Reply, Server, steward};

/// A server with visits in three months, on which ana may ask.
fn visits() -> Server {
    let server = Server::new();
    let row = |row: u32| format!("2026-{:02}-{:02},{}\n", 9 + row % 3, 1 + row % 28, row % 50);
    let text = format!("visited,person\n{}", (0..600).map(row).collect::<String>());
    std::fs::write(server.folder.path().join("data/visits.csv"), text).unwrap();
    let said = Registering { path: "visits.csv".into(), answer_time: Some(1), ..Registering::default() };
    data_sets::register(&server.state, &steward(), "visits", &said).unwrap();
    data_sets::grant(&server.state, &steward(), "visits", "ana", true).unwrap();
    server
}

async fn set(server: &Server, limit: Value) -> Reply {
    server.call(Method::PUT, "/v1/data-sets/visits/limits", Some("sam"), Some(&limit)).await
}

async fn ask(server: &Server, key: &str, question: &Value) -> Reply {
    let path = "/v1/data-sets/visits/questions";
    server.call_with(Method::POST, path, Some("ana"), Some(question), &[("idempotency-key", key)]).await
}

fn count(window: &str, epsilon: &str) -> Value {
    json!({ "statistic": "count", "epsilon": epsilon, "window": window })
}

#[tokio::test]
async fn each_window_has_a_limit_that_questions_name() {
    let server = visits();
    let told = set(&server, json!({ "epsilon": "20", "every": "month", "day": "visited" })).await;
    assert_eq!(told.status, StatusCode::OK, "{}", told.text);
    assert_eq!(told.json()["renewing"]["day"], json!({ "column": "visited", "type": "date" }));
    let plain = ask(&server, "a", &json!({ "statistic": "count", "epsilon": "1" })).await;
    assert_eq!(plain.status, StatusCode::BAD_REQUEST, "{}", plain.text);
    assert_eq!(plain.json()["argument"], "window");
    let path = "/v1/data-sets/visits/plans";
    let plan = server.call(Method::POST, path, Some("ana"), Some(&count("2026-10", "10"))).await.json();
    assert_eq!(plan["windows"][0]["remaining"]["epsilon"], "20", "{plan}");
    let asked = ask(&server, "b", &count("2026-10", "10")).await;
    assert_eq!(asked.status, StatusCode::ACCEPTED, "{}", asked.text);
    assert_eq!(asked.json()["windows"][0]["window"], "2026-10");
    let release = server.release("ana", asked.json()["id"].as_str().unwrap()).await.json();
    // Off by more than 9 with a probability of e^-90.
    assert!((release["value"].as_i64().unwrap() - 200).abs() <= 9, "{release}");
    assert_eq!(release["guarantee"]["windows"]["names"], json!(["2026-10"]));
    let over = ask(&server, "c", &count("2026-09,2026-10", "11")).await;
    assert_eq!(over.status, StatusCode::FORBIDDEN, "{}", over.text);
    assert!(over.json()["detail"].as_str().unwrap().contains("for the month 2026-10"), "{}", over.text);
    let shown = server.get("/v1/data-sets/visits", "ana").await.json();
    assert_eq!(shown["windows"][0]["remaining"]["epsilon"], "10", "{shown}");
    let page = server.get("/data-sets/visits", "sam").await;
    assert_ne!(page.status, StatusCode::INTERNAL_SERVER_ERROR, "{}", page.text);
    let lifted = set(&server, json!({ "every": "never" })).await;
    assert!(lifted.status == StatusCode::OK && lifted.json()["renewing"].is_null(), "{}", lifted.text);
}

#[tokio::test]
async fn a_limit_with_time_takes_a_word_and_the_clock_another() {
    let server = visits();
    let told = set(&server, json!({ "epsilon": "1", "every": "quarter" })).await;
    assert_eq!(told.status, StatusCode::BAD_REQUEST);
    assert!(told.json()["detail"].as_str().unwrap().contains("epsilon 4 in a year"), "{}", told.text);
    let told = set(&server, json!({ "epsilon": "1", "every": "quarter", "adds_up": true })).await;
    assert_eq!(told.status, StatusCode::OK, "{}", told.text);
    assert_eq!(told.json()["renewing"]["in_a_year"]["epsilon"], "4");
    let asked = ask(&server, "a", &json!({ "statistic": "count", "epsilon": "0.5" })).await.json();
    assert_eq!(asked["remaining"]["epsilon"], "0.5", "{asked}");
    for (wrong, member) in [(json!({ "is": "2001-01-01" }), "sam"), (json!({ "is": "today" }), "sam")] {
        let told = server.call(Method::POST, "/v1/ledger/clock", Some(member), Some(&wrong)).await;
        assert_eq!(told.status, StatusCode::BAD_REQUEST, "{}", told.text);
    }
    let limits = "/v1/data-sets/visits/limits/ana";
    let own = json!({ "epsilon": "1", "every": "month", "day": "visited" });
    let told = server.call(Method::PUT, limits, Some("sam"), Some(&own)).await;
    assert_eq!(told.status, StatusCode::BAD_REQUEST, "{}", told.text);
}
