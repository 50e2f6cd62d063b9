//! The page of what is on the list, held to the list.

use crate::{
    aggregate::Kind,
    allowed::{FUNCTIONS, REFUSED},
    kernel::OPERATORS,
    size::Size,
    verify::NATIVE,
};
use std::fmt::Write;

/// Functions that become a CASE of total parts or a literal; `expressions.txt` tries each.
const REWRITTEN: [(&str, &str); 5] = [
    ("coalesce", "CASE WHEN a IS NOT NULL THEN a .. END"),
    ("nullif", "CASE WHEN a = b THEN NULL ELSE a END"),
    ("nvl", "CASE WHEN a IS NOT NULL THEN a ELSE b END"),
    ("nvl2", "CASE WHEN a IS NOT NULL THEN b ELSE c END"),
    ("pi", "its value"),
];

fn size_words(size: Size) -> &'static str {
    match size {
        Size::Small => "",
        Size::Repeated => "the number is a literal up to 65,536; a longer result than 65,536 bytes is null",
        Size::Padded => "the length is a literal up to 16,384",
        _ => "a longer result than 65,536 bytes is null",
    }
}

fn page() -> String {
    let mut page = String::from(HEAD);
    page.push_str(
        "\n## Functions\n\n| function | literal arguments | null although no argument is |\n|---|---|---|\n",
    );
    for rule in FUNCTIONS {
        let places: Vec<String> = rule.literals.iter().map(|place| (place + 1).to_string()).collect();
        let words = [rule.null, size_words(rule.size)]
            .into_iter()
            .filter(|words| !words.is_empty())
            .collect::<Vec<_>>()
            .join("; ");
        writeln!(page, "| `{}` | {} | {words} |", rule.name, places.join(", ")).unwrap();
    }
    page.push_str("\nThese become a choice among total values, or a constant:\n\n");
    for (name, becomes) in REWRITTEN {
        writeln!(page, "- `{name}`: {becomes}").unwrap();
    }
    page.push_str("\n## Operators\n\n");
    let symbols: Vec<String> = OPERATORS
        .iter()
        .map(|(operator, name)| format!("`{operator}` ({})", name.replace('_', " ")))
        .collect();
    writeln!(page, "{}; the sign `-`. {OPERATORS_TEXT}", symbols.join(", ")).unwrap();
    page.push_str("\n## Aggregates\n\n");
    let native: Vec<String> = NATIVE
        .iter()
        .map(|(name, distinct)| format!("`{name}`{}", if *distinct { " (also of DISTINCT)" } else { "" }))
        .collect();
    let exact: Vec<String> = Kind::ALL.iter().map(|kind| format!("`{}`", kind.name())).collect();
    writeln!(
        page,
        "As DataFusion has them: {}.\n\nExact: {}. {EXACT_TEXT}",
        native.join(", "),
        exact.join(", ")
    )
    .unwrap();
    page.push_str("\n## Not accepted\n\n| function | why | instead |\n|---|---|---|\n");
    for (name, why, rewrite) in REFUSED {
        writeln!(page, "| `{name}` | {why} | {rewrite} |").unwrap();
    }
    page
}

const HEAD: &str = "# Functions of private queries with joins

Every function, operator and cast here has a value or null for every row: where DataFusion fails, wraps around or panics, the value is null.
NaN is null, zero has one sign, and an infinite result is null. A text that a function makes is at most 65,536 bytes long.
Whatever is not on this page is not accepted. The page is written by a test: `EQUIPOISE_WRITE_DOCS=1 cargo test -p equipoise-sql-total`.
";

const OPERATORS_TEXT: &str = "Overflow, division by 0 and moments outside of the calendar are null; patterns are literals.
Comparisons, `AND`, `OR`, `NOT`, `IN`, `BETWEEN`, `CASE` and `IS ..` cannot fail and stay as they are. `CAST` is null where it fails.";

const EXACT_TEXT: &str = "The sum of floats is the exact one, rounded once; variances are made of such sums. A sum of integers or decimals that leaves
its type is null. None depends on the order of rows, on batches or on partitions.";

#[test]
fn the_page_of_functions_is_the_list() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/FUNCTIONS.md");
    if std::env::var_os("EQUIPOISE_WRITE_DOCS").is_some() {
        std::fs::write(path, page()).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page(),
        "EQUIPOISE_WRITE_DOCS=1 cargo test -p equipoise-sql-total writes FUNCTIONS.md"
    );
}
