//! Subsample and aggregate: blocks are dealt here and votes counted here; Python runs the function in between.

use crate::{books::Books, errors};
use equipoise_core::subsample::partition::Blocks;
use equipoise_entropy::OsCoins;
use equipoise_session::{
    session::{Charged, Paid, Priced, facts},
    votes::{self, Output, Vote, VotePlan, VoteRequest},
};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// A vote: planned, then paid for, then counted, each once.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Ballot {
    planned: VotePlan,
    charged: Mutex<Option<Charged<VotePlan>>>,
    /// How many rows were dealt by it; private, unless rows can only be replaced.
    rows: Mutex<Option<u64>>,
}

#[pymethods]
impl Ballot {
    /// Understand what was said about a data set, as JSON. Free.
    #[new]
    fn new(py: Python<'_>, books: &Books, data: &str, words: &str) -> PyResult<Self> {
        let request: VoteRequest = serde_json::from_str(words).map_err(errors::request)?;
        // A function sees no columns; what names the person is known here by name alone.
        let columns: Vec<String> = request.unit.iter().cloned().collect();
        py.detach(|| {
            let facts = facts(Some(books.session()?.ledger()), data, &columns)
                .map_err(|error| errors::ledger(&error))?;
            let planned = VotePlan::new(&request, &facts).map_err(errors::plan)?;
            Ok(Self { planned, charged: Mutex::new(None), rows: Mutex::new(None) })
        })
    }

    /// What it will cost and promise, as JSON.
    #[getter]
    fn summary(&self) -> String {
        let mut summary = self.planned.summary().to_json();
        summary["votes_per_unit"] = self.planned.touch().per_unit().into();
        summary.to_string()
    }

    /// Pay. The stored release as JSON where this request was answered before, else nothing: go on and count.
    #[pyo3(signature = (books, request_id=None))]
    fn charge(&self, py: Python<'_>, books: &Books, request_id: Option<&str>) -> PyResult<Option<String>> {
        py.detach(|| {
            let paid = books.session()?.charge(self.planned.clone(), request_id);
            match paid.map_err(|error| errors::pay(&error))? {
                Paid::Replayed(release) => Ok(Some(release.to_text())),
                Paid::Charged(charged) => {
                    *self.charged.lock().unwrap_or_else(PoisonError::into_inner) = Some(*charged);
                    Ok(None)
                }
            }
        })
    }

    /// Aggregate what the function gave for each block: a list of texts, numbers or lists of numbers, `None` where
    /// it failed. The release as JSON.
    fn count(&self, py: Python<'_>, books: &Books, votes: &Bound<'_, PyAny>) -> PyResult<String> {
        let votes = self.votes(votes)?;
        let charged = self.charged.lock().unwrap_or_else(PoisonError::into_inner).take();
        let charged =
            charged.ok_or_else(|| errors::request("this vote was not paid for, or was counted before"))?;
        let rows = *self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        py.detach(|| {
            let release = books.paid_session()?.count_votes(charged, votes, rows).map_err(errors::lost)?;
            Ok(release.to_text())
        })
    }
}

impl Ballot {
    fn votes(&self, given: &Bound<'_, PyAny>) -> PyResult<Vec<Option<Vote>>> {
        let ballots = self.planned.ballots();
        Ok(match ballots.output() {
            Output::Label => {
                let texts: Vec<Option<String>> = given.extract()?;
                texts.into_iter().map(|text| ballots.label(&text?)).collect()
            }
            Output::Labels => {
                let sets: Vec<Option<Vec<String>>> = given.extract()?;
                sets.into_iter().map(|set| ballots.labels(set?.iter().map(String::as_str))).collect()
            }
            Output::Number => {
                let numbers: Vec<Option<f64>> = given.extract()?;
                numbers.into_iter().map(|number| ballots.number(number?)).collect()
            }
            Output::Vector(_) => {
                let vectors: Vec<Option<Vec<f64>>> = given.extract()?;
                vectors.into_iter().map(|vector| ballots.vector(vector?)).collect()
            }
        })
    }
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
        *ballot.rows.lock().unwrap_or_else(PoisonError::into_inner) = Some(rows as u64);
        Ok::<_, PyErr>(ballot.planned.partition().deal_rows(rows, &mut coins))
    })?;
    Ok(arrays(py, &blocks))
}

/// The same for the rows of people, who are named by texts: all rows of a person lie in one block, those of nobody in none.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from a list")]
pub fn deal_people<'py>(
    py: Python<'py>,
    ballot: &Ballot,
    people: Vec<Option<String>>,
) -> PyResult<Vec<Bound<'py, PyArray1<i64>>>> {
    let blocks = py.detach(|| {
        let mut coins = OsCoins::new().map_err(errors::lost)?;
        let ids = people.iter().map(Option::as_deref);
        Ok::<_, PyErr>(votes::deal_people(ballot.planned.partition(), ids, &mut coins))
    })?;
    Ok(blocks.iter().map(|block| places(py, block)).collect())
}

fn arrays<'py>(py: Python<'py>, blocks: &Blocks) -> Vec<Bound<'py, PyArray1<i64>>> {
    blocks.iter().map(|block| places(py, block)).collect()
}

fn places<'py>(py: Python<'py>, block: &[usize]) -> Bound<'py, PyArray1<i64>> {
    let place = |&row: &usize| i64::try_from(row).expect("a row in memory");
    block.iter().map(place).collect::<Vec<i64>>().into_pyarray(py)
}
