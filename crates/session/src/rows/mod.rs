//! Which rows count, and how many of each person: the stage between a source and the questions.
//!
//! # Guarantee
//!
//! A question that sees rows through this stage, and loses at most (e, d) when one *row* comes or goes, loses at most
//! (k·e, d·(1 + e^e + … + e^((k-1)·e))) when one *person* comes or goes with all their rows
//! ([`Approx::steps`](equipoise_core::loss::Approx::steps)), where k is [`Rows::steps_per_unit`]: the rows of one person
//! that the stage lets through. Without a unit, a person is a row and k is one.
//!
//! # Why
//!
//! 1. The filter and the columns that are computed ([`derived`]) look at one record at a time, so a record that comes or goes does so
//!    after them, or not at all.
//! 2. A person is all records with one id, in the canonical form of [`id`]. A record without an id is nobody's and is
//!    dropped on its own.
//! 3. Which of a person's rows are kept is a function of that person's rows and of a key ([`bound`]), which is drawn for every scan
//!    and knows nothing of any row.
//! 4. Fix the key. Two files that differ in one person leave the same rows of everybody else, so what is left differs by the
//!    kept rows of that person, at most k of them, and the question loses at most what k steps lose. This holds for every key,
//!    known or not, and so for the average over keys. No property of the hash is used.
//! 5. Fix the key. One *row* more of a person who is there already makes the kept rows differ by at most two: either the new row is not
//!    among the first, or it is, and takes the place of at most one other. This is what a budget that counts single rows is
//!    charged: two steps, four where a row is replaced and its id with it. Where groups of a person are drawn too, a row may
//!    open a new group, which takes the place of at most one other with its R kept rows: R + 1 steps, and twice that
//!    ([`Bound::changed_by_row`]).
//! 6. Where a question counts values and a person once for each ([`bound::Step::Person`]), k is one whatever the number of rows: the question is
//!    calibrated for a person who adds one to the counts of any values at once.
//! 7. Under replace, a filter or a unit makes the number of rows private. A person who is replaced is one who goes and one
//!    who comes: twice the steps of add/remove.
//!
//! # Time and memory
//!
//! This stage is a part of the scan, whose time counts as public: it takes one pass over the rows, and with a unit one more over
//! what the first wrote. That second pass looks up each id in a table, and hashes the rows of people who have more of them than the bound, so its
//! time shows the size, and how rows are spread over people: a person with nearly all rows costs several times as much a row. Rows wait in memory up to a public limit, then in a
//! temporary file without a name ([`spill`]).

pub(crate) mod bound;
pub(crate) mod cells;
mod constants;
pub(crate) mod derived;
pub(crate) mod encode;
mod exact_sum;
pub(crate) mod filter;
pub(crate) mod id;
mod kept;
pub(crate) mod numbers;
pub(crate) mod per_unit;
pub(crate) mod plan;
mod rank;
pub(crate) mod spill;
pub(crate) mod values;

use crate::{
    source::{Batch, Cells, ColumnRead, Lost, Source, Visitor},
    unanswered::Unanswered,
};
use bound::{ALL_GROUPS, Bound, GroupLimit};
use derived::Derived;
use equipoise_core::coins::Words;
use equipoise_ledger::AskedWindows;
use filter::Filter;
use rank::RunKey;
use std::sync::Arc;

/// Which rows count. Chosen from public words; the default is all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    filter: Option<Filter>,
    /// The calendar windows that the filter leaves, where there are some.
    windows: Option<AskedWindows>,
    bound: Option<Bound>,
    derived: Arc<Derived>,
}

/// Threads and keys of one scan.
#[derive(Clone, Copy)]
pub(crate) struct ScanKeys {
    /// How many visitors take part, each on a thread of its own.
    pub count: usize,
    /// By which rows of people are drawn.
    run: RunKey,
    /// For tables of ids and keys. It balances work and carries no guarantee.
    pub table: [u64; 2],
}

impl ScanKeys {
    /// So many threads, with fresh keys; audits bring words that are written down.
    pub fn new<W: Words>(count: usize, coins: &mut W) -> Self {
        Self { count, run: RunKey::drawn(coins), table: [coins.word(), coins.word()] }
    }

    /// The key by which rows of people are drawn, as engines elsewhere are given it.
    pub fn run_key(&self) -> String {
        self.run.digits()
    }
}

impl Rows {
    /// Do all rows count, each on its own?
    pub fn are_all(&self) -> bool {
        self.filter.is_none() && self.bound.is_none()
    }

    /// The same where nothing of a person is drawn: all rows that the filter lets through, or one for each value; people's values are
    /// those of all their rows. For truths of public rows.
    pub fn undrawn(&self) -> Self {
        let made = !self.derived.per_unit().is_empty();
        let kept = self.bound.as_ref().filter(|bound| made || bound.step == bound::Step::Person);
        let all = |kept: &Bound| {
            let groups = kept.groups.clone().map(|groups| GroupLimit { most: ALL_GROUPS, ..groups });
            let rows = if kept.step == bound::Step::Person { kept.rows } else { u64::MAX };
            Bound { rows, groups, ..kept.clone() }
        };
        Self { bound: kept.map(all), ..self.clone() }
    }

    /// The same with computed columns behind those of the source.
    #[must_use]
    pub fn with_derived(self, derived: Derived) -> Self {
        Self { derived: Arc::new(derived), ..self }
    }

    /// Which records count, where some do not.
    pub fn filter(&self) -> Option<&Filter> {
        self.filter.as_ref()
    }

    /// The calendar windows whose rows alone count, where a limit renews by a column of days.
    pub fn windows(&self) -> Option<&AskedWindows> {
        self.windows.as_ref()
    }

    /// The columns that are computed.
    pub fn derived(&self) -> &Derived {
        &self.derived
    }

    /// How many steps of a question one person is at most.
    pub fn steps_per_unit(&self) -> u64 {
        self.bound.as_ref().map_or(1, Bound::steps_per_unit)
    }

    /// Does each person count once for each value?
    pub fn counts_people(&self) -> bool {
        self.bound.as_ref().is_some_and(|bound| bound.step == bound::Step::Person)
    }

    /// Is every person kept to at most so many rows, in at most so many groups of equal keys?
    pub fn bound(&self) -> Option<&Bound> {
        self.bound.as_ref()
    }

    /// The cells that decide which rows count.
    pub fn wanted(&self) -> Vec<ColumnRead> {
        let filter = self.filter.iter().flat_map(|filter| filter.wanted().iter().copied());
        filter.chain(self.bound.iter().flat_map(Bound::wanted)).collect()
    }

    /// Scan the source like [`Source::scan`], but hand over only the rows that count. There are as many visitors as
    /// [threads](ScanKeys).
    pub fn scan(
        &self,
        source: &dyn Source,
        wanted: &[ColumnRead],
        visitors: &mut [&mut dyn Visitor],
        hands: &ScanKeys,
    ) -> Result<(), Unanswered> {
        match &self.bound {
            None => Ok(self.filtered(source, wanted, visitors)?),
            Some(bound) => {
                let stage = bound.stage(wanted, self.derived.per_unit(), hands);
                let mut routers: Vec<bound::Router<'_>> = visitors.iter().map(|_| stage.router()).collect();
                let mut routing: Vec<&mut dyn Visitor> =
                    routers.iter_mut().map(|router| router as &mut dyn Visitor).collect();
                self.filtered(source, stage.wanted(), &mut routing)?;
                drop(routing);
                routers.into_iter().for_each(bound::Router::finish);
                stage.deliver(visitors)
            }
        }
    }

    fn filtered(
        &self,
        source: &dyn Source,
        wanted: &[ColumnRead],
        visitors: &mut [&mut dyn Visitor],
    ) -> Result<(), Lost> {
        let Some(filter) = &self.filter else { return self.derived.scan(source, wanted, visitors) };
        let mut all = wanted.to_vec();
        let places: Vec<usize> = filter.wanted().iter().map(|&one| place_of(one, &mut all)).collect();
        let mut sieves: Vec<filter::Sieve<'_>> = visitors
            .iter_mut()
            .map(|visitor| filter::Sieve::new(filter, &places, wanted.len(), &mut **visitor))
            .collect();
        let mut sieving: Vec<&mut dyn Visitor> =
            sieves.iter_mut().map(|sieve| sieve as &mut dyn Visitor).collect();
        self.derived.scan(source, &all, &mut sieving)
    }
}

/// The place of these cells among the wanted ones; added where they are not there yet.
fn place_of(one: ColumnRead, wanted: &mut Vec<ColumnRead>) -> usize {
    wanted.iter().position(|&other| other == one).unwrap_or_else(|| {
        wanted.push(one);
        wanted.len() - 1
    })
}

/// The text of a row; `None` where there is none, or where the cells are no texts.
pub(crate) fn text_at<'a>(cells: &Cells<'a>, row: usize) -> Option<&'a str> {
    match cells {
        Cells::Texts(texts) => texts[row],
        Cells::Coded { texts, codes } => texts.get(codes[row]? as usize).copied(),
        Cells::Floats(_) | Cells::Integers(_) => None,
    }
}

/// The same rows with the first so many columns.
fn first(batch: Batch<'_>, columns: usize) -> Batch<'_> {
    Batch { rows: batch.rows, cells: &batch.cells[..columns] }
}
