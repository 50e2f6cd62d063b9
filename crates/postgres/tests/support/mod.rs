//! A Postgres of this test program's own: one cluster for all of its tests, one database for each.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::{
    env, fs,
    io::Write as _,
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

/// Who owns everything there.
const BOSS: &str = "boss";

/// A running cluster. It lives as long as the test program: what watches over it ends with our end of a pipe, however we end.
pub struct Cluster {
    pub folder: PathBuf,
    pub port: u16,
    bin: PathBuf,
    _watched: Child,
}

/// The cluster of this test program; nothing, with a loud line, where Postgres is not installed.
pub fn cluster() -> Option<&'static Cluster> {
    static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
    CLUSTER.get_or_init(|| started(&[])).as_ref()
}

/// Where the programs of Postgres are.
fn bin() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().filter_map(Result::ok);
    let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    // The newest first, then whatever is on the path.
    folders.sort();
    folders.reverse();
    folders.extend(env::split_paths(&env::var_os("PATH")?));
    let has = |folder: &PathBuf, program: &str| folder.join(program).exists();
    folders
        .into_iter()
        .find(|folder| ["initdb", "postgres", "psql"].iter().all(|program| has(folder, program)))
}

/// Postgres does not run as root; the programs that Debian installs bring a user along.
fn as_its_user(program: &Path) -> Command {
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if !is_root {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}

/// A new cluster with these settings.
pub fn started(settings: &[&str]) -> Option<Cluster> {
    started_in(&tempfile::tempdir().expect("a folder").keep(), settings)
}

/// A new cluster in this folder, which goes with it.
pub fn started_in(folder: &Path, settings: &[&str]) -> Option<Cluster> {
    let Some(bin) = bin() else {
        eprintln!(
            "\n!! SKIPPED: Postgres is not installed, and nothing about it was tested; install Debian's 'postgresql'\n"
        );
        return None;
    };
    let folder = folder.to_path_buf();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("permissions");
    let data = folder.join("data");
    let made = as_its_user(&bin.join("initdb"))
        .args(["-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "-U", BOSS, "-D"])
        .arg(&data)
        .output()
        .expect("initdb runs");
    assert!(made.status.success(), "{made:?}");
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let mut command = as_its_user(Path::new("/bin/sh"));
    command.args([
        "-c",
        // The shell starts a server again that was stopped, until its input ends, which it does when the test program ends.
        "folder=$(dirname \"$0\"); (while [ -d \"$folder/data\" ] && [ ! -e \"$0.end\" ]; do \"$@\" >>\"$0\" 2>&1; sleep 0.1; done) & cat >/dev/null; : >\"$0.end\"; server=$(head -n 1 \"$folder/data/postmaster.pid\"); kill -TERM $server; tries=0; while kill -0 $server && [ $tries -lt 90 ]; do sleep 0.1; tries=$((tries+1)); done; kill -KILL $server; rm -rf \"$folder\"",
    ]);
    command.arg(folder.join("log")).arg(bin.join("postgres")).arg("-D").arg(&data);
    for setting in ["fsync=off", "listen_addresses=127.0.0.1", "max_connections=100"].iter().chain(settings) {
        command.args(["-c", setting]);
    }
    command.arg("-c").arg(format!("port={port}"));
    command.arg("-c").arg(format!("unix_socket_directories={}", folder.display()));
    let watched =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a shell");
    let cluster = Cluster { folder, port, bin, _watched: watched };
    for _ in 0..600 {
        if cluster.psql("postgres", "SELECT 1").status.success() {
            return Some(cluster);
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("{}", fs::read_to_string(cluster.folder.join("log")).unwrap_or_default());
}

/// A disk in memory with a cluster on it, which can be full; nothing, with a loud line, where this user may mount none.
pub struct SmallDisk {
    pub folder: PathBuf,
    bin: PathBuf,
}

impl SmallDisk {
    pub fn with_cluster(megabytes: usize, settings: &[&str]) -> Option<(Self, &'static Cluster)> {
        let bin = bin()?;
        let folder = tempfile::tempdir().expect("a folder").keep();
        let size = format!("size={megabytes}m");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "equipoise"]).arg(&folder).output();
        if !mounted.is_ok_and(|mounted| mounted.status.success()) {
            eprintln!(
                "\n!! SKIPPED: no disk can be mounted here, and none was full under a ledger in Postgres\n"
            );
            return None;
        }
        let disk = Self { folder, bin };
        let cluster = started_in(&disk.folder, settings)?;
        Some((disk, Box::leak(Box::new(cluster))))
    }

    /// Nothing more fits.
    pub fn fill(&self) {
        let mut file = fs::File::create(self.folder.join("full")).expect("a file");
        for piece in [1 << 16, 1 << 12] {
            while file.write_all(&vec![0; piece]).is_ok() {}
        }
    }

    pub fn free(&self) {
        fs::remove_file(self.folder.join("full")).expect("it was full");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Whoever starts the server again sees that nobody wants it.
        let _ = fs::write(self.folder.join("log.end"), "");
        let mut stop = as_its_user(&self.bin.join("pg_ctl"));
        let _ = stop.args(["stop", "-m", "immediate", "-D"]).arg(self.folder.join("data")).output();
        let _ = Command::new("umount").arg("-l").arg(&self.folder).output();
        let _ = fs::remove_dir(&self.folder);
    }
}

impl Cluster {
    /// Stop as a crash would; it starts again by itself.
    pub fn stop_immediately(&self) {
        let stopped = as_its_user(&self.bin.join("pg_ctl"))
            .args(["stop", "-m", "immediate", "-D"])
            .arg(self.folder.join("data"))
            .output()
            .expect("pg_ctl runs");
        assert!(stopped.status.success(), "{stopped:?}");
    }

    pub fn psql(&self, database: &str, script: &str) -> Output {
        let mut child = Command::new(self.bin.join("psql"))
            .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-A", "-t", "-U", BOSS, "-d", database, "-h"])
            .arg(&self.folder)
            .args(["-p", &self.port.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("psql runs");
        // One that finds no server ends without reading, and says so by its status.
        let _ = child.stdin.take().expect("a pipe").write_all(script.as_bytes());
        child.wait_with_output().expect("psql ends")
    }

    /// A new database after this script, with a role `reader` of its own that may read what the script grants.
    pub fn database(&'static self, script: &str) -> Database {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("test_{}", NUMBER.fetch_add(1, Relaxed));
        self.database_called(&name, "", script)
    }

    pub fn database_called(&'static self, name: &str, options: &str, script: &str) -> Database {
        let database = Database { cluster: self, name: name.to_string() };
        let made = self.psql("postgres", &format!("CREATE DATABASE \"{name}\" {options}"));
        assert!(made.status.success(), "{made:?}");
        database.run(&format!(
            "DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$; {script}"
        ));
        database
    }
}

/// A database of one test.
pub struct Database {
    pub cluster: &'static Cluster,
    pub name: String,
}

impl Database {
    /// Do this as the owner of everything.
    pub fn run(&self, script: &str) -> String {
        let output = self.cluster.psql(&self.name, script);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text").trim().to_string()
    }

    /// The address of the database as this role.
    pub fn ledger_as(&self, role: &str) -> PathBuf {
        let folder = self.cluster.folder.display().to_string().replace('/', "%2F");
        PathBuf::from(format!("postgres://{role}@{folder}:{}/{}", self.cluster.port, self.name))
    }

    /// The address of a table, as `reader`.
    pub fn address(&self, table: &str) -> PathBuf {
        self.address_as("reader", table)
    }

    pub fn address_as(&self, role: &str, table: &str) -> PathBuf {
        let folder = self.cluster.folder.display().to_string().replace('/', "%2F");
        PathBuf::from(format!("postgres://{role}@{folder}:{}/{}?table={table}", self.cluster.port, self.name))
    }

    /// The same over TCP.
    pub fn over_tcp(&self, host: &str, table: &str) -> PathBuf {
        PathBuf::from(format!("postgres://reader@{host}:{}/{}?table={table}", self.cluster.port, self.name))
    }
}
