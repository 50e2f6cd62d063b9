//! An exact audit of programs on blocks: from records to the way they are dealt, to what a program prints, to the whole answer.

use super::{ProgramBlocks, ProgramRecords};
use crate::{
    audits::Memory,
    source::Cells,
    votes::{
        Analysis, VotePlan, VoteRequest,
        audits::{plan, three},
    },
};
use equipoise_audit::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    chance::Chance,
    coins::{Coins, Law, Uniform},
    ladder::Ladder,
    pick::Pick,
    ratio::Ratio,
    tape::{Pmf, Tape, enumerate},
};

pub(crate) static PROGRAMS: Audit = Audit {
    name: "programs",
    about: "records dealt into blocks, a program that prints what it likes of each, and the whole answer",
    source: "a record, or all records of a person, lie in one block; under replace in two",
    kind: Kind::Claim {
        shipped: || {
            let text = |text: &str| Some(text.to_string());
            let rows = voted();
            let people = VoteRequest { unit: text("town"), ..voted() };
            let replaced =
                |request: &VoteRequest| VoteRequest { adjacency: text("replace"), ..request.clone() };
            vec![
                keeps(&rows, false, 0),
                keeps(&replaced(&rows), false, 0),
                keeps(&people, true, 1),
                keeps(&people, true, 2),
                keeps(&replaced(&people), true, 1),
                keeps(&replaced(&people), true, 2),
            ]
        },
        change: "the rows of a person are dealt one by one",
        mutant: || vec![keeps(&voted(), true, 0)],
    },
};

pub(crate) static ANALYSES: Audit = Audit {
    name: "analyses",
    about: "blocks that choose an analysis, then blocks that answer by what was chosen: choice and whole answer",
    source: "000_4d769f04a6a550e8.txt, Example 7.3: a choice and what is run after it, composed",
    kind: Kind::Claim {
        shipped: || {
            let replaced = VoteRequest { adjacency: Some("replace".into()), ..chosen() };
            vec![keeps(&chosen(), false, 0), keeps(&replaced, false, 0)]
        },
        change: "a sixth of the noise in both steps",
        mutant: || vec![within(&plan(&loud()), &plan(&chosen()), &chosen(), false, 0)],
    },
};

/// Two blocks that choose between two analyses and then answer.
fn chosen() -> VoteRequest {
    let analysis = |name: &str| Analysis { name: name.into(), programs: vec![vec!["awk".into()]] };
    let (analyses, blocks) = (vec![analysis("a"), analysis("b")], Some("2".to_string()));
    VoteRequest { analyses, blocks, ..voted() }
}

/// The same for six times the price.
fn loud() -> VoteRequest {
    VoteRequest { epsilon: Some("6".into()), ..chosen() }
}

/// Blocks without an answer vote too, so that all of the price is the election's.
fn voted() -> VoteRequest {
    VoteRequest { default: Some("a".into()), ..three("label") }
}

/// A record: who, and a digit.
type Record = (&'static str, u8);
type Data = Vec<Record>;

/// What a program prints that looks at all of its rows.
fn printed(blocks: &ProgramBlocks, index: usize) -> &'static str {
    let largest = blocks.see(index, |batch| match batch.cells.first() {
        Some(Cells::Texts(texts)) => texts.iter().flatten().max().map(ToString::to_string),
        _ => None,
    });
    match largest.as_deref() {
        None => "",
        Some("1") => "a",
        Some(_) => "b",
    }
}

/// A tape on which words of 64 bits, which key the hash that deals people, are fixed: what holds for every key holds for a secret one.
struct Keyed<'a>(&'a mut Tape, u64);

impl Coins for Keyed<'_> {
    fn bernoulli<C: Chance>(&mut self, chance: &C) -> bool {
        self.0.bernoulli(chance)
    }

    fn bits(&mut self, count: u32) -> u64 {
        if count == 64 { self.1 } else { self.0.bits(count) }
    }

    fn rung(&mut self, ladder: &Ladder) -> usize {
        self.0.rung(ladder)
    }

    fn pick(&mut self, pick: &Pick) -> usize {
        self.0.pick(pick)
    }

    fn refine(&mut self, uniform: &mut Uniform) {
        self.0.refine(uniform);
    }

    fn sample<L: Law>(&mut self, law: &L) -> L::Value {
        self.0.sample(law)
    }
}

fn law(plan: &VotePlan, data: &Data, key: u64, floor: &Ratio) -> Pmf<String> {
    let (numbers, names): (Vec<f64>, Vec<&str>) =
        data.iter().map(|&(name, digit)| (f64::from(digit), name)).unzip();
    let memory = Memory::new(numbers, &names);
    enumerate(floor, |tape| {
        let tape = &mut Keyed(tape, key);
        let records = ProgramRecords::read(&memory, plan, 1).expect("memory");
        // Where an analysis was chosen, "b" says the opposite of "a": what is run depends on the choice.
        let says = |text: &'static str, chosen: Option<&str>| match (text, chosen) {
            ("a", Some("b")) => "b",
            ("b", Some("b")) => "a",
            _ => text,
        };
        let mut run = |blocks: &ProgramBlocks, chosen: Option<&str>| -> Vec<_> {
            let said = |index| blocks.read(says(printed(blocks, index), chosen).as_bytes());
            (0..blocks.count()).map(said).collect()
        };
        let ballot = records.vote(plan, &mut run, tape);
        format!("{:?}", plan.tally(ballot, tape))
    })
}

fn pairs(people: bool, adjacency: Adjacency) -> Vec<(Data, Data)> {
    let others: [Data; 3] = [vec![], vec![("bob", 1)], vec![("bob", 2), ("cy", 1)]];
    let mine: &[&[u8]] = if people { &[&[1], &[2], &[1, 2], &[2, 2]] } else { &[&[1], &[2]] };
    let file = |rows: &[u8], other: &Data| -> Data {
        rows.iter().map(|&row| ("ann", row)).chain(other.iter().copied()).collect()
    };
    let mut all = Vec::new();
    for other in &others {
        for rows in mine {
            match adjacency {
                Adjacency::AddRemove => all.push((other.clone(), file(rows, other))),
                Adjacency::Replace => {
                    all.extend(
                        mine.iter().filter(|to| *to != rows).map(|to| (file(rows, other), file(to, other))),
                    );
                }
            }
        }
    }
    all
}

fn keeps(request: &VoteRequest, people: bool, key: u64) -> Measured {
    let plan = plan(request);
    within(&plan, &plan, request, people, key)
}

/// What a plan does, held against what another one promises.
fn within(plan: &VotePlan, promised: &VotePlan, request: &VoteRequest, people: bool, key: u64) -> Measured {
    let floor: Ratio = "1e-9".parse().expect("a decimal");
    let adjacency = if request.adjacency.is_some() { Adjacency::Replace } else { Adjacency::AddRemove };
    let claim = Claim::promised(promised.cost(), adjacency).at_resolution("1e-5");
    let over = if people {
        "three files in which one person has any of four lists of rows"
    } else {
        "three files and each of two records"
    };
    let found = claim.over_inputs(over, pairs(people, adjacency), |data: &Data| law(plan, data, key, &floor));
    let unit = if request.unit.is_some() { format!("people by key {key}") } else { "rows".to_string() };
    let blocks = plan.touch().votes();
    let chosen = if plan.analyses().is_some() { ", an analysis chosen first" } else { "" };
    found.case(format!("{unit} in {} blocks{chosen}", if blocks == 3 { "three" } else { "two" }))
}
