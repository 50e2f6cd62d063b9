//! Bins, ends, distinct values and distributions, as a user asks for them. At epsilon 40 noise exceeds 3 rows with a probability below e^-100.

mod support;

use serde_json::Value;
use std::fmt::Write as _;
use support::Folder;

/// 3,000 people: pay 0 to 2,990 in tens, a day each of 300 days, eleven towns, and no pay for every thirtieth.
fn people() -> Folder {
    let mut text = String::from("pay,hired,town,person\n");
    for person in 0..3000 {
        let pay = if person % 30 == 29 { String::new() } else { (person % 300 * 10).to_string() };
        let (month, day) = (person % 10 + 1, person / 10 % 28 + 1);
        writeln!(text, "{pay},2026-{month:02}-{day:02},town {},{}", person % 11, person / 3)
            .expect("a string");
    }
    Folder::with("people.csv", text)
}

fn keys(release: &Value) -> Vec<&str> {
    let groups = release["groups"].as_array().unwrap_or_else(|| panic!("{release}"));
    groups.iter().map(|group| group["key"].as_str().expect("a text")).collect()
}

fn values(release: &Value) -> Vec<f64> {
    let groups = release["groups"].as_array().unwrap_or_else(|| panic!("{release}"));
    groups.iter().map(|group| group["value"].as_f64().expect("a number")).collect()
}

fn near(release: &Value, truths: &[f64], within: f64) {
    let values = values(release);
    assert_eq!(values.len(), truths.len(), "{release}");
    for (value, truth) in values.iter().zip(truths) {
        assert!((value - truth).abs() <= within, "{value} is not near {truth}: {release}");
    }
}

fn fails(folder: &Folder, line: &str, said: &str) {
    let error = folder.fails(line);
    assert!(error.contains("exit 2") && error.contains(said), "{error}");
}

#[test]
fn bins_have_public_edges_and_count_what_lies_outside() {
    let folder = people();
    let bins = folder.json("histogram people.csv pay --bins 3 --range 0,1500 --epsilon 40");
    assert_eq!(keys(&bins), ["below 0", "0 .. 500", "500 .. 1000", "1000 .. 1500", "above 1500"]);
    // 2,900 rows with pay, 290 values of ten rows each: the last bin has its own end.
    near(&bins, &[0.0, 490.0, 480.0, 490.0, 1440.0], 3.0);
    assert_eq!((&bins["spent"]["epsilon"], &bins["spent"]["delta"]), (&"40".into(), &"0".into()));
    let wide = folder.json("histogram people.csv pay --width 1000 --range 0,2500 --epsilon 40");
    assert_eq!(keys(&wide), ["below 0", "0 .. 1000", "1000 .. 2000", "2000 .. 3000", "above 3000"]);
    let shown = folder.run("histogram people.csv pay --width 1000 --range 0,2500 --epsilon 40").stdout;
    let shown = String::from_utf8(shown).expect("text");
    let lines: Vec<&str> = shown.lines().map(str::trim_start).collect();
    let place = |start: &str| lines.iter().position(|line| line.starts_with(start)).expect(start);
    assert!(
        place("below 0") < place("0 .. 1000") && place("1000 .. 2000") < place("2000 .. 3000"),
        "{shown}"
    );
}

#[test]
fn bins_of_a_width_are_found_and_sort_by_their_numbers() {
    let folder = people();
    let found = folder.json("histogram people.csv pay --width 500 --epsilon 40 --delta 1e-6");
    assert_eq!(
        keys(&found),
        ["0 .. 500", "500 .. 1000", "1000 .. 1500", "1500 .. 2000", "2000 .. 2500", "2500 .. 3000"]
    );
    assert_eq!(found["spent"]["delta"], "0.000001");
    let days = folder.json(
        "histogram people.csv hired --type hired=date --bins 2 --range 2026-01-01,2026-12-31 --epsilon 40",
    );
    assert_eq!(keys(&days)[1..3], ["2026-01-01 .. 2026-07-02", "2026-07-02 .. 2026-12-31"]);
    near(&days, &[0.0, 1811.0, 1189.0, 0.0], 3.0);
    let public = people();
    let shown = public
        .run("simulate --trials 60 histogram people.csv pay --bins 2 --range 0,3000 --epsilon 1")
        .stdout;
    let shown = String::from_utf8(shown).expect("text");
    assert!(shown.contains("0 .. 1500") && shown.contains("1450"), "{shown}");
}

#[test]
fn bins_that_cannot_be_cost_nothing() {
    let folder = people();
    for (line, said) in [
        ("histogram people.csv pay --bins 3 --epsilon 1", "bins between which ends?"),
        ("histogram people.csv pay --bins 0 --range 0,1 --epsilon 1", "give a whole number from 1 to 10000"),
        (
            "histogram people.csv pay --bins 3 --width 2 --range 0,1 --epsilon 1",
            "a number or a width, not both",
        ),
        ("histogram people.csv pay --width 5 --epsilon 1", "finding bins needs a delta above 0"),
        ("histogram people.csv pay --range 0,1 --epsilon 1", "histogram by group takes no range"),
        (
            "histogram people.csv pay --bins 3 --range 0,1 --group-by town --epsilon 1",
            "finding keys needs a delta above 0",
        ),
        (
            "histogram people.csv pay --bins 3 --range 0,1 --keys 3 --epsilon 1",
            "keys are those of --group-by, and bins and points have none",
        ),
        (
            "ecdf people.csv pay --at 3 --group-by town --unit person --max-groups-per-unit 2 --epsilon 1 --delta 1e-6",
            "leave --max-groups-per-unit out",
        ),
    ] {
        fails(&folder, line, said);
    }
    assert_eq!(folder.charges(), 0);
}

/// Each group has all bins, or all points, after its own key; JSON has both, and tables and pictures keep them in their order.
#[test]
fn bins_and_points_of_groups() {
    let towns = || {
        let folder = people();
        let text = std::fs::read_to_string(folder.path("people.csv")).expect("a file");
        std::fs::write(folder.path("people.csv"), text.replace("town ", "t")).expect("a file");
        folder
    };
    let folder = towns();
    let pairs = |release: &Value| -> Vec<(String, String)> {
        let groups = release["groups"].as_array().unwrap_or_else(|| panic!("{release}"));
        let text = |group: &Value, place: usize| group["key"][place].as_str().expect("a text").to_string();
        groups.iter().map(|group| (text(group, 0), text(group, 1))).collect()
    };
    let line = "histogram people.csv pay --bins 2 --range 0,3000 --group-by town";
    let bins = folder.json(&format!("{line} --keys t1,t3 --epsilon 40"));
    let labels = ["below 0", "0 .. 1500", "1500 .. 3000", "above 3000"];
    let expected: Vec<(String, String)> = ["t1", "t3"]
        .iter()
        .flat_map(|town| labels.map(|label| (town.to_string(), label.to_string())))
        .collect();
    assert_eq!(pairs(&bins), expected);
    assert_eq!(
        (&bins["group_by"], &bins["spent"]["delta"]),
        (&serde_json::json!(["town", "pay"]), &"0".into())
    );
    // 3,000 people in eleven towns, of whom 29 of 30 have a pay.
    near(&bins, &[0.0, 132.0, 132.0, 0.0, 0.0, 132.0, 132.0, 0.0], 6.0);
    let found = folder.json(&format!("{line} --epsilon 40 --delta 1e-6"));
    assert_eq!((pairs(&found).len(), &found["spent"]["delta"]), (44, &"0.000001".into()));
    let shares = folder.json("ecdf people.csv pay --at 1490,5000 --group-by town --epsilon 40 --delta 1e-6");
    assert_eq!(pairs(&shares).len(), 22);
    assert!(values(&shares).chunks(2).all(|pair| (pair[0] - 0.5).abs() < 0.1 && pair[1] > 0.97), "{shares}");
    let shown = folder.run(&format!("{line} --keys t3 --epsilon 40 --plot bins.svg")).stdout;
    let shown = String::from_utf8(shown).expect("text");
    let places = labels.map(|label| shown.find(label).unwrap_or_else(|| panic!("{shown}")));
    assert!(places.is_sorted() && shown.starts_with("histogram by town, pay\n"), "{shown}");
    let picture = std::fs::read_to_string(folder.path("bins.svg")).expect("a picture");
    assert!(picture.contains("t3, 0 .. 1500"), "{picture}");
    let points = "ecdf people.csv pay --at 1490 --group-by town";
    let shown =
        String::from_utf8(folder.run(&format!("{points} --epsilon 40 --delta 1e-6")).stdout).expect("text");
    assert!(
        shown.starts_with("ecdf of pay by town\n") && shown.contains("those of each group hold at once"),
        "{shown}"
    );
    let drawn = folder.json("ecdf people.csv pay --group-by town --keys t3 --epsilon 60");
    assert!(pairs(&drawn).iter().all(|(town, point)| town == "t3" && point.starts_with("at ")), "{drawn}");
    // Beside other questions about the same groups each finds its keys alone.
    std::fs::write(
        folder.path("both.json"),
        r#"{"epsilon": 40, "delta": "1e-6", "group_by": "town", "column": "pay",
            "questions": [{"statistic": "ecdf", "at": "1490"}, {"statistic": "mean", "range": "0,3000"}]}"#,
    )
    .expect("a batch");
    let both = folder.json("batch both.json people.csv");
    assert_eq!(both["answers"][0]["groups"].as_array().map(Vec::len), Some(11), "{both}");
    // Of public rows a simulation holds each bin against its own truth.
    let public = towns();
    let simulated = public.run(&format!("simulate --trials 40 --json {line} --keys t3 --epsilon 1")).stdout;
    let simulated: Value = serde_json::from_slice(&simulated).expect("JSON");
    let series = simulated["series"].as_array().expect("series");
    assert_eq!(series.len(), 4, "{simulated}");
    assert!(series.iter().all(|one| one["bars"]["held"].as_u64() > Some(30)), "{simulated}");
}

/// The largest value is never told: what is told has a few rows beyond it.
#[test]
fn ends_are_told_from_inside() {
    let folder = people();
    let largest = folder.json("max people.csv pay --epsilon 20");
    let value = largest["value"].as_f64().unwrap_or_else(|| panic!("{largest}"));
    let beyond = largest["error"]["rank"].as_f64().expect("ranks");
    assert!(value <= 2980.0 && value >= 2970.0 - beyond, "{largest}");
    let shown = String::from_utf8(folder.run("max people.csv pay --epsilon 20").stdout).expect("text");
    assert!(shown.contains("the answer is not above the true one"), "{shown}");
    let least = folder.json("min people.csv hired --type hired=date --epsilon 20");
    assert_eq!(least["type"], "date");
    let day = least["value"].as_str().expect("a day");
    assert!(("2026-01-01".."2026-03-01").contains(&day), "{least}");
    let by = folder
        .json("max people.csv pay --range 0,5000 --resolution 10 --group-by town --epsilon 40 --delta 1e-6");
    assert_eq!(by["groups"].as_array().expect("groups").len(), 11);
    let few = Folder::new("value\n1\n2\n3\n").json("max data.csv value --epsilon 1");
    assert_eq!(few["outcome"], "refused");
    let public = people();
    let shown = String::from_utf8(public.run("simulate --trials 60 min people.csv pay --epsilon 1").stdout);
    let shown = shown.expect("text");
    assert!(shown.contains("truth      0") && shown.contains("of 60 held"), "{shown}");
}

#[test]
fn values_and_people_are_counted_once() {
    let folder = people();
    let towns = folder.json("distinct people.csv town --epsilon 40");
    assert!((towns["value"].as_f64().expect("a number") - 11.0).abs() <= 3.0, "{towns}");
    let by = folder.json("distinct people.csv town --where pay<100 --epsilon 40");
    assert!(by["value"].as_f64().expect("a number") <= 14.0, "{by}");
    let other = people();
    let persons = other.json("distinct people.csv --unit person --epsilon 40");
    assert!((persons["value"].as_f64().expect("a number") - 1000.0).abs() <= 3.0, "{persons}");
    fails(&folder, "distinct people.csv --epsilon 1", "distinct of which column?");
    let public = people();
    let shown =
        String::from_utf8(public.run("simulate --trials 40 distinct people.csv town --epsilon 1").stdout);
    assert!(shown.expect("text").contains("truth      11"));
}

#[test]
fn a_distribution_grows_from_point_to_point() {
    let folder = people();
    let shares = folder.json("ecdf people.csv pay --at 0,990,5000 --epsilon 40");
    assert_eq!(keys(&shares), ["up to 0", "up to 990", "up to 5000"]);
    near(&shares, &[10.0 / 2900.0, 970.0 / 2900.0, 1.0], 0.02);
    assert!(values(&shares).is_sorted(), "{shares}");
    let shown =
        String::from_utf8(folder.run("ecdf people.csv pay --at 0,990 --epsilon 40").stdout).expect("text");
    assert!(shown.contains("answer in %") && shown.contains("hold at once"), "{shown}");
    fails(&folder, "ecdf people.csv pay --at 10,0 --epsilon 1", "in growing order");
    let public = people();
    let shown =
        String::from_utf8(public.run("simulate --trials 40 ecdf people.csv pay --at 990 --epsilon 1").stdout);
    assert!(shown.expect("text").contains("up to 990"));
}
