//! One question after another: threshold questions of a stream, questions that never end, a holdout that lasts.

use crate::{
    errors,
    table::{self, Column},
};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::Values,
    monitor::{
        above_threshold::{self, AboveThreshold, Form},
        holdout,
        threshold_monitor::{self, Contributions, Noise, ThresholdMonitor},
    },
    ratio::Ratio,
};
use equipoise_entropy::OsCoins;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// State that changes, with the coins that change it.
struct Running<T>(Mutex<(T, OsCoins)>);

impl<T> Running<T> {
    fn new(start: impl FnOnce(&mut OsCoins) -> T) -> PyResult<Self> {
        let mut coins = OsCoins::new().map_err(errors::lost)?;
        Ok(Self(Mutex::new((start(&mut coins), coins))))
    }

    fn lock(&self) -> MutexGuard<'_, (T, OsCoins)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ratio(name: &'static str, text: &str) -> PyResult<Ratio> {
    text.parse().map_err(|_| errors::request(format!("{name} is not a number; give one such as 10 or 0.5")))
}

/// Which values of a stream lie above a threshold, until so many did.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Threshold {
    calibrated: above_threshold::Calibrated,
    grid: f64,
    running: Running<above_threshold::Questions>,
}

#[pymethods]
impl Threshold {
    #[new]
    fn new(
        py: Python<'_>,
        epsilon: &str,
        threshold: &str,
        sensitivity: &str,
        resolution: &str,
        cutoff: u64,
        monotone: bool,
    ) -> PyResult<Self> {
        let grid = ratio("resolution", resolution)?;
        let stream = AboveThreshold {
            eps: epsilon.parse().map_err(errors::request)?,
            threshold: ratio("threshold", threshold)?,
            sensitivity: ratio("sensitivity", sensitivity)?,
            grid: grid.clone(),
            values: Values::Any,
            cutoff,
            monotone,
            form: Form::OneSided,
        };
        let calibrated = py.detach(|| stream.calibrate()).map_err(errors::request)?;
        let running = Running::new(|coins| calibrated.start(coins))?;
        Ok(Self { calibrated, grid: grid.to_f64(), running })
    }

    /// One answer for each value: 1 above, 0 below, -1 not looked at; and the excess of each that is above.
    fn answer(&self, py: Python<'_>, values: &Bound<'_, PyAny>) -> PyResult<(Vec<i8>, Vec<f64>)> {
        let held = table::floats(values)?;
        let Column::Floats(values) = held.column()? else { return Err(errors::data("give numbers")) };
        py.detach(|| {
            let steps: Vec<i64> = values.iter().map(|&value| self.steps(value)).collect();
            let mut state = self.running.lock();
            let (questions, coins) = &mut *state;
            let batch = questions.ask_all(&steps, coins);
            let mut answers = vec![0; batch.answered];
            answers.resize(steps.len(), -1);
            for positive in &batch.positives {
                answers[positive.index] = 1;
            }
            Ok((answers, batch.positives.iter().map(|one| one.gap as f64 * self.grid).collect()))
        })
    }

    /// How many positive answers are left.
    #[getter]
    fn positives_left(&self) -> u64 {
        self.running.lock().0.positives_left()
    }

    /// With this confidence, none of so many questions is answered wrongly whose value is farther from the threshold.
    fn accuracy(&self, py: Python<'_>, questions: u64, confidence: &str) -> PyResult<f64> {
        let beta = Ratio::one() - ratio("confidence", confidence)?;
        if beta.is_zero() || beta.is_negative() || beta >= Ratio::one() {
            return Err(errors::request("confidence is not accepted; give a number between 0 and 1"));
        }
        Ok(py.detach(|| self.calibrated.accuracy(questions, &beta).to_f64()))
    }
}

impl Threshold {
    /// A value in steps; one that is not a number is as low as can be.
    fn steps(&self, value: f64) -> i64 {
        match Ratio::from_f64_exact(value) {
            Some(value) => self.calibrated.steps(&value),
            None if value > 0.0 => i64::MAX,
            None => i64::MIN,
        }
    }
}

/// Threshold questions about records, for ever; records drop out once they have helped.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Watch {
    scale: f64,
    records: usize,
    running: Running<threshold_monitor::Watch>,
}

#[pymethods]
impl Watch {
    #[new]
    fn new(
        py: Python<'_>,
        records: usize,
        epsilon: &str,
        delta: &str,
        budget: u64,
        adjacency: &str,
    ) -> PyResult<Self> {
        let adjacency: Adjacency = adjacency.parse().map_err(errors::request)?;
        let monitor = ThresholdMonitor {
            eps: epsilon.parse().map_err(errors::request)?,
            delta: delta.parse().map_err(errors::request)?,
            budget,
            contributions: Contributions::Binary,
            noise: Noise::Gumbel,
            adjacency,
        };
        let calibrated = py.detach(|| monitor.calibrate()).map_err(errors::request)?;
        let running = Running::new(|_| calibrated.start(records))?;
        Ok(Self { scale: calibrated.scale().to_f64(), records, running })
    }

    /// Do about so many records say yes? One entry for each record: a numpy array of booleans, or a list.
    fn ask(&self, py: Python<'_>, yes: &Bound<'_, PyAny>, threshold: &str) -> PyResult<bool> {
        let threshold = ratio("threshold", threshold)?;
        let bits = match yes.extract::<PyReadonlyArray1<'_, bool>>() {
            Ok(array) => bits(array.as_array().iter().copied()),
            Err(_) => bits(yes.extract::<Vec<bool>>()?.into_iter()),
        };
        let (bits, count) = bits;
        if count != self.records {
            return Err(errors::data("the predicate does not give one yes or no for each record"));
        }
        py.detach(|| {
            let mut state = self.running.lock();
            let (watch, coins) = &mut *state;
            Ok(watch.ask(&bits, &threshold, coins) == threshold_monitor::Answer::Above)
        })
    }

    /// The scale of the noise of an answer, in records.
    #[getter]
    fn scale(&self) -> f64 {
        self.scale
    }
}

fn bits(yes: impl Iterator<Item = bool>) -> (Vec<u64>, usize) {
    let (mut words, mut count) = (Vec::new(), 0);
    for (place, yes) in yes.enumerate() {
        if place % 64 == 0 {
            words.push(0);
        }
        words[place / 64] |= u64::from(yes) << (place % 64);
        count = place + 1;
    }
    (words, count)
}

/// Answers from training rows, and from holdout rows only where the two disagree.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Holdout {
    accuracy: f64,
    running: Running<holdout::Asking>,
}

#[pymethods]
impl Holdout {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "keywords on the other side")]
    fn new(
        py: Python<'_>,
        rows: u64,
        questions: u64,
        corrections: u64,
        tolerance: &str,
        threshold: &str,
        beta: &str,
        epsilon: &str,
    ) -> PyResult<Self> {
        let holdout = holdout::Holdout {
            rows,
            questions,
            corrections,
            tolerance: ratio("tolerance", tolerance)?,
            threshold: ratio("threshold", threshold)?,
            beta: ratio("beta", beta)?,
            eps: epsilon.parse().map_err(errors::request)?,
        };
        let calibrated = py.detach(|| holdout.calibrate()).map_err(errors::request)?;
        let running = Running::new(|coins| calibrated.start(coins))?;
        Ok(Self { accuracy: calibrated.accuracy().to_f64(), running })
    }

    /// A mean, given one number from 0 to 1 for each training row and for each holdout row; and whether the holdout
    /// corrected it. Nothing once it is exhausted.
    fn ask(
        &self,
        py: Python<'_>,
        training: &Bound<'_, PyAny>,
        held_out: &Bound<'_, PyAny>,
    ) -> PyResult<Option<(f64, bool)>> {
        let (training, held_out) = (table::floats(training)?, table::floats(held_out)?);
        let (Column::Floats(training), Column::Floats(held_out)) = (training.column()?, held_out.column()?)
        else {
            return Err(errors::data("give numbers from 0 to 1"));
        };
        py.detach(|| {
            let means = (holdout::mean(&training), holdout::mean(&held_out));
            let mut state = self.running.lock();
            let (asking, coins) = &mut *state;
            Ok(match asking.ask(&means.0, &means.1, coins) {
                holdout::Answer::Training(mean) => Some((mean.to_f64(), false)),
                holdout::Answer::Holdout(mean) => Some((mean.to_f64(), true)),
                holdout::Answer::Exhausted => None,
            })
        })
    }

    /// How far any answer may be from the mean of the population.
    #[getter]
    fn accuracy(&self) -> f64 {
        self.accuracy
    }

    /// How many questions are left.
    #[getter]
    fn questions_left(&self) -> u64 {
        self.running.lock().0.questions_left()
    }

    /// How many answers can still come from the holdout.
    #[getter]
    fn corrections_left(&self) -> u64 {
        self.running.lock().0.corrections_left()
    }
}
