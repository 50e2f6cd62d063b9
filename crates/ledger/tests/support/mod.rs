//! What the tests of the ledger with several processes share.
#![allow(dead_code, reason = "each test file uses a part")]

use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::{Amount, Approx},
};
use equipoise_ledger::{ChargeRequest, DataSet, Ledger};
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// Set for a process that a test started, to the test that it is and the folder that it works in.
pub const CHILD: &str = "EQUIPOISE_TEST_CHILD";
const FOLDER: &str = "EQUIPOISE_TEST_FOLDER";

/// The folder to work in, for the child of this name; `None` where the test runner came by.
pub fn child_folder(name: &str) -> Option<PathBuf> {
    let is_it = env::var(CHILD).is_ok_and(|child| child == name);
    is_it.then(|| PathBuf::from(env::var_os(FOLDER).expect("a child has a folder")))
}

/// The arguments that make the test runner run this one test, on its main thread.
pub fn child_arguments(name: &str) -> [&str; 4] {
    ["--exact", name, "--nocapture", "--test-threads=1"]
}

/// The variables that make this test a child.
pub fn child_variables(name: &str, folder: &Path) -> [(&'static str, PathBuf); 2] {
    [(CHILD, PathBuf::from(name)), (FOLDER, folder.to_path_buf())]
}

pub fn run_child_test<'a>(command: &'a mut Command, name: &str, folder: &Path) -> &'a mut Command {
    command.args(child_arguments(name)).envs(child_variables(name, folder))
}

/// A folder in memory where the system offers one: what a killed process leaves is the same, and a thousand
/// processes are tried in seconds. `EQUIPOISE_TEST_DISK=1` uses the disk.
pub fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if env::var_os("EQUIPOISE_TEST_DISK").is_none()
        && let Ok(folder) = tempfile::tempdir_in(memory)
    {
        return folder;
    }
    tempfile::tempdir().expect("a folder for temporary files")
}

pub fn ledger_in(folder: &Path) -> PathBuf {
    folder.join("test.ledger")
}

pub fn data_set() -> DataSet {
    DataSet { name: "salaries".into(), unit: Unit::Row, adjacency: Adjacency::AddRemove }
}

pub fn approx(eps: &str) -> Approx {
    Approx { eps: Amount::new(eps.parse().unwrap()).unwrap(), delta: Amount::zero() }
}

pub fn request(eps: &str, request_id: Option<&str>) -> ChargeRequest {
    ChargeRequest {
        data_set: data_set(),
        analyst: Some("ada".into()),
        request_id: request_id.map(str::to_string),
        request: format!("{{\"epsilon\":\"{eps}\"}}"),
        question: "{\"statistic\":\"median\"}".into(),
        cost: approx(eps).into(),
        windows: None,
    }
}

/// A ledger with a registered data set and a limit.
pub fn limited_ledger(folder: &Path, eps: &str) {
    let mut ledger = Ledger::open(&ledger_in(folder)).unwrap();
    ledger.register(&data_set(), None).unwrap();
    ledger.set_limit(&data_set().name, None, Some(&approx(eps).into())).unwrap();
}
