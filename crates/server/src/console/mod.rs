//! The console: pages for people that work without a script.
//!
//! Every page is made of the documents of the API by the same functions ([`acts`](crate::acts)), under the same authorisation: the
//! console can do nothing that the API cannot. Whatever somebody else wrote (names of columns, keys, members) is escaped by
//! the templates, and what cannot be seen is written out.

mod answers;
mod asking;
mod data;
mod monitors;
mod page;
mod people;
mod programs;
mod querying;
mod review;

use crate::{
    authorise::Caller,
    http::{self, Form},
    problem::{Problem, Told},
    state::State,
};
use askama::Template;
use axum::{
    Router,
    extract::{FromRequest, FromRequestParts, Request},
    http::{HeaderMap, Method, StatusCode, header, request::Parts},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use page::{Page, html};
use std::sync::Arc;

/// Every page.
pub fn routes(state: &Arc<State>) -> Router<Arc<State>> {
    Router::new()
        .route("/", get(|| async { Redirect::to("/data-sets") }))
        .route(
            "/style.css",
            get(|| async { ([(header::CONTENT_TYPE, "text/css")], include_str!("../../assets/style.css")) }),
        )
        .route(
            "/script.js",
            get(|| async {
                ([(header::CONTENT_TYPE, "text/javascript")], include_str!("../../assets/script.js"))
            }),
        )
        .route(
            "/icon.svg",
            get(|| async {
                ([(header::CONTENT_TYPE, "image/svg+xml")], include_str!("../../assets/icon.svg"))
            }),
        )
        .route("/sign-in", get(people::sign_in_page).post(people::sign_in))
        .route("/sign-in/{secret}", get(people::link_page))
        .route("/sign-out", post(people::sign_out))
        .route("/account", get(people::account_page))
        .route("/account/tokens", post(people::make_token))
        .route("/account/tokens/end", post(people::end_tokens))
        .route("/members", get(people::members_page).post(people::invite))
        .route("/members/links", post(people::invite_again))
        .route("/members/remove", post(people::remove))
        .route("/data-sets", get(data::list_page).post(data::register))
        .route("/data-sets/{id}", get(data::show_page))
        .route("/data-sets/{id}/limits", post(data::limit))
        .route("/data-sets/{id}/grants", post(data::grant))
        .route("/data-sets/{id}/answer-time", post(data::answer_time))
        .route("/data-sets/{id}/sharing", post(data::share_answers))
        .route("/data-sets/{id}/ask", get(asking::ask_page).post(asking::ask))
        .route("/data-sets/{id}/sql", get(querying::sql_page).post(querying::ask))
        .route("/data-sets/{id}/programs", get(programs::programs_page).post(programs::ask))
        .route("/data-sets/{id}/programs/allowed", post(programs::allow))
        .route("/data-sets/{id}/watch", get(monitors::watch_page).post(monitors::begin))
        .route("/monitors", get(monitors::list_page))
        .route("/monitors/{id}", get(monitors::show_page).post(monitors::ask))
        .route("/answers/{id}", get(answers::answer_page))
        .route("/answers/{id}/seen", post(answers::see))
        .route("/review", get(review::review_page))
        .route("/review/verify", post(review::verify))
        .route("/review/restored", post(review::restored))
        .route("/review/audit", post(review::audit_now))
        .layer(from_fn_with_state(state.clone(), problems_as_pages))
}

/// Somebody who is signed in and looks at a page. Everybody else is sent to the sign-in.
pub struct Visitor(pub Caller);

impl FromRequestParts<Arc<State>> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<State>) -> Result<Self, Response> {
        match http::caller(state, &parts.method, &parts.headers) {
            Ok(caller) => Ok(Self(caller)),
            Err(problem) if problem.status == StatusCode::UNAUTHORIZED && parts.method == Method::GET => {
                Err(Redirect::to("/sign-in").into_response())
            }
            Err(problem) => Err(problem.into_response()),
        }
    }
}

/// The fields of a form that one of our pages sent.
pub struct Posted(pub Form);

impl FromRequest<Arc<State>> for Posted {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &Arc<State>) -> Result<Self, Problem> {
        // Also where nobody is signed in yet: a foreign page must not sign its reader in as somebody else.
        if !http::from_own_page(state, request.headers()) {
            return Err(Problem::forbidden("this request did not come from a page of this server"));
        }
        http::body(request, state).await.map(|text| Self(Form::read(&text)))
    }
}

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemTemplate {
    page: Page,
    detail: String,
    left: Option<String>,
    spent_by: Vec<[String; 3]>,
}

/// A problem as a page.
pub fn problem_page(state: &State, headers: &HeaderMap, problem: &Problem) -> Response {
    told_page(state, headers, &Told::of(problem))
}

fn told_page(state: &State, headers: &HeaderMap, told: &Told) -> Response {
    let caller = http::caller(state, &Method::GET, headers).ok();
    let title = match told.status {
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::FORBIDDEN if told.remaining.is_some() => "Over budget",
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::UNAUTHORIZED => "Not signed in",
        StatusCode::GONE => "The answer is lost",
        StatusCode::TOO_MANY_REQUESTS => "Too much at once",
        _ => "This did not work",
    };
    let left = told.remaining.as_ref().map(page::left);
    let row = |account: &serde_json::Value| {
        [page::text(account, "analyst"), page::spent(&account["spent"]), page::left(&account["limit"])]
    };
    let spent_by = told.spent_by.as_ref().and_then(|all| all.as_array()).into_iter().flatten();
    html(
        told.status,
        &ProblemTemplate {
            page: Page::new(title, caller.as_ref(), ""),
            detail: page::words(&told.detail),
            left,
            spent_by: spent_by.map(row).collect(),
        },
    )
}

async fn problems_as_pages(
    axum::extract::State(state): axum::extract::State<Arc<State>>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers().clone();
    let response = next.run(request).await;
    match response.extensions().get::<Told>() {
        Some(told) => told_page(&state, &headers, told),
        None => response,
    }
}

/// To another page after a change.
fn then(path: &str) -> Response {
    Redirect::to(path).into_response()
}
