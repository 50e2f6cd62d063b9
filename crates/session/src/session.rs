//! Plan, charge, run: the one flow from a question to a release.
//!
//! # Guarantee
//!
//! - No rows are read before the charge for them is durable: [`Session::answer`] takes a [`Charged`], which only
//!   [`Session::charge`] makes, and takes it by value. One charge, one answer.
//! - No number becomes public before it is recorded: an answer is [`Held`] until [`Session::record`] makes a [`Release`] of it, and
//!   nobody can look into that.
//! - The coins of a session are its own, keyed by the operating system; nobody hands in others.
//! - What fails after the charge is [`Unanswered`], which names what failed and nothing that rows held.
//!
//! ```compile_fail
//! # fn twice(session: &mut equipoise_session::session::Session,
//! #     charged: equipoise_session::session::Charged, source: &dyn equipoise_session::source::Source) {
//! session.run(charged, source);
//! session.run(charged, source);
//! # }
//! ```

use crate::{
    answer::{Answer, BatchAnswer, Group, MOST_TOLD, item_of},
    caution,
    elsewhere::{Elsewhere, Engine, Pass},
    gather::ScanResult,
    ledger::{
        AskedWindows, Charge, ChargeError, ChargeRequest, Charging, Cost, DataSet, Ledger, LedgerError,
        Recorded,
    },
    plan::{DataFacts, Part, Plan},
    planned::PlanSummary,
    quiet::privately,
    release::{Outcome, Release, Spent},
    rows::ScanKeys,
    source::Source,
    unanswered::Unanswered,
};
use equipoise_core::loss::Approx;
use equipoise_entropy::{EntropyError, OsCoins};
use serde_json::Value;
use std::{cell::RefCell, fmt, thread};

/// What can be paid for: questions, votes, a monitor, a stream. One shape of a charge for all of them.
pub trait Priced {
    /// The data set whose budget is charged, in the unit and adjacency in which it counts.
    fn data_set(&self) -> DataSet;

    /// What was said, as one text: what is charged, hashed and kept.
    fn asked(&self) -> String;

    /// What is known before any row is read; the ledger keeps it beside the charge.
    fn summary(&self) -> PlanSummary;

    /// What will be charged.
    fn price(&self) -> Approx;

    /// The calendar windows whose rows alone it is about; none where its plan has no such filter.
    fn windows(&self) -> Option<AskedWindows> {
        None
    }

    /// What the ledger is asked for.
    fn charge_request(&self, analyst: Option<&str>, request_id: Option<&str>) -> ChargeRequest {
        ChargeRequest {
            data_set: self.data_set(),
            analyst: analyst.map(str::to_string),
            request_id: request_id.map(str::to_string),
            request: self.asked(),
            question: self.summary().to_text(),
            cost: Cost::from(self.price()),
            windows: self.windows(),
        }
    }
}

impl Priced for Plan {
    fn data_set(&self) -> DataSet {
        DataSet {
            name: self.data().to_string(),
            unit: self.charged_for().clone(),
            adjacency: self.charged_in(),
        }
    }

    fn asked(&self) -> String {
        Plan::asked(self).to_string()
    }

    fn summary(&self) -> PlanSummary {
        Plan::summary(self)
    }

    fn price(&self) -> Approx {
        self.charge().clone()
    }

    fn windows(&self) -> Option<AskedWindows> {
        Plan::windows(self).cloned()
    }
}

/// A ledger, coins, and who asks.
pub struct Session {
    pub(crate) ledger: Ledger,
    pub(crate) coins: OsCoins,
    pub(crate) analyst: Option<String>,
}

/// A plan that has been paid for.
#[derive(Debug)]
#[must_use = "a charge is paid for; run it"]
pub struct Charged<P = Plan> {
    pub(crate) plan: P,
    pub(crate) charge: Charge,
}

impl<P> Charged<P> {
    /// What was paid, and what is spent and left with it.
    pub fn charge(&self) -> &Charge {
        &self.charge
    }
}

/// What came of paying.
#[derive(Debug)]
pub enum Paid<P = Plan> {
    /// Go on and run it.
    Charged(Box<Charged<P>>),
    /// The same request was answered before under this id; nothing was charged.
    Replayed(Box<Release>),
}

/// An answer that nobody has seen yet: it becomes a release by being recorded, once, or it is lost. What it holds cannot be looked
/// at, so that whoever keeps it back, to record it at a time that says nothing of the rows, has nothing to tell.
///
/// ```compile_fail
/// # fn peek(held: equipoise_session::session::Held) -> impl Sized {
/// held.release
/// # }
/// ```
#[must_use = "an answer that is not recorded is lost"]
pub struct Held {
    release: Release,
    text: String,
    charge: Charge,
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("charge", &self.charge.id()).finish_non_exhaustive()
    }
}

impl Held {
    pub(crate) fn new(release: Release, charge: Charge) -> Self {
        let text = release.to_text();
        Self { release, text, charge }
    }
}

impl Session {
    /// A session with this ledger.
    pub fn new(ledger: Ledger, analyst: Option<String>) -> Result<Self, SessionError> {
        Ok(Self { ledger, coins: OsCoins::new()?, analyst })
    }

    /// The ledger.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The same, to enter data sets, limits and charges for what is not a question.
    pub fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    /// The answer that was given for this text of a request under this id: [`replayed`].
    pub fn replayed(&self, data: &str, request_id: &str, asked: &str) -> Result<Option<Release>, PayError> {
        replayed(&self.ledger, data, self.analyst.as_deref(), request_id, asked)
    }

    /// Pay for a plan, durably, or say why not.
    pub fn charge<P: Priced>(&mut self, plan: P, request_id: Option<&str>) -> Result<Paid<P>, PayError> {
        let request = plan.charge_request(self.analyst.as_deref(), request_id);
        Ok(match self.ledger.charge(&request)? {
            Charging::Granted(charge) => Paid::Charged(Box::new(Charged { plan, charge })),
            Charging::Replay(recorded) => Paid::Replayed(Box::new(stored(&recorded)?)),
        })
    }

    /// The same for a plan about a relation of several data sets: the others pay the whole price too, all in one transaction or none. Their
    /// charges are recorded with the release ([`Self::record_for`]).
    pub fn charge_together(
        &mut self,
        plan: Plan,
        request_id: Option<&str>,
        others: &[DataSet],
    ) -> Result<(Paid, Vec<Charge>), PayError> {
        let request = plan.charge_request(self.analyst.as_deref(), request_id);
        let (charging, others) = self.ledger.charge_together(&request, others)?;
        Ok(match charging {
            Charging::Granted(charge) => (Paid::Charged(Box::new(Charged { plan, charge })), others),
            Charging::Replay(recorded) => (Paid::Replayed(Box::new(stored(&recorded)?)), others),
        })
    }

    /// Write a release down for the other data sets that paid for it.
    pub fn record_for(&mut self, others: &[Charge], release: &Release) -> Result<(), Unanswered> {
        let text = Release { receipt: None, ..release.clone() }.to_text();
        for charge in others {
            self.ledger.record(charge, &text).map_err(Unanswered::Ledger)?;
        }
        Ok(())
    }

    /// The same so many seconds after the charges, as [`Self::record_after`] does.
    pub fn record_for_after(
        &mut self,
        others: &[Charge],
        release: &Release,
        seconds: u64,
    ) -> Result<(), Unanswered> {
        let text = Release { receipt: None, ..release.clone() }.to_text();
        for charge in others {
            self.ledger.record_after(charge, &text, seconds).map_err(Unanswered::Ledger)?;
        }
        Ok(())
    }

    /// Read the rows, answer, record. The charge is used up whatever happens.
    pub fn run(&mut self, charged: Charged, source: &dyn Source) -> Result<Release, Unanswered> {
        let held = self.answer(charged, source)?;
        self.record(held)
    }

    /// Read the rows and answer. Nobody sees the answer before it is recorded.
    pub fn answer(&mut self, charged: Charged, source: &dyn Source) -> Result<Held, Unanswered> {
        let Charged { plan, charge } = charged;
        let coins = &mut self.coins;
        let answers = privately(|| {
            let gathered = gather(&plan, source)?;
            Ok(plan.answers(&gathered, coins))
        })?;
        let (release, text) = short_enough(&plan, few_enough(answers, MOST_TOLD), &charge, LONGEST);
        Ok(Held { release, text, charge })
    }

    /// The same where the rows lie in an engine elsewhere, which counts what is asked for. Nothing of the law of answers depends on it.
    pub fn answer_elsewhere(
        &mut self,
        charged: Charged,
        engine: &mut dyn Engine,
    ) -> Result<Held, Unanswered> {
        let Charged { plan, charge } = charged;
        let coins = &mut self.coins;
        let answers = privately(|| {
            let key = ScanKeys::new(1, coins).run_key();
            engine.begin(&key).map_err(|_| Unanswered::Data)?;
            let engine = RefCell::new(engine);
            let runs = |pass: &Pass| engine.borrow_mut().pass(pass);
            Ok(plan.answers(&Elsewhere::new(&runs), coins))
        })?;
        let (release, text) = short_enough(&plan, few_enough(answers, MOST_TOLD), &charge, LONGEST);
        Ok(Held { release, text, charge })
    }

    /// Write an answer down, and only then show it. If that fails, it is lost.
    pub fn record(&mut self, held: Held) -> Result<Release, Unanswered> {
        let Held { release, text, charge } = held;
        let receipt = self.ledger.record(&charge, &text).map_err(Unanswered::Ledger)?;
        Ok(Release { receipt: Some(receipt), ..release })
    }

    /// The same so many seconds after its charge, by the time that is written down: whoever waits until then shows nothing of how
    /// long the rows took.
    pub fn record_after(&mut self, held: Held, seconds: u64) -> Result<Release, Unanswered> {
        let Held { release, text, charge } = held;
        let receipt = self.ledger.record_after(&charge, &text, seconds).map_err(Unanswered::Ledger)?;
        Ok(Release { receipt: Some(receipt), ..release })
    }
}

/// The longest text of an answer that a ledger keeps, in bytes: an entry can be read again in a small memory.
const LONGEST: usize = 256 << 20;
const TOO_LONG: &str = "the answers are longer than the ledger keeps (256 MiB); ask about shorter or fewer keys, or state the `keys`";

/// All questions of a release together tell at most so many answers for groups: the others are refused. Which keys are told is
/// paid for already, and so is their number.
fn few_enough(answers: Vec<Answer>, most: usize) -> Vec<Answer> {
    let mut told = 0;
    let fits = |answer: Answer| {
        let groups = answer.groups.iter().flatten().map(Group::told).sum::<usize>();
        if told + groups > most {
            return Answer::too_many_groups();
        }
        told += groups;
        answer
    };
    answers.into_iter().map(fits).collect()
}

/// A release and its text, which is at most so long: a longer one is refused. It is made of what is paid for already.
fn short_enough(plan: &Plan, answers: Vec<Answer>, charge: &Charge, longest: usize) -> (Release, String) {
    let whole = release(plan, answers, charge);
    let text = whole.to_text();
    if text.len() <= longest {
        return (whole, text);
    }
    let refused = plan.parts().iter().map(|_| Answer::refused(TOO_LONG)).collect();
    let refused = release(plan, refused, charge);
    let text = refused.to_text();
    (refused, text)
}

/// One scan on all cores, with fresh keys.
pub(crate) fn gather<'a>(plan: &Plan, source: &'a dyn Source) -> Result<ScanResult<'a>, Unanswered> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut coins = OsCoins::new().map_err(|_| Unanswered::Coins)?;
    ScanResult::scan(source, plan.rows(), &plan.needs(), &ScanKeys::new(threads, &mut coins))
}

/// The answer that was given for this text of a request under this id, before anything is planned: what an earlier version answered is
/// given again under stricter rules too. Nothing is charged.
pub fn replayed(
    ledger: &Ledger,
    data: &str,
    analyst: Option<&str>,
    request_id: &str,
    asked: &str,
) -> Result<Option<Release>, PayError> {
    ledger.answered(data, analyst, request_id, asked)?.as_ref().map(stored).transpose()
}

/// What is public about a data set; without a ledger it is not registered.
pub fn facts(ledger: Option<&Ledger>, name: &str, columns: &[String]) -> Result<DataFacts, LedgerError> {
    let registered = match ledger {
        Some(ledger) => ledger.data_set(name)?.map(|data_set| (data_set.unit, data_set.adjacency)),
        None => None,
    };
    let renewing = ledger.map(|ledger| ledger.renewing(name)).transpose()?.flatten();
    let windows = renewing.map(|renewing| renewing.windows).filter(|windows| windows.day.is_some());
    Ok(DataFacts {
        name: name.to_string(),
        columns: columns.to_vec(),
        registered,
        kinds: Vec::new(),
        windows,
    })
}

fn release(plan: &Plan, answers: Vec<Answer>, charge: &Charge) -> Release {
    let summary = plan.summary();
    let about = |(part, answer): (&Part, Answer)| answer.on(plan.about_people(part).as_ref());
    let mut answers: Vec<Answer> = plan.parts().iter().zip(answers).map(about).collect();
    // Of what is paid for: how long it takes tells no more than the answers do.
    let next_step = plan.instead(&answers).or_else(|| plan.of_all_rows());
    let whole = if plan.is_batch() {
        let items: Vec<BatchAnswer> =
            plan.parts().iter().zip(answers).map(|(part, answer)| item(part, answer)).collect();
        let any = items.iter().any(|item| item.outcome == Outcome::Released);
        let answer = if any {
            Answer { value: Some(Value::Null), ..Answer::refused("") }
        } else {
            Answer::refused("no question has an answer; each says why")
        };
        Release { answers: Some(items), ..Release::of(&summary, answer, charge) }
    } else {
        let one = Release::of(&summary, answers.remove(0), charge);
        Release { keys_from: one.groups.as_ref().and_then(|_| plan.parts()[0].keys_from()), ..one }
    };
    let next_step = next_step.map(|step| step.under(whole.remaining.as_ref()));
    let types = plan.parts().iter().flat_map(|part| part.request().types.clone()).collect();
    Release { next_step, types, warnings: caution::of_release(&whole, plan.stated_rows()), ..whole }
}

/// One answer of a batch.
fn item(part: &Part, answer: Answer) -> BatchAnswer {
    let column = part.request().column_words();
    let item = item_of(&part.request().statistic, column.as_deref(), part.mechanism(), answer);
    let value_type = part.answer_type();
    BatchAnswer {
        value_type,
        keys_from: item.groups.as_ref().and_then(|_| part.keys_from()),
        group_by: part.group_by().to_vec(),
        cost: Some(Spent::from(part.cost())),
        ..item
    }
}

/// A release that was recorded, with its receipt.
pub fn stored(recorded: &Recorded) -> Result<Release, PayError> {
    let release: Result<Release, _> = serde_json::from_str(&recorded.release);
    let release = release.map_err(|_| PayError::Unreadable { receipt: recorded.receipt.id.clone() })?;
    Ok(Release { receipt: Some(recorded.receipt.clone()), ..release })
}

/// A plan could not be paid for. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PayError {
    /// The ledger does not grant it.
    Charge(ChargeError),
    /// The request was answered before, in a form that only another version reads.
    Unreadable {
        /// The receipt of that answer.
        receipt: String,
    },
}

impl PayError {
    /// The exit code of the command line.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Charge(error) => error.exit_code(),
            Self::Unreadable { .. } => 1,
        }
    }
}

impl fmt::Display for PayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Charge(error) => error.fmt(f),
            Self::Unreadable { receipt } => write!(
                f,
                "the stored answer of receipt {receipt} was written by another version; read it with 'equipoise budget log --json'"
            ),
        }
    }
}

impl std::error::Error for PayError {}

impl From<ChargeError> for PayError {
    fn from(error: ChargeError) -> Self {
        Self::Charge(error)
    }
}

/// A session could not begin. `Display` is one line.
#[derive(Debug)]
pub struct SessionError(EntropyError);

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for SessionError {}

impl From<EntropyError> for SessionError {
    fn from(error: EntropyError) -> Self {
        Self(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bar::ErrorBar,
        gather::tests::Memory,
        request::Request,
        source::{ColumnRead, Lost, Visitor},
    };
    use serde_json::json;

    /// Rows that break whoever reads them, with a private number in the message.
    struct Breaking;

    impl Source for Breaking {
        fn columns(&self) -> &[String] {
            &[]
        }

        fn scan(&self, _: &[ColumnRead], _: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
            panic!("salary 123456")
        }
    }

    fn charged(session: &mut Session) -> Charged {
        let request = Request { epsilon: Some("1".into()), ..Request::new("count") };
        let facts = facts(Some(session.ledger()), "people", &[]).unwrap();
        match session.charge(Plan::new(&request, &facts).unwrap(), None).unwrap() {
            Paid::Charged(charged) => *charged,
            Paid::Replayed(_) => panic!("no request id was given"),
        }
    }

    #[test]
    fn what_fails_after_the_charge_is_lost_without_a_reason_and_stays_charged() {
        let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        let mut memory = Memory::new(vec![1.0; 5], &["a"]);
        memory.readable = false;
        for source in [&memory as &dyn Source, &Breaking] {
            let paid = charged(&mut session);
            assert_eq!(session.run(paid, source), Err(Unanswered::Data));
        }
        memory.readable = true;
        let paid = charged(&mut session);
        let release = session.run(paid, &memory).unwrap();
        assert_eq!(release.spent.epsilon, "3", "the lost ones are not given back");
        let verified = session.ledger().verify(None).unwrap();
        assert_eq!((verified.charges, verified.recorded, verified.lost), (3, 1, 2));
    }

    fn of_groups(many: usize) -> Answer {
        let group = |place: usize| Answer::released(json!(place), ErrorBar::exact()).into_group(&vec![None]);
        Answer::grouped((0..many).map(group).collect(), String::new)
    }

    #[test]
    fn questions_that_tell_too_many_groups_together_are_refused_from_there_on() {
        let told = few_enough([3, 4, 1, 0].map(of_groups).to_vec(), 5);
        let groups = |answer: &Answer| answer.groups.as_ref().map(Vec::len);
        assert_eq!(told.iter().map(groups).collect::<Vec<_>>(), [Some(3), None, Some(1), Some(0)]);
        assert!(told[1].advice.as_ref().unwrap().starts_with("more than 1000000 answers"), "{told:?}");
    }

    #[test]
    fn an_answer_that_is_too_long_to_keep_is_a_refusal() {
        let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        let Charged { plan, charge } = charged(&mut session);
        let kept = |longest| short_enough(&plan, vec![of_groups(9)], &charge, longest);
        let (whole, text) = kept(LONGEST);
        assert_eq!((whole.outcome, whole.groups.as_ref().map(Vec::len)), (Outcome::Released, Some(9)));
        assert!(kept(text.len()) == (whole, text.clone()));
        let (refused, shorter) = kept(text.len() - 1);
        assert_eq!((refused.outcome, refused.groups.is_none()), (Outcome::Refused, true));
        assert!(shorter.contains("256 MiB") && shorter == refused.to_text());
    }

    #[test]
    fn a_column_that_cannot_be_read_is_refused_for_free_wherever_it_is_named() {
        struct Lists([String; 2]);
        impl Source for Lists {
            fn columns(&self) -> &[String] {
                &self.0
            }
            fn unreadable(&self, column: usize) -> Option<String> {
                (column == 1).then(|| "lists cannot be asked about".to_string())
            }
            fn scan(&self, _: &[ColumnRead], _: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
                Err(Lost)
            }
        }
        let source = Lists(["a".to_string(), "tags".to_string()]);
        let facts = facts(None, "people", source.columns()).unwrap();
        let count = || Request { epsilon: Some("1".into()), ..Request::new("count") };
        let readable = |request: Request| Plan::new(&request, &facts).unwrap().readable_in(&source);
        assert_eq!(readable(Request { column: Some("a".into()), ..count() }), Ok(()));
        for request in [
            Request { column: Some("tags".into()), ..count() },
            Request { filter: Some("tags = 'x'".into()), ..count() },
            Request { unit: Some("tags".into()), max_rows_per_unit: Some("2".into()), ..count() },
        ] {
            assert_eq!(readable(request).unwrap_err().to_string(), "lists cannot be asked about");
        }
    }
}
