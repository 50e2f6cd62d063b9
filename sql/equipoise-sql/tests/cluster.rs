//! The programs as a user starts them: a scheduler, an executor, and a query that names the cluster. What is wrong with a cluster costs nothing.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Output, Stdio},
};

const QUERY: &str = "SELECT WITH DIFFERENTIAL_PRIVACY \
     OPTIONS(epsilon=200, privacy_unit_column=[people.person, visits.who]) \
     COUNT(*) AS n FROM 'people.csv' p JOIN 'visits.csv' v ON p.person = v.who WHERE v.day >= '2026-02-01'";

/// A member, which is killed when it is dropped.
struct Member {
    child: Child,
    address: String,
    _said: BufReader<ChildStdout>,
}

impl Member {
    fn start(folder: &Path, words: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise-sql"));
        command.arg("cluster").args(words).current_dir(folder).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap_or_default().to_string();
        Self { child, address, _said: said }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(folder: &Path, words: &[&str], memory: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise-sql"));
    command.args(["sql", QUERY, "--json"]).args(words).current_dir(folder).env_remove("EQUIPOISE_LEDGER");
    command.env("EQUIPOISE_SQL_MEMORY", memory).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_query_is_answered_by_a_cluster_and_what_is_wrong_with_one_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let (mut people, mut visits) = (String::from("person,town\n"), String::from("who,day\n"));
    for person in 0..3_000 {
        writeln!(people, "{person},Ayr").unwrap();
        writeln!(visits, "{person},2026-01-05\n{person},2026-02-05").unwrap();
    }
    fs::write(here.join("people.csv"), people).unwrap();
    fs::write(here.join("visits.csv"), visits).unwrap();
    let is_free = || !here.join("equipoise.ledger").exists();

    let refused = ask(here, &["--cluster", "127.0.0.1:1"], "4096");
    let words = "no scheduler answered at 127.0.0.1:1";
    assert!(refused.status.code() == Some(2) && said(&refused).contains(words), "{}", said(&refused));
    let refused = ask(here, &["--cluster", "192.0.2.1:50050"], "4096");
    assert!(said(&refused).contains("add --certificates FOLDER"), "{}", said(&refused));
    let refused = ask(here, &["--cluster", "nowhere"], "4096");
    assert!(said(&refused).contains("is no HOST:PORT"), "{}", said(&refused));
    let refused = ask(here, &["--cluster", "127.0.0.1:1", "--certificates", "."], "4096");
    assert!(said(&refused).contains("could not be read"), "{}", said(&refused));
    assert!(is_free());

    let scheduler = Member::start(here, &["scheduler", "--listen", "127.0.0.1:0"]);
    let words = ["executor", "--scheduler", &scheduler.address, "--folder", "."];
    let _executor = Member::start(here, &words);
    let on = ["--cluster", scheduler.address.as_str()];
    let planned = ask(here, &["--cluster", &scheduler.address, "--dry-run"], "4096");
    assert_eq!(planned.status.code(), Some(0), "{}", said(&planned));
    assert!(is_free());
    let answered = ask(here, &on, "4096");
    assert_eq!(answered.status.code(), Some(0), "{}", said(&answered));
    let answer: serde_json::Value = serde_json::from_slice(&answered.stdout).unwrap();
    let n = answer["rows"][0][0].as_f64().unwrap();
    assert!((n - 3_000.0).abs() <= 3.0, "{n}");

    // One mebibyte is not enough for the relation: one fixed line, and the charge stands.
    let long = "7".repeat(300);
    fs::write(here.join("people.csv"), format!("person,town\n{long},Ayr\n")).unwrap();
    let many = format!("{long},2026-02-05\n").repeat(8_000);
    fs::write(here.join("visits.csv"), format!("who,day\n{many}")).unwrap();
    let lost = ask(here, &on, "1");
    assert_eq!(lost.status.code(), Some(1), "{}", said(&lost));
    assert!(said(&lost).contains("the charge stands and the answer is lost"), "{}", said(&lost));
    let log = Command::new(env!("CARGO_BIN_EXE_equipoise-sql"))
        .args(["budget", "log", "--ledger", "equipoise.ledger"])
        .current_dir(here)
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    assert_eq!(log.matches("charged").count(), 4, "{log}");
}
