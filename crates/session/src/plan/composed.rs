//! Several parts of one plan whose losses add up as concentrated ones: with a delta, k parts cost about what the root of k would.
//!
//! # Guarantee
//!
//! All answers of a composed plan together keep the epsilon and delta that were said, under the adjacency and for the unit of the plan.
//!
//! # Why
//!
//! 1. Each part says what it loses for each row that comes or goes, in the family that describes it best: a drawn quantile
//!    `epsilon²/8`-zero-concentrated, the bell curve its rho, everything else (epsilon, delta), which is delta-approximate
//!    `epsilon·tanh(epsilon/2)`-zero-concentrated. All of these are fixed while planning.
//! 2. The rows of a person are a path of steps: a rho grows with the square of their number, (epsilon, delta) as for any group.
//! 3. Concentrated losses add up, whichever part looks at the answers of others, and the sum is converted at the delta that was said
//!    ([`Zcdp::to_approx`], rounded up). A plan is taken only if that is at most the epsilon that was said.
//! 4. How much more each part may lose than a plain share is found from public words alone, by planning at several prices.

use super::{DataFacts, PlanError, Planned};
use crate::{batch::Batch, request::Request, statistic::Statistic};
use equipoise_core::{
    loss::{Amount, Approx, Delta, Eps, Loss, Zcdp, rho_for},
    ratio::Ratio,
};

/// The name of the accountant, in plans and releases.
pub(super) const ACCOUNTANT: &str = "zcdp";
/// Shares that grow by less are not worth a delta.
const LEAST_GAIN: f64 = 1.02;
/// Of a delta half is for the parts that need one of their own.
pub(super) const OWN: (i64, u64) = (1, 2);
/// How often a factor is tried that is a little smaller.
const TRIALS: i32 = 6;

/// What one part of a composed plan loses for each row, and over how many rows of a person.
#[derive(Clone, Debug)]
pub(super) struct Lost {
    pub losses: Vec<Loss>,
    pub steps: u64,
}

impl Lost {
    /// As one concentrated loss of a path of so many steps.
    fn zcdp(&self, steps: u64) -> Option<Zcdp> {
        let nothing = Zcdp { rho: Amount::zero(), delta: Amount::zero() };
        self.losses.iter().try_fold(nothing, |sum, loss| Some(sum.compose(&loss.steps(steps)?.to_zcdp()?)))
    }

    /// What it comes to for a person at this delta, in a few digits that are not below it.
    pub fn of_person(&self, delta: &Delta) -> Option<Approx> {
        self.at(self.steps, delta)
    }

    /// The same for one row.
    pub fn of_row(&self, delta: &Delta) -> Option<Approx> {
        self.at(1, delta)
    }

    fn at(&self, steps: u64, delta: &Delta) -> Option<Approx> {
        let plain = self.losses.iter().map(|loss| match loss {
            Loss::Approx(loss) => Some(loss.steps(steps)),
            Loss::Zcdp(_) | Loss::Renyi(_) => None,
        });
        let plain: Option<Vec<Approx>> = plain.collect();
        match plain {
            Some(plain) => plain.into_iter().reduce(|sum, loss| sum.compose(&loss)),
            None => shortened(self.zcdp(steps)?.to_approx(delta)?),
        }
    }
}

/// With six digits, not below.
fn shortened(loss: Approx) -> Option<Approx> {
    let eps = loss.eps.ratio().to_short_up(6, 12).parse().ok()?;
    Some(Approx { eps: Amount::new(eps).ok()?, delta: loss.delta })
}

/// How the parts of a plan are composed.
#[derive(Clone, Debug)]
pub(super) struct Composed {
    parts: Vec<Lost>,
    /// What was said, which is what all of it costs a person.
    said: (Eps, Delta),
}

impl Composed {
    /// What all of it costs a person: what was said, which is not below what it comes to.
    pub fn cost(&self) -> Approx {
        Approx::new(&self.said.0, &self.said.1)
    }

    /// What it costs whoever changes so many of the rows that take part.
    pub fn of_rows(&self, steps: u64) -> Option<Approx> {
        shortened(sum(self.parts.iter().map(|part| part.zcdp(steps)))?.to_approx(&self.said.1)?)
    }

    /// What it comes to for a person.
    fn total(&self) -> Option<Approx> {
        sum(self.parts.iter().map(|part| part.zcdp(part.steps)))?.to_approx(&self.said.1)
    }
}

fn sum(parts: impl Iterator<Item = Option<Zcdp>>) -> Option<Zcdp> {
    let mut parts = parts;
    let first = parts.next()??;
    parts.try_fold(first, |sum, part| Some(sum.compose(&part?)))
}

/// What the questions of a batch are composed at: more than their plain shares by a factor.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    pub factor: Ratio,
    pub said: (Eps, Delta),
}

impl Terms {
    pub fn composed(&self, parts: Vec<Lost>) -> Composed {
        Composed { parts, said: self.said.clone() }
    }
}

/// The epsilon and delta of a batch, where its questions may be composed: there is a delta, and no question has a price of its own.
fn said(batch: &Batch) -> Option<(Eps, Delta)> {
    let own = |question: &Request| {
        question.epsilon.is_some() || question.delta.is_some() || question.target_error.is_some()
    };
    if batch.questions.iter().any(own) {
        return None;
    }
    let delta: Delta = batch.shared.delta.as_deref()?.parse().ok()?;
    (!delta.is_zero()).then_some((batch.shared.epsilon.as_deref()?.parse().ok()?, delta))
}

/// The same questions composed, where each then has more than its plain share; nothing where plain shares do as well.
pub(super) fn better(batch: &Batch, facts: &DataFacts) -> Option<Planned> {
    let said = said(batch)?;
    let at = |factor: Ratio| -> Result<Planned, (Option<usize>, PlanError)> {
        Planned::composed(batch, facts, &Terms { factor, said: said.clone() })
    };
    best(&said, at)
}

/// The same for one question whose parts may be composed: a summary.
pub(super) fn better_alone(request: &Request, facts: &DataFacts) -> Option<Planned> {
    if request.statistic != Statistic::Summary.spec().name || request.target_error.is_some() {
        return None;
    }
    let question = Request { epsilon: None, delta: None, ..request.clone() };
    let batch = Batch { data: None, relation: None, shared: request.clone(), questions: vec![question] };
    let mut planned = better(&batch, facts)?;
    // What was said, and not the larger share that came of it.
    planned.parts[0].request = request.clone();
    Some(planned)
}

/// The plan at the largest factor above one that keeps to what was said.
fn best(
    (eps, delta): &(Eps, Delta),
    at: impl Fn(Ratio) -> Result<Planned, (Option<usize>, PlanError)>,
) -> Option<Planned> {
    let composed = |planned: &Planned| planned.composed.clone();
    let plain = composed(&at(Ratio::one()).ok()?)?;
    let lost = sum(plain.parts.iter().map(|part| part.zcdp(part.steps)))?;
    let left = Delta::new(delta.ratio() - lost.delta.ratio()).ok()?;
    let may = rho_for(eps, &left).ok()?;
    // Losses grow about with the square of what each part may lose; what it comes to is checked.
    let mut factor = (may.ratio() / lost.rho.ratio()).to_f64().sqrt().min(1000.0);
    for _ in 0..TRIALS {
        if factor < LEAST_GAIN {
            return None;
        }
        let short: Ratio = format!("{:.3}", (factor * 1000.0).floor() / 1000.0).parse().ok()?;
        let planned = at(short).ok()?;
        let total = composed(&planned)?.total();
        if total.is_some_and(|total| total.eps.ratio() <= eps.ratio() && total.delta.ratio() <= delta.ratio())
        {
            return Some(planned);
        }
        factor *= 0.98;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use equipoise_core::adjacency::{Adjacency, Unit};

    fn facts() -> DataFacts {
        let columns =
            ["salary", "town"].map(String::from).into_iter().chain((0..100).map(|one| format!("x{one}")));
        let columns = columns.collect();
        DataFacts { name: "people".into(), columns, registered: None, kinds: Vec::new(), windows: None }
    }

    fn batch(shared: &str, question: &str, many: usize) -> Batch {
        // Moments of one column share a draw, and its price.
        let one = |number: usize| question.replace("salary", &format!("x{number}"));
        let questions = (0..many).map(one).collect::<Vec<_>>().join(", ");
        Batch::from_json(&format!(r#"{{{shared}, "questions": [{questions}]}}"#)).unwrap()
    }

    fn planned(shared: &str, question: &str, many: usize) -> Plan {
        Plan::batch(&batch(shared, question, many), &facts()).unwrap()
    }

    /// How much less far a question is off than with plain shares.
    fn gain(shared: &str, question: &str, many: usize) -> f64 {
        let off = |plan: &Plan| {
            let task = plan.parts()[0].task();
            crate::task::Answering::predicted(task).expect("an error that is known")
        };
        let composed = planned(shared, question, many);
        assert_eq!(composed.cost().eps.to_exact(), "1");
        let plain = Planned::plain(&batch(shared, question, many), &facts()).unwrap();
        let task = plain.parts[0].task();
        crate::task::Answering::predicted(task).unwrap() / off(&composed)
    }

    const COUNT: &str = r#"{"statistic": "count"}"#;
    const MEDIAN: &str = r#"{"statistic": "median", "column": "salary"}"#;
    const SAID: &str = r#""epsilon": 1, "delta": "1e-6""#;

    #[test]
    fn many_parts_cost_about_a_root_and_few_are_added_up() {
        for (question, few, some, many) in [(COUNT, 8, 25, 100), (MEDIAN, 3, 8, 32)] {
            let plan = planned(SAID, question, few);
            assert!(plan.promise().composition.is_none(), "{question}");
            assert_eq!(plan.cost().delta.to_exact(), "0");
            // Four times as many questions, each twice as far off.
            let (gain_of_some, gain_of_many) = (gain(SAID, question, some), gain(SAID, question, many));
            let times = gain_of_many / gain_of_some;
            assert!(gain_of_some > 1.2 && (times - 2.0).abs() < 0.15, "{question}: {gain_of_some} {times}");
            let plan = planned(SAID, question, some);
            assert_eq!(plan.promise().composition.as_deref(), Some("zcdp"));
            assert_eq!(plan.cost().delta.to_exact(), "0.000001");
        }
        let without = planned(r#""epsilon": 1"#, COUNT, 100);
        assert!(without.promise().composition.is_none() && without.cost().delta.is_zero());
    }

    #[test]
    fn what_is_composed_keeps_to_what_was_said() {
        let mean = r#"{"statistic": "mean", "column": "salary"}"#;
        let summary = r#"{"statistic": "summary", "column": "salary"}"#;
        let ranged = r#"{"statistic": "std", "column": "salary", "range": "0,9"}"#;
        for shared in [
            SAID.to_string(),
            format!(r#"{SAID}, "adjacency": "replace""#),
            format!(r#"{SAID}, "unit": "town", "max_rows_per_unit": 3"#),
            format!(r#"{SAID}, "unit": "town", "adjacency": "replace""#),
            format!(r#"{SAID}, "group_by": "town""#),
            format!(r#"{SAID}, "group_by": "town", "adjacency": "replace""#),
            format!(r#"{SAID}, "where": "salary > 3""#),
        ] {
            for (question, many) in [(mean, 9), (summary, 4), (ranged, 12)] {
                let composed = better(&batch(&shared, question, many), &facts()).expect(question);
                let all = composed.composed.as_ref().unwrap();
                let total = all.total().unwrap();
                assert!(total.eps.ratio() <= &Ratio::one() && total.eps.ratio().to_f64() > 0.9, "{question}");
                assert!(total.delta.ratio() <= &"1e-6".parse().unwrap(), "{shared}");
            }
        }
    }

    /// Questions that share a draw share its price already.
    #[test]
    fn moments_of_one_column_are_added_up() {
        let mean = r#"{"statistic": "mean", "column": "salary"}"#;
        let questions = [mean; 9].join(", ");
        let batch = Batch::from_json(&format!(r#"{{{SAID}, "questions": [{questions}]}}"#)).unwrap();
        let plan = Plan::batch(&batch, &facts()).unwrap();
        assert!(plan.promise().composition.is_none() && plan.cost().delta.is_zero());
    }

    /// A question that has a price of its own is paid as it says, and others with it.
    #[test]
    fn prices_of_their_own_are_added_up() {
        let own = r#"{"statistic": "count", "epsilon": "0.01"}"#;
        assert!(planned(SAID, own, 40).promise().composition.is_none());
    }

    /// A budget of single rows is charged for what one row of a person's changes, in squares and not in sums.
    #[test]
    fn budgets_of_rows_are_charged_for_the_rows_that_change() {
        let rows = DataFacts { registered: Some((Unit::Row, Adjacency::AddRemove)), ..facts() };
        let shared = format!(r#"{SAID}, "unit": "town", "max_rows_per_unit": 5"#);
        let plan = Plan::batch(&batch(&shared, COUNT, 30), &rows).unwrap();
        // A row that comes may take the place of another: two of five rows change.
        let charged = plan.charge().eps.ratio().to_f64();
        assert!(charged > 0.3 && charged < 0.4, "{charged}");
        let replace =
            DataFacts { registered: Some((Unit::Column("town".into()), Adjacency::Replace)), ..facts() };
        let plan = Plan::batch(&batch(&format!(r#"{SAID}, "adjacency": "add-remove""#), COUNT, 30), &replace);
        assert!(plan.is_err() || plan.unwrap().charge().eps.ratio() >= &Ratio::one());
    }
}
