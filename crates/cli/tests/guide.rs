//! The guides in docs/ are run: each command of a `console` block, in order, in a folder with the example file.

#[path = "support/example_data.rs"]
mod example_data;

use std::{fs, path::Path, process::Command};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A command, the exit code and the lines it should give.
struct Step {
    command: String,
    exit: i32,
    lines: Vec<String>,
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside {
            if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step { command: command.to_string(), exit: 0, lines: Vec::new() });
            } else if let Some(step) = steps.last_mut() {
                match line.strip_prefix("? ") {
                    Some(code) => step.exit = code.parse().expect("an exit code"),
                    None => step.lines.push(line.to_string()),
                }
            }
        }
    }
    steps
}

/// Does a line fit, where `[..]` stands for anything?
fn fits(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split("[..]");
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for part in parts {
        last = Some(part);
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    match last {
        None => rest.is_empty(),
        Some(part) => part.is_empty() || rest.is_empty() || line.ends_with(part),
    }
}

/// True where all commands do what the guide says. False where a refusal, the one outcome that hangs on coins, was an
/// answer; panics at any other difference.
fn agrees_with(name: &str) -> bool {
    let text = fs::read_to_string(root().join("docs").join(name)).expect("a guide");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("salaries.csv"), example_data::salaries()).expect("a file");
    for entry in fs::read_dir(root().join("examples/programs")).expect("the programs of the examples") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, folder.path().join(path.file_name().expect("a name"))).expect("a copy");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_equipoise")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let steps = steps(&text);
    assert!(!steps.is_empty(), "{name} has commands");
    for step in steps {
        let output = Command::new("sh")
            .args(["-c", &step.command])
            .current_dir(folder.path())
            .env("PATH", &path)
            .env_remove("EQUIPOISE_LEDGER")
            .env_remove("EQUIPOISE_ANALYST")
            .output()
            .expect("a shell");
        let shown =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if step.exit == 3 && output.status.code() == Some(0) {
            return false;
        }
        let lines: Vec<&str> = shown.lines().collect();
        let agrees = output.status.code() == Some(step.exit)
            && lines.len() == step.lines.len()
            && step.lines.iter().zip(&lines).all(|(pattern, line)| fits(pattern, line));
        assert!(
            agrees,
            "{name}: $ {}\nexit {:?}, expected {}\n{shown}\nexpected:\n{}",
            step.command,
            output.status.code(),
            step.exit,
            step.lines.join("\n")
        );
    }
    true
}

/// Where two rows must change before the median does, it is told with probability delta·(1 + e) < 4e-6: three times in
/// a row, below 1e-16.
#[test]
fn the_five_minute_guide_runs() {
    assert!((0..3).any(|_| agrees_with("guide.md")), "a refusal is an answer again and again");
}

/// Nothing is refused or left out but with a probability below e^-30.
#[test]
fn the_start_page_runs() {
    assert!(agrees_with("start.md"));
}

/// Nothing in them hangs on coins but with a probability below e^-30. The data scientist's needs a sandbox, as the guide to programs does.
#[test]
fn the_tutorials_run() {
    for name in ["steward", "reviewer", "analyst", "engineer"] {
        assert!(agrees_with(&format!("tutorials/{name}.md")), "{name}");
    }
}

/// The pages of a folder that have commands.
fn pages_with_commands(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join("docs").join(folder)).expect("a folder of pages");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let pages = paths.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let with = pages.filter(|path| fs::read_to_string(path).expect("a page").contains("```console\n"));
    with.map(|path| format!("{folder}/{}", path.file_name().expect("a name").to_string_lossy())).collect()
}

/// A median of 40 rows is answered at epsilon 0.1 with a probability below e^-6: three times in a row, below e^-18. Nothing else is refused
/// or left out but with a probability below e^-30.
#[test]
fn the_short_pages_run() {
    let pages: Vec<String> =
        ["how-to", "explanation", "theory"].into_iter().flat_map(pages_with_commands).collect();
    assert!(pages.len() > 12, "only {} pages with commands were found", pages.len());
    for page in pages {
        assert!((0..3).any(|_| agrees_with(&page)), "{page}: a refusal is an answer again and again");
    }
}

/// No command of it hangs on coins.
#[test]
fn the_page_of_budgets_that_renew_runs() {
    assert!(agrees_with("renewing-budgets.md"));
}

/// At these epsilons the counts of 5,000 rows are refused with a probability below e^-100.
#[test]
fn the_page_of_statistics_runs() {
    assert!(agrees_with("statistics.md"));
}

/// No command of it hangs on coins.
#[test]
fn the_guide_to_robust_answers_runs() {
    assert!(agrees_with("robust.md"));
}

/// Where sandboxes cannot be built, the suite of the runner shows why, and this has nothing to run.
#[cfg(target_os = "linux")]
#[test]
fn the_guide_to_programs_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.csv");
    fs::write(&file, "a\n").expect("a file");
    let tried = Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .arg("run")
        .arg(&file)
        .args(["--epsilon", "1", "--output", "number", "--range", "0,1", "--dry-run", "--", "true"])
        .output()
        .expect("the program runs");
    let error = String::from_utf8_lossy(&tried.stderr).into_owned();
    assert!(tried.status.success() || error.contains("the sandbox cannot be built here"), "{error}");
    if tried.status.success() {
        // At epsilon 5 the number of answers seems too small with probability e^-28.
        assert!(agrees_with("programs.md"));
        assert!(agrees_with("tutorials/data-scientist.md"));
    }
}

/// Values lie more than 60 scales from their thresholds: an answer is wrong with a probability below e^-60.
#[test]
fn the_guide_to_monitors_runs() {
    assert!(agrees_with("monitor.md"), "no step is refused");
}

/// Numbers lie 900 from the threshold at scales below 5, and the means of the holdout 0.8 from those of training at 0.001.
#[test]
fn the_page_of_choices_and_streams_runs() {
    assert!(agrees_with("streams.md"), "no step is refused");
}

/// No command of it hangs on coins: answers are whatever they are.
#[test]
fn the_page_of_graphs_runs() {
    assert!(agrees_with("graphs.md"), "no step is refused");
}

/// At epsilon 20 a town of a thousand rows is not released with a probability below e^-1000.
#[test]
fn the_guide_to_sql_runs() {
    assert!(agrees_with("sql.md"), "no step is refused");
}

#[test]
fn the_example_file_is_the_one_that_the_project_generates() {
    let kept = fs::read_to_string(root().join("examples/salaries.csv")).expect("the example file");
    assert!(
        kept == example_data::salaries(),
        "write it anew: cargo run --example example_data > examples/salaries.csv"
    );
}

#[test]
fn patterns_fit_as_they_should() {
    for (pattern, line, expected) in [
        ("a", "a", true),
        ("a", "ab", false),
        ("a [..] c", "a b c", true),
        ("a [..] c", "a b d", false),
        ("a [..]", "a ", true),
        ("[..] rows", "about 50 rows", true),
        ("[..] rows", "about 50 rows more", false),
        ("x", "", false),
    ] {
        assert_eq!(fits(pattern, line), expected, "{pattern} against {line}");
    }
}
