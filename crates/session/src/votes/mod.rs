//! Answers from votes: somebody runs something on blocks of the records, each block gives one vote, and an aggregator
//! publishes what they agree on. Planned, charged and recorded like any question.
//!
//! # Guarantee
//!
//! (epsilon, delta) for one record, or for all records of one person where a column names them, as long as the i-th
//! vote depends on the i-th block of the partition and on i alone. Whatever the votes are. The
//! charge comes first: [`Session::count_votes`] takes a [`Charged`], which only [`Session::charge`] makes.
//!
//! # Why
//!
//! 1. One person is in at most as many blocks as the [partition] counts, and changes no other vote.
//! 2. Each answer becomes a vote on its own, by a total rule ([`Ballots`]); for what is none a public default stands, or it
//!    counts for nobody.
//! 3. The aggregator is calibrated to votes of which one person changes that many ([`VotesPerUnit`]).

mod aggregate;
mod analyses;
mod answered;
mod choose;
mod numeric;
mod output;
mod rehearsal;
mod samples;

pub use analyses::Analyses;
pub use output::{Ballots, Output, Vote};
pub use rehearsal::{Dealt, Look, words as rehearsal_words};

use crate::{
    bar::ErrorBar,
    caution, columns,
    error::PlanError,
    facts::DataFacts,
    ledger::DataSet,
    planned::PlanSummary,
    quiet::privately,
    release::{Promise, Release, Spent},
    request::Request,
    resolved::ResolvedRequest,
    rows::id,
    session::{Charged, Held, Priced, Session},
    statistic::{Argument, Statistic},
    unanswered::Unanswered,
};
use aggregate::{Aggregate, Tallied};
use choose::{Details, Wanted};
use equipoise_core::{
    adjacency::{Adjacency, RowCount, Unit},
    coins::Coins,
    loss::{Approx, Guarantee, Loss, ParameterError},
    subsample::{
        VotesPerUnit,
        partition::{self, Design, Partition},
        plan::{Output as Predicted, Question, ROWS_PER_PARAMETER},
    },
    wording,
};
use equipoise_entropy::OsCoins;
use samples::{Deal, Samples};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ops::Range;

/// What was said: what runs on blocks, and how its answers become one. Fields that were not said take their defaults in the
/// plan. A stored answer is given again for an equal request only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VoteRequest {
    /// What is computed, in a word or two.
    pub statistic: String,
    /// Programs with their arguments; block i goes to program i modulo their number. None where a function is asked.
    pub programs: Vec<Vec<String>>,
    /// What keeps programs to their blocks.
    pub kept: Kept,
    /// What they answer with: number, vector:K, label or labels.
    pub output: String,
    /// The privacy loss.
    pub epsilon: Option<String>,
    /// By how much any set of outcomes may be likelier than e^epsilon allows.
    pub delta: Option<String>,
    /// add-remove or replace.
    pub adjacency: Option<String>,
    /// The column that names the person.
    pub unit: Option<String>,
    /// Analyses of which the blocks first choose one, each with the programs that answer; without any, `programs` answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub analyses: Vec<Analysis>,
    /// How many blocks.
    pub blocks: Option<String>,
    /// The number of rows or people, where the data holder states it.
    pub rows: Option<String>,
    /// LO,HI: answers, or the numbers of a vector, are moved into this.
    pub range: Option<String>,
    /// The labels that can be answered.
    pub options: Option<Vec<String>>,
    /// What a block counts as that has no answer: a number, a list of numbers, a text.
    pub default: Option<Value>,
    /// The aggregator by its name.
    pub mechanism: Option<String>,
    /// The share of the answers that a trimmed mean leaves out at each end, and a winsorized one moves inwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<String>,
    /// The width of the cells in which answers nearly agree, or several to choose among, with commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<String>,
    /// The most that one block's answer may move the median of all, where they agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// The share of the rows in a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    /// Rows of a sample that is drawn with repetition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// How sure the error bar is.
    pub confidence: Option<String>,
    /// Are cells handed over as what they are declared to be, and not as text?
    pub typed: bool,
    /// How the file is read and the programs are run, one setting each: part of the request, understood elsewhere.
    pub settings: Vec<String>,
}

impl VoteRequest {
    /// Which of all programs take blocks, counted through those that were asked first and those of each analysis in turn: the first
    /// ones, or those of the analysis that was chosen.
    pub fn turn(&self, chosen: Option<&str>) -> Range<usize> {
        let mut begin = self.programs.len();
        let Some(chosen) = chosen else { return 0..begin };
        for analysis in &self.analyses {
            let end = begin + analysis.programs.len();
            if analysis.name.trim() == chosen {
                return begin..end;
            }
            begin = end;
        }
        0..self.programs.len()
    }
}

/// An analysis that blocks may choose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Analysis {
    /// What analysts call it.
    pub name: String,
    /// The programs that answer where it is chosen; none where a function is asked.
    pub programs: Vec<Vec<String>>,
}

/// What keeps a program to its block, and so how far its answers can be told to depend on that block alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kept {
    /// A machine of its own, without clock or files: WebAssembly.
    Isolated,
    /// A process in a sandbox: what `docs/programs.md` says remains, such as what the machine keeps in memory.
    Confined,
    /// Nothing, or not its time: whoever asks trusts it.
    #[default]
    Trusted,
}

/// Votes that can be held, with their price.
#[derive(Clone, Debug)]
pub struct VotePlan {
    request: VoteRequest,
    data: String,
    unit: Option<usize>,
    deal: Deal,
    touch: VotesPerUnit,
    analyses: Option<Analyses>,
    ballots: Ballots,
    aggregate: Aggregate,
    cost: Approx,
    guarantee: Guarantee,
    charge: Approx,
    charged_in: Adjacency,
}

/// Blocks where nobody says how many.
const BLOCKS: u64 = 100;
/// The most blocks: each is a process.
const MOST_BLOCKS: u64 = 1 << 20;
/// The fewest rows on which a program makes sense, where nobody says.
const LEAST_ROWS: u64 = 20;
/// The most options.
const MOST_OPTIONS: usize = 10_000;

impl VotePlan {
    /// Understand a request.
    pub fn new(request: &VoteRequest, facts: &DataFacts) -> Result<Self, PlanError> {
        crate::windows::none(facts)?;
        // Words that all questions share.
        let words = Request {
            epsilon: request.epsilon.clone(),
            delta: request.delta.clone(),
            adjacency: request.adjacency.clone(),
            confidence: request.confidence.clone(),
            ..Request::new(Statistic::Count.name())
        };
        let said = ResolvedRequest::new(&words, facts)?;
        let output = Output::read(&request.output)?;
        let (protected, unit) = unit(request, facts)?;
        let mechanism = request.mechanism.as_deref().filter(|name| *name != "auto").map(choose::by_name);
        let details = Details {
            trim: request.trim.as_deref(),
            width: request.width.as_deref(),
            bound: request.bound.as_deref(),
            rate: request.rate.as_deref(),
            size: request.size.as_deref(),
        };
        let options = request.options.as_deref().map(options).transpose()?;
        let ballots = Ballots::new(output, options.clone());
        let default = request.default.as_ref().map(|value| default(value, &ballots)).transpose()?;
        let wanted = Wanted {
            output,
            range: request.range.as_deref(),
            options,
            default,
            mechanism,
            details,
            rows: request.rows.as_deref().map(|text| whole("rows", text)).transpose()?,
            people: unit.is_some(),
        };
        let sampled = match output {
            Output::Label | Output::Labels => {
                samples::plan(request, &said, mechanism, details, unit.is_some())?
            }
            Output::Number | Output::Vector(_) => None,
        };
        let (deal, touch, analyses, aggregate) = match sampled {
            Some(_) if !request.analyses.is_empty() => {
                return Err(PlanError::about(
                    Argument::Mechanism,
                    "samples share rows, and analyses are chosen by blocks",
                )
                .hint("leave `mechanism` out, or `then`"));
            }
            Some(Samples { deal, touch, kind, share }) => {
                let aggregate = choose::plan_sampled(&said, &wanted, touch, kind)?.with_share(share);
                (deal, touch, None, aggregate)
            }
            None => {
                let partition = partition(request, &said, output, unit.is_some())?;
                let touch = partition.touch();
                let (analyses, aggregate) = match Analyses::plan(request, &said, touch)? {
                    Some((analyses, rest)) => {
                        let aggregate = choose::plan(&said.part(rest, said.delta().clone()), &wanted, touch)?;
                        (Some(analyses), aggregate)
                    }
                    None => (None, choose::plan(&said, &wanted, touch)?),
                };
                (Deal::Partition(partition), touch, analyses, aggregate)
            }
        };
        let answer = Loss::Approx(aggregate.cost().clone());
        let cost = match analyses.iter().fold(answer, |sum, analyses| sum.compose(&analyses.cost())) {
            Loss::Approx(cost) => cost,
            Loss::Zcdp(_) | Loss::Renyi(_) => unreachable!("both are an epsilon and a delta"),
        };
        let charged_in = facts.registered.as_ref().map_or(said.adjacency(), |(_, adjacency)| *adjacency);
        let charge = match (said.adjacency(), charged_in) {
            (Adjacency::AddRemove, Adjacency::Replace) => cost.two_steps(),
            _ => cost.clone(),
        };
        let guarantee =
            Guarantee { loss: Loss::Approx(cost.clone()), adjacency: said.adjacency(), unit: protected };
        let (request, data) = (request.clone(), facts.name.clone());
        Ok(Self {
            request,
            data,
            unit,
            deal,
            touch,
            analyses,
            ballots,
            aggregate,
            cost,
            guarantee,
            charge,
            charged_in,
        })
    }

    /// The name that the budget belongs to.
    pub fn data(&self) -> &str {
        &self.data
    }

    /// Deal so many rows: the places of each block's. None at all where dealing halts, which is then a refusal.
    pub fn deal_rows<C: Coins>(&self, rows: usize, coins: &mut C) -> Vec<Vec<usize>> {
        let dealt = self.deal.rows(rows, coins);
        dealt.iter().flat_map(partition::Blocks::iter).map(<[usize]>::to_vec).collect()
    }

    /// Deal rows of people, by the texts that name them: all rows of a person lie in the same blocks, those of nobody in none.
    pub fn deal_people<'a, C: Coins>(
        &self,
        ids: impl IntoIterator<Item = Option<&'a str>>,
        coins: &mut C,
    ) -> Vec<Vec<usize>> {
        let named = ids.into_iter().enumerate().filter_map(|(row, field)| Some((row, id::canonical(field)?)));
        let (rows, people): (Vec<usize>, Vec<&str>) = named.unzip();
        let dealt = self.deal_named(&people, coins);
        dealt.into_iter().map(|block| block.into_iter().map(|place| rows[place]).collect()).collect()
    }

    /// The same for people who are all named.
    pub(crate) fn deal_named<C: Coins>(&self, people: &[impl AsRef<[u8]>], coins: &mut C) -> Vec<Vec<usize>> {
        let dealt = self.deal.people(people, coins);
        dealt.iter().flat_map(partition::Blocks::iter).map(<[usize]>::to_vec).collect()
    }

    /// The analyses of which blocks choose one first, where there are any.
    pub fn analyses(&self) -> Option<&Analyses> {
        self.analyses.as_ref()
    }

    /// The analysis that these votes choose, one for each block that named any. Call it after the charge, and once.
    pub fn choose<C: Coins>(&self, votes: Vec<Option<Vote>>, coins: &mut C) -> Option<String> {
        let analyses = self.analyses.as_ref()?;
        Some(analyses.choose(votes, self.touch.votes(), coins).to_string())
    }

    /// The place of the column that names the person.
    pub(crate) fn unit(&self) -> Option<usize> {
        self.unit
    }

    /// Are cells handed over as what they are declared to be?
    pub(crate) fn is_typed(&self) -> bool {
        self.request.typed
    }

    /// What makes votes of answers.
    pub fn ballots(&self) -> &Ballots {
        &self.ballots
    }

    /// How many blocks there are, and how many of them one person can change.
    pub fn touch(&self) -> VotesPerUnit {
        self.touch
    }

    /// What an answer promises.
    pub fn guarantee(&self) -> &Guarantee {
        &self.guarantee
    }

    /// What an answer costs under the adjacency of its guarantee.
    pub fn cost(&self) -> &Approx {
        &self.cost
    }

    /// What will be charged.
    pub fn charge(&self) -> &Approx {
        &self.charge
    }

    /// What can be told of the answer before any data is read.
    pub fn expected(&self) -> String {
        let answer = self.aggregate.expected();
        match &self.analyses {
            Some(analyses) => format!("{}; then {answer}", analyses.words(self.touch.votes())),
            None => answer,
        }
    }

    /// The error bar of a released answer, where it is known beforehand.
    pub fn expected_error(&self) -> Option<ErrorBar> {
        self.aggregate.expected_error()
    }

    /// What of its promise protects little, one line each.
    pub fn warnings(&self) -> Vec<String> {
        caution::warnings(&self.promise(), caution::Rows::stated(self.request.rows.as_deref()))
    }

    /// What releases call it: for programs what keeps them to their blocks, for functions the aggregator.
    pub fn mechanism(&self) -> &'static str {
        match self.request.kept {
            _ if self.request.programs.is_empty() => self.aggregate.kind.mechanism(),
            Kept::Isolated => "subsample",
            Kept::Confined => "subsample, programs confined",
            Kept::Trusted => "subsample, programs trusted",
        }
    }

    /// The answer that these votes give, of so many rows where that is known. Their number is told where it is public.
    pub(crate) fn answer<C: Coins>(
        &self,
        votes: &[Option<Vote>],
        rows: Option<u64>,
        coins: &mut C,
    ) -> Tallied {
        let is_public = self.guarantee.adjacency == Adjacency::Replace && self.guarantee.unit == Unit::Row;
        self.aggregate.over_public(rows.filter(|_| is_public)).answer(votes, coins)
    }

    /// The answer that a ballot gives. Blocks that were not dealt have no vote.
    pub(crate) fn tally<C: Coins>(&self, ballot: Ballot, coins: &mut C) -> Tallied {
        let Ballot { mut votes, rows, chosen } = ballot;
        votes.resize(usize::try_from(self.touch.votes()).expect("so many blocks fit in memory"), None);
        self.answer(&votes, rows, coins).chosen(self, chosen)
    }

    /// What is promised, in words.
    pub fn promise(&self) -> Promise {
        Promise {
            epsilon: self.cost().eps.to_exact(),
            delta: self.cost().delta.to_exact(),
            adjacency: self.guarantee.adjacency.to_string(),
            unit: self.guarantee.unit.to_string(),
            // All rows of a person lie in one block, however many.
            max_rows_per_unit: None,
            max_groups_per_unit: None,
            once_for_each_value: false,
            per_unit: false,
            composition: None,
            windows: None,
        }
    }
}

/// Whose privacy is protected, and the column that names them.
fn unit(request: &VoteRequest, facts: &DataFacts) -> Result<(Unit, Option<usize>), PlanError> {
    let registered = facts.registered.as_ref().map(|(unit, _)| unit.clone());
    let unit = match (&request.unit, registered) {
        (None, None) => Unit::Row,
        (None, Some(unit)) => unit,
        (Some(name), None) => Unit::Column(name.clone()),
        (Some(name), Some(unit)) if unit == Unit::Column(name.clone()) => unit,
        (Some(_), Some(unit)) => {
            return Err(PlanError::about(
                Argument::Unit,
                format!(
                    "'{}' is registered for one {}",
                    wording::shown(&facts.name),
                    wording::shown(&unit.to_string())
                ),
            )
            .hint("ask without `unit`, or register it under another name"));
        }
    };
    match &unit {
        Unit::Row => Ok((unit, None)),
        Unit::Column(name) => {
            let place = columns::place(&facts.columns, name)
                .map_err(|error| PlanError::no_column(Argument::Unit, &error))?;
            Ok((unit, Some(place)))
        }
    }
}

fn whole(name: &'static str, text: &str) -> Result<u64, PlanError> {
    text.parse()
        .map_err(|_| ParameterError::out_of_range(name, text, "give a whole number, such as 100").into())
}

/// The number of blocks: said, or the best for the number of rows that was said, or a hundred.
fn blocks(
    request: &VoteRequest,
    said: &ResolvedRequest,
    output: Output,
    people: bool,
) -> Result<u32, PlanError> {
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

/// Blocks of which each row, or person, is in one.
fn partition(
    request: &VoteRequest,
    said: &ResolvedRequest,
    output: Output,
    people: bool,
) -> Result<partition::Calibrated, PlanError> {
    let blocks = blocks(request, said, output, people)?;
    let design =
        if people { Design::People { blocks, rounds: 1 } } else { Design::Rows { blocks, rounds: 1 } };
    Ok(Partition { design, adjacency: said.adjacency() }.calibrate()?)
}

fn options(said: &[String]) -> Result<Vec<String>, PlanError> {
    let mut options: Vec<String> =
        said.iter().map(|option| option.trim().to_string()).filter(|option| !option.is_empty()).collect();
    options.sort();
    options.dedup();
    if (2..=MOST_OPTIONS).contains(&options.len()) {
        return Ok(options);
    }
    let accepted = "give between 2 and 10000 labels with commas, such as linear,ridge,lasso";
    Err(ParameterError::out_of_range("options", wording::shown(&said.join(",")), accepted).into())
}

/// The vote that stands for a block without one.
fn default(value: &Value, ballots: &Ballots) -> Result<Vote, PlanError> {
    let numbers = |list: &Vec<Value>| list.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>();
    let vote = match value {
        Value::Number(number) => number.as_f64().and_then(|value| ballots.number(value)),
        Value::Array(list) if ballots.output() == Output::Labels => {
            let labels: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
            labels.and_then(|labels| ballots.labels(labels))
        }
        Value::Array(list) => numbers(list).and_then(|value| ballots.vector(value)),
        Value::String(text) => ballots.label(text),
        _ => None,
    };
    vote.ok_or_else(|| {
        let accepted =
            "give what a block can answer: a finite number, a list of them, or labels that it can name";
        ParameterError::out_of_range("default", wording::shown(&value.to_string()), accepted).into()
    })
}

impl Priced for VotePlan {
    fn data_set(&self) -> DataSet {
        DataSet { name: self.data.clone(), unit: self.guarantee.unit.clone(), adjacency: self.charged_in }
    }

    fn asked(&self) -> String {
        serde_json::to_string(&self.request).expect("texts are always JSON")
    }

    fn summary(&self) -> PlanSummary {
        PlanSummary {
            mechanism: self.mechanism().to_string(),
            aggregator: Some(self.aggregate.kind.name().to_string()),
            blocks: Some(self.touch().votes()),
            error: self.expected_error(),
            expected: self.expected(),
            charge: Spent::from(&self.charge),
            warnings: self.warnings(),
            ..PlanSummary::bare(&self.request.statistic, &self.data, self.promise())
        }
    }

    fn price(&self) -> Approx {
        self.charge.clone()
    }
}

impl Session {
    /// Make one answer of the votes, one for each block in their order, and record it. The charge is used up whatever happens.
    /// `rows` is how many were dealt, where that is known; it is told only where it is public. `chosen` is the analysis that blocks
    /// chose by [`VotePlan::choose`], where there was a choice: the votes are its answers.
    pub fn count_votes(
        &mut self,
        charged: Charged<VotePlan>,
        chosen: Option<String>,
        votes: Vec<Option<Vote>>,
        rows: Option<u64>,
    ) -> Result<Release, Unanswered> {
        let held = self.hold_votes(charged, |_, _| Ok(Ballot { votes, rows, chosen }))?;
        self.record(held)
    }

    /// The same, with votes that `hold` finds after the charge, in silence. Nobody sees the answer before it is recorded.
    pub(crate) fn hold_votes(
        &mut self,
        charged: Charged<VotePlan>,
        hold: impl FnOnce(&VotePlan, &mut OsCoins) -> Result<Ballot, Unanswered>,
    ) -> Result<Held, Unanswered> {
        let Charged { plan, charge } = charged;
        let coins = &mut self.coins;
        let tallied = privately(|| {
            let ballot = hold(&plan, coins)?;
            Ok(plan.tally(ballot, coins))
        })?;
        let Tallied { answer, blocks } = tallied;
        let release = Release { blocks: Some(blocks), ..Release::of(&plan.summary(), answer, &charge) };
        Ok(Held::new(release, charge))
    }
}

/// The votes of all blocks, and how many rows were dealt to them where that is known; private, both.
pub(crate) struct Ballot {
    pub votes: Vec<Option<Vote>>,
    pub rows: Option<u64>,
    /// The analysis that was chosen, where there was a choice: paid for, and public.
    pub chosen: Option<String>,
}

pub(crate) mod audits;
#[cfg(test)]
mod claims;
#[cfg(test)]
mod tests;
