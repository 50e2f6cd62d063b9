//! One of some public options by a score that is a sum over the rows of an expression: of this nothing has to be stated.
//!
//! # Guarantee
//!
//! Epsilon for one row, or for one person of whom a stated number of rows takes part.
//!
//! # Why
//!
//! 1. What a row adds to the score of an option is the value of an expression about that row, in which the word `option` stands for the
//!    option, limited to public ends and rounded to public steps ([`terms`](crate::terms)). A condition adds one where it holds.
//! 2. So one row more or less moves every score by at most the farther end, and all scores the same way where the ends do not lie on
//!    both sides of zero; one row in the place of another by at most the width, zero included. People have so many rows at most.
//! 3. The choice is that of [`chosen`](super::chosen), on exact sums.

use super::{
    StatedRequest,
    chosen::Chosen,
    said::{MOST, Said, number},
};
use crate::{
    answer::Answer,
    caution,
    error::PlanError,
    facts::DataFacts,
    ledger::DataSet,
    planned::PlanSummary,
    quiet::privately,
    release::{Promise, Release, Spent},
    request::Request,
    rows::{Rows, bound::Bound},
    session::{Charged, Held, Priced, Session},
    simulate::{Simulated, Simulation},
    source::Source,
    statistic::{Argument, Statistic},
    terms::{self, Steps, Term},
    types::Types,
    unanswered::Unanswered,
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    coins::Coins,
    loss::{Approx, ParameterError},
    ratio::Ratio,
    wording,
};
use equipoise_expression::{Constant, Expression};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What stands for the option in a score.
const OPTION: &str = "option";

/// A choice by a score over rows, as it was said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScoredRequest {
    /// Always `choose`.
    pub statistic: String,
    /// What a row adds to the score of an option: a number, or a condition.
    pub score: String,
    /// Between which numbers that lies, or is limited to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    /// The options with commas between them, or LO..HI or LO..HI:STEP for numbers.
    pub options: String,
    /// The privacy loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<String>,
    /// add-remove or replace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adjacency: Option<String>,
    /// How sure the error bar is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
    /// The mechanism by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<String>,
    /// The noise of a noisy maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<String>,
    /// Public weights of the options, with commas between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Which rows take part.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// The column that names the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// How many rows of each person take part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rows_per_unit: Option<String>,
    /// What columns hold.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, String>,
    /// The character between fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// Whether the first line names the columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
}

/// A choice that can be paid for.
#[derive(Clone, Debug)]
pub struct ScoredPlan {
    request: ScoredRequest,
    data: String,
    unit: Unit,
    adjacency: Adjacency,
    chosen: Chosen,
    terms: Vec<Term>,
    steps: Steps,
    rows: Rows,
    charge: Approx,
    charged_in: Adjacency,
}

impl ScoredPlan {
    /// Understand what was said. Free, and blind.
    pub fn new(request: &ScoredRequest, facts: &DataFacts) -> Result<Self, PlanError> {
        crate::windows::none(facts)?;
        let options = options(&request.options)?;
        let about_rows = Request {
            filter: request.filter.clone(),
            unit: request.unit.clone(),
            max_rows_per_unit: request.max_rows_per_unit.clone(),
            adjacency: request.adjacency.clone(),
            types: request.types.clone(),
            ..Request::new(Statistic::Count.name())
        };
        let (rows, unit) = Rows::plan(&about_rows, facts)?;
        let types = Types::plan(&about_rows, facts)?;
        let (terms, ends) = scores(request, &options, facts, &types)?;
        let steps = steps(request, &terms, ends)?;
        let mut stated = StatedRequest {
            statistic: "choose".into(),
            epsilon: request.epsilon.clone(),
            adjacency: request.adjacency.clone(),
            unit: match &unit {
                Unit::Column(name) => Some(name.clone()),
                Unit::Row => None,
            },
            confidence: request.confidence.clone(),
            mechanism: request.mechanism.clone(),
            noise: request.noise.clone(),
            base: request
                .base
                .as_deref()
                .map(|base| base.split(',').map(|one| one.trim().to_string()).collect()),
            options: options.into_iter().map(|option| option.shown).collect(),
            ..StatedRequest::default()
        };
        let adjacency = Said::new(&stated, facts)?.adjacency;
        let each = match adjacency {
            Adjacency::AddRemove => steps.most(),
            Adjacency::Replace => steps.widest(),
        };
        let sensitivity = each * Ratio::from(rows.steps_per_unit());
        stated.sensitivity = Some(sensitivity.to_string());
        stated.monotone = adjacency == Adjacency::AddRemove && steps.is_one_sided();
        let chosen = Chosen::plan(&Said::new(&stated, facts)?)?;
        let cost = super::approx(chosen.cost());
        let charged_in = facts.registered.as_ref().map_or(adjacency, |(_, adjacency)| *adjacency);
        let charge = match (adjacency, charged_in) {
            (Adjacency::AddRemove, Adjacency::Replace) => cost.two_steps(),
            _ => cost,
        };
        let (request, data) = (request.clone(), facts.name.clone());
        Ok(Self { request, data, unit, adjacency, chosen, terms, steps, rows, charge, charged_in })
    }

    /// What it costs under the adjacency of its guarantee.
    pub fn cost(&self) -> Approx {
        super::approx(self.chosen.cost())
    }

    /// Every column that it reads can be read, by the source's schema.
    pub fn readable_in(&self, source: &dyn Source) -> Result<(), PlanError> {
        let mut read = self.terms.iter().flat_map(Term::reads).chain(self.rows.wanted());
        match read.find_map(|read| source.unreadable(read.column)) {
            Some(line) => Err(PlanError::line(line)),
            None => Ok(()),
        }
    }

    /// One of the options, by what the rows add up to.
    pub(crate) fn answer<C: Coins>(&self, sums: &[i128], coins: &mut C) -> Answer {
        self.answer_at(self, sums, coins)
    }

    /// The same where another plan's steps say what was added: for an audit of what happens where rows are not limited.
    pub(super) fn answer_at<C: Coins>(&self, limited: &Self, sums: &[i128], coins: &mut C) -> Answer {
        let scores: Vec<Ratio> = sums.iter().map(|&sum| limited.steps.number(sum)).collect();
        self.chosen.pick(&scores, coins)
    }

    /// What the rows of a source add up to. Private.
    pub(crate) fn sums(&self, source: &dyn Source) -> Result<Vec<i128>, Unanswered> {
        Ok(terms::sums(source, &self.rows, &self.terms, self.steps)?.0)
    }

    fn expected(&self) -> String {
        let (low, high) = self.steps.ends();
        let each = match (low.is_zero(), high.is_zero()) {
            (true, _) | (_, true) => format!("{} to {}", low.to_short_down(6, 12), high.to_short_up(6, 12)),
            _ => format!("{} to {}, or nothing", low.to_short_down(6, 12), high.to_short_up(6, 12)),
        };
        format!("{}; each row adds {each}", self.chosen.expected().1)
    }
}

/// An option: what is released, and what stands for it in expressions.
struct Choice {
    shown: Value,
    constant: Constant,
}

/// The options that were said.
fn options(text: &str) -> Result<Vec<Choice>, PlanError> {
    let texts: Vec<String> = match text.split_once("..") {
        Some((low, rest)) => spread(text, low, rest)?,
        None => text.split(',').map(|option| option.trim().to_string()).collect(),
    };
    if texts.iter().any(String::is_empty) {
        return Err(
            PlanError::line("which options?").hint("Give `options=1,2,5`, or numbers as 1..30 or 1..30:0.5")
        );
    }
    let number = |text: &String| -> Option<Choice> {
        let exact: Ratio = text.parse().ok()?;
        let shown = serde_json::from_str(&exact.to_exact()).ok().filter(Value::is_number)?;
        let constant = match exact.is_integer().then(|| exact.floor_i64()).flatten() {
            Some(whole) => Constant::Whole(whole),
            None => Constant::Real(exact.to_f64()),
        };
        Some(Choice { shown, constant })
    };
    // All are numbers, or all are texts: what a score is follows from public words, and is one type for all.
    let numbers: Option<Vec<Choice>> = texts.iter().map(number).collect();
    Ok(numbers.unwrap_or_else(|| {
        let text = |text: String| Choice { shown: text.clone().into(), constant: Constant::Text(text) };
        texts.into_iter().map(text).collect()
    }))
}

/// Numbers at equal distances.
fn spread(text: &str, low: &str, rest: &str) -> Result<Vec<String>, PlanError> {
    let (high, step) = rest.split_once(':').unwrap_or((rest, "1"));
    let read = |text: &str| text.trim().parse::<Ratio>().ok();
    let wrong = |why: &str| {
        let problem = format!("options {} are not accepted: {why}", wording::shown(text));
        PlanError::line(problem).hint("write LO..HI or LO..HI:STEP, such as 1..30:0.5")
    };
    let (Some(low), Some(high), Some(step)) = (read(low), read(high), read(step)) else {
        return Err(wrong("three numbers are expected"));
    };
    if !step.is_positive() || high < low {
        return Err(wrong("the first number is the least, and the step is above 0"));
    }
    let last = ((&high - &low) / &step).floor_i64().and_then(|last| u64::try_from(last).ok());
    let last = last.filter(|&last| last < MOST).ok_or_else(|| wrong("there are at most 65536"))?;
    Ok((0..=last).map(|place| (&low + &step * Ratio::from(place)).to_string()).collect())
}

/// Between which numbers something lies.
type Ends = (f64, f64);

/// What a row adds to each option's score, and between which ends all of that lies, where the words tell.
fn scores(
    request: &ScoredRequest,
    options: &[Choice],
    facts: &DataFacts,
    types: &Types,
) -> Result<(Vec<Term>, Option<Ends>), PlanError> {
    let text = request.score.as_str();
    if facts.columns.iter().any(|column| column == OPTION) {
        return Err(PlanError::line("a column is called option, which stands for the option in a score")
            .hint("give the column another name, or leave it to a copy of the file"));
    }
    let score = Expression::parse(text).map_err(|error| terms::wrong(text, &error))?;
    if !score.names().contains(&OPTION) {
        return Err(PlanError::line("the score does not name the option, so that all options score alike")
            .hint("write option where it stands, as in \"bid >= option\""));
    }
    let mut ends = None::<Option<(f64, f64)>>;
    let mut terms = Vec::with_capacity(options.len());
    for option in options {
        let scored = score.with_constant(OPTION, &option.constant);
        let here = scored.ends();
        ends = Some(match ends {
            None => here,
            Some(all) => all.zip(here).map(|(all, here)| (all.0.min(here.0), all.1.max(here.1))),
        });
        terms.push(Term::bind(text, &scored, facts, types)?);
    }
    Ok((terms, ends.flatten()))
}

/// Between which ends, and in which steps, rows add to scores.
fn steps(request: &ScoredRequest, terms: &[Term], ends: Option<(f64, f64)>) -> Result<Steps, PlanError> {
    let said = match request.range.as_deref() {
        Some(text) => {
            let wrong = || {
                let problem = format!("the range '{}' is not accepted", wording::shown(text));
                PlanError::about(Argument::Range, problem)
                    .hint("give two numbers, the lower one first, such as `range=0,100`")
            };
            let (low, high) = text.split_once(',').ok_or_else(wrong)?;
            let (low, high) = (number("range", low)?, number("range", high)?);
            if low >= high {
                return Err(wrong());
            }
            Some((low, high))
        }
        None if terms.iter().all(Term::is_condition) => Some((Ratio::zero(), Ratio::one())),
        None => ends.and_then(|(low, high)| Ratio::from_f64_exact(low).zip(Ratio::from_f64_exact(high))),
    };
    let Some((low, high)) = said else {
        return Err(PlanError::about(Argument::Range, "how much can a row add to a score?")
            .hint("Give `range`, such as `range=0,100`, to which it is limited"));
    };
    Steps::between(&low, &high).ok_or_else(|| {
        ParameterError::out_of_range(
            "range",
            format!("{low},{high}"),
            "give ends that are not both 0, within 1e300",
        )
        .into()
    })
}

impl Priced for ScoredPlan {
    fn data_set(&self) -> DataSet {
        DataSet { name: self.data.clone(), unit: self.unit.clone(), adjacency: self.charged_in }
    }

    fn asked(&self) -> String {
        serde_json::to_string(&self.request).expect("texts are always JSON")
    }

    fn summary(&self) -> PlanSummary {
        let cost = self.cost();
        let promise = Promise {
            epsilon: cost.eps.to_exact(),
            delta: cost.delta.to_exact(),
            adjacency: self.adjacency.to_string(),
            unit: self.unit.to_string(),
            max_rows_per_unit: (self.unit != Unit::Row).then(|| self.rows.steps_per_unit()),
            per_unit: false,
            composition: None,
            max_groups_per_unit: None,
            once_for_each_value: false,
            windows: None,
        };
        PlanSummary {
            column: Some(self.request.score.clone()),
            filter: self.request.filter.clone(),
            rows: self.rows.words(&self.unit),
            mechanism: self.chosen.mechanism().to_string(),
            error: self.chosen.expected().0,
            expected: self.expected(),
            charge: Spent::from(&self.charge),
            warnings: caution::warnings(&promise, caution::Rows::Unknown),
            ..PlanSummary::bare("choose", &self.data, promise)
        }
    }

    fn price(&self) -> Approx {
        self.charge.clone()
    }
}

impl Session {
    /// Read the rows, choose and record it. The charge is used up whatever happens.
    pub fn answer_scored(
        &mut self,
        charged: Charged<ScoredPlan>,
        source: &dyn Source,
    ) -> Result<Release, Unanswered> {
        let Charged { plan, charge } = charged;
        let coins = &mut self.coins;
        let answer = privately(|| Ok(plan.answer(&plan.sums(source)?, coins)))?;
        let release = Release::of(&plan.summary(), answer, &charge);
        self.record(Held::new(release, charge))
    }
}

impl Simulated for ScoredPlan {
    fn costs(&self) -> Approx {
        self.cost()
    }

    fn is_readable_in(&self, source: &dyn Source) -> Result<(), PlanError> {
        self.readable_in(source)
    }

    /// Where rows of people are drawn, every trial draws its own.
    fn simulate(&self, source: &dyn Source, trials: usize) -> Result<Simulation, Unanswered> {
        let number =
            |sums: Vec<i128>| -> Vec<Ratio> { sums.into_iter().map(|sum| self.steps.number(sum)).collect() };
        let drawn = self.rows.bound().is_some_and(Bound::draws);
        let of =
            |rows: &Rows| privately(|| Ok(number(terms::sums(source, rows, &self.terms, self.steps)?.0)));
        let all = of(&self.rows.undrawn())?;
        self.chosen.simulate(trials, drawn.then_some(&all[..]), || {
            if drawn { of(&self.rows) } else { Ok(all.clone()) }
        })
    }
}

#[cfg(test)]
#[path = "scored_tests.rs"]
mod tests;
