//! The routes of the API. Each takes a request apart and calls one of [`acts`](crate::acts).

mod events;

use crate::{
    OPENAPI,
    acts::{audits, data_sets, members, monitors, programs, questions, rehearsals, releases, review, sql},
    authorise::Caller,
    http::{Charge, JsonText, Witness, aside, cookie, document, from_own_page, set_cookie},
    problem::Problem,
    state::State,
};
use axum::{
    Router,
    extract::{Path, RawQuery, State as Shared},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post, put},
};
use questions::Question;
use releases::Seen;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

type Answer = Result<Response, Problem>;

/// Every route of the API.
pub fn routes() -> Router<Arc<State>> {
    Router::new()
        .route("/openapi.json", get(openapi))
        .route("/v1/me", get(own))
        .route("/v1/me/tokens", post(make_token).delete(end_tokens))
        .route("/v1/sessions", post(sign_in).delete(sign_out))
        .route("/v1/members", get(list_members).post(invite))
        .route("/v1/members/{name}", axum::routing::delete(remove_member))
        .route("/v1/members/{name}/links", post(invite_again))
        .route("/v1/data-sets", get(list_data_sets))
        .route("/v1/data-sets/{id}", get(show_data_set).put(register))
        .route("/v1/data-sets/{id}/answer-time", put(answer_time))
        .route("/v1/data-sets/{id}/limits", put(limit_all))
        .route("/v1/data-sets/{id}/limits/{analyst}", put(limit_one))
        .route("/v1/data-sets/{id}/grants/{analyst}", put(grant).delete(revoke))
        .route("/v1/data-sets/{id}/sharing", put(share))
        .route("/v1/data-sets/{id}/programs/{name}", put(allow_program).delete(remove_program))
        .route("/v1/data-sets/{id}/plans", post(plan))
        .route("/v1/data-sets/{id}/rehearsals", post(rehearse))
        .route("/v1/data-sets/{id}/questions", post(ask))
        .route("/v1/sql", post(ask_sql))
        .route("/v1/releases/{id}", get(read))
        .route("/v1/releases/{id}/rows", post(rows_of))
        .route("/v1/releases/{id}/seen", post(see))
        .route("/v1/releases/{id}/explanation", get(explain))
        .route("/v1/releases/{id}/picture.svg", get(draw))
        .route("/v1/monitors", get(list_monitors).post(begin_monitor))
        .route("/v1/monitors/{id}/questions", post(ask_monitor))
        .route("/v1/monitors/{id}/history", get(monitor_history))
        .route("/v1/audit", get(show_audits).post(run_audits))
        .route("/v1/ledger/entries", get(entries))
        .route("/v1/ledger/head", get(head))
        .route("/v1/ledger/verify", post(verify))
        .route("/v1/ledger/restored", post(restored))
        .route("/v1/ledger/clock", post(clock))
        .route("/v1/events", get(events::events))
        .method_not_allowed_fallback(wrong_method)
}

async fn wrong_method() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "this address does not take this method; /openapi.json lists them",
    )
}

fn told(status: StatusCode, document: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], document.to_string()).into_response()
}

async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

async fn own(Shared(state): Shared<Arc<State>>, caller: Caller) -> Answer {
    Ok(told(StatusCode::OK, &members::own(&state, &caller)))
}

async fn make_token(Shared(state): Shared<Arc<State>>, caller: Caller, JsonText(text): JsonText) -> Answer {
    let said = document(&text)?;
    let made = aside(&state, move |state| members::token(state, &caller, &said)).await?;
    Ok(told(StatusCode::CREATED, &made))
}

async fn end_tokens(Shared(state): Shared<Arc<State>>, caller: Caller) -> Answer {
    aside(&state, move |state| members::end_tokens(state, &caller)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// A link's secret, or a token.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SigningIn {
    secret: String,
}

async fn sign_in(Shared(state): Shared<Arc<State>>, headers: HeaderMap, JsonText(text): JsonText) -> Answer {
    // A page elsewhere could otherwise sign its reader in as somebody else. Programs send no origin.
    if headers.contains_key(header::ORIGIN) && !from_own_page(&state, &headers) {
        return Err(Problem::forbidden("this request did not come from a page of this server"));
    }
    let said: SigningIn = document(&text)?;
    let (member, secret) = aside(&state, move |state| state.store.sign_in(&said.secret)).await?;
    let mut response = told(StatusCode::CREATED, &json!({ "name": member.name, "role": member.role }));
    response.headers_mut().insert(header::SET_COOKIE, set_cookie(&state, Some(secret.reveal())));
    Ok(response)
}

async fn sign_out(Shared(state): Shared<Arc<State>>, _caller: Caller, headers: HeaderMap) -> Answer {
    if let Some(secret) = cookie(&state, &headers).map(str::to_string) {
        aside(&state, move |state| state.store.end(&secret)).await?;
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    response.headers_mut().insert(header::SET_COOKIE, set_cookie(&state, None));
    Ok(response)
}

async fn list_members(Shared(state): Shared<Arc<State>>, caller: Caller) -> Answer {
    Ok(told(StatusCode::OK, &members::list(&state, &caller)?.into()))
}

async fn invite(Shared(state): Shared<Arc<State>>, caller: Caller, JsonText(text): JsonText) -> Answer {
    let said = document(&text)?;
    let made = aside(&state, move |state| members::invite(state, &caller, &said)).await?;
    Ok(told(StatusCode::CREATED, &made))
}

async fn invite_again(Shared(state): Shared<Arc<State>>, caller: Caller, Path(name): Path<String>) -> Answer {
    let made = aside(&state, move |state| members::invite_again(state, &caller, &name)).await?;
    Ok(told(StatusCode::CREATED, &made))
}

async fn remove_member(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path(name): Path<String>,
) -> Answer {
    aside(&state, move |state| members::remove(state, &caller, &name)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn list_data_sets(Shared(state): Shared<Arc<State>>, caller: Caller) -> Answer {
    let all = aside(&state, move |state| data_sets::list(state, &caller)).await?;
    Ok(told(StatusCode::OK, &all.into()))
}

async fn show_data_set(Shared(state): Shared<Arc<State>>, caller: Caller, Path(id): Path<String>) -> Answer {
    let one = aside(&state, move |state| data_sets::show(state, &caller, &id)).await?;
    Ok(told(StatusCode::OK, &one))
}

async fn register(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path(id): Path<String>,
    JsonText(text): JsonText,
) -> Answer {
    let said = document(&text)?;
    let (status, made) = aside(&state, move |state| data_sets::register(state, &caller, &id, &said)).await?;
    Ok(told(status, &made))
}

/// A time of answers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Timing {
    seconds: u64,
}

async fn answer_time(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path(id): Path<String>,
    JsonText(text): JsonText,
) -> Answer {
    let said: Timing = document(&text)?;
    let made =
        aside(&state, move |state| data_sets::set_answer_time(state, &caller, &id, said.seconds)).await?;
    Ok(told(StatusCode::OK, &made))
}

async fn limit_all(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path(id): Path<String>,
    JsonText(text): JsonText,
) -> Answer {
    let said = document(&text)?;
    let made = aside(&state, move |state| data_sets::limit(state, &caller, &id, None, &said)).await?;
    Ok(told(StatusCode::OK, &made))
}

async fn limit_one(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path((id, analyst)): Path<(String, String)>,
    JsonText(text): JsonText,
) -> Answer {
    let said = document(&text)?;
    let made =
        aside(&state, move |state| data_sets::limit(state, &caller, &id, Some(&analyst), &said)).await?;
    Ok(told(StatusCode::OK, &made))
}

async fn grant(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path((id, analyst)): Path<(String, String)>,
) -> Answer {
    let made = aside(&state, move |state| data_sets::grant(state, &caller, &id, &analyst, true)).await?;
    Ok(told(StatusCode::OK, &made))
}

async fn revoke(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path((id, analyst)): Path<(String, String)>,
) -> Answer {
    let made = aside(&state, move |state| data_sets::grant(state, &caller, &id, &analyst, false)).await?;
    Ok(told(StatusCode::OK, &made))
}

async fn allow_program(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path((id, name)): Path<(String, String)>,
    JsonText(text): JsonText,
) -> Answer {
    let said = document(&text)?;
    let (status, made) = aside(&state, move |state| programs::put(state, &caller, &id, &name, &said)).await?;
    Ok(told(status, &made))
}

async fn remove_program(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path((id, name)): Path<(String, String)>,
) -> Answer {
    let made = aside(&state, move |state| programs::remove(state, &caller, &id, &name)).await?;
    Ok(told(StatusCode::OK, &made))
}

async fn plan(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path(id): Path<String>,
    JsonText(text): JsonText,
) -> Answer {
    let planned =
        aside(&state, move |state| questions::plan(state, &caller, &id, &Question::from_json(&text)?))
            .await?;
    Ok(told(StatusCode::OK, &planned))
}

/// A question, and how often it is to be tried.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rehearsing {
    question: Value,
    #[serde(default = "one")]
    trials: usize,
}

fn one() -> usize {
    1
}

async fn rehearse(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path(id): Path<String>,
    JsonText(text): JsonText,
) -> Answer {
    let said: Rehearsing = document(&text)?;
    let tried = aside(&state, move |state| {
        let question = Question::from_json(&said.question.to_string())?;
        rehearsals::rehearse(state, &caller, &id, &question, said.trials)
    })
    .await?;
    Ok(told(StatusCode::OK, &tried))
}

/// Whether answers are shown to others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sharing {
    shared: bool,
}

async fn share(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path(id): Path<String>,
    JsonText(text): JsonText,
) -> Answer {
    let said: Sharing = document(&text)?;
    let made = aside(&state, move |state| data_sets::share(state, &caller, &id, said.shared)).await?;
    Ok(told(StatusCode::OK, &made))
}

/// The key under which something is charged once.
fn idempotency_key(headers: &HeaderMap) -> Result<String, Problem> {
    let key = headers.get("idempotency-key").and_then(|value| value.to_str().ok()).unwrap_or_default().trim();
    if key.is_empty() || key.chars().count() > 200 {
        return Err(Problem::wrong(
            "send an Idempotency-Key of 1 to 200 characters: asking again under it is free",
        ));
    }
    Ok(key.to_string())
}

async fn ask(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    JsonText(text): JsonText,
) -> Answer {
    let key = idempotency_key(&headers)?;
    let (question, anyway) = (Question::from_json(&text)?, anyway(query)?);
    Ok(taken(questions::ask(state, caller, id, key, question, anyway).await?))
}

/// Is it asked although earlier answers tell that it would be refused?
fn anyway(query: Option<String>) -> Result<bool, Problem> {
    match crate::http::Form::read(&query.unwrap_or_default()).get("anyway") {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Problem::wrong("anyway is true or false")),
    }
}

/// That a question was charged, or answered before.
fn taken(accepted: questions::Accepted) -> Response {
    let mut response = told(accepted.status, &accepted.document);
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/releases/{}", accepted.id)) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response.extensions_mut().insert(Charge(accepted.id));
    if let Some(witness) = accepted.witness {
        response.extensions_mut().insert(Witness(witness));
    }
    response
}

async fn ask_sql(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    JsonText(text): JsonText,
) -> Answer {
    let anyway = anyway(query)?;
    let said: sql::Querying = document(&text)?;
    let by = caller.clone();
    if said.dry_run {
        let planned = aside(&state, move |state| {
            let (data, question) = sql::read(state, &by, &said)?;
            questions::plan(state, &by, &data.id, &question)
        });
        return Ok(told(StatusCode::OK, &planned.await?));
    }
    let key = idempotency_key(&headers)?;
    let (data, question) = aside(&state, move |state| sql::read(state, &by, &said)).await?;
    Ok(taken(questions::ask(state, caller, data.id, key, question, anyway).await?))
}

async fn rows_of(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path(id): Path<String>,
    JsonText(text): JsonText,
) -> Answer {
    let said: sql::Querying = document(&text)?;
    Ok(match aside(&state, move |state| sql::rows(state, &caller, &id, &said)).await? {
        Err((ready_at, seconds)) => not_yet(&ready_at, seconds),
        Ok(rows) => told(StatusCode::OK, &rows.to_json()),
    })
}

async fn see(Shared(state): Shared<Arc<State>>, caller: Caller, Path(id): Path<String>) -> Answer {
    let seen = aside(&state, move |state| questions::see(state, &caller, &id)).await?;
    Ok(told(StatusCode::OK, &seen))
}

async fn list_monitors(Shared(state): Shared<Arc<State>>, caller: Caller) -> Answer {
    Ok(told(StatusCode::OK, &monitors::list(&state, &caller)?.into()))
}

async fn begin_monitor(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    headers: HeaderMap,
    JsonText(text): JsonText,
) -> Answer {
    let said: monitors::Watching = document(&text)?;
    let key = if said.dry_run { String::new() } else { idempotency_key(&headers)? };
    let (status, made) = monitors::begin(state, caller, key, said).await?;
    Ok(told(status, &made))
}

/// Threshold questions, as the lines that a monitor reads.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Thresholds {
    questions: Vec<Value>,
}

async fn ask_monitor(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path(id): Path<String>,
    JsonText(text): JsonText,
) -> Answer {
    let said: Thresholds = document(&text)?;
    Ok(told(StatusCode::OK, &monitors::ask(state, caller, id, said.questions).await?))
}

async fn monitor_history(
    Shared(state): Shared<Arc<State>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Answer {
    Ok(told(StatusCode::OK, &monitors::history(state, caller, id).await?))
}

async fn show_audits(Shared(state): Shared<Arc<State>>, caller: Caller) -> Answer {
    Ok(told(StatusCode::OK, &audits::show(&state, &caller)?))
}

async fn run_audits(Shared(state): Shared<Arc<State>>, caller: Caller) -> Answer {
    Ok(told(StatusCode::ACCEPTED, &audits::run(state, &caller)?))
}

/// Before its time an answer is nothing but its time.
fn not_yet(ready_at: &str, seconds: u64) -> Response {
    let mut response = told(StatusCode::ACCEPTED, &json!({ "outcome": "waiting", "ready_at": ready_at }));
    response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    response
}

async fn read(Shared(state): Shared<Arc<State>>, caller: Caller, Path(id): Path<String>) -> Answer {
    let seen = aside(&state, move |state| {
        let seen = releases::read(state, &caller, &id)?;
        let witness = match &seen {
            Seen::Release(release) => releases::witness(state, release),
            Seen::NotYet { .. } => None,
        };
        Ok((seen, witness))
    });
    let (seen, witness) = seen.await?;
    Ok(match seen {
        Seen::NotYet { ready_at, seconds } => not_yet(&ready_at, seconds),
        Seen::Release(release) => {
            let mut response =
                ([(header::CONTENT_TYPE, "application/json")], release.to_lines()).into_response();
            if let Some(witness) = witness {
                response.extensions_mut().insert(witness);
            }
            response
        }
    })
}

async fn explain(Shared(state): Shared<Arc<State>>, caller: Caller, Path(id): Path<String>) -> Answer {
    Ok(match aside(&state, move |state| releases::explain(state, &caller, &id)).await? {
        Err((ready_at, seconds)) => not_yet(&ready_at, seconds),
        Ok(explained) => told(StatusCode::OK, &explained),
    })
}

async fn draw(Shared(state): Shared<Arc<State>>, caller: Caller, Path(id): Path<String>) -> Answer {
    Ok(match aside(&state, move |state| releases::draw(state, &caller, &id)).await? {
        Err((ready_at, seconds)) => not_yet(&ready_at, seconds),
        Ok(picture) => ([(header::CONTENT_TYPE, "image/svg+xml")], picture).into_response(),
    })
}

async fn entries(Shared(state): Shared<Arc<State>>, caller: Caller, RawQuery(query): RawQuery) -> Answer {
    let query = crate::http::Form::read(&query.unwrap_or_default());
    let after = query.get("after").unwrap_or("0");
    let after = after.parse().map_err(|_| Problem::wrong("after is the number of an entry"))?;
    let found = aside(&state, move |state| review::entries(state, &caller, after)).await?;
    Ok(told(StatusCode::OK, &found))
}

async fn head(Shared(state): Shared<Arc<State>>, caller: Caller) -> Answer {
    let found = aside(&state, move |state| review::head(state, &caller)).await?;
    Ok(told(StatusCode::OK, &found))
}

async fn verify(Shared(state): Shared<Arc<State>>, caller: Caller, JsonText(text): JsonText) -> Answer {
    let said = document(&text)?;
    let found = aside(&state, move |state| review::verify(state, &caller, &said)).await?;
    Ok(told(StatusCode::OK, &found))
}

async fn clock(Shared(state): Shared<Arc<State>>, caller: Caller, JsonText(text): JsonText) -> Answer {
    let said = document(&text)?;
    let found = aside(&state, move |state| review::clock(state, &caller, &said)).await?;
    Ok(told(StatusCode::OK, &found))
}

async fn restored(Shared(state): Shared<Arc<State>>, caller: Caller, JsonText(text): JsonText) -> Answer {
    let said = document(&text)?;
    let found = aside(&state, move |state| review::restored(state, &caller, &said)).await?;
    Ok(told(StatusCode::OK, &found))
}
