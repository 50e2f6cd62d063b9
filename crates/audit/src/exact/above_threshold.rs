//! Threshold questions until a cut-off: every way in which one person can move the values of a few questions.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::Values,
    monitor::above_threshold::{AboveThreshold, Answer, Calibrated, Form},
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(super) static AUDIT: Audit = Audit {
    name: "above-threshold",
    about: "answers and gaps until the cut-off tell no more than epsilon, however the questions' values move",
    source: "003_82bbcee9e9852ea0.txt, DPAboveThreshold; Lyu, Su, Li 2017; Ding, Wang, Zhang, Kifer 2019",
    kind: Kind::Claim {
        shipped: || {
            vec![
                measure(1, false, Form::OneSided, ANY, true),
                measure(2, false, Form::OneSided, ANY, false),
                measure(2, true, Form::OneSided, TOGETHER, false),
                measure(1, false, Form::Textbook, ANY, false),
                of_records(true, Adjacency::AddRemove),
                of_records(false, Adjacency::Replace),
            ]
        },
        change: "questions that move either way get the noise of those that move together, half as much",
        mutant: || vec![measure(1, true, Form::OneSided, ANY, false)],
    },
};

/// Moves of one value between neighbours.
const ANY: &[i64] = &[-1, 0, 1];
const TOGETHER: &[i64] = &[0, 1];
const EPS: &str = "12";

fn transcript(stream: &Calibrated, values: &[i64], gaps: bool) -> Pmf<Vec<Answer>> {
    // A path that one side lost counts e^epsilon times on the other.
    let floor = "1e-16".parse().expect("a decimal");
    enumerate(&floor, |tape| {
        let mut questions = stream.start(tape);
        let mut answer = |value: &i64| match questions.ask(*value, tape) {
            Answer::Above { .. } if !gaps => Answer::Above { gap: 0 },
            answer => answer,
        };
        values.iter().map(&mut answer).collect()
    })
}

fn stream(cutoff: u64, monotone: bool, form: Form, threshold: u64) -> Calibrated {
    let stream = AboveThreshold {
        eps: EPS.parse().expect("an epsilon"),
        threshold: Ratio::from(threshold),
        sensitivity: Ratio::one(),
        grid: Ratio::one(),
        values: Values::OnGrid,
        cutoff,
        monotone,
        form,
    };
    stream.calibrate().expect("valid")
}

/// A few questions whose values lie around the threshold, every way in which a neighbour can move them. Which relation
/// between records moves them so does not matter to the stream.
fn measure(cutoff: u64, monotone: bool, form: Form, moves: &[i64], gaps: bool) -> Measured {
    let stream = stream(cutoff, monotone, form, 0);
    let starts: &[&[i64]] =
        if cutoff == 1 { &[&[0, 0], &[-1, 0], &[1, -1], &[0, 1]] } else { &[&[0, 1, 0], &[-1, 0, 0]] };
    let mut pairs = Vec::new();
    for values in starts {
        let mut neighbours = vec![Vec::new()];
        for value in *values {
            let with = |start: &Vec<i64>, by: &i64| [start.as_slice(), &[value + by]].concat();
            neighbours = neighbours.iter().flat_map(|start| moves.iter().map(|by| with(start, by))).collect();
        }
        pairs.extend(neighbours.into_iter().map(|there| (values.to_vec(), there)));
    }
    // Questions that move either way are what one replaced record does, those that move together what a new one does.
    let adjacency = if monotone { Adjacency::AddRemove } else { Adjacency::Replace };
    let claim = pairs::claim(EPS, "0", adjacency);
    let over = format!("every move of {} starts of {} questions", starts.len(), starts[0].len());
    let shown = if gaps { ", gaps shown" } else { "" };
    claim
        .over_inputs(over, pairs, |values| transcript(&stream, values, gaps))
        .case(format!("cut-off {cutoff}, {form:?} noise{shown}"))
}

/// Two questions about records, the second chosen by the first answer: how many hold a value, and how many do not.
fn of_records(monotone: bool, adjacency: Adjacency) -> Measured {
    let stream = stream(1, monotone, Form::OneSided, 1);
    let claim = pairs::claim(EPS, "0", adjacency);
    let floor = "1e-16".parse().expect("a decimal");
    let found = claim.over_universe(&[0, 1, 2], 2, |rows| {
        enumerate(&floor, |tape| {
            let count = |wanted: &[i64]| rows.iter().map(|row| i64::from(wanted.contains(row))).sum();
            let mut questions = stream.start(tape);
            let first = questions.ask(count(&[1]), tape);
            let next: &[i64] = if matches!(first, Answer::Below) { &[1, 2] } else { &[0] };
            let second = questions.ask(count(next), tape);
            [first, second]
        })
    });
    found.case("counts of records, the second chosen by the first answer")
}
