//! What text is a day or a moment, by the Gregorian calendar in both directions of time.
//!
//! A day is `yyyy-mm-dd`; a year that does not have four digits has a sign (`-0044-03-15`, `+12026-01-01`; the year before 1 is 0).
//! A moment is a day, `T`, `t` or a space, `hh:mm`, perhaps `:ss`, perhaps a point (or comma) and any number of digits, perhaps `Z`, `z`,
//! `+hh:mm`, `-hh:mm`, `+hhmm` or `+hh`; without these it is in UTC. A day alone is its midnight. Digits beyond
//! microseconds are cut off, so that a moment is the microsecond in which it lies. Second 60 is the next minute.
//! Spaces and tabs around mean nothing. Nothing else is a day or a moment, and no other order of day and month is guessed.

use super::number::trimmed;

/// Days since 1970-01-01.
pub fn date(field: &[u8]) -> Option<i64> {
    let (day, rest) = day(trimmed(field))?;
    rest.is_empty().then_some(day)
}

/// Microseconds since 1970-01-01, midnight, in UTC.
pub fn timestamp(field: &[u8]) -> Option<i64> {
    let (day, rest) = day(trimmed(field))?;
    let (microseconds, offset_minutes) = match rest {
        [] => (0, 0),
        [b'T' | b't' | b' ', time @ ..] => time_of_day(time)?,
        _ => return None,
    };
    let minutes = i128::from(day) * i128::from(MINUTES_A_DAY) - i128::from(offset_minutes);
    i64::try_from(minutes * 60_000_000 + i128::from(microseconds)).ok()
}

const MINUTES_A_DAY: i64 = 24 * 60;

/// Days since 1970 from a year, month and day, by counting in years that begin in March and in their 400-year cycles.
pub(crate) fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (cycle, of_cycle) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_cycle = of_cycle * 365 + of_cycle / 4 - of_cycle / 100 + day_of_year;
    cycle * 146_097 + day_of_cycle - 719_468
}

/// The year, month and day of days since 1970: the inverse.
#[inline]
pub(crate) fn year_month_day(days: i64) -> (i64, i64, i64) {
    let days = days.saturating_add(719_468);
    // Days that somebody lived to see: fewer and shorter divisions.
    match u32::try_from(days) {
        Ok(days @ 0..0x2000_0000) => near(days),
        _ => far(days),
    }
}

/// Of days since the first of March of the year 0. Centuries and years are (4n + 3) over their length in quarters of a day, and the month is
/// the whole part of (2141·day + 197913)/2^16, as C. Neri and L. Schneider prove in "Euclidean affine functions and their application to
/// calendar algorithms". A test holds all days of three cycles, and the last ones, against [`far`].
#[inline]
fn near(days: u32) -> (i64, i64, i64) {
    let quarters = 4 * days + 3;
    let (century, day_of_century) = (quarters / 146_097, quarters % 146_097 / 4);
    let quarters = 4 * day_of_century + 3;
    let (year_of_century, day_of_year) = (quarters / 1461, quarters % 1461 / 4);
    let parts = 2141 * day_of_year + 197_913;
    let (month, day) = (parts >> 16, (parts & 0xffff) / 2141 + 1);
    // January and February belong to the next year.
    let next = day_of_year >= 306;
    let year = 100 * century + year_of_century + u32::from(next);
    (i64::from(year), i64::from(if next { month - 12 } else { month }), i64::from(day))
}

/// The same for all days that there are.
#[inline(never)]
fn far(days: i64) -> (i64, i64, i64) {
    let (cycle, day_of_cycle) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let of_cycle =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year = day_of_cycle - (365 * of_cycle + of_cycle / 4 - of_cycle / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    (cycle * 400 + of_cycle + i64::from(month <= 2), month, day)
}

/// A day as text that [`date`] reads back.
pub fn date_text(days: i64) -> String {
    let (year, month, day) = year_month_day(days);
    match year {
        0..=9999 => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{year:+05}-{month:02}-{day:02}"),
    }
}

/// A moment as text that [`timestamp`] reads back.
pub fn timestamp_text(microseconds: i64) -> String {
    let seconds = microseconds.div_euclid(1_000_000);
    let fraction = microseconds.rem_euclid(1_000_000);
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let mut text = format!("{}T{hour:02}:{minute:02}:{second:02}", date_text(day));
    if fraction > 0 {
        text.push_str(format!(".{fraction:06}").trim_end_matches('0'));
    }
    text + "Z"
}

/// The day at the beginning of a text, and what follows it.
fn day(text: &[u8]) -> Option<(i64, &[u8])> {
    let (negative, unsigned) = super::number::signed(text);
    let length = unsigned.iter().position(|byte| !byte.is_ascii_digit())?;
    let signed = unsigned.len() < text.len();
    let good_length = if signed { (4..=9).contains(&length) } else { length == 4 };
    let [b'-', m0, m1, b'-', d0, d1, rest @ ..] = &unsigned[length..] else { return None };
    let (year, month, day) = (digits(&unsigned[..length])?, digits(&[*m0, *m1])?, digits(&[*d0, *d1])?);
    let year = if negative { -year } else { year };
    let good = good_length && (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
    good.then(|| (days_since_1970(year, month, day), rest))
}

fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Microseconds since midnight, and the offset from UTC in minutes.
fn time_of_day(text: &[u8]) -> Option<(i64, i64)> {
    let [h0, h1, b':', m0, m1, rest @ ..] = text else { return None };
    let (hour, minute) = (digits(&[*h0, *h1])?, digits(&[*m0, *m1])?);
    let (second, rest) = match rest {
        [b':', s0, s1, rest @ ..] => (digits(&[*s0, *s1])?, rest),
        _ => (0, rest),
    };
    let (fraction, rest) = match rest {
        [b'.' | b',', rest @ ..] => {
            let length = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
            let (digits, rest) = rest.split_at(length);
            let digit = |place: usize| digits.get(place).map_or(0, |byte| i64::from(byte - b'0'));
            let value = (0..6).fold(0, |value, place| value * 10 + digit(place));
            ((length > 0).then_some(value)?, rest)
        }
        _ => (0, rest),
    };
    let good = hour < 24 && minute < 60 && second <= 60;
    let microseconds = ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction;
    good.then_some((microseconds, offset(rest)?))
}

/// Minutes that local time is ahead of UTC.
fn offset(text: &[u8]) -> Option<i64> {
    let (negative, unsigned) = match text {
        [] | [b'Z' | b'z'] => return Some(0),
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => return None,
    };
    let (hours, minutes) = match unsigned {
        [h0, h1] => ([*h0, *h1], *b"00"),
        [h0, h1, m0, m1] | [h0, h1, b':', m0, m1] => ([*h0, *h1], [*m0, *m1]),
        _ => return None,
    };
    let (hours, minutes) = (digits(&hours)?, digits(&minutes)?);
    let value = hours * 60 + minutes;
    (hours < 24 && minutes < 60).then_some(if negative { -value } else { value })
}

/// Digits and nothing else, few enough for 64 bits.
fn digits(text: &[u8]) -> Option<i64> {
    let step = |value: i64, &byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| i64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    };
    text.iter().try_fold(0, step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn near_days_are_those_of_the_longer_way() {
        let last = 0x2000_0000u32 - 1;
        for days in (0..3 * 146_097).chain(last - 400_000..=last) {
            assert_eq!(near(days), far(i64::from(days)), "{days}");
        }
    }

    #[test]
    fn days_by_hand() {
        let table = [
            ("1970-01-01", Some(0)),
            (" 1970-01-02\t", Some(1)),
            ("1969-12-31", Some(-1)),
            ("2000-02-29", Some(11_016)),
            ("2000-03-01", Some(11_017)),
            ("2026-02-28", Some(20_512)),
            ("1900-02-29", None),
            ("2024-02-29", Some(19_782)),
            ("2023-02-29", None),
            ("0000-03-01", Some(-719_468)),
            ("0001-01-01", Some(-719_162)),
            ("9999-12-31", Some(2_932_896)),
            ("+10000-01-01", Some(2_932_897)),
            ("-0001-12-31", Some(-719_529)),
            ("10000-01-01", None),
            ("+970-01-01", None),
            ("70-01-01", None),
            ("2024-13-01", None),
            ("2024-00-01", None),
            ("2024-04-31", None),
            ("2024-04-00", None),
            ("2024-4-1", None),
            ("2024/04/01", None),
            ("20240401", None),
            ("01-04-2024", None),
            ("2024-04-01T00:00", None),
            ("2024-04-01x", None),
            ("", None),
            ("today", None),
        ];
        for (text, days) in table {
            assert_eq!(date(text.as_bytes()), days, "{text}");
        }
    }

    #[test]
    fn moments_by_hand() {
        const HOUR: i64 = 3_600_000_000;
        let table = [
            ("1970-01-01", Some(0)),
            ("1970-01-01T00:00Z", Some(0)),
            ("1970-01-01T01:00:00+01:00", Some(0)),
            ("1970-01-01 00:00:00-0100", Some(HOUR)),
            ("1970-01-01t00:00:00+01", Some(-HOUR)),
            ("1970-01-01T00:00:01.5Z", Some(1_500_000)),
            ("1970-01-01T00:00:01,25", Some(1_250_000)),
            ("1970-01-01T00:00:00.0000019", Some(1)),
            ("1969-12-31T23:59:59.9999999", Some(-1)),
            ("2016-12-31T23:59:60Z", Some(1_483_228_800_000_000)),
            ("2026-02-28T12:30:00Z", Some(20_512 * 24 * HOUR + 12 * HOUR + HOUR / 2)),
            ("+294247-01-10T04:00:54.775807Z", Some(i64::MAX)),
            ("+294247-01-10T04:00:54.775808Z", None),
            ("-290308-12-21T19:59:05.224192Z", Some(i64::MIN)),
            ("1970-01-01T24:00", None),
            ("1970-01-01T00:60", None),
            ("1970-01-01T00:00:61", None),
            ("1970-01-01T00", None),
            ("1970-01-01T00:00:00.", None),
            ("1970-01-01T00:00:00 Z", None),
            ("1970-01-01T00:00+24:00", None),
            ("1970-01-01T00:00+1", None),
            ("1970-01-01T00:00+01:0", None),
            ("1970-01-01T", None),
            ("1970-01-01TZ", None),
            ("1970-02-30T00:00", None),
            ("0", None),
        ];
        for (text, moment) in table {
            assert_eq!(timestamp(text.as_bytes()), moment, "{text}");
        }
    }

    #[test]
    fn every_day_of_four_centuries_has_its_number() {
        let (mut expected, mut month_lengths) = (date(b"1600-01-01").unwrap(), 0);
        for year in 1600..2001 {
            for month in 1..=12 {
                for day in 1..=31 {
                    let text = format!("{year}-{month:02}-{day:02}");
                    let Some(found) = date(text.as_bytes()) else { continue };
                    assert_eq!((found, date_text(found)), (expected, text));
                    expected += 1;
                    month_lengths += 1;
                }
            }
        }
        assert_eq!(month_lengths, 146_097 + 366);
    }

    proptest! {
        #[test]
        fn every_moment_reads_back(moment: i64) {
            prop_assert_eq!(timestamp(timestamp_text(moment).as_bytes()), Some(moment));
        }

        #[test]
        fn every_day_reads_back(day in -365_000_000_000i64..365_000_000_000) {
            prop_assert_eq!(date(date_text(day).as_bytes()), Some(day));
        }

        #[test]
        fn any_bytes_have_an_answer(field: Vec<u8>, day: i64) {
            let _ = (date(&field), timestamp(&field), date_text(day));
        }

        #[test]
        fn any_near_miss_has_an_answer(text in "[+-]?[0-9]{3,10}-[0-9]{1,2}-[0-9]{1,2}[T ]?[0-9:.,Z+-]{0,20}") {
            let _ = (date(text.as_bytes()), timestamp(text.as_bytes()));
        }
    }
}
