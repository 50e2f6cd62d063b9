//! Programs that a steward allows by name, run on blocks of the data in the sandbox of the command line: planned, charged and recorded as
//! any question.
//!
//! Whoever runs the server says in which folders programs lie; a steward says which of them run on which data and what they answer with; an
//! analyst says what an answer may cost. A program whose files were changed since a steward allowed it does not run. Blocks take
//! the time that is stated, so that the time of an answer is fixed by what is public.

use super::{
    allow,
    data_sets::{self, ANSWER_TIMES, Number},
    found,
};
use crate::{
    authorise::{Act, Caller},
    problem::Problem,
    rate::Counted,
    state::State,
    store::{Allowed, DataSource},
};
use axum::http::StatusCode;
use equipoise_core::wording;
use equipoise_engine::BlockFormat;
use equipoise_runner::{Run, Sandbox, Settings, sandbox::Input};
use equipoise_session::{
    ledger::Ledger,
    program,
    session::{self, Charged, Held, Session},
    source::Source,
    unanswered::Unanswered,
    votes::{Kept, VotePlan, VoteRequest},
};
use serde::Deserialize;
use serde_json::Value;
use std::{
    ffi::OsString,
    path::{Component, Path, PathBuf},
    sync::{Arc, PoisonError},
    time::Duration,
};

/// What a steward says of a program.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Allowing {
    /// The program and its arguments; files among them are named from a folder of programs.
    pub command: Vec<String>,
    /// More files and folders there that it sees.
    pub shows: Vec<String>,
    /// number, vector:K, label or labels.
    pub output: String,
    /// LO,HI.
    pub range: Option<String>,
    /// The labels that there are.
    pub options: Option<Vec<String>>,
    /// What a block without an answer counts as.
    pub default: Option<Value>,
    /// How answers become one.
    pub mechanism: Option<String>,
    /// How many blocks, where nobody says otherwise.
    pub blocks: Option<u64>,
    /// The seconds of a block.
    pub block_time: Option<f64>,
    /// Megabytes of memory for each process.
    pub memory: Option<u64>,
    /// Processes and threads of a block.
    pub processes: Option<u64>,
    /// csv or arrow.
    pub input: Option<String>,
}

/// A program as an analyst asks for it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Running {
    /// Its name.
    pub program: String,
    /// The privacy loss.
    pub epsilon: Option<Number>,
    /// Its delta.
    pub delta: Option<Number>,
    /// How many blocks.
    pub blocks: Option<Number>,
    /// The number of rows or people, where whoever asks states it.
    pub rows: Option<Number>,
    /// How sure the error bar is.
    pub confidence: Option<Number>,
}

/// The seconds of a block where nothing is said.
const BLOCK_TIME: f64 = 1.0;
/// The longest block, in seconds: whoever asks waits for one where a program is tried.
const LONGEST_BLOCK: f64 = 60.0;
const MEMORY: u64 = 1024;
const MOST_MEMORY: u64 = 16 << 10;
const PROCESSES: u64 = 8;
const MOST_PROCESSES: u64 = 256;
/// So many words, of so many bytes each.
const MOST_WORDS: usize = 100;
const LONGEST_WORD: usize = 10_000;

/// Allow a program under a name. It is tried once on a block without rows; what it says there is not told.
pub fn put(
    state: &State,
    caller: &Caller,
    id: &str,
    name: &str,
    said: &Allowing,
) -> Result<(StatusCode, Value), Problem> {
    allow(caller, Act::Manage)?;
    state.limiter.count(&caller.name, Counted::Change)?;
    let data = found(state, id)?;
    data_sets::check_id(name)?;
    if state.settings.programs.is_empty() {
        return Err(Problem::forbidden(
            "this server runs no programs; whoever runs it says where they lie with --programs",
        ));
    }
    state.rollback.check()?;
    let mut allowed = read(said)?;
    let source = state.open_data(&data)?;
    let run = run(state, &allowed)?;
    allowed.fingerprint = run.fingerprint().map_err(|error| refused(&error))?;
    let ledger = state.ledger()?;
    // What it costs is a question's to say; that there is a plan at all is looked at with much.
    let trial = Running { epsilon: Some(Number::Text("10".into())), ..Running::default() };
    let trial = Running { delta: Some(Number::Text("1e-6".into())), ..trial };
    // Before they are planned, which takes long for very many.
    allowed.blocks.map_or(Ok(0), |blocks| ready_in(&data, &run, blocks))?;
    let plan = vote_plan(&ledger, &data, &*source, &allowed, &trial)?;
    ready_in(&data, &run, plan.touch().votes())?;
    let answers = tried(state, &allowed, &run, &*source)?;
    let is_new = !data.programs.contains_key(name);
    state.store.put_program(id, name, Some(allowed.clone()))?;
    let what = format!("allowed the program '{name}', files {}", &allowed.fingerprint[..16]);
    state.note(&caller.name, &what, Some(&data.name), None)?;
    let mut document = data_sets::document(state, caller, &found(state, id)?)?;
    document["without_rows"] = if answers { "answers" } else { "gives no answer" }.into();
    Ok((if is_new { StatusCode::CREATED } else { StatusCode::OK }, document))
}

/// Allow a program no more. What is charged already runs to its end.
pub fn remove(state: &State, caller: &Caller, id: &str, name: &str) -> Result<Value, Problem> {
    allow(caller, Act::Manage)?;
    state.limiter.count(&caller.name, Counted::Change)?;
    state.rollback.check()?;
    let data = found(state, id)?;
    state.store.put_program(id, name, None)?;
    state.note(&caller.name, &format!("the program '{name}' is allowed no more"), Some(&data.name), None)?;
    data_sets::document(state, caller, &found(state, id)?)
}

/// What was said, within bounds.
fn read(said: &Allowing) -> Result<Allowed, Problem> {
    let words = said.command.iter().chain(&said.shows);
    if said.command.is_empty() || said.command.len() + said.shows.len() > MOST_WORDS {
        return Err(Problem::wrong(format!("a command has 1 to {MOST_WORDS} words")));
    }
    if words.clone().any(|word| word.len() > LONGEST_WORD || word.contains('\0')) {
        return Err(Problem::wrong(format!("a word of a command has at most {LONGEST_WORD} bytes")));
    }
    let block_time = said.block_time.unwrap_or(BLOCK_TIME);
    if !(0.1..=LONGEST_BLOCK).contains(&block_time) {
        return Err(Problem::wrong(format!("block_time is a number of seconds from 0.1 to {LONGEST_BLOCK}")));
    }
    let block_ms = Duration::from_secs_f64(block_time).as_millis().try_into().unwrap_or(u64::MAX);
    let within = |name: &str, value: Option<u64>, otherwise: u64, most: u64| {
        let value = value.unwrap_or(otherwise);
        let wrong = || Problem::wrong(format!("{name} is a whole number from 1 to {most}"));
        if (1..=most).contains(&value) { Ok(value) } else { Err(wrong()) }
    };
    let arrow = match said.input.as_deref() {
        None | Some("csv") => false,
        Some("arrow") => true,
        Some(_) => return Err(Problem::wrong("input is csv or arrow")),
    };
    Ok(Allowed {
        command: said.command.clone(),
        shows: said.shows.clone(),
        output: said.output.clone(),
        range: said.range.clone(),
        options: said.options.clone(),
        default: said.default.clone(),
        mechanism: said.mechanism.clone(),
        blocks: said.blocks,
        block_ms,
        memory: within("memory", said.memory, MEMORY, MOST_MEMORY)?,
        processes: within("processes", said.processes, PROCESSES, MOST_PROCESSES)?,
        arrow,
        fingerprint: String::new(),
    })
}

/// Why nothing runs. The runner speaks of paths, which are a steward's to know; only stewards are told.
fn refused(refusal: &equipoise_runner::Refusal) -> Problem {
    let line = refusal.to_string().replace("; `unsafe_no_sandbox` runs without any protection", "");
    Problem::wrong(wording::unmarked(&line.replace("`allow_read`", "`shows`")))
}

/// The run of a program, as it was allowed.
fn run(state: &State, program: &Allowed) -> Result<Run<'static>, Problem> {
    let sandbox = match &state.settings.keeper {
        Some(keeper) => Sandbox::kept_by(keeper),
        None => Sandbox::new().map_err(|error| refused(&error))?,
    };
    let [first, rest @ ..] = &program.command[..] else {
        return Err(Problem::wrong("a command has at least one word"));
    };
    let mut command = vec![executable(state, first)?];
    for word in rest {
        command.push(argument(state, word)?);
    }
    let shows = program.shows.iter().map(|word| {
        below(state, word)?.ok_or_else(|| {
            Problem::wrong(format!("'{}' is not in a folder of programs", wording::shown(word)))
        })
    });
    let settings = Settings {
        commands: vec![command],
        block_time: program.block_time(),
        memory: program.memory,
        processes: program.processes,
        serial: false,
        padded: true,
        protected: true,
        input: Input::Stdin,
        proc: false,
        allow_read: shows.collect::<Result<_, _>>()?,
        data: hidden(state),
        ledger: Some(state.settings.ledger()),
    };
    settings.run(sandbox).map_err(|error| refused(&error))
}

/// What no program ever sees: the data of everybody, and what the server keeps.
fn hidden(state: &State) -> Vec<PathBuf> {
    let data = state.store.data_sets();
    let files = data.iter().flat_map(|data| equipoise_engine::files_of(&data.path).unwrap_or_default());
    files.chain(state.settings.data.iter().cloned()).chain([state.settings.directory.clone()]).collect()
}

/// The place of what a word names in a folder of programs; nothing where it names nothing there.
fn below(state: &State, word: &str) -> Result<Option<PathBuf>, Problem> {
    let path = Path::new(word);
    let plain = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if word.is_empty() || !plain {
        return Ok(None);
    }
    let place = state.settings.programs.iter().map(|folder| folder.join(path)).find(|place| place.exists());
    let Some(place) = place else { return Ok(None) };
    let outside =
        || Problem::wrong(format!("'{}' leads out of the folders of programs", wording::shown(word)));
    let real = place.canonicalize().map_err(|_| outside())?;
    let within = |folder: &Path| folder.canonicalize().is_ok_and(|folder| real.starts_with(folder));
    let own = within(&state.settings.directory) || state.settings.data.iter().any(|folder| within(folder));
    // A program may lead to one of the system, as those of virtual environments do.
    let known = state.settings.programs.iter().any(|folder| within(folder)) || real.starts_with("/usr");
    if known && !own {
        Ok(Some(std::path::absolute(place).map_err(Problem::inside)?))
    } else {
        Err(outside())
    }
}

/// The first word: a file of a folder of programs, or a program of the system by its name.
fn executable(state: &State, word: &str) -> Result<OsString, Problem> {
    match below(state, word)? {
        Some(place) => Ok(place.into()),
        None if word.contains('/') => Err(Problem::wrong(format!(
            "'{}' is not in a folder of programs; name a file there, or a program of the system such as python3",
            wording::shown(word)
        ))),
        None => Ok(word.into()),
    }
}

/// Another word: a file of a folder of programs by its place, or a word. Files elsewhere are not shown to programs.
fn argument(state: &State, word: &str) -> Result<OsString, Problem> {
    match below(state, word)?.filter(|place| place.is_file()) {
        Some(place) => Ok(place.into()),
        None if Path::new(word).is_file() => Err(Problem::wrong(format!(
            "'{}' is a file outside of the folders of programs; put it there",
            wording::shown(word)
        ))),
        None => Ok(word.into()),
    }
}

/// Try a program on a block without rows, unless it started here before. Whether it answered.
fn tried(state: &State, program: &Allowed, run: &Run<'_>, source: &dyn Source) -> Result<bool, Problem> {
    let _one = state.rehearsing.lock().unwrap_or_else(PoisonError::into_inner);
    let found = run.rehearse(&format(program).empty(source)).map_err(|error| refused(&error))?;
    let mut started = state.started.lock().unwrap_or_else(PoisonError::into_inner);
    started.insert(program.fingerprint.clone());
    Ok(found.iter().all(|found| found.answer.is_some()))
}

fn format(program: &Allowed) -> BlockFormat {
    if program.arrow { BlockFormat::Arrow } else { BlockFormat::Csv }
}

fn vote_plan(
    ledger: &Ledger,
    data: &DataSource,
    source: &dyn Source,
    program: &Allowed,
    said: &Running,
) -> Result<VotePlan, Problem> {
    if let Some(line) = (0..source.columns().len()).find_map(|column| source.unreadable(column)) {
        return Err(Problem::wrong(line));
    }
    let facts = session::facts(Some(ledger), &data.name, source.columns())?;
    let text = |number: &Option<Number>| number.as_ref().map(Number::text);
    let request = VoteRequest {
        statistic: program::STATISTIC.to_string(),
        // As the steward named it: where it lies is nobody else's to know.
        programs: vec![program.command.clone()],
        kept: Kept::Confined,
        output: program.output.clone(),
        epsilon: text(&said.epsilon),
        delta: text(&said.delta),
        confidence: text(&said.confidence),
        blocks: text(&said.blocks).or(program.blocks.map(|blocks| blocks.to_string())),
        rows: text(&said.rows),
        range: program.range.clone(),
        options: program.options.clone(),
        default: program.default.clone(),
        mechanism: program.mechanism.clone(),
        typed: program.arrow,
        settings: vec![
            format!("block-time={}", program.block_time()),
            format!("memory={}", program.memory),
            format!("processes={}", program.processes),
            format!("files={}", program.fingerprint),
        ],
        ..VoteRequest::default()
    };
    Ok(VotePlan::new(&request, &facts)?)
}

/// After how many seconds its answer is shown: those of the data, and those that its blocks take.
fn ready_in(data: &DataSource, run: &Run<'_>, blocks: u64) -> Result<u64, Problem> {
    let blocks = usize::try_from(blocks).unwrap_or(usize::MAX);
    let seconds = run.total_time(blocks).as_secs().saturating_add(1 + data.answer_time);
    if ANSWER_TIMES.contains(&seconds) {
        return Ok(seconds);
    }
    Err(Problem::wrong(format!(
        "{blocks} blocks take {seconds} seconds here, and answers are waited for 3600 at most; ask for fewer blocks"
    )))
}

/// A program that can be charged and run.
pub struct Ready {
    /// What it will do and cost.
    pub plan: VotePlan,
    /// After how many seconds its answer is shown.
    pub seconds: u64,
    work: Work,
}

/// What is done when it is charged.
pub struct Work {
    run: Run<'static>,
    format: BlockFormat,
    blocks: usize,
}

/// Plan a program that somebody asks for. Reads the header or schema, and no row.
pub fn planned(
    state: &State,
    ledger: &Ledger,
    data: &DataSource,
    said: &Running,
) -> Result<(Ready, Box<dyn Source>), Problem> {
    let Some(program) = data.programs.get(&said.program) else {
        return Err(Problem::wrong(format!(
            "no program '{}' may be asked for here; its steward allows programs by name",
            wording::shown(&said.program)
        )));
    };
    let source = state.open_data(data)?;
    let changed = || {
        Problem::new(
            StatusCode::CONFLICT,
            "the files of this program are not as they were when it was allowed; its steward allows it anew",
        )
    };
    // What is wrong with files is the steward's to see.
    let mut run = run(state, program).map_err(|_| changed())?;
    if run.fingerprint().ok().as_ref() != Some(&program.fingerprint) {
        return Err(changed());
    }
    // Before they are planned, which takes long for very many.
    let said_blocks = said.blocks.as_ref().and_then(|blocks| blocks.text().parse().ok());
    said_blocks.map_or(Ok(0), |blocks| ready_in(data, &run, blocks))?;
    let plan = vote_plan(ledger, data, &*source, program, said)?;
    run.sandbox.limits.answer = plan.ballots().output().longest_answer();
    let seconds = ready_in(data, &run, plan.touch().votes())?;
    let blocks = usize::try_from(plan.touch().votes()).unwrap_or(usize::MAX);
    let work = Work { run, format: format(program), blocks };
    Ok((Ready { plan, seconds, work }, source))
}

impl Ready {
    /// Before the charge: does it start at all? Looked at once after each start of the server.
    pub fn starts(
        &self,
        state: &State,
        data: &DataSource,
        name: &str,
        source: &dyn Source,
    ) -> Result<(), Problem> {
        let Some(program) = data.programs.get(name) else { return Err(Problem::not_found()) };
        let known =
            state.started.lock().unwrap_or_else(PoisonError::into_inner).contains(&program.fingerprint);
        if known {
            return Ok(());
        }
        let line = "the program cannot be started in the sandbox here; nothing was charged, its steward can see why by allowing it anew";
        tried(state, program, &self.work.run, source)
            .map(drop)
            .map_err(|_| Problem::new(StatusCode::SERVICE_UNAVAILABLE, line))
    }

    /// To be charged, and to be run then.
    pub fn apart(self) -> (VotePlan, Work) {
        (self.plan, self.work)
    }
}

impl Work {
    /// How long its blocks take, whatever is in them.
    pub fn takes(&self) -> Duration {
        self.run.total_time(self.blocks)
    }

    /// Run it on every block, and make one answer of theirs.
    pub fn answer(
        mut self,
        state: &Arc<State>,
        session: &mut Session,
        charged: Charged<VotePlan>,
        source: &dyn Source,
    ) -> Result<Held, Unanswered> {
        let desk = state.desk.clone();
        self.run.given_up = Some(Arc::new(move || desk.is_closed()));
        session.answer_program(charged, source, |blocks, _| {
            let block = |index| self.format.block(blocks, index);
            self.run.answers(blocks.count(), block, |printed| blocks.read(printed))
        })
    }
}
