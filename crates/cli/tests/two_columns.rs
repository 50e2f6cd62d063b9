//! Correlations, covariances and drawn edges, as a user asks for them. At epsilon 40 noise on sums of 3,000 rows is below a hundredth of them with
//! a probability above 1 - e^-50.

mod support;

use std::fmt::Write as _;
use support::Folder;

/// 3,000 people of two towns: a number, twice that number, its opposite for one town, and a second number for two of three people.
fn people() -> Folder {
    let mut text = String::from("x,twice,turned,some,town\n");
    for person in 0..3000 {
        let x = person % 100;
        let (town, turned) = if person % 2 == 0 { ("Ayr", x) } else { ("Bath", 100 - x) };
        let some = if person % 3 == 0 { String::new() } else { (x * 3).to_string() };
        writeln!(text, "{x},{},{turned},{some},{town}", 2 * x).expect("a string");
    }
    Folder::with("people.csv", text)
}

#[test]
fn correlations_have_both_ranges_and_stay_between_minus_one_and_one() {
    let folder = people();
    let with = "--range 0,100 --range-y 0,200 --epsilon 40";
    let release = folder.json(&format!("correlation people.csv x twice {with}"));
    let value = release["value"].as_f64().expect("a number");
    assert!(value > 0.95 && release["error"]["high"].as_f64().expect("an end") <= 1.0, "{release}");
    assert_eq!(release["error"]["range"], serde_json::json!([0.0, 100.0]));
    assert_eq!(release["error"]["range_y"], serde_json::json!([0.0, 200.0]));
    assert_eq!(release["column"], "x and twice");
    // The variance of 0 .. 99 is 833.25.
    let release = folder.json(&format!("covariance people.csv x twice {with}"));
    assert!((release["value"].as_f64().expect("a number") - 1666.5).abs() < 100.0, "{release}");
    let shown = String::from_utf8(folder.run(&format!("correlation people.csv x twice {with}")).stdout);
    let shown = shown.expect("text");
    assert!(
        shown.contains("correlation of x and twice, values limited to 0 .. 100 and 0 .. 200: ")
            && shown.contains("with rows limited to 0 to 100 and 0 to 200, the true value lies between"),
        "{shown}"
    );
}

#[test]
fn ranges_are_found_and_rows_without_both_values_take_no_part() {
    let folder = people();
    let release = folder.json("correlation people.csv x some --epsilon 40");
    assert!(release["value"].as_f64().expect("a number") > 0.9, "{release}");
    assert!((release["rows"].as_f64().expect("a number") - 2000.0).abs() < 50.0, "{release}");
    assert!(release["error"]["range_y"].is_array(), "{release}");
}

#[test]
fn groups_batches_expressions_and_simulations_have_them() {
    let folder = people();
    let by = "correlation people.csv x turned --group-by town --keys Ayr,Bath --range 0,100 --range-y 0,100 --epsilon 40";
    let release = folder.json(by);
    let groups = release["groups"].as_array().expect("groups");
    let value = |place: usize| groups[place]["value"].as_f64().expect("a number");
    assert!(value(0) > 0.9 && value(1) < -0.9, "{release}");
    let batch = r#"{"epsilon": 40, "questions": [{"statistic": "covariance", "column": "x", "y": "100 - x", "range": [0, 100], "range_y": "0,100"}]}"#;
    folder.write("batch.json", batch);
    let answered = folder.json("batch batch.json people.csv");
    assert!(answered["answers"][0]["value"].as_f64().expect("a number") < -700.0, "{answered}");
    std::fs::copy(folder.path("people.csv"), folder.path("public.csv")).expect("a copy");
    let tried = folder
        .json("simulate --trials 40 correlation public.csv x twice --range 0,50 --range-y 0,200 --epsilon 4");
    let bars = &tried["series"][0]["bars"];
    // Forty bars of 95 %: 30 or fewer hold with a probability below 1e-5.
    assert!(bars["judged"] == 40 && bars["held"].as_u64().expect("a number") > 30, "{tried}");
}

#[test]
fn what_is_wrong_is_free_and_what_is_refused_says_what_would_do() {
    let folder = people();
    for (line, said) in [
        ("correlation people.csv x --epsilon 1", "correlation with which column?"),
        (
            "correlation people.csv x town --epsilon 1 --type town=text",
            "correlation of a text has no meaning",
        ),
        ("mean people.csv x --range-y 0,1 --epsilon 1", "--range-y"),
        ("covariance people.csv x twice --range-y 5 --epsilon 1", "range_y 5 is not accepted"),
    ] {
        let error = folder.fails(line);
        assert!(error.contains("exit 2") && error.contains(said), "{error}");
    }
    assert_eq!(folder.charges(), 0);
    folder.write("same.csv", format!("x,y\n{}", "5,7\n".repeat(3000)));
    let refused = folder.run("correlation same.csv x y --range 0,10 --range-y 0,10 --epsilon 1");
    let shown = String::from_utf8(refused.stdout).expect("text");
    assert_eq!(refused.status.code(), Some(3), "{shown}");
    assert!(
        shown.contains("may all be the same") && shown.contains("equipoise covariance same.csv x y"),
        "{shown}"
    );
}

/// At epsilon 40 noise on the sums is below a twentieth of a row's part in a hundred; coefficients of 2 and 0 are told within a tenth.
#[test]
fn a_regression_tells_coefficients_with_bars_and_what_they_explain() {
    let folder = people();
    let line = "regression people.csv twice --on x,turned --range 0,200 --range-on 0,100,0,100 --epsilon 40";
    let release = folder.json(line);
    let coefficient = |name: &str| release["value"]["coefficients"][name].as_f64().expect("a number");
    assert!((coefficient("x") - 2.0).abs() < 0.1 && coefficient("turned").abs() < 0.1, "{release}");
    assert!(release["value"]["r-squared"].as_f64().expect("a number") > 0.95, "{release}");
    assert_eq!(release["column"], "twice on x, turned");
    let answers = release["answers"].as_array().expect("answers");
    let names: Vec<&str> = answers.iter().filter_map(|answer| answer["statistic"].as_str()).collect();
    assert_eq!(names, ["intercept", "coefficient", "coefficient", "r-squared", "mean"]);
    assert_eq!(answers[1]["error"]["ranges"], serde_json::json!([[0.0, 100.0], [0.0, 100.0], [0.0, 200.0]]));
    let shown = String::from_utf8(folder.run(line).stdout).expect("text");
    for words in [
        "regression of twice on x, turned",
        "coefficient of turned",
        "the bars hold at once, of rows limited to x 0 to 100, turned 0 to 100, twice 0 to 200; about ",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    std::fs::copy(folder.path("people.csv"), folder.path("public.csv")).expect("a copy");
    let tried = folder.json("simulate --trials 20 regression public.csv twice --on x,turned --epsilon 20");
    let bars = &tried["series"][1]["bars"];
    // Twenty bars of 95 %: 12 or fewer hold with a probability below 1e-5.
    let told = tried["series"][1]["statistic"] == "coefficient of x";
    assert!(told && bars["held"].as_u64() > Some(12), "{tried}");
    let searched =
        folder.json("regression people.csv x --on twice --epsilon 40 --delta 1e-6 --mechanism gaussian");
    assert_eq!(searched["mechanism"], "gaussian");
    let half = searched["value"]["coefficients"]["twice"].as_f64().expect("a number");
    assert!((half - 0.5).abs() < 0.1, "{searched}");
}

#[test]
fn a_regression_of_few_rows_is_refused_and_a_wrong_one_is_free() {
    let folder = people();
    for (line, said) in [
        ("regression people.csv x --epsilon 1", "regression on which columns?"),
        ("regression people.csv x --on x --epsilon 1", "'x' is in the model twice"),
        ("regression people.csv x --on twice --range-on 1 --epsilon 1", "has 1 numbers for 1 columns"),
        ("regression people.csv x --on nobody --epsilon 1", "nobody"),
        ("mean people.csv x --on twice --epsilon 1", "--on"),
    ] {
        let error = folder.fails(line);
        assert!(error.contains("exit 2") && error.contains(said), "{error}");
    }
    assert_eq!(folder.charges(), 0);
    let refused = folder.run(
        "regression people.csv twice --on x,turned --range 0,200000 --range-on 0,100000,0,100000 --epsilon 0.1",
    );
    let shown = String::from_utf8(refused.stdout).expect("text");
    assert_eq!(refused.status.code(), Some(3), "{shown}");
    assert!(shown.contains("may all be the same") || shown.contains("worse than the mean alone"), "{shown}");
}

#[test]
fn drawn_edges_have_about_as_many_rows_between_each_two() {
    let folder = people();
    let bins = folder.json("histogram people.csv twice --quantile-bins 4 --epsilon 40");
    let groups = bins["groups"].as_array().expect("bins");
    assert_eq!(groups.len(), 4, "{bins}");
    for group in groups {
        assert!((group["value"].as_f64().expect("a number") - 750.0).abs() < 20.0, "{bins}");
        assert!(group["error"]["given"].to_string().contains("hold at once"), "{bins}");
    }
    assert_eq!(bins["spent"]["epsilon"], "40");
    let curve = folder.json("ecdf people.csv x --epsilon 40");
    let points = curve["groups"].as_array().expect("points");
    assert_eq!(points.len(), 9, "{curve}");
    let shown = String::from_utf8(folder.run("ecdf people.csv x --epsilon 40").stdout).expect("text");
    assert!(shown.contains("all hold at once") && shown.contains(" at "), "{shown}");
    std::fs::copy(folder.path("people.csv"), folder.path("public.csv")).expect("a copy");
    let tried = folder.fails("simulate ecdf public.csv x --epsilon 40");
    assert!(tried.contains("differ from trial to trial"), "{tried}");
}
