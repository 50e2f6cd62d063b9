//! Values that break things, in every pair.

use arrow::{
    array::{
        ArrayRef, BooleanArray, Date32Array, Decimal128Array, DurationSecondArray, Float32Array,
        Float64Array, Int32Array, Int64Array, IntervalMonthDayNanoArray, RecordBatch, StringArray,
        StringViewArray, Time64NanosecondArray, TimestampMicrosecondArray, TimestampNanosecondArray,
        TimestampSecondArray, UInt64Array,
    },
    datatypes::IntervalMonthDayNano,
};
use std::sync::Arc;

/// So many values of each type; so many rows hold every pair of two columns.
pub const VALUES: usize = 14;
pub const ROWS: usize = VALUES * VALUES;

pub const SIGNED: [Option<i64>; VALUES] = [
    None,
    Some(0),
    Some(1),
    Some(-1),
    Some(2),
    Some(3),
    Some(31),
    Some(64),
    Some(-7),
    Some(1_000_000),
    Some(i64::MIN),
    Some(i64::MAX),
    Some(i64::MIN + 1),
    Some(1 << 53),
];

pub const REAL: [Option<f64>; VALUES] = [
    None,
    Some(0.0),
    Some(-0.0),
    Some(1.0),
    Some(-1.5),
    Some(0.1),
    Some(1e308),
    Some(-1e308),
    Some(5e-324),
    Some(f64::NAN),
    Some(-f64::NAN),
    Some(f64::INFINITY),
    Some(f64::NEG_INFINITY),
    Some(9.3e18),
];

pub fn texts() -> [Option<String>; VALUES] {
    let some = |text: &str| Some(text.to_owned());
    [
        None,
        some(""),
        some("a"),
        some("  B, c ,12 "),
        some("12"),
        some("-9223372036854775808"),
        some("1e400"),
        some("2024-02-30"),
        some("2024-02-29T12:34:56.789Z"),
        some("NaN"),
        some("\u{0}ü😀e\u{301}"),
        some("%_\\(.*)"),
        some("1-2-3-a"),
        Some("xy".repeat(33_000)),
    ]
}

const DECIMAL: [Option<i128>; VALUES] = {
    let most = 10i128.pow(38) - 1;
    [
        None,
        Some(0),
        Some(1),
        Some(-1),
        Some(100),
        Some(-250),
        Some(most),
        Some(-most),
        Some(most - 1),
        Some(10i128.pow(20)),
        Some(-(10i128.pow(19))),
        Some(12_345),
        Some(3),
        Some(i64::MAX as i128),
    ]
};

const DAYS: [Option<i32>; VALUES] = [
    None,
    Some(0),
    Some(1),
    Some(-1),
    Some(19_782),
    Some(-719_162),
    Some(-719_529),
    Some(2_932_896),
    Some(95_026_601),
    Some(95_026_602),
    Some(i32::MAX),
    Some(i32::MIN),
    Some(106_751),
    Some(106_752),
];

const SPANS: [Option<(i32, i32, i64)>; VALUES] = [
    None,
    Some((0, 0, 0)),
    Some((1, 0, 0)),
    Some((-1, 0, 0)),
    Some((0, 1, 0)),
    Some((0, 0, 1)),
    Some((0, 0, -1)),
    Some((i32::MAX, 0, 0)),
    Some((i32::MIN, 0, 0)),
    Some((0, i32::MAX, 0)),
    Some((0, 0, i64::MAX)),
    Some((0, 0, i64::MIN)),
    Some((12, 30, 3_600_000_000_000)),
    Some((1_200_000, -30, 5)),
];

const TRUTHS: [Option<bool>; 3] = [None, Some(false), Some(true)];

// A float that is too large for 32 bits becomes infinite, which is one of the values that are wanted.
#[allow(clippy::cast_possible_truncation)]
/// Columns that end in `x` and `y` have every pair of values; a table of `rows` rows.
pub fn table() -> RecordBatch {
    let texts = texts();
    let pick = |second: bool| move |row: usize| if second { row / VALUES % VALUES } else { row % VALUES };
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for (end, second) in [("x", false), ("y", true)] {
        let at = pick(second);
        let rows = || (0..ROWS).map(at);
        let small = |place: usize| {
            SIGNED[place]
                .map(|value| i32::try_from(value).unwrap_or(if value < 0 { i32::MIN } else { i32::MAX }))
        };
        let signed = || rows().map(|place| SIGNED[place]);
        let mut add = |name: &str, array: ArrayRef| columns.push((format!("{name}{end}"), array));
        add("i", Arc::new(Int64Array::from_iter(signed())));
        add("j", Arc::new(Int32Array::from_iter(rows().map(small))));
        add("u", Arc::new(UInt64Array::from_iter(signed().map(|value| value.map(i64::cast_unsigned)))));
        add("f", Arc::new(Float64Array::from_iter(rows().map(|place| REAL[place]))));
        add(
            "g",
            Arc::new(Float32Array::from_iter(rows().map(|place| REAL[place].map(|value| value as f32)))),
        );
        add("s", Arc::new(StringArray::from_iter(rows().map(|place| texts[place].as_deref()))));
        add("v", Arc::new(StringViewArray::from_iter(rows().map(|place| texts[place].as_deref()))));
        let decimals = Decimal128Array::from_iter(rows().map(|place| DECIMAL[place]));
        add("d", Arc::new(decimals.with_precision_and_scale(38, 2).expect("38 digits")));
        let small_decimals = rows().map(|place| DECIMAL[place].map(|value| value % 100_000));
        let small_decimals = Decimal128Array::from_iter(small_decimals);
        add("e", Arc::new(small_decimals.with_precision_and_scale(10, 3).expect("10 digits")));
        add("day", Arc::new(Date32Array::from_iter(rows().map(|place| DAYS[place]))));
        add("ns", Arc::new(TimestampNanosecondArray::from_iter(signed())));
        add("us", Arc::new(TimestampMicrosecondArray::from_iter(signed())));
        add("sec", Arc::new(TimestampSecondArray::from_iter(signed())));
        add("zone", Arc::new(TimestampSecondArray::from_iter(signed()).with_timezone("+02:00")));
        let clock = signed().map(|value| value.map(|value| value.rem_euclid(86_400_000_000_000)));
        add("clock", Arc::new(Time64NanosecondArray::from_iter(clock)));
        add(
            "span",
            Arc::new(IntervalMonthDayNanoArray::from_iter(rows().map(|place| {
                SPANS[place].map(|(months, days, nanos)| IntervalMonthDayNano::new(months, days, nanos))
            }))),
        );
        add("lasts", Arc::new(DurationSecondArray::from_iter(signed())));
        add("b", Arc::new(BooleanArray::from_iter(rows().map(|place| TRUTHS[place % 3]))));
    }
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length")
}
