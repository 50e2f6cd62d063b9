//! Monitors that members have: each in a file of its own, taken up again when somebody asks, few of them in memory at once.

use crate::{problem::Problem, state::State, store::DataSource};
use equipoise_engine::{OpenOptions as Reading, TableAddress, csv::Header, remote::PostgresAddress};
use equipoise_session::{
    monitor::{AskError, Monitor, MonitorPlan, MonitorRequest, OpenError, Watched},
    session,
    source::{Lost, Source},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// So many monitors hold their columns in memory; the one that was used least lately is let go, and read anew when it is asked.
const MOST_OPEN: usize = 16;
/// So many a member has.
pub const MOST_OF_ONE: usize = 100;

/// What a monitor is, as it was said.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// Its id.
    pub id: String,
    /// Who asked for it.
    pub member: String,
    /// The id of the data set.
    pub data_set: String,
    /// The key under which it was asked for.
    pub key: String,
    /// What was said, as its plan writes it.
    pub request: Value,
    /// The text of what was sent, to recognise the same request.
    pub said: String,
    /// When it was asked for.
    pub time: String,
}

/// Monitors by id.
pub struct Monitors {
    directory: PathBuf,
    kept: Mutex<Vec<Kept>>,
    open: Mutex<Vec<(String, Slot)>>,
}

/// A monitor in memory, or nothing until it is read.
type Slot = Arc<Mutex<Option<Monitor>>>;

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Monitors {
    /// Those of a directory.
    pub fn open(directory: &Path) -> Result<Self, String> {
        let directory = directory.join("monitors");
        let failed = |error: io::Error| format!("the folder of the monitors cannot be used: {error}");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(failed)?;
        let mut kept: Vec<Kept> = Vec::new();
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                let text = fs::read_to_string(&path).map_err(failed)?;
                kept.push(serde_json::from_str(&text).map_err(|_| {
                    "the description of a monitor cannot be read; restore it from a backup".to_string()
                })?);
            }
        }
        kept.sort_by(|one, two| (&one.time, &one.id).cmp(&(&two.time, &two.id)));
        Ok(Self { directory, kept: Mutex::new(kept), open: Mutex::default() })
    }

    /// All that are known.
    pub fn all(&self) -> Vec<Kept> {
        locked(&self.kept).clone()
    }

    /// The one with this id.
    pub fn get(&self, id: &str) -> Option<Kept> {
        locked(&self.kept).iter().find(|kept| kept.id == id).cloned()
    }

    /// The one that this member asked for under this key.
    pub fn under(&self, member: &str, key: &str) -> Option<Kept> {
        locked(&self.kept).iter().find(|kept| kept.member == member && kept.key == key).cloned()
    }

    /// Write down what a monitor is, before it is paid for.
    pub fn put(&self, new: Kept) -> Result<(), Problem> {
        let mut kept = locked(&self.kept);
        if kept.iter().filter(|one| one.member == new.member).count() >= MOST_OF_ONE {
            return Err(Problem::wrong(format!("you have {MOST_OF_ONE} monitors, and more are not begun")));
        }
        let path = self.directory.join(format!("{}.json", new.id));
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(Problem::inside)?;
        let text = serde_json::to_string_pretty(&new).map_err(Problem::inside)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(Problem::inside)?;
        kept.push(new);
        Ok(())
    }

    /// Was anything of it begun? What was not has no answers, and looking at it begins nothing.
    pub fn is_begun(&self, id: &str) -> bool {
        self.directory.join(format!("{id}.state")).exists()
    }

    /// Forget one that was never paid for.
    pub fn remove(&self, id: &str) {
        locked(&self.kept).retain(|kept| kept.id != id);
        locked(&self.open).retain(|(open, _)| open != id);
        for ending in ["json", "state"] {
            let _ = fs::remove_file(self.directory.join(format!("{id}.{ending}")));
        }
    }

    /// Work with one, which is taken up again where it is not in memory. One piece of work at a time.
    pub fn with<T>(
        &self,
        state: &State,
        kept: &Kept,
        data: &DataSource,
        work: impl FnOnce(&mut Monitor, &Watched<'_>) -> Result<T, AskError>,
    ) -> Result<T, Unwatched> {
        let slot = self.slot(&kept.id);
        let mut slot = locked(&slot);
        let files = state.data_files(data)?;
        let reading = Reading {
            delimiter: data.delimiter.as_deref().map(crate::state::delimiter).transpose()?,
            header: (data.header == Some(false)).then_some(Header::Numbered),
        };
        let content = || equipoise_engine::content(&files);
        let rows = || -> Result<Box<dyn Source>, Lost> {
            equipoise_engine::open(&files, &reading).map_err(|_| Lost)
        };
        let path = self.directory.join(format!("{}.state", kept.id));
        let watched = Watched { rows: &rows, content: Some(&content), state: &path };
        if slot.is_none() {
            let plan = plan(state, data, &request(&kept.request, &kept.member))?;
            let mut ledger = state.ledger_to_write()?;
            state.expect(&ledger, data);
            *slot = Some(Monitor::open(&plan, &watched, &mut ledger)?);
        }
        let Some(monitor) = slot.as_mut() else { return Err(Problem::not_found().into()) };
        let done = work(monitor, &watched);
        if done.is_err() {
            // Only a new start knows how things stand.
            *slot = None;
        }
        Ok(done?)
    }

    fn slot(&self, id: &str) -> Slot {
        let mut open = locked(&self.open);
        if let Some(place) = open.iter().position(|(known, _)| known == id) {
            let found = open.remove(place);
            open.push(found.clone());
            return found.1;
        }
        if open.len() >= MOST_OPEN {
            open.remove(0);
        }
        let slot = Arc::new(Mutex::new(None));
        open.push((id.to_string(), slot.clone()));
        slot
    }
}

/// Why a monitor did not answer.
pub enum Unwatched {
    /// Before anything was asked of it.
    Problem(Box<Problem>),
    /// It could not be begun or taken up.
    Open(OpenError),
    /// It could not answer.
    Ask(AskError),
}

impl From<Problem> for Unwatched {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

impl From<OpenError> for Unwatched {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<AskError> for Unwatched {
    fn from(error: AskError) -> Self {
        Self::Ask(error)
    }
}

/// What its plan wrote, as it was said.
pub fn request(written: &Value, member: &str) -> MonitorRequest {
    let text = |name: &str| match &written[name] {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    MonitorRequest {
        epsilon: text("epsilon"),
        delta: text("delta"),
        budget_per_unit: text("budget_per_unit"),
        unit: text("unit"),
        adjacency: text("adjacency"),
        sums: written["sums"] == true,
        form: text("form"),
        analyst: Some(member.to_string()),
        delimiter: text("delimiter"),
        header: written["header"].as_bool(),
    }
}

/// The plan of a monitor of this data. Reads the header or schema, and no row.
pub fn plan(state: &State, data: &DataSource, request: &MonitorRequest) -> Result<MonitorPlan, Problem> {
    if TableAddress::of(&data.path).is_some() || PostgresAddress::is(&data.path) {
        return Err(Problem::wrong(
            "a monitor watches files, whose rows stand still; this data is a table of a database",
        ));
    }
    let source = state.open_data(data)?;
    let facts = session::facts(Some(&state.ledger()?), &data.name, source.columns())?;
    Ok(MonitorPlan::new(request, &facts)?)
}
