//! Values that a function comes down to when a few rows are removed: by the shifted inverse where the caller knows how far removals
//! bring it down, by trying all subsets where nothing is known.

use super::{
    Found, missing,
    said::{MOST, Said, finite, number, positive},
};
use crate::{
    answer::Answer,
    bar::{Condition, ErrorBar},
    error::PlanError,
    statistic::Argument,
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    coins::Coins,
    loss::{Loss, ParameterError},
    mechanism::{
        black_box::{self, BlackBox, Rows},
        shifted_inverse::{self, Answers, ShiftedInverse},
    },
    outcome::Outcome,
    ratio::Ratio,
    wording,
};

/// The answers that were said: a list, or steps over a range.
fn answers(said: &Said<'_>) -> Result<Answers, PlanError> {
    if let Some(list) = &said.request.answers {
        if list.len() as u64 > MOST {
            let accepted = "give at most 65536, or a range and a step";
            return Err(ParameterError::out_of_range("answers", list.len(), accepted).into());
        }
        return Ok(Answers::List(list.iter().map(|text| number("answers", text)).collect::<Result<_, _>>()?));
    }
    let Some((first, width)) = said.range()? else {
        return Err(PlanError::about(Argument::Range, "which answers can be given?")
            .hint("give `range` and step, or a list of answers"));
    };
    let why = "answers over a range are so far apart";
    let step = positive("step", said.request.step.as_ref(), why, "give step, such as 1")?;
    let count = (width / &step).floor_i64().and_then(|steps| u64::try_from(steps).ok()).ok_or_else(|| {
        ParameterError::out_of_range("step", &step, "the range has too many; give a larger one")
    })?;
    Ok(Answers::Even { first, step, count: count + 1 })
}

/// Beyond the answers nothing is told apart.
const WITHIN: &str = "if the values lie between the first and the last answer";

/// The answer with where the number lies that it is about: after the answer before it, up to the answer itself.
fn answered(answers: &Answers, value: &Ratio, confidence: f64, of: String) -> Answer {
    let place = answers.first_not_below(value);
    let before = if place == 0 { value.clone() } else { answers.value(place - 1) };
    let within = Condition::Given(WITHIN.to_string());
    let bar = ErrorBar::noise(confidence, before.to_f64(), value.to_f64()).about(of).on(within);
    Answer::number(value.to_f64(), bar)
}

/// The shifted inverse of a function whose fall is stated.
#[derive(Clone, Debug)]
pub(super) struct Fallen {
    mechanism: shifted_inverse::Calibrated,
    confidence: f64,
}

impl Fallen {
    pub fn plan(said: &Said<'_>) -> Result<Self, PlanError> {
        let answers = answers(said)?;
        let mechanism = ShiftedInverse { eps: said.eps.clone(), answers, beta: said.failure.clone() };
        Ok(Self { mechanism: mechanism.calibrate()?, confidence: said.confidence })
    }

    pub fn cost(&self) -> Loss {
        self.mechanism.cost()
    }

    /// After how many removals at most the caller says what the function comes down to.
    pub fn removals(&self) -> u64 {
        self.mechanism.limit()
    }

    pub fn stated() -> Vec<String> {
        vec![
            "a function that never falls when a row is added".to_string(),
            "what it comes down to at least after each number of removals".to_string(),
        ]
    }

    pub fn expected(&self) -> String {
        format!(
            "one of {} answers, between the value and what it comes down to without at most {} rows; never refused",
            self.mechanism.answers().count(),
            self.removals()
        )
    }

    pub fn answer<C: Coins>(&self, found: &Found, coins: &mut C) -> Option<Answer> {
        let least: Vec<Ratio> = found.numbers.iter().copied().map(finite).collect::<Option<_>>()?;
        if least.len() as u64 != self.removals() + 1 {
            return None;
        }
        let value = self.mechanism.run_least_after(&least, coins);
        let of = format!(
            "a number between the value and what it comes down to without at most {} rows",
            self.removals()
        );
        let answer = answered(self.mechanism.answers(), &value, self.confidence, of);
        let reach = Condition::Given(match self.mechanism.shift() {
            0 => "if the value is at most the last answer".to_string(),
            1 => "if one removal brings the value down to the last answer".to_string(),
            removals => format!("if {removals} removals bring the value down to the last answer"),
        });
        Some(Answer { error: answer.error.map(|bar| bar.on(reach)), ..answer })
    }
}

/// Any function, on all subsets that lack a few rows.
#[derive(Clone, Debug)]
pub(super) struct Subsets {
    mechanism: black_box::Calibrated,
    answers: Answers,
    /// How many rows there are, where that is public.
    rows: Option<u64>,
    evaluations: u64,
    confidence: f64,
}

/// Evaluations where nobody says.
const EVALUATIONS: u64 = 100_000;

impl Subsets {
    pub fn plan(said: &Said<'_>) -> Result<Self, PlanError> {
        if let Unit::Column(name) = &said.unit {
            let name = wording::shown(name);
            let problem =
                format!("subsets lack single rows, and what is promised is for all rows of one {name}");
            return Err(
                PlanError::line(problem).hint("make one row of each person first, and leave the unit out")
            );
        }
        let answers = answers(said)?;
        let evaluations = said.request.evaluations.unwrap_or(EVALUATIONS);
        let (rows, known, eps, bounds) = match said.adjacency {
            Adjacency::Replace => {
                let hint = "give rows, or use `adjacency=add-remove`";
                let count =
                    said.request.rows.ok_or_else(|| missing("rows", "replacing keeps it public", hint))?;
                (Rows::Public { count }, Some(count), said.eps.clone(), 1u64)
            }
            Adjacency::AddRemove => (Rows::Private { eps: said.share(1, 4)? }, None, said.share(3, 4)?, 3),
        };
        // Each of the bounds may fail, and together they fail no more often than was said.
        let beta = &said.failure / &Ratio::from(bounds);
        let mechanism = BlackBox { eps, rows, answers: answers.clone(), beta, evaluations }.calibrate()?;
        Ok(Self { mechanism, answers, rows: known, evaluations, confidence: said.confidence })
    }

    pub fn cost(&self) -> Loss {
        self.mechanism.cost()
    }

    fn of(&self) -> String {
        let removals = self.mechanism.accuracy().removals;
        format!(
            "a number between the least and the largest value of the function without at most {removals} rows"
        )
    }

    pub fn expected(&self) -> String {
        let most = match self.rows {
            Some(_) => String::new(),
            None => format!("; refused where there are many more rows than {}", self.mechanism.most_rows()),
        };
        format!("{}, after at most {} calls of the function{most}", self.of(), self.evaluations)
    }

    pub fn answer<C: Coins>(
        &self,
        rows: usize,
        mut function: impl FnMut(&[usize]) -> Option<Option<f64>>,
        coins: &mut C,
    ) -> Option<Answer> {
        if self.rows.is_some_and(|public| public != rows as u64) {
            return None;
        }
        let places: Vec<usize> = (0..rows).collect();
        let least = self.answers.value(0);
        let mut stopped = false;
        let on_subset = |kept: &[&usize]| {
            let kept: Vec<usize> = kept.iter().map(|&&place| place).collect();
            let called = if stopped { None } else { function(&kept) };
            stopped |= called.is_none();
            // Where it fails it has the first answer, so that a failure is as private as any value.
            called.flatten().and_then(finite).unwrap_or_else(|| least.clone())
        };
        let outcome = self.mechanism.run(&places, on_subset, coins);
        if stopped {
            return None;
        }
        Some(match outcome {
            Outcome::Value(value) => {
                let answer = answered(&self.answers, &value, self.confidence, self.of());
                let least = self.mechanism.accuracy().least_rows;
                let enough = Condition::Given(format!("if there are at least {least} rows"));
                Answer { error: answer.error.map(|bar| bar.on(enough)), ..answer }
            }
            Outcome::Refused => Answer::refused(format!(
                "so many rows have more subsets than may be tried; allow more evaluations than {}, raise `epsilon`, or give fewer answers",
                self.evaluations
            )),
        })
    }
}
