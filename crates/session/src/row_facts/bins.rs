//! Which bin a row lies in, by its value and public numbers alone.

use serde::{Deserialize, Serialize};

/// Beyond this many widths from zero rows lie in the first or last bin that there is.
const FARTHEST: f64 = (1u64 << 53) as f64;

/// Which of two bins a row on the edge between them lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OnEdge {
    /// In the one behind; only on the last edge, in the last bin.
    Behind,
    /// In the one behind, on the last edge too.
    AlwaysBehind,
    /// In the one before.
    Before,
}

/// Bins by number. A row without a value lies in none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bins {
    /// Before the first of these numbers, between them, and behind the last one: from zero on.
    Between { edges: Vec<f64>, on_edge: OnEdge },
    /// The same of values of a whole type.
    BetweenWholes { edges: Vec<i64>, on_edge: OnEdge },
    /// The last multiple of `over / under` that is not above a number. 0.1 is 1 over 10, so that the third multiple is 0.3 and not next to it.
    Multiples { over: f64, under: f64 },
    /// The same of values of a whole type.
    MultiplesOfWholes { width: i64 },
}

impl Bins {
    /// The bin of a number.
    pub fn of_number(&self, number: f64) -> i64 {
        match self {
            Self::Between { edges, on_edge } => place(edges, &number, *on_edge),
            Self::Multiples { over, under } => last_multiple(*over, *under, number),
            Self::BetweenWholes { .. } | Self::MultiplesOfWholes { .. } => unreachable!("bins of numbers"),
        }
    }

    /// The bin of a value of a whole type.
    pub fn of_whole(&self, whole: i64) -> i64 {
        match self {
            Self::BetweenWholes { edges, on_edge } => place(edges, &whole, *on_edge),
            Self::MultiplesOfWholes { width } => whole.div_euclid(*width),
            Self::Between { .. } | Self::Multiples { .. } => unreachable!("bins of whole numbers"),
        }
    }

    /// Do they hold values of a whole type?
    pub fn are_of_wholes(&self) -> bool {
        matches!(self, Self::BetweenWholes { .. } | Self::MultiplesOfWholes { .. })
    }

    /// How many bins there are, where that is public.
    pub fn many(&self) -> Option<usize> {
        match self {
            Self::Between { edges, .. } => Some(edges.len() + 1),
            Self::BetweenWholes { edges, .. } => Some(edges.len() + 1),
            Self::Multiples { .. } | Self::MultiplesOfWholes { .. } => None,
        }
    }
}

/// How many edges lie before a value.
fn place<T: PartialOrd>(edges: &[T], value: &T, on_edge: OnEdge) -> i64 {
    let place = match on_edge {
        OnEdge::Before => edges.partition_point(|edge| edge < value),
        OnEdge::Behind if edges.last() == Some(value) => edges.len() - 1,
        OnEdge::Behind | OnEdge::AlwaysBehind => edges.partition_point(|edge| edge <= value),
    };
    place.cast_signed() as i64
}

/// The multiple with this number: the double next to it.
pub(crate) fn multiple(over: f64, under: f64, place: i64) -> f64 {
    place as f64 * over / under
}

/// The last multiple that is not above a number.
#[expect(clippy::cast_possible_truncation, reason = "clamped to 2^53")]
pub(crate) fn last_multiple(over: f64, under: f64, number: f64) -> i64 {
    let near = (number / over * under).floor().clamp(-FARTHEST, FARTHEST) as i64;
    // Division may be off by one where a row lies on an edge.
    match near {
        near if multiple(over, under, near) > number => near - 1,
        near if multiple(over, under, near + 1) <= number => near + 1,
        near => near,
    }
    .clamp(-(1 << 53), 1 << 53)
}
