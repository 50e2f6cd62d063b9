//! What a shell offers when its user presses Tab: commands and options by their description, and by what was typed before it the columns of
//! the file, the mechanisms of the statistic and the data sets of the ledger.
//!
//! It reads what a dry run reads, the header or schema of the file and the names in the ledger, which are public; never a row, never
//! standard input or a pipe, and nothing that is not on this machine's disks. Nothing is written.

use crate::{Exit, args::Arguments, manual::put};
use clap::{Arg, ArgMatches, Command, CommandFactory};
use clap_complete::{
    engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter},
    env::Shells,
};
use equipoise_core::catalog;
use equipoise_engine::{
    OpenOptions, STANDARD_INPUT, TableAddress, books::ledger_path, csv::Header, is_pattern, open,
};
use equipoise_session::{ledger::Ledger, statistic::Statistic};
use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

/// A script that asks this program sets it to the name of the shell.
const VARIABLE: &str = "EQUIPOISE_COMPLETE";
/// Which word is to be completed, as the scripts say it.
const INDEX: &str = "_CLAP_COMPLETE_INDEX";

/// The script that a shell reads once; it asks the program `equipoise` from then on.
pub(crate) fn script(shell: clap_complete::Shell) -> Vec<u8> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let shell = shells.completer(&shell.to_string()).expect("both know the same shells");
    shell
        .write_registration(VARIABLE, "equipoise", "equipoise", "equipoise", &mut script)
        .expect("memory takes it");
    script
}

/// What a shell asks for, answered; nothing where no shell asks.
pub(crate) fn asked(words: &[OsString]) -> Option<Exit> {
    let shell = env::var_os(VARIABLE)?;
    let shells = Shells::builtins();
    let shell = shells.completer(shell.to_str()?)?;
    // The program's own name, two dashes, and what was typed.
    let words: Vec<OsString> = words.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    if words.is_empty() {
        return Some(Exit::Usage);
    }
    let mut offered = Vec::new();
    let mut command = described(&words);
    let here = env::current_dir().ok();
    match shell.write_complete(&mut command, words, here.as_deref(), &mut offered) {
        Ok(()) => Some(put(&offered)),
        // Whoever typed is not to be disturbed.
        Err(_) => Some(Exit::Failed),
    }
}

/// The description of the command line, which knows what these words lead to.
fn described(words: &[OsString]) -> Command {
    let at = env::var(INDEX).ok().and_then(|index| index.parse().ok());
    let at: usize = at.unwrap_or(words.len().saturating_sub(1));
    let before = words.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, word)| word);
    let typed = Arguments::command().ignore_errors(true).try_get_matches_from(before);
    let typed = typed.map_or_else(|_| Typed::default(), |matches| Typed::of(&matches));
    Arguments::command().mut_subcommands(|verb| knowing(verb, &typed))
}

/// A command and those below it, with completers for what can be known.
fn knowing(verb: Command, typed: &Typed) -> Command {
    let name = verb.get_name().to_string();
    let is_of_ledger = verb.get_arguments().any(|arg| arg.get_id() == "ledger");
    let verb = verb.mut_args(|arg| known(arg, &name, is_of_ledger, typed));
    verb.mut_subcommands(|below| knowing(below, typed))
}

fn known(arg: Arg, verb: &str, is_of_ledger: bool, typed: &Typed) -> Arg {
    let typed = typed.clone();
    let place = arg.get_id().as_str().to_string();
    match place.as_str() {
        "column" | "y" | "on" | "group_by" | "unit" => {
            arg.add(ArgValueCompleter::new(move |word: &OsStr| listed(&typed.columns(), word, "")))
        }
        // The first word of an expression is a column most of the time.
        "where" | "score" => {
            arg.add(ArgValueCompleter::new(move |word: &OsStr| beginning(&typed.columns(), word, "")))
        }
        "types" => {
            arg.add(ArgValueCompleter::new(move |word: &OsStr| beginning(&typed.columns(), word, "=")))
        }
        "mechanism" => {
            let names = mechanisms(verb);
            arg.add(ArgValueCompleter::new(move |word: &OsStr| beginning(&names, word, "")))
        }
        "name" if is_of_ledger => {
            arg.add(ArgValueCompleter::new(move |word: &OsStr| beginning(&typed.data_sets(), word, "")))
        }
        "file" if is_of_ledger => arg.add(ArgValueCompleter::new(move |word: &OsStr| {
            let mut offered = PathCompleter::any().complete(word);
            offered.extend(beginning(&typed.registered_files(), word, ""));
            offered.sort();
            offered.dedup_by(|one, other| one.get_value() == other.get_value());
            offered
        })),
        _ => arg,
    }
}

/// The mechanisms that a command takes by name.
fn mechanisms(verb: &str) -> Vec<String> {
    let names: Vec<&str> = match verb {
        "calibrate" => catalog::ALL.iter().map(|entry| entry.name).collect(),
        "choose" => vec!["permute-and-flip", "exponential", "noisy-max"],
        "graph" => vec!["smooth", "bounded-local-sensitivity", "released-scale", "shifted-inverse"],
        _ => {
            let spec = Statistic::named(verb).map(Statistic::spec);
            spec.into_iter().flat_map(|spec| spec.mechanisms.iter().map(|mechanism| mechanism.name)).collect()
        }
    };
    names.into_iter().map(str::to_string).collect()
}

/// What these words name: a file, how it is read, a ledger.
#[derive(Clone, Default)]
struct Typed {
    file: Option<PathBuf>,
    ledger: Option<PathBuf>,
    options: OpenOptions,
}

impl Typed {
    fn of(matches: &ArgMatches) -> Self {
        let mut innermost = matches;
        while let Some((_, below)) = innermost.subcommand() {
            innermost = below;
        }
        let path = |name| innermost.try_get_one::<PathBuf>(name).ok().flatten().cloned();
        let delimiter = innermost.try_get_one::<String>("delimiter").ok().flatten();
        let without = innermost.try_get_one::<bool>("no_header").ok().flatten().is_some_and(|flag| *flag);
        Self {
            file: path("file").or_else(|| path("data")),
            ledger: path("ledger"),
            options: OpenOptions {
                delimiter: delimiter.and_then(|text| text.chars().next()),
                header: without.then_some(Header::Numbered),
            },
        }
    }

    /// The columns of the file, by its header or schema.
    fn columns(&self) -> Vec<String> {
        let Some(file) = self.file.as_deref().filter(|file| is_on_disk(file)) else { return Vec::new() };
        open(&[file], &self.options).map(|source| source.columns().to_vec()).unwrap_or_default()
    }

    fn ledger(&self) -> PathBuf {
        // What is completed is the file itself, so that only a named ledger or the one in this folder can be meant.
        ledger_path(self.ledger.as_deref(), None)
    }

    /// The names of the data sets of the ledger.
    fn data_sets(&self) -> Vec<String> {
        let opened = Ledger::open_read_only(&self.ledger());
        let found = opened.and_then(|ledger| ledger.data_sets()).unwrap_or_default();
        found.into_iter().map(|data| data.name).collect()
    }

    /// The same as paths that lead to the files from here: names are those beside the ledger.
    fn registered_files(&self) -> Vec<String> {
        let ledger = self.ledger();
        let folder = ledger.parent().unwrap_or(Path::new(""));
        let paths = self.data_sets().into_iter().map(|name| folder.join(name));
        paths.filter(|path| path.exists()).filter_map(|path| path.to_str().map(str::to_string)).collect()
    }
}

/// Files, folders, patterns and tables of SQLite: reading their names waits for nobody and asks no other machine.
fn is_on_disk(file: &Path) -> bool {
    if file == Path::new(STANDARD_INPUT) {
        return false;
    }
    let kind = |path: &Path| fs::metadata(path).is_ok_and(|found| found.is_file() || found.is_dir());
    match TableAddress::of(file) {
        Some(address) => kind(&address.file),
        None => kind(file) || is_pattern(file),
    }
}

/// Whether a shell takes a word as it is. A name that others wrote is not to become a command when it is put into the line, and what
/// would have to be quoted is not offered.
fn is_plain(word: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "_-.,:/@%+".contains(c);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain)
}

/// Names that begin with what was typed, each with this end.
fn beginning(names: &[String], word: &OsStr, end: &str) -> Vec<CompletionCandidate> {
    let Some(word) = word.to_str() else { return Vec::new() };
    let fitting = names.iter().filter(|name| is_plain(name) && name.starts_with(word));
    fitting.map(|name| CompletionCandidate::new(format!("{name}{end}"))).collect()
}

/// The same for the last one of a list with commas.
fn listed(names: &[String], word: &OsStr, end: &str) -> Vec<CompletionCandidate> {
    let Some(text) = word.to_str() else { return Vec::new() };
    let (before, last) = text.rsplit_once(',').map_or(("", text), |(before, last)| (before, last));
    let kept = if before.is_empty() { String::new() } else { format!("{before},") };
    let offered = beginning(names, OsStr::new(last), end);
    let whole = offered.iter().map(|one| format!("{kept}{}", one.get_value().to_string_lossy()));
    whole.map(CompletionCandidate::new).collect()
}
