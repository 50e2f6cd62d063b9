//! The prompt of `equipoise sql` at a real pseudo-terminal: history, completion, several lines, tables that fit; and the transcript in
//! docs/sql.md, line by line. The terminal is made by `script`, which every Linux has.
#![cfg(target_os = "linux")]

#[path = "support/example_data.rs"]
mod example_data;

use std::{
    fs,
    io::{Read as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

/// A program at a terminal, and everything that it has printed.
struct Terminal {
    child: Child,
    keys: Option<ChildStdin>,
    printed: Arc<Mutex<Vec<u8>>>,
    columns: usize,
}

const UP: &str = "\x1b[A";
const PROMPT: &str = "sql>";

impl Terminal {
    fn open(folder: &Path, columns: usize) -> Self {
        let program = env!("CARGO_BIN_EXE_equipoise");
        let command = format!("stty cols {columns} rows 50; exec {program} sql --epsilon 2 --delta 1e-6");
        let mut child = Command::new("script")
            .args(["--quiet", "--return", "--flush", "--command", &command, "/dev/null"])
            .current_dir(folder)
            .env("TERM", "xterm")
            .env("SHELL", "/bin/sh")
            .env("XDG_STATE_HOME", folder.join("state"))
            .env_remove("EQUIPOISE_LEDGER")
            .env_remove("EQUIPOISE_ANALYST")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script, which is part of util-linux");
        let printed = Arc::new(Mutex::new(Vec::new()));
        let (mut from, to) = (child.stdout.take().expect("piped"), Arc::clone(&printed));
        thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(many @ 1..) = from.read(&mut some) {
                to.lock().expect("nobody panics").extend_from_slice(&some[..many]);
            }
        });
        let keys = child.stdin.take();
        let mut terminal = Self { child, keys, printed, columns };
        terminal.until(|screen| screen.last().is_some_and(|line| line == PROMPT));
        terminal
    }

    fn screen(&self) -> Vec<String> {
        screen(&String::from_utf8_lossy(&self.printed.lock().expect("nobody panics")), self.columns)
    }

    /// Wait until the screen is so, and nothing more comes.
    fn until(&mut self, is: impl Fn(&[String]) -> bool) {
        let start = Instant::now();
        let mut before = Vec::new();
        loop {
            let now = self.screen();
            if now == before && is(&now) {
                return;
            }
            assert!(start.elapsed() < Duration::from_mins(2), "the screen stays:\n{}", now.join("\n"));
            before = now;
            thread::sleep(Duration::from_millis(150));
        }
    }

    /// Type keys that stay on the line, until it ends so.
    fn types(&mut self, keys: &str, ends: &str) {
        self.send(keys);
        self.until(|screen| screen.last().is_some_and(|line| line.ends_with(ends)));
    }

    /// Type keys that end an input, and wait for the next prompt.
    fn enters(&mut self, keys: &str) {
        let prompts = |screen: &[String]| screen.iter().filter(|line| line.starts_with(PROMPT)).count();
        let before = prompts(&self.screen());
        self.send(keys);
        self.send("\r");
        self.until(|screen| screen.last().is_some_and(|line| line == PROMPT) && prompts(screen) > before);
    }

    fn send(&mut self, keys: &str) {
        let mut to = self.keys.as_ref().expect("it is open");
        to.write_all(keys.as_bytes()).and_then(|()| to.flush()).expect("the terminal is there");
    }

    /// Ctrl-D, and what was on the screen.
    fn closed(mut self) -> Vec<String> {
        self.send("\x04");
        drop(self.keys.take());
        assert!(self.child.wait().expect("it ends").success());
        self.screen()
    }
}

/// What a terminal of so many columns shows, all lines since it was opened.
fn screen(printed: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<Vec<char>> = vec![Vec::new()];
    let (mut line, mut place) = (0usize, 0usize);
    let mut letters = printed.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' => place = 0,
            '\n' => line += 1,
            '\u{8}' => place = place.saturating_sub(1),
            '\u{1b}' if letters.next_if_eq(&'[').is_some() => {
                let mut number = String::new();
                while let Some(next) = letters.next_if(|next| next.is_ascii_digit() || "?;".contains(*next)) {
                    number.push(next);
                }
                let many: usize = number.parse().unwrap_or(1);
                match letters.next() {
                    Some('A') => line = line.saturating_sub(many),
                    Some('B') => line += many,
                    Some('C') => place += many,
                    Some('D') => place = place.saturating_sub(many),
                    Some('K') => lines[line].truncate(place),
                    Some('J') => {
                        lines[line].truncate(place);
                        lines.truncate(line + 1);
                    }
                    _ => {}
                }
            }
            letter if letter.is_control() => {}
            letter => {
                if place >= columns {
                    (line, place) = (line + 1, 0);
                }
                lines.resize_with(lines.len().max(line + 1), Vec::new);
                let row = &mut lines[line];
                row.resize(row.len().max(place + 1), ' ');
                row[place] = letter;
                place += 1;
            }
        }
        lines.resize_with(lines.len().max(line + 1), Vec::new);
    }
    lines.iter().map(|row| row.iter().collect::<String>().trim_end().to_string()).collect()
}

/// Does a line fit, where `[..]` stands for anything?
fn fits(pattern: &str, line: &str) -> bool {
    let mut rest = line;
    for (place, part) in pattern.split("[..]").enumerate() {
        match rest.find(part) {
            Some(at) if place > 0 || at == 0 => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    rest.is_empty() || pattern.ends_with("[..]")
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("salaries.csv"), example_data::salaries()).expect("a file");
    folder
}

#[test]
fn the_transcript_of_the_page_is_what_a_terminal_shows() {
    let folder = folder();
    // As wide as the longest line: what a terminal breaks is no line of the page.
    let mut terminal = Terminal::open(folder.path(), 400);
    terminal.enters(".tables");
    terminal.types(".col\t", ".columns");
    terminal.types("sal\t", "salaries.csv");
    terminal.enters("");
    // Of the only table of the folder, before anything was asked.
    terminal.types("SEL\t", "SELECT");
    terminal.types("town, COUNT(*) AS n, AVG(sal\t", "AVG(salary");
    terminal.types(") AS pay FROM sal\t\r", "");
    terminal.enters("  GROUP BY town ORDER BY n DESC LIMIT 3;");
    terminal.enters(".plan SELECT MEDIAN(salary) FROM salaries.csv;");
    terminal.enters(".budget");
    terminal.enters("SELECT salary FROM salaries.csv;");
    // The query before the wrong one and two words with dots, which is then changed.
    terminal.types(&UP.repeat(2), ".budget");
    terminal.enters("");
    let shown = terminal.closed();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    let page = fs::read_to_string(page).expect("the page");
    let block = page.split("```transcript\n").nth(1).and_then(|rest| rest.split("```").next());
    let expected: Vec<&str> = block.expect("a transcript").lines().collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
    let agrees =
        expected.len() == shown.len() && expected.iter().zip(&shown).all(|(said, is)| fits(said, is));
    assert!(agrees, "the terminal shows\n{}\nand the page\n{}", shown.join("\n"), expected.join("\n"));
}

#[test]
fn queries_of_earlier_prompts_come_back_and_nobody_else_reads_them() {
    let folder = folder();
    let mut terminal = Terminal::open(folder.path(), 100);
    terminal.types("SELECT COUNT(*)\r", "");
    terminal.enters("FROM salaries.csv;");
    terminal.closed();
    let history = folder.path().join("state/equipoise/sql-history");
    let mode = fs::metadata(&history).expect("a history").permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    let mut terminal = Terminal::open(folder.path(), 100);
    terminal.types(UP, "FROM salaries.csv;");
    let shown = terminal.screen();
    assert!(shown.iter().any(|line| line == "sql> SELECT COUNT(*)"), "{shown:?}");
    terminal.enters("");
    let shown = terminal.closed();
    assert!(shown.iter().any(|line| line.contains("epsilon 4 spent on salaries.csv")), "{shown:?}");
}

#[test]
fn tables_fit_a_narrow_terminal() {
    let folder = folder();
    let mut terminal = Terminal::open(folder.path(), 60);
    terminal.types("SELECT town, COUNT(*) AS n, AVG(salary),\r", "");
    terminal.types("MEDIAN(salary), STDDEV(salary)\r", "");
    terminal.enters("FROM salaries.csv GROUP BY town LIMIT 2;");
    let shown = terminal.closed();
    let head = shown.iter().position(|line| line.starts_with("   town")).expect("a table");
    let end = shown.iter().position(|line| line.starts_with("  result")).expect("the line below it");
    assert!(end > head + 2, "{shown:?}");
    // Wider lines would go on at the left end of the next one, without an indentation.
    let table = &shown[head..end];
    assert!(table.iter().all(|line| line.starts_with(' ') || line.is_empty()), "{}", table.join("\n"));
    assert!(table.iter().all(|line| line.chars().count() <= 60), "{}", table.join("\n"));
}
