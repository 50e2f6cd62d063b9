//! Answers from votes: somebody runs a function on blocks of the data, and an aggregator publishes what they agree on.
//!
//! # Guarantee
//!
//! The charge comes first: [`Session::count_votes`] takes a [`ChargedVotes`], which only [`Session::charge_votes`] makes.
//! What is promised holds if entry i of the votes depends on block i of the [partition](Ballot::partition) alone, on
//! nothing else of the data; that is the caller's part. Votes that are missing or not of their kind are a public default.

use super::{PayError, Session, stored};
use crate::{
    answer::{Answer, ErrorBar, ErrorKind},
    ledger::{Charge, ChargeRequest, Charging, Cost, DataSet},
    plan::PlanError,
    quiet::quietly,
    release::{Left, Outcome as Verdict, Promise, Release, Spent},
    source::Lost,
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    coins::Coins,
    loss::{Approx, Delta, Eps, Loss, rho_for},
    outcome::Outcome,
    ratio::Ratio,
    subsample::{
        arg_max::{self, ArgMax},
        ball::{self, Ball},
        blocks,
        clip::DEFAULT_BITS,
        location::{self, Location},
        majority::{self, Majority},
        partition::{self, Design, Partition},
        vectors::{self, Vectors},
    },
};
use serde_json::{Value, json};

/// What the function gives for each block; public.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// One of these options, or any text where there are none.
    Label {
        /// The options, the default first; empty if any text is one.
        options: Vec<String>,
    },
    /// A number without bounds.
    Number {
        /// The vote of a block that failed.
        default: f64,
    },
    /// A vector without bounds, as long as its default.
    Vector {
        /// The vote of a block that failed.
        default: Vec<f64>,
    },
}

/// What was said about a vote; all public.
#[derive(Clone, Debug)]
pub struct Voting {
    /// What is computed, in a word or two, for the log.
    pub name: String,
    /// The name that the budget belongs to.
    pub data: String,
    /// The privacy loss.
    pub eps: Eps,
    /// How often it may be exceeded.
    pub delta: Delta,
    /// What one person may change.
    pub adjacency: Adjacency,
    /// A column that names the person, whose rows then lie in one block; rows are dealt where there is none.
    pub unit: Option<String>,
    /// How many blocks.
    pub blocks: u32,
    /// What the function gives.
    pub output: Output,
    /// The mechanism by name; `None` for auto.
    pub mechanism: Option<String>,
    /// The probability with which an error bar may fail.
    pub failure: Ratio,
}

/// A vote that can be held, with its price.
#[derive(Clone, Debug)]
pub struct Ballot {
    voting: Voting,
    partition: partition::Calibrated,
    aggregator: Aggregator,
    cost: Approx,
}

#[derive(Clone, Debug)]
enum Aggregator {
    Majority(majority::Calibrated),
    ArgMax(Box<arg_max::Calibrated>),
    Location(Box<location::Calibrated>),
    Ball(Box<ball::Calibrated>),
    Vectors(Box<vectors::Calibrated>, Approx),
}

/// What came out of the blocks, one entry for each in their order; `None` where the function failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Votes {
    /// Texts.
    Labels(Vec<Option<String>>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Vectors.
    Vectors(Vec<Option<Vec<f64>>>),
}

/// A ballot that has been paid for.
#[derive(Debug)]
#[must_use = "a charge is paid for; count the votes"]
pub struct ChargedVotes {
    ballot: Ballot,
    charge: Charge,
}

/// What came of paying for a vote.
#[derive(Debug)]
pub enum PaidVotes {
    /// Go on: run the function and count.
    Charged(Box<ChargedVotes>),
    /// The same request was answered before under this id; nothing was charged.
    Before(Box<Release>),
}

impl Ballot {
    /// Understand what was said. Sees no data, so it may fail freely and costs nothing.
    pub fn new(voting: Voting) -> Result<Self, PlanError> {
        let Voting { blocks, adjacency, .. } = voting;
        let design = match &voting.unit {
            Some(_) => Design::People { blocks, rounds: 1 },
            None => Design::Rows { blocks, rounds: 1 },
        };
        let partition = Partition { design, adjacency }.calibrate()?;
        let aggregator = Aggregator::new(&voting, &partition)?;
        let cost = match aggregator.cost() {
            Loss::Approx(cost) => cost,
            Loss::Zcdp(_) | Loss::Renyi(_) => {
                return Err(PlanError::line("this mechanism has no (epsilon, delta) price"));
            }
        };
        Ok(Self { voting, partition, aggregator, cost })
    }

    /// How rows or people get into blocks.
    pub fn partition(&self) -> &partition::Calibrated {
        &self.partition
    }

    /// What the function gives for each block.
    pub fn output(&self) -> &Output {
        &self.voting.output
    }

    /// The name of the aggregator.
    pub fn mechanism(&self) -> &'static str {
        match self.aggregator {
            Aggregator::Majority(_) => "majority",
            Aggregator::ArgMax(_) => "arg-max",
            Aggregator::Location(_) => "winsorized",
            Aggregator::Ball(_) => "ball",
            Aggregator::Vectors(..) => "vectors",
        }
    }

    /// What it will cost.
    pub fn cost(&self) -> &Approx {
        &self.cost
    }

    /// What is promised.
    pub fn promise(&self) -> Promise {
        let unit = self.voting.unit.clone().map_or(Unit::Row, Unit::Column);
        Promise {
            epsilon: self.cost.eps.to_string(),
            delta: self.cost.delta.to_string(),
            adjacency: self.voting.adjacency.to_string(),
            unit: unit.to_string(),
            max_rows_per_unit: None,
            max_groups_per_unit: None,
        }
    }

    fn answer<C: Coins>(&self, votes: Votes, coins: &mut C) -> Result<Answer, Lost> {
        let confidence = (Ratio::one() - &self.voting.failure).to_f64();
        let bar = |low, high| ErrorBar { confidence, kind: ErrorKind::Noise, low, high, ..ErrorBar::exact() };
        let failure = &self.voting.failure;
        Ok(match (&self.aggregator, &self.voting.output, votes) {
            (Aggregator::Majority(aggregator), Output::Label { options }, Votes::Labels(votes)) => {
                let default = options.first().cloned().unwrap_or_default();
                let votes: Vec<String> =
                    blocks::labels(votes, &default)
                        .into_iter()
                        .map(|vote| {
                            if options.is_empty() || options.contains(&vote) { vote } else { default.clone() }
                        })
                        .collect();
                match aggregator.run(&votes, coins) {
                    Outcome::Value(label) => Answer::released(json!(label), ErrorBar::exact()),
                    Outcome::Refused => Answer::refused(REFUSED),
                }
            }
            (Aggregator::ArgMax(aggregator), Output::Label { options }, Votes::Labels(votes)) => {
                let place = |vote: Option<String>| {
                    vote.and_then(|vote| options.iter().position(|option| *option == vote)).unwrap_or(0)
                        as u64
                };
                let votes: Vec<u64> = votes.into_iter().map(place).collect();
                let elected = aggregator.run(&votes, coins).option;
                let label = usize::try_from(elected).ok().and_then(|place| options.get(place)).ok_or(Lost)?;
                Answer::released(json!(label), bar(None, None))
            }
            (Aggregator::Location(aggregator), Output::Number { default }, Votes::Numbers(votes)) => {
                let found = aggregator.run(&blocks::numbers(votes, *default), coins);
                let within = aggregator.accuracy(&found.clip, failure);
                Answer::number(
                    found.value,
                    bar(Some((found.value - within).into()), Some((found.value + within).into())),
                )
            }
            (aggregator, Output::Vector { default }, Votes::Vectors(votes)) => {
                let votes = blocks::vectors(votes, default);
                let value = match aggregator {
                    Aggregator::Ball(aggregator) => match aggregator.run(&votes, coins) {
                        Outcome::Value(found) => found.value,
                        Outcome::Refused => return Ok(Answer::refused(REFUSED)),
                    },
                    Aggregator::Vectors(aggregator, _) => aggregator.run(&votes, coins).value,
                    _ => return Err(Lost),
                };
                if value.iter().all(|number| number.is_finite()) {
                    Answer::released(json!(value), bar(None, None))
                } else {
                    Answer::refused("the answer is beyond what a 64-bit float can hold")
                }
            }
            _ => return Err(Lost),
        })
    }
}

/// What to do after a refusal.
const REFUSED: &str = "the blocks do not agree enough; give the function more rows in a block (fewer blocks), \
                       raise epsilon or delta, or let it give coarser answers";

impl Aggregator {
    fn new(voting: &Voting, partition: &partition::Calibrated) -> Result<Self, PlanError> {
        let touch = partition.touch();
        let (eps, delta) = (voting.eps.clone(), voting.delta.clone());
        let named = voting.mechanism.as_deref().filter(|name| *name != "auto");
        let names: &[&str] = match voting.output {
            Output::Label { .. } => &["majority", "arg-max"],
            Output::Number { .. } => &["winsorized"],
            Output::Vector { .. } => &["ball", "vectors"],
        };
        if let Some(name) = named.filter(|name| !names.contains(name)) {
            return Err(PlanError::unknown("mechanism", name, names));
        }
        match &voting.output {
            Output::Label { options } if named == Some("arg-max") || (named.is_none() && delta.is_zero()) => {
                if options.is_empty() {
                    return Err(PlanError::line(
                        "without a delta the possible labels must be given; give them, or --delta 1e-6",
                    ));
                }
                let arg_max = ArgMax { eps, popularity_eps: None, options: options.len() as u64, touch };
                Ok(Self::ArgMax(Box::new(arg_max.calibrate()?)))
            }
            Output::Label { .. } => Ok(Self::Majority(Majority { eps, delta, touch }.calibrate()?)),
            Output::Number { .. } => {
                let location = Location { eps, bits: DEFAULT_BITS, touch }.calibrate()?;
                Ok(Self::Location(Box::new(location)))
            }
            Output::Vector { default } => Self::vector(&eps, &delta, default.len(), named, touch),
        }
    }

    fn vector(
        eps: &Eps,
        delta: &Delta,
        dimensions: usize,
        named: Option<&str>,
        touch: equipoise_core::subsample::Touch,
    ) -> Result<Self, PlanError> {
        if delta.is_zero() {
            return Err(PlanError::line("a vector needs a delta above 0; give --delta 1e-6"));
        }
        let ball = Ball { eps: eps.clone(), delta: delta.clone(), dimensions, touch }.calibrate();
        let vectors = || -> Result<Self, PlanError> {
            let rho = rho_for(eps, delta)?;
            let found = Vectors { rho, dimensions, bits: DEFAULT_BITS, touch }.calibrate()?;
            Ok(Self::Vectors(Box::new(found), Approx::new(eps, delta)))
        };
        match (named, ball) {
            (Some("vectors"), _) => vectors(),
            (Some(_), ball) => Ok(Self::Ball(Box::new(ball?))),
            (None, Err(error)) => vectors().map_err(|_| error.into()),
            (None, Ok(ball)) => Ok(match vectors() {
                Ok(Self::Vectors(found, cost)) if found.noise_in_spreads() < ball.noise_in_spreads() => {
                    Self::Vectors(found, cost)
                }
                _ => Self::Ball(Box::new(ball)),
            }),
        }
    }

    fn cost(&self) -> Loss {
        match self {
            Self::Majority(aggregator) => aggregator.cost(),
            Self::ArgMax(aggregator) => aggregator.cost(),
            Self::Location(aggregator) => aggregator.cost(),
            Self::Ball(aggregator) => aggregator.cost(),
            Self::Vectors(_, cost) => Loss::Approx(cost.clone()),
        }
    }
}

impl Session {
    /// Pay for a vote, durably, or say why not.
    pub fn charge_votes(
        &mut self,
        ballot: Ballot,
        request_id: Option<String>,
    ) -> Result<PaidVotes, PayError> {
        let voting = &ballot.voting;
        let question = json!({
            "statistic": voting.name,
            "column": Value::Null,
            "mechanism": ballot.mechanism(),
            "guarantee": ballot.promise(),
            "expected": format!("votes of {} blocks", voting.blocks),
        });
        let unit = voting.unit.clone().map_or(Unit::Row, Unit::Column);
        let request = ChargeRequest {
            data_set: DataSet { name: voting.data.clone(), unit, adjacency: voting.adjacency },
            analyst: self.analyst.clone(),
            request_id,
            request: question.to_string(),
            question: question.to_string(),
            cost: Cost::from(ballot.cost.clone()),
        };
        Ok(match self.ledger.charge(&request)? {
            Charging::Granted(charge) => PaidVotes::Charged(Box::new(ChargedVotes { ballot, charge })),
            Charging::Replay(recorded) => PaidVotes::Before(Box::new(stored(&recorded)?)),
        })
    }

    /// Aggregate the votes and record what comes out. The charge is used up whatever happens.
    pub fn count_votes(&mut self, charged: ChargedVotes, votes: Votes) -> Result<Release, Lost> {
        let ChargedVotes { ballot, charge } = charged;
        let coins = &mut self.coins;
        let answer = quietly(|| ballot.answer(votes, coins))?;
        let Answer { value, error, advice, .. } = answer;
        let balance = charge.balance();
        let mut release = Release {
            outcome: if value.is_some() { Verdict::Released } else { Verdict::Refused },
            value: value.unwrap_or_default(),
            value_type: None,
            statistic: ballot.voting.name.clone(),
            filter: None,
            column: None,
            group_by: Vec::new(),
            data: ballot.voting.data.clone(),
            mechanism: ballot.mechanism().to_string(),
            guarantee: ballot.promise(),
            error,
            rows: None,
            groups: None,
            answers: None,
            advice,
            spent: Spent::from(balance.spent()),
            remaining: balance.remaining().as_ref().map(Left::from),
            receipt: None,
        };
        let receipt = self.ledger.record(&charge, &release.to_json().to_string()).map_err(|_| Lost)?;
        release.receipt = Some(receipt);
        Ok(release)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Ledger;

    fn voting(output: Output, delta: &str) -> Voting {
        Voting {
            name: "subsample".into(),
            data: "people".into(),
            eps: "8".parse().unwrap(),
            delta: delta.parse().unwrap(),
            adjacency: Adjacency::AddRemove,
            unit: None,
            blocks: 200,
            output,
            mechanism: None,
            failure: Ratio::new(1, 20),
        }
    }

    fn release(voting: Voting, votes: Votes) -> Release {
        let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        let PaidVotes::Charged(charged) = session.charge_votes(Ballot::new(voting).unwrap(), None).unwrap()
        else {
            panic!("a new request")
        };
        session.count_votes(*charged, votes).unwrap()
    }

    #[test]
    fn agreeing_votes_are_released_and_failures_are_defaults() {
        let label = |text: &str| Some(text.to_string());
        // 200 votes agree: the gate is certain, and another option has a chance of 2e^-800.
        let labels = Votes::Labels(vec![label("blue"); 200]);
        let any = Output::Label { options: vec![] };
        assert_eq!(release(voting(any.clone(), "1e-6"), labels.clone()).value, json!("blue"));
        let given = Output::Label { options: vec!["red".into(), "blue".into()] };
        assert_eq!(release(voting(given.clone(), "0"), labels).value, json!("blue"));
        // Blocks that failed vote for the default.
        let failed = release(voting(given, "0"), Votes::Labels(vec![None; 200]));
        assert_eq!((failed.value, failed.spent.epsilon.as_str()), (json!("red"), "8"));
        assert!(Ballot::new(voting(any, "0")).unwrap_err().to_string().contains("labels must be given"));
    }

    #[test]
    fn votes_that_differ_are_refused_and_still_paid_for() {
        // No two votes agree, so the slack is zero and the gate opens with probability delta at most: 1e-15.
        let labels = Votes::Labels((0..200).map(|i| Some(i.to_string())).collect());
        let refused = release(voting(Output::Label { options: vec![] }, "1e-15"), labels);
        assert_eq!(refused.outcome, Verdict::Refused);
        assert!(refused.advice.unwrap().contains("fewer blocks"));
        assert_eq!(refused.spent.epsilon, "8");
    }

    #[test]
    fn numbers_and_vectors_have_their_aggregators() {
        let number = Ballot::new(voting(Output::Number { default: 0.0 }, "0")).unwrap();
        assert_eq!((number.mechanism(), number.cost().eps.to_string()), ("winsorized", "8".to_string()));
        let vector = voting(Output::Vector { default: vec![0.0; 3] }, "1e-6");
        let chosen = Ballot::new(vector.clone()).unwrap();
        assert!(["ball", "vectors"].contains(&chosen.mechanism()));
        let unfit = Ballot::new(Voting { mechanism: Some("majority".into()), ..vector }).unwrap_err();
        assert!(unfit.to_string().contains("There are: ball, vectors"), "{unfit}");
        let found = release(voting(Output::Number { default: 0.0 }, "0"), Votes::Numbers(vec![None; 200]));
        assert_eq!(found.spent.epsilon, "8");
        // Numbers where labels are due are lost, and paid for.
        let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        let ballot = Ballot::new(voting(Output::Number { default: 0.0 }, "0")).unwrap();
        let PaidVotes::Charged(charged) = session.charge_votes(ballot, None).unwrap() else { panic!("new") };
        assert_eq!(session.count_votes(*charged, Votes::Labels(vec![])), Err(Lost));
    }
}
