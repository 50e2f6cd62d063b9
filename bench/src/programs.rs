//! What the sandbox adds to a program's own time: the same programs with and without it, in turn, five rounds over.
//!
//! CPU time of all processes of a block, the sandbox's own included; the wall clock of a busy machine says little. Blocks run
//! one after the other, without padding.

use equipoise_runner::{Pace, Program, Refusal, Run, Sandbox, sandbox::take_part};
use std::{fs, path::Path, process::ExitCode, time::Duration};

const ROUNDS: usize = 5;
const BLOCKS: usize = 40;

fn main() -> ExitCode {
    if let Some(code) = take_part() {
        return ExitCode::from(code);
    }
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            eprintln!("programs: {refusal}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Result<(), Refusal> {
    println!(
        "Milliseconds of CPU time of a block, median of {ROUNDS} rounds of {BLOCKS} (fastest .. slowest)."
    );
    println!("{:>16}  {:>24}  {:>24}  {:>8}", "program", "without sandbox", "in the sandbox", "added");
    // A script of a version manager in its place is not what is measured.
    let python = if Path::new("/usr/bin/python3").exists() { "/usr/bin/python3" } else { "python3" };
    for (name, arguments) in [("true", &[] as &[&str]), (python, &["-c", "print(1)"])] {
        let program = Program::new(name, arguments)?;
        let bare = Sandbox::new()?.without_protection();
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (sandbox, times) in [bare.clone(), Sandbox::new()?].into_iter().zip(&mut times) {
                times.push(block_milliseconds(&program, sandbox)?);
            }
        }
        let [bare, kept] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            (
                times[ROUNDS / 2],
                format!("{:.1} ({:.1} .. {:.1})", times[ROUNDS / 2], times[0], times[ROUNDS - 1]),
            )
        });
        println!("{name:>16}  {:>24}  {:>24}  {:>8.1}", bare.1, kept.1, kept.0 - bare.0);
    }
    Ok(())
}

fn block_milliseconds(program: &Program, sandbox: Sandbox) -> Result<f64, Refusal> {
    let programs = vec![program.clone()];
    let run = Run { programs, pace: Pace::UpTo(Duration::from_mins(1)), serial: true, ..Run::new(sandbox) };
    run.rehearse(b"a\n")?;
    let start = children_milliseconds();
    let answers = run.answers(BLOCKS, |_| b"a\n1\n".to_vec(), |printed| Some(printed.to_vec()));
    let each = (children_milliseconds() - start) / BLOCKS as f64;
    assert!(answers.iter().all(Option::is_some), "every program answers");
    Ok(each)
}

/// CPU time of all processes that have ended: the kernel counts it in hundredths of a second.
fn children_milliseconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("/proc");
    // After the name, which may hold anything, user and system time of children are the 14th and 15th words.
    let words: Vec<&str> = stat.rsplit(')').next().expect("a name").split_whitespace().collect();
    words[13..15].iter().map(|ticks| ticks.parse::<f64>().expect("a number") * 10.0).sum()
}
