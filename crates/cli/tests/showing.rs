//! Tables of groups as a person reads them: their order, their length, their width. JSON has everything.

mod support;

use serde_json::Value;
use std::fmt::Write as _;
use support::Folder;

/// Groups 1 to 120, of which group g has 1000 + g rows; and four quarters that have long names.
fn many_groups() -> Folder {
    let mut text = String::from("group,quarter,value\n");
    for group in 1..=120_u32 {
        let quarter = format!(
            "the {} quarter, {}",
            group % 4,
            "as the city calls it in its register of places".repeat(2)
        );
        for row in 0..1000 + group {
            writeln!(text, "{group},\"{quarter}\",{}", row % 100).expect("a string");
        }
    }
    Folder::new(text)
}

fn words(folder: &Folder, line: &str) -> String {
    let output = folder.run(line);
    assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The first words of the lines of a table.
fn first_words(text: &str) -> Vec<&str> {
    let inside = text.lines().filter(|line| line.starts_with("   "));
    inside.filter_map(|line| line.split_whitespace().next()).collect()
}

/// At epsilon 1000 a count is off by one or more with a chance below e^-900: the order is known.
#[test]
fn groups_are_sorted_by_key_or_by_answer_and_the_first_are_shown() {
    let folder = many_groups();
    let histogram = "histogram data.csv group --epsilon 1000 --delta 1e-6";
    let shown = words(&folder, &format!("{histogram} --show 3"));
    assert_eq!(first_words(&shown), ["group", "1", "2", "3"], "{shown}");
    assert!(shown.contains("\n  … 117 more, use --json, or --show 120\n"), "{shown}");
    let shown = words(&folder, &format!("{histogram} --sort --show 2"));
    assert_eq!(first_words(&shown), ["group", "120", "119"], "{shown}");
    let shown = words(&folder, &format!("{histogram} --sort=smallest --show 2"));
    assert_eq!(first_words(&shown), ["group", "1", "2"], "{shown}");
    // A screenful, where nobody says how many.
    let shown = words(&folder, histogram);
    assert_eq!(first_words(&shown).len(), 41, "{shown}");
    assert!(shown.contains("… 80 more, use --json"), "{shown}");
    let all = words(&folder, &format!("{histogram} --show 120"));
    assert!(first_words(&all).len() == 121 && !all.contains("more, use"), "{all}");
    // JSON is never cut and keeps its order.
    let json = |line: &str| {
        folder.json(line)["groups"]
            .as_array()
            .expect("groups")
            .iter()
            .map(|group| group["key"].clone())
            .collect::<Vec<Value>>()
    };
    let keys = json(histogram);
    assert_eq!((keys.len(), &keys), (120, &json(&format!("{histogram} --sort --show 2"))));
    for wrong in ["--sort=biggest", "--show 0", "--show some"] {
        assert_eq!(folder.code(&format!("{histogram} {wrong}")), 2, "{wrong}");
    }
    assert_eq!(folder.json(histogram)["spent"]["epsilon"], "8000");
}

#[test]
fn tables_fit_eighty_columns() {
    let folder = many_groups();
    let tables = [
        "histogram data.csv quarter --epsilon 1000 --delta 1e-6",
        "quantile data.csv value 0.1,0.3,0.5,0.7,0.9 --interval --group-by quarter --epsilon 1000 --delta 1e-6",
        "summary data.csv value --range 0,100 --group-by quarter --epsilon 1000 --delta 1e-6",
        "mode data.csv quarter --group-by quarter --epsilon 1000 --delta 1e-6",
    ];
    for line in tables {
        let shown = words(&folder, line);
        let table: Vec<&str> = shown.lines().filter(|line| line.starts_with("   ")).collect();
        assert!(table.len() >= 5, "{shown}");
        for row in table {
            assert!(row.chars().count() <= 80, "{line}: {row}");
        }
        assert!(shown.contains("the 0 qu") && shown.contains("… stands where a text is too long"), "{shown}");
    }
    // The statistics of a summary stand one below another where they would be too wide side by side.
    let shown = words(&folder, tables[2]);
    for part in ["count", "mean", "standard-deviation", "0.05", "0.95"] {
        let starts = |line: &str| line.contains("the 0 qu") || line.trim_start().starts_with(part);
        assert!(shown.lines().any(|line| starts(line) && line.contains(part)), "{part}: {shown}");
    }
}

/// A program's answer was not drawn, and nothing said so.
#[cfg(target_os = "linux")]
#[test]
fn the_answer_of_a_program_is_drawn() {
    let folder = Folder::new(format!("value\n{}", "5\n".repeat(4000)));
    let line = "run data.csv --epsilon 5 --output number --range 0,10 --blocks 40 --no-time-padding --block-time 120 --plot out.svg -- echo 5";
    assert_eq!(folder.code(line), 0);
    let picture = std::fs::read_to_string(folder.path("out.svg")).expect("a picture");
    assert!(picture.contains("program"), "{picture}");
    assert_eq!(folder.code(&line.replace("out.svg", "data.csv")), 2);
}
