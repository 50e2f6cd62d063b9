//! Walkers with one rule that is wrong. Each lets a query through that is rejected, and the audit must see what it breaks.

use super::{CANNOT_RUN, accepted_by, cases, database::World, runtime, violation};
use crate::rules::{self, JoinFacts, Kept, Rules, Side, Why};
use datafusion::common::JoinType;

const ALL: Rules = Rules::ALL;

/// Private tables joined on anything.
fn on_anything(facts: JoinFacts) -> Result<Kept, Why> {
    rules::join(JoinFacts { on_unit: true, ..facts })
}

/// A null on the private side forgotten.
fn null_unaware(facts: JoinFacts) -> Result<Kept, Why> {
    rules::join(JoinFacts { null_aware: false, on_unit: facts.on_unit || facts.null_aware, ..facts })
}

/// A full join taken for a left one.
fn full_as_left(facts: JoinFacts) -> Result<Kept, Why> {
    let kind = if facts.kind == JoinType::Full { JoinType::Left } else { facts.kind };
    rules::join(JoinFacts { kind, ..facts })
}

/// A join that keeps the public side taken for an inner one.
fn public_side_kept(facts: JoinFacts) -> Result<Kept, Why> {
    let kind = match (facts.left, facts.right, facts.kind) {
        (Side::Public, Side::Private, JoinType::Left) | (Side::Private, Side::Public, JoinType::Right) => {
            JoinType::Inner
        }
        (_, _, kind) => kind,
    };
    rules::join(JoinFacts { kind, ..facts })
}

/// Public rows that are kept or dropped by private ones taken for public.
fn public_filtered(facts: JoinFacts) -> Result<Kept, Why> {
    let one_sided = matches!(facts.kind, JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark);
    if facts.left == Side::Public && one_sided {
        return Ok(Kept::Nobody);
    }
    rules::join(facts)
}

/// The side that may be missing taken for one that holds the unit.
fn both_of_left(facts: JoinFacts) -> Result<Kept, Why> {
    match (rules::join(facts)?, facts.kind) {
        (Kept::Left, JoinType::Left) if facts.right == Side::Private => Ok(Kept::Both),
        (kept, _) => Ok(kept),
    }
}

/// The other side of a right join kept.
fn right_as_left(facts: JoinFacts) -> Result<Kept, Why> {
    match (rules::join(facts)?, facts.kind) {
        (Kept::Right, JoinType::Right) if facts.left == Side::Private => Ok(Kept::Left),
        (kept, _) => Ok(kept),
    }
}

fn mixed_union(sides: &[Side], same_place: bool) -> Result<(), Why> {
    let private = sides.iter().filter(|side| **side == Side::Private);
    rules::union(&private.copied().collect::<Vec<_>>(), same_place)
}

fn union_anywhere(sides: &[Side], _: bool) -> Result<(), Why> {
    rules::union(sides, true)
}

#[expect(clippy::unnecessary_wraps, reason = "it stands in place of a rule")]
fn any_limit(_: Side) -> Result<(), Why> {
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "it stands in place of a rule")]
fn any_group(_: bool) -> Result<(), Why> {
    Ok(())
}

fn anything_stays(_: bool) -> bool {
    true
}

#[expect(clippy::unnecessary_wraps, reason = "it stands in place of a rule")]
fn nobody_needed() -> Result<(), Why> {
    Ok(())
}

/// A rule each; where the next rule would see it, that one is off too.
const MUTANTS: [(&str, Rules); 13] = [
    ("private tables joined on anything", Rules { join: on_anything, ..ALL }),
    ("NOT IN of a private table", Rules { join: null_unaware, without_unit: nobody_needed, ..ALL }),
    ("a full join taken for a left one", Rules { join: full_as_left, ..ALL }),
    ("a join that keeps the public side", Rules { join: public_side_kept, ..ALL }),
    (
        "public rows filtered by private ones",
        Rules { join: public_filtered, without_unit: nobody_needed, ..ALL },
    ),
    ("both units of a left join", Rules { join: both_of_left, ..ALL }),
    ("the left unit of a right join", Rules { join: right_as_left, ..ALL }),
    ("public rows among private ones", Rules { union: mixed_union, ..ALL }),
    (
        "a union with units at other places",
        Rules { union: union_anywhere, without_unit: nobody_needed, ..ALL },
    ),
    ("LIMIT inside", Rules { limit: any_limit, ..ALL }),
    ("GROUP BY without the unit", Rules { group: any_group, without_unit: nobody_needed, ..ALL }),
    ("what is made of a unit taken for it", Rules { stays_unit: anything_stays, ..ALL }),
    ("rows that lost their unit", Rules { without_unit: nobody_needed, ..ALL }),
];

#[test]
fn every_wrong_rule_is_noticed() {
    let (world, runtime) = (World::new(), runtime());
    let queries: Vec<String> =
        ["rejected.sql", "accepted.sql"].iter().flat_map(|file| cases(file)).map(|case| case.query).collect();
    let told = |query: &String, rules: &Rules| accepted_by(&world, query, rules, &runtime).ok();
    let units: Vec<_> =
        queries.iter().map(|query| told(query, &ALL).map(|(_, proved)| proved.units)).collect();
    for (name, rules) in MUTANTS {
        let noticed = queries.iter().zip(&units).find_map(|(query, units)| {
            let (context, proved) = told(query, &rules)?;
            // What is told of it is what the right rules tell, which the other test looks at.
            if units.as_ref() == Some(&proved.units) {
                return None;
            }
            let wrong = violation(&world, &context, &proved, &runtime)?;
            if wrong.starts_with(CANNOT_RUN) {
                return None;
            }
            Some((query, wrong))
        });
        match noticed {
            Some((query, wrong)) => eprintln!("{name}: {}: {wrong}", query.replace('\n', " ")),
            None => panic!("the audit does not notice: {name}"),
        }
    }
}
