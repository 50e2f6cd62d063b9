//! What a steward shows to a privacy board: analysts, the page about all releases, and paragraphs about one.

mod support;

use serde_json::Value;
use std::fs;
use support::Folder;

/// A thousand rows under a limit of 5, of which ana may spend 1, who asked twice; eve asked for a table.
fn asked() -> Folder {
    let folder = Folder::new("value,town\n".to_string() + &"7,Ayr\n".repeat(1000));
    for line in [
        "budget set data.csv --epsilon 5 --delta 1e-5",
        "budget set data.csv --epsilon 1 --analyst ana",
        "count data.csv --epsilon 0.5 --analyst ana",
        "histogram data.csv town --epsilon 1.1 --delta 1e-6 --analyst eve",
        "count data.csv --epsilon 0.25 --analyst ana --where value>3",
    ] {
        assert_eq!(folder.code(line), 0, "{line}");
    }
    folder
}

fn words(folder: &Folder, line: &str) -> String {
    let output = folder.run(line);
    assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn every_analyst_is_listed_with_limit_spent_and_left() {
    let folder = asked();
    assert_eq!(folder.code("count data.csv --epsilon 0.5 --analyst bob"), 0);
    let shown = words(&folder, "budget show data.csv");
    assert!(shown.contains("data.csv, by analyst:"), "{shown}");
    let line = |name: &str| {
        let found = shown.lines().find(|line| line.split_whitespace().next() == Some(name)).expect("a line");
        found.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(line("ana"), ["ana", "epsilon 0.75", "epsilon 1", "epsilon 0.25"]);
    assert_eq!(line("bob"), ["bob", "epsilon 0.5", "none", "epsilon 2.65, delta 0.000009"]);
    let json = folder.json("budget show data.csv");
    let ana = &json[0]["analysts"][0];
    assert_eq!((&ana["analyst"], &ana["spent"]["epsilon"]), (&"ana".into(), &"0.75".into()), "{ana}");
    assert_eq!(
        (&ana["limit"]["epsilon"], &ana["remaining"]["epsilon"]),
        (&"1".into(), &"0.25".into()),
        "{ana}"
    );
    // Nobody named means nobody listed.
    let alone = Folder::new("value\n1\n");
    assert_eq!(alone.code("count data.csv --epsilon 1"), 0);
    assert_eq!(alone.json("budget show")[0]["analysts"], Value::Array(Vec::new()));
    assert!(!words(&alone, "budget show").contains("by analyst"));
}

#[test]
fn a_report_has_every_release_the_sum_the_limit_and_what_it_means() {
    let folder = asked();
    let page = words(&folder, "budget report data.csv");
    for part in [
        "# What was released, and what it tells about any one person\n",
        "## data.csv\n",
        "Protected is one row. All releases together, 3 so far, cost epsilon 1.85, delta 0.000001.",
        "Whatever anybody concludes from all answers so far, they conclude it at most e^1.85 = 6.4 times as often",
        "The limit is epsilon 5, delta 0.00001; 37 % of it is spent; left is epsilon 3.15, delta 0.000009.",
        "| ana | epsilon 0.75 | epsilon 1 | epsilon 0.25 |",
        "| histogram by town | 1 groups | epsilon 1.1, delta 0.000001 | epsilon 1.6, delta 0.000001 |",
        "| count, where value&gt;3 |",
        "limit epsilon 1 (analyst ana)",
        "copies of the data and other ledgers are not in it",
        "\nhead ",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // The receipt of each line is one that can be explained.
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| 20")).collect();
    assert_eq!(rows.len(), 3, "{page}");
    for row in rows {
        let receipt = row.trim_end_matches(" |").rsplit(' ').next().expect("a receipt");
        assert_eq!(folder.code(&format!("explain {receipt}")), 0, "{row}");
    }
    let head = page.lines().last().and_then(|line| line.strip_prefix("head ")).expect("the head");
    let head = head.replace('\\', "");
    assert_eq!(folder.run_words(&["budget", "verify", "--head", &head]).status.code(), Some(0));
}

#[test]
fn a_sum_without_a_delta_speaks_of_odds() {
    let folder = Folder::new("person,value\n".to_string() + &"a,7\n".repeat(10));
    assert_eq!(folder.code("budget set data.csv --epsilon 5 --unit person"), 0);
    assert_eq!(folder.code("count data.csv --epsilon 2.1"), 0);
    let page = words(&folder, "budget report");
    let said = "Whoever knows all other records and sees all answers so far can become at most e^2.1 = 8.2 times surer that one \
                person (all rows with the same 'person') is in the data, or that it is not: odds change by at most that factor";
    assert!(page.contains(said), "{page}");
    let log = folder.json("budget log");
    let id = log
        .as_array()
        .expect("entries")
        .iter()
        .find(|entry| entry["event"]["kind"] == "charged")
        .expect("one")["id"]
        .clone();
    let told = words(&folder, &format!("explain {}", id.as_str().expect("an id")));
    for part in [
        "a factor of e^2.1 = 8.2 when one person (all rows with the same 'person') is added",
        "epsilon 2.1, 42 % of the limit of epsilon 5",
        "8.2 times surer",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn a_report_is_written_to_a_file_of_either_format_and_to_no_other() {
    let folder = asked();
    assert_eq!(words(&folder, "budget report data.csv --out board.html"), "");
    let html = fs::read_to_string(folder.path("board.html")).expect("a page");
    assert!(html.starts_with("<!doctype html>") && html.contains("<td>histogram by town</td>"), "{html}");
    assert!(
        html.contains("default-src 'none'") && !html.contains("<script") && !html.contains("src=\""),
        "{html}"
    );
    assert_eq!(html, words(&folder, "budget report data.csv --format html"));
    assert_eq!(words(&folder, "budget report data.csv --out board.md"), "");
    let ledger = fs::read(folder.path("equipoise.ledger")).expect("the ledger");
    folder.write("other.csv", "value\n1\n");
    for (line, said) in [
        ("budget report data.csv --out data.csv", "ends in .md or .html"),
        ("budget report data.csv --out board.html --format md", "leave --format out"),
        ("budget report data.csv --out none/board.md", "no folder for the report"),
        ("budget report other.csv", "not in this ledger"),
    ] {
        let output = folder.run(line);
        assert_eq!(output.status.code(), Some(2), "{line}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{line}: {output:?}");
    }
    assert_eq!(fs::read(folder.path("equipoise.ledger")).expect("the ledger"), ledger);
}

/// What was spent for another unit is no part of the sum, and the page says so.
#[test]
fn what_is_no_longer_counted_is_told() {
    let folder = Folder::new("person,value\n".to_string() + &"a,7\n".repeat(10));
    assert_eq!(folder.code("count data.csv --epsilon 3"), 0);
    assert_eq!(folder.code("budget set data.csv --epsilon 5 --unit person --anew"), 0);
    assert_eq!(folder.code("count data.csv --epsilon 1"), 0);
    let page = words(&folder, "budget report");
    assert!(page.contains("1 so far, cost epsilon 1.") && page.contains("not counted any more"), "{page}");
    assert!(page.contains("NOT bounded by the figures"), "{page}");
}

/// Names come from files, and a board opens the page in a browser.
#[test]
fn names_in_a_ledger_are_never_markup() {
    let name = "<img src=x onerror=alert(1)>|`x`.csv";
    let folder = Folder::with(name, "<script>,town\n1,Ayr\n");
    let asked = folder.run_words(&["count", name, "<script>", "--epsilon", "1", "--analyst", "<b>&\"'"]);
    assert_eq!(asked.status.code(), Some(0), "{asked:?}");
    for format in ["md", "html"] {
        let page = words(&folder, &format!("budget report --format {format}"));
        for part in ["<img", "<script>", "<b>"] {
            assert!(!page.contains(part), "{format} {part}: {page}");
        }
        assert!(page.contains("&lt;img") && page.contains("&lt;script&gt;"), "{page}");
    }
}
