//! Where values lie in a picture, and which of them are written at its axis.

use crate::source::ColumnType;
use serde_json::Value;

/// At most so many numbers stand at an axis.
const MOST_TICKS: usize = 7;
const DAY: f64 = 86_400.0;

/// A value as a number: of a date the days since 1970, of a moment the seconds, of a decimal itself; nothing for other texts.
pub fn number(value: &Value, value_type: Option<&str>) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            let kind = value_type.and_then(ColumnType::named)?;
            kind.read(text).filter(|_| kind.is_whole()).map(|whole| kind.number(whole))
        }
        _ => None,
    };
    number.filter(|number| number.is_finite())
}

/// An axis from left to right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    kind: Option<ColumnType>,
    left: f64,
    right: f64,
}

impl Axis {
    /// An axis between these pixels that holds all values, with a little room around them; from zero for amounts. Nothing where
    /// there is no value.
    pub fn around(
        values: impl IntoIterator<Item = f64>,
        from_zero: bool,
        value_type: Option<&str>,
        (left, right): (f64, f64),
    ) -> Option<Self> {
        let finite = values.into_iter().filter(|value| value.is_finite());
        // The ends of the floats have no room beyond them.
        let finite = finite.map(|value| value.clamp(f64::MIN / 8.0, f64::MAX / 8.0));
        let (low, high) =
            finite.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            return None;
        }
        let (low, high) = if from_zero { (low.min(0.0), high.max(0.0)) } else { (low, high) };
        let kind = value_type.and_then(ColumnType::named);
        // Days since 1970 are no size of anything, and zeros have none of their own.
        let size = if kind.is_some_and(ColumnType::is_time) { 0.0 } else { high.abs().max(low.abs()) };
        let least = if size == 0.0 { 1.0 } else { 1e-300 };
        let room = ((high - low) * 0.06).max(size * 1e-3).max(least);
        let (below, above) = if from_zero {
            (if low < 0.0 { room } else { 0.0 }, if high > 0.0 || low >= 0.0 { room } else { 0.0 })
        } else {
            (room, room)
        };
        Some(Self { low: low - below, high: high + above, kind, left, right })
    }

    /// Where a value lies, in pixels.
    pub fn place(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        self.left + share.clamp(0.0, 1.0) * (self.right - self.left)
    }

    /// The values that are written at the axis, and how.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let ticks = match self.kind {
            Some(ColumnType::Date) => self.days(1.0),
            Some(ColumnType::Timestamp) if self.high - self.low >= 3.0 * DAY => self.days(DAY),
            Some(ColumnType::Timestamp) => self.moments(),
            _ => None,
        };
        ticks.unwrap_or_else(|| self.numbers())
    }

    /// Round numbers: 1, 2 or 5 times a power of ten.
    fn numbers(&self) -> Vec<(f64, String)> {
        let span = self.high - self.low;
        let power = 10f64.powf((span / 5.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
        let step = step.into_iter().find(|step| span / step <= 6.0).unwrap_or(span);
        let digits = (-step.log10().floor()).clamp(0.0, 12.0);
        let largest = self.low.abs().max(self.high.abs());
        let label = |value: f64| {
            if !(1e-6..1e15).contains(&largest) {
                return format!("{value:.3e}");
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 12")]
            let text = format!("{value:.0$}", digits as usize);
            with_commas(&text)
        };
        self.multiples(step).into_iter().map(|value| (value, label(value))).collect()
    }

    /// The multiples of a step inside of the axis.
    fn multiples(&self, step: f64) -> Vec<f64> {
        let first = (self.low / step).ceil();
        let each = (0..=MOST_TICKS).map(|place| (first + place as f64) * step);
        // Minus zero is zero.
        each.filter(|value| *value <= self.high).map(|value| value + 0.0).collect()
    }

    /// Days, first days of months or of years; `scale` is how much a day is.
    fn days(&self, scale: f64) -> Option<Vec<(f64, String)>> {
        let (low, high) = (self.low / scale, self.high / scale);
        let text = |day: f64| {
            #[expect(clippy::cast_possible_truncation, reason = "checked")]
            let written = (day.abs() < 1e7).then(|| ColumnType::Date.write(day as i64))?;
            Some(written).filter(|written| written.len() == 10)
        };
        let (first, last) = (text(low.floor())?, text(high.ceil())?);
        for step in [1.0, 2.0, 7.0, 14.0] {
            if (high - low) / step <= 5.0 {
                let whole = Self { low, high, ..*self }.multiples(step);
                return whole.into_iter().map(|day| Some((day * scale, text(day)?))).collect();
            }
        }
        let months = |text: &str| -> Option<i64> {
            Some(text.get(..4)?.parse::<i64>().ok()? * 12 + text.get(5..7)?.parse::<i64>().ok()? - 1)
        };
        let (first, last) = (months(&first)?, months(&last)?);
        let steps = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12_000, 24_000];
        let step = steps.into_iter().find(|step| (last - first) / step <= 5)?;
        let firsts = (first.div_euclid(step)..=last.div_euclid(step)).filter_map(|place| {
            let months = place * step;
            let text = format!("{:04}-{:02}-01", months.div_euclid(12), months.rem_euclid(12) + 1);
            let day = ColumnType::Date.number(ColumnType::Date.read(&text)?);
            (low..=high).contains(&day).then_some((day * scale, text))
        });
        Some(firsts.collect())
    }

    /// Hours, minutes and seconds of moments less than three days apart.
    fn moments(&self) -> Option<Vec<(f64, String)>> {
        const STEPS: [f64; 14] = [
            1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 10_800.0, 21_600.0, 43_200.0,
            86_400.0, 172_800.0,
        ];
        let span = self.high - self.low;
        let step = STEPS.into_iter().find(|step| span / step <= 5.0 && span >= 2.0)?;
        let text = |second: f64| {
            #[expect(clippy::cast_possible_truncation, reason = "checked")]
            let written =
                (second.abs() < 1e11).then(|| ColumnType::Timestamp.write(second as i64 * 1_000_000))?;
            let (day, time) = written.split_once(['T', ' '])?;
            let time = time.get(..8).unwrap_or(time);
            Some(if span < DAY { time.to_string() } else { format!("{} {}", day.get(5..)?, time.get(..5)?) })
        };
        self.multiples(step).into_iter().map(|second| Some((second, text(second)?))).collect()
    }
}

/// Commas between thousands, from 10,000 on.
fn with_commas(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, part) = rest.find('.').map_or((rest, ""), |at| rest.split_at(at));
    if whole.len() < 5 {
        return text.to_string();
    }
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{part}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn labels(values: &[f64], from_zero: bool, kind: Option<&str>) -> Vec<String> {
        let axis = Axis::around(values.iter().copied(), from_zero, kind, (0.0, 100.0)).expect("an axis");
        axis.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(labels(&[0.0, 100.0], true, None), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(&[41_000.0, 44_000.0], false, None), ["41,000", "42,000", "43,000", "44,000"]);
        assert_eq!(labels(&[-0.012, 0.011], false, None), ["-0.010", "-0.005", "0.000", "0.005", "0.010"]);
        assert_eq!(labels(&[5.0], true, None).first().map(String::as_str), Some("0"));
    }

    #[test]
    fn days_and_moments_are_written_as_such() {
        let day = |text: &str| number(&json!(text), Some("date")).expect("a day");
        let months = labels(&[day("2020-01-20"), day("2020-06-10")], false, Some("date"));
        assert_eq!(months, ["2020-02-01", "2020-03-01", "2020-04-01", "2020-05-01", "2020-06-01"]);
        let years = labels(&[day("1950-06-01"), day("2020-06-01")], false, Some("date"));
        assert_eq!(years, ["1960-01-01", "1980-01-01", "2000-01-01", "2020-01-01"]);
        let days = labels(&[day("2020-02-27"), day("2020-03-01")], false, Some("date"));
        assert!(days.contains(&"2020-02-29".to_string()), "{days:?}");
        let moment = |text: &str| number(&json!(text), Some("timestamp")).expect("a moment");
        let hours =
            labels(&[moment("2020-02-27T10:00:00"), moment("2020-02-27T14:10:00")], false, Some("timestamp"));
        assert_eq!(hours, ["10:00:00", "11:00:00", "12:00:00", "13:00:00", "14:00:00"]);
        assert_eq!(number(&json!("12.50"), Some("decimal:2")), Some(12.5));
        assert_eq!(number(&json!("Ayr"), None), None);
    }

    #[test]
    fn whatever_is_released_has_an_axis() {
        let wild = [f64::MAX, f64::MIN, 0.0, 1e-300, -5e-324, 1e15, 123_456_789.123, f64::NAN, f64::INFINITY];
        for one in wild {
            for other in wild {
                for kind in [None, Some("date"), Some("timestamp"), Some("decimal:2"), Some("no such type")] {
                    for from_zero in [false, true] {
                        let Some(axis) = Axis::around([one, other], from_zero, kind, (10.0, 90.0)) else {
                            assert!(!one.is_finite() && !other.is_finite());
                            continue;
                        };
                        assert!(axis.ticks().len() <= 8, "{one} {other}");
                        for value in [one, other].into_iter().filter(|value| value.is_finite()) {
                            assert!((10.0..=90.0).contains(&axis.place(value)), "{one} {other}: {axis:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn thousands_have_commas() {
        for (plain, written) in [("1234", "1234"), ("12345", "12,345"), ("-1234567.50", "-1,234,567.50")] {
            assert_eq!(with_commas(plain), written);
        }
    }
}
