//! Public edges between which rows are counted, and how many rows lie between them.
//!
//! Which bin a row lies in depends on the row and on public words alone, so that one row is in one bin or in none. Edges are the numbers that
//! are shown: a row that equals an edge as it is written lies behind it.

use crate::{
    bar,
    error::PlanError,
    lattice::{float_ends, whole_ends},
    need::Need,
    row_facts::{
        RowFacts,
        bins::{Bins, OnEdge, last_multiple, multiple},
    },
    source::ColumnType,
    statistic::Argument,
};
use equipoise_core::{ratio::Ratio, wording};
use serde_json::json;
use std::collections::BTreeMap;

/// So many bins at most: more are no picture any more.
pub(super) const MOST: u64 = 10_000;

/// Edges in their order, each above the one before.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Edges {
    Floats(Vec<f64>),
    /// Of a whole type, as the whole numbers inside.
    Wholes(ColumnType, Vec<i64>),
}

/// Multiples of a width, all that there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Multiples {
    /// Of this over that: 0.1 is 1 over 10, so that the third multiple is 0.3 and not next to it.
    Floats { over: f64, under: f64 },
    /// Of so many whole numbers of a type.
    Wholes(ColumnType, i64),
}

impl Edges {
    /// So many bins of one length between the ends of a range.
    pub fn bins(kind: ColumnType, range: &str, bins: &str) -> Result<Self, PlanError> {
        let wrong = || not_accepted(Argument::Bins, bins, "give a whole number from 1 to 10000, such as 20");
        let many: u64 = bins.trim().parse().map_err(|_| wrong())?;
        if !(1..=MOST).contains(&many) {
            return Err(wrong());
        }
        let part = |place: u64| Ratio::from(place) / Ratio::from(many);
        let edges = if kind.is_whole() {
            let (low, high) = whole_ends(kind, range)?;
            let length = Ratio::from(high) - Ratio::from(low);
            // Of the values of the type, those from the next whole number on lie behind an edge.
            let edge = |place| (Ratio::from(low) + &(&length * &part(place))).ceil_i64();
            (0..=many).map(edge).collect::<Option<_>>().map(|edges| Self::Wholes(kind, edges))
        } else {
            let (low, high) = float_ends(range)?;
            let (exact_low, exact_high) =
                Ratio::from_f64_shortest(low).zip(Ratio::from_f64_shortest(high)).ok_or_else(wrong)?;
            let length = &exact_high - &exact_low;
            let digit = last_digit(&(&length / &Ratio::from(many)));
            let edge = |place: u64| match place {
                0 => Some(low),
                place if place == many => Some(high),
                place => {
                    let digits = ((&exact_low + &(&length * &part(place))) / digit.clone()).round_i64()?;
                    Some((Ratio::from(digits) * &digit).to_f64())
                }
            };
            (0..=many).map(edge).collect::<Option<_>>().map(Self::Floats)
        };
        edges.filter(Self::are_in_order).ok_or_else(|| {
            not_accepted(Argument::Bins, bins, "the range has too few values for so many bins")
        })
    }

    /// The multiples of a width around a range.
    pub fn multiples(kind: ColumnType, range: &str, width: &str) -> Result<Self, PlanError> {
        let steps = Multiples::of(kind, width)?;
        let (first, last) = match steps {
            Multiples::Wholes(kind, width) => {
                let (low, high) = whole_ends(kind, range)?;
                let last = high.div_euclid(width) + i64::from(high.rem_euclid(width) > 0);
                (low.div_euclid(width), last.max(low.div_euclid(width) + 1))
            }
            Multiples::Floats { .. } => {
                let (low, high) = float_ends(range)?;
                let last = steps.of_number(high);
                (steps.of_number(low), if steps.number(last) < high { last + 1 } else { last })
            }
        };
        let few = u64::try_from(last.saturating_sub(first)).is_ok_and(|bins| bins <= MOST);
        let edges = match steps {
            _ if !few => None,
            Multiples::Floats { .. } => {
                Some(Self::Floats((first..=last).map(|place| steps.number(place)).collect()))
            }
            Multiples::Wholes(kind, width) => {
                let edges = (first..=last).map(|place| place.checked_mul(width)).collect::<Option<_>>();
                edges.map(|edges| Self::Wholes(kind, edges))
            }
        };
        let accepted = "the range has more than 10000 of them; give a larger one";
        edges.filter(Self::are_in_order).ok_or_else(|| not_accepted(Argument::Width, width, accepted))
    }

    /// Stated points of a type.
    pub fn points(kind: ColumnType, texts: &str) -> Result<Self, PlanError> {
        let points: Vec<&str> = texts.split(',').map(str::trim).collect();
        let wholes = || points.iter().map(|text| kind.read(text)).collect::<Option<Vec<i64>>>();
        let floats = || {
            points.iter().map(|text| Some(text.parse::<Ratio>().ok()?.to_f64())).collect::<Option<Vec<f64>>>()
        };
        let edges = if kind.is_whole() {
            wholes().map(|points| Self::Wholes(kind, points))
        } else {
            floats().map(Self::Floats)
        };
        let few = points.len() as u64 <= MOST;
        let accepted = format!("give at most {MOST} values of the type {kind}, in growing order");
        edges
            .filter(|edges| few && edges.are_in_order())
            .ok_or_else(|| not_accepted(Argument::At, texts, &accepted))
    }

    fn are_in_order(&self) -> bool {
        match self {
            Self::Floats(edges) => {
                edges.windows(2).all(|pair| pair[0] < pair[1]) && edges.iter().all(|edge| edge.is_finite())
            }
            Self::Wholes(_, edges) => edges.windows(2).all(|pair| pair[0] < pair[1]),
        }
    }

    /// How many edges there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Floats(edges) => edges.len(),
            Self::Wholes(_, edges) => edges.len(),
        }
    }

    /// How many rows lie before the first edge, between edges, and behind the last one. Rows without a number lie nowhere.
    pub fn counts(&self, rows: &dyn RowFacts, need: &Need, on_edge: OnEdge) -> Vec<u64> {
        let bins = match self {
            Self::Floats(edges) => Bins::Between { edges: edges.clone(), on_edge },
            Self::Wholes(_, edges) => Bins::BetweenWholes { edges: edges.clone(), on_edge },
        };
        let counts = rows.bins(need, &bins);
        (0..).take(self.len() + 1).map(|bin| counts.get(&bin).copied().unwrap_or_default()).collect()
    }

    /// An edge as text.
    pub fn text(&self, place: usize) -> String {
        match self {
            Self::Floats(edges) => bar::value(&json!(edges[place])),
            Self::Wholes(kind, edges) => kind.write(edges[place]),
        }
    }

    /// What each of the counts is of, in words.
    pub fn labels(&self) -> Vec<String> {
        let last = self.len() - 1;
        let between = (0..last).map(|place| between(&self.text(place), &self.text(place + 1)));
        let below = format!("below {}", self.text(0));
        [below].into_iter().chain(between).chain([format!("above {}", self.text(last))]).collect()
    }
}

impl Multiples {
    /// Multiples of a width in the column's unit: days, seconds, or numbers.
    pub fn of(kind: ColumnType, width: &str) -> Result<Self, PlanError> {
        let accepted = match kind {
            ColumnType::Date => "give a whole number of days, such as 7",
            ColumnType::Timestamp => "give seconds, such as 3600",
            ColumnType::Float => "give a number above 0 with at most 15 digits, such as 500",
            _ => "give a number above 0 that is a value of the column's type, such as 10",
        };
        let wrong = || not_accepted(Argument::Width, width, accepted);
        let exact: Ratio = width.trim().parse().map_err(|_| wrong())?;
        let whole = |number: &Ratio| number.floor_i64().filter(|_| number.is_integer());
        if kind.is_whole() {
            let wholes = whole(&(exact * &Ratio::from(kind.units()))).filter(|&wholes| wholes > 0);
            return wholes.map(|wholes| Self::Wholes(kind, wholes)).ok_or_else(wrong);
        }
        // A decimal of at most 15 digits is a whole number below 2^53 over a power of ten below it.
        let mut under = Ratio::one();
        for _ in 0..16 {
            if let Some(over) = whole(&(&exact * &under))
                && (1..1_000_000_000_000_000).contains(&over)
            {
                return Ok(Self::Floats { over: over as f64, under: under.to_f64() });
            }
            under = under * &Ratio::from(10u64);
        }
        Err(wrong())
    }

    /// The multiple with this number: the double next to it.
    fn number(self, place: i64) -> f64 {
        match self {
            Self::Floats { over, under } => multiple(over, under, place),
            Self::Wholes(kind, width) => kind.number(place.saturating_mul(width)),
        }
    }

    /// The last multiple that is not above a number.
    fn of_number(self, number: f64) -> i64 {
        let Self::Floats { over, under } = self else { unreachable!("of floats") };
        last_multiple(over, under, number)
    }

    /// How many rows lie behind each multiple, up to the next one.
    pub fn counts(self, rows: &dyn RowFacts, need: &Need) -> BTreeMap<i64, u64> {
        let bins = match self {
            Self::Floats { over, under } => Bins::Multiples { over, under },
            Self::Wholes(_, width) => Bins::MultiplesOfWholes { width },
        };
        rows.bins(need, &bins)
    }

    /// The bin behind a multiple in words.
    pub fn label(self, place: i64) -> String {
        let text = |place: i64| match self {
            Self::Floats { .. } => bar::value(&json!(self.number(place))),
            Self::Wholes(kind, width) => kind.write(place.saturating_mul(width)),
        };
        between(&text(place), &text(place.saturating_add(1)))
    }
}

fn between(low: &str, high: &str) -> String {
    format!("{low} .. {high}")
}

/// The power of ten that edges of bins of this length are rounded to: a thousandth of it or less.
fn last_digit(length: &Ratio) -> Ratio {
    let ten = Ratio::from(10u64);
    let wanted = length / &Ratio::from(1000u64);
    let mut digit = Ratio::one();
    while digit > wanted {
        digit = digit / ten.clone();
    }
    while &digit * &ten <= wanted {
        digit = digit * &ten;
    }
    digit
}

fn not_accepted(argument: Argument, text: &str, accepted: &str) -> PlanError {
    let problem = format!("{} {} is not accepted:", argument.name(), wording::shown(text));
    PlanError::about(argument, problem).hint(accepted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gather::ScanResult, source::ColumnRead};

    #[test]
    fn edges_by_hand() {
        let floats = |range, bins| Edges::bins(ColumnType::Float, range, bins).unwrap();
        assert_eq!(floats("0,1000", "4"), Edges::Floats(vec![0.0, 250.0, 500.0, 750.0, 1000.0]));
        // Edges are rounded to what people read, and counted as they are read.
        assert_eq!(floats("0,1", "3"), Edges::Floats(vec![0.0, 0.3333, 0.6667, 1.0]));
        assert_eq!(floats("0.5,1e9", "2"), Edges::Floats(vec![0.5, 500_000_000.0, 1e9]));
        let wholes = Edges::bins(ColumnType::Integer, "0,10", "4").unwrap();
        assert_eq!(wholes, Edges::Wholes(ColumnType::Integer, vec![0, 3, 5, 8, 10]));
        let tenths = Edges::multiples(ColumnType::Float, "0.15,0.4", "0.1").unwrap();
        assert_eq!(tenths, Edges::Floats(vec![0.1, 0.2, 0.3, 0.4]));
        assert_eq!(tenths.labels(), ["below 0.1", "0.1 .. 0.2", "0.2 .. 0.3", "0.3 .. 0.4", "above 0.4"]);
        let weeks = Edges::multiples(ColumnType::Date, "1970-01-02,1970-01-20", "7").unwrap();
        assert_eq!(
            weeks.labels()[1..4],
            ["1970-01-01 .. 1970-01-08", "1970-01-08 .. 1970-01-15", "1970-01-15 .. 1970-01-22"]
        );
        let cents = Edges::multiples(ColumnType::Decimal { digits: 2 }, "-1,1", "0.75").unwrap();
        assert_eq!(cents, Edges::Wholes(ColumnType::Decimal { digits: 2 }, vec![-150, -75, 0, 75, 150]));
    }

    #[test]
    fn rows_on_edges_lie_where_it_is_said() {
        let rows = [-0.1, 0.1, 0.2, 0.3, 0.4, 0.41, f64::NAN, f64::INFINITY];
        let numbers = Need::Floats(0);
        let mut found = ScanResult::default();
        found.lend_floats(&numbers, &rows);
        let edges = Edges::multiples(ColumnType::Float, "0.1,0.4", "0.1").unwrap();
        // The last bin has its own end.
        assert_eq!(edges.counts(&found, &numbers, OnEdge::Behind), [1, 1, 1, 2, 2]);
        assert_eq!(edges.counts(&found, &numbers, OnEdge::Before), [2, 1, 1, 1, 2]);
        let steps = Multiples::of(ColumnType::Float, "0.1").unwrap();
        let counts: Vec<(String, u64)> = steps
            .counts(&found, &numbers)
            .into_iter()
            .take(5)
            .map(|(place, count)| (steps.label(place), count))
            .collect();
        let expected =
            [("-0.1 .. 0", 1), ("0.1 .. 0.2", 1), ("0.2 .. 0.3", 1), ("0.3 .. 0.4", 1), ("0.4 .. 0.5", 2)];
        assert_eq!(counts, expected.map(|(label, count)| (label.to_string(), count)));
        let days = Need::Wholes(ColumnRead { column: 1, kind: ColumnType::Date });
        found.lend_wholes(&days, &[-1, 0, 6, 7], 3);
        let weeks = Multiples::of(ColumnType::Date, "7").unwrap();
        let counts = weeks.counts(&found, &days);
        assert_eq!(counts, [(-1, 1), (0, 2), (1, 1)].into());
    }

    #[test]
    fn impossible_edges_say_what_to_do() {
        for (edges, line) in [
            (
                Edges::bins(ColumnType::Float, "0,1", "0"),
                "bins 0 is not accepted: give a whole number from 1 to 10000",
            ),
            (Edges::bins(ColumnType::Integer, "0,3", "7"), "the range has too few values for so many bins"),
            (Edges::bins(ColumnType::Float, "1,0", "7"), "give LO,HI"),
            (Edges::multiples(ColumnType::Float, "0,1e9", "1"), "the range has more than 10000 of them"),
            (
                Edges::multiples(ColumnType::Date, "2020-01-01,2020-12-31", "0.5"),
                "give a whole number of days",
            ),
            (Edges::multiples(ColumnType::Float, "0,1", "-1"), "give a number above 0"),
        ] {
            let error = edges.unwrap_err().to_string();
            assert!(error.contains(line), "{error}");
        }
    }
}
