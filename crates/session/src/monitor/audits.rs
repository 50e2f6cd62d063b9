//! Exact audits of whole monitors that end and start again: every path of coins, through the text of the state file,
//! against somebody who picks the next question and the moment of the crash by the answers.

use super::{
    Running,
    log::{Hash, Head, Line, Log, Outcome, Payment, START},
    query::Query,
};
use crate::{audits::Memory, ledger::Receipt};
use equipoise_audit::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    monitor::threshold_monitor::{Calibrated, Contributions, Noise, ThresholdMonitor},
    ratio::Ratio,
    tape::{Pmf, enumerate},
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

impl Ends {
    fn words(self) -> &'static str {
        match self {
            Self::AfterAnswers => "ended after every answer",
            Self::AfterAnswersAndForgets => "ended after every answer and begun anew",
            Self::BeforePositiveAnswers => "killed before positive answers",
            Self::BeforePositiveAnswersAndAsksAgain => {
                "killed before positive answers, which are asked again"
            }
        }
    }
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
        Log::read(self.text.as_bytes()).expect("it is well formed").expect("it is well formed")
    }
}

/// The next question, by the outcomes so far.
fn question(outcomes: &[Outcome]) -> Query {
    let (filter, threshold) = match outcomes.last() {
        None | Some(Outcome::Below) => ("salary in (1, 2)", 2 + outcomes.len() % 2),
        Some(_) => ("salary = 1", 1),
    };
    Query::parse(&format!("{{\"where\": \"{filter}\", \"threshold\": {threshold}}}"))
        .expect("it is well formed")
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
    let rebuild =
        |file: &File| Running::rebuild(calibrated, unit, memory, &file.log()).expect("it is well formed");
    let mut running = rebuild(&file);
    let mut outcomes = Vec::new();
    for _ in 0..rounds {
        let query = question(&outcomes);
        let bound = query.bind(memory, false).expect("it is well formed");
        running.table.load(memory, &bound.wanted).expect("it is well formed");
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
    let (scale, eps) = (Ratio::from(2u64), "0.5".parse().expect("it is well formed"));
    let monitor = ThresholdMonitor {
        eps: "1".parse().expect("it is well formed"),
        delta: "0.01".parse().expect("it is well formed"),
        budget: 1,
        contributions: Contributions::Binary,
        noise: Noise::Gumbel,
        adjacency: Adjacency::AddRemove,
    };
    let delta = monitor.delta_upper(&scale, &eps).expect("it is well formed");
    (monitor.at_scale(&scale).expect("it is well formed"), eps, delta)
}

/// A person has a list of numbers, one for each row.
type Person = (&'static str, &'static [u8]);

/// Over files in which a few people have rows: one person with any of some lists comes or goes.
fn measure(people: bool, ends: Ends, rounds: usize) -> Measured {
    let (calibrated, eps, delta) = monitor();
    let unit = people.then_some(1);
    let law = |file: &Vec<Person>| -> Pmf<Vec<Outcome>> {
        let rows = file.iter().flat_map(|(name, rows)| rows.iter().map(move |&row| (row, *name)));
        let (numbers, names): (Vec<f64>, Vec<&str>) = rows.map(|(row, name)| (f64::from(row), name)).unzip();
        enumerate(&"1e-12".parse().expect("a decimal"), |tape| {
            transcript(&calibrated, &Memory::new(numbers.clone(), &names), unit, ends, rounds, tape)
        })
    };
    let others: [Vec<Person>; 3] = [vec![], vec![("ann", &[1])], vec![("ann", &[1]), ("bob", &[2])]];
    let single: &[&[u8]] = &[&[1], &[2], &[3]];
    let several: &[&[u8]] = &[&[1], &[2, 2], &[1, 1, 2], &[1, 2, 1]];
    let mine = if people { several } else { single };
    let pairs = others.iter().flat_map(|file| {
        mine.iter().map(move |&rows| (file.clone(), [&file[..], &[("cid", rows)]].concat()))
    });
    let over = if people {
        "three files, in which one person has any of four lists of rows"
    } else {
        "three files and each record that may come"
    };
    let found = Claim::new(eps, delta, Adjacency::AddRemove).over_inputs(over, pairs, law);
    let unit = if people { "people" } else { "rows" };
    found.case(format!("{unit}, {rounds} questions, {}", ends.words()))
}

pub(crate) static MONITOR_FILES: Audit = Audit {
    name: "monitor-files",
    about: "monitors that end and start again from their state file, killed at the worst moments",
    source: "every path of coins, through the text of the file, against questions chosen by the answers",
    kind: Kind::Claim {
        shipped: || {
            [false, true]
                .into_iter()
                .flat_map(|people| {
                    [Ends::AfterAnswers, Ends::BeforePositiveAnswers].map(|ends| (people, ends))
                })
                .map(|(people, ends)| measure(people, ends, 7))
                .collect()
        },
        change: "a restart forgets: what was killed before its answer was written is asked again for free, or all budgets are full again",
        mutant: || {
            vec![
                measure(false, Ends::BeforePositiveAnswersAndAsksAgain, 9),
                measure(false, Ends::AfterAnswersAndForgets, 9),
                measure(true, Ends::AfterAnswersAndForgets, 9),
            ]
        },
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_core::tape::delta_between;

    #[test]
    fn every_mutant_that_forgets_is_caught() {
        let Kind::Claim { mutant, .. } = MONITOR_FILES.kind else { panic!("a claim") };
        assert!(mutant().iter().all(Measured::refuted));
    }

    /// A restart gives the very transcript law of a program that never ended.
    #[test]
    fn the_law_of_answers_is_the_same_with_and_without_restarts() {
        let (calibrated, ..) = monitor();
        let memory = Memory::new(vec![1.0, 2.0, 1.0], &["ann"]);
        let law = |ends| {
            let floor = "1e-12".parse().expect("it is well formed");
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
            enumerate(&"1e-12".parse().expect("a decimal"), |tape| {
                transcript(&calibrated, &memory, None, Ends::AfterAnswers, 7, tape)
            })
        };
        assert!(delta_between(&eps, &run(0), &run(3)).lower() > claim);
    }
}
