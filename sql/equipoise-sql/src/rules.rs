//! Who owns the rows of a node, as decisions about a few public facts. The walker gathers the facts; what it may conclude is here alone.
//!
//! # Guarantee
//!
//! A relation that belongs to units has columns that hold, in every row, the id of the unit that owns it. Removing a unit from all private
//! tables removes exactly its rows and leaves all others as they are, byte for byte. A public relation does not change at all.
//!
//! # Why
//!
//! 1. A row that is made of one row belongs to its owner.
//! 2. A row that is made of two belongs to the owner of both: where both sides are private their units must be equal. A row that is kept
//!    because it found no partner saw only partners of its own unit, or public ones, so that nobody else makes it come or go.
//! 3. A row that is made of many belongs to the owner of all: the unit is among the keys of the group.
//!
//! Each decision is a function of its own, so that a test can put another one in its place and see that the audit notices.

use datafusion::common::JoinType;

/// Whose rows a relation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Public,
    Private,
}

/// What is known of a join.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JoinFacts {
    pub kind: JoinType,
    pub left: Side,
    pub right: Side,
    /// Is a unit of the left side compared with one of the right side for equality, as one condition among those that must all hold?
    pub on_unit: bool,
    /// Does a null on the right side change what becomes of every row on the left (`NOT IN`)?
    pub null_aware: bool,
}

/// Which side's units the rows of a join have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Nobody's: both sides are public.
    Nobody,
    Left,
    Right,
    Both,
}

/// Why a node is not accepted, and what would be.
pub(crate) type Why = (&'static str, &'static str);

/// The decisions of the walker.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub join: fn(JoinFacts) -> Result<Kept, Why>,
    /// May private rows be grouped, where the unit is among the keys or is not?
    pub group: fn(unit_is_key: bool) -> Result<(), Why>,
    /// May rows be put together that belong to these? All that are private have their units at one place, or not.
    pub union: fn(sides: &[Side], same_place: bool) -> Result<(), Why>,
    /// May a relation be cut to some of its rows?
    pub limit: fn(Side) -> Result<(), Why>,
    /// Is a column that is made of a unit still the unit? It is where it is nothing but the column.
    pub stays_unit: fn(is_bare: bool) -> bool,
    /// May private rows be left without their unit?
    pub without_unit: fn() -> Result<(), Why>,
}

impl Rules {
    /// The rules that queries are held to.
    pub(crate) const ALL: Self = Self { join, group, union, limit, stays_unit, without_unit };
}

pub(crate) fn join(facts: JoinFacts) -> Result<Kept, Why> {
    use JoinType::{Full, Inner, Left, LeftAnti, LeftMark, LeftSemi, Right, RightAnti, RightMark, RightSemi};
    let keeps_left = matches!(facts.kind, Left | LeftSemi | LeftAnti | LeftMark);
    let keeps_right = matches!(facts.kind, Right | RightSemi | RightAnti | RightMark);
    match (facts.left, facts.right) {
        (Side::Public, Side::Public) => Ok(Kept::Nobody),
        (Side::Private, Side::Public) if facts.kind == Inner || keeps_left => Ok(Kept::Left),
        (Side::Public, Side::Private) if facts.kind == Inner || keeps_right => Ok(Kept::Right),
        (Side::Private, Side::Private) => private_join(facts, keeps_left, keeps_right),
        _ if facts.kind == Full => Err((
            "it keeps public rows that find no private partner, and those belong to nobody",
            "keep the private side: write LEFT JOIN with the private table first",
        )),
        _ => Err((
            "which public rows it keeps depends on private ones",
            "write an inner join, or keep the private side: LEFT JOIN, IN or EXISTS with the private table outside",
        )),
    }
}

fn private_join(facts: JoinFacts, keeps_left: bool, keeps_right: bool) -> Result<Kept, Why> {
    if facts.null_aware {
        return Err((
            "one null in a private table would take away everybody's rows",
            "write NOT EXISTS with an equality of units inside",
        ));
    }
    if !facts.on_unit {
        return Err((
            "a row would belong to two units",
            "join private tables on their privacy units, as in ON a.person = b.person",
        ));
    }
    match facts.kind {
        JoinType::Inner => Ok(Kept::Both),
        _ if keeps_left => Ok(Kept::Left),
        _ if keeps_right => Ok(Kept::Right),
        _ => Err((
            "it has no one column that holds the unit of every row",
            "write LEFT JOIN, or UNION ALL of a left and a right one",
        )),
    }
}

pub(crate) fn group(unit_is_key: bool) -> Result<(), Why> {
    if unit_is_key {
        return Ok(());
    }
    Err((
        "one row would be made of several units' rows, and would be exact",
        "add the privacy unit to GROUP BY and to the list behind SELECT, or aggregate outside",
    ))
}

pub(crate) fn union(sides: &[Side], same_place: bool) -> Result<(), Why> {
    let private = sides.iter().filter(|side| **side == Side::Private).count();
    if private == 0 {
        return Ok(());
    }
    if private < sides.len() {
        return Err((
            "public rows among private ones belong to nobody",
            "put private tables together, or public ones",
        ));
    }
    if same_place {
        return Ok(());
    }
    Err((
        "its parts have their privacy units at different places",
        "select the unit at the same place of every part",
    ))
}

pub(crate) fn limit(_: Side) -> Result<(), Why> {
    Err((
        "which rows are within it depends on all others",
        "put LIMIT behind the outer query, where it is about released rows",
    ))
}

pub(crate) fn stays_unit(is_bare: bool) -> bool {
    is_bare
}

/// Why private rows keep their unit.
pub(crate) const WITHOUT_UNIT: Why =
    ("its rows lose their privacy unit", "select the unit as it is, as in SELECT person, ..");

pub(crate) fn without_unit() -> Result<(), Why> {
    Err(WITHOUT_UNIT)
}
