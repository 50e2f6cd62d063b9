//! The cluster's claim, tried with members as processes: its relation is the one that this host makes, byte for byte, or none, whatever is
//! killed.
//!
//! Members are this test program again, which is asked for `member` alone. `EQUIPOISE_CLUSTER_QUERIES=all` compares every accepted query
//! instead of forty; `EQUIPOISE_CLUSTER_KILLS=60` kills in sixty runs instead of six.

use super::{DATABASES, LIMITS, Row, accepted, cases, cells, database::World, runtime};
use crate::{
    prepare::{self, Proved},
    table::{Column, Reader, Table},
};
use arrow::array::RecordBatch;
use datafusion::{execution::TaskContext, physical_plan::ExecutionPlan, prelude::SessionContext};
use equipoise_session::source::{Batch, Cells, ColumnRead, ColumnType, Lost, Visitor};
use equipoise_sql_cluster::{Cluster, Membership};
use std::{
    env,
    ffi::OsString,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// What a process of this program is to be, as words with a line end between them.
const MEMBER: &str = "EQUIPOISE_TEST_MEMBER";

/// A member of a cluster, where this process was started as one.
#[test]
fn member() {
    if let Ok(words) = env::var(MEMBER) {
        let words = ["equipoise-sql", "cluster"].into_iter().chain(words.lines());
        let _ = crate::member::main(words.map(OsString::from).collect());
        std::process::exit(1);
    }
}

/// A member as a process, which is killed when it is dropped.
struct Process {
    child: Child,
    address: String,
    // Held open: a member that says something to nobody would end.
    _said: BufReader<ChildStdout>,
}

impl Process {
    fn start(words: &[&str]) -> Self {
        let mut command = Command::new(env::current_exe().expect("it runs"));
        command.args(["--exact", "audit::cluster::member", "--nocapture"]).env(MEMBER, words.join("\n"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        let mut said = BufReader::new(child.stdout.take().expect("it is piped"));
        let address = said.by_ref().lines().map_while(Result::ok).find_map(|line| {
            let (_, address) =
                line.split_once("scheduler at ").or_else(|| line.split_once("executor at "))?;
            Some(address.trim().to_string())
        });
        let address = address.unwrap_or_else(|| panic!("{words:?} does not start"));
        Self { child, address, _said: said }
    }

    /// As `kill -9` does.
    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A scheduler and two executors.
struct Members {
    scheduler: Process,
    executors: [Process; 2],
    folder: TempDir,
    certificates: Option<PathBuf>,
}

impl Members {
    fn start(certificates: Option<&Path>) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let certificates = certificates.map(Path::to_path_buf);
        let scheduler = Self::scheduler("127.0.0.1:0", certificates.as_deref());
        let executor = || Self::executor(&scheduler.address, folder.path(), certificates.as_deref());
        let executors = [executor(), executor()];
        Self { scheduler, executors, folder, certificates }
    }

    fn scheduler(listen: &str, certificates: Option<&Path>) -> Process {
        let certificates = certificates.map(|folder| folder.to_str().expect("it is text").to_string());
        let mut words = vec!["scheduler", "--listen", listen];
        words.extend(certificates.iter().flat_map(|folder| ["--certificates", folder]));
        Process::start(&words)
    }

    fn executor(scheduler: &str, folder: &Path, certificates: Option<&Path>) -> Process {
        let certificates = certificates.map(|folder| folder.to_str().expect("it is text").to_string());
        let folder = folder.to_str().expect("it is text");
        let mut words = vec![
            "executor",
            "--scheduler",
            scheduler,
            "--threads",
            "2",
            "--memory",
            "512",
            "--folder",
            folder,
        ];
        words.extend(certificates.iter().flat_map(|folder| ["--certificates", folder]));
        Process::start(&words)
    }

    fn cluster(&self, deadline: Duration) -> Cluster {
        let members = match &self.certificates {
            None => Membership::of_this_host(),
            Some(folder) => Membership::of_folder(folder).expect("they are certificates"),
        };
        Cluster { scheduler: self.scheduler.address.clone(), members, parts: 4, deadline }
    }

    fn kill(&mut self, which: usize) {
        match which {
            0 | 1 => self.executors[which].kill(),
            _ => self.scheduler.kill(),
        }
    }

    fn restart(&mut self, which: usize) {
        match which {
            0 | 1 => {
                let certificates = self.certificates.as_deref();
                self.executors[which] =
                    Self::executor(&self.scheduler.address, self.folder.path(), certificates);
            }
            _ => {
                self.scheduler = Self::scheduler(&self.scheduler.address, self.certificates.as_deref());
            }
        }
    }
}

type Planned = (Arc<dyn ExecutionPlan>, Arc<TaskContext>);

fn planned(cluster: &Cluster, context: &SessionContext, proved: &Proved) -> Planned {
    cluster.adapt(context);
    let planned = runtime().block_on(prepare::physical(context, &proved.plan));
    planned.unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn sorted(batches: &[RecordBatch]) -> Vec<Row> {
    let mut rows: Vec<Row> = batches.iter().flat_map(cells).collect();
    rows.sort();
    rows
}

/// The relation as the cluster makes it, if it comes back.
fn on_cluster(cluster: &Cluster, planned: &Planned) -> Option<Vec<Row>> {
    let rows = cluster.rows(&planned.0, &planned.1, &|_| Ok(()), &|| ());
    runtime().block_on(rows).ok().map(|batches| sorted(&batches))
}

/// The relation as this host makes it.
fn here(context: &SessionContext, proved: &Proved) -> Vec<Row> {
    let collected = runtime().block_on(async {
        let (plan, task) = prepare::physical(context, &proved.plan).await.expect("it was accepted");
        datafusion::physical_plan::collect(plan, task).await
    });
    sorted(&collected.expect("no row fails it"))
}

#[test]
fn forty_relations_of_a_cluster_are_those_of_one_host() {
    let members = Members::start(None);
    let cluster = members.cluster(Duration::from_mins(1));
    let world = World::new();
    let all = cases("accepted.sql");
    let every = if env::var_os("EQUIPOISE_CLUSTER_QUERIES").is_some() { 1 } else { all.len() / 40 };
    let (mut same, mut rows, mut refused, mut wrong) = (0, 0, 0, Vec::new());
    for (number, case) in all.iter().enumerate().filter(|(number, _)| number % every == 0) {
        let (context, proved) = accepted(&world, &case.query, &runtime())
            .unwrap_or_else(|refusal| panic!("{}\n{refusal}", case.query));
        world.hold(number % DATABASES, None);
        let expected = here(&context, &proved);
        let planned = planned(&cluster, &context, &proved);
        match on_cluster(&cluster, &planned) {
            Some(found) if found == expected => (same, rows) = (same + 1, rows + expected.len()),
            Some(found) => wrong.push(format!("{}\n{found:?}\n{expected:?}", case.query)),
            None if cluster.sendable(&planned.0, &planned.1).is_err() => refused += 1,
            None => wrong.push(format!("{}\nlost with nobody killed", case.query)),
        }
    }
    eprintln!("{same} relations with {rows} rows are the same, {refused} refused for free");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(same >= 40 && rows > 40, "{same} relations, {rows} rows");
}

/// What is proved for one host is sent to a cluster as it is, or refused for free: no query is lost there for how it is written. One of the list
/// changes on its way, a sum over a union of a count and a column.
#[test]
fn every_accepted_query_but_one_can_be_sent() {
    let world = World::new();
    let scheduler = "127.0.0.1:1".to_string();
    let deadline = Duration::from_secs(1);
    let cluster = Cluster { scheduler, members: Membership::of_this_host(), parts: 4, deadline };
    let mut refused = Vec::new();
    for case in cases("accepted.sql") {
        let (context, proved) = accepted(&world, &case.query, &runtime()).expect("it is accepted");
        let planned = planned(&cluster, &context, &proved);
        if let Err(why) = cluster.sendable(&planned.0, &planned.1) {
            refused.push(format!("{}\n{why}", case.query));
        }
    }
    assert!(refused.len() == 1 && refused[0].contains("UNION ALL SELECT u, b"), "{}", refused.join("\n"));
}

/// A table of many rows that depend on their number alone.
struct Many {
    rows: u64,
    people: u64,
}

impl Reader for Many {
    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        const BATCH: u64 = 4_096;
        for from in (0..self.rows).step_by(4_096) {
            let rows = from..self.rows.min(from + BATCH);
            let texts: Vec<Vec<String>> = wanted
                .iter()
                .map(|one| {
                    let cell = |row: u64| match one.column {
                        0 => (row * 7_919 % self.people).to_string(),
                        column => ((row * 31 + column as u64) % 1_009).to_string(),
                    };
                    rows.clone().map(cell).collect()
                })
                .collect();
            let texts: Vec<Vec<Option<&str>>> =
                texts.iter().map(|column| column.iter().map(|text| Some(text.as_str())).collect()).collect();
            let cells: Vec<Cells<'_>> = texts.iter().map(|column| Cells::Texts(column)).collect();
            visitors[0].batch(Batch { rows: texts.first().map_or(0, Vec::len), cells: &cells });
        }
        Ok(())
    }
}

/// Many rows of two private tables, joined and aggregated.
fn large() -> (SessionContext, Proved) {
    let table = |names: [&str; 3], rows, people| {
        let column =
            |(place, name): (usize, &str)| Column { name: name.to_string(), place, kind: ColumnType::Text };
        let columns = names.into_iter().enumerate().map(column).collect();
        Arc::new(Table::new(columns, Some(0), Arc::new(Many { rows, people })))
    };
    let context = prepare::context(&[], LIMITS).expect("it has no table");
    context.register_table("v", table(["who", "a", "b"], 60_000, 6_000)).expect("it is new");
    context.register_table("p", table(["u", "c", "d"], 6_000, 6_000)).expect("it is new");
    let query = "SELECT p.u, p.c, x.n, x.s FROM p JOIN (SELECT who, COUNT(*) AS n, SUM(CAST(a AS BIGINT)) AS s \
                 FROM v WHERE b <> '7' GROUP BY who) x ON p.u = x.who";
    let plan = runtime().block_on(context.state().create_logical_plan(query)).expect("it is a query");
    let proved = prepare::proved(&context.state(), plan).expect("it is accepted");
    (context, proved)
}

/// Numbers of the clock: moments need not be the same twice.
fn moment(end: Duration) -> Duration {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is later");
    Duration::from_nanos(u64::from(now.subsec_nanos()) * 7_919 % u64::try_from(end.as_nanos()).unwrap_or(1))
}

#[test]
fn whatever_is_killed_a_relation_is_right_or_lost() {
    let runs: usize =
        env::var("EQUIPOISE_CLUSTER_KILLS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(6);
    let mut members = Members::start(None);
    let (context, proved) = large();
    let expected = here(&context, &proved);
    assert_eq!(expected.len(), 6_000);
    let deadline = Duration::from_mins(1);
    let cluster = members.cluster(deadline);
    let planned = planned(&cluster, &context, &proved);
    let started = Instant::now();
    assert_eq!(on_cluster(&cluster, &planned).as_ref(), Some(&expected), "with nobody killed");
    let usual = started.elapsed();
    let (mut right, mut lost, mut wrong, mut hung) = (0, 0, 0, 0);
    for run in 0..runs {
        let which = run % 3;
        let after = moment(usual);
        let comes_back = run % 2 == 0;
        let started = Instant::now();
        let found = thread::scope(|scope| {
            let asked = scope.spawn(|| on_cluster(&cluster, &planned));
            thread::sleep(after);
            members.kill(which);
            if comes_back {
                members.restart(which);
            }
            asked.join().expect("it does not panic")
        });
        let took = started.elapsed();
        let outcome = match found {
            // Two tries of two passes, and what else there is.
            _ if took > 4 * deadline + Duration::from_mins(1) => (&mut hung, "hung"),
            None => (&mut lost, "lost"),
            Some(rows) if rows == expected => (&mut right, "right"),
            Some(_) => (&mut wrong, "WRONG"),
        };
        *outcome.0 += 1;
        let who = ["an executor", "the other executor", "the scheduler"][which];
        eprintln!(
            "run {run}: {who} killed after {after:?} of {usual:?}, back {comes_back}: {} in {took:?}",
            outcome.1
        );
        if !comes_back {
            members.restart(which);
        }
    }
    eprintln!("{runs} runs: {right} right, {lost} lost, {wrong} wrong, {hung} hung");
    assert_eq!((wrong, hung), (0, 0));
    assert_eq!(on_cluster(&cluster, &planned), Some(expected), "after all of it");
}

/// A folder of certificates, signed by a new authority, as docs/sql-cluster.md makes them; none where openssl is missing.
fn certificates() -> Option<TempDir> {
    let folder = tempfile::tempdir().expect("there is room");
    let page = include_str!("../../../../docs/sql-cluster.md");
    let commands = page.lines().filter(|line| line.starts_with("openssl ") || line.starts_with("printf "));
    let commands = commands.collect::<Vec<_>>().join(" && ");
    let made = Command::new("sh").args(["-c", &commands]).current_dir(folder.path()).output().ok()?;
    made.status.success().then_some(folder)
}

#[test]
fn members_with_other_certificates_or_none_are_refused() {
    let (Some(ours), Some(others)) = (certificates(), certificates()) else {
        eprintln!("openssl is missing: certificates are not tested");
        return;
    };
    let members = Members::start(Some(ours.path()));
    let (context, proved) = large();
    let cluster = members.cluster(Duration::from_mins(1));
    let planned = planned(&cluster, &context, &proved);
    runtime().block_on(cluster.check(&planned.0, &planned.1)).unwrap_or_else(|refused| panic!("{refused}"));
    assert_eq!(on_cluster(&cluster, &planned), Some(here(&context, &proved)));
    let strangers =
        [Membership::of_folder(others.path()).expect("they are certificates"), Membership::of_this_host()];
    for stranger in strangers {
        let cluster = Cluster { members: stranger, ..cluster.clone() };
        let refused = runtime().block_on(cluster.check(&planned.0, &planned.1));
        assert!(
            refused.is_err_and(|refused| refused.problem.contains("no executor")),
            "a stranger is answered"
        );
    }
    let elsewhere = "192.0.2.1".parse().expect("it is an address");
    assert!(Membership::of_this_host().allows(elsewhere).is_err());
    assert!(Membership::of_folder(ours.path()).is_ok_and(|member| member.allows(elsewhere).is_ok()));
    assert!(Membership::of_folder(members.folder.path()).is_err(), "a folder without certificates");
}
