//! Any text is a query that can be planned, or one line that says why not, with a place inside of the text.
#![no_main]

use equipoise_session::{plan::DataFacts, request::Request, source::ColumnType};
use equipoise_sql_front::Query;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let columns: Vec<String> = ["id", "town", "salary", "hired"].map(String::from).to_vec();
    let kinds = vec![Some(ColumnType::Text), None, Some(ColumnType::Integer), Some(ColumnType::Date)];
    let facts = DataFacts { name: "people".into(), columns, registered: None, kinds, windows: None };
    let given = Request { epsilon: Some("1".into()), delta: Some("1e-6".into()), ..Request::default() };
    if let Err(error) = Query::read(text, &given).and_then(|query| query.plan(&facts)) {
        let line = error.to_string();
        assert!(!line.is_empty() && !line.contains(char::is_control));
        if let Some((line, column)) = error.position() {
            let lines: Vec<&str> = text.split('\n').collect();
            assert!(line <= lines.len() && column <= lines[line - 1].chars().count() + 1);
        }
    }
});
