//! Any bytes are a day, a moment, a decimal and a yes or no, or none; what is printed reads back.
#![no_main]

use equipoise_engine::{boolean::boolean, calendar, decimal::decimal, number};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, i64, &[u8])| {
    let (digits, any, field) = input;
    for day in calendar::date(field).into_iter().chain([any % 300_000_000_000]) {
        assert_eq!(calendar::date(calendar::date_text(day).as_bytes()), Some(day));
    }
    for moment in calendar::timestamp(field).into_iter().chain([any]) {
        assert_eq!(calendar::timestamp(calendar::timestamp_text(moment).as_bytes()), Some(moment));
    }
    if let Some(whole) = number::integer(field) {
        assert_eq!(decimal(field, 0), Some(whole));
    }
    if let Some(units) = decimal(field, digits % 19) {
        // One unit is half a unit off at most; floats this small are exact to far less.
        let float = number::float(field) * 10f64.powi(i32::from(digits % 19));
        assert!((float - units as f64).abs() <= 0.5 + 1e-9 * float.abs());
    }
    assert!(boolean(field).is_none_or(|answer| answer == 0 || answer == 1));
});
