//! Signing in, members, and one's own tokens.

use super::{
    Posted, Visitor,
    page::{Page, html, text},
    then,
};
use crate::{
    acts::members::{self, Inviting, Labelling},
    authorise::{Act, Caller, authorise},
    http::{aside, cookie, set_cookie},
    problem::Problem,
    state::State,
    store::Role,
};
use askama::Template;
use axum::{
    extract::{Path, State as Shared},
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use equipoise_session::bar::printable;
use serde_json::Value;
use std::sync::Arc;

type Answer = Result<Response, Problem>;

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignIn {
    page: Page,
    name: Option<String>,
    role: &'static str,
    secret: String,
}

/// The form for a token.
pub async fn sign_in_page() -> Response {
    let template =
        SignIn { page: Page::new("Sign in", None, ""), name: None, role: "", secret: String::new() };
    html(StatusCode::OK, &template)
}

/// Whose link it is, with a button. Looking at it uses nothing up: programs look at links that are sent.
pub async fn link_page(Shared(state): Shared<Arc<State>>, Path(secret): Path<String>) -> Answer {
    let member = state.store.invited(&secret).ok_or_else(|| {
        Problem::new(
            StatusCode::UNAUTHORIZED,
            "this link is not valid, or was used already; ask for a new one",
        )
    })?;
    let name = Some(printable(&member.name));
    Ok(html(
        StatusCode::OK,
        &SignIn { page: Page::new("Sign in", None, ""), name, role: member.role.name(), secret },
    ))
}

/// Sign in: a fresh cookie, whatever cookie was sent.
pub async fn sign_in(Shared(state): Shared<Arc<State>>, Posted(form): Posted) -> Answer {
    let secret = form.get("secret").unwrap_or_default().to_string();
    let (_, fresh) = aside(&state, move |state| state.store.sign_in(&secret)).await?;
    let mut response = then("/data-sets");
    response.headers_mut().insert(header::SET_COOKIE, set_cookie(&state, Some(fresh.reveal())));
    Ok(response)
}

/// Sign out: the cookie is worth nothing from here on.
pub async fn sign_out(Shared(state): Shared<Arc<State>>, _visitor: Visitor, headers: HeaderMap) -> Answer {
    if let Some(secret) = cookie(&state, &headers).map(str::to_string) {
        aside(&state, move |state| state.store.end(&secret)).await?;
    }
    let mut response = then("/sign-in");
    response.headers_mut().insert(header::SET_COOKIE, set_cookie(&state, None));
    Ok(response)
}

#[derive(Template)]
#[template(path = "account.html")]
struct Account {
    page: Page,
    name: String,
    role: &'static str,
    tokens: Vec<String>,
    token: Option<String>,
    makes: bool,
}

fn account(state: &State, caller: &Caller, token: Option<String>) -> Response {
    let named =
        |label: String| if label.is_empty() { "without a name".to_string() } else { printable(&label) };
    let template = Account {
        page: Page::new("Account", Some(caller), "/account"),
        name: printable(&caller.name),
        role: caller.role.name(),
        tokens: state.store.tokens(&caller.name).into_iter().map(named).collect(),
        token,
        makes: authorise(caller, Act::MakeToken).is_ok(),
    };
    html(StatusCode::OK, &template)
}

/// One's own account.
pub async fn account_page(Shared(state): Shared<Arc<State>>, Visitor(caller): Visitor) -> Response {
    account(&state, &caller, None)
}

/// Make a token, and show it once.
pub async fn make_token(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Posted(form): Posted,
) -> Answer {
    let said = Labelling { label: form.get("label").unwrap_or_default().to_string() };
    let by = caller.clone();
    let made = aside(&state, move |state| members::token(state, &by, &said)).await?;
    Ok(account(&state, &caller, Some(text(&made, "token"))))
}

/// End all of one's tokens.
pub async fn end_tokens(Shared(state): Shared<Arc<State>>, Visitor(caller): Visitor) -> Answer {
    aside(&state, move |state| members::end_tokens(state, &caller)).await?;
    Ok(then("/account"))
}

struct Row {
    name: String,
    role: String,
    active: bool,
}

#[derive(Template)]
#[template(path = "members.html")]
struct Members {
    page: Page,
    rows: Vec<Row>,
    roles: Vec<&'static str>,
    link: Option<(String, String)>,
    manages: bool,
}

fn members(state: &State, caller: &Caller, made: Option<&Value>) -> Answer {
    let row = |member: &Value| Row {
        name: text(member, "name"),
        role: text(member, "role"),
        active: member["active"].as_bool().unwrap_or_default(),
    };
    let may = |role: &Role| authorise(caller, Act::Member(*role)).is_ok();
    let roles: Vec<&str> = Role::ALL.iter().filter(|role| may(role)).map(|role| role.name()).collect();
    let template = Members {
        page: Page::new("Members", Some(caller), "/members"),
        rows: members::list(state, caller)?.iter().map(row).collect(),
        manages: !roles.is_empty(),
        roles,
        link: made.map(|made| (text(made, "name"), text(made, "link"))),
    };
    Ok(html(StatusCode::OK, &template))
}

/// Everybody.
pub async fn members_page(Shared(state): Shared<Arc<State>>, Visitor(caller): Visitor) -> Answer {
    members(&state, &caller, None)
}

/// Make a member, and show the link once.
pub async fn invite(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Posted(form): Posted,
) -> Answer {
    let role = Role::named(form.get("role").unwrap_or_default());
    let role = role.ok_or_else(|| Problem::wrong("a role is steward, analyst, reviewer or operator"))?;
    let said = Inviting { name: form.get("name").unwrap_or_default().to_string(), role };
    let by = caller.clone();
    let made = aside(&state, move |state| members::invite(state, &by, &said)).await?;
    members(&state, &caller, Some(&made))
}

/// Another link for a member.
pub async fn invite_again(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Posted(form): Posted,
) -> Answer {
    let (by, name) = (caller.clone(), form.get("name").unwrap_or_default().to_string());
    let made = aside(&state, move |state| members::invite_again(state, &by, &name)).await?;
    members(&state, &caller, Some(&made))
}

/// Let a member come in no more.
pub async fn remove(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Posted(form): Posted,
) -> Answer {
    let name = form.get("name").unwrap_or_default().to_string();
    aside(&state, move |state| members::remove(state, &caller, &name)).await?;
    Ok(then("/members"))
}
