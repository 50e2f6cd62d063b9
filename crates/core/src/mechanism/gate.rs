//! Opens or stays shut: open as often as (epsilon, delta) allows at this distance from a bad data set.
//!
//! Source: 000_4d769f04a6a550e8.txt, Algorithm 13, whose noisy distance and threshold this replaces;
//! Desfontaines, Voss, Gipson and Mandayam 2022 ("optimal partition selection").
//!
//! # Guarantee
//!
//! Let a slack count changes to a bad data set: it moves by at most one between neighbours, and is at its
//! least, one row to change, wherever some neighbour is bad. Then releasing what is safe unless a neighbour
//! is bad (a value that differs nowhere near, say) when the gate opens, and refusing otherwise, is
//! (epsilon, delta)-DP under the adjacency of the gate, and (epsilon, delta') for no smaller delta'.
//! A slack that no number of changes brings down opens the gate with certainty.
//!
//! # Why
//!
//! 1. Two neighbours that release the same: their slacks differ by at most one row, and consecutive
//!    probabilities of opening satisfy both inequalities of (epsilon, delta), for open and for shut.
//! 2. Two that release different things both have one row to change and open with probability delta at most;
//!    a refusal is equally likely on both sides.
//! 3. No probabilities that satisfy step 1 and open with at most delta at one row are larger anywhere, so no
//!    release-or-refuse mechanism that looks at the slack alone answers more often.
//!
//! # Differs
//!
//! The text adds Laplace noise and compares with ln(1/delta)/epsilon, which costs (epsilon, delta/2) and opens
//! less often at every distance; [`threshold`](super::threshold) has that form by name. A slack counted under
//! add/remove is halved, rounding up, where the gate is for replace; one counted under replace says nothing
//! about data sets of another size, so a gate for add/remove stays shut on it. That is decided by how code was
//! put together and not by rows, and it is no panic, because nothing may fail after a charge.
//!
//! One decision on every path, whatever the slack. Where epsilon is so small that the table would be long,
//! big-number arithmetic runs at each draw, and its time depends on the slack.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, mechanism::gate::Gate, outcome::Slack};
//!
//! let gate = Gate { eps: "1".parse()?, delta: "1e-6".parse()?, adjacency: Adjacency::AddRemove };
//! let gate = gate.calibrate()?;
//! assert_eq!(gate.cost().to_string(), "(1, 0.000001)-differential privacy");
//! // Certain once 28 rows must change; an even chance at 14.
//! assert_eq!(gate.slack_for(&"1".parse()?).unwrap().until_change(), Some(28));
//! assert_eq!(gate.slack_for(&"0.5".parse()?).unwrap().until_change(), Some(14));
//! let slack = Slack::rows_to_change(40, Adjacency::AddRemove);
//! # let mut coins = ScriptedWords::new(vec![1 << 40]);
//! assert!(gate.run(slack, &mut coins));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Delta, Eps, Loss, ParameterError},
    opening::Opening,
    outcome::Slack,
    ratio::Ratio,
    solve,
};

/// Parameters of a gate; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// How much the slack may show.
    pub eps: Eps,
    /// How often a value that only one data set has may be released. Above zero.
    pub delta: Delta,
    /// What one person may change.
    pub adjacency: Adjacency,
}

/// A gate ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    gate: Gate,
    opening: Opening,
}

impl Gate {
    /// Compute the probabilities of opening. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        if self.delta.is_zero() {
            return Err(ParameterError::out_of_range(
                "delta",
                &self.delta,
                "release-or-refuse needs a delta above 0 such as 1e-6; without one use a mechanism that always answers",
            ));
        }
        let opening = Opening::new(self.eps.ratio(), self.delta.ratio()).ok_or_else(|| {
            let accepted = "so small a budget would need more rows than can be counted; give a larger one";
            ParameterError::out_of_range("epsilon", &self.eps, accepted)
        })?;
        Ok(Calibrated { gate: self.clone(), opening })
    }

    /// The least epsilon (six digits) at which this slack is refused with probability at most beta.
    pub fn eps_for(&self, slack: Slack, beta: &Ratio) -> Option<Eps> {
        solve::smallest_eps(|eps| {
            let gate = Self { eps: eps.clone(), ..self.clone() };
            gate.calibrate().is_ok_and(|gate| gate.accuracy(slack) <= *beta)
        })
    }
}

impl Calibrated {
    /// What a run costs, together with what is released when the gate opens.
    pub fn cost(&self) -> Loss {
        Loss::approx(&self.gate.eps, &self.gate.delta)
    }

    /// The adjacency that the cost is about.
    pub fn adjacency(&self) -> Adjacency {
        self.gate.adjacency
    }

    /// Rows to change as the gate counts them: zero where the slack says nothing here.
    fn rows(&self, slack: Slack) -> Option<u64> {
        match slack.counted_in(self.gate.adjacency) {
            Some(slack) => slack.until_change(),
            None => Some(0),
        }
    }

    /// Does the gate open? Total: whatever the slack, the answer is yes or no.
    pub fn run(&self, slack: Slack, coins: &mut impl Coins) -> bool {
        self.opening.draw(self.rows(slack), coins)
    }

    /// The exact probability that the gate opens at this slack.
    pub fn probability(&self, slack: Slack) -> Ratio {
        self.rows(slack).map_or(Ratio::one(), |rows| self.opening.probability(rows))
    }

    /// The least slack at which the gate opens with at least this probability; `None` where none does.
    pub fn slack_for(&self, probability: &Ratio) -> Option<Slack> {
        let rows = self.opening.first_reaching(probability)?;
        Some(Slack::rows_to_change(rows, self.gate.adjacency))
    }

    /// The chance of a refusal at this slack.
    pub fn accuracy(&self, slack: Slack) -> Ratio {
        Ratio::one() - self.probability(slack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::Interval,
        outcome::Outcome,
        tape::{Pmf, delta_between, enumerate},
    };
    use Adjacency::{AddRemove, Replace};

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn gate(eps: &str, delta: &str) -> Calibrated {
        let (eps, delta) = (eps.parse().unwrap(), delta.parse().unwrap());
        Gate { eps, delta, adjacency: Replace }.calibrate().unwrap()
    }

    fn rows(rows: u64) -> Slack {
        Slack::rows_to_change(rows, Replace)
    }

    #[test]
    fn hand_computed_probabilities() {
        let half = gate("1", "0.5");
        assert_eq!(half.probability(rows(1)), ratio("0.5"));
        assert_eq!(half.probability(rows(2)), Ratio::one());
        // 1e-6, then e·1e-6 + 1e-6, then e times that plus 1e-6.
        let e = 1f64.exp();
        for (steps, expected) in [(1, 1e-6), (2, 1e-6 * (1.0 + e)), (3, 1e-6 * (1.0 + e + e * e))] {
            let found = gate("1", "1e-6").probability(rows(steps)).to_f64();
            assert!((found / expected - 1.0).abs() < 1e-14, "{steps} {found}");
        }
    }

    /// Rows to change for a probability of .5 and .99 and for certainty, at delta 1e-6.
    #[test]
    fn distances_of_the_theory_page() {
        for (eps, half, most, all) in [
            ("0.01", 853, 1243, 1705),
            ("0.05", 204, 282, 407),
            ("0.1", 109, 148, 218),
            ("0.5", 26, 34, 51),
            ("1", 14, 18, 28),
            ("2", 8, 10, 15),
        ] {
            let found = ["0.5", "0.99", "1"]
                .map(|probability| gate(eps, "1e-6").slack_for(&ratio(probability)).unwrap())
                .map(|slack| slack.until_change().unwrap());
            assert_eq!(found, [half, most, all], "epsilon {eps}");
        }
    }

    /// What is released at this many rows to change; `value` differs only between data sets at one row.
    fn release(gate: &Calibrated, value: u8, slack: Slack) -> Pmf<Outcome<u8>> {
        enumerate(&ratio("1e-60"), |tape| {
            if gate.run(slack, tape) { Outcome::Value(value) } else { Outcome::Refused }
        })
    }

    /// The worst delta over every pair of neighbours that there can be.
    fn worst(gate: &Calibrated, eps: &str, measured: impl Fn(u64) -> Slack) -> Interval {
        let end = gate.slack_for(&Ratio::one()).unwrap().until_change().unwrap() + 2;
        let at = |value, rows| release(gate, value, measured(rows));
        let apart = delta_between(&ratio(eps), &at(0, 1), &at(1, 1));
        let same = |rows| delta_between(&ratio(eps), &at(0, rows), &at(0, rows + 1));
        (1..end).map(same).fold(apart, |worst, delta| worst.max(&delta))
    }

    #[test]
    fn exact_audit_meets_the_claim_to_the_last_digit() {
        for (eps, delta) in [("1", "1e-6"), ("0.1", "0.01"), ("2", "0.3"), ("20", "1e-10"), ("0.5", "1e-25")]
        {
            let worst = worst(&gate(eps, delta), eps, rows);
            let claim = ratio(delta);
            assert!(worst.upper() <= &claim + &ratio("1e-40"), "{eps} {delta}");
            assert!(worst.lower() >= &claim - &(&claim * &ratio("1e-25")), "{eps} {delta}");
        }
    }

    #[test]
    fn a_mutant_that_counts_one_row_too_many_is_caught() {
        let worst = worst(&gate("1", "1e-6"), "1", |steps| rows(steps + 1));
        assert!((worst.to_f64() - 1e-6 * (1.0 + 1f64.exp())).abs() < 1e-12);
    }

    #[test]
    fn slack_of_another_adjacency_is_converted_or_kept_out() {
        let replace = gate("1", "1e-3");
        let add_remove = Gate { adjacency: AddRemove, ..replace.gate.clone() }.calibrate().unwrap();
        for steps in 1..20 {
            let added = Slack::rows_to_change(steps, AddRemove);
            assert_eq!(replace.probability(added), replace.probability(rows(steps.div_ceil(2))));
            assert!(add_remove.probability(rows(steps)).is_zero());
            assert!(!add_remove.run(rows(steps), &mut ScriptedWords::new(vec![0, 0])));
        }
        assert!(add_remove.probability(Slack::constant(Replace)).is_zero());
        assert_eq!(replace.probability(Slack::constant(AddRemove)), Ratio::one());
    }

    #[test]
    fn the_ends_of_the_domain() {
        let error = Gate { eps: "1".parse().unwrap(), delta: Delta::zero(), adjacency: Replace };
        assert_eq!(
            error.calibrate().unwrap_err().to_string(),
            "delta 0 is not accepted: release-or-refuse needs a delta above 0 such as 1e-6; \
             without one use a mechanism that always answers"
        );
        assert!(error.eps_for(rows(9), &ratio("0.5")).is_none());
        for (eps, delta) in [("1000", "1e-6"), ("1e-30", "1e-6"), ("1e-12", "0.999"), ("1000", "1e-400")] {
            let gate = gate(eps, delta);
            let first = gate.probability(rows(1));
            assert!(first <= ratio(delta) && first >= ratio(delta) * ratio("0.999999"), "{eps} {delta}");
            assert_eq!(gate.probability(rows(u64::MAX)), Ratio::one(), "{eps} {delta}");
            assert!(gate.run(Slack::constant(Replace), &mut ScriptedWords::new(vec![u64::MAX; 3])));
        }
    }

    #[test]
    fn the_inverse_question_agrees() {
        let shape = Gate { eps: "1".parse().unwrap(), delta: "1e-6".parse().unwrap(), adjacency: Replace };
        let eps = shape.eps_for(rows(18), &ratio("0.01")).unwrap();
        let refused = |eps: Eps| Gate { eps, ..shape.clone() }.calibrate().unwrap().accuracy(rows(18));
        assert!(eps < shape.eps && refused(eps.clone()) <= ratio("0.01"));
        assert!(refused(Eps::new(eps.ratio() - &ratio("1e-6")).unwrap()) > ratio("0.01"));
    }

    #[test]
    fn every_slack_takes_one_decision() {
        for gate in [gate("1", "0.01"), gate("1e-6", "0.00001")] {
            for slack in [rows(1), rows(7), rows(1 << 40), Slack::constant(Replace)] {
                let decisions = enumerate(&ratio("1e-60"), |tape| {
                    gate.run(slack, tape);
                    tape.decisions()
                });
                assert!(decisions.iter().all(|(&decisions, _)| decisions == 1));
            }
        }
    }

    #[test]
    fn a_scripted_run() {
        let gate = gate("1", "0.5");
        let half = 1 << 63;
        for (words, opens) in [(vec![half - 1], true), (vec![half, 0], false), (vec![half + 1], false)] {
            let mut coins = ScriptedWords::new(words);
            assert_eq!(gate.run(rows(1), &mut coins), opens);
        }
        assert!(gate.run(rows(2), &mut ScriptedWords::new(vec![u64::MAX, 0])));
    }
}
