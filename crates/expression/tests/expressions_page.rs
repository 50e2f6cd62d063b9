//! `docs/expressions.md` has a row for everything that an expression may hold, as the table of functions says it.
//! `EQUIPOISE_WRITE_DOCS=1 cargo test --workspace --test expressions_page` writes the rows anew.

use equipoise_expression::{Expression, TABLE};
use std::{env, fs, path::Path};

const BEGIN: &str = "<!-- functions by the table of crates/expression: begin -->\n";
const END: &str = "<!-- functions: end -->";

fn rows() -> String {
    // A bar would end its cell.
    let cell = |text: &str| text.replace('|', "\\|");
    let ways = |usage: &str| usage.split("; ").map(|way| format!("`{way}`")).collect::<Vec<_>>().join(", ");
    let row = |row: &equipoise_expression::Row| {
        format!(
            "| `{}` | {} | {} | {} |\n",
            cell(row.name),
            cell(&ways(row.usage)),
            cell(row.about),
            cell(row.null)
        )
    };
    let head = "| name | written | is | null where |\n|---|---|---|---|\n";
    head.to_string() + &TABLE.iter().map(row).collect::<String>()
}

#[test]
fn the_page_of_expressions_has_the_rows_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/expressions.md");
    let page = fs::read_to_string(&path).expect("the page");
    let (before, rest) = page.split_once(BEGIN).expect("a beginning");
    let (written, after) = rest.split_once(END).expect("an end");
    if env::var_os("EQUIPOISE_WRITE_DOCS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{}{END}{after}", rows())).expect("written");
    } else {
        assert!(written == rows(), "docs/expressions.md: run with EQUIPOISE_WRITE_DOCS=1");
    }
}

/// Whatever stands in the column "written" is read.
#[test]
fn every_spelling_of_the_table_is_read() {
    for row in TABLE {
        for text in row.usage.split("; ") {
            assert!(Expression::parse(text).is_ok(), "{text}: {:?}", Expression::parse(text).err());
        }
    }
}
