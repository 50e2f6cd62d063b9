//! The statistics: a question about a file, planned, paid for, answered, recorded, shown.

use crate::{
    Exit,
    args::{BatchOptions, Books, QuestionCommand, Showing},
    elsewhere, fail,
    interrupt::{Stage, reached},
    joined, plot, progress, show, sql, unplanned, unplanned_look, unplanned_with,
};
use equipoise_core::wording::{self, OptionName, Surface};
use equipoise_engine::{
    OpenOptions,
    books::{self, Account},
    csv::Header,
};
use equipoise_session::{
    batch::Batch,
    earlier::{EarlierCounts, TooFewRows},
    ledger::{Fault, Ledger, LedgerError},
    next::NextStep,
    plan::{DataFacts, Plan, PlanError},
    release::Release,
    request::Request,
    session::{self, Charged, Paid, Session},
    source::Source,
    statistic::Argument,
    unanswered::Unanswered,
};
use equipoise_sql_front::{Query, several::Joined};
use std::{
    fmt::Display,
    path::{Path, PathBuf},
};

/// Answer a question, or say why not.
pub(crate) fn run(command: &QuestionCommand) -> Exit {
    let QuestionCommand { request, file, books, showing } = command;
    let asked = Asked { file, books, showing, questions: None, query: None, joined: None };
    let plan = |facts: &DataFacts| {
        Plan::new(request, facts).map_err(|error| {
            let step = Plan::mended(request, facts, &error);
            unplanned_but(&error, step.as_ref(), &request.statistic, file, books)
        })
    };
    let words = Words {
        text: request.to_json(),
        delimiter: request.delimiter.as_deref(),
        header: request.header,
        fractions: vec![fractions(request)],
    };
    answer(&asked, &words, plan).unwrap_or_else(|exit| exit)
}

/// Answer several questions at once.
pub(crate) fn batch(options: &BatchOptions) -> Exit {
    ask_batch(options).unwrap_or_else(|exit| exit)
}

fn ask_batch(options: &BatchOptions) -> Result<Exit, Exit> {
    let (batch, file) = questions(options)?;
    let (books, showing) = (&options.books, &options.showing);
    let questions = Some(options.questions.as_path());
    let asked = Asked { file: &file, books, showing, questions, query: None, joined: None };
    let plan = |facts: &DataFacts| {
        Plan::batch(&batch, facts).map_err(|error| unplanned_look(&error, "equipoise batch --help"))
    };
    let words = Words {
        text: batch.to_json(),
        delimiter: batch.shared.delimiter.as_deref(),
        header: batch.shared.header,
        fractions: batch.questions.iter().map(fractions).collect(),
    };
    answer(&asked, &words, plan)
}

/// The questions of a batch, and about which file.
pub(crate) fn questions(options: &BatchOptions) -> Result<(Batch, PathBuf), Exit> {
    let path = &options.questions;
    let unreadable = |error| usage(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let wrong = |error: &dyn Display| usage(format!("{}: {error}", path.display()));
    let batch = Batch::from_json(&text).map_err(|error| wrong(&error))?;
    let batch = batch.without(&options.leave_out).map_err(|error| wrong(&error))?;
    let named = batch.data.as_ref().map(|name| path.parent().unwrap_or(Path::new("")).join(name));
    let Some(file) = options.data.clone().or(named) else {
        return Err(usage("which data? Name the file after the questions, or as \"data\" in them"));
    };
    Ok((batch, file))
}

/// About which file, charged where, shown how.
pub(crate) struct Asked<'a> {
    pub file: &'a Path,
    pub books: &'a Books,
    pub showing: &'a Showing,
    /// The file of a batch.
    pub questions: Option<&'a Path>,
    /// The query that the questions come from: its rows are shown.
    pub query: Option<&'a Query>,
    /// The relation of several tables that it is about; `file` is then the first private one of them.
    pub joined: Option<&'a Joined>,
}

/// What was said: the text that is charged, and how CSV is read.
pub(crate) struct Words<'a> {
    pub text: String,
    pub delimiter: Option<&'a str>,
    pub header: Option<bool>,
    /// The quantiles that each question asks for.
    pub fractions: Vec<Vec<String>>,
}

/// The quantiles that a question asks for, as they were typed.
pub(crate) fn fractions(request: &Request) -> Vec<String> {
    let texts = request.fraction.iter().flat_map(|fractions| fractions.split(','));
    texts.map(|fraction| fraction.trim().to_string()).collect()
}

/// The whole flow. Whatever is wrong with the request is found before anything is charged.
pub(crate) fn answer(
    asked: &Asked<'_>,
    words: &Words<'_>,
    plan: impl FnOnce(&DataFacts) -> Result<Plan, Exit>,
) -> Result<Exit, Exit> {
    reached(Stage::Planning);
    let &Asked { file, books, showing, questions, .. } = asked;
    let mut rows = Rows::open(asked, words)?;
    let account = rows.account(file, books)?;
    let (path, name) = (&account.ledger, &account.name);
    let others = joined::others(asked, &account)?;
    if let Some(picture) = &showing.plot {
        plot::check(picture, &[file, path, questions.unwrap_or(file)]).map_err(usage)?;
    }
    let known = existing(path)?;
    let id = books.request_id.as_deref().filter(|_| !showing.dry_run);
    if let (Some(known), Some(id)) = (&known, id) {
        // A query writes the unit down that the data is registered for.
        let registered = known.data_set(name).map_err(unopened)?.map(|data| data.unit);
        let text = asked.query.map(|query| query.asked(registered.as_ref()));
        let text = text.as_ref().unwrap_or(&words.text);
        let before = session::replayed(known, name, books.analyst.as_deref(), id, text);
        if let Some(release) = before.map_err(|error| fail(&error, error.exit_code()))? {
            return Ok(shown(release, asked, &words.fractions));
        }
    }
    let facts = session::facts(known.as_ref(), name, rows.columns()).map_err(unopened)?;
    let plan = rows.taken(plan(&rows.typed(facts))?)?;
    let paying = joined::paying(asked, &others, &plan, known.as_ref())?;
    let few = match (&known, books::changed_at(file), showing.anyway || asked.joined.is_some()) {
        (Some(known), Some(changed), false) => {
            let counts = EarlierCounts::of(known, name, books.analyst.as_deref(), &changed);
            counts.map_err(unopened)?.check(&plan).err()
        }
        _ => None,
    };
    if showing.dry_run {
        let balance = match &known {
            Some(known) => {
                let windows = plan.windows().map_or(&[][..], |asked| &asked.asked);
                Some(known.balance_in(name, books.analyst.as_deref(), windows).map_err(unopened)?)
            }
            None => None,
        };
        let line = |few: &TooFewRows| match asked.query {
            Some(query) => query.too_few(few).to_string(),
            None => few.error.to_string(),
        };
        let few = few.as_ref().map(|few| (line(few), instead_of(few, asked)));
        show::plan(&plan, balance.as_ref(), few, showing);
        return Ok(Exit::Done);
    }
    if let Some(few) = few {
        if let Some(query) = asked.query {
            return Err(sql::wrong(&query.too_few(&few)));
        }
        let instead = few.step.as_ref().map(|step| (step, command(step, file, books)));
        let exit =
            unplanned_with(&few.error, instead.as_ref().map(|(step, command)| (*step, command.as_str())));
        if let (None, Some(command), false) = (&few.step, instead_of(&few, asked), showing.json) {
            eprintln!("  try: {command}");
        }
        return Err(exit);
    }
    drop(known);
    reached(Stage::Charging);
    let opened = account.open().map_err(unopened)?;
    for (other, _) in others {
        opened.expect(&other.name, other.expected.clone());
    }
    let mut session = Session::new(opened, books.analyst.clone()).map_err(internal)?;
    let paid = session.charge_together(plan, books.request_id.as_deref(), &paying);
    let (paid, charges) = paid.map_err(|error| fail(&error, error.exit_code()))?;
    let release = match paid {
        Paid::Replayed(release) => *release,
        Paid::Charged(charged) => {
            reached(Stage::Charged);
            let release =
                progress::spinning("reading", || rows.answer(&mut session, *charged)).map_err(internal)?;
            session.record_for(&charges, &release).map_err(internal)?;
            release
        }
    };
    reached(Stage::Recorded);
    Ok(shown(release, asked, &words.fractions))
}

/// Rows that are read here, or counted where they lie.
enum Rows<'a> {
    Here(Box<dyn Source + 'a>),
    Elsewhere(Box<elsewhere::Table>),
}

impl<'a> Rows<'a> {
    fn open(asked: &Asked<'a>, words: &Words<'_>) -> Result<Self, Exit> {
        if let Some(joined) = asked.joined {
            return Ok(Self::Here(Box::new(&*joined.source)));
        }
        let file = asked.file;
        if elsewhere::is_address(file) {
            return elsewhere::Table::open(file).map(Box::new).map(Self::Elsewhere);
        }
        Ok(Self::Here(open(file, words.delimiter, words.header)?))
    }

    fn account(&self, file: &Path, books: &Books) -> Result<Account, Exit> {
        match self {
            Self::Here(_) => account(file, books),
            Self::Elsewhere(_) => elsewhere::account(file, books.name.as_deref(), books.ledger.as_deref()),
        }
    }

    fn columns(&self) -> &[String] {
        match self {
            Self::Here(source) => source.columns(),
            Self::Elsewhere(table) => &table.columns,
        }
    }

    fn typed(&self, facts: DataFacts) -> DataFacts {
        match self {
            Self::Here(source) => facts.typed_by(&**source),
            Self::Elsewhere(table) => DataFacts { kinds: table.kinds.clone(), ..facts },
        }
    }

    /// The plan, where these rows can be asked so: by their schema alone.
    fn taken(&mut self, plan: Plan) -> Result<Plan, Exit> {
        match self {
            Self::Here(source) => {
                plan.readable_in(&**source).map_err(|error| unplanned(&error))?;
                Ok(plan)
            }
            Self::Elsewhere(table) => {
                let plan = plan.counted_elsewhere(&table.engine).map_err(|error| unplanned(&error))?;
                table.take(&plan)?;
                Ok(plan)
            }
        }
    }

    fn answer(&mut self, session: &mut Session, charged: Charged) -> Result<Release, Unanswered> {
        match self {
            Self::Here(source) => session.run(charged, &**source),
            Self::Elsewhere(table) => {
                let held = session.answer_elsewhere(charged, &mut **table)?;
                session.record(held)
            }
        }
    }
}

/// Show a release with the next step after a refusal, or the rows that a query makes of it.
fn shown(release: Release, asked: &Asked<'_>, fractions: &[Vec<String>]) -> Exit {
    // What a query was refused for groups that it does not show is no news.
    let is_shown = || asked.query.is_none_or(|query| !query.rows(&release).advice.is_empty());
    // The commands that steps name are about one file.
    let step = release.next_step.clone().filter(|_| asked.joined.is_none());
    let step = step.filter(|_| !asked.showing.json && is_shown());
    let exit = match asked.query {
        Some(query) => {
            let exit = show::rows(query, &release, asked.showing.json);
            drawn(&release, asked.showing, fractions);
            exit
        }
        None => shown_as(release, asked.showing, fractions),
    };
    if let Some(step) = step {
        println!("  next       {}", command(&step, asked.file, asked.books));
        println!("             {}, for {}", step.why, show::amount(&step.charge));
    }
    exit
}

/// Show a release, in words or JSON and as a picture.
pub(crate) fn shown_as(mut release: Release, showing: &Showing, fractions: &[Vec<String>]) -> Exit {
    let exit = show::release(&mut release, showing);
    drawn(&release, showing, fractions);
    exit
}

/// Draw a release, where a picture was asked for. The answer stands, and so does its exit code.
fn drawn(release: &Release, showing: &Showing, fractions: &[Vec<String>]) {
    if let Some(path) = &showing.plot
        && let Err(error) = plot::release(release, fractions, path)
    {
        no_picture(path, &*error);
    }
}

/// A question as it is typed, about this file and charged where this one is.
pub(crate) fn command(step: &NextStep, file: &Path, books: &Books) -> String {
    let command = step.written(Surface::CommandLine, &file.to_string_lossy());
    wording::line(&(command + &charged_to(books)))
}

/// The options that say where a question is charged, each after a space.
fn charged_to(books: &Books) -> String {
    let mut command = String::new();
    let ledger = books.ledger.as_ref().map(|path| path.to_string_lossy().into_owned());
    for (flag, value) in [("--ledger", &ledger), ("--analyst", &books.analyst), ("--name", &books.name)] {
        if let Some(value) = value {
            command = format!("{command} {flag} {}", OptionName::for_a_shell(value));
        }
    }
    if books.apart { command + " --apart" } else { command }
}

/// Why a request cannot be planned, and the whole command that can, where there is one.
fn unplanned_but(
    error: &PlanError,
    step: Option<&NextStep>,
    statistic: &str,
    file: &Path,
    books: &Books,
) -> Exit {
    // Nobody knows which column or function was meant: the next step shows which there are.
    let written = [Argument::Where, Argument::Column, Argument::GroupBy, Argument::Y, Argument::On];
    let is_written = written.iter().any(|one| error.argument().is_some_and(|own| own.name == one.name()));
    match step {
        Some(step) => unplanned_with(error, Some((step, &command(step, file, books)))),
        None if is_written => {
            let file = OptionName::for_a_shell(&file.to_string_lossy());
            unplanned_look(error, &wording::line(&format!("equipoise columns {file}")))
        }
        None => unplanned_look(error, &format!("equipoise {statistic} --help")),
    }
}

/// The whole command that would be answered where this one, or some of it, would be refused.
fn instead_of(few: &TooFewRows, asked: &Asked<'_>) -> Option<String> {
    if let Some(step) = &few.step {
        return Some(command(step, asked.file, asked.books));
    }
    let questions = asked.questions.filter(|_| !few.leave_out.is_empty())?;
    let numbers = few.leave_out.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let [questions, file] =
        [questions, asked.file].map(|path| OptionName::for_a_shell(&path.to_string_lossy()));
    let command = format!("equipoise batch {questions} {file} --leave-out {numbers}");
    Some(wording::line(&(command + &charged_to(asked.books))))
}

/// Where a question about this file is charged.
pub(crate) fn account(file: &Path, options: &Books) -> Result<Account, Exit> {
    let (name, ledger) = (options.name.as_deref(), options.ledger.as_deref());
    Account::of(&books::Asked { data: file, name, ledger, apart: options.apart })
        .map_err(|error| fail(&error, error.exit_code()))
}

/// Data by its path, and how CSV is read.
pub(crate) fn open(
    file: &Path,
    delimiter: Option<&str>,
    header: Option<bool>,
) -> Result<Box<dyn Source>, Exit> {
    let options = OpenOptions {
        delimiter: delimiter.map(self::delimiter).transpose()?,
        header: (header == Some(false)).then_some(Header::Numbered),
    };
    equipoise_engine::open(&[file], &options).map_err(usage)
}

/// The answer stands and was shown; only its picture is missing.
pub(crate) fn no_picture(path: &Path, error: &dyn std::error::Error) -> Exit {
    let (path, error) = (path.to_string_lossy(), error.to_string());
    internal(format!("the picture {} could not be written: {}", wording::shown(&path), wording::line(&error)))
}

/// One character, or the word for one that is hard to type.
pub(crate) fn delimiter(text: &str) -> Result<char, Exit> {
    let mut characters = text.chars();
    match (text, characters.next(), characters.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some(one), None) => Ok(one),
        _ => Err(usage("--delimiter takes one character, such as ';', or the word tab")),
    }
}

/// The ledger for looking only, if there is one yet.
pub(crate) fn existing(path: &Path) -> Result<Option<Ledger>, Exit> {
    match Ledger::open_read_only(path) {
        Ok(ledger) => Ok(Some(ledger)),
        Err(LedgerError { fault: Fault::Missing, .. }) => Ok(None),
        Err(error) => Err(unopened(error)),
    }
}

pub(crate) fn usage(error: impl Display) -> Exit {
    fail(&error, Exit::Usage as u8)
}

pub(crate) fn internal(error: impl Display) -> Exit {
    fail(&error, Exit::Failed as u8)
}

/// Rows that could not be read where nothing is paid for them.
pub(crate) fn unread(why: impl Into<Unanswered>) -> Exit {
    internal(why.into().uncharged())
}

/// The ledger could not be opened to charge it.
#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
pub(crate) fn unopened(error: LedgerError) -> Exit {
    fail(&error.without("nothing was charged"), error.exit_code())
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
pub(crate) fn ledger(error: LedgerError) -> Exit {
    fail(&error, error.exit_code())
}
