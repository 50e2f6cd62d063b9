//! A test in a process of its own, with little memory: what would end the process ends that one.

use std::{env, process::Command};

/// Says which test a process was started for.
const STARTED_FOR: &str = "EQUIPOISE_ALONE";

/// How much memory it may ask for, in KiB.
const MOST_KIBIBYTES: u32 = 4 << 20;

/// Do the work of the test of this name in a process of its own, which must end well and say nothing on standard error.
pub fn alone(test: &str, work: impl FnOnce()) {
    if env::var(STARTED_FOR).is_ok_and(|name| name == test) {
        return work();
    }
    let program = env::current_exe().expect("a test is a program");
    let limit =
        if cfg!(target_os = "linux") { format!("ulimit -v {MOST_KIBIBYTES};") } else { String::new() };
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{limit} exec \"$0\" \"$@\"")).arg(program);
    command.args([test, "--exact", "--nocapture", "--test-threads", "1"]);
    let output = command.env(STARTED_FOR, test).output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.is_empty(), "{}: {said}\n{printed}", output.status);
    assert!(printed.contains("1 passed"), "there is no test {test}: {printed}");
    if env::var("EQUIPOISE_MUTATED_FILES").is_ok() {
        print!("{printed}");
    }
}
