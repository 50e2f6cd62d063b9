//! What a monitor will promise and cost. Every error that its words can have happens here, for free.

use crate::{
    caution, columns,
    error::PlanError,
    facts::DataFacts,
    ledger::DataSet,
    planned::PlanSummary,
    promise::{Promise, Spent},
    request, resolved,
    session::Priced,
    statistic::Argument,
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::{Approx, Delta, Eps, Loss},
    monitor::threshold_monitor::{
        Calibrated, Contributions, Noise, ThresholdMonitor, above_noiseless_threshold, simplified_monitor,
    },
    ratio::Ratio,
    wording,
};
use serde_json::{Value, json};

/// What ledger and releases call it.
pub(super) const STATISTIC: &str = "monitor";
/// The mechanism by name.
pub(super) const MECHANISM: &str = "threshold-monitor";
/// Parts of a sum are multiples of 2^-32.
const BITS: u32 = 32;

/// What was said of a monitor, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MonitorRequest {
    /// The privacy loss of all answers together.
    pub epsilon: Option<String>,
    /// By how much any set of answers may be likelier than epsilon allows.
    pub delta: Option<String>,
    /// To how many positive answers one unit may add, before it drops out.
    pub budget_per_unit: Option<String>,
    /// The column that names people; a person is a row without one.
    pub unit: Option<String>,
    /// What one person may change.
    pub adjacency: Option<String>,
    /// Sums will be asked for besides counts, which takes more noise.
    pub sums: bool,
    /// A form of the text by its name (`FORMS`), in place of the monitor.
    pub form: Option<String>,
    /// Who asks.
    pub analyst: Option<String>,
    /// How the file is read: the character between fields.
    pub delimiter: Option<String>,
    /// How the file is read: does the first line name the columns?
    pub header: Option<bool>,
}

/// A monitor that can be paid for.
#[derive(Clone, Debug)]
pub struct MonitorPlan {
    request: Value,
    data: String,
    unit: Unit,
    /// The place of the column that names people.
    unit_column: Option<usize>,
    calibrated: Calibrated,
    cost: Approx,
    charge: Approx,
    charged: DataSet,
}

impl MonitorPlan {
    /// Understand what was said.
    pub fn new(request: &MonitorRequest, facts: &DataFacts) -> Result<Self, PlanError> {
        crate::windows::none(facts)?;
        let no_epsilon = || {
            PlanError::about(Argument::Epsilon, "how much privacy may it cost?")
                .hint("Give `epsilon`, such as 1")
        };
        let eps: Eps = said(request.epsilon.as_ref(), no_epsilon)?.parse()?;
        let no_delta =
            || PlanError::about(Argument::Delta, "a monitor needs a `delta` above 0, such as 1e-6");
        let delta: Delta = said(request.delta.as_ref(), no_delta)?.parse()?;
        let form = request.form.as_deref().map(|name| Form::named(name, request)).transpose()?;
        let no_budget = || {
            PlanError::about_option(BUDGET, "to how many positive answers may one unit add?")
                .hint("Give `budget_per_unit`, such as 10")
        };
        let once = form.map(|_| "1".to_string());
        let budget = said(request.budget_per_unit.as_ref().or(once.as_ref()), no_budget)?;
        let budget: u64 = budget.parse().map_err(|_| {
            let given = wording::option_with(BUDGET, &wording::shown(budget));
            PlanError::about_option(BUDGET, format!("{given} is not accepted:"))
                .hint("give a whole number from 1 to 1000000")
        })?;
        let words =
            request::Request { adjacency: request.adjacency.clone(), ..request::Request::new(STATISTIC) };
        let adjacency = resolved::adjacency(&words, facts)?;
        let unit = facts.unit(request.unit.as_deref())?;
        let unit_column = match &unit {
            Unit::Row => None,
            Unit::Column(name) => Some(columns::place(&facts.columns, name).map_err(|error| {
                PlanError::no_column(Argument::Unit, &error).within_argument(Argument::Unit)
            })?),
        };
        let contributions =
            if request.sums { Contributions::Fractional { bits: BITS } } else { Contributions::Binary };
        let monitor = ThresholdMonitor {
            eps: eps.clone(),
            delta: delta.clone(),
            budget,
            contributions,
            noise: Noise::Gumbel,
            adjacency,
        };
        let calibrated = match form {
            None => monitor.calibrate()?,
            Some(form) => form.calibrate(&monitor)?,
        };
        let Loss::Approx(cost) = calibrated.cost() else { unreachable!("a monitor costs (epsilon, delta)") };
        let charged = DataSet {
            name: facts.name.clone(),
            unit: facts.registered.as_ref().map_or(unit.clone(), |(unit, _)| unit.clone()),
            adjacency: facts.registered.as_ref().map_or(adjacency, |(_, adjacency)| *adjacency),
        };
        let charge = charge(&cost, (&unit, adjacency), &charged);
        let mut said = json!({
            "statistic": STATISTIC,
            "epsilon": eps.ratio().to_string(),
            "delta": delta.ratio().to_string(),
            "budget_per_unit": budget,
            "unit": unit_name(&unit),
            "adjacency": adjacency.to_string(),
            "sums": request.sums,
            "analyst": request.analyst,
            "delimiter": request.delimiter,
            "header": request.header,
        });
        if let Some(form) = form {
            // Said only where there is one: monitors of earlier versions have no such word.
            said["form"] = form.name().into();
        }
        Ok(Self {
            request: said,
            data: facts.name.clone(),
            unit,
            unit_column,
            calibrated,
            cost,
            charge,
            charged,
        })
    }

    /// The name that the budget belongs to.
    pub fn data(&self) -> &str {
        &self.data
    }

    /// What all answers together cost one unit.
    pub fn cost(&self) -> &Approx {
        &self.cost
    }

    /// What will be charged, in the unit and adjacency of the data set.
    pub fn charge(&self) -> &Approx {
        &self.charge
    }

    /// The scale of the noise.
    pub fn scale(&self) -> &Ratio {
        self.calibrated.scale()
    }

    /// Who asks.
    pub(super) fn analyst(&self) -> Option<&str> {
        self.request["analyst"].as_str()
    }

    /// What is promised.
    pub fn promise(&self) -> Promise {
        Promise {
            max_rows_per_unit: None,
            max_groups_per_unit: None,
            once_for_each_value: false,
            per_unit: false,
            composition: None,
            epsilon: self.cost.eps.to_exact(),
            delta: self.cost.delta.to_exact(),
            adjacency: self.calibrated.adjacency().to_string(),
            unit: self.unit.to_string(),
            windows: None,
        }
    }

    /// What of its promise protects little, one line each.
    pub fn warnings(&self) -> Vec<String> {
        caution::warnings(&self.promise(), caution::Rows::Unknown)
    }

    /// What can be told of the answers before any data is read.
    pub fn expected(&self) -> String {
        const QUESTIONS: u64 = 1000;
        let right = self.calibrated.accuracy(QUESTIONS, &Ratio::new(5, 100));
        let above =
            right.above.as_ref().map_or("never".to_string(), |above| format!("{:.0} above", above.to_f64()));
        let until =
            if self.calibrated.halts() { ", until the first of them is above, where it ends" } else { "" };
        format!(
            "of {QUESTIONS} questions all are answered rightly with probability 0.95 whose values lie at least {:.0} below \
             their thresholds or {above}{until}",
            right.below.to_f64()
        )
    }

    /// The request in its one form.
    pub(super) fn request(&self) -> &Value {
        &self.request
    }

    pub(super) fn calibrated(&self) -> &Calibrated {
        &self.calibrated
    }

    /// The place of the column that names people, where there is one.
    pub fn unit_column(&self) -> Option<usize> {
        self.unit_column
    }
}

impl Priced for MonitorPlan {
    fn data_set(&self) -> DataSet {
        self.charged.clone()
    }

    fn asked(&self) -> String {
        self.request.to_string()
    }

    fn summary(&self) -> PlanSummary {
        PlanSummary {
            mechanism: self.request["form"].as_str().unwrap_or(MECHANISM).to_string(),
            expected: self.expected(),
            charge: Spent::from(&self.charge),
            warnings: self.warnings(),
            ..PlanSummary::bare(STATISTIC, &self.data, self.promise())
        }
    }

    fn price(&self) -> Approx {
        self.charge.clone()
    }
}

/// The forms of the text by name: the noiseless threshold with two noises, which halts, and the simplified monitor.
pub const FORMS: [&str; 2] = ["above-noiseless-threshold", "simplified-monitor"];

/// A form of the text: two Laplace noises at its printed scales, which lose less than the epsilon that they are printed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    AboveNoiselessThreshold,
    SimplifiedMonitor,
}

impl Form {
    fn named(name: &str, request: &MonitorRequest) -> Result<Self, PlanError> {
        let form = match name {
            name if name == FORMS[0] => Self::AboveNoiselessThreshold,
            name if name == FORMS[1] => Self::SimplifiedMonitor,
            other => return Err(PlanError::unknown("form", other, &FORMS)),
        };
        let budget = request.budget_per_unit.as_deref().map(str::trim);
        if request.sums || budget.is_some_and(|budget| budget != "1") {
            let problem = format!("{name} counts records, each of which drops out once it has helped");
            return Err(PlanError::line(problem).hint("leave out sums and `budget_per_unit`"));
        }
        Ok(form)
    }

    fn name(self) -> &'static str {
        match self {
            Self::AboveNoiselessThreshold => FORMS[0],
            Self::SimplifiedMonitor => FORMS[1],
        }
    }

    fn calibrate(self, monitor: &ThresholdMonitor) -> Result<Calibrated, PlanError> {
        if monitor.adjacency == Adjacency::Replace {
            let problem = format!("{} is private where records come or go", self.name());
            return Err(PlanError::about(Argument::Adjacency, problem).hint("use add-remove"));
        }
        Ok(match self {
            Self::AboveNoiselessThreshold => above_noiseless_threshold(&monitor.eps, &monitor.delta)?,
            Self::SimplifiedMonitor => simplified_monitor(&monitor.eps, &monitor.delta)?,
        })
    }
}

/// To how many positive answers one unit may add.
const BUDGET: &str = "budget_per_unit";

fn said(word: Option<&String>, otherwise: impl FnOnce() -> PlanError) -> Result<&str, PlanError> {
    word.map(String::as_str).ok_or_else(otherwise)
}

fn unit_name(unit: &Unit) -> Option<&str> {
    match unit {
        Unit::Row => None,
        Unit::Column(name) => Some(name),
    }
}

/// What the budget of the data set is charged, which may count in other terms than the promise.
///
/// A budget by rows is charged for people at twice the steps: a row that comes or goes replaces its person by one with
/// other rows, who goes and comes; one that is replaced, with its id, does so to two people, which the promise for replaced
/// people covers one by one. A budget by replacing is charged for coming and going as for two steps as well.
fn charge(cost: &Approx, (unit, adjacency): (&Unit, Adjacency), charged: &DataSet) -> Approx {
    let people = *unit != charged.unit;
    let replaced = adjacency != charged.adjacency;
    match (people, replaced) {
        (false, false) => cost.clone(),
        (true, false) | (false, true) => cost.two_steps(),
        (true, true) => cost.two_steps().two_steps(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(registered: Option<(Unit, Adjacency)>) -> DataFacts {
        DataFacts {
            name: "people".into(),
            columns: vec!["id".into(), "age".into()],
            registered,
            kinds: Vec::new(),
            windows: None,
        }
    }

    fn request() -> MonitorRequest {
        let word = |text: &str| Some(text.to_string());
        MonitorRequest {
            epsilon: word("1"),
            delta: word("1e-6"),
            budget_per_unit: word("10"),
            ..MonitorRequest::default()
        }
    }

    #[test]
    fn what_is_charged_is_what_was_said_in_the_terms_of_the_data_set() {
        let by = |unit: Option<&str>, adjacency, registered| {
            let request = MonitorRequest { unit: unit.map(String::from), adjacency, ..request() };
            let plan = MonitorPlan::new(&request, &facts(registered)).unwrap();
            assert_eq!(plan.promise().epsilon, "1");
            (plan.charge().eps.to_string(), plan.charge().delta.ratio().to_f64() * 1e6)
        };
        let (row, person) = (Unit::Row, Unit::Column("id".into()));
        let e = 1f64.exp();
        let table = [
            (by(None, None, None), "1", 1.0),
            (by(Some("id"), None, None), "1", 1.0),
            (by(None, None, Some((person.clone(), Adjacency::AddRemove))), "1", 1.0),
            (by(Some("id"), None, Some((row.clone(), Adjacency::AddRemove))), "2", 1.0 + e),
            (by(None, Some("add-remove".into()), Some((row.clone(), Adjacency::Replace))), "2", 1.0 + e),
            (by(None, None, Some((row, Adjacency::Replace))), "1", 1.0),
        ];
        for (found, eps, delta) in table {
            assert!(found.0 == eps && (found.1 - delta).abs() < 1e-9, "{found:?} {eps} {delta}");
        }
    }

    #[test]
    fn sums_take_more_noise_and_the_scale_is_the_calibrated_one() {
        let plan = |sums| MonitorPlan::new(&MonitorRequest { sums, ..request() }, &facts(None)).unwrap();
        assert!((19.7..=19.8).contains(&plan(false).scale().to_f64()));
        assert!((22.0..=22.5).contains(&plan(true).scale().to_f64()));
        assert!(plan(false).expected().contains("at least 209 below"), "{}", plan(false).expected());
    }

    #[test]
    fn what_is_wrong_is_said_before_anything_is_charged() {
        let none = MonitorRequest::default();
        let registered = Some((Unit::Column("id".into()), Adjacency::AddRemove));
        for (bad, registered, said) in [
            (none.clone(), None, "how much privacy may it cost?"),
            (MonitorRequest { delta: None, ..request() }, None, "a monitor needs a `delta`"),
            (MonitorRequest { delta: Some("0".into()), ..request() }, None, "delta 0"),
            (MonitorRequest { epsilon: Some("NaN".into()), ..request() }, None, "epsilon"),
            (MonitorRequest { budget_per_unit: None, ..request() }, None, "to how many positive answers"),
            (MonitorRequest { budget_per_unit: Some("0".into()), ..request() }, None, "budget 0"),
            (
                MonitorRequest { budget_per_unit: Some("-1".into()), ..request() },
                None,
                "`budget_per_unit=-1`",
            ),
            (
                MonitorRequest { unit: Some("ID".into()), ..request() },
                None,
                "`unit`: no column is called 'ID'",
            ),
            (
                MonitorRequest { unit: Some("age".into()), ..request() },
                registered,
                "'people' is registered with the unit id",
            ),
        ] {
            let error = MonitorPlan::new(&bad, &facts(registered)).expect_err(said).to_string();
            assert!(error.starts_with(said) && !error.contains('\n'), "{error}");
        }
    }
}
