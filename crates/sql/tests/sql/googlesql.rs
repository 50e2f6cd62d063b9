//! The kinds of queries that GoogleSQL's documentation shows for one table, over a table of loans: accepted, with the answer beside the truth,
//! or the reason why not. The section of docs/sql.md is written from here (`EQUIPOISE_WRITE_DOCS=1`), and held to what happens.

#![expect(clippy::format_push_string, clippy::format_collect, reason = "a page is written")]

use crate::support::Texts;
use equipoise_session::{
    bar::rounded,
    ledger::Ledger,
    plan::DataFacts,
    request::Request,
    session::{Paid, Session},
    source::ColumnType,
};
use equipoise_sql_front::{Cell, Query, Rows};
use std::{collections::BTreeMap, env, fs, path::Path};

/// Who borrowed how many of what.
struct Loan {
    reader: usize,
    item: &'static str,
    quantity: f64,
}

const ITEMS: [&str; 4] = ["paper", "pen", "pencil", "scissors"];

/// How many of an item a reader borrows at most. The sums of items lie far apart, so that noise does not decide which come first.
const AT_MOST: [usize; 4] = [20, 16, 12, 8];

/// 3000 readers with one, two or three loans each, of different items.
fn loans() -> Vec<Loan> {
    let loan = |reader: usize, number: usize| {
        let item = (reader / 3 + number) % 4;
        Loan { reader, item: ITEMS[item], quantity: (1 + (reader * 7 + number * 3) % AT_MOST[item]) as f64 }
    };
    (0..3000).flat_map(|reader| (0..=reader % 3).map(move |number| loan(reader, number))).collect()
}

fn table() -> Texts {
    let row =
        |loan: &Loan| vec![format!("r{}", loan.reader), loan.item.to_string(), loan.quantity.to_string()];
    Texts::new(&["reader", "item", "quantity"], loans().iter().map(row).collect())
}

fn facts() -> DataFacts {
    DataFacts {
        name: "loans".into(),
        columns: ["reader", "item", "quantity"].map(String::from).to_vec(),
        registered: None,
        kinds: vec![Some(ColumnType::Text), Some(ColumnType::Text), Some(ColumnType::Integer)],
        windows: None,
    }
}

/// The truth of a group: of each reader's quantities in it.
type Truth = fn(&[Vec<f64>]) -> f64;

fn rows(of: &[Vec<f64>]) -> Vec<f64> {
    let mut rows: Vec<f64> = of.iter().flatten().copied().collect();
    rows.sort_by(f64::total_cmp);
    rows
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

/// An example: what it shows, what is selected, and the truth of each group, or of all rows where there is none.
struct Example {
    about: &'static str,
    options: &'static str,
    select: &'static str,
    by_item: bool,
    truth: Option<Truth>,
}

fn example(about: &'static str, select: &'static str, truth: Truth) -> Example {
    Example {
        about,
        options: "epsilon=10, delta=.001, max_groups_contributed=3, privacy_unit_column=reader",
        select,
        by_item: true,
        truth: Some(truth),
    }
}

fn not_accepted(about: &'static str, options: &'static str, select: &'static str) -> Example {
    Example { about, options, select, by_item: false, truth: None }
}

const UNIT: &str = "epsilon=10, delta=.001, privacy_unit_column=reader";

fn examples() -> Vec<Example> {
    vec![
        example(
            "the average of what readers borrow, with bounds for each reader and group",
            "item, AVG(quantity, contribution_bounds_per_group => (0, 30)) AS answer FROM loans GROUP BY item",
            |of| mean(&of.iter().map(|one| mean(one)).collect::<Vec<_>>()),
        ),
        example(
            "the same without bounds, which are searched",
            "item, AVG(quantity) AS answer FROM loans GROUP BY item",
            |of| mean(&of.iter().map(|one| mean(one)).collect::<Vec<_>>()),
        ),
        example(
            "how many loans there are of each item",
            "item, COUNT(*) AS answer FROM loans GROUP BY item",
            |of| rows(of).len() as f64,
        ),
        example(
            "how many have a quantity, with bounds for each reader and group",
            "item, COUNT(quantity, contribution_bounds_per_group => (0, 5)) AS answer FROM loans GROUP BY item",
            |of| rows(of).len() as f64,
        ),
        example(
            "how much was borrowed of each item, bounded",
            "item, SUM(quantity, contribution_bounds_per_group => (0, 60)) AS answer FROM loans GROUP BY item",
            |of| rows(of).iter().sum(),
        ),
        example(
            "the variance of rows, bounded row by row",
            "item, VAR_POP(quantity, contribution_bounds_per_row => (0, 20)) AS answer FROM loans GROUP BY item",
            |of| {
                let (rows, mean) = (rows(of), mean(&rows(of)));
                rows.iter().map(|row| (row - mean).powi(2)).sum::<f64>() / rows.len() as f64
            },
        ),
        example(
            "the middle row",
            "item, PERCENTILE_CONT(quantity, 0.5, contribution_bounds_per_row => (0, 100)) AS answer FROM loans GROUP BY item",
            |of| rows(of)[(rows(of).len() - 1) / 2],
        ),
        example(
            "how many readers there are",
            "item, COUNT(DISTINCT reader) AS answer FROM loans GROUP BY item",
            |of| of.len() as f64,
        ),
        example(
            "groups of which enough is left, sorted by a private answer",
            "item, SUM(quantity) AS answer FROM loans WHERE quantity > 4 GROUP BY item HAVING answer > 1 ORDER BY answer DESC LIMIT 2",
            |of| rows(of).iter().filter(|&&row| row > 4.0).sum(),
        ),
        Example {
            by_item: false,
            options: UNIT,
            ..example("one number for the whole table", "COUNT(*) AS answer FROM loans", |of| {
                rows(of).len() as f64
            })
        },
        not_accepted(
            "an epsilon that leaves no noise, to see what a query does; `equipoise simulate sql` shows it on public rows",
            "epsilon=1e20, delta=.001, privacy_unit_column=reader",
            "item, COUNT(*) FROM loans GROUP BY item",
        ),
        not_accepted(
            "an answer with its noise as JSON",
            UNIT,
            "AVG(quantity, report_format => 'JSON') FROM loans",
        ),
        not_accepted(
            "public groups, joined to the table",
            "epsilon=10, delta=.001, group_selection_strategy=PUBLIC_GROUPS, privacy_unit_column=reader",
            "item, COUNT(*) FROM loans RIGHT OUTER JOIN items USING (item) GROUP BY item",
        ),
        not_accepted(
            "a number of units that a group must have",
            "epsilon=10, delta=.001, min_privacy_units_per_group=50, privacy_unit_column=reader",
            "item, COUNT(*) FROM loans GROUP BY item",
        ),
        not_accepted(
            "no bound on the groups of a reader",
            "epsilon=10, delta=.001, max_groups_contributed=NULL, privacy_unit_column=reader",
            "item, COUNT(*) FROM loans GROUP BY item",
        ),
        not_accepted(
            "one of several quantiles, taken out of their list",
            UNIT,
            "APPROX_QUANTILES(quantity, 4)[OFFSET(2)] FROM loans",
        ),
        not_accepted("a query inside of a query", UNIT, "COUNT(*) FROM (SELECT reader FROM loans)"),
        not_accepted("rows as they are", UNIT, "item, quantity FROM loans"),
    ]
}

impl Example {
    fn query(&self) -> String {
        format!("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({})\n  {}", self.options, self.select)
    }

    /// The truth of each group, or of all rows.
    fn truths(&self) -> BTreeMap<String, f64> {
        let mut groups: BTreeMap<String, BTreeMap<usize, Vec<f64>>> = BTreeMap::new();
        for loan in loans() {
            let key = if self.by_item { loan.item.to_string() } else { String::new() };
            groups.entry(key).or_default().entry(loan.reader).or_default().push(loan.quantity);
        }
        let truth = self.truth.expect("an example that is accepted");
        let of = |(key, readers): (String, BTreeMap<usize, Vec<f64>>)| {
            (key, truth(&readers.into_values().collect::<Vec<_>>()))
        };
        groups.into_iter().map(of).collect()
    }

    fn answered(&self) -> Result<Rows, String> {
        let query = Query::read(&self.query(), &Request::default()).map_err(|error| error.to_string())?;
        let plan = query.plan(&facts()).map_err(|error| error.to_string())?;
        let mut session = Session::new(Ledger::in_memory().expect("memory"), None).expect("coins");
        let Paid::Charged(charged) = session.charge(plan, None).expect("no limit") else {
            panic!("no request id was given")
        };
        Ok(query.rows(&session.run(*charged, &table()).map_err(|error| error.to_string())?))
    }
}

fn number(cell: &Cell) -> f64 {
    cell.value.as_f64().or_else(|| cell.value.as_str()?.parse().ok()).expect("a number")
}

/// The lines of an answer, each beside the truth.
fn lines(example: &Example, rows: &Rows) -> Vec<String> {
    let truths = example.truths();
    let mut lines = vec![format!(
        "{:<10}{:>10}   {:<22}{:>8}",
        if example.by_item { "item" } else { "" },
        "answer",
        "error",
        "truth"
    )];
    for row in &rows.rows {
        let key = if example.by_item { row[0].value.as_str().expect("a key") } else { "" };
        let cell = row.last().expect("an answer");
        let (truth, error) = (truths[key], cell.error.as_ref().expect("a bar"));
        // Five bars: noise beyond has a chance below 1e-6. A quantile may be the next of twenty values.
        let near = error.numeric_ends().map_or(2.0, |[low, high]| 5.0 * (high - low) + 1.0);
        assert!((number(cell) - truth).abs() <= near, "{}: {key} {} for {truth}", example.about, cell.value);
        let truth = if truth.fract() == 0.0 { truth.to_string() } else { format!("{truth:.2}") };
        let answer = rounded(&cell.value, Some(error));
        lines.push(format!("{key:<10}{answer:>10}   {:<22}{truth:>8}", error.short_words(&cell.value)));
    }
    lines
}

const BEGIN: &str = "## GoogleSQL's examples\n";

/// What the section says of the examples; what hangs on coins is one run.
fn written() -> String {
    let (mut accepted, mut refused) = (String::new(), String::new());
    for example in examples() {
        match (example.answered(), example.truth) {
            (Ok(rows), Some(_)) => {
                let lines = lines(&example, &rows)
                    .iter()
                    .map(|line| format!("{}\n", line.trim_end()))
                    .collect::<String>();
                accepted += &format!(
                    "*{}*\n\n```text\n{}\n\n{lines}```\n\n",
                    capital(example.about),
                    example.query()
                );
            }
            (Err(error), None) => {
                refused += &format!(
                    "*{}*\n\n```text\n{}\n\n{error}\n```\n\n",
                    capital(example.about),
                    example.query()
                );
            }
            (Ok(_), None) => panic!("{} is accepted", example.about),
            (Err(error), Some(_)) => panic!("{}: {error}", example.about),
        }
    }
    format!(
        "{BEGIN}\nQueries of the kinds that GoogleSQL's documentation shows for one table, over a table of 3,000 readers with one to three loans each. \
         All answers are of one run, beside the truth; `crates/sql/tests/sql/googlesql.rs` asks them in every test.\n\n{accepted}\
         Not accepted, and why:\n\n{refused}"
    )
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// The same without what hangs on coins: of lines with an answer, the key and the truth.
fn fixed(section: &str) -> Vec<String> {
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [first, .., last] if last.parse::<f64>().is_ok() && !line.starts_with(['S', ' ', '*']) => {
                format!("{first} {last}")
            }
            // The answer of a whole table has no key.
            [_, .., last] if line.starts_with("     ") && last.parse::<f64>().is_ok() => (*last).to_string(),
            _ => line.to_string(),
        }
    };
    section.lines().map(line).collect()
}

#[test]
fn examples_of_one_table_are_answered_beside_the_truth_or_refused_as_the_page_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    let page = fs::read_to_string(&path).expect("the page");
    let made = written();
    let start = page.find(BEGIN).expect("the section");
    let end = page[start + BEGIN.len()..].find("\n## ").map_or(page.len(), |at| start + BEGIN.len() + at + 1);
    if env::var_os("EQUIPOISE_WRITE_DOCS").is_some() {
        let made = if end == page.len() { made.trim_end().to_string() + "\n" } else { made };
        return fs::write(&path, page[..start].to_string() + &made + &page[end..]).expect("the page");
    }
    let (made, said) = (fixed(made.trim_end()), fixed(page[start..end].trim_end()));
    for (made, said) in made.iter().zip(&said) {
        assert_eq!(
            made, said,
            "write it anew: EQUIPOISE_WRITE_DOCS=1 cargo test --workspace --test sql googlesql"
        );
    }
    assert_eq!(made.len(), said.len());
}
