//! A server with example data and one member of each kind, for a first look.

use crate::{
    acts::{
        data_sets::{self, Limiting, Number, Registering},
        members,
        programs::{self, Allowing},
    },
    authorise::{Caller, Shown},
    problem::Problem,
    state::State,
    store::{Opens, Role},
};
use std::sync::Arc;

/// The example data.
const SALARIES: &str = include_str!("../demo/salaries.csv");
/// An example of a program.
const TYPICAL: &str = include_str!("../demo/typical_salary.sh");
/// The members, each with its role.
const MEMBERS: [(&str, Role); 3] = [("sam", Role::Steward), ("ana", Role::Analyst), ("rita", Role::Reviewer)];

/// Write the example data, register it with a limit, let the analyst in, and give a link for each member.
pub fn prepare(state: &Arc<State>) -> Result<Vec<(Role, String)>, Problem> {
    let folder = state.settings.data.first().ok_or_else(Problem::not_found)?;
    std::fs::write(folder.join("salaries.csv"), SALARIES).map_err(Problem::inside)?;
    let mut links = Vec::new();
    for (name, role) in MEMBERS {
        state.store.add_member(name, role)?;
        state.note(members::DEMO, &format!("made a member: {role}"), None, Some(name))?;
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
    allow_program(state, &sam)?;
    Ok(links)
}

/// The median of each of sixty blocks, in some twenty seconds on two processors. Where no sandbox can be built there is none.
fn allow_program(state: &State, sam: &Caller) -> Result<(), Problem> {
    let Some(folder) = state.settings.programs.first() else { return Ok(()) };
    let script = folder.join("typical_salary.sh");
    std::fs::write(&script, TYPICAL).map_err(Problem::inside)?;
    // Run by root, a program is nobody.
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&script, readable).map_err(Problem::inside)?;
    let said = Allowing {
        command: ["sh", "typical_salary.sh"].map(String::from).to_vec(),
        output: "number".into(),
        range: Some("0,200000".into()),
        default: Some(50_000.into()),
        blocks: Some(60),
        block_time: Some(0.5),
        ..Allowing::default()
    };
    if let Err(problem) = programs::put(state, sam, "salaries", "typical-salary", &said) {
        crate::log::failure(&problem.detail);
    }
    Ok(())
}
