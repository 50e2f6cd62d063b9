//! `equipoise simulate`: the same question on public or made-up data, many times, to see what answers to expect.

mod own;

use crate::{
    Exit,
    args::{SimulateCommand, SimulateOptions},
    ask::{self, ledger, no_picture, open, unread, usage},
    choose, compare, fail, graph, plot, progress, show, sql, unplanned,
};
use equipoise_audit::sampled::{self, Found, Promise};
use equipoise_core::loss::Approx;
use equipoise_engine::{
    STANDARD_INPUT,
    books::{self, data_name, ledger_path},
};
use equipoise_session::{
    graph::GraphPlan,
    plan::{DataFacts, Plan},
    session,
    simulate::{self, Series, Simulation, Trial, simulate},
    source::Source,
    stated::ScoredPlan,
};
use own::Own;
use serde_json::{Value, json};
use std::path::Path;

/// With a neighbour: that no alarm is false.
const CONFIDENCE: f64 = 0.999;

pub(crate) fn run(options: &SimulateOptions) -> Exit {
    let done = match &options.question {
        SimulateCommand::Ask(question) => {
            let request = &question.request;
            let asked = Asked {
                options,
                file: &question.file,
                name: question.books.name.as_deref(),
                ledger: question.books.ledger.as_deref(),
                delimiter: request.delimiter.as_deref(),
                header: request.header,
                json: options.json || question.showing.json,
                picture: options.plot.as_deref().or(question.showing.plot.as_deref()),
                questions: None,
                plan: &|facts| Plan::new(request, facts).map_err(|error| unplanned(&error)),
            };
            asked.run()
        }
        SimulateCommand::Batch(questions) => ask::questions(questions).and_then(|(batch, file)| {
            let asked = Asked {
                options,
                file: &file,
                name: questions.books.name.as_deref(),
                ledger: questions.books.ledger.as_deref(),
                delimiter: batch.shared.delimiter.as_deref(),
                header: batch.shared.header,
                json: options.json || questions.showing.json,
                picture: options.plot.as_deref().or(questions.showing.plot.as_deref()),
                questions: Some(&questions.questions),
                plan: &|facts| Plan::batch(&batch, facts).map_err(|error| unplanned(&error)),
            };
            asked.run()
        }),
        SimulateCommand::Graph(count) => {
            let request = graph::request(count);
            let own = Own {
                options,
                file: &count.file,
                books: &count.books,
                showing: &count.showing,
                reading: &count.reading,
                plan: &|facts| GraphPlan::new(&request, facts),
            };
            own.run()
        }
        SimulateCommand::Choose(choice) => {
            let request = choose::request(choice);
            let own = Own {
                options,
                file: &choice.file,
                books: &choice.books,
                showing: &choice.showing,
                reading: &choice.reading,
                plan: &|facts| ScoredPlan::new(&request, facts),
            };
            own.run()
        }
        #[cfg(target_os = "linux")]
        SimulateCommand::Run(program) => crate::run::simulate(program, options.trials as usize, options.json),
        SimulateCommand::Sql(query) => sql::read(query).and_then(|read| {
            let shared = &read.batch().shared;
            let asked = Asked {
                options,
                file: Path::new(&read.table().name),
                name: query.books.name.as_deref(),
                ledger: query.books.ledger.as_deref(),
                delimiter: shared.delimiter.as_deref(),
                header: shared.header,
                json: options.json || query.showing.json,
                picture: options.plot.as_deref().or(query.showing.plot.as_deref()),
                questions: None,
                plan: &|facts| read.plan(facts).map_err(|error| sql::wrong(&error)),
            };
            asked.run()
        }),
    };
    done.unwrap_or_else(|exit| exit)
}

/// What is asked, of which file, and how it is shown.
struct Asked<'a> {
    options: &'a SimulateOptions,
    file: &'a Path,
    name: Option<&'a str>,
    ledger: Option<&'a Path>,
    delimiter: Option<&'a str>,
    header: Option<bool>,
    json: bool,
    picture: Option<&'a Path>,
    /// The file of a batch.
    questions: Option<&'a Path>,
    plan: &'a dyn Fn(&DataFacts) -> Result<Plan, Exit>,
}

impl Asked<'_> {
    fn run(&self) -> Result<Exit, Exit> {
        let (plan, source) = self.planned(self.file, self.name)?;
        let neighbour = match neighbour(self.options)? {
            Some(file) => Some(self.planned(file, None)?),
            None => None,
        };
        if let Some(path) = self.picture {
            let neighbour = self.options.neighbour.as_deref();
            let kept: Vec<&Path> =
                [self.questions, neighbour].into_iter().flatten().chain([self.file]).collect();
            plot::check(path, &kept).map_err(usage)?;
        }
        simulate::check(&plan).map_err(|error| unplanned(&error))?;
        let trials = self.options.trials as usize;
        let simulation =
            progress::spinning("simulating", || simulate(&plan, &*source, trials)).map_err(unread)?;
        let found = match &neighbour {
            Some((other, source)) => Some(against(&plan, &simulation.trials, other, &**source)?),
            None => None,
        };
        if self.json {
            print_json(&plan, &simulation, found.as_ref());
        } else {
            show::simulation(&plan, &simulation);
            if let Some(found) = &found {
                println!("  audit      {}", compare::words(found, CONFIDENCE));
            }
        }
        if let Some(path) = self.picture {
            plot::simulation(&show::simulation_title(&plan), &simulation, path)
                .map_err(|error| no_picture(path, &*error))?;
        }
        Ok(if found.is_some_and(|found| found.alarm) { Exit::Failed } else { Exit::Done })
    }

    /// The question, planned for a file that is public.
    fn planned(&self, file: &Path, name: Option<&str>) -> Result<(Plan, Box<dyn Source>), Exit> {
        let source = open(file, self.delimiter, self.header)?;
        let facts = public(file, name, self.ledger, source.columns())?.typed_by(&*source);
        let plan = (self.plan)(&facts)?;
        plan.readable_in(&*source).map_err(|error| unplanned(&error))?;
        Ok((plan, source))
    }
}

/// The file to compare with, which is read as often as the other.
fn neighbour(options: &SimulateOptions) -> Result<Option<&Path>, Exit> {
    match &options.neighbour {
        Some(file) if file == Path::new(STANDARD_INPUT) => {
            Err(usage("a neighbour is a file; standard input is read once"))
        }
        file => Ok(file.as_deref()),
    }
}

/// What is known of a file that no ledger knows; one that a ledger knows is private. Looked at are the ledger that was named
/// and those beside and above the data, for the file and for each file that a pattern or a folder stands for, whatever it is called:
/// a link is the same file. A copy of private rows under another name is not recognised.
pub(crate) fn public(
    file: &Path,
    name: Option<&str>,
    named: Option<&Path>,
    columns: &[String],
) -> Result<DataFacts, Exit> {
    let known = books::known_as(file, name, named).map_err(|error| fail(&error, error.exit_code()))?;
    if let Some(known) = known {
        let known = show::printable(&known);
        return Err(usage(format!(
            "{known} is in a ledger, so its rows are private; simulate on public or made-up data"
        )));
    }
    let account = data_name(file, name, &ledger_path(named, Some(file))).map_err(usage)?;
    session::facts(None, &account, columns).map_err(ledger)
}

/// What the answers give away beside those on a neighbour.
fn against(plan: &Plan, trials: &[Trial], neighbour: &Plan, source: &dyn Source) -> Result<Found, Exit> {
    let other = progress::spinning("simulating", || simulate(neighbour, source, trials.len()));
    Ok(told_apart(plan.cost(), trials, &other.map_err(unread)?.trials))
}

fn told_apart(cost: &Approx, trials: &[Trial], other: &[Trial]) -> Found {
    let seen =
        |trials: &[Trial]| trials.iter().map(|trial| compare::seen(&trial.document())).collect::<Vec<_>>();
    let promise = Promise { eps: cost.eps.ratio().to_f64(), delta: cost.delta.ratio().to_f64() };
    sampled::compare(&seen(trials), &seen(other), &promise, 1.0 - CONFIDENCE)
}

fn print_json(plan: &Plan, simulation: &Simulation, found: Option<&Found>) {
    let question = |number: usize| {
        let part = &plan.parts()[number];
        json!({
            "statistic": part.request().statistic,
            "column": part.request().column,
            "group_by": part.group_by(),
            "type": part.answer_type(),
            "mechanism": part.mechanism(),
            "epsilon": part.cost().eps.to_exact(),
            "delta": part.cost().delta.to_exact(),
            "refused": simulation.refused(number),
            "series": simulation.of(number).map(Series::summary).collect::<Vec<_>>(),
        })
    };
    let document = if plan.is_batch() {
        json!({
            "statistic": "batch",
            "epsilon": plan.cost().eps.to_exact(),
            "delta": plan.cost().delta.to_exact(),
            "questions": (0..plan.parts().len()).map(question).collect::<Vec<_>>(),
        })
    } else {
        question(0)
    };
    print_document(document, simulation, found);
}

/// The same object for everything that is simulated.
fn print_document(mut document: Value, simulation: &Simulation, found: Option<&Found>) {
    let answers: Vec<Value> = simulation.trials.iter().map(Trial::document).collect();
    if let [one] = &simulation.series[..]
        && one.key.is_none()
    {
        document["truth"] = json!(one.truth());
        if one.all_rows.is_some() {
            document["truth_of_rows_drawn"] = json!(one.truth_drawn());
        }
    }
    document["outcome"] = json!("simulated");
    document["trials"] = json!(answers.len());
    document["unsaid"] = json!(simulation.unsaid);
    document["audit"] = json!(found.map(compare::document));
    document["answers"] = json!(answers);
    println!("{document}");
}
