//! Any text is an expression or one line that says why not; what binds has an answer for any record, as a value and as a condition.
#![no_main]

use equipoise_expression::{Expression, Input, Known, Program, Type};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, Option<i64>, f64, &str)| {
    let names = ["a", "b", "c", "d", "e"];
    let kinds = [Some(Type::Integer), Some(Type::Float), Some(Type::Text), Some(Type::Date), None];
    let column = |name: &str| {
        let place = names.iter().position(|known| *known == name)?;
        Some(Known { place, kind: kinds[place], by_schema: place != 0 })
    };
    let bound = Expression::parse(input.0).and_then(|read| Program::bind(&read, &column, None));
    let program = match bound {
        Ok(program) => program,
        Err(error) => return assert!(!error.to_string().contains(char::is_control)),
    };
    let (wholes, reals, texts) = ([input.1, None], [input.2, f64::NAN], [Some(input.3), None]);
    let inputs: Vec<Input<'_>> = program
        .reads()
        .iter()
        .map(|(_, kind)| match kind {
            Type::Float => Input::Real(&reals),
            Type::Text => Input::Text(&texts),
            _ => Input::Whole(&wholes),
        })
        .collect();
    for kind in Type::ALL {
        program.run(&inputs, 2, kind);
    }
    let (yes, no) = (program.holds(&inputs, 2, true), program.holds(&inputs, 2, false));
    assert!((0..2).all(|row| !(yes.get(row) && no.get(row))));
});
