//! Tables that lie in an engine, `duckdb:FILE?table=NAME` or `spark:NAME`: the Python package reads them, as a program beside this one.
//!
//! Ledger, coins and decisions stay here. The program is handed passes and hands back counts ([`Engine`]); what it cannot do it says before the charge, and
//! what fails afterwards is a lost answer.

use crate::{
    Exit,
    ask::{self, usage},
};
use equipoise_engine::books::{Account, data_name, no_file};
use equipoise_session::{
    elsewhere::{Engine, EngineFailure, Pass, PassResult},
    file_id::FileId,
    ledger::{Expected, Fault, Guarded, Ledger, LedgerError},
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

/// Where a question about such a table is charged: in the ledger that was named, under its address or the name that was given.
pub(crate) fn account(address: &Path, name: Option<&str>, ledger: Option<&Path>) -> Result<Account, Exit> {
    let Some(ledger) = ledger.map(Path::to_path_buf) else {
        return Err(usage("a table in an engine has no ledger beside it; name one with --ledger FILE"));
    };
    let (called, files) = known_as(address, &ledger)?;
    let name = name.map_or(called, str::to_string);
    Ok(Account { ledger, name, expected: Expected { files, apart: Vec::new() } })
}

/// The one name of a table however its address is spelled, and the file that it lies in. A file of DuckDB's is known by its real path, from the folder
/// of the ledger where it lies below it, and by its number on the disk; the names of its tables have no case.
fn known_as(address: &Path, ledger: &Path) -> Result<(String, Vec<FileId>), Exit> {
    let text = address.to_string_lossy().into_owned();
    let Some((file, table)) = in_file(&text) else { return Ok((text, Vec::new())) };
    let path = data_name(Path::new(file), None, ledger).map_err(usage)?;
    let id = FileId::at(Path::new(file)).map_err(|error| usage(no_file(Path::new(file), &error)))?;
    let table = table.to_ascii_lowercase();
    let name = format!("duckdb:{path}?table={table}");
    let known = match Ledger::open_read_only(ledger) {
        Ok(opened) => opened.guarded().map_err(ask::ledger)?,
        Err(LedgerError { fault: Fault::Missing, .. }) => Vec::new(),
        Err(error) => return Err(ask::ledger(error)),
    };
    let is_it = |known: &Guarded| {
        let same = in_file(&known.name).is_some_and(|(_, theirs)| theirs == table);
        same && known.files.iter().any(|file| file.is(&id))
    };
    let name = known.into_iter().find(is_it).map_or(name, |known| known.name);
    Ok((name, vec![id]))
}

/// The file of an address and the table in it, where it is one of DuckDB's.
fn in_file(address: &str) -> Option<(&str, &str)> {
    address.strip_prefix("duckdb:")?.rsplit_once("?table=")
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
