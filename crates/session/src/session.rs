//! Plan, charge, run: the one flow from a question to a release.
//!
//! # Guarantee
//!
//! - No rows are read before the charge for them is durable: [`Session::run`] takes a [`Charged`], which only
//!   [`Session::charge`] makes, and takes it by value. One charge, one run.
//! - No number becomes public before it is recorded: a [`Release`] exists only with its receipt.
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

pub mod streams;

use crate::{
    answer::{Answer, Group, Item, MOST_TOLD, Named},
    caution,
    gather::Gathered,
    ledger::{Charge, ChargeError, ChargeRequest, Charging, Cost, DataSet, Ledger, LedgerError, Recorded},
    plan::{DataFacts, Part, Plan, RunnerUp},
    quiet::privately,
    release::{Left, Outcome, Promise, Release, Spent},
    rows::Hands,
    source::Source,
    task::Answering,
    unanswered::Unanswered,
};
use equipoise_entropy::{EntropyError, OsCoins};
use serde_json::{Value, json};
use std::{fmt, thread};

/// A ledger, coins, and who asks.
pub struct Session {
    pub(crate) ledger: Ledger,
    pub(crate) coins: OsCoins,
    pub(crate) analyst: Option<String>,
}

/// A plan that has been paid for.
#[derive(Debug)]
#[must_use = "a charge is paid for; run it"]
pub struct Charged {
    plan: Plan,
    charge: Charge,
}

/// What came of paying.
#[derive(Debug)]
pub enum Paid {
    /// Go on and run it.
    Charged(Box<Charged>),
    /// The same request was answered before under this id; nothing was charged.
    Before(Box<Release>),
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

    /// Pay for a plan, durably, or say why not.
    pub fn charge(&mut self, plan: Plan, request_id: Option<String>) -> Result<Paid, PayError> {
        let data_set = DataSet {
            name: plan.data().to_string(),
            unit: plan.charged_for().clone(),
            adjacency: plan.charged_in(),
        };
        let request = ChargeRequest {
            data_set,
            analyst: self.analyst.clone(),
            request_id,
            request: plan.asked().to_string(),
            question: question(&plan).to_string(),
            cost: Cost::from(plan.charge().clone()),
        };
        Ok(match self.ledger.charge(&request)? {
            Charging::Granted(charge) => Paid::Charged(Box::new(Charged { plan, charge })),
            Charging::Replay(recorded) => Paid::Before(Box::new(stored(&recorded)?)),
        })
    }

    /// Read the rows, answer, record. The charge is used up whatever happens.
    pub fn run(&mut self, charged: Charged, source: &dyn Source) -> Result<Release, Unanswered> {
        let Charged { plan, charge } = charged;
        let coins = &mut self.coins;
        let answers = privately(|| {
            let gathered = gather(&plan, source)?;
            Ok(plan.parts().iter().map(|part| part.task().answer(&gathered, coins)).collect())
        })?;
        let (mut release, text) = short_enough(&plan, few_enough(answers, MOST_TOLD), &charge, LONGEST);
        // Until it is recorded nobody sees it; if that fails, the answer is lost.
        let receipt = self.ledger.record(&charge, &text).map_err(Unanswered::Ledger)?;
        release.receipt = Some(receipt);
        Ok(release)
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

/// One scan on all cores, each with coins of its own.
pub(crate) fn gather<'a>(plan: &Plan, source: &'a dyn Source) -> Result<Gathered<'a>, Unanswered> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let own = (0..threads).map(|_| OsCoins::new()).collect::<Result<Vec<_>, _>>();
    let mut own = own.map_err(|_| Unanswered::Coins)?;
    // Also where there is one: only several hands draw the key by which ids are hashed.
    let hands = Hands::<OsCoins>::Several(&mut own);
    Gathered::scan(source, plan.rows(), &plan.needs(), hands)
}

/// What is public about a data set; without a ledger it is not registered.
pub fn facts(ledger: Option<&Ledger>, name: &str, columns: &[String]) -> Result<DataFacts, LedgerError> {
    let registered = match ledger {
        Some(ledger) => ledger.data_set(name)?.map(|data_set| (data_set.unit, data_set.adjacency)),
        None => None,
    };
    Ok(DataFacts { name: name.to_string(), columns: columns.to_vec(), registered, kinds: Vec::new() })
}

/// What the log and explanations say of a plan.
fn question(plan: &Plan) -> Value {
    let guarantee = promise(plan);
    let mut question = json!({
        "statistic": plan.statistic(),
        "column": plan.column(),
        "group_by": plan.group_by(),
        "where": plan.request().filter,
        "rows": plan.rows_words(),
        "mechanism": plan.mechanism(),
        "guarantee": guarantee,
        "expected": plan.expected().words,
    });
    if !plan.is_batch() {
        question["instead"] = plan.parts()[0].runners_up().iter().map(instead).collect();
    }
    if plan.is_batch() {
        let asked = |part: &Part| {
            json!({
                "statistic": part.request().statistic,
                "column": part.request().column,
                "group_by": part.group_by(),
                "mechanism": part.mechanism(),
                "cost": Spent::from(part.cost()),
            })
        };
        question["questions"] = plan.parts().iter().map(asked).collect();
    }
    question
}

/// A mechanism that was not taken, and why.
fn instead(other: &RunnerUp) -> Value {
    json!({
        "mechanism": other.mechanism,
        "possible": other.possible,
        "likely_error": other.likely.map(|likely| likely.error),
        "expected": other.words,
    })
}

pub(crate) fn promise(plan: &Plan) -> Promise {
    let guarantee = plan.guarantee();
    let cost = plan.cost();
    Promise {
        epsilon: cost.eps.to_exact(),
        delta: cost.delta.to_exact(),
        adjacency: guarantee.adjacency.to_string(),
        unit: guarantee.unit.to_string(),
        max_rows_per_unit: plan.rows_per_unit(),
        max_groups_per_unit: plan.groups_per_unit(),
    }
}

fn release(plan: &Plan, mut answers: Vec<Answer>, charge: &Charge) -> Release {
    let (answer, items) = if plan.is_batch() {
        let items: Vec<Item> =
            plan.parts().iter().zip(answers).map(|(part, answer)| item(part, answer)).collect();
        let any = items.iter().any(|item| item.outcome == Outcome::Released);
        let whole = if any {
            Answer { value: Some(Value::Null), ..Answer::refused("") }
        } else {
            Answer::refused("no question has an answer; each says why")
        };
        (whole, Some(items))
    } else {
        (answers.remove(0), None)
    };
    let outcome = answer.outcome();
    let Answer { value, error, rows, advice, groups, several } = answer;
    let items = items.or_else(|| several.map(|several| named(several, plan.column())));
    let balance = charge.balance();
    let whole = Release {
        outcome,
        value: value.unwrap_or_default(),
        value_type: if plan.is_batch() { None } else { plan.parts()[0].answer_type() },
        statistic: plan.statistic().to_string(),
        column: plan.column().map(str::to_string),
        group_by: plan.group_by().to_vec(),
        filter: plan.request().filter.clone(),
        data: plan.data().to_string(),
        mechanism: plan.mechanism(),
        guarantee: promise(plan),
        error,
        rows,
        blocks: None,
        groups,
        answers: items,
        advice: advice.filter(|_| outcome == Outcome::Refused),
        warnings: Vec::new(),
        spent: Spent::from(balance.spent()),
        remaining: balance.remaining().as_ref().map(Left::from),
        receipt: None,
    };
    Release { warnings: caution::of_release(&whole, plan.stated_rows()), ..whole }
}

/// One answer of a batch.
fn item(part: &Part, answer: Answer) -> Item {
    let column = part.request().column.as_deref();
    let item = shaped(&part.request().statistic, column, part.mechanism(), answer);
    let value_type = part.answer_type();
    Item { value_type, group_by: part.group_by().to_vec(), cost: Some(Spent::from(part.cost())), ..item }
}

/// The answers of a summary, which share a price.
fn named(several: Vec<Named>, column: Option<&str>) -> Vec<Item> {
    several.into_iter().map(|one| shaped(one.statistic, column, one.mechanism, one.answer)).collect()
}

pub(crate) fn shaped(statistic: &str, column: Option<&str>, mechanism: &str, answer: Answer) -> Item {
    let outcome = answer.outcome();
    let Answer { value, error, rows, advice, groups, several } = answer;
    Item {
        statistic: statistic.to_string(),
        column: column.map(str::to_string),
        group_by: Vec::new(),
        mechanism: mechanism.to_string(),
        cost: None,
        outcome,
        value: value.unwrap_or_default(),
        value_type: None,
        error,
        rows,
        groups,
        answers: several.map(|several| named(several, column)),
        advice,
    }
}

/// A release that was recorded, with its receipt.
pub(crate) fn stored(recorded: &Recorded) -> Result<Release, PayError> {
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
        source::{Lost, Visitor, Wanted},
    };

    /// Rows that break whoever reads them, with a private number in the message.
    struct Breaking;

    impl Source for Breaking {
        fn columns(&self) -> &[String] {
            &[]
        }

        fn scan(&self, _: &[Wanted], _: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
            panic!("salary 123456")
        }
    }

    fn charged(session: &mut Session) -> Charged {
        let request = Request { epsilon: Some("1".into()), ..Request::new("count") };
        let facts = facts(Some(session.ledger()), "people", &[]).unwrap();
        match session.charge(Plan::new(&request, &facts).unwrap(), None).unwrap() {
            Paid::Charged(charged) => *charged,
            Paid::Before(_) => panic!("no request id was given"),
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
            fn scan(&self, _: &[Wanted], _: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
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
