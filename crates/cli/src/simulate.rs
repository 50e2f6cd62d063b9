//! `equipoise simulate`: the same question on public or made-up data, many times, to see what answers to expect.

use crate::{
    Exit,
    args::SimulateOptions,
    ask::{self, existing, internal, ledger, no_picture, open, usage},
    compare, plot, progress, show,
};
use equipoise_audit::sampled::{self, Found, Promise};
use equipoise_engine::{
    STANDARD_INPUT,
    books::{counted_above, data_name, ledger_path},
    expand,
};
use equipoise_session::{
    plan::{DataFacts, Plan},
    request::Request,
    session,
    simulate::simulate,
    source::{Kind, Source},
};
use serde_json::{Value, json};
use std::path::Path;

/// At this epsilon an answer is the true one for all that matters to a picture.
const NO_PRIVACY: &str = "1000";
/// With a neighbour: that no alarm is false.
const CONFIDENCE: f64 = 0.999;

pub(crate) fn run(options: &SimulateOptions) -> Exit {
    match simulated(options) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn simulated(options: &SimulateOptions) -> Result<Exit, Exit> {
    let (request, question) = ask::request(&options.question);
    let source = open(&question.file, request.delimiter.as_deref(), request.header)?;
    let name = question.books.name.as_deref();
    let facts =
        public(&question.file, name, question.books.ledger.as_deref(), source.columns())?.typed_by(&*source);
    let neighbour = match &options.neighbour {
        Some(file) => Some(neighbour(file, &request, question.books.ledger.as_deref())?),
        None => None,
    };
    let plan = Plan::new(&request, &facts).map_err(usage)?;
    plan.readable_in(&*source).map_err(usage)?;
    let picture = options.plot.as_ref().or(question.showing.plot.as_ref());
    if let Some(path) = picture {
        let neighbour = options.neighbour.as_ref().unwrap_or(&question.file);
        plot::check(path, &[&question.file, neighbour]).map_err(usage)?;
    }
    let trials = options.trials as usize;
    let values = progress::spinning("simulating", || simulate(&plan, &*source, trials)).map_err(internal)?;
    let kind = plan.parts()[0].answer_type().and_then(|name| Kind::named(&name));
    let truth = truth(&request, &facts, &*source);
    let title = match &request.column {
        Some(column) => format!("{} of {column}, epsilon {}", request.statistic, plan.cost().eps),
        None => format!("{}, epsilon {}", request.statistic, plan.cost().eps),
    };
    let known = truth.as_ref().map(|truth| number(truth, kind)).filter(|truth| truth.is_finite());
    let numbers: Vec<Option<f64>> =
        values.iter().map(|value| value.as_ref().map(|value| number(value, kind))).collect();
    let found = match &neighbour {
        Some((other, source)) => Some(against(&plan, &values, other, &**source)?),
        None => None,
    };
    if options.json || question.showing.json {
        print_json(&plan, &values, truth.as_ref(), found.as_ref());
    } else {
        print(&title, &numbers, known, kind);
        if let Some(found) = &found {
            println!("  audit      {}", compare::words(found, CONFIDENCE));
        }
    }
    if let Some(path) = picture {
        plot::simulation(&title, &numbers, known, path).map_err(|error| no_picture(path, &*error))?;
    }
    Ok(if found.is_some_and(|found| found.alarm) { Exit::Failed } else { Exit::Done })
}

/// What is known of a file that no ledger knows; one that a ledger knows is private. Looked at are the ledger that was named
/// and the ones beside the data, for the file and for each file that a pattern or a folder stands for, and those above it that
/// count it with others. A copy of private rows under another name is not recognised.
fn public(
    file: &Path,
    name: Option<&str>,
    named: Option<&Path>,
    columns: &[String],
) -> Result<DataFacts, Exit> {
    let mut facts = None;
    let members =
        if file == Path::new(STANDARD_INPUT) { Vec::new() } else { expand(file).unwrap_or_default() };
    let all = members.iter().map(|member| (&**member, None));
    for (one, name) in std::iter::once((file, name)).chain(all) {
        for path in [ledger_path(named, Some(one)), ledger_path(None, Some(one))] {
            let name = data_name(one, name, &path).map_err(usage)?;
            let found = session::facts(existing(&path)?.as_ref(), &name, columns).map_err(ledger)?;
            if found.registered.is_some() {
                let name = show::printable(&name);
                return Err(usage(format!(
                    "{name} is in the ledger, so its rows are private; simulate on public or made-up data"
                )));
            }
            facts.get_or_insert(found);
        }
    }
    let beside = ledger_path(None, Some(file));
    if let Some(above) = counted_above(&members, &beside) {
        return Err(usage(format!(
            "{} is in a ledger above it, so its rows are private; simulate on public or made-up data",
            show::printable(&above.name)
        )));
    }
    Ok(facts.expect("the file itself was looked up"))
}

/// The same question, planned for a neighbour that is public too.
fn neighbour(file: &Path, request: &Request, named: Option<&Path>) -> Result<(Plan, Box<dyn Source>), Exit> {
    if file == Path::new(STANDARD_INPUT) {
        return Err(usage("a neighbour is a file; standard input is read once"));
    }
    let source = open(file, request.delimiter.as_deref(), request.header)?;
    let facts = public(file, None, named, source.columns())?.typed_by(&*source);
    let plan = Plan::new(request, &facts).map_err(usage)?;
    plan.readable_in(&*source).map_err(usage)?;
    Ok((plan, source))
}

/// What the answers give away beside those on a neighbour.
fn against(
    plan: &Plan,
    values: &[Option<Value>],
    neighbour: &Plan,
    source: &dyn Source,
) -> Result<Found, Exit> {
    let other = progress::spinning("simulating", || simulate(neighbour, source, values.len()));
    let seen = |values: &[Option<Value>]| {
        values.iter().map(|value| compare::seen(value.as_ref())).collect::<Vec<_>>()
    };
    let promise =
        Promise { eps: plan.cost().eps.ratio().to_f64(), delta: plan.cost().delta.ratio().to_f64() };
    Ok(sampled::compare(&seen(values), &seen(&other.map_err(internal)?), &promise, 1.0 - CONFIDENCE))
}

/// An answer as a number: of a type that is written as text, the whole number inside.
fn number(value: &Value, kind: Option<Kind>) -> f64 {
    let whole = || Some(kind?.read(value.as_str()?)? as f64);
    value.as_f64().or_else(whole).unwrap_or(f64::NAN)
}

/// That number as it is told.
fn told(number: f64, kind: Option<Kind>) -> String {
    match kind {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it was a whole number of 64 bits, or next to one"
        )]
        Some(kind) if kind.is_time() || matches!(kind, Kind::Decimal { .. }) => kind.write(number as i64),
        _ => number.to_string(),
    }
}

/// A distance between two such numbers as it is told.
fn told_distance(number: f64, kind: Option<Kind>) -> String {
    match kind {
        Some(Kind::Date) => format!("{number} days"),
        Some(Kind::Timestamp) => format!("{} seconds", number / 1e6),
        kind => told(number, kind),
    }
}

/// The answer with next to no privacy: what the others scatter around.
fn truth(request: &Request, facts: &DataFacts, source: &dyn Source) -> Option<Value> {
    let request = Request { epsilon: Some(NO_PRIVACY.to_string()), ..request.clone() };
    let plan = Plan::new(&request, facts).ok()?;
    simulate(&plan, source, 1).ok()?.pop()?.filter(|truth| truth.is_number() || truth.is_string())
}

fn print_json(plan: &Plan, values: &[Option<Value>], truth: Option<&Value>, found: Option<&Found>) {
    let document = json!({
        "outcome": "simulated",
        "statistic": plan.statistic(),
        "column": plan.request().column,
        "type": plan.parts()[0].answer_type(),
        "mechanism": plan.mechanism(),
        "epsilon": plan.cost().eps.to_exact(),
        "delta": plan.cost().delta.to_exact(),
        "trials": values.len(),
        "refused": values.iter().filter(|value| value.is_none()).count(),
        "truth": truth,
        "audit": found.map(compare::document),
        "values": values,
    });
    println!("{document}");
}

fn print(title: &str, numbers: &[Option<f64>], truth: Option<f64>, kind: Option<Kind>) {
    let refused = numbers.iter().filter(|number| number.is_none()).count();
    let mut answers: Vec<f64> =
        numbers.iter().copied().flatten().filter(|number| number.is_finite()).collect();
    answers.sort_unstable_by(f64::total_cmp);
    println!("{title} (simulated; nothing was charged or released)");
    println!("  trials     {}, {refused} refused", numbers.len());
    if answers.is_empty() {
        return;
    }
    let at = |percent: usize| told(answers[(answers.len() - 1) * percent / 100], kind);
    println!("  answers    median {}, nine of ten between {} and {}", at(50), at(5), at(95));
    if let Some(truth) = truth {
        let mut errors: Vec<f64> = answers.iter().map(|answer| (answer - truth).abs()).collect();
        errors.sort_unstable_by(f64::total_cmp);
        let half = told_distance(errors[errors.len() / 2], kind);
        println!("  truth      {}; half of the answers are within {half}", told(truth, kind));
    }
}
