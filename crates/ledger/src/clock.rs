//! The time of an entry: UTC to the second, as RFC 3339 writes it. Nothing is decided by it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970, for whoever has to know whether a time has come. A clock before 1970 counts as 1970.
pub fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// So many seconds after a time that [`at`] wrote; `None` for any other text.
pub fn after(time: &str, seconds: u64) -> Option<String> {
    let found = seconds_of(time)?;
    Some(at(found.checked_add(seconds)?))
}

/// The seconds since 1970 of a time that [`at`] wrote; `None` for any other text.
pub fn seconds_of(time: &str) -> Option<u64> {
    let number = |from: usize, to: usize| time.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hours, minutes, seconds) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    // Days are looked for from below: no year is longer than 366 of them, and no month than 31.
    let within = (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !within {
        return None;
    }
    let years_before = year - 1970;
    let leap_days = (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 - 477;
    let first = 365 * years_before + leap_days;
    let days = (first..first + 366).find(|&days| civil(days) == (year, month, day))?;
    let found = days * 86_400 + hours * 3600 + minutes * 60 + seconds;
    (at(found) == time).then_some(found)
}

/// Seconds since 1970 as a date and a time of day, such as `2026-01-31T09:05:00Z`. Leap seconds are not counted, as everywhere in POSIX.
pub fn at(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// The Gregorian date of a day counted from 1970-01-01. Years begin in March, so that the leap day is
/// their last, and months are found by one division.
fn civil(days: u64) -> (u64, u64, u64) {
    const TO_MARCH_OF_YEAR_0: u64 = 719_468;
    const DAYS_PER_400_YEARS: u64 = 146_097;
    let day = days + TO_MARCH_OF_YEAR_0;
    let (cycle, day) = (day / DAYS_PER_400_YEARS, day % DAYS_PER_400_YEARS);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    (400 * cycle + year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (86_399, "1970-01-01T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_000_000_000, "2001-09-09T01:46:40Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (2_147_483_648, "2038-01-19T03:14:08Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(at(seconds), text);
            assert_eq!(seconds_of(text), Some(seconds));
        }
        assert_eq!(after("1999-12-31T23:59:58Z", 3).as_deref(), Some("2000-01-01T00:00:01Z"));
        for wrong in [
            "",
            "now",
            "2024-02-30T00:00:00Z",
            "2024-02-29T24:00:00Z",
            "2024-2-29T00:00:00Z",
            "1969-12-31T23:59:59Z",
        ] {
            assert_eq!(after(wrong, 1), None, "{wrong}");
        }
    }

    /// Every day of 800 years, against counting month by month.
    #[test]
    fn every_day_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..292_194 {
            assert_eq!(civil(days), (year, month, day));
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + u64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > length {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
    }
}
