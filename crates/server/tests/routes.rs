//! Every route with every role and with none; and that `/openapi.json` names these routes and no others, and describes what they
//! answer.

#![expect(
    clippy::too_many_lines,
    clippy::format_push_string,
    reason = "one table, and the page that is made of it"
)]

mod support;

use axum::http::{Method, StatusCode};
use equipoise_session::{
    batch::Batch,
    ledger::Ledger,
    plan::Plan,
    request::Request,
    session::{self, Paid, Session},
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::Server;

/// A route, how it is called, and the status for: nobody, steward, analyst, analyst without a grant, reviewer, operator. All of them
/// send tokens, which make no tokens and no members.
type Row = (&'static str, &'static str, &'static str, Option<Value>, [u16; 6]);

const CALLERS: [Option<&str>; 6] = [None, Some("sam"), Some("ana"), Some("bob"), Some("rita"), Some("olga")];

const QUERY: &str = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.01) COUNT(*) AS n FROM pay";

fn table() -> Vec<Row> {
    let count = || Some(json!({ "statistic": "count", "epsilon": "0.01" }));
    let limit = || Some(json!({ "epsilon": 4, "delta": "1e-5" }));
    vec![
        ("GET", "/openapi.json", "/openapi.json", None, [200; 6]),
        ("GET", "/v1/me", "/v1/me", None, [401, 200, 200, 200, 200, 200]),
        ("POST", "/v1/me/tokens", "/v1/me/tokens", Some(json!({})), [401, 403, 403, 403, 403, 403]),
        ("POST", "/v1/sessions", "/v1/sessions", Some(json!({ "secret": "eq_0" })), [401; 6]),
        ("DELETE", "/v1/sessions", "/v1/sessions", None, [401, 204, 204, 204, 204, 204]),
        ("GET", "/v1/members", "/v1/members", None, [401, 200, 403, 403, 403, 200]),
        (
            "POST",
            "/v1/members",
            "/v1/members",
            Some(json!({ "name": "eve", "role": "analyst" })),
            [401, 403, 403, 403, 403, 403],
        ),
        ("DELETE", "/v1/members/{name}", "/v1/members/bob", None, [401, 403, 403, 403, 403, 403]),
        ("POST", "/v1/members/{name}/links", "/v1/members/bob/links", None, [401, 403, 403, 403, 403, 403]),
        ("GET", "/v1/data-sets", "/v1/data-sets", None, [401, 200, 200, 200, 200, 403]),
        ("GET", "/v1/data-sets/{id}", "/v1/data-sets/pay", None, [401, 200, 200, 404, 200, 403]),
        (
            "PUT",
            "/v1/data-sets/{id}",
            "/v1/data-sets/pay",
            Some(json!({ "path": "pay.csv" })),
            [401, 200, 403, 403, 403, 403],
        ),
        (
            "PUT",
            "/v1/data-sets/{id}/answer-time",
            "/v1/data-sets/pay/answer-time",
            Some(json!({ "seconds": 1 })),
            [401, 200, 403, 403, 403, 403],
        ),
        (
            "PUT",
            "/v1/data-sets/{id}/limits",
            "/v1/data-sets/pay/limits",
            limit(),
            [401, 200, 403, 403, 403, 403],
        ),
        (
            "PUT",
            "/v1/data-sets/{id}/limits/{analyst}",
            "/v1/data-sets/pay/limits/ana",
            limit(),
            [401, 200, 403, 403, 403, 403],
        ),
        (
            "PUT",
            "/v1/data-sets/{id}/grants/{analyst}",
            "/v1/data-sets/pay/grants/ana",
            None,
            [401, 200, 403, 403, 403, 403],
        ),
        (
            "PUT",
            "/v1/data-sets/{id}/programs/{name}",
            "/v1/data-sets/pay/programs/one",
            Some(json!({
                "command": ["sh", "-c", "cat >/dev/null; echo 1"], "output": "number", "range": "0,1", "default": 0,
                "blocks": 4, "block_time": 0.5,
            })),
            [401, 201, 403, 403, 403, 403],
        ),
        (
            "DELETE",
            "/v1/data-sets/{id}/programs/{name}",
            "/v1/data-sets/pay/programs/one",
            None,
            [401, 200, 403, 403, 403, 403],
        ),
        (
            "POST",
            "/v1/data-sets/{id}/plans",
            "/v1/data-sets/pay/plans",
            count(),
            [401, 200, 200, 404, 403, 403],
        ),
        (
            "POST",
            "/v1/data-sets/{id}/questions",
            "/v1/data-sets/pay/questions",
            count(),
            [401, 403, 202, 404, 403, 403],
        ),
        ("POST", "/v1/sql", "/v1/sql", Some(json!({ "query": QUERY })), [401, 403, 202, 400, 403, 400]),
        (
            "POST",
            "/v1/releases/{id}/rows",
            "/v1/releases/ROWS/rows",
            Some(json!({ "query": QUERY })),
            [401, 200, 200, 404, 200, 403],
        ),
        (
            "PUT",
            "/v1/data-sets/{id}/sharing",
            "/v1/data-sets/pay/sharing",
            Some(json!({ "shared": true })),
            [401, 200, 403, 403, 403, 403],
        ),
        (
            "POST",
            "/v1/data-sets/{id}/rehearsals",
            "/v1/data-sets/pay/rehearsals",
            Some(json!({ "question": { "statistic": "count", "epsilon": 1 }, "trials": 2 })),
            [401, 200, 200, 404, 403, 403],
        ),
        ("POST", "/v1/releases/{id}/seen", "/v1/releases/ANSWER/seen", None, [401, 403, 200, 404, 403, 403]),
        ("GET", "/v1/monitors", "/v1/monitors", None, [401, 200, 200, 200, 200, 403]),
        (
            "POST",
            "/v1/monitors",
            "/v1/monitors",
            Some(json!({ "data_set": "pay", "epsilon": "0.1", "delta": "1e-7", "budget_per_unit": 1 })),
            [401, 403, 201, 404, 403, 403],
        ),
        (
            "POST",
            "/v1/monitors/{id}/questions",
            "/v1/monitors/MONITOR/questions",
            Some(json!({ "questions": [{ "where": "salary > 5", "threshold": 10 }] })),
            [401, 403, 200, 404, 403, 403],
        ),
        (
            "GET",
            "/v1/monitors/{id}/history",
            "/v1/monitors/MONITOR/history",
            None,
            [401, 200, 200, 404, 200, 403],
        ),
        ("GET", "/v1/releases/{id}", "/v1/releases/ANSWER", None, [401, 200, 200, 404, 200, 403]),
        (
            "GET",
            "/v1/releases/{id}/explanation",
            "/v1/releases/ANSWER/explanation",
            None,
            [401, 200, 200, 404, 200, 403],
        ),
        (
            "GET",
            "/v1/releases/{id}/picture.svg",
            "/v1/releases/ANSWER/picture.svg",
            None,
            [401, 200, 200, 404, 200, 403],
        ),
        ("GET", "/v1/ledger/entries", "/v1/ledger/entries", None, [401, 200, 403, 403, 200, 403]),
        ("GET", "/v1/ledger/head", "/v1/ledger/head", None, [401, 200, 403, 403, 200, 403]),
        ("POST", "/v1/ledger/verify", "/v1/ledger/verify", Some(json!({})), [401, 200, 403, 403, 200, 403]),
        // Events never end: the attacks look at them.
        ("GET", "/v1/events", "/v1/events", None, [401, 0, 0, 0, 0, 0]),
        ("GET", "/v1/audit", "/v1/audit", None, [401, 200, 403, 403, 200, 403]),
        // The first has begun them when the other comes.
        ("POST", "/v1/audit", "/v1/audit", None, [401, 202, 403, 403, 409, 403]),
        // Last, because they take away.
        (
            "POST",
            "/v1/ledger/restored",
            "/v1/ledger/restored",
            Some(json!({ "epsilon": "0.001" })),
            [401, 200, 403, 403, 403, 403],
        ),
        (
            "POST",
            "/v1/ledger/clock",
            "/v1/ledger/clock",
            Some(
                json!({ "is": &equipoise_session::ledger::utc(equipoise_session::ledger::seconds_now())[..10] }),
            ),
            [401, 200, 403, 403, 403, 403],
        ),
        (
            "DELETE",
            "/v1/data-sets/{id}/grants/{analyst}",
            "/v1/data-sets/pay/grants/ana",
            None,
            [401, 200, 403, 403, 403, 403],
        ),
        ("DELETE", "/v1/me/tokens", "/v1/me/tokens", None, [401, 204, 204, 204, 204, 204]),
    ]
}

fn openapi() -> Value {
    serde_json::from_str(equipoise_server::OPENAPI).unwrap()
}

#[tokio::test]
async fn every_route_with_every_role() {
    let server = Server::new();
    let accepted =
        server.ask("ana", "first", &json!({ "statistic": "count", "epsilon": "0.01" })).await.json();
    let answer = accepted["id"].as_str().unwrap();
    assert_eq!(server.release("ana", answer).await.status, StatusCode::OK);
    let asked = server
        .call_with(
            Method::POST,
            "/v1/sql",
            Some("ana"),
            Some(&json!({ "query": QUERY })),
            &[("idempotency-key", "sql")],
        )
        .await
        .json();
    let rows = asked["id"].as_str().unwrap();
    assert_eq!(server.release("ana", rows).await.status, StatusCode::OK);
    let watching = json!({ "data_set": "pay", "epsilon": "0.1", "delta": "1e-7", "budget_per_unit": 1 });
    let begun = server
        .call_with(
            Method::POST,
            "/v1/monitors",
            Some("ana"),
            Some(&watching),
            &[("idempotency-key", "monitor")],
        )
        .await
        .json();
    let monitor = begun["id"].as_str().unwrap();
    let api = openapi();
    let mut wrong = Vec::new();
    for (method, template, path, body, expected) in table() {
        let path = path.replace("ANSWER", answer).replace("MONITOR", monitor).replace("ROWS", rows);
        for (place, status) in expected.into_iter().enumerate().filter(|(_, status)| *status != 0) {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let key = format!("{place} {template}");
            let reply = server
                .call_with(method.clone(), &path, CALLERS[place], body.as_ref(), &[("idempotency-key", &key)])
                .await;
            if reply.status.as_u16() != status {
                wrong.push(format!(
                    "{method} {template} by {:?}: {} not {status}: {}",
                    CALLERS[place], reply.status, reply.text
                ));
            }
            described(&api, &method, template, &reply);
            assert_eq!(reply.header("cache-control"), "no-store");
            assert!(reply.header("content-security-policy").starts_with("default-src 'none'"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The table as a page of the documentation: what is tested is what is written there.
#[test]
fn the_page_of_routes_is_the_table() {
    let mut text = String::from(
        "# Who may do what, route by route\n\n\
         Every status that the server answers to a member who shows a token, and to nobody. Written and tested by\n\
         `crates/server/tests/routes.rs`; a token makes no tokens and no members, so those routes are for sessions (see\n\
         [the server](server.md)). `-` is a stream that does not end. An analyst without a grant does not learn that a data set is there.\n\n\
         | route | nobody | steward | analyst | analyst without a grant | reviewer | operator |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for (method, template, _, _, expected) in table() {
        let shown = expected.map(|status| if status == 0 { "-".to_string() } else { status.to_string() });
        text += &format!("| `{method} {template}` | {} |\n", shown.join(" | "));
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/server-routes.md");
    if std::env::var_os("EQUIPOISE_WRITE_DOCS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == text,
        "docs/server-routes.md is not the table; run this test with EQUIPOISE_WRITE_DOCS=1"
    );
}

#[test]
fn the_description_names_these_routes_and_no_others() {
    let api = openapi();
    let mut named = BTreeSet::new();
    for (path, methods) in api["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            named.insert((method.to_uppercase(), path.clone()));
        }
    }
    let tested: BTreeSet<_> = table().iter().map(|row| (row.0.to_string(), row.1.to_string())).collect();
    assert_eq!(named, tested);
}

/// The answer has the shape that the description gives it.
fn described(api: &Value, method: &Method, template: &str, reply: &support::Reply) {
    let responses = &api["paths"][template][method.as_str().to_lowercase()]["responses"];
    let status = reply.status.as_u16().to_string();
    let response = responses.get(&status).unwrap_or(&responses["default"]);
    let Some(content) = response.get("content").and_then(Value::as_object) else {
        assert!(reply.text.is_empty(), "{method} {template} {status}: a body that is not described");
        return;
    };
    let (kind, media) = content.iter().next().unwrap();
    assert_eq!(reply.header("content-type"), kind, "{method} {template} {status}");
    if kind.ends_with("json") {
        let found = fits(api, &media["schema"], &reply.json());
        assert_eq!(found, Ok(()), "{method} {template} {status}: {}", reply.text);
    }
}

/// As much of JSON Schema as the description uses.
fn fits(api: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = api.pointer(name.trim_start_matches('#')).ok_or_else(|| format!("no {name}"))?;
        return fits(api, schema, value);
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is_number = kind == "integer" && kinds.contains(&"number");
    if !kinds.is_empty() && !kinds.contains(&kind) && !is_number {
        return Err(format!("{value} is no {kinds:?}"));
    }
    if schema["enum"].as_array().is_some_and(|known| !known.contains(value)) {
        return Err(format!("{value} is not among {}", schema["enum"]));
    }
    for item in value.as_array().into_iter().flatten().filter(|_| schema.get("items").is_some()) {
        fits(api, &schema["items"], item)?;
    }
    if let Some(object) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let there = object.contains_key(name);
            if !there {
                return Err(format!("{name} is missing"));
            }
        }
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            if let Some(value) = object.get(name) {
                fits(api, schema, value).map_err(|error| format!("{name}: {error}"))?;
            }
        }
    }
    Ok(())
}

/// Plans and releases of every shape, by the documents that the command line writes too.
#[tokio::test]
async fn every_shape_of_a_plan_and_of_a_release_fits_its_description() {
    let server = Server::new();
    let api = openapi();
    let data = server.state.store.data_set("pay").unwrap();
    let schema = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let of = |statistic: &str, more: Value| {
        let mut question =
            json!({ "statistic": statistic, "column": "salary", "epsilon": "1", "delta": "1e-6" });
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        question
    };
    let mut questions: Vec<Value> =
        ["median", "mean", "sum", "variance", "std", "min", "max", "iqr", "mode", "distinct", "summary"]
            .map(|statistic| of(statistic, json!({})))
            .to_vec();
    questions.extend([
        json!({ "statistic": "count", "epsilon": "0.0001" }),
        json!({ "statistic": "share", "column": "salary > 2000", "epsilon": "1" }),
        of("quantile", json!({ "fraction": "0.25,0.75" })),
        of("median", json!({ "epsilon": "0.001" })),
        of("mean", json!({ "group_by": ["person"] })),
        of("mean", json!({ "mechanism": "gaussian", "range": "0,5000" })),
        of("histogram", json!({ "bins": 5, "range": "0,5000" })),
        of("ecdf", json!({})),
        of("top", json!({ "k": 3 })),
        json!({ "epsilon": "2", "questions": [{ "statistic": "count" }, { "statistic": "mean", "column": "salary" }] }),
    ]);
    for question in questions {
        let planned =
            server.call(Method::POST, "/v1/data-sets/pay/plans", Some("ana"), Some(&question)).await;
        assert_eq!(planned.status, StatusCode::OK, "{question}: {}", planned.text);
        assert_eq!(fits(&api, &schema("Plan"), &planned.json()), Ok(()), "{question}: {}", planned.text);
        let source = server.state.open_data(&data).unwrap();
        let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        let facts = session::facts(None, "pay", source.columns()).unwrap();
        let text = question.to_string();
        let plan = match question.get("questions") {
            Some(_) => Plan::batch(&Batch::from_json(&text).unwrap(), &facts),
            None => Plan::new(&Request::from_json(&text).unwrap(), &facts),
        };
        let Ok(Paid::Charged(charged)) = session.charge(plan.unwrap(), None) else {
            panic!("no limit, no id")
        };
        let release = session.run(*charged, &*source).unwrap().to_json();
        assert_eq!(fits(&api, &schema("Release"), &release), Ok(()), "{question}: {release}");
    }
}

/// An address that is no text is a problem like any other, and the scheme of a token has no case.
#[tokio::test]
async fn odd_addresses_and_schemes_are_answered_as_others_are() {
    let server = Server::new();
    let odd = server.get("/v1/releases/%E0%A4%A", "ana").await;
    assert_eq!((odd.status, odd.header("content-type")), (StatusCode::NOT_FOUND, "application/problem+json"));
    let page = server.get("/data-sets/%E0%A4%A", "ana").await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    assert!(page.header("content-type").starts_with("text/html"), "{}", page.text);
    for (scheme, status) in
        [("bearer", StatusCode::OK), ("BEARER", StatusCode::OK), ("Basic", StatusCode::UNAUTHORIZED)]
    {
        let token = format!("{scheme} {}", server.token("ana"));
        let reply = server.call_with(Method::GET, "/v1/me", None, None, &[("authorization", &token)]).await;
        assert_eq!(reply.status, status, "{scheme}");
    }
}

/// A check that cannot fail checks nothing.
#[test]
fn what_does_not_fit_is_noticed() {
    let api = openapi();
    let schema = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let head = json!({
        "ledger": "a", "entries": 1, "hash": "b", "head": "c",
        "read_only": false, "witness_agreed_seconds_ago": null, "verified": null,
    });
    assert_eq!(fits(&api, &schema("Head"), &head), Ok(()));
    assert!(fits(&api, &schema("Head"), &json!({ "ledger": "a", "entries": 1, "hash": "b" })).is_err());
    assert!(
        fits(&api, &schema("Head"), &json!({ "ledger": 1, "entries": 1, "hash": "b", "head": "c" })).is_err()
    );
    assert!(fits(&api, &schema("Role"), &json!("king")).is_err());
    assert!(
        fits(&api, &json!({ "type": "array", "items": schema("Role") }), &json!(["steward", 7])).is_err()
    );
}
