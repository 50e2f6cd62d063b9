//! The values that an answer can take: decimals of a few significant digits, all finite floats, a public range or grid of
//! them, or the whole numbers that a declared type has inside.
//!
//! Rank-based mechanisms need no bounds, because the finite floats are a finite lattice, and so are 64 bits. Fewer values make
//! better answers, so numbers are rounded to [`DIGITS`] significant digits where nothing else is said, each row on its own;
//! the resolution [`EXACT`] keeps every float. A declared range or resolution makes the lattice smaller still. Days and
//! moments lie between the years 1 and 9999 unless a range says otherwise; rows beyond are moved there.

use crate::{error::PlanError, source::ColumnType, statistic::Argument};
use equipoise_core::{
    adjacency::Adjacency,
    loss::ParameterError,
    ratio::Ratio,
    stability::{
        Range,
        digits::{Digits, MOST_DIGITS, Shape},
        lattice::{self, FLOATS, Grid},
    },
    wording,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How many significant digits quantiles have where nothing else is said; whole numbers below 10^10 have all of theirs.
pub(crate) const DIGITS: u32 = 7;
/// The same for what an interquartile range is the difference of.
pub(crate) const DIGITS_OF_DIFFERENCES: u32 = 9;
/// The resolution that keeps every float.
pub(crate) const EXACT: &str = "exact";
/// A declared range has at least so many decimals, or those of the most digits that floats have.
const LEAST_DECIMALS: u64 = 1_000_000;

/// A lattice of values, chosen from public words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerLattice {
    range: Range,
    lattice: Lattice,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Lattice {
    /// Every place stands for its float.
    Floats,
    /// Decimals of a few significant digits.
    Digits(Digits),
    /// Multiples of a step.
    Grid(Grid),
    /// Multiples of a step among the whole numbers of a type.
    Wholes { kind: ColumnType, step: i64 },
}

/// A lattice in plain numbers, for engines that count places elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WrittenLattice {
    lo: i64,
    hi: i64,
    of: WrittenPlaces,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenPlaces {
    /// A float's place is its ordinal.
    Floats,
    /// Decimals of so many digits ([`Shape`]).
    Digits { digits: u32, wholes: i32, lowest: i32, highest: i32 },
    /// The nearest multiple of a step, halves away from zero.
    Grid { step: String },
    /// The nearest multiple of so many whole numbers, halves up.
    Wholes { kind: ColumnType, step: i64 },
}

impl AnswerLattice {
    /// In plain numbers.
    pub fn written(&self) -> WrittenLattice {
        let of = match &self.lattice {
            Lattice::Floats => WrittenPlaces::Floats,
            Lattice::Digits(of) => {
                let Shape { digits, wholes, lowest, highest } = of.shape();
                WrittenPlaces::Digits { digits, wholes, lowest, highest }
            }
            Lattice::Grid(grid) => WrittenPlaces::Grid { step: grid.step().to_string() },
            Lattice::Wholes { kind, step } => WrittenPlaces::Wholes { kind: *kind, step: *step },
        };
        WrittenLattice { lo: self.range.lo(), hi: self.range.hi(), of }
    }

    /// As it was written; nothing where it was not.
    pub fn read(written: &WrittenLattice) -> Option<Self> {
        let lattice = match &written.of {
            WrittenPlaces::Floats => Lattice::Floats,
            &WrittenPlaces::Digits { digits, wholes, lowest, highest } => {
                let many = (1..=MOST_DIGITS).contains(&digits);
                let few = lowest >= -400 && highest <= 400 && lowest <= 0 && (-400..=15).contains(&wholes);
                let apart = i32::try_from(digits).is_ok_and(|digits| lowest + digits <= highest);
                (many && few && apart)
                    .then(|| Lattice::Digits(Digits::shaped(Shape { digits, wholes, lowest, highest })))?
            }
            WrittenPlaces::Grid { step } => Lattice::Grid(Grid::new(step.parse().ok()?).ok()?),
            &WrittenPlaces::Wholes { kind, step } if step > 0 => Lattice::Wholes { kind, step },
            WrittenPlaces::Wholes { .. } => return None,
        };
        Some(Self { range: Range::new(written.lo, written.hi).ok()?, lattice })
    }

    /// For values of this type, from `--range LO,HI` and `--resolution STEP`, where said; numbers without a step have so many
    /// digits.
    pub fn of(
        kind: ColumnType,
        range: Option<&str>,
        resolution: Option<&str>,
        digits: u32,
    ) -> Result<Self, PlanError> {
        if kind.is_whole() {
            return Self::wholes(kind, range, resolution.filter(|text| *text != EXACT));
        }
        match resolution {
            None => Self::decimals(range, digits),
            Some(EXACT) => Self::floats(range),
            Some(step) => Self::grid(range, step),
        }
    }

    /// Decimals of so many significant digits, or of a few more where a declared range would have hardly any of them.
    ///
    /// An end that is no such decimal still bounds the answers: the lattice has the decimals between both ends. Where not even
    /// the most digits have one, it has the floats of the range.
    fn decimals(range: Option<&str>, digits: u32) -> Result<Self, PlanError> {
        let Some(text) = range else {
            let digits = Digits::new(digits)?;
            return Ok(Self { range: digits.range(), lattice: Lattice::Digits(digits) });
        };
        let floats = Self::floats(range)?;
        let (lo, hi) = ends(text)?;
        for digits in digits..=MOST_DIGITS {
            let digits = Digits::new(digits)?;
            if let Some(range) = digits.between(&lo, &hi)
                && (range.width() >= LEAST_DECIMALS || digits.digits() == MOST_DIGITS)
            {
                return Ok(Self { range, lattice: Lattice::Digits(digits) });
            }
        }
        Ok(floats)
    }

    /// The same with this lattice of decimals, so that an audit can enumerate all of them.
    #[cfg(test)]
    pub fn of_digits(digits: Digits) -> Self {
        Self { range: digits.range(), lattice: Lattice::Digits(digits) }
    }

    /// Every float, or those of a range.
    fn floats(range: Option<&str>) -> Result<Self, PlanError> {
        let range = match range.map(ends).transpose()? {
            Some((lo, hi)) => lattice::range_of_floats(lo.to_f64(), hi.to_f64())?,
            None => FLOATS,
        };
        Ok(Self { range, lattice: Lattice::Floats })
    }

    fn wholes(kind: ColumnType, range: Option<&str>, resolution: Option<&str>) -> Result<Self, PlanError> {
        let (lo, hi) = match range {
            Some(text) => whole_ends(kind, text)?,
            None => widest(kind),
        };
        let step = resolution.map_or(Ok(1), |text| whole_step(kind, text))?;
        let (lo, hi) = (lo.div_euclid(step) + i64::from(lo.rem_euclid(step) > 0), hi.div_euclid(step));
        let none = "give one with a multiple in the range";
        let none = |_| ParameterError::out_of_range("resolution", resolution.unwrap_or_default(), none);
        Ok(Self { range: Range::new(lo, hi).map_err(none)?, lattice: Lattice::Wholes { kind, step } })
    }

    /// Multiples of a step.
    fn grid(range: Option<&str>, resolution: &str) -> Result<Self, PlanError> {
        let ends = range.map(ends).transpose()?;
        let step: Ratio = resolution.parse().map_err(|_| {
            ParameterError::out_of_range("resolution", resolution, "give a number such as 0.5, or exact")
        })?;
        let grid = Grid::new(step)?;
        let range = match &ends {
            Some((lo, hi)) => {
                let places = (lo / grid.step()).ceil_i64().zip((hi / grid.step()).floor_i64());
                let (lo, hi) = places.ok_or_else(|| {
                    ParameterError::out_of_range(
                        "resolution",
                        grid.step(),
                        "give one with fewer than 2^63 steps in the range",
                    )
                })?;
                Range::new(lo, hi).map_err(|_| {
                    ParameterError::out_of_range(
                        "resolution",
                        grid.step(),
                        "give one with a multiple in the range",
                    )
                })?
            }
            None => Range::WHOLE,
        };
        Ok(Self { range, lattice: Lattice::Grid(grid) })
    }

    /// The rows themselves as places, in the order of this lattice: every float, infinite ones too, or every whole number. What counts rows
    /// elsewhere knows these two maps and no other.
    pub fn of_rows(&self) -> Self {
        match self.lattice {
            Lattice::Wholes { kind, .. } => {
                Self { range: Range::WHOLE, lattice: Lattice::Wholes { kind, step: 1 } }
            }
            Lattice::Floats | Lattice::Digits(_) | Lattice::Grid(_) => {
                // The bits of an infinite float are next to those of the largest.
                let range = Range::new(FLOATS.lo() - 1, FLOATS.hi() + 1).expect("in order");
                Self { range, lattice: Lattice::Floats }
            }
        }
    }

    /// The place of a row that is given by its own place ([`of_rows`](Self::of_rows)). A larger row never has a smaller one.
    pub fn place_of_row(&self, row: i64) -> i64 {
        match self.lattice {
            Lattice::Wholes { .. } => self.whole_place(row),
            Lattice::Floats | Lattice::Digits(_) | Lattice::Grid(_) => {
                let size = f64::from_bits(row.unsigned_abs());
                let number = if row < 0 { -size } else { size };
                self.place(number, Adjacency::AddRemove).expect("a number")
            }
        }
    }

    /// The first and the last row at a place, by their own places; the last lies before the first where no row can have this place.
    pub fn rows_at(&self, place: i64) -> (i64, i64) {
        let all = self.of_rows().range;
        // Places rise with rows: the first row at a place or beyond is found by halves.
        let first = |place: i64| {
            let (mut low, mut high) = (all.lo(), all.hi());
            while low < high {
                // Rounded down, so that one end always moves.
                let middle = (low & high) + ((low ^ high) >> 1);
                if self.place_of_row(middle) < place {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        (first(place), if place < self.range.hi() { first(place + 1) - 1 } else { all.hi() })
    }

    /// The lattice as places.
    pub fn range(&self) -> Range {
        self.range
    }

    /// A row's place, cleaned for this adjacency; nothing if it is dropped.
    pub fn place(&self, row: f64, adjacency: Adjacency) -> Option<i64> {
        match &self.lattice {
            Lattice::Grid(grid) => grid.clean(Some(row), self.range, adjacency),
            Lattice::Digits(digits) => digits.clean(Some(row), self.range, adjacency),
            Lattice::Floats => lattice::clean_float(Some(row), self.range, adjacency),
            Lattice::Wholes { .. } => unreachable!("whole rows have whole places"),
        }
    }

    /// The place of a row that is a whole number inside: the nearest multiple of the step, halves up.
    pub fn whole_place(&self, row: i64) -> i64 {
        let step = i128::from(self.step());
        let nearest = (2 * i128::from(row) + step).div_euclid(2 * step);
        self.range.clamp(i64::try_from(nearest).expect("not farther out than the row"))
    }

    /// The place of a row without a value; nothing if it is dropped.
    pub fn null_place(&self, adjacency: Adjacency) -> Option<i64> {
        (adjacency == Adjacency::Replace).then_some(self.range.lo())
    }

    /// Can windows of ranks be taken of rows as they are? Every place stands for its row, float or whole, or rows are
    /// [rounded](Self::rounded) once the window is known.
    pub fn is_plain(&self) -> bool {
        matches!(self.lattice, Lattice::Floats | Lattice::Digits(_) | Lattice::Wholes { step: 1, .. })
    }

    /// How rows that were selected as floats are rounded, where they are.
    pub fn rounded(&self) -> Option<&Digits> {
        match &self.lattice {
            Lattice::Digits(digits) => Some(digits),
            Lattice::Floats | Lattice::Grid(_) | Lattice::Wholes { .. } => None,
        }
    }

    /// The multiples of what whole places are.
    fn step(&self) -> i64 {
        match self.lattice {
            Lattice::Wholes { step, .. } => step,
            Lattice::Floats | Lattice::Digits(_) | Lattice::Grid(_) => 1,
        }
    }

    /// The value at a place, as JSON.
    pub fn value(&self, place: i64) -> Value {
        match &self.lattice {
            Lattice::Wholes { kind, step } => kind.value(place.saturating_mul(*step)),
            Lattice::Floats | Lattice::Digits(_) | Lattice::Grid(_) => json!(self.number(place)),
        }
    }

    /// The distance between two places, as JSON; zero where they are the other way round.
    pub fn distance(&self, low: i64, high: i64) -> Value {
        match &self.lattice {
            Lattice::Wholes { kind, step } => {
                let places = (i128::from(high) - i128::from(low)).max(0);
                kind.distance(places * i128::from(*step))
            }
            Lattice::Floats | Lattice::Digits(_) | Lattice::Grid(_) => {
                json!(self.apart(low, high).max(0.0))
            }
        }
    }

    /// The length of a step as a number: of days in days, of moments in seconds.
    pub fn step_length(&self) -> f64 {
        match &self.lattice {
            Lattice::Wholes { kind, step } => kind.number(*step),
            Lattice::Floats | Lattice::Digits(_) | Lattice::Grid(_) => self.apart(0, 1),
        }
    }

    /// What its values are, where they are not plain numbers.
    pub fn kind(&self) -> Option<ColumnType> {
        match self.lattice {
            Lattice::Wholes { kind, .. } => Some(kind),
            Lattice::Floats | Lattice::Digits(_) | Lattice::Grid(_) => None,
        }
    }

    /// The number at a place, as the nearest finite float.
    fn number(&self, place: i64) -> f64 {
        match &self.lattice {
            Lattice::Grid(grid) => finite(grid.value(place).to_f64()),
            Lattice::Digits(digits) => digits.float(place),
            Lattice::Floats => lattice::float(FLOATS.clamp(place)).expect("the ordinal of a finite float"),
            Lattice::Wholes { kind, step } => kind.number(place.saturating_mul(*step)),
        }
    }

    /// The distance between two places, as the nearest finite float: of days in days, of moments in seconds.
    pub fn apart(&self, low: i64, high: i64) -> f64 {
        finite(match &self.lattice {
            Lattice::Grid(grid) => (grid.value(high) - grid.value(low)).to_f64(),
            Lattice::Digits(digits) => (digits.value(high) - digits.value(low)).to_f64(),
            Lattice::Floats | Lattice::Wholes { .. } => self.number(high) - self.number(low),
        })
    }
}

/// The values of a type that answers may have where no range is said.
fn widest(kind: ColumnType) -> (i64, i64) {
    let time = |text: &str| kind.read(text).expect("a day of the calendar");
    match kind {
        ColumnType::Boolean => (0, 1),
        ColumnType::Date => (time("0001-01-01"), time("9999-12-31")),
        ColumnType::Timestamp => (time("0001-01-01"), time("9999-12-31T23:59:59.999999")),
        _ => (i64::MIN, i64::MAX),
    }
}

/// The ends of a range as whole numbers of a type, the lower one not above the upper one.
pub(crate) fn whole_ends(kind: ColumnType, text: &str) -> Result<(i64, i64), PlanError> {
    let example = match kind {
        ColumnType::Date => "2000-01-01,2030-12-31",
        ColumnType::Timestamp => "2000-01-01T00:00,2030-12-31T23:59",
        ColumnType::Boolean => "0,1",
        _ => "0,100",
    };
    let wrong = || {
        let accepted = format!("give LO,HI of the type {kind} with LO at most HI, such as {example}");
        not_accepted(Argument::Range, text, &accepted)
    };
    let (lo, hi) = text.split_once(',').ok_or_else(wrong)?;
    let ends = if kind.is_time() || kind == ColumnType::Boolean {
        kind.read(lo).zip(kind.read(hi))
    } else {
        let units = Ratio::from(kind.units());
        let end = |text: &str| text.trim().parse::<Ratio>().ok().map(|end| end * &units);
        end(lo).and_then(|lo| lo.ceil_i64()).zip(end(hi).and_then(|hi| hi.floor_i64()))
    };
    match ends {
        Some((lo, hi)) if lo <= hi => Ok((lo, hi)),
        _ => Err(wrong()),
    }
}

fn not_accepted(argument: Argument, text: &str, accepted: &str) -> PlanError {
    let problem = format!("{} {} is not accepted:", argument.name(), wording::shown(text));
    PlanError::about(argument, problem).hint(accepted)
}

/// A resolution as whole numbers of a type: days, seconds, or plain numbers.
fn whole_step(kind: ColumnType, text: &str) -> Result<i64, PlanError> {
    let accepted = match kind {
        ColumnType::Date => "give a whole number of days, such as 7".to_string(),
        ColumnType::Timestamp => "give seconds, such as 60 or 0.001".to_string(),
        ColumnType::Boolean => "a yes or no has none; leave it out".to_string(),
        ColumnType::Decimal { .. } => {
            format!("give a multiple of {}, the last digit of {kind}", kind.write(1))
        }
        _ => "give a whole number, such as 10".to_string(),
    };
    let wrong = || not_accepted(Argument::Resolution, text, &accepted);
    let step = text.trim().parse::<Ratio>().map_err(|_| wrong())? * &Ratio::from(kind.units());
    match step.ceil_i64().zip(step.floor_i64()) {
        Some((step, same)) if step == same && step > 0 && kind != ColumnType::Boolean => Ok(step),
        _ => Err(wrong()),
    }
}

/// An infinite answer would be null in JSON, which reads as no rows.
fn finite(value: f64) -> f64 {
    value.clamp(f64::MIN, f64::MAX)
}

/// The ends of a range as finite floats, the lower one below the upper one.
pub(crate) fn float_ends(text: &str) -> Result<(f64, f64), PlanError> {
    float_ends_of(Argument::Range, text)
}

/// The same of this argument.
pub(crate) fn float_ends_of(argument: Argument, text: &str) -> Result<(f64, f64), PlanError> {
    let (lo, hi) = ends_of(argument, text)?;
    let (lo, hi) = (lo.to_f64(), hi.to_f64());
    if lo < hi && lo.is_finite() && hi.is_finite() {
        return Ok((lo, hi));
    }
    Err(ParameterError::out_of_range(
        argument.name(),
        text,
        "give LO,HI as finite numbers with LO below HI, such as 0,100",
    )
    .into())
}

fn ends(text: &str) -> Result<(Ratio, Ratio), PlanError> {
    ends_of(Argument::Range, text)
}

fn ends_of(argument: Argument, text: &str) -> Result<(Ratio, Ratio), PlanError> {
    let wrong = || {
        ParameterError::out_of_range(
            argument.name(),
            text,
            "give LO,HI as finite numbers with LO at most HI, such as 0,100",
        )
    };
    let (lo, hi) = text.split_once(',').ok_or_else(wrong)?;
    let (lo, hi): (Ratio, Ratio) = lo.trim().parse().ok().zip(hi.trim().parse().ok()).ok_or_else(wrong)?;
    if lo > hi { Err(wrong().into()) } else { Ok((lo, hi)) }
}

pub(crate) fn not_a_number(name: &'static str, text: &str) -> PlanError {
    ParameterError::out_of_range(name, text, "give a number such as 0.5").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(space: &AnswerLattice, rows: &[f64], adjacency: Adjacency) -> Vec<i64> {
        rows.iter().filter_map(|&row| space.place(row, adjacency)).collect()
    }

    #[test]
    fn ranges_and_grids_become_places() {
        let numbers =
            |range, resolution| AnswerLattice::of(ColumnType::Float, range, resolution, DIGITS).unwrap();
        let floats = numbers(None, Some(EXACT));
        assert_eq!(floats.range(), FLOATS);
        assert_eq!(places(&floats, &[2.5, f64::NAN], Adjacency::AddRemove).len(), 1);
        assert_eq!(
            floats.number(places(&floats, &[2.5], Adjacency::AddRemove)[0]).to_bits(),
            2.5f64.to_bits()
        );
        let cents = numbers(Some("0,10"), Some("0.01"));
        assert_eq!(cents.range(), Range::new(0, 1000).unwrap());
        assert_eq!(places(&cents, &[1.234, -4.0, 1e300, f64::NAN], Adjacency::Replace), [123, 0, 1000, 0]);
        assert_eq!(cents.number(123).to_string(), "1.23");
        assert_eq!(cents.distance(10, 43), json!(0.33));
        assert_eq!(numbers(None, Some("1")).range(), Range::WHOLE);
        // An infinite distance would be null in JSON.
        let ends = places(&floats, &[-1.7e308, 1.7e308], Adjacency::AddRemove);
        assert_eq!(floats.distance(ends[0], ends[1]), json!(f64::MAX));
        let coarse = numbers(None, Some("1e300"));
        assert_eq!(coarse.number(i64::MIN).to_bits(), f64::MIN.to_bits());
    }

    #[test]
    fn numbers_without_a_step_are_decimals() {
        let numbers = |range, digits| AnswerLattice::of(ColumnType::Float, range, None, digits).unwrap();
        let digits = |space: &AnswerLattice| space.rounded().map(Digits::digits);
        let seven = numbers(None, DIGITS);
        assert_eq!(digits(&seven), Some(7));
        let place = |space: &AnswerLattice, row| space.place(row, Adjacency::AddRemove).unwrap();
        assert_eq!(seven.value(place(&seven, 36_637.169_21)), json!(36_637.17));
        assert_eq!(seven.value(place(&seven, f64::INFINITY)), json!(1.797_693e308));
        // A difference is that of the decimals: of floats it would be 0.20000000000000284.
        assert_eq!(seven.distance(place(&seven, 52.3), place(&seven, 52.5)), json!(0.2));
        assert_eq!(seven.place(f64::NAN, Adjacency::AddRemove), None);
        assert_eq!(seven.place(f64::NAN, Adjacency::Replace), Some(seven.range().lo()));
        for (range, wanted, low, high) in [
            ("0,100", Some(7), 0.0, 100.0),
            ("-1.234567891,5e8", Some(7), -1.234_567, 5e8),
            // Where seven digits have few values, more of them are used.
            ("52.3,52.7", Some(9), 52.3, 52.7),
            ("1700000000,1700086400", Some(12), 1.7e9, 1_700_086_400.0),
            ("5,5", Some(15), 5.0, 5.0),
            ("1.0000000000000001,1.0000000000000009", None, 1.0, 1.000_000_000_000_000_9),
        ] {
            let space = numbers(Some(range), DIGITS);
            assert_eq!(digits(&space), wanted, "{range}");
            let ends = [space.range().lo(), space.range().hi()].map(|place| space.number(place).to_bits());
            assert_eq!(ends, [low, high].map(f64::to_bits), "{range}");
            for row in [-1e300, 1e300, f64::NEG_INFINITY, f64::INFINITY] {
                let place = place(&space, row);
                assert_eq!(place, if row < 0.0 { space.range().lo() } else { space.range().hi() });
            }
        }
        assert_eq!(digits(&numbers(Some("0,100"), DIGITS_OF_DIFFERENCES)), Some(9));
        // Other types have none, and every value is what `exact` asks for.
        for kind in [ColumnType::Integer, ColumnType::Date, ColumnType::Decimal { digits: 2 }] {
            let plain = AnswerLattice::of(kind, None, None, DIGITS).unwrap();
            assert_eq!(AnswerLattice::of(kind, None, Some(EXACT), DIGITS).unwrap(), plain);
            assert_eq!(digits(&plain), None);
        }
    }

    #[test]
    fn whole_types_have_their_own_lattices() {
        let space =
            |kind: ColumnType, range, resolution| AnswerLattice::of(kind, range, resolution, DIGITS).unwrap();
        let days = space(ColumnType::Date, None, None);
        assert_eq!(days.range(), Range::new(-719_162, 2_932_896).unwrap());
        assert_eq!(days.value(days.whole_place(i64::MAX)), json!("9999-12-31"));
        assert_eq!(days.distance(10, 421), json!(411));
        let weeks = space(ColumnType::Date, Some("2026-01-01,2026-12-31"), Some("7"));
        assert_eq!(weeks.value(weeks.range().lo()), json!("2026-01-01"));
        assert_eq!(weeks.value(weeks.range().hi()), json!("2026-12-31"));
        let minutes = space(ColumnType::Timestamp, None, Some("60"));
        let moment = ColumnType::Timestamp.read("2026-02-28T12:30:30Z").unwrap();
        assert_eq!(minutes.value(minutes.whole_place(moment)), json!("2026-02-28T12:31:00Z"));
        assert_eq!(minutes.value(minutes.whole_place(moment - 1)), json!("2026-02-28T12:30:00Z"));
        assert_eq!(minutes.distance(0, 2), json!(120));
        let cents = space(ColumnType::Decimal { digits: 2 }, Some("0.001,10"), Some("0.05"));
        assert_eq!(cents.range(), Range::new(1, 200).unwrap());
        assert_eq!(cents.value(3), json!("0.15"));
        assert_eq!([2, 3, -70, 5000].map(|row| cents.whole_place(row)), [1, 1, 1, 200]);
        assert_eq!(space(ColumnType::Boolean, None, None).range(), Range::new(0, 1).unwrap());
        let wholes = space(ColumnType::Integer, None, None);
        for row in [i64::MIN, -1, (1 << 53) + 1, i64::MAX] {
            assert_eq!(wholes.value(wholes.whole_place(row)), json!(row));
        }
        for step in ["3", "9223372036854775807"] {
            let coarse = space(ColumnType::Integer, None, Some(step));
            for row in [i64::MIN, -2, 0, 1, i64::MAX] {
                assert!({
                    let place = coarse.whole_place(row);
                    coarse.range().clamp(place) == place
                });
            }
        }
        assert_eq!(
            [Adjacency::AddRemove, Adjacency::Replace].map(|adjacency| days.null_place(adjacency)),
            [None, Some(-719_162)]
        );
    }

    #[test]
    fn impossible_ranges_of_whole_types_say_what_to_do() {
        let cents = ColumnType::Decimal { digits: 2 };
        for (kind, range, resolution, said) in [
            (ColumnType::Date, Some("0,100"), None, "such as 2000-01-01,2030-12-31"),
            (ColumnType::Date, Some("2026-02-30,2027-01-01"), None, "of the type date"),
            (ColumnType::Date, Some("2027-01-01,2026-01-01"), None, "LO at most HI"),
            (ColumnType::Timestamp, Some("+294248-01-01,2026-01-01"), None, "of the type timestamp"),
            (ColumnType::Integer, Some("1.2,1.8"), None, "LO at most HI"),
            (ColumnType::Integer, Some("0,1e19"), None, "of the type integer"),
            (ColumnType::Boolean, Some("0"), None, "such as 0,1"),
            (cents, Some("a,b"), None, "of the type decimal:2"),
            (cents, None, Some("0.001"), "a multiple of 0.01"),
            (cents, None, Some("0"), "a multiple of 0.01"),
            (ColumnType::Date, None, Some("0.5"), "days"),
            (ColumnType::Timestamp, None, Some("0.0000001"), "seconds"),
            (ColumnType::Boolean, None, Some("1"), "leave it out"),
            (ColumnType::Integer, Some("1,2"), Some("5"), "multiple in the range"),
        ] {
            let error = AnswerLattice::of(kind, range, resolution, DIGITS).unwrap_err().to_string();
            assert!(
                error.contains(said) && !error.contains('\n'),
                "{kind} {range:?} {resolution:?}: {error}"
            );
        }
    }

    #[test]
    fn impossible_ranges_and_grids_say_what_to_do() {
        for (range, resolution, said) in [
            (Some("5,1"), None, "LO at most HI"),
            (Some("5"), None, "LO,HI"),
            (Some("a,b"), None, "LO,HI"),
            (Some("0,1e400"), None, "finite"),
            (None, Some("0"), "above 0"),
            (None, Some("-1"), "above 0"),
            (None, Some("fine"), "or exact"),
            (Some("0.2,0.4"), Some("1"), "multiple in the range"),
            (Some("0,1"), Some("1e-30"), "fewer than 2^63"),
        ] {
            let error =
                AnswerLattice::of(ColumnType::Float, range, resolution, DIGITS).unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains('\n'), "{range:?} {resolution:?}: {error}");
        }
    }
}
