//! The same question on public or made-up data, many times: how people choose, and how audits sample.
//!
//! Nothing is charged, nothing is recorded, and what comes out is no [`Release`](crate::release::Release): whoever
//! simulates on private rows has published them. The rows are read once, or where people have many rows once for each
//! trial; each trial has fresh coins.

use crate::{
    answer::Answer,
    gather::Gathered,
    plan::Plan,
    quiet::quietly,
    rows::Hands,
    session::gather,
    source::{Lost, Source},
};
use equipoise_entropy::OsCoins;
use serde_json::Value;
use std::{num::NonZero, slice, thread};

/// One outcome for each trial, in no order that means anything: the value or the groups, or `None` for a refusal; for
/// a batch, the list of them.
pub fn simulate(plan: &Plan, source: &dyn Source, trials: usize) -> Result<Vec<Option<Value>>, Lost> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    quietly(|| {
        // Where rows of people are drawn, every trial draws its own.
        let once = if plan.rows().bound().is_none() { Some(gather(plan, source)?) } else { None };
        let part = |trials: usize| -> Result<Vec<Option<Value>>, Lost> {
            let mut coins = OsCoins::new().map_err(|_| Lost)?;
            let mut trial = || {
                let drawn;
                let gathered = if let Some(gathered) = &once {
                    gathered
                } else {
                    let hands = Hands::<OsCoins>::Several(slice::from_mut(&mut coins));
                    drawn = Gathered::scan(source, plan.rows(), &plan.needs(), hands)?;
                    &drawn
                };
                let mut answers =
                    plan.parts().iter().map(|part| value(part.task().answer(gathered, &mut coins)));
                Ok(if plan.is_batch() { Some(answers.collect()) } else { answers.next().flatten() })
            };
            (0..trials).map(|_| trial()).collect()
        };
        let workers = threads.min(trials).max(1);
        let share = |worker: usize| trials / workers + usize::from(worker < trials % workers);
        thread::scope(|scope| {
            let running: Vec<_> =
                (0..workers).map(|worker| scope.spawn(move || part(share(worker)))).collect();
            let mut all = Vec::with_capacity(trials);
            for worker in running {
                all.extend(worker.join().map_err(|_| Lost)??);
            }
            Ok(all)
        })
    })
}

/// What is seen of an answer: its value, or its groups.
fn value(answer: Answer) -> Option<Value> {
    match answer.groups {
        Some(groups) => serde_json::to_value(groups).ok(),
        None => answer.value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gather::tests::Memory, plan::DataFacts, request::Request};

    #[test]
    fn every_trial_has_an_outcome_of_its_own() {
        let facts = DataFacts {
            name: "made up".into(),
            columns: vec!["salary".into()],
            registered: None,
            kinds: Vec::new(),
        };
        let request =
            Request { epsilon: Some("1".into()), column: Some("salary".into()), ..Request::new("median") };
        let plan = Plan::new(&request, &facts).unwrap();
        let memory = Memory::new((0..1000).map(f64::from).collect(), &["a"]);
        for trials in [0, 1, 7, 40] {
            assert_eq!(simulate(&plan, &memory, trials).unwrap().len(), trials);
        }
        // Two hundred medians over 2^64 values: that all are the same has a chance below 1e-100.
        let values = simulate(&plan, &memory, 200).unwrap();
        assert!(values.iter().any(|value| value != &values[0]), "each trial draws its own noise");
        let few = Memory::new(vec![1.0], &["a"]);
        // A noisy count of one row would have to exceed the needed rows of more than 80 at epsilon 1/20: about e^-4
        // for each trial, so all 200 with a chance below 1e-300.
        assert!(simulate(&plan, &few, 200).unwrap().contains(&None));
    }
}
