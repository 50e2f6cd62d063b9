//! Exact audits of whole monitors that end and start again: every path of coins, through the text of the state file,
//! against somebody who picks the next question and the moment of the crash by the answers.

use super::{
    Running,
    log::{Hash, Head, Line, Log, Outcome, Payment, START},
    query::Query,
};
use crate::{gather::tests::Memory, ledger::Receipt};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    interval::Interval,
    monitor::threshold_monitor::{Calibrated, Contributions, Noise, ThresholdMonitor},
    ratio::Ratio,
    tape::{Pmf, delta_between, enumerate},
};

/// What ends the program, and what it remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// After every answer; the log is read again.
    AfterAnswers,
    /// After every answer; the mutant reads nothing and begins with full budgets.
    AfterAnswersAndForgets,
    /// Whenever the drawn answer is positive, before it is on the disk: somebody saw how long it took.
    BeforePositiveAnswers,
    /// The same; the mutant writes questions down together with their answers only, so that a killed one spends nothing.
    BeforePositiveAnswersAndAsksAgain,
}

/// The text of a state file.
struct File {
    text: String,
    hash: Hash,
}

impl File {
    fn begin() -> Self {
        let receipt = Receipt { id: "r".into(), hash: "h".into(), time: "t".into(), ledger: None };
        let head = Head {
            id: "m".into(),
            ledger: "l".into(),
            data: "d".into(),
            request: serde_json::json!({}),
            file: None,
        };
        let mut file = Self { text: String::new(), hash: START };
        file.append(&Line::Head(head));
        file.append(&Line::Payment(Payment { receipt, content: None }));
        file
    }

    fn append(&mut self, line: &Line) {
        let (text, hash) = line.write(&self.hash);
        self.text.push_str(&text);
        self.hash = hash;
    }

    fn log(&self) -> Log {
        Log::read(self.text.as_bytes()).unwrap().unwrap()
    }
}

/// The next question, by the outcomes so far.
fn question(outcomes: &[Outcome]) -> Query {
    let (filter, threshold) = match outcomes.last() {
        None | Some(Outcome::Below) => ("salary in (1, 2)", 2 + outcomes.len() % 2),
        Some(_) => ("salary = 1", 1),
    };
    Query::parse(&format!("{{\"where\": \"{filter}\", \"threshold\": {threshold}}}")).unwrap()
}

/// Who asks sees the outcomes, and of a killed program what it would have said.
fn transcript(
    calibrated: &Calibrated,
    memory: &Memory,
    unit: Option<usize>,
    ends: Ends,
    rounds: usize,
    tape: &mut impl Coins,
) -> Vec<Outcome> {
    let mut file = File::begin();
    let rebuild = |file: &File| Running::rebuild(calibrated, unit, memory, &file.log()).unwrap();
    let mut running = rebuild(&file);
    let mut outcomes = Vec::new();
    for _ in 0..rounds {
        let query = question(&outcomes);
        let bound = query.bind(memory, false).unwrap();
        running.table.load(memory, &bound.wanted).unwrap();
        let early = ends != Ends::BeforePositiveAnswersAndAsksAgain;
        let before = File { text: file.text.clone(), hash: file.hash };
        file.append(&Line::Queries(vec![query]));
        let outcome = running.ask(&bound, tape);
        outcomes.push(outcome);
        match ends {
            Ends::AfterAnswers => {
                file.append(&Line::Answers(vec![outcome]));
                running = rebuild(&file);
            }
            Ends::AfterAnswersAndForgets => {
                file = File::begin();
                running = rebuild(&file);
            }
            Ends::BeforePositiveAnswers | Ends::BeforePositiveAnswersAndAsksAgain
                if outcome == Outcome::Above =>
            {
                if early {
                    running = rebuild(&file);
                    file.append(&Line::Answers(vec![Outcome::Lost]));
                } else {
                    file = before;
                    running = rebuild(&file);
                }
            }
            _ => file.append(&Line::Answers(vec![outcome])),
        }
    }
    outcomes
}

fn monitor() -> (Calibrated, Ratio, Ratio) {
    let (scale, eps) = (Ratio::from(2u64), "0.5".parse().unwrap());
    let monitor = ThresholdMonitor {
        eps: "1".parse().unwrap(),
        delta: "0.01".parse().unwrap(),
        budget: 1,
        contributions: Contributions::Binary,
        noise: Noise::Gumbel,
        adjacency: Adjacency::AddRemove,
    };
    let delta = monitor.delta_upper(&scale, &eps).unwrap();
    (monitor.at_scale(&scale).unwrap(), eps, delta)
}

/// The largest delta over two neighbouring pairs, and the claim. A row is a number and the person it is of.
fn measure(people: bool, ends: Ends, rounds: usize) -> (Interval, Ratio) {
    let (calibrated, eps, claim) = monitor();
    let unit = people.then_some(1);
    let run = |rows: &[(f64, &'static str)]| -> Pmf<Vec<Outcome>> {
        let texts: Vec<&str> = rows.iter().map(|row| row.1).collect();
        let memory = Memory::new(rows.iter().map(|row| row.0).collect(), &texts);
        enumerate(&"1e-12".parse().unwrap(), |tape| {
            transcript(&calibrated, &memory, unit, ends, rounds, tape)
        })
    };
    let others = [(1.0, "ann"), (2.0, "bob")];
    let more: &[(f64, &str)] = &[(1.0, "ann"), (2.0, "bob"), (1.0, "cid"), (2.0, "cid"), (1.0, "cid")];
    let (alone, with): (&[_], &[_]) = if people {
        (&[(1.0, "cid"), (1.0, "cid"), (2.0, "cid")], more)
    } else {
        (&[(1.0, "cid")], &more[..3])
    };
    let empty = delta_between(&eps, &run(&[]), &run(alone));
    (empty.max(&delta_between(&eps, &run(&others), &run(with))), claim)
}

fn holds(people: bool, ends: Ends) {
    let (worst, claim) = measure(people, ends, 7);
    assert!(
        worst.upper() <= claim.clone() + "1e-9".parse::<Ratio>().unwrap(),
        "{ends:?}: {} > {claim}",
        worst.upper()
    );
    assert!(worst.lower() > &claim / &Ratio::from(2u64), "{ends:?}: the audit comes close to the claim");
}

fn caught(people: bool, ends: Ends) {
    let (worst, claim) = measure(people, ends, 9);
    assert!(worst.lower() > claim, "{ends:?}: {} <= {claim}", worst.lower());
}

#[test]
fn exact_audit_restarts_change_nothing() {
    holds(false, Ends::AfterAnswers);
    holds(true, Ends::AfterAnswers);
}

#[test]
fn a_mutant_that_forgets_deletions_after_a_restart_is_caught() {
    caught(false, Ends::AfterAnswersAndForgets);
    caught(true, Ends::AfterAnswersAndForgets);
}

#[test]
fn exact_audit_answers_that_are_lost_on_purpose_are_paid_for() {
    holds(false, Ends::BeforePositiveAnswers);
    holds(true, Ends::BeforePositiveAnswers);
}

#[test]
fn a_mutant_that_asks_again_what_was_lost_is_caught() {
    caught(false, Ends::BeforePositiveAnswersAndAsksAgain);
}

/// A restart gives the very transcript law of a program that never ended.
#[test]
fn the_law_of_answers_is_the_same_with_and_without_restarts() {
    let (calibrated, ..) = monitor();
    let memory = Memory::new(vec![1.0, 2.0, 1.0], &["ann"]);
    let law = |ends| {
        let floor = "1e-12".parse().unwrap();
        let found = enumerate(&floor, |tape| transcript(&calibrated, &memory, None, ends, 4, tape));
        found.iter().map(|(outcomes, mass)| (outcomes.clone(), mass.to_f64())).collect::<Vec<_>>()
    };
    // One that is killed at positive answers deletes as one that answers them: both spend.
    assert_eq!(law(Ends::AfterAnswers), law(Ends::BeforePositiveAnswers));
}

/// Rows of one person as units of their own: what would go wrong if people were not told apart.
#[test]
fn a_mutant_that_takes_each_row_for_a_person_is_caught() {
    let (calibrated, eps, claim) = monitor();
    let run = |rows: usize| {
        let memory = Memory::new(vec![1.0; rows], &["cid"]);
        enumerate(&"1e-12".parse().unwrap(), |tape| {
            transcript(&calibrated, &memory, None, Ends::AfterAnswers, 7, tape)
        })
    };
    assert!(delta_between(&eps, &run(0), &run(3)).lower() > claim);
}
