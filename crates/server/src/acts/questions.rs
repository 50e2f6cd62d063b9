//! Plans, which are free, and questions, which are charged: plan, charge, answer at once that it was charged, then read rows.

use super::{
    allow, found,
    programs::{self, Running},
};
use crate::{
    authorise::{Act, Caller},
    desk::{Place, Waiting},
    problem::Problem,
    rate::Counted,
    state::State,
    store::{DataSource, Role},
};
use axum::http::StatusCode;
use equipoise_core::loss::{Amount, Approx};
use equipoise_engine::books::settled_at;
use equipoise_session::{
    batch::Batch,
    earlier::{EarlierCounts, TooFewRows},
    ledger::{Balance, Charge, ChargeError, Event, Ledger, Limit, Window},
    plan::{DataFacts, Plan},
    planned::PlanSummary,
    release::{Release, Remaining, Spent, WindowStanding},
    request::Request,
    session::{self, Charged, Held, Paid, PayError, Priced, Session},
    source::Source,
    unanswered::Unanswered,
    votes::VotePlan,
};
use equipoise_sql_front::Query;
use serde_json::{Value, json};
use std::{
    sync::{Arc, atomic::Ordering},
    thread,
};
use tokio::sync::oneshot;

/// Planning many takes long, and is free.
const MOST_QUESTIONS: usize = 20;

/// A question, or several at once, as they were said.
#[derive(Clone, Debug)]
pub enum Question {
    /// One.
    One(Box<Request>),
    /// Several for one charge.
    Several(Box<Batch>),
    /// Those of a query in SQL.
    Sql(Box<Query>),
    /// A program that a steward allows.
    Program(Box<Running>),
}

impl Question {
    /// Read the document of a question or of a batch.
    pub fn from_json(text: &str) -> Result<Self, Problem> {
        let mut document = serde_json::from_str::<Value>(text).unwrap_or_default();
        if document.get("program").is_some() {
            return Ok(Self::Program(Box::new(crate::http::document(text)?)));
        }
        if document.get("questions").is_some() {
            let leave_out = document.as_object_mut().and_then(|words| words.remove("leave_out"));
            let batch = match leave_out {
                None => Batch::from_json(text)?,
                Some(numbers) => {
                    let numbers: Vec<usize> = serde_json::from_value(numbers).map_err(|_| {
                        Problem::wrong("leave_out is a list of numbers of questions, such as [2]")
                    })?;
                    Batch::from_json(&document.to_string())?.without(&numbers).map_err(Problem::wrong)?
                }
            };
            if batch.data.is_some() {
                return Err(Problem::wrong("the path names the data; leave \"data\" out"));
            }
            if batch.questions.len() > MOST_QUESTIONS {
                return Err(Problem::wrong(format!("a batch has at most {MOST_QUESTIONS} questions here")));
            }
            return Ok(Self::Several(Box::new(batch)));
        }
        Ok(Self::One(Box::new(Request::from_json(text)?)))
    }

    /// As it is written down, where that does not take a plan.
    fn text(&self) -> Option<String> {
        match self {
            Self::One(request) => Some(request.to_json()),
            Self::Several(batch) => Some(batch.to_json()),
            Self::Sql(_) | Self::Program(_) => None,
        }
    }

    fn plan(&self, facts: &DataFacts) -> Result<Plan, Problem> {
        match self {
            Self::One(request) => Plan::new(request, facts).map_err(|error| {
                let step = Plan::mended(request, facts, &error);
                let problem = Problem::from(error);
                match step {
                    Some(step) => problem.with("next_step", json!(step)),
                    None => problem,
                }
            }),
            Self::Several(batch) => Ok(Plan::batch(batch, facts)?),
            Self::Sql(query) if query.batch().questions.len() > MOST_QUESTIONS => {
                Err(Problem::wrong(format!("a query has at most {MOST_QUESTIONS} aggregates here")))
            }
            Self::Sql(query) => query.plan(facts).map_err(|error| super::sql::wrong(&error)),
            Self::Program(_) => Err(Problem::wrong("a program is asked for by itself")),
        }
    }

    /// How CSV is read is the steward's to say.
    pub(super) fn read_as_registered(&self) -> Result<(), Problem> {
        let request = match self {
            Self::One(request) => request,
            Self::Several(batch) => &batch.shared,
            Self::Sql(query) => &query.batch().shared,
            Self::Program(_) => return Ok(()),
        };
        if request.delimiter.is_some() || request.header.is_some() {
            return Err(Problem::wrong("how the data is read is registered; leave delimiter and header out"));
        }
        Ok(())
    }
}

/// What a question would do and cost. Reads the header or schema, and no row.
pub fn plan(state: &State, caller: &Caller, id: &str, question: &Question) -> Result<Value, Problem> {
    let data = found(state, id)?;
    allow(caller, Act::Plan(&data))?;
    state.limiter.count(&caller.name, Counted::Plan)?;
    question.read_as_registered()?;
    let ledger = state.ledger()?;
    let (plan, _) = prepared(state, &ledger, &data, question)?;
    let balance = ledger.balance_in(&data.name, Some(&caller.name), plan.windows())?;
    let mut document = plan.summary().document(Some(&balance));
    document["more_like_it"] = json!(more_like_it(&plan.price(), &balance));
    document["answered"] = json!(already(state, &ledger, caller, &data, &plan.asked())?);
    document["answer_time"] = plan.shown_after(&data).into();
    if let Some(few) = too_few(&ledger, caller, &data, &plan)? {
        document["would_be_refused"] = refused_document(question, &few);
    }
    Ok(document)
}

/// What answers that this caller was shown tell of a plan: that there are too few rows for it. It is recorded when it is shown, at most
/// twice the answer time after its rows were read.
fn too_few(
    ledger: &Ledger,
    caller: &Caller,
    data: &DataSource,
    plan: &Prepared,
) -> Result<Option<Box<TooFewRows>>, Problem> {
    let Prepared::Question(plan) = plan else { return Ok(None) };
    if !EarlierCounts::matter_to(plan) {
        return Ok(None);
    }
    let Some(changed) = settled_at(&data.path, data.answer_time.saturating_mul(2)) else { return Ok(None) };
    let counts = EarlierCounts::of(ledger, &data.name, Some(&caller.name), &changed)?;
    Ok(counts.check(plan).err())
}

/// The same for whoever plans: in one line that says what to send, in a line that does not, and as the question that would do.
fn refused_document(question: &Question, few: &TooFewRows) -> Value {
    let why = match question {
        Question::Sql(query) => query.too_few(few).to_string(),
        _ => few.error.to_string(),
    };
    let many = match question {
        Question::One(_) | Question::Program(_) => 1,
        Question::Several(batch) => batch.questions.len(),
        Question::Sql(query) => query.batch().questions.len(),
    };
    let rows = &few.rows;
    let problem = match &few.refused[..] {
        [] => format!("some of this would be refused: its quantiles take up to {rows}"),
        _ if many == 1 => format!("this would be refused: it takes {rows}"),
        [one] => format!("question {one} would be refused: it takes {rows}"),
        several => {
            let which = several.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
            format!("questions {which} would be refused: they take up to {rows}")
        }
    };
    json!({ "why": why, "problem": problem, "next_step": few.step })
}

/// How many questions of this price fit after this one; nothing without a limit or where plain sums do not tell, and -1 where
/// this one does not fit.
fn more_like_it(charge: &Approx, balance: &Balance) -> Option<i64> {
    let Some(Limit::Approx(left)) = balance.remaining() else { return None };
    let times = |left: &Amount, price: &Amount| {
        if price.is_zero() { None } else { (left.ratio() * price.ratio().recip()).floor_i64() }
    };
    let fits = [times(&left.eps, &charge.eps), times(&left.delta, &charge.delta)];
    fits.into_iter().flatten().min().map(|fits| fits - 1)
}

/// An answer to an equal question about the same state of the data: one's own, or another's where these are shared.
fn already(
    state: &State,
    ledger: &Ledger,
    caller: &Caller,
    data: &DataSource,
    request: &str,
) -> Result<Option<Value>, Problem> {
    if caller.role != Role::Analyst {
        return Ok(None);
    }
    let mut equal = state.answered.equal(data, request);
    equal.sort_by_key(|asked| asked.member != caller.name);
    for asked in equal {
        let own = asked.member == caller.name;
        if !own && !data.shared {
            continue;
        }
        if let Some((entry, Some(_))) = ledger.find(&asked.id)?
            && entry.data_set.as_deref() == Some(data.name.as_str())
            && ledger.counts(&entry)?
        {
            let free = own || ledger.has_seen(&data.name, &caller.name, &asked.id)?;
            return Ok(Some(json!({ "id": asked.id, "seen": free })));
        }
    }
    Ok(None)
}

/// Show an answer that another paid for. Its price is added to what this reader has seen.
pub fn see(state: &State, caller: &Caller, id: &str) -> Result<Value, Problem> {
    super::releases::check_id(id)?;
    state.limiter.count(&caller.name, Counted::Plan)?;
    let mut ledger = state.ledger()?;
    let Some((entry, Some(_))) = ledger.find(id)? else { return Err(Problem::not_found()) };
    let name = entry.data_set.clone().unwrap_or_default();
    let data = state.store.data_set_named(&name).ok_or_else(Problem::not_found)?;
    allow(caller, Act::Ask(&data))?;
    let own = entry.analyst.as_deref() == Some(caller.name.as_str());
    if !own {
        state.rollback.check()?;
        let Event::Charged { request, .. } = &entry.event else { return Err(Problem::not_found()) };
        // Of the state that the data has now: others are not offered, and not shown.
        let offered = state.answered.equal(&data, request).iter().any(|asked| asked.id == id);
        if !data.shared || !offered || !ledger.counts(&entry)? {
            return Err(Problem::not_found());
        }
        let seen = ledger.see(&name, &caller.name, id);
        seen.map_err(|error| with_who_spent(state, &data, PayError::from(error).into()))?;
    }
    let balance = ledger.balance(&name, Some(&caller.name))?;
    Ok(json!({
        "id": id, "spent": Spent::from(balance.spent()),
        "seen": balance.analyst.as_ref().map(|own| Spent::from(&own.spent.approx)),
        "remaining": balance.remaining().as_ref().map(Remaining::from),
    }))
}

/// Nothing is charged where no limit was set.
pub fn limited(state: &State, data: &DataSource) -> Result<(), Problem> {
    let ledger = state.ledger()?;
    if ledger.balance(&data.name, None)?.data_set.limit.is_none() && ledger.renewing(&data.name)?.is_none() {
        return Err(Problem::forbidden("no limit was set on this data; its steward sets one first").exit(4));
    }
    Ok(())
}

/// Where something was more than is left: who spent what.
pub fn with_who_spent(state: &State, data: &DataSource, problem: Problem) -> Problem {
    if !problem.fields.contains_key("remaining") {
        return problem;
    }
    match state.ledger().and_then(|ledger| super::data_sets::who_spent(&ledger, &data.name)) {
        Ok(spent) => problem.with("spent_by", Value::from(spent)),
        Err(_) => problem,
    }
}

/// What can be charged.
enum Prepared {
    Question(Box<Plan>),
    Program(Box<programs::Ready>),
}

impl Prepared {
    fn asked(&self) -> String {
        match self {
            Self::Question(plan) => plan.asked().to_string(),
            Self::Program(ready) => ready.plan.asked(),
        }
    }

    fn summary(&self) -> PlanSummary {
        match self {
            Self::Question(plan) => plan.summary(),
            Self::Program(ready) => ready.plan.summary(),
        }
    }

    /// The calendar windows that it is about, where its data has some.
    fn windows(&self) -> &[Window] {
        match self {
            Self::Question(plan) => plan.windows().map_or(&[], |asked| &asked.asked),
            Self::Program(_) => &[],
        }
    }

    fn price(&self) -> Approx {
        match self {
            Self::Question(plan) => plan.charge().clone(),
            Self::Program(ready) => ready.plan.price(),
        }
    }

    /// How many seconds after the charge the answer is shown: public, whatever the rows are.
    fn shown_after(&self, data: &DataSource) -> u64 {
        match self {
            Self::Question(_) => data.answer_time,
            Self::Program(ready) => ready.seconds,
        }
    }
}

/// Plan a question or a program. Reads the header or schema, and no row.
fn prepared(
    state: &State,
    ledger: &Ledger,
    data: &DataSource,
    question: &Question,
) -> Result<(Prepared, Box<dyn Source>), Problem> {
    if let Question::Program(said) = question {
        let (ready, source) = programs::planned(state, ledger, data, said)?;
        return Ok((Prepared::Program(Box::new(ready)), source));
    }
    let (plan, source) = planned(state, ledger, data, question)?;
    Ok((Prepared::Question(Box::new(plan)), source))
}

pub(super) fn planned(
    state: &State,
    ledger: &Ledger,
    data: &DataSource,
    question: &Question,
) -> Result<(Plan, Box<dyn Source>), Problem> {
    let source = state.open_data(data)?;
    let facts = session::facts(Some(ledger), &data.name, source.columns())?.typed_by(&*source);
    let plan = question.plan(&facts)?;
    plan.readable_in(&*source)?;
    Ok((plan, source))
}

/// What is answered to a question: it was charged, or it was answered before.
pub struct Accepted {
    /// 202 for a new charge, 200 for what was answered before.
    pub status: StatusCode,
    /// The id of the charge.
    pub id: String,
    /// What was charged, what is left, when the answer is shown.
    pub document: Value,
    /// A witness of the charge.
    pub witness: Option<String>,
}

/// Ask: charge, and answer as soon as that is durable. Rows are read afterwards, whoever waits or not.
pub async fn ask(
    state: Arc<State>,
    caller: Caller,
    id: String,
    key: String,
    question: Question,
    anyway: bool,
) -> Result<Accepted, Problem> {
    let (reply, answered) = oneshot::channel();
    let work = move || {
        let asking = match Asking::begin(&state, &caller, &id, &key, &question, anyway) {
            Ok(asking) => asking,
            Err(problem) => return drop(reply.send(Err(problem))),
        };
        match asking {
            Asking::Again(accepted) => drop(reply.send(Ok(accepted))),
            Asking::Charged { charged, source, mut session, accepted, place, data } => {
                let charge = accepted.id.clone();
                // A connection that was closed meanwhile changes nothing.
                drop(reply.send(Ok(accepted)));
                match charged {
                    Work::Scan(charged) => {
                        state.desk.scan(&charge, &data, || session.answer(*charged, &*source));
                    }
                    Work::Program(charged, work) => {
                        let answer = |work: Box<programs::Work>| -> Result<Held, Unanswered> {
                            work.answer(&state, &mut session, *charged, &*source)
                        };
                        state.desk.run(&charge, &data, work.takes(), || answer(work));
                    }
                }
                drop(place);
            }
        }
    };
    thread::Builder::new().name("question".into()).spawn(work).map_err(Problem::inside)?;
    let failed = || {
        Problem::inside("a question ended without a word")
            .saying("the server failed; the ledger says whether this was charged")
    };
    answered.await.map_err(|_| failed())?
}

/// What is done for a charge.
enum Work {
    /// One scan of the rows.
    Scan(Box<Charged>),
    /// Blocks of them through a program.
    Program(Box<Charged<VotePlan>>, Box<programs::Work>),
}

/// A question that was taken in.
enum Asking {
    /// It was answered before under this key.
    Again(Accepted),
    /// It is charged; rows can be read.
    Charged {
        charged: Work,
        source: Box<dyn Source>,
        session: Session,
        accepted: Accepted,
        place: Arc<Place>,
        data: String,
    },
}

impl Asking {
    /// Everything up to the charge, and the desk's knowing of it.
    fn begin(
        state: &State,
        caller: &Caller,
        id: &str,
        key: &str,
        question: &Question,
        anyway: bool,
    ) -> Result<Self, Problem> {
        let data = found(state, id)?;
        allow(caller, Act::Ask(&data))?;
        state.limiter.count(&caller.name, Counted::Question)?;
        question.read_as_registered()?;
        let _underway = state.desk.underway(&caller.name, key)?;
        if state.monitors.under(&caller.name, key).is_some() {
            return Err(key_taken("this key was used for a monitor; give this question a key of its own"));
        }
        let ledger = state.ledger()?;
        // A query, or a program, is what its plan writes down.
        let asked = match question.text() {
            Some(text) => text,
            None => prepared(state, &ledger, &data, question)?.0.asked(),
        };
        let before = session::replayed(&ledger, &data.name, Some(&caller.name), key, &asked);
        if let Some(release) = before.map_err(|error| unpaid(state, error))? {
            return Ok(Self::Again(again(&ledger, caller, &data, &release)?));
        }
        limited(state, &data)?;
        state.rollback.check()?;
        let (plan, source) = prepared(state, &ledger, &data, question)?;
        if !anyway && let Some(few) = too_few(&ledger, caller, &data, &plan)? {
            let problem = match question {
                Question::Sql(query) => super::sql::wrong(&query.too_few(&few)),
                _ => Problem::from(few.error),
            };
            return Err(match few.step {
                Some(step) => problem.with("next_step", json!(step)),
                None => problem,
            });
        }
        let shown_after = plan.shown_after(&data);
        let place = match (&plan, question) {
            (Prepared::Program(ready), Question::Program(said)) => {
                let place = state.desk.place_of_program(&caller.name, shown_after)?;
                ready.starts(state, &data, &said.program, &*source)?;
                place
            }
            _ => state.desk.place(&caller.name)?,
        };
        state.expect(&ledger, &data);
        let mut session = Session::new(ledger, Some(caller.name.clone())).map_err(Problem::inside)?;
        let _taken_in = state.desk.take_in();
        let unpaid = |error| with_who_spent(state, &data, unpaid(state, error));
        let paid = match plan {
            Prepared::Question(plan) => match session.charge(*plan, Some(key)).map_err(unpaid)? {
                Paid::Charged(charged) => Ok(Work::Scan(charged)),
                Paid::Replayed(release) => Err(release),
            },
            Prepared::Program(ready) => {
                let (plan, work) = ready.apart();
                match session.charge(plan, Some(key)).map_err(unpaid)? {
                    Paid::Charged(charged) => Ok(Work::Program(charged, Box::new(work))),
                    Paid::Replayed(release) => Err(release),
                }
            }
        };
        let charged = match paid {
            Ok(charged) => charged,
            Err(release) => return Ok(Self::Again(again(session.ledger(), caller, &data, &release)?)),
        };
        state.metrics.charges.fetch_add(1, Ordering::SeqCst);
        let charge = match &charged {
            Work::Scan(charged) => charged.charge(),
            Work::Program(charged, _) => charged.charge(),
        };
        let mut accepted = accepted(charge, shown_after);
        accepted.witness = session.ledger().witness(charge.id(), charge.hash()).ok();
        let waiting = Waiting {
            member: caller.name.clone(),
            data_set: data.id.clone(),
            ready_at: charge.time_after(shown_after),
            late_at: charge.time_after(2 * shown_after),
            answer_time: shown_after,
            place: place.clone(),
        };
        state.desk.begin(charge.id(), waiting);
        // Before rows are read. Where it cannot be written, an equal question is charged again.
        let _ = state.answered.put(&data, &asked, charge.id(), &caller.name);
        Ok(Self::Charged { charged, source, session, accepted, place, data: data.id })
    }
}

/// One key, one charge.
pub fn key_taken(line: &str) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, line)
}

fn accepted(charge: &Charge, shown_after: u64) -> Accepted {
    let document = json!({
        "id": charge.id(), "charge": Spent::from(&charge.cost().approx),
        "spent": Spent::from(charge.balance().spent()),
        "remaining": charge.balance().remaining().as_ref().map(Remaining::from),
        "windows": charge.balance().windows.iter().map(WindowStanding::from).collect::<Vec<_>>(),
        "ready_at": charge.time_after(shown_after), "answer_time": shown_after,
    });
    Accepted { status: StatusCode::ACCEPTED, id: charge.id().to_string(), document, witness: None }
}

/// What was answered before costs nothing again.
fn again(
    ledger: &Ledger,
    caller: &Caller,
    data: &DataSource,
    release: &Release,
) -> Result<Accepted, Problem> {
    let Some(receipt) = &release.receipt else {
        return Err(Problem::inside("a stored release has no receipt"));
    };
    let balance = ledger.balance(&data.name, Some(&caller.name))?;
    let document = json!({
        "id": receipt.id, "charge": { "epsilon": "0", "delta": "0" },
        "spent": Spent::from(balance.spent()),
        "remaining": balance.remaining().as_ref().map(Remaining::from),
        "ready_at": receipt.time, "answer_time": data.answer_time,
    });
    let witness = ledger.witness(&receipt.id, &receipt.hash).ok();
    Ok(Accepted { status: StatusCode::OK, id: receipt.id.clone(), document, witness })
}

/// Why it was not paid for; a charge that waits for its answer is not lost.
fn unpaid(state: &State, error: PayError) -> Problem {
    if let PayError::Charge(ChargeError::Lost { id, .. }) = &error
        && let Some((_, ready_at, seconds)) = state.desk.waits(id)
    {
        return Problem::new(
            StatusCode::CONFLICT,
            "this question was charged and its answer is still to come; read it under its id",
        )
        .with("id", id.as_str())
        .with("ready_at", ready_at)
        .after(seconds.max(1));
    }
    error.into()
}
