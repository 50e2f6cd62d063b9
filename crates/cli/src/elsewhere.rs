//! Tables that lie in an engine, `duckdb:FILE?table=NAME` or `spark:NAME`: the Python package reads them, as a program beside this one.
//!
//! Ledger, coins and decisions stay here. The program is handed passes and hands back counts ([`Engine`]); what it cannot do it says before the charge, and
//! what fails afterwards is a lost answer.

use crate::{
    Exit,
    args::Books,
    ask::{self, usage},
};
use equipoise_engine::books::Account;
use equipoise_session::{
    elsewhere::{Engine, EngineFailure, Pass, PassResult},
    ledger::Expected,
    plan::Plan,
    source::ColumnType,
};
use serde_json::{Value, json};
use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// Does this name a table in an engine?
pub(crate) fn is_address(file: &Path) -> bool {
    file.to_str().is_some_and(|text| text.starts_with("duckdb:") || text.starts_with("spark:"))
}

/// What the Python package makes of one extract.
pub(crate) fn extracted(asked: &Value) -> Result<Value, Exit> {
    let started = python()
        .args(["-m", "equipoise._databases"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = started.map_err(|_| usage(MISSING))?;
    // Where it ended already, so does what it says.
    let _ = writeln!(child.stdin.take().expect("piped"), "{asked}");
    let said = child.wait_with_output().map_err(|_| usage(MISSING))?;
    serde_json::from_slice(&said.stdout).map_err(|_| usage(MISSING))
}

fn python() -> Command {
    Command::new(env::var_os("EQUIPOISE_PYTHON").unwrap_or_else(|| "python3".into()))
}

/// Where a question about such a table is charged: in the ledger that was named, under the address.
pub(crate) fn account(address: &Path, books: &Books) -> Result<Account, Exit> {
    let Some(ledger) = books.ledger.clone() else {
        return Err(usage("a table in an engine has no ledger beside it; name one with --ledger FILE"));
    };
    let name = books.name.clone().unwrap_or_else(|| address.to_string_lossy().into_owned());
    Ok(Account { ledger, name, expected: Expected::default() })
}

/// A table in an engine, driven by the Python package.
pub(crate) struct Table {
    child: Child,
    says: ChildStdin,
    hears: BufReader<ChildStdout>,
    /// The names of its columns, and what its schema says of each.
    pub columns: Vec<String>,
    pub kinds: Vec<Option<ColumnType>>,
    /// What people call the engine.
    pub engine: String,
}

const MISSING: &str = "tables in an engine are read by the Python package, which is not there; install it with: pip install 'equipoise[ibis]' \
     (EQUIPOISE_PYTHON names the Python that has it)";

impl Table {
    /// Start the program, and read what the schema says.
    pub fn open(address: &Path) -> Result<Self, Exit> {
        let started = python()
            .args(["-m", "equipoise._elsewhere.serve"])
            .arg(address)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = started.map_err(|_| usage(MISSING))?;
        let (says, hears) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let mut table = Self {
            child,
            says,
            hears: BufReader::new(hears),
            columns: Vec::new(),
            kinds: Vec::new(),
            engine: String::new(),
        };
        let schema = table.line().ok_or_else(|| usage(MISSING))?;
        if let Some(problem) = schema["problem"].as_str() {
            return Err(usage(problem));
        }
        let texts = |name: &str| schema[name].as_array().cloned().unwrap_or_default();
        table.columns =
            texts("columns").iter().filter_map(|name| name.as_str().map(str::to_string)).collect();
        table.kinds = texts("kinds").iter().map(|kind| ColumnType::named(kind.as_str()?)).collect();
        table.engine = schema["engine"].as_str().unwrap_or("an engine").to_string();
        Ok(table)
    }

    /// Ask whether the engine takes the question, before anything is charged.
    pub fn take(&mut self, plan: &Plan) -> Result<(), Exit> {
        let said = self.ask(&json!({"rows": plan.rows_elsewhere()}));
        match said.as_ref().map(|said| said["problem"].as_str()) {
            Some(None) => Ok(()),
            Some(Some(problem)) => Err(usage(problem)),
            None => Err(ask::internal("the program that reads the table ended; nothing was charged")),
        }
    }

    fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.hears.read_line(&mut line).ok().filter(|&bytes| bytes > 0)?;
        serde_json::from_str(&line).ok()
    }

    fn ask(&mut self, what: &Value) -> Option<Value> {
        self.say(what)?;
        self.line()
    }

    fn say(&mut self, what: &Value) -> Option<()> {
        writeln!(self.says, "{what}").ok()?;
        self.says.flush().ok()
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Engine for Table {
    fn begin(&mut self, run_key: &str) -> Result<(), EngineFailure> {
        let said = self.ask(&json!({"key": run_key})).ok_or(EngineFailure)?;
        if said["problem"].is_null() { Ok(()) } else { Err(EngineFailure) }
    }

    fn pass(&mut self, pass: &Pass) -> Result<PassResult, EngineFailure> {
        self.say(&json!({"pass": pass.to_json()})).ok_or(EngineFailure)?;
        let mut line = String::new();
        self.hears.read_line(&mut line).map_err(|_| EngineFailure)?;
        // From the text: sums may be longer than numbers of other kinds.
        serde_json::from_str(&line).map_err(|_| EngineFailure)
    }
}
