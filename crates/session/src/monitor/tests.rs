//! Monitors over a ledger and a state file, begun, ended, taken up again.

use super::*;
use crate::{
    gather::tests::{FixedWords, Memory},
    plan::DataFacts,
    session,
};
use equipoise_core::loss::Approx;
use std::{fs, path::PathBuf};

/// Far from their thresholds at a scale of two: wrong with a probability below e^-500.
const HIGH: &str = r#"{"where": "salary >= 0", "threshold": 0}"#;
const LOW: &str = r#"{"where": "salary < 0", "threshold": 2000}"#;

struct Place {
    folder: tempfile::TempDir,
    memory: Memory,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // A thousand rows of five hundred people.
        let towns: Vec<String> = (0..1000).map(|row| format!(" p{} ", row % 500)).collect();
        let towns: Vec<&str> = towns.iter().map(String::as_str).collect();
        Self { folder, memory: Memory::new((0..1000).map(f64::from).collect(), &towns) }
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn ledger(&self) -> Ledger {
        Ledger::open(&self.folder.path().join("ledger")).unwrap()
    }

    fn spent(&self) -> String {
        self.ledger().balance("people", None).unwrap().spent().eps.to_string()
    }

    fn open(
        &self,
        request: &MonitorRequest,
        state: &Path,
        content: Content<'_>,
    ) -> Result<(Monitor, Ledger), OpenError> {
        let mut ledger = self.ledger();
        let facts = session::facts(Some(&ledger), "people", self.memory.columns()).unwrap();
        let plan = MonitorPlan::new(request, &facts).unwrap();
        let rows = || self.rows();
        let watched = Watched { rows: &rows, content: Some(content), state };
        Monitor::open(&plan, &watched, &mut ledger).map(|monitor| (monitor, ledger))
    }

    #[expect(clippy::unnecessary_wraps, reason = "opening rows can fail")]
    fn rows(&self) -> Result<Box<dyn Source + '_>, Lost> {
        Ok(Box::new(&self.memory))
    }

    fn ask(&self, request: &MonitorRequest, lines: &[&str]) -> Result<Vec<Value>, OpenError> {
        let state = self.state();
        let (mut monitor, ledger) = self.open(request, &state, &same)?;
        let rows = || self.rows();
        let watched = Watched { rows: &rows, content: Some(&same), state: &state };
        Ok(monitor.ask(lines, &watched, &ledger).unwrap())
    }
}

#[expect(clippy::unnecessary_wraps, reason = "opening content can fail")]
fn same() -> io::Result<Box<dyn Read>> {
    Ok(Box::new(&b"rows"[..]))
}

fn request() -> MonitorRequest {
    let word = |text: &str| Some(text.to_string());
    MonitorRequest {
        epsilon: word("20"),
        delta: word("1e-6"),
        budget_per_unit: word("2"),
        ..MonitorRequest::default()
    }
}

fn answers(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["answer"].as_str().unwrap_or("error")).collect()
}

#[test]
fn a_monitor_is_charged_once_and_remembers_whom_it_deleted() {
    let place = Place::new();
    let first = place.ask(&request(), &[HIGH, LOW]).unwrap();
    assert_eq!(answers(&first), ["above", "below"]);
    assert_eq!(first[1], json!({ "query": 2, "answer": "below" }));
    // Each has helped once and may once more; then nobody is left, after a restart too.
    let high = r#"{"where": "salary >= 0", "threshold": 500}"#;
    assert_eq!(answers(&place.ask(&request(), &[high, high]).unwrap()), ["above", "below"]);
    let again = place.ask(&request(), &[high]).unwrap();
    assert_eq!(again, [json!({ "query": 5, "answer": "below" })]);
    assert_eq!(place.spent(), "20");
    place.ledger().verify(None).unwrap();
    let state = place.state();
    let (monitor, _) = place.open(&request(), &state, &same).unwrap();
    assert!(monitor.resumed());
    let history: Vec<Value> = monitor.history().collect();
    assert_eq!(answers(&history), ["above", "below", "above", "below", "below"]);
    assert_eq!(history[2]["asked"], json!({ "where": "salary >= 0", "threshold": "500" }));
}

#[test]
fn people_say_yes_once_whatever_their_rows_and_sums_are_cut() {
    let place = Place::new();
    let by_person = MonitorRequest { unit: Some("town".into()), ..request() };
    let between = |threshold: u32| format!("{{\"where\": \"salary >= 0\", \"threshold\": {threshold}}}");
    // Five hundred people: far above 300 and far below 700, at a scale below two.
    assert_eq!(answers(&place.ask(&by_person, &[&between(300), &between(700)]).unwrap()), ["above", "below"]);
    let place = Place::new();
    let sums = MonitorRequest { sums: true, ..request() };
    // Rows 0, 1, .. 999 cut to 500: 374,750 in all, or 749.5 parts.
    let sum = |threshold: u32| format!("{{\"sum\": \"salary\", \"most\": 500, \"threshold\": {threshold}}}");
    assert_eq!(answers(&place.ask(&sums, &[&sum(275_000), &sum(475_000)]).unwrap()), ["above", "below"]);
    // Each of 500 people has p and p + 500, each cut to 500, then both to one: 500 parts.
    let place = Place::new();
    let sums = MonitorRequest { sums: true, unit: Some("town".into()), ..request() };
    assert_eq!(answers(&place.ask(&sums, &[&sum(150_000), &sum(350_000)]).unwrap()), ["above", "below"]);
}

#[test]
fn bad_lines_are_answered_in_their_place_and_spend_nothing() {
    let place = Place::new();
    let lines =
        place.ask(&request(), &["nonsense", HIGH, r#"{"where": "wage > 1", "threshold": 1}"#, LOW]).unwrap();
    assert_eq!(answers(&lines), ["error", "above", "error", "below"]);
    assert_eq!((&lines[1]["query"], &lines[3]["query"]), (&json!(1), &json!(2)));
    assert!(lines[2]["error"].as_str().unwrap().starts_with("no column is called 'wage'"));
    let log = Log::read(&fs::read(place.state()).unwrap()).unwrap().unwrap();
    assert_eq!(log.answered.len(), 2);
}

#[test]
fn what_was_open_is_lost_for_ever_and_spends() {
    let place = Place::new();
    let high = r#"{"where": "salary >= 0", "threshold": 500}"#;
    place.ask(&request(), &[HIGH]).unwrap();
    // The program ends between the line of questions and the line of answers.
    let (mut state, log) = State::open(&place.state()).unwrap();
    assert_eq!(log.unwrap().answered.len(), 1);
    state.append(&Line::Queries(vec![Query::parse(high).unwrap()])).unwrap();
    drop(state);
    let path = place.state();
    let (mut monitor, ledger) = place.open(&request(), &path, &same).unwrap();
    assert_eq!(answers(&monitor.history().collect::<Vec<_>>()), ["above", "lost"]);
    let rows = || place.rows();
    let watched = Watched { rows: &rows, content: Some(&same), state: &path };
    let asked = monitor.ask(&[high], &watched, &ledger).unwrap();
    assert_eq!(asked, [json!({ "query": 3, "answer": "below" })]);
    drop(monitor);
    let (monitor, _) = place.open(&request(), &path, &same).unwrap();
    assert_eq!(answers(&monitor.history().collect::<Vec<_>>()), ["above", "lost", "below"]);
}

fn refusal(opened: Result<(Monitor, Ledger), OpenError>) -> (String, u8) {
    let Err(error) = opened else { panic!("refused") };
    let text = error.to_string();
    assert!(!text.contains('\n'), "{text}");
    (text.split_once(": ").map_or(text.clone(), |(_, text)| text.to_string()), error.exit_code())
}

#[test]
fn a_state_belongs_to_one_monitor_of_one_data_set_and_ledger() {
    let place = Place::new();
    place.ask(&request(), &[HIGH]).unwrap();
    let state = place.state();
    let before = fs::read(&state).unwrap();
    let other = MonitorRequest { epsilon: Some("19".into()), ..request() };
    let (said, code) = refusal(place.open(&other, &state, &same));
    assert!(said.starts_with("it belongs to a monitor with epsilon 20, not 19;") && code == 2, "{said}");
    let changed = || -> io::Result<Box<dyn Read>> { Ok(Box::new(&b"other rows"[..])) };
    let (said, code) = refusal(place.open(&request(), &state, &changed));
    assert!(said.starts_with("the data have changed since it began;") && code == 2, "{said}");
    let elsewhere = Place::new();
    let (said, _) = refusal(elsewhere.open(&request(), &state, &same));
    assert!(said.starts_with("it belongs to a monitor with the ledger"), "{said}");
    fs::remove_file(place.folder.path().join("ledger")).unwrap();
    let facts = DataFacts {
        name: "others".into(),
        columns: place.memory.columns().to_vec(),
        registered: None,
        kinds: Vec::new(),
        windows: None,
    };
    let plan = MonitorPlan::new(&request(), &facts).unwrap();
    let rows = || place.rows();
    let watched = Watched { rows: &rows, content: Some(&same), state: &state };
    let opened = Monitor::open(&plan, &watched, &mut elsewhere.ledger());
    let (said, _) = refusal(opened.map(|monitor| (monitor, elsewhere.ledger())));
    assert!(said.starts_with("it belongs to a monitor with the data set people, not others"), "{said}");
    assert_eq!(fs::read(&state).unwrap(), before, "nothing was written");
    assert_eq!(elsewhere.spent(), "0");
}

#[test]
fn a_damaged_state_is_refused_and_nothing_is_charged() {
    let place = Place::new();
    place.ask(&request(), &[HIGH]).unwrap();
    let state = place.state();
    let mut bytes = fs::read(&state).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&state, &bytes).unwrap();
    let (said, code) = refusal(place.open(&request(), &state, &same));
    assert!(said.starts_with("line 2 is not what was written;") && code == 1, "{said}");
    assert_eq!((place.spent().as_str(), fs::read(&state).unwrap()), ("20", bytes));
}

#[test]
fn a_monitor_that_ends_before_its_first_answer_finds_its_charge_again() {
    let place = Place::new();
    // The program ends after the charge, before the ledger or the state file says more.
    let mut ledger = place.ledger();
    let facts = session::facts(Some(&ledger), "people", place.memory.columns()).unwrap();
    let plan = MonitorPlan::new(&request(), &facts).unwrap();
    let (mut state, _) = State::open(&place.state()).unwrap();
    let log = begin(&plan, &ledger, &mut state, &mut FixedWords(9)).unwrap();
    let Charging::Granted(charge) =
        ledger.charge_once(&plan.charge_request(plan.analyst(), Some(&log.head.id))).unwrap()
    else {
        panic!("a new charge")
    };
    let id = charge.id().to_string();
    drop((state, ledger));
    let path = place.state();
    let (monitor, _) = place.open(&request(), &path, &same).unwrap();
    assert!(monitor.receipt().id == id && !monitor.resumed());
    assert_eq!(place.spent(), "20");
    let verified = place.ledger().verify(None).unwrap();
    assert_eq!((verified.charges, verified.recorded), (1, 1));
}

#[test]
fn what_the_budget_does_not_allow_leaves_no_state_behind() {
    let place = Place::new();
    let mut ledger = place.ledger();
    let data_set = crate::ledger::DataSet {
        name: "people".into(),
        unit: equipoise_core::adjacency::Unit::Row,
        adjacency: equipoise_core::adjacency::Adjacency::AddRemove,
    };
    ledger.register(&data_set, None).unwrap();
    let limit = Approx::new(&"3".parse().unwrap(), &"1e-5".parse().unwrap());
    ledger.set_limit("people", None, Some(&limit.into())).unwrap();
    drop(ledger);
    let state = place.state();
    let (said, code) = refusal(place.open(&request(), &state, &same));
    assert!(code == 4 && !state.exists(), "{said}");
    let less = MonitorRequest { epsilon: Some("2".into()), ..request() };
    assert!(place.open(&less, &state, &same).is_ok());
}

#[test]
fn rows_that_cannot_be_read_cost_no_budget_of_anybody() {
    let mut place = Place::new();
    place.ask(&request(), &[]).unwrap();
    place.memory.readable = false;
    let state = place.state();
    let Err(OpenError::Unread(Unanswered::Data)) = place.open(&request(), &state, &same) else {
        panic!("no rows, no monitor")
    };
    place.memory.readable = true;
    assert_eq!(answers(&place.ask(&request(), &[HIGH]).unwrap()), ["above"]);
}

/// More columns than are held at once: the oldest are read again when they are named again.
#[test]
fn columns_make_room_for_each_other() {
    let place = Place::new();
    let mut table = Table::open(&place.memory, Some(1), &[]).unwrap();
    assert_eq!(table.units(), 500);
    let float = |column| ColumnRead { column, kind: crate::source::ColumnType::Float };
    for column in 0..2 * MOST_COLUMNS {
        assert!(table.load(&place.memory, &[float(column)]).unwrap(), "read when first named");
    }
    assert!(!table.load(&place.memory, &[float(2 * MOST_COLUMNS - 1)]).unwrap());
    assert!(table.load(&place.memory, &[float(0)]).unwrap(), "read again");
    assert!(!table.load(&place.memory, &[float(MOST_COLUMNS + 1), float(0)]).unwrap());
}
