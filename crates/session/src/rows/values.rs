//! The rows of a column as questions ask for them, whether they are floats or whole numbers inside.

use super::numbers::Numbers;
use crate::{lattice::AnswerLattice, source::ColumnType};
use equipoise_core::{
    adjacency::Adjacency,
    stability::{Reach, Window, bracket, reachable::Target},
};

/// All whole numbers of a column, and how many rows have none.
#[derive(Default)]
pub(crate) struct Wholes<'a> {
    pub numbers: Numbers<'a, i64>,
    pub nulls: u64,
}

/// The numbers of two columns in all records that have both, one after the other.
#[derive(Clone, Copy)]
pub(crate) struct Pairs<'g, 'a>(pub Option<&'g Numbers<'a>>);

impl Pairs<'_, '_> {
    /// How many records have both.
    pub fn count(self) -> u64 {
        let mut count = 0;
        self.each(|some| count += some.len() as u64);
        count
    }

    /// Hand over all pairs, some at a time. Both numbers of a record are always put away together.
    pub fn each(self, mut visit: impl FnMut(&[[f64; 2]])) {
        if let Some(numbers) = self.0 {
            numbers.each(|some| visit(some.as_chunks::<2>().0));
        }
    }
}

/// The numbers of some columns in all records that have all of them, one record after the other.
#[derive(Clone, Copy)]
pub(crate) struct Table<'g, 'a> {
    pub numbers: Option<&'g Numbers<'a>>,
    /// How many columns.
    pub width: usize,
}

impl Table<'_, '_> {
    /// How many records there are.
    pub fn count(self) -> u64 {
        let mut count = 0;
        self.each(|some| count += (some.len() / self.width) as u64);
        count
    }

    /// Hand over all records, some at a time, as numbers one after the other. Those of a record are always put away together.
    pub fn each(self, visit: impl FnMut(&[f64])) {
        if let Some(numbers) = self.numbers {
            numbers.each(visit);
        }
    }
}

/// All rows of a column.
#[derive(Clone, Copy)]
pub(crate) enum Values<'g, 'a> {
    /// Floats, not-a-number where there was none.
    Floats(&'g Numbers<'a>),
    /// Whole numbers of a type; nothing where no record was met.
    Wholes(ColumnType, Option<&'g Wholes<'a>>),
}

impl Values<'_, '_> {
    /// How many values there are; `with_nulls` counts rows without one too.
    pub fn count(self, with_nulls: bool) -> u64 {
        match self {
            Self::Floats(numbers) => numbers.count(with_nulls),
            Self::Wholes(_, None) => 0,
            Self::Wholes(_, Some(wholes)) => {
                let mut count = if with_nulls { wholes.nulls } else { 0 };
                wholes.numbers.each(|some| count += some.len() as u64);
                count
            }
        }
    }

    /// The rows around the target in a space of answers, cleaned for this adjacency.
    pub fn window_in(
        self,
        space: &AnswerLattice,
        target: Target,
        reach: Reach,
        adjacency: Adjacency,
    ) -> Window {
        match self {
            Self::Floats(numbers) => numbers.window_in(space, target, reach, adjacency),
            Self::Wholes(_, None) => {
                bracket::window::<i64>(&[], target, space.range(), reach, Adjacency::AddRemove)
            }
            Self::Wholes(_, Some(Wholes { numbers, nulls })) => {
                let more = space.null_place(adjacency).map(|place| (place, *nulls)).filter(|more| more.1 > 0);
                if let (Numbers::InMemory(all), None, true) = (numbers, more, space.is_plain()) {
                    return bracket::window(&all[..], target, space.range(), reach, Adjacency::AddRemove);
                }
                let place = |whole| Some(space.whole_place(whole));
                numbers.window(target, space.range(), reach, place, more)
            }
        }
    }

    /// All places in a space of answers, cleaned for this adjacency, in memory.
    pub fn places(self, space: &AnswerLattice, adjacency: Adjacency) -> Vec<i64> {
        match self {
            Self::Floats(numbers) => numbers.places(space, adjacency),
            Self::Wholes(_, None) => Vec::new(),
            Self::Wholes(_, Some(Wholes { numbers, nulls })) => {
                let mut places = Vec::new();
                numbers.each(|some| places.extend(some.iter().map(|&whole| space.whole_place(whole))));
                if let Some(place) = space.null_place(adjacency) {
                    let nulls = usize::try_from(*nulls).expect("places that fit in memory");
                    places.resize(places.len() + nulls, place);
                }
                places
            }
        }
    }

    /// Hand over the numbers of all rows, some at a time; not-a-number may be among them.
    pub fn each_number(self, mut visit: impl FnMut(&[f64])) {
        match self {
            Self::Floats(numbers) => numbers.each(visit),
            Self::Wholes(kind, wholes) => {
                let Some(wholes) = wholes else { return };
                let mut numbers = Vec::new();
                wholes.numbers.each(|some| {
                    for part in some.chunks(TOGETHER) {
                        numbers.clear();
                        numbers.extend(part.iter().map(|&whole| kind.number(whole)));
                        visit(&numbers);
                    }
                });
            }
        }
    }

    /// Hand over the whole numbers inside, some at a time; none where rows are floats.
    pub fn each_whole(self, visit: impl FnMut(&[i64])) {
        if let Self::Wholes(_, Some(wholes)) = self {
            wholes.numbers.each(visit);
        }
    }
}

/// So many numbers are converted together.
const TOGETHER: usize = 4096;
