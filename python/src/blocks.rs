//! Subsample and aggregate: blocks are dealt here and votes counted here; Python runs the function in between.

use crate::{books::Books, errors};
use equipoise_core::{ratio::Ratio, subsample::partition::Blocks};
use equipoise_entropy::OsCoins;
use equipoise_session::{
    canonical_id,
    session::votes::{Ballot as Planned, ChargedVotes, Output, PaidVotes, Votes, Voting},
};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};

/// A vote: planned, then paid for, then counted, each once.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Ballot {
    planned: Planned,
    blocks: u32,
    charged: Mutex<Option<ChargedVotes>>,
}

#[pymethods]
impl Ballot {
    /// Understand what was said, as JSON. Free.
    #[new]
    fn new(py: Python<'_>, words: &str) -> PyResult<Self> {
        let voting = voting(words)?;
        let blocks = voting.blocks;
        let planned = py.detach(|| Planned::new(voting)).map_err(errors::request)?;
        Ok(Self { planned, blocks, charged: Mutex::new(None) })
    }

    /// What it will cost and promise, as JSON.
    #[getter]
    fn summary(&self) -> String {
        json!({
            "mechanism": self.planned.mechanism(),
            "guarantee": self.planned.promise(),
            "blocks": self.blocks,
            "votes_per_unit": self.planned.partition().touch().per_unit(),
        })
        .to_string()
    }

    /// Pay. The stored release as JSON where this request was answered before, else nothing: go on and count.
    #[pyo3(signature = (books, request_id=None))]
    fn charge(&self, py: Python<'_>, books: &Books, request_id: Option<String>) -> PyResult<Option<String>> {
        py.detach(|| {
            let paid = books.session().charge_votes(self.planned.clone(), request_id);
            match paid.map_err(|error| errors::pay(&error))? {
                PaidVotes::Before(release) => Ok(Some(release.to_json().to_string())),
                PaidVotes::Charged(charged) => {
                    *self.charged.lock().unwrap_or_else(PoisonError::into_inner) = Some(*charged);
                    Ok(None)
                }
            }
        })
    }

    /// Aggregate what the function gave for each block: a list of texts, numbers or lists of numbers, `None` where
    /// it failed. The release as JSON.
    fn count(&self, py: Python<'_>, books: &Books, votes: &Bound<'_, PyAny>) -> PyResult<String> {
        let votes = match self.planned.output() {
            Output::Label { .. } => Votes::Labels(votes.extract()?),
            Output::Number { .. } => Votes::Numbers(votes.extract()?),
            Output::Vector { .. } => Votes::Vectors(votes.extract()?),
        };
        let charged = self.charged.lock().unwrap_or_else(PoisonError::into_inner).take();
        let charged =
            charged.ok_or_else(|| errors::request("this vote was not paid for, or was counted before"))?;
        py.detach(|| {
            let release = books.session().count_votes(charged, votes).map_err(errors::lost)?;
            Ok(release.to_json().to_string())
        })
    }
}

fn voting(words: &str) -> PyResult<Voting> {
    let said: Value = serde_json::from_str(words).map_err(errors::request)?;
    let text = |name: &str| said[name].as_str().map(str::to_string);
    let must = |name: &str| text(name).ok_or_else(|| errors::request(format!("{name} is missing")));
    let confidence: Ratio =
        must("confidence")?.parse().map_err(|_| errors::request("confidence is not a number; give 0.95"))?;
    let failure = Ratio::one() - confidence;
    if failure.is_negative() || failure.is_zero() || failure >= Ratio::one() {
        return Err(errors::request(
            "confidence is not accepted; give a number between 0 and 1, such as 0.95",
        ));
    }
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let output = match said["output"].as_str() {
        Some("label") => {
            let options = said["options"].as_array().into_iter().flatten();
            Output::Label { options: options.filter_map(|one| one.as_str().map(str::to_string)).collect() }
        }
        Some("number") => Output::Number { default: said["default"].as_f64().unwrap_or(0.0) },
        Some("vector") => Output::Vector { default: numbers(&said["default"]) },
        _ => return Err(errors::request("output is not accepted; give label, number or vector")),
    };
    let blocks = said["blocks"].as_u64().and_then(|blocks| u32::try_from(blocks).ok());
    Ok(Voting {
        name: must("name")?,
        data: must("data")?,
        eps: must("epsilon")?.parse().map_err(errors::request)?,
        delta: must("delta")?.parse().map_err(errors::request)?,
        adjacency: must("adjacency")?.parse().map_err(errors::request)?,
        unit: text("unit"),
        blocks: blocks
            .ok_or_else(|| errors::request("blocks is not accepted; give a whole number such as 100"))?,
        output,
        mechanism: text("mechanism"),
        failure,
    })
}

/// Deal rows into the blocks of a ballot: the places of each block's rows.
#[pyfunction]
pub fn deal_rows<'py>(
    py: Python<'py>,
    ballot: &Ballot,
    rows: usize,
) -> PyResult<Vec<Bound<'py, PyArray1<i64>>>> {
    let blocks = py.detach(|| {
        let mut coins = OsCoins::new().map_err(errors::lost)?;
        Ok::<_, PyErr>(ballot.planned.partition().deal_rows(rows, &mut coins))
    })?;
    Ok(arrays(py, &blocks, |row| row))
}

/// The same for the rows of people, who are named by texts: all rows of a person lie in one block. Names are ids in the
/// canonical form of files, and rows without one are dropped.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from a list")]
pub fn deal_people<'py>(
    py: Python<'py>,
    ballot: &Ballot,
    people: Vec<Option<String>>,
) -> PyResult<Vec<Bound<'py, PyArray1<i64>>>> {
    let ids = people.iter().enumerate().filter_map(|(row, id)| Some((row, canonical_id(id.as_deref())?)));
    let (rows, ids): (Vec<usize>, Vec<&str>) = ids.unzip();
    let blocks = py.detach(|| {
        let mut coins = OsCoins::new().map_err(errors::lost)?;
        Ok::<_, PyErr>(ballot.planned.partition().deal_people(&ids, &mut coins))
    })?;
    Ok(arrays(py, &blocks, |dealt| rows[dealt]))
}

fn arrays<'py>(
    py: Python<'py>,
    blocks: &Blocks,
    row: impl Fn(usize) -> usize,
) -> Vec<Bound<'py, PyArray1<i64>>> {
    let place = |&dealt: &usize| i64::try_from(row(dealt)).expect("a row in memory");
    let places = |block: &[usize]| -> Vec<i64> { block.iter().map(place).collect() };
    blocks.iter().map(|block| places(block).into_pyarray(py)).collect()
}
