//! Time of ten thousand threshold questions about a million records, through the file, the ledger and the state file.
//!
//! No peer ships a monitor, so nothing stands beside it. Questions name one to three of four columns; one in a hundred
//! is positive and spends budgets. Asked 64 lines at a time, as a file of questions is, and one at a time, as somebody
//! does who reacts to each answer; by row and by person, where each has ten rows.

use equipoise_engine::csv::{Csv, CsvOptions};
use equipoise_session::{
    ledger::Ledger,
    monitor::{Monitor, MonitorPlan, MonitorRequest, Watched},
    session,
    source::{Lost, Source},
};
use std::{
    error::Error,
    fmt::Write as _,
    fs::{self, File},
    io::{self, Read},
    path::Path,
    time::Instant,
};

const RECORDS: u64 = 1_000_000;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let folder = std::env::temp_dir().join(format!("equipoise-bench-monitor-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let measured = measure(&folder);
    fs::remove_dir_all(&folder)?;
    measured
}

fn measure(folder: &Path) -> Result<(), Failure> {
    fs::write(folder.join("people.csv"), records())?;
    println!("{RECORDS} records; milliseconds a question, of CPU time and on the clock (waiting for the disk included).");
    println!("{:>10}  {:>9}  {:>10}  {:>10}  {:>8}  {:>8}  {:>9}", "unit", "questions", "at a time", "open, s", "CPU", "clock", "positive");
    for (unit, questions, together) in
        [(None, 10_000, 64), (None, 1000, 1), (Some("person"), 1000, 64), (Some("person"), 1000, 1)]
    {
        run(folder, unit, questions, together)?;
    }
    Ok(())
}

fn run(folder: &Path, unit: Option<&str>, questions: usize, together: usize) -> Result<(), Failure> {
    let data = folder.join("people.csv");
    let state = folder.join(format!("state-{}-{together}", unit.unwrap_or("row")));
    let source = Csv::open(&data, &CsvOptions::default())?;
    let mut ledger = Ledger::open(&folder.join(format!("ledger-{}", unit.unwrap_or("row"))))?;
    let facts = session::facts(Some(&ledger), "people", source.columns())?;
    let request = MonitorRequest {
        epsilon: Some("1".into()),
        delta: Some("1e-6".into()),
        budget_per_unit: Some("10".into()),
        unit: unit.map(String::from),
        ..MonitorRequest::default()
    };
    let plan = MonitorPlan::new(&request, &facts)?;
    let content = || -> io::Result<Box<dyn Read>> { Ok(Box::new(File::open(&data)?)) };
    let start = Instant::now();
    let rows = || -> Result<Box<dyn Source>, Lost> { Ok(Box::new(&source)) };
    let watched = Watched { rows: &rows, content: Some(&content), state: &state };
    let mut monitor = Monitor::open(&plan, &watched, &mut ledger)?;
    // Every column once, so that reading the file is not counted as answering.
    let first = [r#"{"where": "age > 200 or town = 'x' or income < 0 or member = 'x'", "threshold": 1000000}"#];
    monitor.ask(&first, &watched, &ledger)?;
    let open = start.elapsed().as_secs_f64();
    let lines: Vec<String> = (0..questions).map(question).collect();
    let (clock, cpu) = (Instant::now(), cpu_seconds());
    let mut positive = 0;
    for group in lines.chunks(together) {
        let group: Vec<&str> = group.iter().map(String::as_str).collect();
        let answers = monitor.ask(&group, &watched, &ledger)?;
        positive += answers.iter().filter(|answer| answer["answer"] == "above").count();
    }
    let each = |seconds: f64| seconds * 1e3 / questions as f64;
    println!(
        "{:>10}  {questions:>9}  {together:>10}  {open:>10.2}  {:>8.3}  {:>8.3}  {positive:>9}",
        unit.unwrap_or("row"),
        each(cpu_seconds() - cpu),
        each(clock.elapsed().as_secs_f64()),
    );
    Ok(())
}

/// Numbers that look scattered; nothing hangs on them.
fn scattered(row: u64, of: u64) -> u64 {
    (row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % of
}

fn records() -> String {
    let mut text = String::from("person,age,town,income,member\n");
    for row in 0..RECORDS {
        let (age, town) = (scattered(row, 100), scattered(row + 7, 50));
        let (income, member) = (scattered(row + 13, 100_000), if scattered(row + 29, 2) == 0 { "yes" } else { "no" });
        writeln!(text, "p{},{age},t{town},{income}.5,{member}", row % (RECORDS / 10)).expect("a string takes it");
    }
    text
}

fn question(number: usize) -> String {
    let (a, b) = (number % 90, number % 50);
    let filter = match number % 4 {
        0 => format!("age > {a}"),
        1 => format!("age > {a} and town = 't{b}'"),
        2 => format!("income between {b}000 and {}000 and member = 'yes'", b + 20),
        _ => format!("town in ('t{b}', 't{}') or (age < {a} and not income > 50000)", (b + 9) % 50),
    };
    let threshold = if number % 100 == 1 { 100 } else { 2_000_000 };
    format!("{{\"where\": \"{filter}\", \"threshold\": {threshold}}}")
}

/// CPU time of this process in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
