//! What went wrong, as `application/problem+json`: the one line of the command line with its exit code, and nothing of rows.

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use equipoise_core::wording;
use equipoise_session::{
    ledger::{ChargeError, LedgerError, RegisterError},
    plan::PlanError,
    release::Remaining,
    request::RequestError,
    session::PayError,
};
use serde_json::{Map, Value, json};

/// A request that was not granted.
#[derive(Debug)]
pub struct Problem {
    /// The status of the answer.
    pub status: StatusCode,
    /// One line: what is wrong and what to do.
    pub detail: String,
    /// The exit code that the command line has for it.
    pub exit: u8,
    /// In how many seconds it may go better.
    pub retry_after: Option<u64>,
    /// Whatever else is to be known.
    pub fields: Map<String, Value>,
}

impl Problem {
    /// A problem of this status; the line is as it is shown.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        let exit = if status.is_server_error() { 1 } else { 2 };
        Self { status, detail: wording::line(&detail.into()), exit, retry_after: None, fields: Map::new() }
    }

    /// A wrong request.
    pub fn wrong(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// Nobody is signed in.
    pub fn nobody() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "sign in with your link, or send a token as 'Authorization: Bearer'",
        )
    }

    /// Signed in, and not allowed.
    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, detail)
    }

    /// There is no such thing, or none that the caller may know of: the two look the same.
    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "there is nothing here, or nothing that you may see")
    }

    /// Something failed inside. What it was goes to the log of the server, not to whoever asked.
    pub fn inside(what: impl std::fmt::Display) -> Self {
        crate::log::failure(&what.to_string());
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the server failed; nothing was charged")
    }

    /// The same with another line, because nobody knows what was charged or because something was.
    #[must_use]
    pub fn saying(self, detail: &str) -> Self {
        Self { detail: detail.to_string(), ..self }
    }

    /// With one more field.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_string(), value.into());
        self
    }

    /// With the time after which it may go better.
    #[must_use]
    pub fn after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// With the exit code of the command line.
    #[must_use]
    pub fn exit(self, exit: u8) -> Self {
        Self { exit, ..self }
    }

    /// The document.
    pub fn document(&self) -> Value {
        let title = self.status.canonical_reason().unwrap_or("problem");
        let mut document = json!({
            "type": "about:blank", "title": title, "status": self.status.as_u16(), "detail": self.detail, "exit": self.exit,
        });
        if let Some(object) = document.as_object_mut() {
            object.extend(self.fields.clone());
        }
        document
    }
}

/// What pages show of a problem.
#[derive(Clone, Debug)]
pub struct Told {
    /// The status of the answer.
    pub status: StatusCode,
    /// The line.
    pub detail: String,
    /// What is left, where it was too little.
    pub remaining: Option<Value>,
    /// Who spent what, where it was too little.
    pub spent_by: Option<Value>,
}

impl Told {
    /// Of this problem.
    pub fn of(problem: &Problem) -> Self {
        let remaining = problem.fields.get("remaining").cloned();
        let spent_by = problem.fields.get("spent_by").cloned();
        Self { status: problem.status, detail: problem.detail.clone(), remaining, spent_by }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = self.document().to_string();
        let mut response =
            (self.status, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            let challenge = header::HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response.extensions_mut().insert(Told::of(&self));
        response
    }
}

impl From<PlanError> for Problem {
    fn from(error: PlanError) -> Self {
        let mut problem = Self::wrong(error.to_string());
        if let Some(argument) = error.argument() {
            problem = problem.with("argument", argument.name);
        }
        if let Some(hint) = error.next_step() {
            problem = problem.with("hint", hint);
        }
        problem
    }
}

impl From<RequestError> for Problem {
    fn from(error: RequestError) -> Self {
        Self::wrong(error.to_string())
    }
}

impl From<LedgerError> for Problem {
    fn from(error: LedgerError) -> Self {
        // Its text has the path of the ledger, which is nobody's business outside.
        Self::inside(&error)
    }
}

impl From<RegisterError> for Problem {
    fn from(error: RegisterError) -> Self {
        match error {
            RegisterError::DataSet(error) => Self::wrong(error.to_string()),
            RegisterError::Content(_) => Self::wrong("the data could not be read; nothing was changed"),
            RegisterError::Ledger(error) => error.into(),
            other => Self::inside(&other),
        }
    }
}

impl From<PayError> for Problem {
    fn from(error: PayError) -> Self {
        let exit = error.exit_code();
        match &error {
            // A steward of a server raises limits on its pages.
            PayError::Charge(ChargeError::OverBudget(over)) => {
                let line = error.to_string().replace(" with 'equipoise budget set'", "");
                Self::forbidden(line)
                    .exit(exit)
                    .with("remaining", json!(Remaining::from(&over.remaining)))
                    .with("limit", json!(Remaining::from(&over.limit)))
                    .with("analyst", json!(over.analyst))
            }
            PayError::Charge(ChargeError::RequestIdTaken { .. } | ChargeError::BeforeAnew { .. }) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()).exit(exit)
            }
            PayError::Charge(ChargeError::Lost { id, .. }) => lost(id),
            PayError::Charge(ChargeError::Ledger(inner) | ChargeError::Apart(inner)) => {
                Self::inside(inner).saying("the ledger failed; whether this was charged is in its log")
            }
            _ => Self::wrong(error.to_string()).exit(exit),
        }
    }
}

/// The one line of an answer that nobody will see. It is the same whatever failed.
pub fn lost(id: &str) -> Problem {
    let line = "the answer was lost before it was recorded; the charge stands, and asking under a new key is a new charge";
    Problem::new(StatusCode::GONE, line).exit(1).with("id", id)
}
