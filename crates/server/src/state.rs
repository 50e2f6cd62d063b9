//! What the server has open: its directory, its ledger, its members, and the questions that wait.

use crate::{
    acts::members,
    answered::Answered,
    desk::Desk,
    metrics::Metrics,
    monitors::Monitors,
    problem::Problem,
    rate::{Gate, Limiter, Rates},
    rollback::Rollback,
    sink::Sink,
    store::{DataSource, Role, Store},
};
use equipoise_engine::{OpenOptions, TableAddress, csv::Header, expand, ids_of, remote::PostgresAddress};
use equipoise_session::{
    ledger::{Act, Expected, Ledger, SharedLedger, seconds_now},
    session::{self, Session},
    source::Source,
};
use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

/// How a server runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its directory: ledger and members. Only its owner reads it.
    pub directory: PathBuf,
    /// The address of a ledger in a database, which several hosts may share; else it lies in the directory.
    pub ledger: Option<PathBuf>,
    /// The folders below which data may be registered, and the databases whose tables may be.
    pub data: Vec<PathBuf>,
    /// How browsers reach it, such as `https://answers.example.org`; requests from pages elsewhere are refused.
    pub origins: Vec<String>,
    /// How much each member may ask of it.
    pub rates: Rates,
    /// Where heads of the ledger are written at every commit.
    pub heads: Vec<Sink>,
    /// The folders whose files programs may be made of; without any, no program runs.
    pub programs: Vec<PathBuf>,
    /// The executable that keeps sandboxes, where it is not this one.
    pub keeper: Option<PathBuf>,
}

impl Settings {
    /// Where the ledger is.
    pub fn ledger(&self) -> PathBuf {
        self.ledger.clone().unwrap_or_else(|| self.directory.join(LEDGER))
    }
}

/// A server, open.
pub struct State {
    /// How it runs.
    pub settings: Settings,
    /// Members, secrets, registered data.
    pub store: Store,
    /// Questions that wait for their time.
    pub desk: Arc<Desk>,
    /// How much each member asked for in this minute.
    pub limiter: Limiter,
    /// Monitors that members have.
    pub monitors: Monitors,
    /// Which questions were asked of which state of the data.
    pub answered: Answered,
    /// Whether the ledger is an older copy.
    pub rollback: Rollback,
    /// Counts for whoever keeps the server running.
    pub metrics: Metrics,
    /// The audits of this build, as far as they were run here.
    pub audits: crate::acts::audits::Audits,
    /// What the ledger was when it was last verified, and when.
    pub verified: Mutex<Option<Verification>>,
    /// How many connections of each member wait for events.
    pub listening: Mutex<HashMap<String, usize>>,
    /// Rehearsals run one at a time.
    pub rehearsing: Mutex<()>,
    /// Those that run or wait for their turn.
    pub rehearsals: Gate,
    /// Questions to monitors that are being answered.
    pub watching: Gate,
    /// Programs that started in the sandbox since the server began, by what stands in their files.
    pub started: Mutex<HashSet<String>>,
    ledger: SharedLedger,
    /// When it began, in seconds since 1970.
    pub began: u64,
}

/// What a verification of the ledger found.
#[derive(Clone, Debug)]
pub struct Verification {
    /// When.
    pub time: String,
    /// Whether it holds together.
    pub holds: bool,
    /// In a line.
    pub line: String,
}

/// The name of the ledger in the directory.
pub const LEDGER: &str = "equipoise.ledger";

impl State {
    /// Open everything, or one line that says why not.
    pub fn open(settings: Settings) -> Result<Arc<Self>, String> {
        equipoise_core::prepare();
        session::Session::new(Ledger::in_memory().map_err(|error| error.to_string())?, None)
            .map_err(|error| error.to_string())?;
        let store = Store::open(&settings.directory)?;
        let ledger = Ledger::open(&settings.ledger()).map_err(|error| error.to_string())?;
        store.bind(ledger.id()).map_err(|problem| problem.detail)?;
        let rollback = Rollback::open(&settings.directory, &ledger, &settings.heads)?;
        // The head of an older copy is not written: the later one that is there shows what is missing.
        let head = ledger.head().map_err(|error| error.to_string())?;
        let head = Some(head).filter(|_| !rollback.is_found());
        let heads = settings.heads.iter().map(|sink| sink.follow(head.as_ref()));
        let heads = heads.collect::<Result<Vec<_>, _>>()?;
        if !heads.is_empty() {
            ledger.after_each_commit(move |head| heads.iter().for_each(|tell| tell(head)));
        }
        let shared = ledger.share();
        let monitors = Monitors::open(&settings.directory)?;
        let answered = Answered::open(&settings.directory);
        let desk = Desk::new(Session::new(ledger, None).map_err(|error| error.to_string())?);
        let limiter = Limiter::new(settings.rates);
        Ok(Arc::new(Self {
            settings,
            store,
            desk,
            limiter,
            monitors,
            answered,
            rollback,
            metrics: Metrics::default(),
            audits: crate::acts::audits::Audits::default(),
            verified: Mutex::default(),
            listening: Mutex::default(),
            rehearsing: Mutex::default(),
            rehearsals: Gate::new(1, 16),
            watching: Gate::new(4, 64),
            started: Mutex::default(),
            ledger: shared,
            began: seconds_now(),
        }))
    }

    /// The ledger, for one piece of work on one thread.
    pub fn ledger(&self) -> Result<Ledger, Problem> {
        Ok(self.ledger.take()?)
    }

    /// The same to charge or to change something, unless it is an older copy that nobody has accounted for.
    pub fn ledger_to_write(&self) -> Result<Ledger, Problem> {
        self.rollback.check()?;
        self.ledger()
    }

    /// Is a browser at this origin ours?
    pub fn is_own_origin(&self, origin: &str) -> bool {
        self.settings.origins.iter().any(|own| own == origin)
    }

    /// Are cookies for HTTPS alone?
    pub fn is_secure(&self) -> bool {
        self.settings.origins.iter().any(|own| own.starts_with("https://"))
    }

    /// Write down who did what.
    pub fn note(
        &self,
        by: &str,
        what: &str,
        data_set: Option<&str>,
        whom: Option<&str>,
    ) -> Result<(), Problem> {
        Ok(self.ledger_to_write()?.note_act(&Act { by, what, data_set, whom })?)
    }

    /// The header or schema of registered data; no row is read.
    pub fn open_data(&self, data: &DataSource) -> Result<Box<dyn Source>, Problem> {
        let files = self.data_files(data)?;
        let options = OpenOptions {
            delimiter: data.delimiter.as_deref().map(delimiter).transpose()?,
            header: (data.header == Some(false)).then_some(Header::Numbered),
        };
        equipoise_engine::open(&files, &options).map_err(|_| {
            Problem::new(
                axum::http::StatusCode::SERVICE_UNAVAILABLE,
                "the data cannot be opened now; its steward can see why where it lies",
            )
        })
    }

    /// The files of registered data, where none of them leads out of the folders of the server.
    pub fn data_files(&self, data: &DataSource) -> Result<Vec<PathBuf>, Problem> {
        // Whoever can write a link into the folder could otherwise lead out of it.
        let path = self.allowed_path(&data.path)?;
        let files = expand(&path).unwrap_or_else(|_| vec![path]);
        // Of a folder each file may be a link, too.
        for file in &files {
            self.allowed_path(file)?;
        }
        Ok(files)
    }

    /// Tell the ledger which files the data is, so that they are recognised elsewhere.
    pub fn expect(&self, ledger: &Ledger, data: &DataSource) {
        let files = self.allowed_path(&data.path).map(|path| ids_of(&path)).unwrap_or_default();
        ledger.expect(&data.name, Expected { files, apart: Vec::new() });
    }

    /// The real path of data, where it lies below a folder that the server was given and outside of its own; of a table, its database does
    /// or is one that the server was given.
    pub fn allowed_path(&self, path: &Path) -> Result<PathBuf, Problem> {
        if let Some(address) = PostgresAddress::of(path) {
            return address.ok().and_then(|address| self.allowed_table(&address)).ok_or_else(|| {
                Problem::wrong(
                    "there is no such table of the databases that the server was started with (--data)",
                )
            });
        }
        if let Some(TableAddress { file, table }) = TableAddress::of(path) {
            let file = self.allowed_path(&file)?;
            let address = file.to_str().zip(table).map(|(file, table)| TableAddress::text(file, &table));
            return address
                .map(PathBuf::from)
                .ok_or_else(|| Problem::wrong("name a table of the database, as in sqlite:FILE?table=NAME"));
        }
        let refused = || {
            Problem::wrong(
                "there is no such file below the folders that the server was started with (--data)",
            )
        };
        let typed = if path.is_absolute() {
            path.to_path_buf()
        } else {
            let below = self.settings.data.iter().map(|folder| folder.join(path));
            below.into_iter().find(|path| path.exists()).ok_or_else(refused)?
        };
        let real = typed.canonicalize().map_err(|_| refused())?;
        let is_below = |folder: &Path| folder.canonicalize().is_ok_and(|folder| real.starts_with(folder));
        let allowed = self.settings.data.iter().any(|folder| is_below(folder));
        if allowed && !is_below(&self.settings.directory) { Ok(real) } else { Err(refused()) }
    }

    /// The address of a table as whoever started the server reaches its database: which role asks, and over which line, is theirs to say.
    fn allowed_table(&self, asked: &PostgresAddress) -> Option<PathBuf> {
        let table = asked.table.as_ref()?;
        let is_it = |given: &PostgresAddress| {
            let same = |key: &str| given.settings.get(key) == asked.settings.get(key);
            ["host", "port", "dbname", "service"].iter().all(|key| same(key))
                && asked.settings.keys().all(|key| same(key))
        };
        let mut given = self.settings.data.iter().filter_map(|given| PostgresAddress::of(given)?.ok());
        let given = given.find(is_it)?;
        Some(PathBuf::from(PostgresAddress { table: Some(table.clone()), ..given }.typed()))
    }

    /// Make a member with a link to sign in, on behalf of whoever runs the program.
    pub fn first_steward(&self, name: &str) -> Result<String, Problem> {
        members::check_name(name)?;
        let member = self.store.member(name);
        if member.as_ref().is_some_and(|member| !member.active || member.role != Role::Steward) {
            return Err(Problem::wrong("a member of this name is, or was, no steward; give another name"));
        }
        if member.is_none() {
            self.store.add_member(name, Role::Steward)?;
            self.note(members::MACHINE, "made a member: steward", None, Some(name))?;
        }
        let secret = self.store.issue(name, crate::store::Opens::Invitation, "")?;
        Ok(self.link(secret.reveal()))
    }

    /// The address at which this secret signs in.
    pub fn link(&self, secret: &str) -> String {
        let origin = self.settings.origins.first().map_or("", String::as_str);
        format!("{origin}/sign-in/{secret}")
    }
}

/// One character, or the word for one that is hard to type.
pub fn delimiter(text: &str) -> Result<char, Problem> {
    let mut characters = text.chars();
    match (text, characters.next(), characters.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some(one), None) => Ok(one),
        _ => Err(Problem::wrong("a delimiter is one character, such as ';', or the word tab")),
    }
}
