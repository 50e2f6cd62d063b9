//! Calendar windows in UTC: days, weeks, months, quarters and years, each with one spelling.
//!
//! # Guarantee
//!
//! Windows of one length do not overlap and leave no day out: every day from the year 1 to 9999 lies in exactly one of them
//! ([`Every::containing`]). What is read back from a spelling has that spelling ([`Window::named`]), so that one window is never two
//! budgets.

use std::{fmt, str::FromStr};

/// How long a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Every {
    /// `2026-11-18`.
    Day,
    /// From Monday to Sunday, numbered as ISO 8601 does: `2026-W47`.
    Week,
    /// `2026-11`.
    Month,
    /// `2026-Q4`.
    Quarter,
    /// `2026`.
    Year,
}

/// The first and the last day that windows are made of, counted from 1970-01-01.
const DAYS: (i64, i64) = (-719_162, 2_932_896);

impl Every {
    /// All of them, the shortest first.
    pub const ALL: [Self; 5] = [Self::Day, Self::Week, Self::Month, Self::Quarter, Self::Year];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
        }
    }

    /// How many of them the days of one calendar year lie in at most.
    pub fn most_in_a_year(self) -> u64 {
        match self {
            Self::Day => 366,
            // A leap year that begins on a Sunday.
            Self::Week => 54,
            Self::Month => 12,
            Self::Quarter => 4,
            Self::Year => 1,
        }
    }

    /// The spelling of one of them.
    pub fn example(self) -> &'static str {
        match self {
            Self::Day => "2026-11-18",
            Self::Week => "2026-W47",
            Self::Month => "2026-11",
            Self::Quarter => "2026-Q4",
            Self::Year => "2026",
        }
    }

    /// The window that a day lies in, counted from 1970-01-01; a day outside of the years 1 to 9999 counts as the nearest.
    pub fn containing(self, day: i64) -> Window {
        let day = day.clamp(DAYS.0, DAYS.1);
        let (year, month, _) = civil(day);
        let from_to = |(year, month): (i64, i64), (to_year, to_month): (i64, i64)| {
            (days(year, month, 1), days(to_year, to_month, 1) - 1)
        };
        let next = |month: i64, more: i64| (year + (month + more - 1) / 12, (month + more - 1) % 12 + 1);
        let (first, last) = match self {
            Self::Day => (day, day),
            // The first day of 1970 was a Thursday.
            Self::Week => (day - (day + 3).rem_euclid(7), day - (day + 3).rem_euclid(7) + 6),
            Self::Month => from_to((year, month), next(month, 1)),
            Self::Quarter => {
                let month = (month - 1) / 3 * 3 + 1;
                from_to((year, month), next(month, 3))
            }
            Self::Year => from_to((year, 1), (year + 1, 1)),
        };
        Window { every: self, first, last }
    }
}

impl FromStr for Every {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|every| every.name() == text).ok_or(())
    }
}

/// One window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window {
    every: Every,
    first: i64,
    last: i64,
}

impl Window {
    /// How long it is.
    pub fn every(self) -> Every {
        self.every
    }

    /// Its first day and its last one, counted from 1970-01-01.
    pub fn days(self) -> (i64, i64) {
        (self.first, self.last)
    }

    /// The one after it.
    #[must_use]
    pub fn next(self) -> Self {
        self.every.containing(self.last + 1)
    }

    /// Its spelling among those of its length.
    pub fn name(self) -> String {
        let (year, month, day) = civil(self.first);
        match self.every {
            Every::Day => format!("{year:04}-{month:02}-{day:02}"),
            Every::Week => {
                // A week belongs to the year of its Thursday.
                let thursday = self.first + 3;
                let (year, ..) = civil(thursday);
                format!("{year:04}-W{:02}", (thursday - days(year, 1, 1)) / 7 + 1)
            }
            Every::Month => format!("{year:04}-{month:02}"),
            Every::Quarter => format!("{year:04}-Q{}", (month - 1) / 3 + 1),
            Every::Year => format!("{year:04}"),
        }
    }

    /// The window of this spelling; nothing for any other text.
    pub fn named(every: Every, text: &str) -> Option<Self> {
        let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
        let year = number(0, 4)?;
        let day = match every {
            Every::Day => days(year, number(5, 7)?, number(8, 10)?),
            // The fourth of January is in the first week.
            Every::Week => days(year, 1, 4) + 7 * (number(6, 8)? - 1),
            Every::Month => days(year, number(5, 7)?, 1),
            Every::Quarter => days(year, 3 * number(6, 7)? - 2, 1),
            Every::Year => days(year, 1, 1),
        };
        // What has another spelling is none: `2026-13`, `+026`, a day that is not there.
        let found = every.containing(day);
        (found.name() == text).then_some(found)
    }
}

/// With its length, as entries have it: `month 2026-11`. No number of an entry reads so.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.every.name(), self.name())
    }
}

impl FromStr for Window {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let (every, name) = text.split_once(' ').ok_or(())?;
        Self::named(every.parse()?, name).ok_or(())
    }
}

/// The day counted from 1970-01-01 of a date, whatever its month and day are. Years begin in March, so that the leap day is their last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let months = year * 12 + (month - 3);
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
    let leap = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// The date of a day: the last one that does not begin later.
fn civil(day: i64) -> (i64, i64, i64) {
    // A year of 365.2425 days is at most one off.
    let guess = (day * 400).div_euclid(146_097) + 1970;
    let year = (guess - 1..=guess + 1).rev().find(|&year| days(year, 1, 1) <= day).unwrap_or(guess - 1);
    let month = (1..=12).rev().find(|&month| days(year, month, 1) <= day).unwrap_or(1);
    (year, month, day - days(year, month, 1) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn dates_are_those_of_the_clock() {
        for day in (0..2_932_896).step_by(97).chain([0, 59, 60, 11_016, 19_782, 2_932_896]) {
            let text = clock::at(u64::try_from(day).unwrap() * 86_400);
            assert_eq!(Every::Day.containing(day).name(), text[..10], "{day}");
        }
        assert_eq!(Every::Day.containing(DAYS.0).name(), "0001-01-01");
        assert_eq!(Every::Day.containing(DAYS.1).name(), "9999-12-31");
        assert_eq!(Every::Year.containing(i64::MIN).name(), "0001");
        assert_eq!(Every::Year.containing(i64::MAX).name(), "9999");
    }

    /// Every day of 420 years lies in one window of each length, between its first and its last day, and windows follow one another.
    #[test]
    fn windows_leave_no_day_out_and_none_twice() {
        for every in Every::ALL {
            let mut window = every.containing(-3000);
            for day in -3000..150_000 {
                let found = every.containing(day);
                if found != window {
                    assert_eq!((found, found.days().0), (window.next(), window.days().1 + 1), "{day}");
                    window = found;
                }
                assert!(window.days().0 <= day && day <= window.days().1, "{every:?} {day}");
            }
        }
    }

    #[test]
    fn one_window_has_one_spelling() {
        for every in Every::ALL {
            let mut window = every.containing(-1000);
            for _ in 0..800 {
                assert_eq!(Window::named(every, &window.name()), Some(window));
                assert_eq!(window.to_string().parse(), Ok(window));
                window = window.next();
            }
            assert_eq!(every.name().parse(), Ok(every));
            assert!(Window::named(every, every.example()).is_some());
        }
        for (every, wrong) in [
            (
                Every::Month,
                &["2026-13", "2026-00", "2026-1", "2026-011", "26-01", "2026-Q1", "", " 2026-01"][..],
            ),
            (Every::Quarter, &["2026-Q0", "2026-Q5", "2026-q1", "2026-01", "2026Q1"]),
            (Every::Week, &["2026-W00", "2025-W53", "2026-W54", "2026-47", "2026-w47"]),
            (Every::Day, &["2026-02-29", "2026-2-1", "2026-02-01T00:00:00Z", "2026-00-01"]),
            (Every::Year, &["+026", "0000", "20266", "202", "-001", "２０２６"]),
        ] {
            for text in wrong {
                assert_eq!(Window::named(every, text), None, "{text}");
            }
        }
        for wrong in ["2026-11", "months 2026-11", "month  2026-11", "month", "year 2026-11"] {
            assert!(wrong.parse::<Window>().is_err(), "{wrong}");
        }
    }

    /// Dates by hand: 2026 has 53 weeks, its first of January was a Thursday; 2020-W53 ends in 2021.
    #[test]
    fn weeks_are_those_of_iso_8601() {
        for (day, week) in [
            ("2026-01-01", "2026-W01"),
            ("2025-12-29", "2026-W01"),
            ("2026-12-31", "2026-W53"),
            ("2027-01-03", "2026-W53"),
            ("2021-01-03", "2020-W53"),
            ("2021-01-04", "2021-W01"),
            ("2026-11-18", "2026-W47"),
        ] {
            let day = Window::named(Every::Day, day).unwrap().days().0;
            assert_eq!(Every::Week.containing(day).name(), week);
        }
    }

    /// No calendar year has days in more windows than is said, and some has as many.
    #[test]
    fn a_year_lies_in_as_many_windows_as_is_said() {
        for every in Every::ALL {
            let counts = (1900..2320).map(|year| {
                let windows: std::collections::BTreeSet<Window> =
                    (days(year, 1, 1)..days(year + 1, 1, 1)).map(|day| every.containing(day)).collect();
                windows.len() as u64
            });
            assert_eq!(counts.max(), Some(every.most_in_a_year()), "{every:?}");
        }
    }
}
