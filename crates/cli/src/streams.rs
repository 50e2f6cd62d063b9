//! `equipoise above-threshold` and `equipoise holdout`: one question a line, paid for as a whole before the first.

use crate::{
    Exit,
    args::{AboveThresholdOptions, HoldoutOptions, StreamBooks},
    ask::{account, existing, internal, open, unopened, usage},
    fail,
    interrupt::{Stage, reached},
    not_written, show, unplanned,
};
use equipoise_core::{
    adjacency::Adjacency,
    loss::{Eps, ParameterError},
    mechanism::Values,
    monitor::{
        above_threshold::{self, AboveThreshold, Form},
        holdout,
    },
    ratio::Ratio,
    wording,
};
use equipoise_engine::{STANDARD_INPUT, books::Account};
use equipoise_entropy::OsCoins;
use equipoise_session::{
    facts::DataFacts,
    ledger::{Ledger, Receipt},
    session::{self, Session},
    source::Source,
    streams::{Started, Stream, StreamError},
    terms::ShareOf,
};
use serde_json::{Value, json};
use std::{
    io::{self, BufRead, Write},
    path::Path,
};

pub(crate) fn above_threshold(options: &AboveThresholdOptions) -> Exit {
    numbers(options).unwrap_or_else(|exit| exit)
}

pub(crate) fn holdout(options: &HoldoutOptions) -> Exit {
    questions(options).unwrap_or_else(|exit| exit)
}

/// The longest line, in bytes; what lies beyond is dropped.
const LONGEST: u64 = 1 << 16;

/// A number that was typed.
fn number(name: &'static str, text: &str) -> Result<Ratio, Exit> {
    let wrong =
        || ParameterError::out_of_range(name, wording::shown(text), "give a number such as 10 or 0.5");
    text.trim().parse().map_err(|_| usage(wrong()))
}

/// Where a stream is charged, and what the ledger knows of it.
struct Charging {
    account: Account,
    known: Option<Ledger>,
    facts: DataFacts,
}

impl Charging {
    fn of(file: &Path, books: &StreamBooks) -> Result<Self, Exit> {
        reached(Stage::Planning);
        let account = account(file, &books.books())?;
        let known = existing(&account.ledger)?;
        let facts = session::facts(known.as_ref(), &account.name, &[]).map_err(unopened)?;
        Ok(Self { account, known, facts })
    }

    /// Print the plan, or pay for it.
    fn begin(self, stream: &Stream, books: &StreamBooks, dry_run: Option<bool>) -> Result<Begun, Exit> {
        let summary = stream.plan(&self.facts).map_err(|error| unplanned(&error))?;
        if let Some(as_json) = dry_run {
            let balance =
                self.known.as_ref().map(|known| known.balance(&self.account.name, books.analyst.as_deref()));
            show::summary(&summary, balance.transpose().map_err(unopened)?.as_ref(), as_json);
            return Err(Exit::Done);
        }
        drop(self.known);
        show::warn(&summary.warnings);
        let coins = OsCoins::new().map_err(internal)?;
        reached(Stage::Charging);
        let opened = self.account.open().map_err(unopened)?;
        let mut session = Session::new(opened, books.analyst.clone()).map_err(internal)?;
        let (started, receipt) = session.start_stream(stream, &self.facts).map_err(|error| match &error {
            StreamError::Plan(error) => unplanned(error),
            StreamError::Pay(pay) => fail(&error, pay.exit_code()),
            StreamError::Lost(_) => internal(&error),
        })?;
        reached(Stage::Recorded);
        announce(stream.name(), &summary.charge, &receipt);
        Ok(Begun { started, coins })
    }
}

/// A stream that was paid for.
struct Begun {
    started: Started,
    coins: OsCoins,
}

fn announce(name: &str, charge: &equipoise_session::release::Spent, receipt: &Receipt) {
    eprintln!("equipoise: {name} begins, charged once: {}, receipt {}", show::amount(charge), receipt.id);
}

/// The next line of standard input, however long it is; nothing at the end.
fn next_line(input: &mut impl BufRead) -> Result<Option<String>, Exit> {
    let mut bytes = Vec::new();
    let read = io::Read::take(&mut *input, LONGEST)
        .read_until(b'\n', &mut bytes)
        .map_err(|error| internal(error.kind()))?;
    if read == 0 {
        return Ok(None);
    }
    if bytes.last() != Some(&b'\n') && read as u64 == LONGEST {
        input.skip_until(b'\n').map_err(|error| internal(error.kind()))?;
    }
    Ok(Some(String::from_utf8_lossy(&bytes).trim().to_string()))
}

/// One answer, at once: whoever reads may react to it.
fn say(words: &str, document: &Value, as_json: bool) {
    let line = if as_json { document.to_string() } else { words.to_string() };
    let mut output = io::stdout().lock();
    let written = writeln!(output, "{}", wording::seen_in_json(&line)).and_then(|()| output.flush());
    if let Err(error) = written {
        not_written(&error);
    }
}

fn numbers(options: &AboveThresholdOptions) -> Result<Exit, Exit> {
    let (file, privacy) = (&options.file, &options.privacy);
    if file != Path::new(STANDARD_INPUT) {
        // A name that is no file would be another budget: the data has to be there, though nobody reads its rows here.
        open(file, None, None)?;
    }
    let charging = Charging::of(file, &options.books)?;
    let adjacency = match (&privacy.adjacency, &charging.facts.registered) {
        (Some(text), _) => text.parse().map_err(usage)?,
        (None, Some((_, adjacency))) => *adjacency,
        (None, None) => Adjacency::AddRemove,
    };
    if privacy.monotone && adjacency == Adjacency::Replace {
        return Err(usage("under replace one row can move numbers both ways; leave out --monotone"));
    }
    let stream = AboveThreshold {
        eps: privacy.epsilon.parse::<Eps>().map_err(usage)?,
        threshold: number("threshold", &options.threshold)?,
        sensitivity: number("sensitivity", &privacy.sensitivity)?,
        grid: number("resolution", &privacy.resolution)?,
        values: Values::Any,
        cutoff: options.cutoff,
        monotone: privacy.monotone,
        form: match privacy.form.as_str() {
            "one-sided" => Form::OneSided,
            "textbook" => Form::Textbook,
            other => {
                return Err(usage(format!(
                    "form '{}' is not known: give one-sided or textbook",
                    wording::shown(other)
                )));
            }
        },
    };
    let (grid, calibrated) = (stream.grid.to_f64(), stream.calibrate().map_err(usage)?);
    let offered = Stream::AboveThreshold(Box::new(calibrated.clone()), adjacency);
    let Begun { started, mut coins } =
        charging.begin(&offered, &options.books, options.dry_run.then_some(options.json))?;
    let Started::AboveThreshold(mut asking) = started else { unreachable!("what was asked for is started") };
    let mut input = io::stdin().lock();
    let mut question = 0u64;
    while asking.positives_left() > 0
        && let Some(line) = next_line(&mut input)?
    {
        question += 1;
        match asking.ask(steps(&calibrated, &line), &mut coins) {
            above_threshold::Answer::Above { gap } => {
                let excess = gap as f64 * grid;
                let document = json!({ "question": question, "answer": "above", "excess": excess });
                say(&format!("above by {excess}"), &document, options.json);
            }
            above_threshold::Answer::Below => {
                say("below", &json!({ "question": question, "answer": "below" }), options.json);
            }
            above_threshold::Answer::Halted => break,
        }
    }
    if asking.positives_left() == 0 {
        let given = match options.cutoff {
            1 => "1 positive answer was".to_string(),
            many => format!("{many} positive answers were"),
        };
        eprintln!("equipoise: {given} given, and that is all that was paid for");
    }
    Ok(Exit::Done)
}

/// A line in steps; one that is no number is as low as can be.
fn steps(calibrated: &above_threshold::Calibrated, line: &str) -> i64 {
    let value: f64 = line.parse().unwrap_or(f64::NAN);
    match Ratio::from_f64_exact(value) {
        Some(value) => calibrated.steps(&value),
        None if value > 0.0 => i64::MAX,
        None => i64::MIN,
    }
}

fn questions(options: &HoldoutOptions) -> Result<Exit, Exit> {
    if [&options.training, &options.holdout].iter().any(|file| *file == Path::new(STANDARD_INPUT)) {
        return Err(usage("questions come from standard input; name files of rows"));
    }
    let reading = &options.reading;
    let header = reading.no_header.then_some(false);
    let rows = |file: &Path| open(file, reading.delimiter.as_deref(), header);
    let (training, held_out) = (rows(&options.training)?, rows(&options.holdout)?);
    let charging = Charging::of(&options.holdout, &options.books)?;
    let tolerance = number("tolerance", &options.tolerance)?;
    let threshold = options.threshold.as_deref().map(|text| number("threshold", text)).transpose()?;
    let holdout = holdout::Holdout {
        rows: options.rows,
        questions: options.questions,
        corrections: options.corrections,
        threshold: threshold.unwrap_or_else(|| tolerance.clone()),
        tolerance,
        beta: number("beta", &options.beta)?,
        eps: options.epsilon.parse::<Eps>().map_err(usage)?,
    };
    let offered = Stream::Holdout(Box::new(holdout.calibrate().map_err(usage)?));
    let Begun { started, mut coins } =
        charging.begin(&offered, &options.books, options.dry_run.then_some(options.json))?;
    let Started::Holdout(mut asking) = started else { unreachable!("what was asked for is started") };
    let about = |source: &dyn Source| -> Result<DataFacts, Exit> {
        Ok(session::facts(None, "rows", source.columns()).map_err(unopened)?.typed_by(source))
    };
    let both = [(&*training, about(&*training)?), (&*held_out, about(&*held_out)?)];
    let mut input = io::stdin().lock();
    let mut compared = false;
    while asking.questions_left() > 0
        && let Some(line) = next_line(&mut input)?
    {
        if line.is_empty() {
            continue;
        }
        let read = |(_, facts): &(&dyn Source, DataFacts)| ShareOf::read(&line, facts);
        let [training, held_out] = match both.each_ref().map(read) {
            [Ok(training), Ok(held_out)] => [(training, both[0].0), (held_out, both[1].0)],
            [Err(error), _] | [_, Err(error)] => {
                let error = crate::typed(&error.to_string());
                say(&format!("not asked: {error}"), &json!({ "error": error }), options.json);
                continue;
            }
        };
        let add_up = |(share, source): &(ShareOf, &dyn Source)| share.add_up(*source).map_err(internal);
        let ((training, of), (held_out, rows)) = (add_up(&training)?, add_up(&held_out)?);
        if !compared && rows != options.rows {
            // The number of rows is public under replace.
            eprintln!(
                "equipoise: warning: the holdout has {rows} rows, not {}; means are over the stated number",
                options.rows
            );
        }
        compared = true;
        let training = training / Ratio::from(of.max(1));
        let held_out = (held_out / Ratio::from(options.rows.max(1))).min(Ratio::one());
        let (mean, from) = match asking.ask(&training, &held_out, &mut coins) {
            holdout::Answer::Training(mean) => (mean, "training"),
            holdout::Answer::Holdout(mean) => (mean, "holdout"),
            holdout::Answer::Exhausted => break,
        };
        // Rows are rounded to 2^-32, so that more digits say nothing.
        let mean: f64 = format!("{:.9}", mean.to_f64()).parse().expect("a number");
        say(&format!("{mean} ({from})"), &json!({ "mean": mean, "from": from }), options.json);
    }
    if asking.questions_left() == 0 {
        eprintln!("equipoise: questions or corrections are used up; fresh rows are needed");
    }
    Ok(Exit::Done)
}
