//! Calls with a function of the caller's, from what was said to a recorded release.

use super::*;
use crate::{
    ledger::Ledger,
    release::Outcome,
    session::{Paid, facts},
};
use equipoise_core::coins::ScriptedWords;
use serde_json::json;

#[expect(clippy::unnecessary_wraps, reason = "fields of requests are optional")]
fn text(text: &str) -> Option<String> {
    Some(text.to_string())
}

fn asked(call: &str) -> StatedRequest {
    StatedRequest { statistic: call.into(), epsilon: text("1"), ..StatedRequest::default() }
}

fn session() -> Session {
    Session::new(Ledger::in_memory().unwrap(), None).unwrap()
}

fn plan(session: &Session, request: &StatedRequest) -> Result<StatedPlan, PlanError> {
    StatedPlan::new(request, &facts(Some(session.ledger()), "people", &[]).unwrap())
}

fn release(
    session: &mut Session,
    request: &StatedRequest,
    found: Option<&Found>,
) -> Result<Release, Unanswered> {
    let planned = plan(session, request).unwrap();
    let Paid::Charged(charged) = session.charge(planned, None).unwrap() else { panic!("no request id") };
    session.answer_stated(*charged, found)
}

fn number(value: f64) -> Found {
    Found { numbers: vec![value], ..Found::default() }
}

/// One request of each call, with something that it finds.
fn examples() -> Vec<(StatedRequest, Found)> {
    let gated = |call: &str| StatedRequest { delta: text("1e-6"), ..asked(call) };
    let far = |numbers: &[f64]| Found { value: json!("b"), numbers: numbers.to_vec(), distance: Some(1000) };
    let smooth = StatedRequest { range: text("0,100"), distances: Some(20), ..asked("smooth") };
    let local: Vec<f64> = std::iter::once(50.0).chain((0..20).map(f64::from)).collect();
    vec![
        (StatedRequest { sensitivity: text("1"), ..asked("noise") }, number(50.0)),
        (
            StatedRequest { sensitivity: text("1"), options: vec![json!("a"), json!(7)], ..asked("choose") },
            far(&[1.0, 300.0]),
        ),
        (gated("stable"), far(&[])),
        (StatedRequest { bound: text("2"), ..gated("propose-test-release") }, far(&[50.0])),
        (
            StatedRequest { inner: Some(["0.5".into(), "0".into()]), ..gated("propose-test-release") },
            far(&[]),
        ),
        (smooth.clone(), far(&local)),
        (StatedRequest { delta: text("1e-6"), ..smooth }, far(&local)),
        (StatedRequest { sensitivity: text("1"), ..gated("bounded-local-sensitivity") }, far(&[50.0, 2.0])),
    ]
}

#[test]
fn every_call_is_charged_recorded_and_says_what_was_stated() {
    for (request, found) in examples() {
        let mut session = session();
        let planned = plan(&session, &request).unwrap();
        let summary = planned.summary();
        assert!(!summary.stated.is_empty(), "{request:?}");
        assert!(summary.stated.iter().all(|clause| clause.ends_with("as stated by the caller")));
        let release = release(&mut session, &request, Some(&found)).unwrap();
        assert_eq!(release.outcome, Outcome::Released, "{release:?}");
        assert_eq!(release.stated, summary.stated);
        assert_eq!(release.spent.epsilon, "1");
        assert_eq!(release.guarantee.epsilon, "1");
        assert!(release.receipt.is_some());
        if let Some(error) = &release.error {
            let words = error.words(&release.value);
            assert!(words.contains("as stated by the caller"), "{words}");
        } else {
            assert_eq!(request.statistic, "propose-test-release", "{request:?}");
        }
        let stored = session.ledger().verify(None).unwrap();
        assert_eq!((stored.charges, stored.recorded), (1, 1));
    }
}

#[test]
fn what_was_computed_wrongly_is_one_fixed_line_and_stays_charged() {
    for (request, found) in examples() {
        let mut session = session();
        // Values that are released as they are may be anything.
        let reads_numbers = !found.numbers.is_empty();
        let wrong = Found { numbers: vec![f64::NAN; found.numbers.len()], ..found.clone() };
        let mut cases = vec![None];
        if reads_numbers {
            cases.extend([Some(wrong), Some(Found { numbers: Vec::new(), ..found })]);
        }
        for case in &cases {
            let error = release(&mut session, &request, case.as_ref()).unwrap_err();
            assert_eq!(
                error.to_string(),
                "the function failed, or gave something else than was stated; the charge stands and the answer is lost"
            );
        }
        let verified = session.ledger().verify(None).unwrap();
        assert_eq!((verified.charges, verified.recorded), (cases.len() as u64, 0), "{request:?}");
    }
}

#[test]
fn what_cannot_be_planned_is_one_line_and_free() {
    let session = session();
    let gated = |call: &str| StatedRequest { delta: text("1e-6"), ..asked(call) };
    let choice =
        StatedRequest { options: vec![json!("a"), json!("b")], sensitivity: text("1"), ..asked("choose") };
    for (request, line) in [
        (
            asked("noise"),
            "sensitivity is missing: it is the most that one person moves the value; give sensitivity, such as 1 for a count",
        ),
        (
            StatedRequest { epsilon: None, ..asked("noise") },
            "how much privacy may it cost? Give `epsilon`, such as `epsilon=1`",
        ),
        (
            StatedRequest { sensitivity: text("0"), ..asked("noise") },
            "sensitivity 0 is not accepted: give a number above 0",
        ),
        (asked("stable"), "the mechanism stable needs a delta above 0; give `delta=1e-6`"),
        (
            StatedRequest { options: vec![json!("a"), json!("a")], ..choice.clone() },
            "the option \"a\" is there twice; name it once",
        ),
        (
            StatedRequest { base: Some(vec!["1".into()]), ..choice.clone() },
            "number of base masses 1 is not accepted: give one for each candidate",
        ),
        (
            asked("smooth"),
            "a smooth bound needs a range, without which it is infinite; give `range`, into which values are moved",
        ),
        (
            gated("propose-test-release"),
            "bound is missing: it is the most that one person moves the value on data sets that pass; give bound, or inner for a \
             mechanism of your own",
        ),
        (
            StatedRequest { inner: Some(["1".into(), "0".into()]), ..gated("propose-test-release") },
            "the mechanism behind the test costs as much as everything together may; give a larger `epsilon` and `delta` than inner: \
             the test takes what is left",
        ),
        (
            StatedRequest { rate: text("0.5"), adjacency: text("replace"), ..choice },
            "inner mechanism private under replace only is not accepted: its sample's size may show, and it is random; use one that is \
             private under add-remove, or a sample of fixed size",
        ),
    ] {
        assert_eq!(plan(&session, &request).unwrap_err().to_string(), line);
    }
}

#[test]
fn a_secret_sample_costs_less_and_the_bar_is_about_it() {
    let request = StatedRequest { sensitivity: text("1"), rate: text("0.5"), ..asked("noise") };
    let mut session = session();
    let planned = plan(&session, &request).unwrap();
    // ln(1 + (e - 1)/2).
    assert!((planned.cost().eps.ratio().to_f64() - 0.620_115).abs() < 1e-5, "{}", planned.cost().eps);
    let mut coins = ScriptedWords::new(vec![0, u64::MAX, 1]);
    assert_eq!(planned.sample(3, &mut coins), [0, 2]);
    let release = release(&mut session, &request, Some(&number(3.0))).unwrap();
    let error = release.error.unwrap();
    assert_eq!(error.subject(), Some("the value of a secret sample that has each row with probability 0.5"));
}

/// What is written for a privacy board must not say that nothing is assumed.
#[test]
fn an_explanation_says_what_the_promise_rests_on() {
    let mut session = session();
    let request = StatedRequest { sensitivity: text("1"), ..asked("noise") };
    let release = release(&mut session, &request, Some(&number(3.0))).unwrap();
    let own = crate::meaning::paragraph(&release);
    assert!(own.contains("if what the caller stated is true, which nobody checked: sensitivity 1."), "{own}");
    let receipt = release.receipt.unwrap().id;
    let of_ledger = crate::explanation::explain(
        session.ledger(),
        &receipt,
        equipoise_core::wording::Surface::CommandLine,
    )
    .unwrap()
    .words;
    assert!(
        of_ledger.contains("except what the caller stated, which nobody checked: sensitivity 1;"),
        "{of_ledger}"
    );
}

#[test]
fn where_replacing_is_counted_coming_and_going_are_two_steps() {
    let mut session = session();
    let replaced = StatedRequest { adjacency: text("replace"), sensitivity: text("1"), ..asked("noise") };
    release(&mut session, &replaced, Some(&number(1.0))).unwrap();
    let added = StatedRequest { adjacency: text("add-remove"), ..replaced };
    let release = release(&mut session, &added, Some(&number(1.0))).unwrap();
    assert_eq!((release.spent.epsilon.as_str(), release.guarantee.epsilon.as_str()), ("3", "1"));
}

#[test]
fn black_boxes_are_run_on_subsets_behind_the_charge() {
    let mut session = session();
    let request = StatedRequest {
        epsilon: text("5"),
        adjacency: text("replace"),
        rows: Some(9),
        range: text("0,20"),
        step: text("1"),
        ..asked("black-box")
    };
    let rows: Vec<f64> = vec![10.0; 9];
    let mean =
        |kept: &[usize]| Some(Some(kept.iter().map(|&place| rows[place]).sum::<f64>() / kept.len() as f64));
    let charged = |session: &mut Session| {
        let planned = plan(session, &request).unwrap();
        let Paid::Charged(charged) = session.charge(planned, None).unwrap() else { panic!("no request id") };
        *charged
    };
    let paid = charged(&mut session);
    let release = session.answer_subsets(paid, 9, mean).unwrap();
    let value = release.value.as_f64().unwrap();
    assert!((0.0..=20.0).contains(&value));
    assert!(release.error.unwrap().subject().unwrap().contains("without at most"));
    let paid = charged(&mut session);
    assert_eq!(session.answer_subsets(paid, 9, |_| None), Err(Unanswered::Function), "stopped");
    // A failure is a value, the first answer, and every subset is tried all the same.
    let (mut called, mut failed) = (Vec::new(), Vec::new());
    for (fails, calls) in [(false, &mut called), (true, &mut failed)] {
        let paid = charged(&mut session);
        let some = |kept: &[usize]| {
            calls.push(kept.to_vec());
            Some((!fails || kept.len() < 9).then_some(5.0))
        };
        assert!(session.answer_subsets(paid, 9, some).is_ok());
    }
    assert_eq!(called, failed);
    let paid = charged(&mut session);
    assert_eq!(
        session.answer_subsets(paid, 8, mean),
        Err(Unanswered::Function),
        "not as many rows as stated"
    );
}

/// What was meant of one row is not promised to one person: whoever asks says that it holds for all rows of one.
#[test]
fn of_a_data_set_for_people_it_is_said_that_the_statement_is_about_people() {
    let mut session = session();
    let people = StatedRequest { unit: text("id"), sensitivity: text("1"), ..asked("noise") };
    release(&mut session, &people, Some(&number(1.0))).unwrap();
    let unsaid = StatedRequest { unit: None, ..people.clone() };
    let error = plan(&session, &unsaid).unwrap_err().to_string();
    assert!(
        error.contains("is registered for one id: what is stated must hold for all rows of one"),
        "{error}"
    );
    let again = release(&mut session, &people, Some(&number(1.0))).unwrap();
    assert_eq!(again.stated[1], "all of it for all rows of one id, as stated by the caller");
}

/// Samples and subsets are of rows: with a unit, what they promise would be for less than it says.
#[test]
fn samples_and_subsets_protect_single_rows_only() {
    let session = session();
    let subsets = StatedRequest {
        epsilon: text("5"),
        range: text("0,20"),
        step: text("1"),
        unit: text("id"),
        ..asked("black-box")
    };
    let error = plan(&session, &subsets).unwrap_err().to_string();
    assert!(error.contains("subsets lack single rows"), "{error}");
    let sampled = StatedRequest {
        epsilon: text("5"),
        sensitivity: text("1"),
        rate: text("0.1"),
        unit: text("id"),
        ..asked("noise")
    };
    let error = plan(&session, &sampled).unwrap_err().to_string();
    assert!(error.contains("drawn row by row"), "{error}");
}

/// A value of 1e6 moved into 0 to 100 is 100; a list of local sensitivities that ends early counts as the whole range from there on.
#[test]
fn values_are_moved_into_the_range_and_short_lists_are_the_widest() {
    let session = session();
    let request = StatedRequest { range: text("0,100"), distances: Some(3), ..asked("smooth") };
    let planned = plan(&session, &request).unwrap();
    assert_eq!(planned.wanted(), 3);
    let Kind::Smoothed(smoothed) = &planned.kind else { panic!("a smooth bound") };
    let mut coins = ScriptedWords::new(vec![1 << 62; 64]);
    for value in [1e6, f64::INFINITY, f64::NEG_INFINITY, 50.0] {
        let found = Found { numbers: vec![value, 0.0], ..Found::default() };
        let answer = smoothed.answer(&found, &mut coins).unwrap();
        assert!((0.0..=100.0).contains(&answer.value.unwrap().as_f64().unwrap()));
    }
    let negative = Found { numbers: vec![1.0, -1.0], ..Found::default() };
    assert!(smoothed.answer(&negative, &mut coins).is_none());
}

/// Bars of noise hold nearly as often as they say: of 400 trials at 95 % fewer than 40 miss, except once in 10^5 runs.
#[test]
fn bars_hold() {
    for request in [
        StatedRequest { sensitivity: text("0.3"), ..asked("noise") },
        StatedRequest {
            sensitivity: text("7"),
            delta: text("1e-5"),
            mechanism: text("gaussian"),
            ..asked("noise")
        },
    ] {
        let session = session();
        let planned = plan(&session, &request).unwrap();
        let mut words = 1u64;
        let mut next = || {
            words = words.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            words ^ (words >> 29)
        };
        let mut coins = ScriptedWords::new((0..200_000).map(|_| next()).collect());
        let missed = (0..400).filter(|_| {
            let answer = planned.answer(&number(1234.5), &mut coins).unwrap();
            let [low, high] = answer.error.unwrap().numeric_ends().unwrap();
            !(low <= 1234.5 && 1234.5 <= high)
        });
        assert!(missed.count() < 40, "{request:?}");
    }
}

#[test]
fn the_audit_holds_and_catches_its_mutant() {
    let equipoise_audit::Kind::Claim { shipped, mutant, .. } = &audits::STATED.kind else {
        panic!("a claim")
    };
    for measured in shipped() {
        assert!(measured.holds() && measured.exercised(), "{}: {}", measured.case, measured.worst.to_f64());
    }
    assert!(mutant().iter().any(equipoise_audit::Measured::refuted));
}
