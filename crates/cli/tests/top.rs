//! The most frequent values, as a user asks for them.

mod support;

use serde_json::json;
use std::fmt::Write as _;
use support::Folder;

/// Towns with 900, 700, 500 and 40 rows, and 60 of one row each.
fn towns() -> Folder {
    let mut text = String::from("town,year\n");
    for (town, rows) in [("Brook", 700), ("Arden", 900), ("Dale", 40), ("Clay", 500)] {
        (0..rows).for_each(|row| writeln!(text, "{town},{}", 2020 + row % 2).expect("a string"));
    }
    (0..60).for_each(|row| writeln!(text, "hamlet {row},2020").expect("a string"));
    Folder::new(text)
}

/// Leads of hundreds of rows: another answer has a chance below e^-60.
#[test]
fn stated_values_come_in_their_order_and_found_ones_as_a_set() {
    let folder = towns();
    let stated = folder.json("top data.csv town 2 --among Arden,Brook,Clay,Dale --epsilon 1");
    assert_eq!(stated["value"], json!(["Arden", "Brook"]));
    assert_eq!((&stated["mechanism"], &stated["error"]["kind"]), (&json!("permute-and-flip"), &json!("gap")));
    let found = folder.json("top data.csv town 3 --epsilon 1 --delta 1e-6");
    assert_eq!(found["value"], json!(["Arden", "Brook", "Clay"]));
    assert_eq!((&found["mechanism"], &found["error"]["kind"]), (&json!("stable"), &json!("exact")));
    let shown = folder.run("top data.csv town 2 --among Arden,Brook,Clay,Dale --epsilon 1");
    let shown = String::from_utf8(shown.stdout).expect("text");
    assert!(shown.contains("top of town: Arden, Brook"), "{shown}");
    assert!(shown.contains("each value that is not among these has at most 9 rows more"), "{shown}");
}

/// The fifth is one of sixty towns with a row each.
#[test]
fn a_set_whose_last_value_does_not_lead_is_refused() {
    let folder = towns();
    let refused = folder.run("top data.csv town 5 --epsilon 1 --delta 1e-6");
    assert_eq!(refused.status.code(), Some(3));
    let text =
        String::from_utf8_lossy(&refused.stdout).to_string() + &String::from_utf8_lossy(&refused.stderr);
    assert!(text.contains("the last of the values does not lead by enough"), "{text}");
}

#[test]
fn it_is_asked_by_group_in_batches_and_in_simulations() {
    let folder = towns();
    let grouped =
        folder.json("top data.csv town 2 --group-by year --keys 2020,2021 --epsilon 2 --delta 1e-6");
    let groups = grouped["groups"].as_array().expect("groups");
    assert!(groups.iter().all(|group| group["value"] == json!(["Arden", "Brook"])), "{grouped}");
    folder.write(
        "questions.json",
        r#"{"data": "data.csv", "epsilon": 2, "delta": "1e-6", "questions": [
            {"statistic": "top", "column": "town", "k": 1}, {"statistic": "top", "column": "town", "k": "3"}]}"#,
    );
    let batch = folder.json("batch questions.json");
    assert_eq!(batch["answers"][0]["value"], json!(["Arden"]));
    assert_eq!(batch["answers"][1]["value"], json!(["Arden", "Brook", "Clay"]));
    // What was asked about before is registered, and nobody simulates on that.
    let told =
        towns().run("simulate --trials 10 top data.csv town 2 --among Arden,Brook,Clay --epsilon 1 --json");
    let told = String::from_utf8(told.stdout).expect("text");
    assert!(told.contains(r#""truth":["Arden","Brook"]"#) && told.contains(r#""held":10"#), "{told}");
}

#[test]
fn what_is_missing_is_said() {
    let folder = towns();
    for (line, said) in [
        ("top data.csv town --epsilon 1", "how many of the most frequent values?"),
        ("top data.csv town 2 --epsilon 1", "top needs a delta above 0"),
        ("top data.csv town 2 --among Arden,Brook --epsilon 1", "2 of 2 candidates are all of them"),
    ] {
        let output = folder.run(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        let error = String::from_utf8(output.stderr).expect("text");
        assert!(error.contains(said), "{error}");
    }
}
