//! Ledgers in files and in Postgres, processes that charge them, and what is done to both.

pub mod cut;

use crate::support::{Cluster, Database, SmallDisk, started};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::{Amount, Approx},
};
use equipoise_session::ledger::{
    Charge, ChargeError, ChargeRequest, Charging, DataSet, Fault, Ledger, LedgerError,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    env, fmt,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex, MutexGuard, Once, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

/// Set for a process that a test started, to what it is to do.
pub const CHILD: &str = "EQUIPOISE_TEST_CHILD";

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

pub fn granted(ledger: &mut Ledger, request: &ChargeRequest) -> Charge {
    match ledger.charge(request) {
        Ok(Charging::Granted(charge)) => charge,
        other => panic!("{other:?}"),
    }
}

/// Register the data set, with a limit.
pub fn limited(path: &Path, eps: &str) {
    let mut ledger = Ledger::open(path).expect("the ledger opens");
    ledger.register(&data_set(), None).unwrap();
    ledger.set_limit(&data_set().name, None, Some(&approx(eps).into())).unwrap();
}

/// A ledger in a file, in a folder that is removed with it.
pub fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.ledger");
    (folder, path)
}

/// A new ledger in Postgres, on a server that forgets nothing; nothing, with a loud line, where Postgres is not installed.
pub fn in_postgres() -> Option<Place> {
    static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
    Some(of(CLUSTER.get_or_init(|| started(&["fsync=on"])).as_ref()?))
}

/// The same on a server that may be stopped, which is nobody else's meanwhile.
pub fn on_a_server_to_stop() -> Option<Place> {
    static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = of(CLUSTER.get_or_init(|| started(&["fsync=on"])).as_ref()?);
    Some(Place { _alone: Some(alone), ..place })
}

/// The same on a server whose disk can be full.
pub fn on_a_small_disk() -> Option<(SmallDisk, Place)> {
    // What the server writes ahead takes new space soon, and little of it is kept.
    let settings =
        ["fsync=on", "min_wal_size=32MB", "max_wal_size=32MB", "wal_recycle=off", "autovacuum=off"];
    let (disk, cluster) = SmallDisk::with_cluster(128, &settings)?;
    Some((disk, of(cluster)))
}

fn of(cluster: &'static Cluster) -> Place {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    installed();
    let name = format!("ledger_{}", NUMBER.fetch_add(1, SeqCst));
    let role = "DO $$ BEGIN CREATE ROLE asking LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$";
    let database = cluster.database_called(&name, "", role);
    Ledger::make_on_server(&database.ledger_as("boss"), "asking").expect("a ledger");
    Place { address: database.ledger_as("asking"), folder: None, database: Some(database), _alone: None }
}

pub fn installed() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(equipoise_postgres::install);
}

/// Where a ledger is.
pub struct Place {
    address: PathBuf,
    folder: Option<tempfile::TempDir>,
    database: Option<Database>,
    _alone: Option<MutexGuard<'static, ()>>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.folder.is_some() { "a file" } else { "Postgres" })
    }
}

impl Place {
    /// A file, and this.
    pub fn and_a_file(there: Option<Self>) -> Vec<Self> {
        let (folder, address) = file();
        let here = Self { address, folder: Some(folder), database: None, _alone: None };
        std::iter::once(here).chain(there).collect()
    }

    pub fn address(&self) -> &Path {
        &self.address
    }

    fn database(&self) -> &Database {
        self.database.as_ref().expect("a server")
    }

    pub fn address_as(&self, role: &str) -> PathBuf {
        self.database().ledger_as(role)
    }

    pub fn over_tcp(&self, port: u16) -> PathBuf {
        PathBuf::from(format!("postgres://asking@127.0.0.1:{port}/{}", self.database().name))
    }

    pub fn port(&self) -> u16 {
        self.database().cluster.port
    }

    /// Another database of the same server, without a ledger, as the owner of everything.
    pub fn empty(&self) -> PathBuf {
        static ONCE: Once = Once::new();
        let there = self.database();
        ONCE.call_once(|| drop(there.cluster.database_called("empty", "", "")));
        let name = Database { cluster: there.cluster, name: "empty".to_string() };
        name.ledger_as("boss")
    }

    pub fn run(&self, script: &str) {
        self.database().run(script);
    }

    /// What the server says to a role.
    pub fn psql_as(&self, role: &str, script: &str) -> String {
        let there = self.database();
        let output = there.cluster.psql(&there.name, &format!("SET ROLE {role}; {script}"));
        String::from_utf8(output.stderr).expect("text")
    }

    /// The server stops as by a crash, and starts again; a file has none.
    pub fn stop(&self) {
        if let Some(database) = &self.database {
            database.cluster.stop_immediately();
        }
    }
}

/// So many processes ask for so many things together, while processes are killed and the server is stopped.
#[derive(Clone, Copy)]
pub struct Asking {
    pub processes: usize,
    pub requests: usize,
    pub kills: usize,
    pub stops: usize,
}

/// What one process does.
pub struct One {
    address: PathBuf,
    first: usize,
    step: usize,
    requests: usize,
}

impl Asking {
    pub fn read(text: &str) -> One {
        let parts: Vec<&str> = text.splitn(4, ' ').collect();
        let number = |place: usize| parts[place].parse().expect("a number");
        One { first: number(0), step: number(1), requests: number(2), address: PathBuf::from(parts[3]) }
    }
}

/// Ask for epsilon 0.01 under each number of ours, and say what is known to be done.
pub fn process(one: &One) {
    installed();
    let opened = (0..400).find_map(|_| {
        let opened = Ledger::open(&one.address);
        if opened.is_err() {
            thread::sleep(Duration::from_millis(50));
        }
        opened.ok()
    });
    let mut ledger = opened.expect("the ledger opens");
    for number in (one.first..one.requests).step_by(one.step) {
        let ask = request("0.01", Some(&format!("r{number}")));
        let done = (0..100).any(|_| ask_once(&mut ledger, &ask, number));
        assert!(done, "tried often enough");
        println!("\n@done {number}");
    }
}

fn ask_once(ledger: &mut Ledger, ask: &ChargeRequest, number: usize) -> bool {
    match ledger.charge(ask) {
        Ok(Charging::Granted(charge)) => {
            println!("\n@charged {}", charge.id());
            match ledger.record(&charge, &format!("{{\"value\":{number}}}")) {
                Ok(receipt) => println!("\n@answered {} {}", charge.id(), receipt.hash),
                Err(_) => println!("\n@failed"),
            }
        }
        Ok(Charging::Replay(again)) => println!("\n@answered {} {}", again.receipt.id, again.receipt.hash),
        Err(ChargeError::Lost { id, .. }) => println!("\n@charged {id}"),
        Err(ChargeError::OverBudget(_)) => println!("\n@refused"),
        Err(ChargeError::Ledger(LedgerError {
            fault: Fault::Gone | Fault::Unreachable | Fault::Busy | Fault::Unfinished { .. },
            ..
        })) => {
            println!("\n@failed");
            thread::sleep(Duration::from_millis(50));
            return false;
        }
        Err(error) => panic!("{error}"),
    }
    true
}

/// What processes said.
#[derive(Default)]
pub struct Seen {
    pub charged: BTreeSet<String>,
    pub answered: BTreeMap<String, String>,
    pub refused: usize,
    pub failed: usize,
    pub kills: usize,
    pub stops: usize,
}

/// Run them to their end: whoever is killed is started again where it was.
pub fn storm(place: &Place, asking: &Asking) -> Seen {
    let seen = Mutex::new(Seen::default());
    let finished = AtomicUsize::new(0);
    let children: Vec<Mutex<Option<Child>>> = (0..asking.processes).map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        for (first, child) in children.iter().enumerate() {
            let (seen, finished) = (&seen, &finished);
            scope.spawn(move || follow(place, asking, first, child, seen, finished));
        }
        // Evenly over nine tenths of the work, so that the number of each is what was asked for.
        let due = |count: usize, of: usize| (count + 1) * asking.requests * 9 / (of + 1) / 10;
        let (mut kills, mut stops) = (0, 0);
        while (kills < asking.kills || stops < asking.stops) && finished.load(SeqCst) < asking.requests {
            let now = finished.load(SeqCst);
            if kills < asking.kills && now >= due(kills, asking.kills) {
                let mut child = children[kills % asking.processes].lock().unwrap();
                if let Some(child) = child.as_mut() {
                    child.kill().expect("it was ours");
                    kills += 1;
                }
            }
            if stops < asking.stops && now >= due(stops, asking.stops) {
                place.stop();
                stops += 1;
            }
            thread::sleep(Duration::from_millis(2));
        }
        let mut seen = seen.lock().unwrap();
        (seen.kills, seen.stops) = (kills, stops);
    });
    seen.into_inner().unwrap()
}

/// One process after another for the same numbers, each from where the one before it ended.
fn follow(
    place: &Place,
    asking: &Asking,
    own: usize,
    child: &Mutex<Option<Child>>,
    seen: &Mutex<Seen>,
    finished: &AtomicUsize,
) {
    let mut next = own;
    while next < asking.requests {
        let text = format!("{next} {} {} {}", asking.processes, asking.requests, place.address().display());
        let mut started = started_as(own, &text);
        let lines = BufReader::new(started.stdout.take().expect("a pipe")).lines();
        *child.lock().unwrap() = Some(started);
        for line in lines.map_while(Result::ok) {
            let mut seen = seen.lock().unwrap();
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["@charged", id] => drop(seen.charged.insert(id.to_string())),
                ["@answered", id, hash] => {
                    seen.charged.insert(id.to_string());
                    let hash = hash.to_string();
                    assert_eq!(*seen.answered.entry(id.to_string()).or_insert(hash.clone()), hash);
                }
                ["@refused"] => seen.refused += 1,
                ["@failed"] => seen.failed += 1,
                ["@done", number] => {
                    next = number.parse::<usize>().expect("a number") + asking.processes;
                    finished.fetch_add(1, SeqCst);
                }
                _ => {}
            }
        }
        let ended = child.lock().unwrap().take().expect("it was started").wait().expect("it ends");
        assert!(next >= asking.requests || ended.code().is_none(), "a process failed: {ended}");
    }
}

/// This test program once more, every other one under the name of another host where that can be had.
fn started_as(own: usize, text: &str) -> Child {
    let program = env::current_exe().expect("this program");
    let is_root =
        std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let mut command = if is_root && own % 2 == 1 {
        let mut command = Command::new("unshare");
        command.args(["--uts", "sh", "-c", "hostname another-host && exec \"$@\"", "sh"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.args(["--exact", "asking_process", "--nocapture", "--test-threads=1"]).env(CHILD, text);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it starts")
}
