//! Which rows count, and how many of each person: the stage between a source and the questions.
//!
//! # Guarantee
//!
//! A question that sees rows through this stage, and loses at most (e, d) when one *row* comes or goes, loses at most
//! (k·e, d·(1 + e^e + … + e^((k-1)·e))) when one *person* comes or goes with all their rows
//! ([`Approx::steps`](equipoise_core::loss::Approx::steps)), where k is [`Rows::rows_per_unit`]: the rows of one person
//! that the stage lets through. Without a unit, a person is a row and k is one.
//!
//! # Why
//!
//! 1. The filter looks at one record at a time, so a record that comes or goes does so after it, or not at all.
//! 2. A person is all records with one id, in the canonical form of [`id`]. A record without an id is nobody's and is
//!    dropped on its own.
//! 3. Which of a person's rows are kept depends on that person's rows and on coins that no other person's rows decide
//!    with: a fresh draw for each row beyond the bound ([`bound`]). So the rows kept of different people are independent.
//! 4. Couple two files that differ in one person: let everybody else keep the same rows in both. What is left differs by the
//!    kept rows of that person, at most k of them, whatever the coins. For every such choice the question loses at most
//!    what k steps lose, and so does the average over choices.
//! 5. One *row* more of a person who is there already makes the kept rows differ by at most two: either the new row is not
//!    drawn, or it is, and takes the place of at most one other. The draws that the two files share have the same law either
//!    way. This is what a budget that counts single rows is charged: two steps, four where a row is replaced and its id
//!    with it. Where groups of a person are drawn too, a row may open a new group, which takes the place of at most one other
//!    with its R kept rows: R + 1 steps, and twice that ([`Bound::changed_by_row`]).
//! 6. Under replace, a filter or a unit makes the number of rows private. A person who is replaced is one who goes and one
//!    who comes: twice the steps of add/remove.
//!
//! # Time and memory
//!
//! This stage is a part of the scan, whose time counts as public: it takes one pass over the rows, and with a unit one more over
//! what the first wrote. That second pass draws for each row beyond the bound and looks up each id in a table, so its time
//! shows the size, and within that faintly how rows are spread over people. Rows wait in memory up to a public limit, then in a
//! temporary file without a name ([`spill`]).

pub(crate) mod bound;
mod constants;
pub(crate) mod encode;
pub(crate) mod filter;
pub(crate) mod id;
pub(crate) mod numbers;
pub(crate) mod plan;
pub(crate) mod spill;
pub(crate) mod values;

use crate::{
    source::{Batch, Cells, Lost, Source, Visitor, Wanted},
    unanswered::Unanswered,
};
use bound::Bound;
use equipoise_core::coins::{Coins, Words};
use equipoise_entropy::OsCoins;
use filter::Filter;

/// Which rows count. Chosen from public words; the default is all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    filter: Option<Filter>,
    bound: Option<Bound>,
}

/// Coins and threads of a scan: one for each visitor.
pub(crate) enum Hands<'a, C: Coins> {
    /// One thread, any coins: this is what audits enumerate.
    #[cfg_attr(
        not(any(test, debug_assertions)),
        expect(dead_code, reason = "audits run the same scan on coins of their own")
    )]
    One(&'a mut C),
    /// As many threads as coins, each its own.
    Several(&'a mut [OsCoins]),
}

impl<C: Coins> Hands<'_, C> {
    /// How many visitors take part.
    pub fn count(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Several(coins) => coins.len().max(1),
        }
    }

    /// A key for hashing ids and the keys of groups. The hash balances work and carries no guarantee, so one that is known serves audits.
    pub fn key(&mut self) -> [u64; 2] {
        match self {
            Self::One(_) => [0; 2],
            Self::Several(coins) => coins.first_mut().map_or([0; 2], |coins| [coins.word(), coins.word()]),
        }
    }
}

impl Rows {
    /// Do all rows count, each on its own?
    pub fn are_all(&self) -> bool {
        self.filter.is_none() && self.bound.is_none()
    }

    /// The same without a bound on a person's rows: all that the filter lets through. For truths of public rows.
    pub fn unbounded(&self) -> Self {
        Self { filter: self.filter.clone(), bound: None }
    }

    /// How many rows of one person are let through at most.
    pub fn rows_per_unit(&self) -> u64 {
        self.bound.as_ref().map_or(1, Bound::rows_per_unit)
    }

    /// Is every person kept to at most so many rows, in at most so many groups of equal keys?
    pub fn bound(&self) -> Option<&Bound> {
        self.bound.as_ref()
    }

    /// Do both draw groups by the same keys, or neither?
    pub fn groups_like(&self, other: &Self) -> bool {
        let groups = |rows: &Self| rows.bound.as_ref().and_then(|bound| bound.groups.clone());
        groups(self) == groups(other)
    }

    /// The cells that decide which rows count.
    pub fn wanted(&self) -> Vec<Wanted> {
        let filter = self.filter.iter().flat_map(|filter| filter.wanted().iter().copied());
        filter.chain(self.bound.iter().flat_map(Bound::wanted)).collect()
    }

    /// Scan the source like [`Source::scan`], but hand over only the rows that count. There are as many visitors as
    /// [hands](Hands::count).
    pub fn scan<C: Coins>(
        &self,
        source: &dyn Source,
        wanted: &[Wanted],
        visitors: &mut [&mut dyn Visitor],
        mut hands: Hands<'_, C>,
    ) -> Result<(), Unanswered> {
        let key = hands.key();
        match &self.bound {
            None => Ok(self.filtered(source, wanted, visitors)?),
            Some(bound) => {
                let stage = bound.stage(wanted, key);
                let mut routers: Vec<bound::Router<'_>> = visitors.iter().map(|_| stage.router()).collect();
                let mut routing: Vec<&mut dyn Visitor> =
                    routers.iter_mut().map(|router| router as &mut dyn Visitor).collect();
                self.filtered(source, stage.wanted(), &mut routing)?;
                drop(routing);
                routers.into_iter().for_each(bound::Router::finish);
                stage.deliver(visitors, hands)
            }
        }
    }

    fn filtered(
        &self,
        source: &dyn Source,
        wanted: &[Wanted],
        visitors: &mut [&mut dyn Visitor],
    ) -> Result<(), Lost> {
        let Some(filter) = &self.filter else { return source.scan(wanted, visitors) };
        let mut all = wanted.to_vec();
        let places: Vec<usize> = filter.wanted().iter().map(|&one| place_of(one, &mut all)).collect();
        let mut sieves: Vec<filter::Sieve<'_>> = visitors
            .iter_mut()
            .map(|visitor| filter::Sieve::new(filter, &places, wanted.len(), &mut **visitor))
            .collect();
        let mut sieving: Vec<&mut dyn Visitor> =
            sieves.iter_mut().map(|sieve| sieve as &mut dyn Visitor).collect();
        source.scan(&all, &mut sieving)
    }
}

/// The place of these cells among the wanted ones; added where they are not there yet.
fn place_of(one: Wanted, wanted: &mut Vec<Wanted>) -> usize {
    wanted.iter().position(|&other| other == one).unwrap_or_else(|| {
        wanted.push(one);
        wanted.len() - 1
    })
}

/// The text of a row; `None` where there is none, or where the cells are no texts.
fn text_at<'a>(cells: &Cells<'a>, row: usize) -> Option<&'a str> {
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
