//! Any text is a predicate or one line that says why not; what binds has one answer, by columns and by rows.
#![no_main]

use equipoise_expression::{Column, Kind, Predicate};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, i64, f64)| {
    let schema = [Kind::Whole, Kind::Real, Kind::Text];
    let place = |name: &str| ["a", "b", "c"].iter().position(|known| *known == name).map(|at| (at, schema[at]));
    let question = match Predicate::parse(input.0).and_then(|predicate| predicate.bind(place)) {
        Ok(question) => question,
        Err(error) => return assert!(!error.to_string().contains(char::is_control)),
    };
    let (whole, real, words) = ([input.1, 0], [input.2, f64::NAN], ["x".into(), "".into()]);
    let columns = [
        Column::Whole { values: &whole, present: None },
        Column::Real { values: &real, present: None },
        Column::Text { codes: &[0, 9], words: &words },
    ];
    let together = question.evaluate(&columns, 2);
    for row in 0..2 {
        assert_eq!(together.get(row), question.holds(&|place| columns[place].get(row)));
    }
});
