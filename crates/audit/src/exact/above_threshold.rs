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

fn measure(cutoff: u64, monotone: bool, form: Form, moves: &[i64], gaps: bool) -> Measured {
    let stream = AboveThreshold {
        eps: EPS.parse().expect("an epsilon"),
        threshold: Ratio::zero(),
        sensitivity: Ratio::one(),
        grid: Ratio::one(),
        values: Values::OnGrid,
        cutoff,
        monotone,
        form,
    };
    let stream = stream.calibrate().expect("valid");
    let values = if cutoff == 1 { vec![0, 0] } else { vec![0, 1, 0] };
    let mut neighbours = vec![Vec::new()];
    for value in &values {
        let with = |start: &Vec<i64>, by: &i64| [start.as_slice(), &[value + by]].concat();
        neighbours = neighbours.iter().flat_map(|start| moves.iter().map(|by| with(start, by))).collect();
    }
    let here = transcript(&stream, &values, gaps);
    let claim = pairs::claim(EPS, "0", Adjacency::AddRemove);
    claim.over(neighbours.iter().map(|there| (here.clone(), transcript(&stream, there, gaps))))
}
