//! Simulations, pictures, diagnoses, completions and manual pages, through the binary.

mod support;

use serde_json::Value;
use std::{fs, io::Write, path::Path, process::Output};
use support::Folder;

/// A thousand rows of two towns.
fn two_towns() -> Folder {
    let rows: Vec<String> =
        (0..1000).map(|row| format!("{},{}\n", row % 50, ["Ayr", "Bath"][row % 2])).collect();
    Folder::new(format!("value,town\n{}", rows.concat()))
}

/// What it says, as JSON, with nothing beside it.
fn json(folder: &Folder, line: &str) -> Value {
    let output = folder.run(line);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn svg(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a picture");
    assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{text}");
    text
}

#[test]
fn a_simulation_charges_nothing_and_shows_every_answer() {
    let folder = two_towns();
    let shown = folder
        .json("simulate --trials 50 --json --plot out.svg median data.csv value --epsilon 5 --range 0,50");
    assert_eq!((&shown["outcome"], &shown["trials"]), (&"simulated".into(), &50.into()));
    assert_eq!(shown["answers"].as_array().expect("answers").len(), 50);
    assert!(svg(&folder.path("out.svg")).contains("simulated, not released"));
    assert!(!folder.path("equipoise.ledger").exists());
    let words = String::from_utf8(folder.run("simulate --trials 20 count data.csv --epsilon 1").stdout)
        .expect("text");
    assert!(words.contains("simulated; nothing was charged") && words.contains("truth      1000"), "{words}");
}

/// The words without the spaces that fill the ends of lines.
fn words(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

/// At epsilon 1000 the noise of a count, a rank or a lead is not zero with a chance below e^-190 for each answer.
#[test]
fn a_simulation_shows_every_number_and_text_of_the_answers() {
    let folder = two_towns();
    folder.write("towns.csv", format!("town\n{}{}", "Ayr\n".repeat(300), "Bath\n".repeat(60)));
    let shown = |line: &str| {
        let output = folder.run(line);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        words(&output)
    };
    assert_eq!(
        shown("simulate --trials 20 histogram data.csv town --epsilon 1000 --delta 1e-6"),
        "histogram by town, epsilon 1000 (simulated; nothing was charged or released)\n\
         \x20 trials     20, 0 refused\n\
         \x20        released  median  nine of ten between  truth  bars held\n\
         \x20  Ayr   20 of 20  500     500 and 500          500    20 of 20\n\
         \x20  Bath  20 of 20  500     500 and 500          500    20 of 20\n\
         \x20 bars       each says that it holds (95 % confidence)\n"
    );
    assert_eq!(
        shown("simulate --trials 20 quantile data.csv value 0.25,0.5 --epsilon 1000"),
        "quantile of value, epsilon 1000 (simulated; nothing was charged or released)\n\
         \x20 trials     20, 0 refused\n\
         \x20                 released  median  nine of ten between  truth  bars held\n\
         \x20  quantile 0.25  20 of 20  12      12 and 12            12     20 of 20\n\
         \x20  quantile 0.5   20 of 20  24      24 and 24            24     20 of 20\n\
         \x20 bars       each says that it holds (95 % confidence)\n"
    );
    assert_eq!(
        shown("simulate --trials 20 mode towns.csv town --epsilon 1000 --delta 1e-6"),
        "mode of town, epsilon 1000 (simulated; nothing was charged or released)\n\
         \x20 trials     20, 0 refused\n\
         \x20 answers    Ayr in 20 of 20\n\
         \x20 truth      Ayr\n\
         \x20 bars       20 of 20 held\n"
    );
    let select = shown("simulate --trials 20 select towns.csv town --among Ayr,Bath --epsilon 1000");
    assert!(
        select.contains("answers    Ayr in 20 of 20") && select.contains("bars       20 of 20"),
        "{select}"
    );
    let summary = shown("simulate --trials 20 summary data.csv value --epsilon 1000 --range 0,50");
    for part in ["count", "mean", "standard-deviation", "quantile 0.05", "quantile 0.95"] {
        assert!(summary.contains(&format!("   {part} ")), "{part}: {summary}");
    }
    let many = shown("simulate --trials 5 histogram data.csv value --epsilon 1000 --delta 1e-6");
    assert!(many.contains("more       38 more lines; --json has all"), "{many}");
    folder.write("few.csv", format!("town\n{}Bath\n", "Ayr\n".repeat(300)));
    // A key of a single row is told with a probability of at most delta.
    let unsaid = shown("simulate --trials 5 histogram few.csv town --epsilon 1000 --delta 1e-20");
    assert!(unsaid.contains("missing    1 key that rows have was released in no trial"), "{unsaid}");
}

#[test]
fn a_simulation_as_json_has_bars_and_series() {
    let folder = two_towns();
    let shown = json(&folder, "simulate --trials 20 --json mean data.csv value --epsilon 5 --range 0,50");
    let answers = shown["answers"].as_array().expect("answers");
    assert_eq!(answers.len(), 20);
    let bars = |answer: &Value| answer["error"]["low"].is_number() && answer["error"]["high"].is_number();
    // A mean is refused where a noisy count of 1,000 rows is below 1: a chance below e^-700.
    assert!(answers.iter().all(bars), "{shown}");
    let series = &shown["series"][0];
    assert_eq!((&series["told"], &series["truth"]), (&20.into(), &24.5.into()), "{series}");
    assert_eq!(series["bars"]["judged"], 20);
    let shown = folder
        .json("simulate --trials 9 --json median data.csv value --group-by town --keys Ayr,Bath --epsilon 5");
    let keys: Vec<&Value> =
        shown["series"].as_array().expect("series").iter().map(|one| &one["key"]).collect();
    assert_eq!(keys, ["Ayr", "Bath"]);
    assert_eq!(shown["answers"][0]["groups"].as_array().expect("groups").len(), 2);
}

#[test]
fn a_batch_is_simulated_and_drawn() {
    let folder = two_towns();
    let questions = r#"{"epsilon": 1000, "delta": "1e-6", "questions":
        [{"statistic": "count"}, {"statistic": "histogram", "column": "town"}]}"#;
    folder.write("questions.json", questions);
    let output = folder.run("simulate --trials 20 --plot out.svg batch questions.json data.csv");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let shown = words(&output);
    // At epsilon 500 for each, noise is zero but for e^-400.
    for part in
        ["batch, epsilon 1000 (simulated", "truth      1000; half of the answers are within 0", "   Ayr "]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let picture = svg(&folder.path("out.svg"));
    for part in ["question 2: count: nine answers of ten", "Ayr", "released in 20 of 20"] {
        assert!(picture.contains(part), "{part}");
    }
    let shown = json(&folder, "simulate --trials 20 --json batch questions.json data.csv");
    assert_eq!(shown["questions"][1]["series"][0]["truth"], 500, "{shown}");
    assert_eq!(shown["answers"][0].as_array().expect("two answers").len(), 2);
    // What a ledger knows is private for a batch too.
    assert_eq!(folder.run("count data.csv --epsilon 1").status.code(), Some(0));
    let refused = folder.run("simulate --trials 20 batch questions.json data.csv");
    assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0));
}

#[test]
fn a_data_set_of_a_ledger_is_not_simulated() {
    let folder = two_towns();
    assert_eq!(folder.run("count data.csv --epsilon 1").status.code(), Some(0));
    let refused = folder.run("simulate count data.csv --epsilon 1");
    let said = String::from_utf8(refused.stderr).expect("text");
    assert_eq!(refused.status.code(), Some(2));
    assert!(said.contains("is in a ledger, so its rows are private"), "{said}");
    assert!(refused.stdout.is_empty());
    // Nor as a neighbour, nor behind a pattern, nor with another ledger named.
    folder.write("public.csv", "value,town\n1,Ayr\n");
    for line in [
        "simulate --trials 20 --neighbour data.csv count public.csv --epsilon 1000",
        "simulate --trials 20 --neighbour [d]ata.csv count public.csv --epsilon 1000",
        "simulate --trials 20 count [d]ata.csv --epsilon 1",
        "simulate --trials 20 count data.csv --epsilon 1 --ledger none.ledger",
    ] {
        let refused = folder.run(line);
        assert_eq!(refused.status.code(), Some(2), "{line}");
        assert!(refused.stdout.is_empty(), "{line}");
    }
}

/// The true epsilon is 1. A bound above 2 needs counts of 2,000 runs that are off by a factor of e: below 1e-60.
#[test]
fn a_neighbour_tells_a_broken_promise() {
    let folder = two_towns();
    let text = fs::read_to_string(folder.path("data.csv")).expect("a file");
    folder.write("less.csv", text.strip_suffix("49,Bath\n").expect("its last record"));
    let shown =
        json(&folder, "simulate --trials 4000 --json --neighbour less.csv count data.csv --epsilon 1");
    let bound = shown["audit"]["epsilon_lower"].as_f64().expect("a bound");
    assert!((0.0..=2.0).contains(&bound), "{shown}");
    // A pipeline without noise, as files of its answers.
    folder.write("one.txt", "1000\n".repeat(400));
    folder.write("two.txt", "999\n".repeat(400));
    let alarm = folder.run("audit --compare one.txt two.txt --epsilon 1");
    assert_eq!(alarm.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&alarm.stdout).starts_with("ALARM"), "{alarm:?}");
    let same = folder.run("audit --compare one.txt one.txt --epsilon 1 --json");
    assert_eq!(same.status.code(), Some(0));
}

/// The value is 5 in both, and the noisy number of rows beside it, about 1300 and 1000 with noise of scale 20, was not looked at. That fewer
/// than half of 4,000 runs are on their side of 1150 has a probability below e^-1000.
#[test]
fn a_neighbour_is_compared_with_all_that_a_release_shows() {
    let folder = Folder::with("more.csv", format!("x\n{}", "5\n".repeat(1300)));
    folder.write("less.csv", format!("x\n{}", "5\n".repeat(1000)));
    let words = "simulate --trials 4000 --neighbour less.csv median more.csv x --range 0,10 --resolution 1 --epsilon 1";
    let found = folder.run(words);
    let said = String::from_utf8(found.stdout).expect("text");
    assert_eq!(found.status.code(), Some(1), "{said}");
    assert!(said.contains("ALARM: the promise does not hold"), "{said}");
    let shown = json(&folder, &format!("{words} --json"));
    let rows = shown["answers"][0]["rows"].as_i64().expect("the noisy number of rows");
    assert!(shown["audit"]["verdict"] == "alarm" && rows > 0, "{}", shown["audit"]);
}

#[test]
fn pictures_of_answers_and_groups() {
    let folder = two_towns();
    assert_eq!(folder.run("count data.csv --epsilon 1 --plot count.svg").status.code(), Some(0));
    assert!(svg(&folder.path("count.svg")).contains("budget: epsilon 1 spent"));
    let groups = folder.run("count data.csv --group-by town --keys Ayr,Bath --epsilon 1 --plot groups.svg");
    assert_eq!(groups.status.code(), Some(0));
    let picture = svg(&folder.path("groups.svg"));
    assert!(picture.contains("Ayr") && picture.contains("Bath"));
}

/// --plot took the place of whatever it was given, the data and the ledger too, after the charge.
#[test]
fn a_picture_takes_the_place_of_no_other_file_and_is_checked_before_the_charge() {
    let folder = two_towns();
    assert_eq!(folder.run("count data.csv --epsilon 1 --ledger own.svg").status.code(), Some(0));
    let data = fs::read(folder.path("data.csv")).expect("the data");
    for (words, said) in [
        ("count data.csv --epsilon 1 --plot data.csv", "ends in .svg"),
        ("count data.csv --epsilon 1 --ledger own.svg --plot own.svg", "would take the place of"),
        (
            "count data.csv --epsilon 1 --ledger own.svg --plot no/such/folder.svg",
            "no folder for the picture",
        ),
    ] {
        let refused = folder.run(words);
        assert_eq!(refused.status.code(), Some(2), "{words}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(said), "{words}: {refused:?}");
    }
    assert_eq!(fs::read(folder.path("data.csv")).expect("the data"), data);
    let next = json(&folder, "count data.csv --epsilon 1 --ledger own.svg --json");
    assert_eq!(next["spent"]["epsilon"], "2", "{next}");
}

#[test]
fn a_check_names_what_is_bad() {
    let folder = two_towns();
    folder.write("bad.csv", "value,day\n1,2024-02-29\nx,2024-02-30\n\"1,2\n3,\n");
    let shown = json(&folder, "check bad.csv --json");
    assert_eq!((shown["records"].as_u64(), shown["unreadable"].as_u64()), (Some(4), Some(1)), "{shown}");
    assert_eq!(shown["first_unreadable"], serde_json::json!([3]));
    let columns = shown["columns"].as_array().expect("columns");
    assert_eq!((columns[0]["numbers"].as_u64(), columns[1]["dates"].as_u64()), (Some(2), Some(1)), "{shown}");
    let words = String::from_utf8(folder.run("check bad.csv").stdout).expect("text");
    assert!(words.starts_with("These figures are exact and not private"), "{words}");
    assert_eq!(folder.run("check missing.csv").status.code(), Some(2));
}

/// A file that is cut off was reported as if something had been charged for it.
#[test]
fn what_charges_nothing_says_so_where_rows_cannot_be_read() {
    let folder = two_towns();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(&fs::read(folder.path("data.csv")).expect("the rows")).expect("packed");
    let packed = packed.finish().expect("packed");
    fs::write(folder.path("cut.csv.gz"), &packed[..packed.len() - 9]).expect("written");
    for line in ["check cut.csv.gz", "simulate --trials 3 count cut.csv.gz --epsilon 1"] {
        let output = folder.run(line);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{line}: {words}");
        assert_eq!(
            words, "equipoise: the data could not be read to the end; nothing was charged\n",
            "{line}"
        );
    }
}

#[test]
fn completions_and_manual_pages() {
    let folder = two_towns();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.run(&format!("completions {shell}"));
        assert_eq!(script.status.code(), Some(0));
        // The script asks the program each time; tests/completing.rs has what it is told.
        assert!(String::from_utf8_lossy(&script.stdout).contains("EQUIPOISE_COMPLETE"), "{shell}");
    }
    let page = folder.run("man");
    assert!(String::from_utf8_lossy(&page.stdout).contains(".TH equipoise"));
    fs::create_dir(folder.path("pages")).expect("a folder");
    assert_eq!(folder.run("man --folder pages").status.code(), Some(0));
    assert!(folder.path("pages/equipoise-median.1").exists());
    assert_eq!(folder.run("man --folder none").status.code(), Some(2));
    assert_eq!(folder.run("completions sh").status.code(), Some(2));
}
