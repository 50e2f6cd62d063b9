//! Tables of databases behind a server: registered by a steward where whoever started it allows that, asked about as files are.

#[path = "../../postgres/tests/support/mod.rs"]
mod postgres;
mod support;

use axum::http::{Method, StatusCode};
use equipoise_server::acts::data_sets::{self, Limiting, Number};
use equipoise_session::ledger::Ledger;
use serde_json::{Value, json};
use std::path::PathBuf;
use support::Server;

const PEOPLE: &str = "CREATE SCHEMA hr; CREATE TABLE hr.salaries (id int, salary float8);
    INSERT INTO hr.salaries SELECT i, 1000.0 + i FROM generate_series(1, 2000) i;
    GRANT USAGE ON SCHEMA hr TO reader; GRANT SELECT ON hr.salaries TO reader";

async fn register(server: &Server, id: &str, path: &str) -> (StatusCode, Value) {
    let said = json!({ "path": path, "answer_time": 3 });
    let reply = server.call(Method::PUT, &format!("/v1/data-sets/{id}"), Some("sam"), Some(&said)).await;
    (reply.status, reply.json())
}

async fn count(server: &Server, id: &str) -> f64 {
    let steward = support::steward();
    let limit = Limiting { epsilon: Some(Number::Text("20".into())), ..Limiting::default() };
    data_sets::limit(&server.state, &steward, id, None, &limit).unwrap();
    data_sets::grant(&server.state, &steward, id, "ana", true).unwrap();
    let path = format!("/v1/data-sets/{id}/questions");
    let question = json!({ "statistic": "count", "epsilon": 10 });
    let asked =
        server.call_with(Method::POST, &path, Some("ana"), Some(&question), &[("idempotency-key", id)]).await;
    let asked = asked.json();
    let receipt =
        asked["id"].as_str().or(asked["receipt"]["id"].as_str()).unwrap_or_else(|| panic!("{asked}"));
    let release = server.release("ana", receipt).await.json();
    release["value"].as_f64().unwrap_or_else(|| panic!("{release}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_postgres_is_asked_about_as_a_file_is() {
    equipoise_postgres::install();
    let Some(cluster) = postgres::cluster() else { return };
    let database = cluster.database(PEOPLE);
    let given = database.over_tcp("127.0.0.1", "x").display().to_string().replace("?table=x", "");
    let server = Server::with(vec![PathBuf::from(&given)]);
    let typed = given.replace("reader@", "");
    let (status, document) = register(&server, "staff", &format!("{typed}?table=hr.salaries")).await;
    assert_eq!(status, StatusCode::CREATED, "{document}");
    assert_eq!(document["path"], format!("{typed}?table=hr.salaries"));
    assert_eq!(document["columns"][1]["name"], "salary", "{document}");
    let counted = count(&server, "staff").await;
    assert!((counted - 2000.0).abs() < 20.0, "{counted}");
    // Under another id it is the same table, and the steward is told so.
    let (_, again) = register(&server, "again", &format!("{typed}?table=hr.salaries")).await;
    assert!(again["elsewhere"].to_string().contains("staff"), "{again}");
    // Another role, database or server is not a steward's to choose.
    for path in [
        format!("{}?table=hr.salaries", given.replace("reader@", "boss@")),
        format!("{typed}?table=hr.salaries&sslmode=disable"),
        typed.replace(&database.name, "postgres") + "?table=hr.salaries",
        "postgres://127.0.0.1:1/x?table=t".to_string(),
        typed.clone(),
    ] {
        let (status, document) = register(&server, "other", &path).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{path}: {document}");
        assert!(
            document["detail"].as_str().is_some_and(|line| line.contains("(--data)")),
            "{path}: {document}"
        );
    }
    let monitor = json!({ "data_set": "staff", "epsilon": 1, "delta": "1e-6", "budget_per_unit": 2 });
    let reply = server
        .call_with(Method::POST, "/v1/monitors", Some("ana"), Some(&monitor), &[("idempotency-key", "m")])
        .await;
    assert!(reply.text.contains("a monitor watches files"), "{}", reply.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_of_a_sqlite_file_lies_below_the_folders_of_the_server() {
    let server = Server::new();
    let folder = server.folder.path();
    for place in ["data/people.db", "outside.db"] {
        let opened = rusqlite::Connection::open(folder.join(place)).unwrap();
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO t SELECT i FROM n";
        opened.execute_batch(&format!("CREATE TABLE t (x INTEGER); {rows};")).unwrap();
    }
    let (status, document) = register(&server, "people", "sqlite:people.db?table=t").await;
    assert_eq!(status, StatusCode::CREATED, "{document}");
    let counted = count(&server, "people").await;
    assert!((counted - 500.0).abs() < 20.0, "{counted}");
    let outside = format!("sqlite:{}?table=t", folder.join("outside.db").display());
    for path in [outside.as_str(), "sqlite:people.db", "sqlite:none.db?table=t"] {
        assert_eq!(register(&server, "other", path).await.0, StatusCode::BAD_REQUEST, "{path}");
    }
}

/// The ledger of a server may be in a database: the same answers and limits, verified by its reviewer, and nobody is told a role.
#[tokio::test(flavor = "multi_thread")]
async fn a_ledger_in_a_database_is_charged_as_a_file_is() {
    equipoise_postgres::install();
    let Some(cluster) = postgres::started(&["fsync=on"]) else { return };
    let cluster = Box::leak(Box::new(cluster));
    let database = cluster.database("CREATE ROLE asking LOGIN");
    Ledger::make_on_server(&database.ledger_as("boss"), "asking").unwrap();
    let address = database.ledger_as("asking");
    let server = Server::charging(Some(address.clone()), Vec::new());
    assert!(!server.ledger().exists(), "no file beside it");
    let counted = count(&server, "pay").await;
    assert!((counted - 2000.0).abs() < 20.0, "{counted}");
    let verified = server.call(Method::POST, "/v1/ledger/verify", Some("rita"), Some(&json!({}))).await;
    assert_eq!(verified.status, StatusCode::OK, "{}", verified.text);
    assert!(!verified.text.contains("asking"), "{}", verified.text);
    let ledger = Ledger::open_read_only(&address).unwrap();
    assert_eq!(ledger.verify(None).unwrap().charges, 1);
    assert_eq!(ledger.data_sets().unwrap().len(), 1);
}
