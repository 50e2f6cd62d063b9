//! What all pages share: the frame, and how numbers are written for people.

use crate::authorise::{Act, Caller, authorise};
use askama::Template;
use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use equipoise_core::wording;
use equipoise_session::{
    bar::printable,
    meaning,
    release::{Remaining, Spent},
};
use serde_json::Value;

/// Who is signed in.
pub struct Who {
    /// The name.
    pub name: String,
    /// The role.
    pub role: &'static str,
}

/// The frame of a page.
pub struct Page {
    /// Its title.
    pub title: String,
    /// Who is signed in.
    pub who: Option<Who>,
    links: Vec<(&'static str, &'static str, bool)>,
}

impl Page {
    /// A page of one who is signed in, or of nobody. `here` is the link that leads to it.
    pub fn new(title: &str, caller: Option<&Caller>, here: &str) -> Self {
        let shown = |act: Act<'_>| caller.is_some_and(|caller| authorise(caller, act).is_ok());
        let role = |name: &str| caller.is_some_and(|caller| caller.role.name() == name);
        let all = [
            ("/data-sets", "Data sets", !role("operator")),
            ("/monitors", "Monitors", caller.is_some() && !role("operator")),
            ("/review", "Review", shown(Act::Review)),
            ("/members", "Members", shown(Act::SeeMembers)),
            ("/account", "Account", true),
        ];
        let links =
            all.into_iter().filter(|(.., shown)| *shown).map(|(path, name, _)| (path, name, path == here));
        let who = caller.map(|caller| Who { name: printable(&caller.name), role: caller.role.name() });
        Self { title: printable(title), who, links: links.collect() }
    }

    /// Where one can go from here: the address, the name, and whether one is there.
    pub fn links(&self) -> &[(&'static str, &'static str, bool)] {
        &self.links
    }
}

/// The ways to ask about a data set.
pub struct Tabs(Vec<(String, &'static str, bool)>);

impl Tabs {
    /// Those of a data set's document; `here` ends the address of the one that is shown.
    pub fn of(document: &Value, here: &str) -> Self {
        let id = text(document, "id");
        let programs = document["programs"].as_array().is_some_and(|programs| !programs.is_empty());
        let all = [("ask", "Form", true), ("sql", "SQL", true), ("programs", "Program", programs)];
        let all = all.into_iter().chain([("watch", "Monitor", true)]);
        let shown = all.filter(|(end, _, shown)| *shown || *end == here);
        Self(shown.map(|(end, name, _)| (format!("/data-sets/{id}/{end}"), name, end == here)).collect())
    }

    /// The address, the name, and whether one is there.
    pub fn all(&self) -> &[(String, &'static str, bool)] {
        &self.0
    }
}

/// A template as an answer.
pub fn html(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(text) => (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response(),
        Err(error) => crate::problem::Problem::inside(error).into_response(),
    }
}

/// Words of the libraries, which mark options, for people who type none.
pub fn words(text: &str) -> String {
    printable(&wording::unmarked(text))
}

/// A text of a document.
pub fn text(document: &Value, name: &str) -> String {
    document[name].as_str().map_or(String::new(), printable)
}

/// A privacy loss of a document, for people.
pub fn spent(loss: &Value) -> String {
    serde_json::from_value::<Spent>(loss.clone())
        .map_or_else(|_| "nothing".to_string(), |loss| meaning::amount(&loss))
}

/// A limit of a document, or what it leaves, for people.
pub fn left(limit: &Value) -> String {
    serde_json::from_value::<Remaining>(limit.clone())
        .map_or_else(|_| "no limit".to_string(), |left| meaning::left(&left))
}
