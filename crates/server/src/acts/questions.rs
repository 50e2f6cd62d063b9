//! Plans, which are free, and questions, which are charged: plan, charge, answer at once that it was charged, then read rows.

use super::{allow, found};
use crate::{
    authorise::{Act, Caller},
    desk::{Place, Waiting},
    problem::Problem,
    rate::Counted,
    state::State,
    store::DataSource,
};
use axum::http::StatusCode;
use equipoise_session::{
    batch::Batch,
    ledger::{ChargeError, Ledger},
    plan::{DataFacts, Plan},
    release::{Release, Remaining, Spent},
    request::Request,
    session::{self, Charged, Paid, PayError, Session},
    source::Source,
};
use serde_json::{Value, json};
use std::{sync::Arc, thread};
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
}

impl Question {
    /// Read the document of a question or of a batch.
    pub fn from_json(text: &str) -> Result<Self, Problem> {
        let is_batch =
            serde_json::from_str::<Value>(text).is_ok_and(|document| document.get("questions").is_some());
        if is_batch {
            let batch = Batch::from_json(text)?;
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

    fn text(&self) -> String {
        match self {
            Self::One(request) => request.to_json(),
            Self::Several(batch) => batch.to_json(),
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
        }
    }

    /// How CSV is read is the steward's to say.
    fn read_as_registered(&self) -> Result<(), Problem> {
        let request = match self {
            Self::One(request) => request,
            Self::Several(batch) => &batch.shared,
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
    let (plan, _) = planned(state, &ledger, &data, question)?;
    let balance = ledger.balance(&data.name, Some(&caller.name))?;
    Ok(plan.summary().document(Some(&balance)))
}

fn planned(
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
}

/// Ask: charge, and answer as soon as that is durable. Rows are read afterwards, whoever waits or not.
pub async fn ask(
    state: Arc<State>,
    caller: Caller,
    id: String,
    key: String,
    question: Question,
) -> Result<Accepted, Problem> {
    let (reply, answered) = oneshot::channel();
    let work = move || {
        let asking = match Asking::begin(&state, &caller, &id, &key, &question) {
            Ok(asking) => asking,
            Err(problem) => return drop(reply.send(Err(problem))),
        };
        match asking {
            Asking::Again(accepted) => drop(reply.send(Ok(accepted))),
            Asking::Charged { charged, source, mut session, accepted, place, data } => {
                let charge = accepted.id.clone();
                // A connection that was closed meanwhile changes nothing.
                drop(reply.send(Ok(accepted)));
                state.desk.scan(&charge, &data, || session.answer(*charged, &*source));
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

/// A question that was taken in.
enum Asking {
    /// It was answered before under this key.
    Again(Accepted),
    /// It is charged; rows can be read.
    Charged {
        charged: Box<Charged>,
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
    ) -> Result<Self, Problem> {
        let data = found(state, id)?;
        allow(caller, Act::Ask(&data))?;
        state.limiter.count(&caller.name, Counted::Question)?;
        question.read_as_registered()?;
        let _underway = state.desk.underway(&caller.name, key)?;
        let ledger = state.ledger()?;
        let before = session::replayed(&ledger, &data.name, Some(&caller.name), key, &question.text());
        if let Some(release) = before.map_err(|error| unpaid(state, error))? {
            return Ok(Self::Again(again(&ledger, caller, &data, &release)?));
        }
        if ledger.balance(&data.name, None)?.data_set.limit.is_none() {
            return Err(
                Problem::forbidden("no limit was set on this data; its steward sets one first").exit(4)
            );
        }
        let (plan, source) = planned(state, &ledger, &data, question)?;
        let place = state.desk.place(&caller.name)?;
        state.expect(&ledger, &data);
        let mut session = Session::new(ledger, Some(caller.name.clone())).map_err(Problem::inside)?;
        let charged = match session.charge(plan, Some(key)).map_err(|error| unpaid(state, error))? {
            Paid::Charged(charged) => charged,
            Paid::Replayed(release) => {
                return Ok(Self::Again(again(session.ledger(), caller, &data, &release)?));
            }
        };
        let accepted = accepted(&charged, &data);
        let charge = charged.charge();
        let waiting = Waiting {
            member: caller.name.clone(),
            data_set: data.id.clone(),
            ready_at: charge.time_after(data.answer_time),
            late_at: charge.time_after(2 * data.answer_time),
            answer_time: data.answer_time,
            place: place.clone(),
        };
        state.desk.begin(charge.id(), waiting);
        Ok(Self::Charged { charged, source, session, accepted, place, data: data.id })
    }
}

fn accepted(charged: &Charged, data: &DataSource) -> Accepted {
    let charge = charged.charge();
    let document = json!({
        "id": charge.id(), "charge": Spent::from(&charge.cost().approx),
        "spent": Spent::from(charge.balance().spent()),
        "remaining": charge.balance().remaining().as_ref().map(Remaining::from),
        "ready_at": charge.time_after(data.answer_time), "answer_time": data.answer_time,
    });
    Accepted { status: StatusCode::ACCEPTED, id: charge.id().to_string(), document }
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
    Ok(Accepted { status: StatusCode::OK, id: receipt.id.clone(), document })
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
