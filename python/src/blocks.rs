//! Subsample and aggregate: blocks are dealt here and votes counted here; Python runs the function in between.

use crate::{books::Books, errors};
use equipoise_core::coins::Coins;
use equipoise_entropy::OsCoins;
use equipoise_session::{
    session::{Charged, Paid, Priced, facts},
    votes::{Dealt, Look, Output, Vote, VotePlan, VoteRequest, rehearsal_words},
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
    /// The analysis that blocks chose, once that was paid for.
    chosen: Mutex<Option<String>>,
    /// What a rehearsal on public rows looks at.
    looks: Mutex<Vec<Look>>,
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
            let (charged, rows) = (Mutex::new(None), Mutex::new(None));
            let (chosen, looks) = (Mutex::new(None), Mutex::new(Vec::new()));
            Ok(Self { planned, charged, rows, chosen, looks })
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

    /// A key by which people are dealt where their rows lie, 32 hexadecimal digits, after the charge. For every key one person is in one block.
    fn key(&self) -> PyResult<String> {
        if self.charged.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
            return Err(errors::request("this vote was not paid for, or was counted before"));
        }
        let mut coins = OsCoins::new().map_err(errors::lost)?;
        Ok(format!("{:016x}{:016x}", coins.bits(64), coins.bits(64)))
    }

    /// The analysis that the blocks choose by what they name, once, after the charge: its name.
    fn choose(&self, votes: &Bound<'_, PyAny>) -> PyResult<String> {
        let texts: Vec<Option<String>> = votes.extract()?;
        let charged = self.charged.lock().unwrap_or_else(PoisonError::into_inner);
        let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        let analyses = self.planned.analyses().filter(|_| charged.is_some() && chosen.is_none());
        let analyses =
            analyses.ok_or_else(|| errors::request("there is nothing to choose, or it was chosen before"))?;
        let mut coins = OsCoins::new().map_err(errors::lost)?;
        let votes = texts.iter().map(|text| analyses.ballots().label(text.as_deref()?)).collect();
        *chosen = self.planned.choose(votes, &mut coins);
        Ok(chosen.clone().unwrap_or_default())
    }

    /// What to run the function on to see what to expect, for public rows: blocks in several lists.
    #[expect(clippy::needless_pass_by_value, reason = "Python hands a list over")]
    #[pyo3(signature = (rows, people, rounds))]
    fn looks<'py>(
        &self,
        py: Python<'py>,
        rows: usize,
        people: Option<Vec<Option<String>>>,
        rounds: usize,
    ) -> PyResult<Vec<Vec<Bound<'py, PyArray1<i64>>>>> {
        let looks = py.detach(|| {
            let mut coins = OsCoins::new().map_err(errors::lost)?;
            let dealt = people.as_deref().map_or(Dealt::Rows(rows), Dealt::People);
            Ok::<_, PyErr>(self.planned.looks(dealt, rounds, &mut coins))
        })?;
        let found = looks.iter().map(|look| arrays(py, &look.blocks)).collect();
        *self.looks.lock().unwrap_or_else(PoisonError::into_inner) = looks;
        Ok(found)
    }

    #[expect(clippy::needless_pass_by_value, reason = "Python hands a list over")]
    /// What was seen of public rows, as JSON and as a few lines; nothing is charged or released.
    fn rehearsed(
        &self,
        py: Python<'_>,
        votes: Vec<Bound<'_, PyAny>>,
        trials: usize,
    ) -> PyResult<(String, String)> {
        let votes = votes.iter().map(|votes| self.votes(votes)).collect::<PyResult<Vec<_>>>()?;
        let looks = std::mem::take(&mut *self.looks.lock().unwrap_or_else(PoisonError::into_inner));
        py.detach(|| {
            let document = self.planned.rehearsed(&looks, &votes, trials).map_err(errors::lost)?;
            Ok((document.to_string(), rehearsal_words(&document)))
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
        let chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| {
            let release =
                books.paid_session()?.count_votes(charged, chosen, votes, rows).map_err(errors::lost)?;
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
        Ok::<_, PyErr>(ballot.planned.deal_rows(rows, &mut coins))
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
        Ok::<_, PyErr>(ballot.planned.deal_people(ids, &mut coins))
    })?;
    Ok(arrays(py, &blocks))
}

fn arrays<'py>(py: Python<'py>, blocks: &[Vec<usize>]) -> Vec<Bound<'py, PyArray1<i64>>> {
    blocks.iter().map(|block| places(py, block)).collect()
}

fn places<'py>(py: Python<'py>, block: &[usize]) -> Bound<'py, PyArray1<i64>> {
    let place = |&row: &usize| i64::try_from(row).expect("a row in memory");
    block.iter().map(place).collect::<Vec<i64>>().into_pyarray(py)
}
