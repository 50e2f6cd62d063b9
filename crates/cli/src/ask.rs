//! The statistics: a question about a file, planned, paid for, answered, recorded, shown.

use crate::{
    Exit,
    args::{CountOptions, ModeOptions, MomentOptions, NumberOptions, QuantileOptions, Question, Values},
    books::{data_name, ledger_path},
    fail, show,
};
use equipoise_engine::csv::{Csv, CsvOptions, Header};
use equipoise_session::{
    ledger::{Fault, Ledger, LedgerError},
    plan::Plan,
    request::Request,
    session::{self, Paid, Session},
    source::Source,
};
use std::{fmt::Display, path::Path};

pub(crate) fn count(options: &CountOptions) -> Exit {
    let request = Request { column: options.column.clone(), ..Request::new("count") };
    ask(&with_privacy(request, &options.question), &options.question)
}

pub(crate) fn number(statistic: &str, options: &NumberOptions) -> Exit {
    let request = Request { column: options.column.clone(), ..Request::new(statistic) };
    ask(&with_values(with_privacy(request, &options.question), &options.values), &options.question)
}

pub(crate) fn moment(statistic: &str, options: &MomentOptions) -> Exit {
    let (column, range) = (options.column.clone(), options.range.clone());
    let request = Request { column, range, ..Request::new(statistic) };
    ask(&with_privacy(request, &options.question), &options.question)
}

pub(crate) fn quantile(options: &QuantileOptions) -> Exit {
    let fraction = options.fraction.clone().or_else(|| options.fraction_flag.clone());
    let request = Request { column: options.column.clone(), fraction, ..Request::new("quantile") };
    ask(&with_values(with_privacy(request, &options.question), &options.values), &options.question)
}

pub(crate) fn mode(options: &ModeOptions) -> Exit {
    let request = Request { column: options.column.clone(), ..Request::new("mode") };
    ask(&with_privacy(request, &options.question), &options.question)
}

fn with_privacy(request: Request, question: &Question) -> Request {
    let privacy = &question.privacy;
    Request {
        epsilon: privacy.epsilon.clone(),
        delta: privacy.delta.clone(),
        adjacency: privacy.adjacency.clone(),
        mechanism: privacy.mechanism.clone(),
        confidence: privacy.confidence.clone(),
        delimiter: question.reading.delimiter.clone(),
        header: question.reading.no_header.then_some(false),
        ..request
    }
}

fn with_values(request: Request, values: &Values) -> Request {
    Request {
        range: values.range.clone(),
        resolution: values.resolution.clone(),
        rows: values.rows.clone(),
        ..request
    }
}

/// The whole flow. Whatever is wrong with the request is found before anything is charged.
fn ask(request: &Request, question: &Question) -> Exit {
    match answer(request, question) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn answer(request: &Request, question: &Question) -> Result<Exit, Exit> {
    let source = open(question)?;
    let path = ledger_path(question.books.ledger.as_deref(), Some(&question.file));
    let name = data_name(&question.file, &path).map_err(usage)?;
    let known = existing(&path)?;
    let facts = session::facts(known.as_ref(), &name, source.columns()).map_err(ledger)?;
    let plan = Plan::new(request, &facts).map_err(usage)?;
    if question.showing.dry_run {
        let balance = match &known {
            Some(known) => Some(known.balance(&name, question.books.analyst.as_deref()).map_err(ledger)?),
            None => None,
        };
        show::plan(&plan, balance.as_ref(), question.showing.json);
        return Ok(Exit::Done);
    }
    drop(known);
    let opened = Ledger::open(&path).map_err(ledger)?;
    let mut session = Session::new(opened, question.books.analyst.clone()).map_err(internal)?;
    let paid = session
        .charge(plan, question.books.request_id.clone())
        .map_err(|error| fail(&error, error.exit_code()))?;
    let release = match paid {
        Paid::Before(release) => *release,
        Paid::Charged(charged) => session.run(*charged, &source).map_err(internal)?,
    };
    Ok(show::release(&release, question.showing.json))
}

fn open(question: &Question) -> Result<Csv, Exit> {
    let reading = &question.reading;
    let mut options = CsvOptions::default();
    if let Some(text) = &reading.delimiter {
        options.delimiter = delimiter(text)?;
    }
    if reading.no_header {
        options.header = Header::Numbered;
    }
    Csv::open(&question.file, &options).map_err(usage)
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
        Err(error) => Err(ledger(error)),
    }
}

pub(crate) fn usage(error: impl Display) -> Exit {
    fail(&error, Exit::Usage as u8)
}

pub(crate) fn internal(error: impl Display) -> Exit {
    fail(&error, Exit::Failed as u8)
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
pub(crate) fn ledger(error: LedgerError) -> Exit {
    fail(&error, error.exit_code())
}
