//! Where rows lie among the possible answers, as a value that another process can be given.

use crate::lattice::{AnswerLattice, WrittenLattice};
use equipoise_core::{adjacency::Adjacency, stability::Range};
use serde::{Deserialize, Serialize};

/// The place of each row in a lattice of answers, cleaned for an adjacency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub(crate) struct Places {
    pub space: AnswerLattice,
    pub adjacency: Adjacency,
}

impl Places {
    /// All places that there are.
    pub fn range(&self) -> Range {
        self.space.range()
    }

    /// The rows themselves as places, in the same order: what engines elsewhere count.
    pub fn of_rows(&self) -> Self {
        Self { space: self.space.of_rows(), adjacency: self.adjacency }
    }

    /// The place of a row that has no value; nothing if it is dropped.
    pub fn of_nothing(&self) -> Option<i64> {
        self.space.null_place(self.adjacency)
    }
}

/// The same in plain numbers: the lattice, and the place of rows without a value, which are dropped where there is none.
#[derive(Serialize, Deserialize)]
struct Written {
    lattice: WrittenLattice,
    of_nothing: Option<i64>,
}

impl From<Places> for Written {
    fn from(places: Places) -> Self {
        Self { of_nothing: places.of_nothing(), lattice: places.space.written() }
    }
}

impl TryFrom<Written> for Places {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let space = AnswerLattice::read(&written.lattice).ok_or("no lattice")?;
        let adjacency = if written.of_nothing.is_some() { Adjacency::Replace } else { Adjacency::AddRemove };
        let places = Self { space, adjacency };
        if places.of_nothing() == written.of_nothing { Ok(places) } else { Err("another place".to_string()) }
    }
}
