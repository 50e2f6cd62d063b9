//! What all routes share: who sends a request, its body, the headers of every answer, and the line in the log.

use crate::{
    authorise::Caller,
    log,
    problem::{Problem, Told},
    state::State,
};
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{FromRequest, FromRequestParts, MatchedPath, Request},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header, request::Parts},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use serde::de::DeserializeOwned;
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

/// The longest body, in bytes.
pub const LONGEST_BODY: usize = 1 << 20;
/// The longest of somebody who is no member: enough to sign in, and too little to fill the memory over many connections.
const LONGEST_OF_STRANGERS: usize = 4 << 10;
/// How long a body may take to come.
const BODY_TIME: Duration = Duration::from_secs(10);

/// The cookie of a sign-in. Behind HTTPS browsers hold it to this host and to HTTPS; on one's own machine there is none.
pub fn cookie_name(state: &State) -> &'static str {
    if state.is_secure() { "__Host-equipoise" } else { "equipoise" }
}

/// The header that sets the cookie, or ends it.
pub fn set_cookie(state: &State, secret: Option<&str>) -> HeaderValue {
    let (name, secure) = (cookie_name(state), if state.is_secure() { "; Secure" } else { "" });
    let (value, age) = secret.map_or(("", 0), |secret| (secret, crate::store::SESSION));
    let text = format!("{name}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// The secret in the cookie of a request.
pub fn cookie<'a>(state: &State, headers: &'a HeaderMap) -> Option<&'a str> {
    cookie_named(cookie_name(state), headers)
}

fn cookie_named<'a>(name: &str, headers: &'a HeaderMap) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|text| text.split(';')).find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then_some(value)
    })
}

/// Does a request that changes something come from one of our own pages? Browsers say so and pages cannot lie about it.
pub fn from_own_page(state: &State, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text("sec-fetch-site")
        && site != "same-origin"
    {
        return false;
    }
    match text("origin") {
        Some(origin) => state.is_own_origin(origin),
        None => text("sec-fetch-site") == Some("same-origin"),
    }
}

/// Who sends a request, by its token or its cookie.
pub fn caller(state: &State, method: &Method, headers: &HeaderMap) -> Result<Caller, Problem> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let said = value.to_str().ok().and_then(|text| text.split_once(' '));
        let token = said.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token);
        return token.and_then(|token| state.store.by_token(token.trim())).ok_or_else(Problem::nobody);
    }
    let secret = cookie(state, headers).ok_or_else(Problem::nobody)?;
    let caller = state.store.by_cookie(secret).ok_or_else(Problem::nobody)?;
    if !method.is_safe() && !from_own_page(state, headers) {
        return Err(Problem::forbidden("this request did not come from a page of this server"));
    }
    Ok(caller)
}

impl FromRequestParts<Arc<State>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<State>) -> Result<Self, Problem> {
        caller(state, &parts.method, &parts.headers)
    }
}

/// A member sent the request.
#[derive(Clone)]
pub struct Known;

/// Whoever was found to send a request, and what it was charged, for the log.
#[derive(Clone)]
pub struct Charge(pub String);

/// A witness of an entry of the ledger, for whoever is answered to keep.
#[derive(Clone)]
pub struct Witness(pub String);

/// The header, and the cookie of browsers, by which a witness goes to and fro.
pub const WITNESS: &str = "equipoise-witness";

/// What the sender of a request saw last of the ledger.
fn witness(headers: &HeaderMap) -> Option<String> {
    let named = headers.get(WITNESS).and_then(|value| value.to_str().ok());
    let found = named.or_else(|| cookie_named(WITNESS, headers))?;
    (found.len() < 400).then(|| found.to_string())
}

/// Programs keep the header, browsers the cookie.
fn keep_witness(state: &State, response: &mut Response) {
    let Some(Witness(witness)) = response.extensions().get::<Witness>().cloned() else { return };
    let secure = if state.is_secure() { "; Secure" } else { "" };
    let cookie = format!("{WITNESS}={witness}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax{secure}");
    if let (Ok(value), Ok(cookie)) = (HeaderValue::from_str(&witness), HeaderValue::from_str(&cookie)) {
        response.headers_mut().insert(HeaderName::from_static(WITNESS), value);
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

/// A whole body, of bounded length and within a bounded time.
pub async fn body(request: Request, state: &State) -> Result<String, Problem> {
    let is_member = caller(state, &Method::GET, request.headers()).is_ok();
    let (longest, line) = if is_member {
        (LONGEST_BODY, "a body has at most 1 MiB")
    } else {
        (LONGEST_OF_STRANGERS, "a body has at most 4 KiB before somebody is signed in")
    };
    let too_long = || Problem::new(StatusCode::PAYLOAD_TOO_LARGE, line);
    let declared = request
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > longest) {
        return Err(too_long());
    }
    let read = tokio::time::timeout(BODY_TIME, to_bytes(request.into_body(), longest)).await;
    let bytes = read
        .map_err(|_| Problem::new(StatusCode::REQUEST_TIMEOUT, "the body took too long to come"))?
        .map_err(|_| too_long())?;
    String::from_utf8(bytes.to_vec()).map_err(|_| Problem::wrong("a body is UTF-8 text"))
}

/// The text of a JSON body. Another type is refused: a form of a foreign page cannot send this one.
pub struct JsonText(pub String);

impl FromRequest<Arc<State>> for JsonText {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &Arc<State>) -> Result<Self, Problem> {
        let kind = request
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let is_json =
            kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
        if !is_json {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "send JSON, as 'Content-Type: application/json'",
            ));
        }
        body(request, state).await.map(Self)
    }
}

/// Read a document of this shape.
pub fn document<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    serde_json::from_str(text)
        .map_err(|error| Problem::wrong(format!("the document cannot be read: {error}")))
}

/// Fields of a form, each name once.
pub struct Form(Vec<(String, String)>);

impl Form {
    /// Read what a form sends.
    pub fn read(text: &str) -> Self {
        let decoded = |part: &str| {
            let spaced = part.replace('+', " ");
            percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
        };
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(key, value)| (decoded(key), decoded(value)))
                .collect(),
        )
    }

    /// What a field says; nothing where it is empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim());
        found.filter(|value| !value.is_empty())
    }
}

/// Ledger and disk are waited for on threads of their own, so that no connection waits for another's.
pub async fn aside<T: Send + 'static>(
    state: &Arc<State>,
    work: impl FnOnce(&State) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let state = state.clone();
    tokio::task::spawn_blocking(move || work(&state))
        .await
        .unwrap_or_else(|_| Err(Problem::inside("a request ended without a word")))
}

/// An address that is no text is answered by the framework, in words of its own.
fn is_unreadable(response: &Response) -> bool {
    let is_plain = |kind: &HeaderValue| kind.as_bytes().starts_with(b"text/plain");
    response.status() == StatusCode::BAD_REQUEST
        && response.headers().get(header::CONTENT_TYPE).is_some_and(is_plain)
}

/// Nothing is at this address.
pub async fn nothing_here(
    axum::extract::State(state): axum::extract::State<Arc<State>>,
    request: Request,
) -> Response {
    if request.uri().path().starts_with("/v1/") {
        return Problem::not_found().into_response();
    }
    crate::console::problem_page(&state, request.headers(), &Problem::not_found())
}

/// Every answer has the headers that keep browsers from doing more than our pages need, and every request a line in the log.
pub fn with_headers_and_log(router: Router<Arc<State>>, state: &Arc<State>) -> Router<Arc<State>> {
    router.layer(from_fn_with_state(state.clone(), around))
}

const PAGES: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// A picture has styles of its own, and nothing else.
const PICTURES: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

async fn around(
    axum::extract::State(state): axum::extract::State<Arc<State>>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let method = request.method().clone();
    let route =
        request.extensions().get::<MatchedPath>().map_or("-".to_string(), |path| path.as_str().to_string());
    // Without the check of the origin, which is the route's to make.
    let member = caller(&state, &Method::GET, request.headers()).ok().map(|caller| caller.name);
    if let Some(witness) = witness(request.headers()).filter(|_| member.is_some()) {
        // What cannot be looked at is looked at with the next request.
        let _ = aside(&state, move |state| state.rollback.heed(&state.ledger()?, &witness)).await;
    }
    let is_api = request.uri().path().starts_with("/v1/");
    let headers = (!is_api).then(|| request.headers().clone());
    let mut response = next.run(request).await;
    if is_unreadable(&response) {
        response = match headers {
            None => Problem::not_found().into_response(),
            Some(headers) => crate::console::problem_page(&state, &headers, &Problem::not_found()),
        };
    }
    if member.is_some() {
        response.extensions_mut().insert(Known);
    }
    keep_witness(&state, &mut response);
    let is_picture = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "image/svg+xml");
    let policy = if is_picture { PICTURES } else { PAGES };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if state.is_secure() {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    state.metrics.count(method.as_str(), &route, response.status().as_u16());
    let over = response.extensions().get::<Told>().is_some_and(|told| told.remaining.is_some());
    state.metrics.over_budget.fetch_add(u64::from(over), Ordering::SeqCst);
    let charge = response.extensions().get::<Charge>().map(|Charge(id)| id.clone());
    log::request(&log::Line {
        member: member.as_deref(),
        method: method.as_str(),
        route: &route,
        status: response.status().as_u16(),
        charge: charge.as_deref(),
    });
    response
}
