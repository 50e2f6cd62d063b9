//! Members, their links and tokens.

use super::allow;
use crate::{
    authorise::{Act, Caller},
    problem::Problem,
    rate::Counted,
    state::State,
    store::{Opens, Role},
};
use equipoise_session::ledger::check_analyst;
use serde::Deserialize;
use serde_json::{Value, json};

/// A member to be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inviting {
    /// The name, which budgets go by.
    pub name: String,
    /// steward, analyst, reviewer or operator.
    pub role: Role,
}

/// What a member calls a token.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labelling {
    /// A word to know it by.
    #[serde(default)]
    pub label: String,
}

/// Everybody.
pub fn list(state: &State, caller: &Caller) -> Result<Vec<Value>, Problem> {
    allow(caller, Act::SeeMembers)?;
    let one = |member: crate::store::Member| json!({ "name": member.name, "role": member.role, "active": member.active });
    Ok(state.store.members().into_iter().map(one).collect())
}

/// Who the caller is.
pub fn own(state: &State, caller: &Caller) -> Value {
    json!({ "name": caller.name, "role": caller.role, "tokens": state.store.tokens(&caller.name) })
}

/// Make a member, and a link with which they sign in once.
pub fn invite(state: &State, caller: &Caller, said: &Inviting) -> Result<Value, Problem> {
    allow(caller, Act::Member(said.role))?;
    state.limiter.count(&caller.name, Counted::Change)?;
    check_name(&said.name)?;
    state.rollback.check()?;
    state.store.add_member(&said.name, said.role)?;
    state.note(&caller.name, &format!("made a member: {}", said.role), None, Some(&said.name))?;
    link(state, &said.name, said.role)
}

/// Who acts on behalf of nobody: entries of the ledger have these names.
pub const MACHINE: &str = "operator of the machine";
/// The same in a demonstration.
pub const DEMO: &str = "demo";

/// Is this a name for a member? Pages and addresses bring back the name that they were given, and no two look alike by their spaces.
pub fn check_name(name: &str) -> Result<(), Problem> {
    check_analyst(name).map_err(|error| Problem::wrong(error.to_string()))?;
    let one_space = name.split(' ').all(|word| !word.is_empty() && !word.contains(char::is_whitespace));
    let is_address = name.contains('/') || [".", ".."].contains(&name);
    if !one_space || is_address || [MACHINE, DEMO].contains(&name) {
        return Err(Problem::wrong(format!(
            "a member's name has words with one space between them and no '/', and is not '.', '..', '{MACHINE}' or '{DEMO}'"
        )));
    }
    Ok(())
}

/// A new link for a member who cannot come in any more.
pub fn invite_again(state: &State, caller: &Caller, name: &str) -> Result<Value, Problem> {
    let member = state.store.member(name).filter(|member| member.active);
    // Whoever may not see members learns nothing of who is one.
    allow(caller, Act::Link(member.as_ref().map_or(Role::Analyst, |member| member.role)))?;
    state.limiter.count(&caller.name, Counted::Change)?;
    let member = member.ok_or_else(Problem::not_found)?;
    state.note(&caller.name, "made a link to sign in", None, Some(name))?;
    link(state, &member.name, member.role)
}

fn link(state: &State, name: &str, role: Role) -> Result<Value, Problem> {
    let secret = state.store.issue(name, Opens::Invitation, "")?;
    Ok(json!({ "name": name, "role": role, "link": state.link(secret.reveal()) }))
}

/// Let a member come in no more.
pub fn remove(state: &State, caller: &Caller, name: &str) -> Result<(), Problem> {
    let member = state.store.member(name).filter(|member| member.active);
    allow(caller, Act::Member(member.as_ref().map_or(Role::Analyst, |member| member.role)))?;
    state.limiter.count(&caller.name, Counted::Change)?;
    member.ok_or_else(Problem::not_found)?;
    state.store.remove_member(name)?;
    // Whoever is to be out is out, also while nothing can be written down.
    if state.rollback.is_found() {
        Ok(())
    } else {
        state.note(&caller.name, "removed a member", None, Some(name))
    }
}

/// A token for oneself. It is shown once.
pub fn token(state: &State, caller: &Caller, said: &Labelling) -> Result<Value, Problem> {
    allow(caller, Act::MakeToken)?;
    state.limiter.count(&caller.name, Counted::Change)?;
    if said.label.chars().count() > 100 {
        return Err(Problem::wrong("a label has at most 100 characters"));
    }
    state.rollback.check()?;
    let secret = state.store.issue(&caller.name, Opens::Token, &said.label)?;
    state.note(&caller.name, "made a token", None, Some(&caller.name))?;
    Ok(json!({ "token": secret.reveal(), "label": said.label }))
}

/// End all tokens of one's own.
pub fn end_tokens(state: &State, caller: &Caller) -> Result<(), Problem> {
    state.limiter.count(&caller.name, Counted::Change)?;
    state.store.end_tokens(&caller.name)?;
    if state.rollback.is_found() {
        return Ok(());
    }
    state.note(&caller.name, "ended all tokens", None, Some(&caller.name))
}
