//! Expressions by hand, nulls and ends of the types, and any expression on any record.

use super::*;
use proptest::prelude::*;

/// Columns of each type, and two of none.
const SCHEMA: [(&str, Option<Type>); 8] = [
    ("f", Some(Type::Float)),
    ("i", Some(Type::Integer)),
    ("b", Some(Type::Boolean)),
    ("t", Some(Type::Text)),
    ("d", Some(Type::Date)),
    ("m", Some(Type::Timestamp)),
    ("u", None),
    ("v", None),
];

fn place(name: &str) -> Option<Known> {
    let place = SCHEMA.iter().position(|(known, _)| *known == name)?;
    Some(Known { place, kind: SCHEMA[place].1, by_schema: true })
}

fn bound(text: &str) -> Result<Program, ExpressionError> {
    Program::bind(&Expression::parse(text)?, &place, None)
}

/// One record, as each type would read it.
#[derive(Clone, Debug)]
struct Record {
    real: f64,
    whole: Option<i64>,
    text: Option<String>,
}

/// Inputs of a program for these records; texts by list where wanted.
fn with_inputs<T>(
    program: &Program,
    records: &[Record],
    coded: bool,
    use_them: impl FnOnce(&[Input<'_>]) -> T,
) -> T {
    let reals: Vec<f64> = records.iter().map(|record| record.real).collect();
    let wholes: Vec<Option<i64>> = records.iter().map(|record| record.whole).collect();
    let truths: Vec<Option<i64>> = wholes.iter().map(|whole| whole.map(|whole| whole & 1)).collect();
    // What a source hands over where whole numbers are read as floats, and days as moments.
    let as_reals: Vec<f64> =
        wholes.iter().map(|whole| whole.map_or(f64::NAN, |whole| whole as f64)).collect();
    let as_moments: Vec<Option<i64>> =
        wholes.iter().map(|whole| whole.and_then(|day| day.checked_mul(times::DAY))).collect();
    let texts: Vec<Option<&str>> = records.iter().map(|record| record.text.as_deref()).collect();
    let list: Vec<&str> = texts.iter().flatten().copied().collect();
    let mut next = 0..;
    let codes: Vec<Option<u32>> = texts.iter().map(|text| text.map(|_| next.next().unwrap())).collect();
    let inputs: Vec<Input<'_>> = program
        .reads()
        .iter()
        .map(|(place, kind)| match kind {
            Type::Float if SCHEMA[*place].1 == Some(Type::Integer) => Input::Real(&as_reals),
            Type::Timestamp if SCHEMA[*place].1 == Some(Type::Date) => Input::Whole(&as_moments),
            Type::Float => Input::Real(&reals),
            Type::Text if coded => Input::Coded { texts: &list, codes: &codes },
            Type::Text => Input::Text(&texts),
            Type::Boolean => Input::Whole(&truths),
            _ => Input::Whole(&wholes),
        })
        .collect();
    use_them(&inputs)
}

/// What each record's value is, as text that tells types apart.
fn shown_values(program: &Program, records: &[Record], coded: bool) -> Vec<String> {
    with_inputs(program, records, coded, |inputs| match program.run(inputs, records.len(), program.kind()) {
        Output::Real(values) => values
            .iter()
            .map(|value| if value.is_nan() { "null".into() } else { format!("{value:?}") })
            .collect(),
        Output::Whole(values) => {
            values.iter().map(|value| value.map_or("null".into(), |value| value.to_string())).collect()
        }
        Output::Text(texts) => {
            texts.iter().map(|text| text.as_ref().map_or("null".into(), |text| format!("'{text}'"))).collect()
        }
        Output::Coded { texts, codes } => codes
            .iter()
            .map(|code| code.map_or("null".into(), |code| format!("'{}'", texts[code as usize])))
            .collect(),
    })
}

fn one(text: &str, record: &Record) -> String {
    let program = bound(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let found = shown_values(&program, std::slice::from_ref(record), false).remove(0);
    assert_eq!(found, shown_values(&program, std::slice::from_ref(record), true).remove(0), "{text}, coded");
    found
}

fn record(real: f64, whole: i64, text: &str) -> Record {
    Record { real, whole: Some(whole), text: Some(text.to_string()) }
}

/// As a day 7 is 1970-01-08, a Thursday; as a yes or no it is a yes.
fn seven() -> Record {
    record(2.5, 7, "Über 12 New Yorkers")
}

#[test]
fn numbers_and_choices_by_hand() {
    for (text, value) in [
        ("f + i", "9.5"),
        ("i + 1", "8"),
        ("i / 2", "3.5"),
        ("i % 4", "3"),
        ("-i % 4", "-3"),
        ("f % 1", "0.5"),
        ("i * -2 - 1", "-15"),
        ("u + 1", "3.5"),
        ("60 * 60 + i", "3607"),
        ("f / 0", "null"),
        ("i % 0", "null"),
        ("0 / 0", "null"),
        ("9223372036854775807 + i", "null"),
        ("-9223372036854775807 - i", "null"),
        ("i * 9223372036854775807", "null"),
        ("1e308 * f * 10", "null"),
        ("abs(-f)", "2.5"),
        ("abs(i - 10)", "3"),
        ("floor(f) + ceil(f)", "5.0"),
        ("floor(i)", "7"),
        ("round(f)", "3.0"),
        ("round(-f)", "-3.0"),
        ("round(f / 7, 3)", "0.357"),
        ("round(i * 1000 + 50, -2)", "7100"),
        ("round(f, -300)", "0.0"),
        ("round(f, 300)", "2.5"),
        ("ln(f - f)", "null"),
        ("ln(exp(f))", "2.5"),
        ("exp(i * 1000)", "null"),
        ("sqrt(-f)", "null"),
        ("sqrt(i + 2)", "3.0"),
        ("least(f, i, 9)", "2.5"),
        ("greatest(i, null, 3)", "7"),
        ("greatest('a', t)", "'Über 12 New Yorkers'"),
        ("coalesce(null, i, 1)", "7"),
        ("coalesce(f / 0, 1)", "1.0"),
        ("nullif(i, 7)", "null"),
        ("nullif(i, 8)", "7"),
        ("if(i > 5, 'many', 'few')", "'many'"),
        ("case when i > 9 then 1 when i > 5 then 2 end", "2"),
        ("case i when 1 then 'one' end", "null"),
        ("case when null then 1 else 2.5 end", "2.5"),
    ] {
        assert_eq!(one(text, &seven()), value, "{text}");
    }
}

#[test]
fn texts_days_casts_and_conditions_by_hand() {
    for (text, value) in [
        ("lower(t)", "'über 12 new yorkers'"),
        ("upper(t)", "'ÜBER 12 NEW YORKERS'"),
        ("length(t)", "19"),
        ("substr(t, 2, 3)", "'ber'"),
        ("substr(t, -8)", "'Yorkers'".replace('Y', " Y").as_str()),
        ("substr(t, 0, 2)", "'Ü'"),
        ("substr(t, 100)", "null"),
        ("substr(t, 2, 0)", "null"),
        ("substr(t, -20, 2)", "'Ü'"),
        ("t || '!'", "'Über 12 New Yorkers!'"),
        ("i || '/' || f", "'7/2.5'"),
        ("t || null", "null"),
        ("concat('a', null, i)", "'a7'"),
        ("t like '%New%'", "1"),
        ("t like '_ber%s'", "1"),
        ("t like 'ber%'", "0"),
        ("t like '%'", "1"),
        ("t not like '%York_'", "1"),
        ("year(d)", "1970"),
        ("month(d)", "1"),
        ("day(d)", "8"),
        ("weekday(d)", "4"),
        ("hour(m)", "0"),
        ("hour('2026-01-31T12:30:00Z')", "12"),
        ("date_trunc('week', d)", "4"),
        ("date_trunc('month', d)", "0"),
        ("date_trunc('quarter', d + 100)", "90"),
        ("date_trunc('hour', cast('2026-01-31T12:30:00Z' as timestamp))", "1769860800000000"),
        ("d - cast('1970-01-01' as date)", "7"),
        ("d - '1970-01-01'", "7"),
        ("d + 1", "8"),
        ("d - 9223372036854775807", "null"),
        ("m - m", "0.0"),
        ("cast(f as integer)", "3"),
        ("cast(-f as integer)", "-3"),
        ("cast(1e30 * f as integer)", "null"),
        ("cast(i as text)", "'7'"),
        ("cast(f * 1e30 as text)", "'2.5e30'"),
        ("cast(d as text)", "'1970-01-08'"),
        ("cast(d as timestamp)", "604800000000"),
        ("cast(m as date)", "0"),
        ("cast(b as text)", "'true'"),
        ("cast(i as boolean)", "1"),
        ("cast('12' as integer) + 1", "13"),
        ("cast('12.5' as float)", "12.5"),
        ("cast('yes' as boolean)", "1"),
        ("cast('2026-02-30' as date)", "null"),
        ("cast(t as float)", "null"),
        ("b and i > 5", "1"),
        ("not b", "0"),
        ("b = true", "1"),
        ("b in ('yes')", "1"),
        ("not b in ('no', 'false')", "1"),
        ("f between 2 and i", "1"),
        ("i in (1, 7.0)", "1"),
        ("t in ('a', 'b')", "0"),
        ("d in ('1970-01-08', 1970-01-09)", "1"),
        ("d > '1970-01-07'", "1"),
        ("m < 1970-01-02", "1"),
        ("i = f", "0"),
        ("i > f", "1"),
        ("i < '7.5'", "1"),
        ("(i > 5) = (f > 9)", "0"),
        ("i is null", "0"),
        ("i / 0 is null", "1"),
        ("coalesce(u, v)", "'Über 12 New Yorkers'"),
        ("u > v", "0"),
        ("''", "null"),
        ("'' is null", "0"),
        ("length(substr(t, 100))", "0"),
        ("upper(substr('x', 1, 1)) || substr('x', 2)", "'X'"),
        ("cast('' as float)", "null"),
    ] {
        assert_eq!(one(text, &seven()), value, "{text}");
    }
}

#[test]
fn nulls_have_three_values() {
    let none = Record { real: f64::NAN, whole: None, text: None };
    for text in [
        "f + 1",
        "i + 1",
        "-i",
        "-f",
        "abs(i)",
        "round(f)",
        "lower(t)",
        "length(t)",
        "t || 'a'",
        "substr(t, 1)",
        "year(d)",
        "date_trunc('month', m)",
        "d + 1",
        "d - d",
        "m - m",
        "cast(i as text)",
        "cast(t as date)",
        "f > 1",
        "not f > 1",
        "i = i",
        "t like '%'",
        "t not like '%'",
        "i in (1)",
        "not i in (1)",
        "f between 1 and 2",
        "b",
        "not b",
        "b and true",
        "b or false",
        "least(i, null)",
        "coalesce(i, null)",
        "nullif(i, 1)",
        "t = 'a'",
        "f <> f",
        "t || t",
    ] {
        assert_eq!(one(text, &none), "null", "{text}");
    }
    for (text, value) in [
        ("b and false", "0"),
        ("b or true", "1"),
        ("i is null", "1"),
        ("not i is null", "0"),
        ("concat(t, 'a')", "'a'"),
        ("if(b, 1, 2)", "2"),
        ("nullif(1, i)", "1"),
        ("f between 3 and 2", "null"),
        ("5 between i and 2", "0"),
        ("coalesce(b, false)", "0"),
    ] {
        assert_eq!(one(text, &none), value, "{text}");
    }
}

#[test]
fn ends_of_the_types_are_null_and_not_wrong() {
    let least = record(f64::NEG_INFINITY, i64::MIN, "x");
    for text in [
        "-i",
        "abs(i)",
        "i - 1",
        "i * -1",
        "f + 1",
        "-f",
        "abs(f)",
        "ln(f)",
        "exp(f) / 0",
        "cast(f as integer)",
        "d - 1",
        "cast(d as timestamp)",
        "date_trunc('year', d)",
        "round(i - 5, -1)",
        "round(f, 2)",
    ] {
        assert_eq!(one(text, &least), "null", "{text}");
    }
    for (text, value) in [
        ("i % -1", "0"),
        ("f < 0", "1"),
        ("i < f", "0"),
        ("f < i", "1"),
        ("round(i, -19)", "null"),
        ("round(i, -40)", "0"),
    ] {
        assert_eq!(one(text, &least), value, "{text}");
    }
    let large = record(9_007_199_254_740_992.0, 9_007_199_254_740_993, &"é".repeat(40_000));
    for (text, value) in [
        ("i = f", "0"),
        ("i > f", "1"),
        ("i = 9007199254740993", "1"),
        ("i + 0 = 9007199254740992", "0"),
        ("f + 0 = 9007199254740993", "0"),
        ("f between 9007199254740991 and i", "1"),
        ("length(t)", "40000"),
        ("lower(t)", "null"),
        ("t || t", "null"),
        ("concat(t, 'a')", "null"),
        ("length(substr(t, 2, 30000))", "30000"),
    ] {
        assert_eq!(one(text, &large), value, "{text}");
    }
}

#[test]
fn what_does_not_fit_is_one_line_with_what_to_write() {
    for (text, line) in [
        ("age + 1", "no column is called 'age'; text stands between single quotes, 'like this'"),
        (
            "t + 1",
            "t is of the type text, with which + does not compute; write cast(t as float), or || to join texts",
        ),
        ("b + 1", "b is of the type boolean, with which + does not compute; write if(b, 1, 0)"),
        (
            "d + f",
            "d is of the type date, with which + does not compute; subtract days or moments of one type, or add whole days to a date",
        ),
        (
            "'a' + 1",
            "'a' is of the type text, with which + does not compute; write cast('a' as float), or || to join texts",
        ),
        ("lower(i)", "i is of the type integer where a text is due; write cast(i as text)"),
        ("i like '7'", "i is of the type integer where a text is due; write cast(i as text)"),
        ("year(i)", "i is of the type integer where a date is due; use a date"),
        ("i and b", "i is of the type integer where a boolean is due; write cast(i as boolean)"),
        ("d = i", "a date and an integer do not go together; cast one of them, as in cast(x as text)"),
        (
            "coalesce(t, i)",
            "a text and an integer do not go together; cast one of them, as in cast(x as text)",
        ),
        ("d > 'soon'", "'soon' stands beside a date, which it is not; write 2026-01-31"),
        ("i > 'many'", "'many' stands beside an integer, which it is not; write a number"),
        ("cast(i as date)", "there is no cast from integer to date; cast it to text first"),
        ("round(f, i)", "i is no number of digits; give a whole number, as in round(x, 2)"),
        (
            "date_trunc('fortnight', d)",
            "'fortnight' is no unit of time. There are: 'year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second'",
        ),
        ("substr(t, f)", "f is of the type float where an integer is due; write cast(f as integer)"),
        (
            "if(u > '60', 1, 0)",
            "'60' is a number in quotes, and nothing declares whether 'u' holds numbers or texts; write 60 to compare numbers, or cast(u as text) with '60' to compare texts",
        ),
    ] {
        assert_eq!(bound(text).unwrap_err().to_string(), line, "{text}");
    }
}

#[test]
fn columns_of_no_type_are_read_as_they_are_used() {
    for (text, reads, kind) in [
        ("u + v", vec![(6, Type::Float), (7, Type::Float)], Type::Float),
        ("lower(u)", vec![(6, Type::Text)], Type::Text),
        ("month(u)", vec![(6, Type::Timestamp)], Type::Integer),
        ("u - d", vec![(6, Type::Date), (4, Type::Date)], Type::Integer),
        ("cast(u as integer) * 2", vec![(6, Type::Integer)], Type::Integer),
        ("coalesce(u, 0)", vec![(6, Type::Float)], Type::Float),
        ("coalesce(null, i)", vec![(1, Type::Integer)], Type::Integer),
        ("if(u > 1, u, v) = 3", vec![(6, Type::Float), (7, Type::Float)], Type::Boolean),
        ("if(u, 1, 0)", vec![(6, Type::Boolean)], Type::Integer),
        ("u > v", vec![(6, Type::Float), (7, Type::Float)], Type::Boolean),
        ("u = 'x'", vec![(6, Type::Text)], Type::Boolean),
        ("i + 0.5", vec![(1, Type::Float)], Type::Float),
        ("d > m", vec![(4, Type::Timestamp), (5, Type::Timestamp)], Type::Boolean),
    ] {
        let program = bound(text).unwrap();
        assert_eq!((program.reads(), program.kind()), (reads.as_slice(), kind), "{text}");
    }
    let wanted =
        Program::bind(&Expression::parse("coalesce(u, v)").unwrap(), &place, Some(Type::Float)).unwrap();
    assert_eq!(wanted.kind(), Type::Float);
}

#[test]
fn inputs_that_are_missing_or_short_are_null() {
    let program = bound("f + 1 > 0 or t = 'a' or i + 1 > 0").unwrap();
    assert_eq!(program.holds(&[], 70, true).count(), 0);
    assert_eq!(program.holds(&[Input::Real(&[1.0]), Input::Text(&[None])], 3, true).count(), 0);
    assert_eq!(
        program
            .holds(&[Input::Text(&[None; 3]), Input::Real(&[1.0; 3]), Input::Whole(&[Some(1); 3])], 3, true)
            .count(),
        3
    );
}

#[test]
fn texts_of_a_list_come_out_as_a_list_without_repeats() {
    let program = bound("lower(t)").unwrap();
    let input =
        [Input::Coded { texts: &["A", "b", "a", "B"], codes: &[Some(0), Some(2), None, Some(3), Some(1)] }];
    let Output::Coded { texts, codes } = program.run(&input, 5, Type::Text) else { panic!("a list") };
    assert_eq!(
        (texts, codes),
        (vec!["a".into(), "b".into()], vec![Some(0), Some(0), None, Some(1), Some(1)])
    );
}

fn any_record() -> impl Strategy<Value = Record> {
    let real = prop_oneof![
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(-0.0),
        Just(f64::MAX),
        Just(5e-324),
        Just(0.0),
        -10.0f64..10.0,
        any::<f64>()
    ];
    let whole = prop::option::of(prop_oneof![
        Just(i64::MIN),
        Just(i64::MAX),
        Just(0),
        Just(-1),
        -10i64..10,
        any::<i64>()
    ]);
    let text = prop::option::of(prop_oneof![
        Just(String::new()),
        Just("é".repeat(33_000)),
        Just("x".repeat(70_000)),
        Just("2026-02-28".to_string()),
        Just("-9223372036854775809".to_string()),
        Just("\u{fffd}\u{0}\u{130}ß\u{10ffff}%_".to_string()),
        "\\PC{0,9}",
        "[0-9e.+-]{0,8}"
    ]);
    (real, whole, text).prop_map(|(real, whole, text)| Record { real, whole, text })
}

/// Any expression that binds, and some that do not.
fn any_expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "f",
        "i",
        "b",
        "t",
        "d",
        "m",
        "u",
        "v",
        "0",
        "1",
        "-1",
        "2.5",
        "1e308",
        "9223372036854775807",
        "-9223372036854775808",
        "'a'",
        "''",
        "'12'",
        "null",
        "true",
        "2026-01-31",
        "'2026-01-31T23:59:60Z'",
    ])
    .prop_map(str::to_string);
    leaf.prop_recursive(5, 40, 4, |inner| {
        let unary = prop::sample::select(vec![
            "-(#)",
            "not (#)",
            "(#) is null",
            "abs(#)",
            "floor(#)",
            "ceil(#)",
            "round(#)",
            "round(#, 2)",
            "round(#, -3)",
            "ln(#)",
            "exp(#)",
            "sqrt(#)",
            "lower(#)",
            "upper(#)",
            "length(#)",
            "substr(#, 2)",
            "(#) like '%1_'",
            "(#) in (1, 2.5)",
            "(#) in ('a', 'b')",
            "year(#)",
            "month(#)",
            "day(#)",
            "weekday(#)",
            "hour(#)",
            "date_trunc('week', #)",
            "date_trunc('hour', #)",
            "cast(# as float)",
            "cast(# as integer)",
            "cast(# as boolean)",
            "cast(# as text)",
            "cast(# as date)",
            "cast(# as timestamp)",
        ]);
        let binary = prop::sample::select(vec![
            "(#) + (@)",
            "(#) - (@)",
            "(#) * (@)",
            "(#) / (@)",
            "(#) % (@)",
            "(#) || (@)",
            "(#) = (@)",
            "(#) <> (@)",
            "(#) < (@)",
            "(#) >= (@)",
            "(#) and (@)",
            "(#) or (@)",
            "least(#, @)",
            "greatest(#, @)",
            "coalesce(#, @)",
            "nullif(#, @)",
            "concat(#, @)",
            "substr(#, @)",
            "substr(t, #, @)",
            "case when # then @ end",
            "if(b, #, @)",
            "(#) between (@) and 5",
        ]);
        prop_oneof![
            (unary, inner.clone()).prop_map(|(form, one)| form.replace('#', &one)),
            (binary, inner.clone(), inner)
                .prop_map(|(form, one, other)| form.replace('#', &one).replace('@', &other)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    /// Total: no panic whatever records hold, and each record's value is that of the record alone.
    #[test]
    fn any_expression_on_any_records_is_that_of_each_record_alone(
        text in any_expression(),
        records in prop::collection::vec(any_record(), 1..70),
    ) {
        let Ok(program) = bound(&text) else { return Ok(()) };
        let together = shown_values(&program, &records, false);
        prop_assert_eq!(&together, &shown_values(&program, &records, true), "{}, coded", &text);
        for (row, record) in records.iter().enumerate() {
            prop_assert_eq!(&together[row], &one(&text, record), "{}", &text);
        }
        if program.kind() == Type::Boolean {
            let holds = with_inputs(&program, &records, true, |inputs| program.holds(inputs, records.len(), true));
            for (row, value) in together.iter().enumerate() {
                prop_assert_eq!(holds.get(row), value == "1", "{}", &text);
            }
        }
        // Every type that there is a cast to can be asked for.
        for kind in Type::ALL {
            with_inputs(&program, &records, false, |inputs| drop(program.run(inputs, records.len(), kind)));
        }
    }
}

/// `NA` is no number: where a column of no declared type is compared with numbers, it is null in all of the expression.
#[test]
fn a_column_is_null_as_what_it_is_read_as_elsewhere() {
    let record = |real: f64, text: &str| Record { real, whole: None, text: Some(text.into()) };
    let records = [record(90.0, "90"), record(5.0, "5"), record(f64::NAN, "NA")];
    let program = bound("case when u > 60 then 'late' when u is null then 'none' else 'fine' end")
        .expect("an expression");
    assert_eq!(program.reads(), [(6, Type::Float)]);
    let shown = shown_values(&program, &records, false);
    assert!(shown[0].contains("late") && shown[1].contains("fine") && shown[2].contains("none"), "{shown:?}");
    // Alone, it is about fields that are empty.
    assert_eq!(bound("u is null").expect("an expression").reads(), [(6, Type::Text)]);
    assert_eq!(bound("u is null or lower(u) = 'x'").expect("an expression").reads(), [(6, Type::Text)]);
}

/// A test of a computed number is one of the number itself, at the ends of 64 bits too, where a step overflows and is null, and however
/// it is negated.
#[test]
fn tests_of_computed_whole_numbers_are_solved_exactly() {
    let ends =
        [i64::MIN, i64::MIN + 1, i64::MIN / 2, i64::MIN / 2 - 1, i64::MAX / 2, i64::MAX / 2 + 1, i64::MAX];
    let wholes = ends.into_iter().chain(-20..20).chain([749, 750, 751, -750, 1500]);
    let mut records: Vec<Record> =
        wholes.map(|whole| Record { real: 0.0, whole: Some(whole), text: None }).collect();
    records.push(Record { real: 0.0, whole: None, text: None });
    let steps = [
        "i * 2 + 1",
        "2 * i - 7",
        "i * -3",
        "-3 * i + 5",
        "i + 9223372036854775807",
        "i - 5 - 5",
        "i * 0",
        "(i + 1) * 7",
    ];
    for step in steps {
        for comparison in
            ["> 1500", "<= 3", "< -9", ">= 0", "= 15", "<> 15", "> 9223372036854775806", "in (1, 15, -9)"]
        {
            let text = format!("{step} {comparison}");
            let program = bound(&text).expect("a condition");
            let values = shown_values(&program, &records, false);
            for wanted in [true, false] {
                let holds = with_inputs(&program, &records, false, |inputs| {
                    program.holds(inputs, records.len(), wanted)
                });
                let shown = if wanted { "1" } else { "0" };
                for (row, value) in values.iter().enumerate() {
                    assert_eq!(holds.get(row), value == shown, "{text}: {:?}", records[row].whole);
                }
            }
        }
    }
    let Program { root, .. } = bound("2 * i + 1 > 1500").expect("a condition");
    let What::Test(computed, test) = &root.what else { panic!("a test") };
    let (inner, test) = compare::before_arithmetic(computed, test).expect("solved");
    assert!(
        matches!(inner.what, What::Input(0)) && test == Test::Whole(750, (i64::MAX - 1) / 2, true),
        "{test:?}"
    );
}
