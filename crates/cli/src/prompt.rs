//! The prompt of `equipoise sql`: queries over several lines up to a semicolon, with history and completion at a terminal, and a few words
//! that begin with a dot. Only headers and the ledger are looked at before a query is charged.

use crate::{
    Exit,
    args::{Showing, SqlOptions},
    ask::{self, usage},
    show::{amount, left_words, printable},
    sql,
};
use equipoise_engine::STANDARD_INPUT;
use equipoise_session::{ledger::Balance, source::Source};
use equipoise_sql_front::{AGGREGATES, FUNCTIONS, Query};
use rustyline::{
    CompletionType, Config, Context, Editor, Helper,
    completion::Completer,
    error::ReadlineError,
    highlight::Highlighter,
    hint::Hinter,
    history::DefaultHistory,
    validate::{ValidationContext, ValidationResult, Validator},
};
use std::{
    collections::HashSet,
    env, fs,
    io::{self, BufRead, IsTerminal},
    path::{Path, PathBuf},
};

const HELP: &str = "a query ends with a semicolon; besides there are
  .tables        data files of this folder
  .columns FILE  the columns of one
  .budget FILE   what was spent on it; without FILE, on the one asked about last
  .plan QUERY    its price and the error to expect; nothing is read or charged
  .quit          the end";

/// The words that begin with a dot.
const DOTS: [&str; 6] = [".tables", ".columns ", ".budget", ".plan ", ".help", ".quit"];

const ENDINGS: [&str; 7] = [".csv", ".tsv", ".csv.gz", ".csv.zst", ".parquet", ".arrow", ".feather"];

const KEYWORDS: [&str; 24] = [
    "SELECT",
    "WITH",
    "DIFFERENTIAL_PRIVACY",
    "OPTIONS",
    "FROM",
    "WHERE",
    "GROUP",
    "BY",
    "HAVING",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "AS",
    "AND",
    "OR",
    "NOT",
    "BETWEEN",
    "LIKE",
    "IN",
    "CASE",
    "WHEN",
    "DP_INTERVAL_LOW",
    "DP_INTERVAL_HIGH",
    "DESC",
];

/// Take queries until there are no more. Where they do not come from a terminal, what went wrong first is the exit code.
pub(crate) fn run(options: &SqlOptions) -> Exit {
    let mut prompt = Prompt { options, table: None };
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        terminal(&mut prompt)
    } else {
        piped(&mut prompt)
    }
}

fn piped(prompt: &mut Prompt<'_>) -> Exit {
    let (mut text, mut exit) = (String::new(), Exit::Done);
    let worse = |before: Exit, now: Exit| if before == Exit::Done { now } else { before };
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { return usage("the query is no text; give UTF-8") };
        text.push_str(&line);
        text.push('\n');
        if is_whole(&text) {
            match prompt.take(&text) {
                Some(now) => exit = worse(exit, now),
                None => return exit,
            }
            text.clear();
        }
    }
    if text.trim().is_empty() { exit } else { worse(exit, prompt.take(&text).unwrap_or(Exit::Done)) }
}

fn terminal(prompt: &mut Prompt<'_>) -> Exit {
    let config = Config::builder().auto_add_history(true).completion_type(CompletionType::List).build();
    let mut editor: Editor<Words, DefaultHistory> = match Editor::with_config(config) {
        Ok(editor) => editor,
        Err(error) => return ask::internal(format!("the terminal cannot be used: {error}")),
    };
    editor.set_helper(Some(Words::default()));
    let history = history();
    if let Some(path) = &history {
        // Without one there is none yet.
        let _ = editor.load_history(path);
    }
    println!("private SQL about one table; .help says what else there is");
    loop {
        if let Some(words) = editor.helper_mut() {
            words.tables = tables();
            words.columns = prompt.columns_of(&words.tables);
        }
        match editor.readline("sql> ") {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => {
                if prompt.take(&text).is_none() {
                    break;
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(_) => break,
        }
    }
    if let Some(path) = &history {
        // Whoever cannot keep a history has none.
        let _ = path.parent().map(fs::create_dir_all);
        let _ = editor.save_history(path);
    }
    Exit::Done
}

/// Where the queries of earlier prompts are, which nobody else reads.
fn history() -> Option<PathBuf> {
    let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".local/state")));
    state.map(|state| state.join("equipoise/sql-history"))
}

/// Is a query at its end, or is it a word with a dot?
fn is_whole(text: &str) -> bool {
    let text = text.trim();
    let is_word = text.starts_with('.') && !text.starts_with(".plan");
    text.is_empty() || is_word || text.ends_with(';')
}

/// What is asked at a prompt, one after another.
struct Prompt<'a> {
    options: &'a SqlOptions,
    /// The data that was asked about last.
    table: Option<PathBuf>,
}

impl Prompt<'_> {
    /// Answer one text; nothing where it is the end.
    fn take(&mut self, text: &str) -> Option<Exit> {
        let text = text.trim();
        if text.is_empty() {
            return Some(Exit::Done);
        }
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        Some(match word.trim_end_matches(';') {
            ".quit" | ".exit" => return None,
            ".help" => {
                println!("{HELP}");
                Exit::Done
            }
            ".tables" => {
                list(&tables());
                Exit::Done
            }
            ".columns" => self.columns(rest).unwrap_or_else(|exit| exit),
            ".budget" => self.budget(rest).unwrap_or_else(|exit| exit),
            ".plan" => {
                let showing = self.options.showing.of_a_plan();
                self.ask(rest, &showing)
            }
            dot if dot.starts_with('.') => {
                usage(format!("no word here is called {}; .help lists them", printable(dot)))
            }
            _ => self.ask(text, &self.options.showing),
        })
    }

    fn ask(&mut self, text: &str, showing: &Showing) -> Exit {
        if let Ok(query) = Query::read(text, &sql::given(self.options)) {
            if query.table().name == STANDARD_INPUT {
                return usage("standard input has the queries, and no data; name a file");
            }
            self.table = Some(PathBuf::from(&query.table().name));
        }
        sql::one(text, self.options, showing)
    }

    /// The data that a word names, or that was asked about last.
    fn named(&self, rest: &str) -> Result<PathBuf, Exit> {
        let rest = rest.trim_end_matches(';').trim_matches('\'');
        let named = (!rest.is_empty()).then(|| PathBuf::from(rest));
        named.or_else(|| self.table.clone()).ok_or_else(|| usage("which data? Name a file"))
    }

    fn columns(&self, rest: &str) -> Result<Exit, Exit> {
        list(self.opened(&self.named(rest)?)?.columns());
        Ok(Exit::Done)
    }

    /// A file as questions read it: the first line of one without a header is a row, and no name of a column.
    fn opened(&self, file: &Path) -> Result<Box<dyn Source>, Exit> {
        let reading = &self.options.reading;
        ask::open(file, reading.delimiter.as_deref(), reading.no_header.then_some(false))
    }

    /// The columns that can be completed, by their table: of the data that was asked about last, and of the first files of this folder.
    /// Names and types of columns are public.
    fn columns_of(&self, tables: &[String]) -> Vec<(String, Vec<String>)> {
        let last = self.table.as_deref().and_then(Path::to_str).map(str::to_string);
        let others = tables.iter().filter(|table| last.as_ref() != Some(table)).cloned();
        let all = last.clone().into_iter().chain(others).take(MOST_COMPLETED);
        all.filter_map(|table| Some((table.clone(), self.known_columns(Path::new(&table))?))).collect()
    }

    /// The columns of a file: names that a terminal shows as they are.
    fn known_columns(&self, file: &Path) -> Option<Vec<String>> {
        let source = if is_readable(file) { self.opened(file).ok()? } else { return None };
        Some(source.columns().iter().filter(|name| printable(name) == **name).cloned().collect())
    }

    fn budget(&self, rest: &str) -> Result<Exit, Exit> {
        let account = ask::account(&self.named(rest)?, &self.options.books)?;
        let name = printable(&account.name);
        let Some(ledger) = ask::existing(&account.ledger)? else {
            println!("  {name}: nothing spent, no limit");
            return Ok(Exit::Done);
        };
        let analyst = self.options.books.analyst.as_deref();
        let balance = ledger.balance(&account.name, analyst).map_err(ask::unopened)?;
        let left = balance
            .remaining()
            .map_or("no limit".to_string(), |left| format!("{} left", left_words(&(&left).into())));
        println!("  {name}: {} spent, {left}", amount(&Balance::spent(&balance).into()));
        Ok(Exit::Done)
    }
}

fn list(names: &[String]) {
    for name in names {
        println!("  {}", printable(name));
    }
}

/// The data files of this folder.
fn tables() -> Vec<String> {
    let Ok(entries) = fs::read_dir(".") else { return Vec::new() };
    let name = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
    let mut names: Vec<String> =
        entries.filter_map(name).filter(|name| ENDINGS.iter().any(|ending| name.ends_with(ending))).collect();
    names.sort();
    names
}

/// Can a file be opened without a word about why not?
fn is_readable(file: &Path) -> bool {
    std::fs::File::open(file).is_ok()
}

/// So many files are opened for the names of their columns.
const MOST_COMPLETED: usize = 16;

/// What can be completed.
#[derive(Default)]
struct Words {
    tables: Vec<String>,
    /// The columns of tables; those of the table that was asked about last stand first.
    columns: Vec<(String, Vec<String>)>,
}

impl Words {
    /// Where the word before a place begins, and what it may become: files behind FROM or a quote, else words, functions and columns.
    fn completed(&self, line: &str, place: usize) -> (usize, Vec<String>) {
        let before = &line[..place];
        let start = before
            .rfind(|c: char| !(c.is_alphanumeric() || "_./-".contains(c)))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let (word, head) = (&before[start..], before[..start].trim_end_matches('\'').trim_end());
        let last = head.rsplit(char::is_whitespace).next().unwrap_or_default();
        if last.eq_ignore_ascii_case("from") || [".columns", ".budget"].contains(&last) {
            return (start, self.tables.iter().filter(|file| file.starts_with(word)).cloned().collect());
        }
        if word.is_empty() {
            return (start, Vec::new());
        }
        if start == 0 && word.starts_with('.') {
            return (
                start,
                DOTS.iter().filter(|dot| dot.starts_with(word)).map(ToString::to_string).collect(),
            );
        }
        let begins =
            |name: &str| name.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
        let aggregates = AGGREGATES.iter().flat_map(|row| row.names.iter().map(|name| format!("{name}(")));
        let functions = FUNCTIONS.iter().map(|(name, ..)| format!("{name}("));
        let keywords = KEYWORDS.iter().map(|word| format!("{word} "));
        let mut found: Vec<String> = self.columns_for(line).filter(|name| begins(name)).cloned().collect();
        found.extend(keywords.chain(aggregates).chain(functions).filter(|name| begins(name)));
        let mut seen = HashSet::new();
        found.retain(|name| seen.insert(name.clone()));
        (start, found)
    }

    /// The columns of the table that a line names; where it names none, of the one that was asked about last, or of all that are known.
    fn columns_for(&self, line: &str) -> impl Iterator<Item = &String> {
        let names = |table: &str| {
            line.split(|c: char| c.is_whitespace() || "';".contains(c)).any(|word| word == table)
        };
        let named = self.columns.iter().find(|(table, _)| names(table));
        let chosen = named.map_or(&self.columns[..], std::slice::from_ref);
        chosen.iter().flat_map(|(_, columns)| columns)
    }
}

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.completed(line, pos))
    }
}

impl Validator for Words {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let whole = is_whole(context.input());
        Ok(if whole { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}

impl Helper for Words {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_files_and_columns_are_completed() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let words = Words {
            tables: names(&["people.csv", "visits.parquet"]),
            columns: vec![
                ("people.csv".into(), names(&["salary", "Sätze"])),
                ("visits.parquet".into(), names(&["sales", "salary"])),
            ],
        };
        let of = |line: &str| words.completed(line, line.len());
        assert_eq!(of("SEL"), (0, names(&["SELECT "])));
        assert_eq!(of("select avg(sal"), (11, names(&["salary", "sales"])), "of all tables, each once");
        assert_eq!(of("select med"), (7, names(&["MEDIAN("])));
        assert_eq!(of("select count(*) from 'peo"), (22, names(&["people.csv"])));
        assert_eq!(of("select count(*) from "), (21, names(&["people.csv", "visits.parquet"])));
        assert_eq!(of("select é Sä"), (10, names(&["Sätze"])));
        assert_eq!(of("select 'x"), (8, Vec::new()));
        assert_eq!(of(".b"), (0, names(&[".budget"])));
        assert_eq!(of(".columns vi"), (9, names(&["visits.parquet"])));
        let line = "select avg(sal) from 'people.csv'";
        assert_eq!(words.completed(line, 14), (11, names(&["salary"])), "of the table that the line names");
    }

    #[test]
    fn a_query_ends_with_a_semicolon_and_a_word_with_its_line() {
        for (text, whole) in [
            ("", true),
            ("SELECT 1", false),
            ("SELECT 1;\n", true),
            (".quit", true),
            (".plan SELECT", false),
            (".plan x;", true),
        ] {
            assert_eq!(is_whole(text), whole, "{text}");
        }
    }
}
