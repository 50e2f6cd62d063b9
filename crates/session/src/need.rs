//! What questions need of the rows, as values: a scan finds it, here or elsewhere.

use crate::source::{ColumnRead, ColumnType};

/// The texts of the columns that a group agrees in; none for an empty field.
pub(crate) type Key = Vec<Option<String>>;

/// What a question needs of the rows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Need {
    /// How many records there are.
    Records,
    /// How many fields of a column are not empty, or can be read as a whole type.
    Present(ColumnRead),
    /// All numbers of a column.
    Floats(usize),
    /// All values of a column of a whole type.
    Wholes(ColumnRead),
    /// Each text of a column, or each value of a whole type, and how many records have it; empty fields are one more.
    Tally(ColumnRead),
    /// How many rows of a column lie in each cell of the lattice that ranges are searched on.
    Cells(ColumnRead),
    /// The numbers of two columns in each record that has both.
    Pairs(ColumnRead, ColumnRead),
    /// The numbers of some columns in each record that has all of them.
    Table(Vec<ColumnRead>),
    /// The same for each group of records that agree in these columns.
    Grouped {
        /// The columns whose texts, or values of a whole type, are the key.
        by: Vec<ColumnRead>,
        /// What is needed of each group.
        need: Box<Need>,
    },
}

impl Need {
    /// The cells that it is found in, keys aside.
    pub fn wanted(&self) -> Option<ColumnRead> {
        match self {
            Self::Records | Self::Table(_) => None,
            &Self::Present(wanted)
            | &Self::Tally(wanted)
            | &Self::Wholes(wanted)
            | &Self::Cells(wanted)
            | &Self::Pairs(wanted, _) => Some(wanted),
            &Self::Floats(column) => Some(ColumnRead { column, kind: ColumnType::Float }),
            Self::Grouped { need, .. } => need.wanted(),
        }
    }

    /// The cells of its second column, where it has two.
    pub fn second(&self) -> Option<ColumnRead> {
        match self {
            &Self::Pairs(_, second) => Some(second),
            Self::Grouped { need, .. } => need.second(),
            _ => None,
        }
    }

    /// All cells that it needs.
    pub fn all_wanted(&self) -> impl Iterator<Item = ColumnRead> {
        self.wanted().into_iter().chain(self.second()).chain(self.table().iter().copied()).chain(self.keys())
    }

    /// The cells of all its columns, where it has any number of them.
    pub fn table(&self) -> &[ColumnRead] {
        match self {
            Self::Table(columns) => columns,
            _ => &[],
        }
    }

    /// The cells of its key.
    pub fn keys(&self) -> impl Iterator<Item = ColumnRead> {
        let by: &[ColumnRead] = match self {
            Self::Grouped { by, .. } => by,
            _ => &[],
        };
        by.iter().copied()
    }
}
