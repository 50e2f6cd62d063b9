//! From words to a mechanism: every error that a request can have happens here, before rows are read and
//! before anything is charged.
//!
//! A plan sees the words, the names of the columns and what the ledger says of the data set. All of it is
//! public, so a plan and its errors are free.

pub mod batch;
mod composed;
mod enough;
mod instead;
mod part;
mod per_unit;
mod pools;
mod target;
mod together;

pub use crate::{error::PlanError, facts::DataFacts};
pub(crate) use instead::ToldRows;
pub use part::Part;

use crate::{
    answer::Answer,
    batch::Batch,
    caution,
    need::Need,
    planned::PlanSummary,
    promise::{Promise, Spent},
    request::Request,
    row_facts::RowFacts,
    rows::{
        Rows,
        bound::{ALL_GROUPS, Bound},
        derived::Derived,
        plan::{charged_by_row, per_unit_words, rows_charged},
    },
    source::{ColumnRead, ColumnType, Source},
    statistic::Argument,
    task::{Answering, Expected},
    windows,
};
use composed::{Composed, Terms};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    coins::Coins,
    loss::{Approx, Guarantee, Loss},
    ratio::Ratio,
    wording,
};
use equipoise_ledger::AskedWindows;
use part::Shared;
use pools::{Pool, Run};
use together::OneSelection;

/// Questions that can be answered in one scan, with their price.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What was said, as one text.
    asked: String,
    batch: bool,
    data: String,
    parts: Vec<Part>,
    /// What answers all parts with one selection of keys, where they are about the same groups; the parts then say what is known of
    /// each beforehand.
    together: Option<OneSelection>,
    /// How the losses of all parts are added up, where not as they are.
    composed: Option<Composed>,
    /// What answers several parts from one draw, where there is no mechanism for all of them; the parts then say what is known of each.
    pools: Vec<Pool>,
    guarantee: Guarantee,
    cost: Approx,
    /// What the ledger is charged, in the adjacency of the data set.
    charge: Approx,
    /// The adjacency in which it is charged.
    charged_in: Adjacency,
    /// The unit in which it is charged.
    charged_for: Unit,
    rows: Rows,
    /// What is not checked and goes with every answer.
    stated: Vec<String>,
}
impl Plan {
    /// Understand a request.
    pub fn new(request: &Request, facts: &DataFacts) -> Result<Self, PlanError> {
        if request.weight.is_some() {
            return Err(PlanError::about_option("weight", "a weight is for the questions of a batch")
                .hint("leave it out"));
        }
        per_unit::alone(request)?;
        let (derived, facts) = &Derived::plan([request], facts)?;
        let (part, shared) =
            Part::new(request, facts).map_err(|error| enough::of_question(request, facts, error))?;
        let plain = Planned { parts: vec![part], shared, together: None, pools: Vec::new(), composed: None };
        let planned = composed::better_alone(request, facts).unwrap_or(plain);
        Ok(Self::of(request.to_json(), false, planned, derived, facts))
    }

    /// Understand several questions, which share one scan and one charge.
    pub fn batch(batch: &Batch, facts: &DataFacts) -> Result<Self, PlanError> {
        Self::batch_or_question(batch, facts).map_err(|(number, error)| match number {
            Some(number) => batch::in_question(number, &batch.questions[number], error),
            None => error,
        })
    }

    /// The same; with the error comes the number of its question, from zero, where it is about one.
    pub fn batch_or_question(batch: &Batch, facts: &DataFacts) -> Result<Self, (Option<usize>, PlanError)> {
        let asked = batch.to_json();
        let batch = &per_unit::in_groups(batch);
        let (derived, facts) = &Derived::plan(&batch.questions, facts).map_err(|error| (None, error))?;
        let planned = Planned::new(batch, facts).map_err(|(number, error)| match number {
            Some(place) => (number, enough::of_batch(batch, place, facts, error)),
            None => (number, error),
        })?;
        Ok(Self::of(asked, true, planned, derived, facts))
    }

    fn of(asked: String, batch: bool, planned: Planned, derived: &Derived, facts: &DataFacts) -> Self {
        let Planned { parts, shared, together, pools, composed } = planned;
        let Shared { adjacency, unit, rows } = shared.with(derived);
        let sum = |of: &dyn Fn(&Part) -> Approx| {
            let sum = parts.iter().map(of).reduce(|sum, cost| sum.compose(&cost));
            sum.expect("a plan has a question")
        };
        let cost = match (&composed, &together) {
            (Some(composed), _) => composed.cost(),
            (None, Some(one)) => one.cost.clone(),
            (None, None) => sum(&|part| part.cost.clone()),
        };
        let by_row = |of_row: &Approx, charged_in| charged_by_row(of_row, &rows, charged_in);
        let (charged_for, charged_in) = facts.registered.clone().unwrap_or_else(|| (unit.clone(), adjacency));
        let charge = match (&charged_for, &unit) {
            (Unit::Row, Unit::Column(_)) => {
                let composed = composed.as_ref();
                let at_once = composed.and_then(|all| all.of_rows(rows_charged(&rows, charged_in)));
                at_once.unwrap_or_else(|| match &together {
                    Some(one) => by_row(&one.of_row, charged_in),
                    None => sum(&|part| by_row(&part.of_row, charged_in)),
                })
            }
            _ if adjacency != charged_in => cost.two_steps(),
            _ => cost.clone(),
        };
        let guarantee = Guarantee { loss: Loss::Approx(cost.clone()), adjacency, unit };
        let data = facts.name.clone();
        Self {
            asked,
            batch,
            data,
            parts,
            together,
            composed,
            pools,
            guarantee,
            cost,
            charge,
            charged_in,
            charged_for,
            rows,
            stated: Vec::new(),
        }
    }

    /// The same with something that is not checked and goes with every answer.
    pub(crate) fn stating(mut self, clause: String) -> Self {
        self.stated.push(clause);
        self
    }

    /// What was said, as one text: what is charged, hashed and kept.
    pub fn asked(&self) -> &str {
        &self.asked
    }

    /// The questions.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Were several questions asked together? One question may be all there is in a batch.
    pub fn is_batch(&self) -> bool {
        self.batch
    }

    /// The calendar windows whose rows alone it is about, where a limit renews by a column of days.
    pub fn windows(&self) -> Option<&AskedWindows> {
        self.rows.windows()
    }

    /// What was said of the question, or of the first one of a batch.
    pub fn request(&self) -> &Request {
        &self.parts[0].request
    }

    /// The column of the question, or both; none for a batch.
    pub fn column(&self) -> Option<String> {
        if self.batch { None } else { self.request().column_words() }
    }

    /// The name that the budget belongs to.
    pub fn data(&self) -> &str {
        &self.data
    }

    /// The statistic, or batch.
    pub fn statistic(&self) -> &str {
        if self.batch { "batch" } else { &self.request().statistic }
    }

    /// The names of the columns that answers are grouped by; none for a batch.
    pub fn group_by(&self) -> &[String] {
        if self.batch { &[] } else { &self.parts[0].group_by }
    }

    /// The name of the mechanism; of a batch, the different ones of its questions.
    pub fn mechanism(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for name in self.parts.iter().flat_map(|part| part.mechanism().split(", ")) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ")
    }

    /// What an answer promises.
    pub fn guarantee(&self) -> &Guarantee {
        &self.guarantee
    }

    /// The adjacency of the data set, in which the ledger counts.
    pub fn charged_in(&self) -> Adjacency {
        self.charged_in
    }

    /// The unit of the data set, for which the ledger counts.
    pub fn charged_for(&self) -> &Unit {
        &self.charged_for
    }

    /// Which rows of each person take part, in words; `None` where a person is a row.
    pub fn rows_words(&self) -> Option<String> {
        let drawn = self.rows.words(&self.guarantee.unit)?;
        let of_people = self.parts.iter().filter(|part| part.fold().is_some()).count();
        if of_people == 0 {
            return Some(drawn);
        }
        let made = per_unit_words(&self.guarantee.unit.to_string(), self.groups_per_unit());
        let others = if of_people == self.parts.len() {
            String::new()
        } else {
            format!("; of other questions {drawn}")
        };
        Some(made + &others)
    }

    /// How many rows of each person take part at most; `None` where a person is a row, counts once for each value, or takes part with all
    /// rows.
    pub fn rows_per_unit(&self) -> Option<u64> {
        let drawn = !self.rows.counts_people() && self.parts.iter().any(|part| part.fold().is_none());
        self.rows.bound().filter(|_| drawn).map(Bound::rows_per_unit)
    }

    /// In how many groups rows of each person take part at most, where that was said.
    pub fn groups_per_unit(&self) -> Option<u64> {
        Some(self.rows.bound()?.groups.as_ref()?.most).filter(|&most| most != ALL_GROUPS)
    }

    /// What an answer costs under the adjacency of its guarantee.
    pub fn cost(&self) -> &Approx {
        &self.cost
    }

    /// What will be charged.
    pub fn charge(&self) -> &Approx {
        &self.charge
    }

    /// The number of rows that whoever asks stated, for any of the questions.
    pub fn stated_rows(&self) -> caution::Rows {
        let mut stated = self.parts.iter().map(|part| caution::Rows::stated(part.request.rows.as_deref()));
        stated.find(|rows| *rows != caution::Rows::Unknown).unwrap_or(caution::Rows::Unknown)
    }

    /// What of its promise protects little, one line each, as far as it is known beforehand.
    pub fn warnings(&self) -> Vec<String> {
        caution::warnings(&self.promise(), self.stated_rows())
    }

    /// What is promised, in words and exact numbers.
    pub fn promise(&self) -> Promise {
        Promise {
            epsilon: self.cost.eps.to_exact(),
            delta: self.cost.delta.to_exact(),
            adjacency: self.guarantee.adjacency.to_string(),
            unit: self.guarantee.unit.to_string(),
            max_rows_per_unit: self.rows_per_unit(),
            max_groups_per_unit: self.groups_per_unit(),
            once_for_each_value: self.rows.counts_people(),
            per_unit: self.parts.iter().any(|part| part.fold().is_some()),
            composition: self.composed.as_ref().map(|_| composed::ACCOUNTANT.to_string()),
            windows: self.windows().map(windows::promised),
        }
    }

    /// What is known of it before any row is read.
    pub fn summary(&self) -> PlanSummary {
        let Expected { error, words } = self.expected();
        let one = (!self.batch).then(|| &self.parts[0]);
        PlanSummary {
            statistic: self.statistic().to_string(),
            column: self.column(),
            value_type: one.and_then(Part::answer_type),
            group_by: self.group_by().to_vec(),
            filter: self.request().filter.clone(),
            rows: self.rows_words(),
            data: self.data.clone(),
            mechanism: self.mechanism(),
            aggregator: None,
            blocks: None,
            stated: self.stated.clone(),
            guarantee: self.promise(),
            error,
            expected: words,
            likely: one.and_then(Part::likely),
            runners_up: one.map_or(Vec::new(), |part| part.runners_up().to_vec()),
            charge: Spent::from(&self.charge),
            warnings: self.warnings(),
            questions: if self.batch { self.parts.iter().map(Part::summary).collect() } else { Vec::new() },
        }
    }

    /// The columns that it will read, each once, and how: for sources that prepare them.
    pub fn wanted(&self) -> Vec<ColumnRead> {
        let needs = self.needs();
        let wanted: Vec<ColumnRead> =
            needs.iter().flat_map(Need::all_wanted).chain(self.rows().wanted()).collect();
        // What is computed is made of columns of the source.
        let mut wanted = self.rows().derived().of_file(&wanted);
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// What can be told of the answer before any data is read.
    pub fn expected(&self) -> Expected {
        if !self.batch {
            return self.parts[0].expected();
        }
        let words: Vec<String> = self.parts.iter().map(|part| part.expected().words).collect();
        Expected { error: None, words: words.join("; ") }
    }

    /// Whether the columns that it needs can be read at all. Only the schema is asked, so it is free.
    pub fn readable_in(&self, source: &dyn Source) -> Result<(), PlanError> {
        for ColumnRead { column, kind } in self.wanted() {
            if let Some(line) = source.unreadable(column) {
                return Err(PlanError::about(Argument::Column, line));
            }
            if kind != ColumnType::Text && source.is_only_text(column) {
                let name = wording::shown(source.columns().get(column).map_or("", String::as_str));
                let problem = format!(
                    "the column '{name}' holds bytes of a fixed length, which are texts and cannot be read as {kind}"
                );
                return Err(PlanError::about(Argument::Column, problem)
                    .hint("ask for count, mode, histogram or select, and compare it with text"));
            }
        }
        Ok(())
    }

    pub(crate) fn task(&self) -> &crate::task::Task {
        &self.parts[0].task
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(crate) fn needs(&self) -> Vec<Need> {
        match &self.together {
            Some(one) => one.task.needs(),
            None => self.parts.iter().flat_map(|part| part.task.needs()).collect(),
        }
    }

    /// One answer for each question. Never fails, whatever was gathered.
    pub(crate) fn answers<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Vec<Answer> {
        if let Some(one) = &self.together {
            return one.task.answer(gathered, coins);
        }
        let mut answers: Vec<Option<Answer>> = self.parts.iter().map(|_| None).collect();
        for pool in &self.pools {
            let told = pool.task.answers_group(None, gathered, coins);
            for (&question, answer) in pool.questions.iter().zip(told) {
                answers[question] = Some(answer);
            }
        }
        let others = self.parts.iter().zip(answers);
        others.map(|(part, told)| told.unwrap_or_else(|| part.task.answer(gathered, coins))).collect()
    }

    /// Are the keys of all questions found once, in one mechanism?
    pub fn has_one_selection(&self) -> bool {
        self.together.as_ref().is_some_and(|one| one.task.finds_keys())
    }
}

/// Questions that are planned, before anybody asks what they cost together.
struct Planned {
    parts: Vec<Part>,
    shared: Shared,
    together: Option<OneSelection>,
    composed: Option<Composed>,
    pools: Vec<Pool>,
}

impl Planned {
    /// The questions of a batch, whose computed columns are known. The error may be that of the question with this number.
    fn new(batch: &Batch, facts: &DataFacts) -> Result<Self, (Option<usize>, PlanError)> {
        let plain = Self::plain(batch, facts)?;
        Ok(composed::better(batch, facts).unwrap_or(plain))
    }

    /// The same, whose prices add up.
    fn plain(batch: &Batch, facts: &DataFacts) -> Result<Self, (Option<usize>, PlanError)> {
        let questions = batch.priced(facts).map_err(|error| (None, error))?;
        Self::of(batch, &questions, facts, None)
    }

    /// The same, whose losses are composed. Questions that share a draw share its price, and are added up.
    fn composed(batch: &Batch, facts: &DataFacts, terms: &Terms) -> Result<Self, (Option<usize>, PlanError)> {
        let own = Ratio::new(composed::OWN.0, composed::OWN.1);
        let questions = batch.priced_at(facts, &terms.factor, &own).map_err(|error| (None, error))?;
        if pools::runs(&questions, facts).iter().any(Run::is_pool) {
            return Err((None, PlanError::line("questions that share a draw are added up")));
        }
        let planned = Self::of(batch, &questions, facts, Some(terms))?;
        let lost = match &planned.together {
            Some(one) => vec![one.lost.clone()],
            None => planned.parts.iter().filter_map(|part| part.lost.clone()).collect(),
        };
        Ok(Self { composed: Some(terms.composed(lost)), ..planned })
    }

    fn of(
        batch: &Batch,
        questions: &[Request],
        facts: &DataFacts,
        composed: Option<&Terms>,
    ) -> Result<Self, (Option<usize>, PlanError)> {
        let runs = pools::runs(questions, facts);
        let pooled = runs.iter().any(Run::is_pool);
        if together::applies(batch) || (pooled && together::are_about_the_same_groups(batch)) {
            let planned = together::plan(questions, &runs, facts, composed);
            let (parts, shared, together) = planned.map_err(|(number, error)| (Some(number), error))?;
            return Ok(Self { parts, shared, together: Some(together), pools: Vec::new(), composed: None });
        }
        let mut parts: Vec<Option<Part>> = questions.iter().map(|_| None).collect();
        let (mut shared, mut pools) = (None, Vec::new());
        for run in &runs {
            let number = run.questions[0];
            let request = &questions[number];
            // Questions about groups that not all are about have mechanisms of their own.
            let common = if run.is_pool() && request.group_by.is_empty() {
                let planned = pools::plan(run, questions, facts);
                let (some, common, pool) = planned.map_err(|error| (Some(number), error))?;
                pools.push(pool);
                run.questions.iter().zip(some).for_each(|(&number, part)| parts[number] = Some(part));
                common
            } else {
                let mut common = None;
                for &number in &run.questions {
                    let planned = match composed {
                        Some(terms) => Part::composed(&questions[number], facts, &terms.said.1),
                        None => Part::new(&questions[number], facts),
                    };
                    let (part, of_part) = planned.map_err(|error| (Some(number), error))?;
                    parts[number] = Some(part);
                    common = Some(of_part);
                }
                common.expect("a run has a question")
            };
            let differs = |shared: &Shared| shared.rows.bound() != common.rows.bound();
            if shared.as_ref().is_some_and(differs) {
                return Err((None, other_rows(request)));
            }
            shared = Some(common);
        }
        let parts = parts.into_iter().flatten().collect();
        let shared = shared.expect("a batch has a question");
        Ok(Self { parts, shared, together: None, pools, composed: None })
    }
}

/// Questions of a batch are about the same rows.
fn other_rows(request: &Request) -> PlanError {
    if request.max_groups_per_unit.is_none() {
        return PlanError::about(
            Argument::MaxRowsPerUnit,
            "mode, top and select count each person once for each value of their column, and the questions of a batch share their rows",
        )
        .hint("give `max_rows_per_unit=1` to count drawn rows in all of them, or ask them apart");
    }
    PlanError::about(
        Argument::MaxGroupsPerUnit,
        "with `max_groups_per_unit` all questions of a batch are grouped by the same columns",
    )
    .hint("ask the others apart")
}
