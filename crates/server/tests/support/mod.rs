//! A server with data, members and tokens, called without sockets.

#![allow(dead_code, reason = "each test file uses a part of it")]

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Method, Request, StatusCode, header},
};
use equipoise_server::{
    acts::data_sets::{self, Limiting, Number, Registering},
    app,
    authorise::{Caller, Shown},
    rate::Rates,
    state::{Settings, State},
    store::{Opens, Role},
};
use http_body_util::BodyExt as _;
use serde_json::Value;
use std::{path::PathBuf, sync::Arc, time::Duration};
use tempfile::TempDir;
use tower::ServiceExt as _;

/// The origin of the server's own pages.
pub const ORIGIN: &str = "http://127.0.0.1:8470";

/// A server, the folder that it lies in, and a token of each member.
pub struct Server {
    pub folder: TempDir,
    pub state: Arc<State>,
    pub app: Router,
    tokens: Vec<(String, String)>,
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {} {}", self.status, self.text))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

pub fn settings(folder: &TempDir) -> Settings {
    Settings {
        ledger: None,
        directory: folder.path().join("server"),
        data: vec![folder.path().join("data")],
        origins: vec![ORIGIN.to_string()],
        rates: Rates { plans: 100_000, questions: 100_000, changes: 100_000 },
        heads: Vec::new(),
        programs: vec![folder.path().join("programs")],
        keeper: Some(env!("CARGO_BIN_EXE_equipoise-server").into()),
    }
}

pub fn steward() -> Caller {
    Caller { name: "sam".into(), role: Role::Steward, shown: Shown::Session }
}

/// Two thousand rows of two columns, and a third whose name is an attack on whoever shows it.
pub const HOSTILE: &str = "<script>alert('x')</script>";

fn rows() -> String {
    let row = |row: u32| format!("{row},{},{}\n", 1000 + row, row % 7);
    format!("person,salary,{HOSTILE}\n{}", (0..2000).map(row).collect::<Vec<_>>().concat())
}

impl Server {
    /// With data `pay`, a limit of 5, a steward, two analysts of whom the first may ask, a reviewer and an operator.
    pub fn new() -> Self {
        Self::with(Vec::new())
    }

    /// The same, started with these databases too.
    pub fn with(databases: Vec<PathBuf>) -> Self {
        Self::charging(None, databases)
    }

    /// The same, with a ledger in a database.
    pub fn charging(ledger: Option<PathBuf>, databases: Vec<PathBuf>) -> Self {
        let folder = TempDir::new().unwrap();
        for part in ["data", "programs"] {
            std::fs::create_dir(folder.path().join(part)).unwrap();
        }
        std::fs::write(folder.path().join("data/pay.csv"), rows()).unwrap();
        let mut settings = settings(&folder);
        settings.data.extend(databases);
        settings.ledger = ledger;
        let state = State::open(settings).unwrap();
        let mut tokens = Vec::new();
        for (name, role) in [
            ("sam", Role::Steward),
            ("ana", Role::Analyst),
            ("bob", Role::Analyst),
            ("rita", Role::Reviewer),
            ("olga", Role::Operator),
        ] {
            state.store.add_member(name, role).unwrap();
            let token = state.store.issue(name, Opens::Token, "test").unwrap();
            tokens.push((name.to_string(), token.reveal().to_string()));
        }
        let said = Registering { path: "pay.csv".into(), answer_time: Some(1), ..Registering::default() };
        data_sets::register(&state, &steward(), "pay", &said).unwrap();
        let number = |text: &str| Some(Number::Text(text.to_string()));
        let limit = Limiting { epsilon: number("5"), delta: number("1e-5"), ..Limiting::default() };
        data_sets::limit(&state, &steward(), "pay", None, &limit).unwrap();
        data_sets::grant(&state, &steward(), "pay", "ana", true).unwrap();
        let app = app(state.clone());
        Self { folder, state, app, tokens }
    }

    pub fn token<'a>(&'a self, member: &'a str) -> &'a str {
        let found = self.tokens.iter().find(|(name, _)| name == member);
        found.map_or(member, |(_, token)| token.as_str())
    }

    pub fn ledger(&self) -> PathBuf {
        self.folder.path().join("server/equipoise.ledger")
    }

    pub async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.app.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Reply {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    /// As a member with a token, or as nobody.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        member: Option<&str>,
        body: Option<&Value>,
    ) -> Reply {
        self.call_with(method, path, member, body, &[]).await
    }

    pub async fn call_with(
        &self,
        method: Method,
        path: &str,
        member: Option<&str>,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(member) = member {
            request = request.header(header::AUTHORIZATION, format!("Bearer {}", self.token(member)));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = match body {
            Some(body) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Body::from(body.to_string())
            }
            None => Body::empty(),
        };
        self.send(request.body(body).unwrap()).await
    }

    pub async fn get(&self, path: &str, member: &str) -> Reply {
        self.call(Method::GET, path, Some(member), None).await
    }

    /// Ask about `pay` under a key.
    pub async fn ask(&self, member: &str, key: &str, question: &Value) -> Reply {
        self.call_with(
            Method::POST,
            "/v1/data-sets/pay/questions",
            Some(member),
            Some(question),
            &[("idempotency-key", key)],
        )
        .await
    }

    /// The release, as soon as it can be read.
    pub async fn release(&self, member: &str, id: &str) -> Reply {
        for _ in 0..200 {
            let reply = self.get(&format!("/v1/releases/{id}"), member).await;
            if reply.status != StatusCode::ACCEPTED {
                return reply;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the release did not come");
    }
}
