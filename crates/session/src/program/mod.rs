//! Programs that nobody trusts, run on blocks of the records: planned, charged, run and recorded like any question.
//!
//! Session deals records into blocks and makes one private answer of what comes back; who runs the programs, and how they
//! are kept apart, is the business of whoever calls [`Session::run_program`].
//!
//! # Guarantee
//!
//! (epsilon, delta) for one record, or for all records of one person where a column names them, as long as the i-th
//! answer depends on the i-th block and on i alone. Whatever the programs print.
//!
//! # Why
//!
//! 1. One person is in at most as many blocks as the [partition] counts, and changes no
//!    other answer.
//! 2. Each answer is read as a vote on its own, by a total rule ([`votes`](Output)); what cannot be read is a public default.
//! 3. The aggregator is calibrated to votes of which one person changes that many ([`Touch`]).

mod aggregate;
mod deal;
mod votes;

pub use deal::{ProgramBlocks, header};
pub use votes::Output;

use crate::{
    answer::{Answer, ErrorBar},
    columns,
    ledger::{ChargeRequest, Charging, Cost, DataSet},
    plan::{DataFacts, PlanError, Said},
    quiet::quietly,
    release::{Left, Outcome, Promise, Release, Spent},
    request::Request,
    session::{PayError, Session, stored},
    source::{Lost, Source},
};
use aggregate::{Aggregate, Wanted};
use equipoise_core::{
    adjacency::{Adjacency, RowCount, Unit},
    loss::{Approx, Guarantee, Loss, ParameterError},
    subsample::{
        Touch,
        partition::{self, Design, Partition},
        plan::{Output as Predicted, Question, ROWS_PER_PARAMETER},
    },
    wording,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::thread;

/// What was said: programs and how their answers become one. Fields that were not said take their defaults in the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ProgramRequest {
    /// The programs with their arguments; block i goes to program i modulo their number.
    pub programs: Vec<Vec<String>>,
    /// What they answer with: number, vector:K, label or labels.
    pub output: String,
    /// The privacy loss.
    pub epsilon: Option<String>,
    /// How often the loss may be exceeded.
    pub delta: Option<String>,
    /// add-remove or replace.
    pub adjacency: Option<String>,
    /// The column that names the person.
    pub unit: Option<String>,
    /// How many blocks.
    pub blocks: Option<String>,
    /// The number of rows or people, where the data holder states it.
    pub rows: Option<String>,
    /// LO,HI: answers, or the numbers of a vector, are moved into this.
    pub range: Option<String>,
    /// The labels that can be answered, separated by commas.
    pub options: Option<String>,
    /// How sure the error bar is.
    pub confidence: Option<String>,
    /// Are the programs trusted to keep to their block, because nothing makes them? Then answers say so.
    pub trusted: bool,
    /// How the file is read and the programs are run, one setting each: part of the request, understood elsewhere.
    pub settings: Vec<String>,
}

/// Programs that can be run, with their price.
#[derive(Clone, Debug)]
pub struct ProgramPlan {
    request: ProgramRequest,
    data: String,
    unit: Option<usize>,
    partition: partition::Calibrated,
    aggregate: Aggregate,
    guarantee: Guarantee,
    charge: Approx,
    charged_in: Adjacency,
}

/// A plan that has been paid for.
#[derive(Debug)]
#[must_use = "a charge is paid for; run it"]
pub struct ChargedProgram {
    plan: ProgramPlan,
    charge: crate::ledger::Charge,
}

/// What came of paying.
#[derive(Debug)]
pub enum PaidProgram {
    /// Go on and run it.
    Charged(Box<ChargedProgram>),
    /// The same request was answered before under this id; nothing was charged.
    Before(Box<Release>),
}

/// Blocks where nobody says how many.
const BLOCKS: u64 = 100;
/// The most blocks: each is a process.
const MOST_BLOCKS: u64 = 1 << 20;
/// The fewest rows on which a program makes sense, where nobody says.
const LEAST_ROWS: u64 = 20;
/// The most options.
const MOST_OPTIONS: usize = 10_000;
/// What ledger and releases call it.
const STATISTIC: &str = "program";
const MECHANISM: &str = "subsample";
/// The same where nothing keeps the programs to their blocks.
const MECHANISM_ON_TRUST: &str = "subsample, programs trusted";

impl ProgramPlan {
    /// Understand a request.
    pub fn new(request: &ProgramRequest, facts: &DataFacts) -> Result<Self, PlanError> {
        // Words that all questions share.
        let words = Request {
            epsilon: request.epsilon.clone(),
            delta: request.delta.clone(),
            adjacency: request.adjacency.clone(),
            confidence: request.confidence.clone(),
            ..Request::new("count")
        };
        let said = Said::new(&words, facts)?;
        let output = Output::read(&request.output)?;
        let (protected, unit) = unit(request, facts)?;
        let blocks = blocks(request, &said, output, unit.is_some())?;
        let design = match unit {
            Some(_) => Design::People { blocks, rounds: 1 },
            None => Design::Rows { blocks, rounds: 1 },
        };
        let partition = Partition { design, adjacency: said.adjacency() }.calibrate()?;
        let options = request.options.as_deref().map(options).transpose()?;
        let wanted = Wanted { output, range: request.range.as_deref(), options };
        let aggregate = Aggregate::plan(&said, &wanted, partition.touch())?;
        let cost = aggregate.cost().clone();
        let charged_in = facts.registered.as_ref().map_or(said.adjacency(), |(_, adjacency)| *adjacency);
        let charge = match (said.adjacency(), charged_in) {
            (Adjacency::AddRemove, Adjacency::Replace) => cost.two_steps(),
            _ => cost.clone(),
        };
        let guarantee = Guarantee { loss: Loss::Approx(cost), adjacency: said.adjacency(), unit: protected };
        let (request, data) = (request.clone(), facts.name.clone());
        Ok(Self { request, data, unit, partition, aggregate, guarantee, charge, charged_in })
    }

    /// The name that the budget belongs to.
    pub fn data(&self) -> &str {
        &self.data
    }

    /// How many blocks there are, and how many of them one person can change.
    pub fn touch(&self) -> Touch {
        self.partition.touch()
    }

    /// What an answer promises.
    pub fn guarantee(&self) -> &Guarantee {
        &self.guarantee
    }

    /// What an answer costs under the adjacency of its guarantee.
    pub fn cost(&self) -> &Approx {
        self.aggregate.cost()
    }

    /// What will be charged.
    pub fn charge(&self) -> &Approx {
        &self.charge
    }

    /// What can be told of the answer before any data is read.
    pub fn expected(&self) -> String {
        self.aggregate.expected()
    }

    /// The error bar of a released answer, where it is known beforehand.
    pub fn expected_error(&self) -> Option<ErrorBar> {
        self.aggregate.expected_error()
    }

    /// One JSON object: what is planned, for people and scripts.
    pub fn to_json(&self) -> serde_json::Value {
        json!({
            "outcome": "planned",
            "statistic": STATISTIC,
            "data": self.data,
            "mechanism": self.mechanism(),
            "aggregator": self.aggregate.name(),
            "blocks": self.touch().votes(),
            "guarantee": self.promise(),
            "error": self.expected_error(),
            "expected": self.expected(),
            "charge": Spent::from(&self.charge),
        })
    }

    fn mechanism(&self) -> &'static str {
        if self.request.trusted { MECHANISM_ON_TRUST } else { MECHANISM }
    }

    fn promise(&self) -> Promise {
        Promise {
            epsilon: self.cost().eps.to_string(),
            delta: self.cost().delta.to_string(),
            adjacency: self.guarantee.adjacency.to_string(),
            unit: self.guarantee.unit.to_string(),
            // All rows of a person lie in one block, however many.
            max_rows_per_unit: None,
            max_groups_per_unit: None,
        }
    }
}

/// Whose privacy is protected, and the column that names them.
fn unit(request: &ProgramRequest, facts: &DataFacts) -> Result<(Unit, Option<usize>), PlanError> {
    let registered = facts.registered.as_ref().map(|(unit, _)| unit.clone());
    let unit = match (&request.unit, registered) {
        (None, None) => Unit::Row,
        (None, Some(unit)) => unit,
        (Some(name), None) => Unit::Column(name.clone()),
        (Some(name), Some(unit)) if unit == Unit::Column(name.clone()) => unit,
        (Some(_), Some(unit)) => {
            return Err(PlanError::line(format!(
                "'{}' is registered for one {}; ask without --unit, or register it under another name",
                wording::shown(&facts.name),
                wording::shown(&unit.to_string())
            )));
        }
    };
    match &unit {
        Unit::Row => Ok((unit, None)),
        Unit::Column(name) => {
            let place =
                columns::place(&facts.columns, name).map_err(|error| PlanError::line(error.to_string()))?;
            Ok((unit, Some(place)))
        }
    }
}

/// The number of blocks: said, or the best for the number of rows that was said, or a hundred.
fn blocks(request: &ProgramRequest, said: &Said, output: Output, people: bool) -> Result<u32, PlanError> {
    let whole = |name: &'static str, text: &str| -> Result<u64, PlanError> {
        text.parse()
            .map_err(|_| ParameterError::out_of_range(name, text, "give a whole number, such as 100").into())
    };
    let count = match (request.blocks.as_deref(), request.rows.as_deref()) {
        (Some(text), _) => whole("blocks", text)?,
        (None, None) => BLOCKS,
        (None, Some(text)) => {
            let (output, parameters) = match output {
                Output::Label | Output::Labels => (Predicted::Label, 1),
                Output::Number => (Predicted::Number, 1),
                Output::Vector(dimensions) => (Predicted::Vector { dimensions }, dimensions as u64),
            };
            let question = Question {
                eps: said.eps().clone(),
                delta: said.delta().clone(),
                output,
                rows: RowCount::Declared(whole("rows", text)?),
                rows_per_block: LEAST_ROWS.max(ROWS_PER_PARAMETER * parameters),
                adjacency: said.adjacency(),
                people,
            };
            question.choices()?[0].blocks.into()
        }
    };
    match u32::try_from(count) {
        Ok(blocks) if (1..=MOST_BLOCKS).contains(&count) => Ok(blocks),
        _ => Err(ParameterError::out_of_range("blocks", count, "give at least 1 and at most 2^20").into()),
    }
}

fn options(text: &str) -> Result<Vec<String>, PlanError> {
    let mut options: Vec<String> =
        text.split(',').map(|option| option.trim().to_string()).filter(|option| !option.is_empty()).collect();
    options.sort();
    options.dedup();
    if (2..=MOST_OPTIONS).contains(&options.len()) {
        return Ok(options);
    }
    let accepted = "give between 2 and 10000 labels with commas, such as linear,ridge,lasso";
    Err(ParameterError::out_of_range("options", wording::shown(text), accepted).into())
}

impl Session {
    /// Pay for a plan, durably, or say why not.
    pub fn charge_program(
        &mut self,
        plan: ProgramPlan,
        request_id: Option<String>,
    ) -> Result<PaidProgram, PayError> {
        let data_set = DataSet {
            name: plan.data.clone(),
            unit: plan.guarantee.unit.clone(),
            adjacency: plan.charged_in,
        };
        let question = json!({
            "statistic": STATISTIC,
            "column": null,
            "mechanism": plan.mechanism(),
            "guarantee": plan.promise(),
            "expected": plan.expected(),
        });
        let request = ChargeRequest {
            data_set,
            analyst: self.analyst.clone(),
            request_id,
            request: serde_json::to_string(&plan.request).expect("texts are always JSON"),
            question: question.to_string(),
            cost: Cost::from(plan.charge.clone()),
        };
        Ok(match self.ledger.charge(&request)? {
            Charging::Granted(charge) => PaidProgram::Charged(Box::new(ChargedProgram { plan, charge })),
            Charging::Replay(recorded) => PaidProgram::Before(Box::new(stored(&recorded)?)),
        })
    }

    /// Read the records, deal them, have the programs run on every block, make one answer of theirs, record it. The
    /// charge is used up whatever happens.
    ///
    /// `run` gives what was printed on each block, in their order, and nothing where a program failed. The guarantee holds if
    /// it lets no program see more than its block.
    pub fn run_program(
        &mut self,
        charged: ChargedProgram,
        source: &dyn Source,
        run: impl FnOnce(&ProgramBlocks) -> Vec<Option<Vec<u8>>>,
    ) -> Result<Release, Lost> {
        let ChargedProgram { plan, charge } = charged;
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let coins = &mut self.coins;
        let answer = quietly(|| {
            let blocks = ProgramBlocks::deal(source, plan.unit, &plan.partition, threads, coins)?;
            let mut printed = run(&blocks);
            printed.resize(blocks.count(), None);
            Ok(plan.aggregate.answer(&printed, coins))
        })?;
        let mut release = release(&plan, answer, &charge);
        // Until it is recorded nobody sees it; if that fails, the answer is lost.
        let receipt = self.ledger.record(&charge, &release.to_json().to_string()).map_err(|_| Lost)?;
        release.receipt = Some(receipt);
        Ok(release)
    }
}

fn release(plan: &ProgramPlan, answer: Answer, charge: &crate::ledger::Charge) -> Release {
    let balance = charge.balance();
    Release {
        outcome: if answer.value.is_some() { Outcome::Released } else { Outcome::Refused },
        value: answer.value.unwrap_or_default(),
        value_type: None,
        statistic: STATISTIC.to_string(),
        column: None,
        group_by: Vec::new(),
        filter: None,
        data: plan.data.clone(),
        mechanism: plan.mechanism().to_string(),
        guarantee: plan.promise(),
        error: answer.error,
        rows: None,
        groups: None,
        answers: None,
        advice: answer.advice,
        spent: Spent::from(balance.spent()),
        remaining: balance.remaining().as_ref().map(Left::from),
        receipt: None,
    }
}

#[cfg(test)]
mod tests;
