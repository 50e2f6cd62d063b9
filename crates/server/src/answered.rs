//! Which questions were asked of which state of the data, so that an equal one can be answered again without a charge.
//!
//! One line a charge in a file that only its owner reads. What the state of data is (places, sizes and times of its files) never leaves
//! the server. Lines that cannot be read are left out: nothing is offered then, and nothing is lost.

use crate::{problem::Problem, secret, store::DataSource};
use equipoise_engine::expand;
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    fmt::Write as _,
    fs::{self, OpenOptions},
    io::Write as _,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// Something that was charged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The id of the charge.
    pub id: String,
    /// Who asked.
    pub member: String,
    /// A hash of the state of the data and of the request.
    key: String,
}

/// What was charged, by what was asked of which state.
pub struct Answered {
    path: PathBuf,
    asked: Mutex<HashMap<String, Vec<Asked>>>,
}

/// So many equal questions are remembered; later ones are as good as these.
const MOST_EQUAL: usize = 16;

impl Answered {
    /// What earlier starts wrote down.
    pub fn open(directory: &Path) -> Self {
        let path = directory.join("asked.jsonl");
        let mut asked: HashMap<String, Vec<Asked>> = HashMap::new();
        for line in fs::read_to_string(&path).unwrap_or_default().lines() {
            if let Ok(one) = serde_json::from_str::<Asked>(line) {
                asked.entry(one.key.clone()).or_default().push(one);
            }
        }
        Self { path, asked: Mutex::new(asked) }
    }

    /// What was charged for this request while the data was as it is now, the oldest first.
    pub fn equal(&self, data: &DataSource, request: &str) -> Vec<Asked> {
        let Some(key) = key(data, request) else { return Vec::new() };
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned().unwrap_or_default()
    }

    /// Remember a charge, with the state of the data before its rows are read.
    pub fn put(&self, data: &DataSource, request: &str, id: &str, member: &str) -> Result<(), Problem> {
        let Some(key) = key(data, request) else { return Ok(()) };
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let equal = asked.entry(key.clone()).or_default();
        if equal.len() >= MOST_EQUAL {
            return Ok(());
        }
        let one = Asked { id: id.to_string(), member: member.to_string(), key };
        let line = serde_json::to_string(&one).map_err(Problem::inside)?;
        equal.push(one);
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path);
        file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes())).map_err(Problem::inside)
    }
}

/// The state of the data and the request as one hash; nothing where the files cannot be looked at.
fn key(data: &DataSource, request: &str) -> Option<String> {
    let mut text = format!("{}\n{:?} {:?}\n", data.id, data.delimiter, data.header);
    for file in expand(&data.path).ok()? {
        let found = fs::metadata(&file).ok()?;
        let place = (found.dev(), found.ino(), found.len(), found.mtime(), found.mtime_nsec(), found.ctime());
        let _ = writeln!(text, "{place:?} {}", found.ctime_nsec());
    }
    Some(secret::hash(&format!("{text}{request}")))
}
