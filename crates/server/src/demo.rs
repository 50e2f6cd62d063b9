//! A server with example data and one member of each kind, for a first look.

use crate::{
    acts::data_sets::{self, Limiting, Number, Registering},
    authorise::{Caller, Shown},
    problem::Problem,
    state::State,
    store::{Opens, Role},
};
use std::sync::Arc;

/// The example data.
const SALARIES: &str = include_str!("../../../examples/salaries.csv");
/// The members, each with its role.
const MEMBERS: [(&str, Role); 3] = [("sam", Role::Steward), ("ana", Role::Analyst), ("rita", Role::Reviewer)];

/// Write the example data, register it with a limit, let the analyst in, and give a link for each member.
pub fn prepare(state: &Arc<State>) -> Result<Vec<(Role, String)>, Problem> {
    let folder = state.settings.data.first().ok_or_else(Problem::not_found)?;
    std::fs::write(folder.join("salaries.csv"), SALARIES).map_err(Problem::inside)?;
    let mut links = Vec::new();
    for (name, role) in MEMBERS {
        state.store.add_member(name, role)?;
        state.note("demo", &format!("made a member: {role}"), None, Some(name))?;
        let secret = state.store.issue(name, Opens::Demonstration, "")?;
        links.push((role, state.link(secret.reveal())));
    }
    let sam = Caller { name: "sam".into(), role: Role::Steward, shown: Shown::Session };
    let said =
        Registering { path: "salaries.csv".into(), unit: Some("person".into()), ..Registering::default() };
    data_sets::register(state, &sam, "salaries", &said)?;
    let number = |text: &str| Some(Number::Text(text.to_string()));
    let limit = Limiting { epsilon: number("5"), delta: number("1e-5"), ..Limiting::default() };
    data_sets::limit(state, &sam, "salaries", None, &limit)?;
    let limit = Limiting { epsilon: number("3"), delta: number("1e-5"), ..Limiting::default() };
    data_sets::limit(state, &sam, "salaries", Some("ana"), &limit)?;
    data_sets::grant(state, &sam, "salaries", "ana", true)?;
    Ok(links)
}
