//! A unit that a question fixed by a slip, and how its steward puts it right.

mod support;

use std::fmt::Write as _;
use support::Folder;

/// Thirty people with ten visits each, in one of three towns.
fn visits() -> Folder {
    let mut text = String::from("person,town,minutes\n");
    for row in 0..300 {
        writeln!(text, "p{},t{},{row}", row % 30, row % 3).expect("a string");
    }
    Folder::new(text)
}

fn said(folder: &Folder, line: &str) -> (i32, String) {
    let output = folder.run(line);
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code().expect("no signal"), text)
}

#[test]
fn a_slip_in_the_unit_is_put_right_by_the_steward_in_the_open() {
    let folder = visits();
    let slip = folder.json("count data.csv --unit town --epsilon 0.1 --request-id slip");
    let (code, words) = said(&folder, "budget set data.csv --unit person --epsilon 5");
    assert_eq!(code, 2);
    assert_eq!(
        words,
        "equipoise: data set 'data.csv' has spent epsilon 0.1 for one town (add-remove), and that bounds nothing for one person \
         (add-remove); to count for that from now on, with what was spent kept in the log but no longer counted, say --anew\n"
    );
    let (code, words) = said(&folder, "budget set data.csv --unit person --epsilon 5 --anew");
    assert_eq!(code, 0, "{words}");
    let not_bounded = "data.csv: epsilon 0.1 was spent for one town (add-remove) until ";
    let by_these = "it is kept, not counted, and NOT bounded by the figures for one person (add-remove)";
    assert!(words.starts_with("data.csv: limit epsilon 5, epsilon 5 left\n"), "{words}");
    for line in ["budget show data.csv", "budget verify"] {
        let (code, words) = said(&folder, line);
        assert!(code == 0 && words.contains(not_bounded) && words.contains(by_these), "{line}: {words}");
    }
    let shown = folder.json("budget show data.csv");
    assert_eq!((&shown[0]["unit"], &shown[0]["spent"]["epsilon"]), (&"person".into(), &"0".into()));
    for earlier in [&shown[0]["earlier"], &folder.json("budget verify")["earlier"]] {
        assert_eq!((&earlier[0]["unit"], &earlier[0]["spent"]["epsilon"]), (&"town".into(), &"0.1".into()));
        assert_eq!(
            (&earlier[0]["charges"], &earlier[0]["bounded_by_figures_in_force"]),
            (&1.into(), &false.into())
        );
    }
    let exported: serde_json::Value = serde_json::from_slice(&folder.run("budget export").stdout).unwrap();
    let accounts: Vec<_> = exported["data_sets"].as_array().unwrap().iter().collect();
    assert_eq!((&accounts[0]["unit"], &accounts[0]["in_force"]), (&"town".into(), &false.into()));
    let (_, log) = said(&folder, "budget log");
    assert!(log.contains("begun anew"), "{log}");
    // The people are counted from here on, and the limit holds.
    let count = folder.json("count data.csv --epsilon 4");
    assert_eq!(
        (&count["guarantee"]["unit"], &count["remaining"]["epsilon"]),
        (&"person".into(), &"1".into())
    );
    assert_eq!(folder.code("count data.csv --epsilon 2"), 4);
    let (code, words) = said(&folder, "count data.csv --unit town --epsilon 0.1 --request-id slip");
    assert!(code == 2 && words.contains("began anew"), "{words}");
    let (code, words) = said(&folder, "count data.csv --epsilon 0.1 --request-id slip");
    assert!(code == 2 && words.contains("was used for another request"), "{words}");
    let explained = |release: &serde_json::Value| {
        said(&folder, &format!("explain {}", release["receipt"]["id"].as_str().unwrap())).1
    };
    assert!(explained(&slip).contains("is no part of the sum in force, and is not bounded by it"));
    assert!(explained(&count).contains(not_bounded) && explained(&count).contains(by_these));
}

/// The same words of a request mean another unit after the change: they are no replay.
#[test]
fn a_request_id_of_before_does_not_answer_for_the_new_unit() {
    let folder = visits();
    folder.json("count data.csv --epsilon 0.1 --request-id r");
    assert_eq!(folder.code("budget set data.csv --unit person --epsilon 5 --anew"), 0);
    let (code, words) = said(&folder, "count data.csv --epsilon 0.1 --request-id r");
    assert!(code == 2 && words.contains("was charged before the data set began anew"), "{words}");
    assert_eq!(folder.charges(), 1);
}

#[test]
fn nothing_spent_nothing_to_lose_and_questions_change_nothing() {
    let folder = visits();
    assert_eq!(folder.code("budget set data.csv --unit town --epsilon 5"), 0);
    assert_eq!(folder.code("budget set data.csv --unit person --adjacency replace --epsilon 5"), 0);
    let shown = folder.json("budget show data.csv");
    assert_eq!((&shown[0]["unit"], &shown[0]["adjacency"]), (&"person".into(), &"replace".into()));
    assert_eq!(folder.code("count data.csv --unit town --epsilon 1"), 2);
    assert_eq!(folder.code("count data.csv --epsilon 1 --anew"), 2, "no question has such a flag");
    // Back to rows, for which there is no column.
    assert_eq!(folder.code("budget set data.csv --unit row --adjacency add-remove --epsilon 5"), 0);
    assert_eq!(folder.json("budget show data.csv")[0]["unit"], "row");
    assert!(folder.json("budget verify")["earlier"].as_array().unwrap().is_empty());
    let (code, words) = said(&folder, "budget set data.csv --epsilon 6 --anew");
    assert!(
        code == 0 && words.contains("counts for one row (add-remove) already; nothing begins anew"),
        "{words}"
    );
}

/// Its charge is part of the old sum, so its answers would be free under the new one.
#[test]
fn a_monitor_of_before_does_not_go_on_for_the_new_unit() {
    let folder = visits();
    let watch = "monitor data.csv --unit person --epsilon 1 --delta 1e-6 --budget-per-unit 2 --state m.state";
    assert_eq!(folder.code("budget set data.csv --epsilon 100 --delta 1e-3"), 0);
    assert_eq!(folder.code(watch), 0);
    assert_eq!(folder.code(watch), 0, "it goes on");
    assert_eq!(folder.code("budget set data.csv --unit person --epsilon 100 --delta 1e-3 --anew"), 0);
    let (code, words) = said(&folder, watch);
    assert!(code == 2 && words.contains("that counts"), "{code} {words}");
}
