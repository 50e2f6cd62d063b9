//! The tests: which changes each of them reaches, and whether one of them notices a change.

use crate::tree::Program;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fs,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant, UNIX_EPOCH},
};

/// A change may ask for any amount of time, memory and disk.
const LIMITS: &str = "ulimit -c 0; ulimit -v 8000000; ulimit -f 2000000; ulimit -t $1; shift; exec \"$@\"";
/// A test that takes so many times its time before is taken to hang. Of a processor's time, because others may use the machine;
/// what waits for ever takes none, and is given as many times more by the clock.
const LONGER: u32 = 10;
const AT_LEAST: Duration = Duration::from_secs(15);

pub struct Test {
    pub program: Program,
    pub name: String,
    pub time: Duration,
    pub reaches: BTreeSet<usize>,
}

/// Runs `work` on every item, on as many threads as there are workers.
pub fn side_by_side<T: Sync, R: Send>(
    workers: usize,
    items: &[T],
    work: impl Fn(usize, &T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for worker in 0..workers {
            let (next, done, work) = (&next, &done, &work);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let result = work(worker, item);
                    done.lock().expect("no worker panics").push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no worker panics");
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Passed,
    Failed,
    Hung,
}

pub struct Machine {
    /// The changed tree.
    pub tree: PathBuf,
    /// A folder for each worker's temporary files.
    pub temporary: PathBuf,
}

impl Machine {
    /// Runs some tests of one program in a process group of their own, with so much of a processor's time.
    pub fn run(
        &self,
        worker: usize,
        program: &Program,
        names: &[&str],
        variable: (&str, &str),
        limit: Duration,
    ) -> End {
        let temporary = self.temporary.join(worker.to_string());
        let _ = fs::remove_dir_all(&temporary);
        fs::create_dir_all(&temporary).expect("room for temporary files");
        let mut command = Command::new("sh");
        command
            .args(["-c", LIMITS, "sh", &limit.as_secs().to_string()])
            .arg(&program.path)
            .args(["--exact", "--test-threads=1", "--quiet"])
            .args(names)
            .current_dir(self.tree.join("crates").join(&program.krate))
            .env("CARGO_MANIFEST_DIR", self.tree.join("crates").join(&program.krate))
            .env("INSTA_WORKSPACE_ROOT", &self.tree)
            .env("INSTA_UPDATE", "no")
            .env("PROPTEST_RNG_SEED", "20260101")
            .env("TMPDIR", &temporary)
            .env(variable.0, variable.1)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let mut child = command.spawn().expect("a shell");
        let begun = Instant::now();
        let mut pause = Duration::from_millis(1);
        let end = loop {
            match child.try_wait().expect("a child") {
                Some(status) if status.success() => break End::Passed,
                Some(_) => break End::Failed,
                None if begun.elapsed() > limit * LONGER => break End::Hung,
                None => thread::sleep(pause),
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        };
        // Whatever it started and left.
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-9", "--", &group]).stderr(Stdio::null()).status();
        let _ = child.wait();
        end
    }

    /// Whether one of these tests notices change `number`, the quick ones first.
    pub fn notices(&self, worker: usize, number: usize, tests: &[&Test]) -> Option<(String, End)> {
        let mut tests = tests.to_vec();
        tests.sort_by_key(|test| test.time);
        let mut batches: Vec<Vec<&Test>> = Vec::new();
        for test in tests {
            let fits = |batch: &&mut Vec<&Test>| {
                batch[0].program.path == test.program.path
                    && batch.iter().map(|test| test.time).sum::<Duration>() + test.time
                        < Duration::from_secs(1)
            };
            match batches.iter_mut().rev().find(fits) {
                Some(batch) => batch.push(test),
                None => batches.push(vec![test]),
            }
        }
        let number = number.to_string();
        for batch in batches {
            let names: Vec<&str> = batch.iter().map(|test| test.name.as_str()).collect();
            let limit = batch.iter().map(|test| test.time).sum::<Duration>() * LONGER + AT_LEAST;
            let end = self.run(worker, &batch[0].program, &names, ("EQUIPOISE_MUTANT", &number), limit);
            if end != End::Passed {
                let others = if names.len() > 1 {
                    format!(" or one of {} others", names.len() - 1)
                } else {
                    String::new()
                };
                return Some((format!("{} {}{others}", batch[0].program.krate, names[0]), end));
            }
        }
        None
    }

    /// Every test alone, once, without a change: how long it takes and what it reaches. Tests that fail are left out.
    pub fn baseline(&self, programs: &[Program], workers: usize, kept: &Path) -> (Vec<Test>, Vec<String>) {
        let before: Value = fs::read_to_string(kept)
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        let mut wanted = Vec::new();
        for program in programs {
            let listed = Command::new(&program.path)
                .args(["--list", "--format", "terse"])
                .stderr(Stdio::null())
                .output();
            let listed =
                listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
            for name in listed.lines().filter_map(|line| line.strip_suffix(": test")) {
                wanted.push((program.clone(), name.to_string()));
            }
        }
        eprintln!("{} tests, each alone and unchanged", wanted.len());
        let results = side_by_side(workers, &wanted, |worker, (program, name)| {
            let made = fs::metadata(&program.path).and_then(|data| data.modified()).ok();
            let made =
                made.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |time| time.as_millis());
            let key = format!("{} {made} {name}", program.path.display());
            let old = &before[&key];
            if old.is_object() {
                return (key, old.clone());
            }
            let reached = self.temporary.join(format!("reached{worker}"));
            let _ = fs::remove_file(&reached);
            let variable = ("EQUIPOISE_MUTANT_REACHED", reached.to_str().expect("a path of text"));
            let begun = Instant::now();
            let end = self.run(worker, program, &[name], variable, Duration::from_secs(600));
            let numbers = fs::read(&reached).unwrap_or_default();
            let numbers: BTreeSet<u32> = numbers
                .chunks_exact(4)
                .map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
                .collect();
            let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            (key, json!({"passed": end == End::Passed, "millis": millis, "reaches": numbers}))
        });
        let mut all = serde_json::Map::new();
        let (mut tests, mut failing) = (Vec::new(), Vec::new());
        for ((program, name), (key, result)) in wanted.into_iter().zip(results) {
            if result["passed"] == true {
                let numbers = result["reaches"].as_array().into_iter().flatten();
                tests.push(Test {
                    program,
                    name,
                    time: Duration::from_millis(result["millis"].as_u64().unwrap_or(0)),
                    reaches: numbers.filter_map(|number| usize::try_from(number.as_u64()?).ok()).collect(),
                });
            } else {
                failing.push(format!("{} {name}", program.krate));
            }
            all.insert(key, result);
        }
        let _ = crate::tree::save(kept, &Value::Object(all).to_string());
        (tests, failing)
    }
}
