//! Who may what: one function, below the API and the console alike.

use crate::store::{DataSource, Role};
use std::fmt;

/// How somebody showed who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// By a token in a header.
    Token,
    /// By a cookie that a link gave.
    Session,
    /// By a cookie that a token gave: it can do what the token can, and no more.
    SessionOfToken,
}

/// Somebody who is a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The name, which budgets and entries of the ledger go by.
    pub name: String,
    /// What the member is.
    pub role: Role,
    /// How it was shown.
    pub shown: Shown,
}

/// What somebody wants to do.
#[derive(Clone, Copy, Debug)]
pub enum Act<'a> {
    /// See the list of data sets, or that one is there: names of columns, budgets.
    See(&'a DataSource),
    /// See where its file is, who asked, and how long scans take.
    SeeInside,
    /// Register data, set limits, grant and revoke.
    Manage,
    /// Plan a question, which is free.
    Plan(&'a DataSource),
    /// Ask and be charged.
    Ask(&'a DataSource),
    /// Read the answer that this member asked for.
    Read {
        /// Whose it is.
        asked_by: &'a str,
    },
    /// Read the ledger, verify it.
    Review,
    /// See who is a member.
    SeeMembers,
    /// Make or remove a member of this role.
    Member(Role),
    /// Make a link with which a member of this role signs in.
    Link(Role),
    /// Make a token for oneself.
    MakeToken,
}

/// Not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// The role does not include it.
    Role,
    /// The data set, or the answer, is not to be known of.
    Unseen,
    /// It takes a sign-in by link: a token makes no tokens and no members.
    NeedsSignIn,
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Role => "your role does not include this",
            Self::Unseen => "there is nothing here, or nothing that you may see",
            Self::NeedsSignIn => "a token makes no tokens and no members; sign in with a link",
        })
    }
}

/// May this member do that?
pub fn authorise(caller: &Caller, act: Act<'_>) -> Result<(), Denied> {
    use Role::{Analyst, Operator, Reviewer, Steward};
    let granted = |data: &DataSource| data.grants.contains(&caller.name);
    let by_role = |allowed: bool| if allowed { Ok(()) } else { Err(Denied::Role) };
    match act {
        Act::See(data) | Act::Plan(data) | Act::Ask(data) if caller.role == Analyst && !granted(data) => {
            Err(Denied::Unseen)
        }
        Act::See(_) => by_role(caller.role != Operator),
        Act::Plan(_) => by_role(matches!(caller.role, Analyst | Steward)),
        Act::Ask(_) => by_role(caller.role == Analyst),
        Act::SeeInside | Act::Manage => by_role(caller.role == Steward),
        Act::Read { asked_by } => match caller.role {
            Steward | Reviewer => Ok(()),
            Analyst if asked_by == caller.name => Ok(()),
            Analyst => Err(Denied::Unseen),
            Operator => Err(Denied::Role),
        },
        Act::Review => by_role(matches!(caller.role, Steward | Reviewer)),
        Act::SeeMembers => by_role(matches!(caller.role, Steward | Operator)),
        Act::Member(role) => {
            // Whoever keeps the machine running lets nobody near the data: an analyst has none before a steward grants some.
            by_role(
                caller.role == Steward || (caller.role == Operator && matches!(role, Operator | Analyst)),
            )?;
            signed_in(caller)
        }
        Act::Link(role) => {
            // A link is as good as being that member.
            by_role(caller.role == Steward || (caller.role == Operator && role == Operator))?;
            signed_in(caller)
        }
        Act::MakeToken => signed_in(caller),
    }
}

fn signed_in(caller: &Caller) -> Result<(), Denied> {
    if caller.shown == Shown::Session { Ok(()) } else { Err(Denied::NeedsSignIn) }
}
