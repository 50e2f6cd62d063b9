//! What earlier releases tell about how many rows there are: a question that needs more is known to be refused before it is paid for.

use crate::{
    answer::BatchAnswer,
    error::PlanError,
    ledger::{Ledger, LedgerError, Recorded},
    next::NextStep,
    plan::Plan,
    promise::{Outcome, Promise},
    release::Release,
    statistic::{Argument, Statistic, Truth},
};
use equipoise_core::ratio::Ratio;

/// Bars that are less sure keep nobody from asking.
const SURE: f64 = 0.95;
/// So many releases are looked at, the latest first.
const LOOKED_AT: u32 = 200;

/// A number of rows that was released.
#[derive(Clone, Debug, PartialEq)]
struct RowCount {
    filter: Option<String>,
    column: Option<String>,
    promise: Promise,
    /// There are no more, as sure as its error bar is.
    most: u64,
    /// How wide the bar is.
    width: u64,
    receipt: String,
}

/// What this analyst was told of the number of rows of a data set, while it was as it is now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EarlierCounts(Vec<RowCount>);

/// A question that would be refused, by what was told already.
#[derive(Clone, Debug, PartialEq)]
pub struct TooFewRows {
    /// Why, in one line.
    pub error: PlanError,
    /// The same question as it would be answered.
    pub step: Option<NextStep>,
}

impl EarlierCounts {
    /// Look them up. `changed` is when the data was changed last, as the ledger writes times; what was told before is about other rows.
    pub fn of(
        ledger: &Ledger,
        data: &str,
        analyst: Option<&str>,
        changed: &str,
    ) -> Result<Self, LedgerError> {
        let recorded = ledger.latest_records(data, analyst, LOOKED_AT)?;
        Ok(Self(
            recorded
                .iter()
                .filter(|recorded| recorded.receipt.time.as_str() > changed)
                .filter_map(row_count)
                .collect(),
        ))
    }

    /// The error of a plan that needs more rows than there are, and what would do.
    pub fn check(&self, plan: &Plan) -> Result<(), Box<TooFewRows>> {
        let Some(needed) = plan.rows_needed() else { return Ok(()) };
        let (request, promise) = (plan.request(), plan.promise());
        let wider = |count: &&RowCount| {
            (count.filter.is_none() || count.filter == request.filter)
                // Under replace rows without a value take part, which a count of the column leaves out.
                && (count.column.is_none() || (count.column == request.column && promise.adjacency == "add-remove"))
                && (&count.promise.unit, count.promise.max_rows_per_unit, count.promise.max_groups_per_unit)
                    == (&promise.unit, promise.max_rows_per_unit, promise.max_groups_per_unit)
        };
        // The one with the narrowest bar, whatever it says: of several upper ends the least fails more often than each.
        let narrowest = self.0.iter().filter(wider).min_by_key(|count| count.width);
        let Some(count) = narrowest.filter(|count| count.most < needed) else { return Ok(()) };
        let receipt: String = count.receipt.chars().take(8).collect();
        let problem = format!(
            "this would be refused: it takes about {needed} rows, and there are at most {}, as sure as the count of receipt {receipt} is",
            count.most
        );
        let step = plan.with_more_epsilon(count.most);
        let enough = step.as_ref().and_then(|step| step.request.epsilon.clone());
        let hint = match &enough {
            Some(epsilon) => format!("`epsilon={epsilon}` is enough, or give `anyway` to ask all the same"),
            None => "no epsilon up to 10 is enough; give `anyway` to ask all the same".to_string(),
        };
        let error =
            PlanError::about(Argument::Epsilon, problem).hint(hint).meaning(Argument::Epsilon, enough);
        Err(Box::new(TooFewRows { error, step }))
    }
}

/// What a release tells of the number of rows.
fn row_count(recorded: &Recorded) -> Option<RowCount> {
    let release: Release = serde_json::from_str(&recorded.release).ok()?;
    if release.guarantee.per_unit {
        return None;
    }
    let counts = |name: &str| Statistic::named(name).is_some_and(|one| one.spec().truth == Truth::Count);
    let error = match &release.answers {
        None if counts(&release.statistic)
            && release.groups.is_none()
            && release.outcome == Outcome::Released =>
        {
            release.error.clone()?
        }
        Some(answers) if release.statistic == Statistic::Summary.name() => {
            let count = answers.iter().find(|item: &&BatchAnswer| counts(&item.statistic))?;
            count.error.clone().filter(|_| count.outcome == Outcome::Released)?
        }
        _ => return None,
    };
    if error.confidence() < SURE {
        return None;
    }
    let [low, high] = error.numeric_ends()?;
    let whole = |number: f64| {
        Ratio::from_f64_exact(number)
            .and_then(|number| number.ceil_i64())
            .map(|number| number.max(0).unsigned_abs())
    };
    let (least, most) = (whole(low)?, whole(high)?);
    Some(RowCount {
        filter: release.filter,
        column: release.column,
        promise: release.guarantee,
        most,
        width: most.saturating_sub(least),
        receipt: recorded.receipt.id.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gather::tests::Memory,
        request::Request,
        session::{Paid, Session, facts},
    };

    const COLUMNS: [&str; 2] = ["salary", "town"];

    fn asked(statistic: &str, epsilon: &str) -> Request {
        let column = (statistic != "count").then(|| "salary".to_string());
        Request { column, epsilon: Some(epsilon.into()), ..Request::new(statistic) }
    }

    fn plan(session: &Session, request: &Request) -> Plan {
        let facts = facts(Some(session.ledger()), "people", &COLUMNS.map(String::from)).unwrap();
        Plan::new(request, &facts).unwrap()
    }

    fn told(session: &mut Session, request: &Request) {
        let plan = plan(session, request);
        let Ok(Paid::Charged(charged)) = session.charge(plan, None) else { panic!("no limit, no id") };
        session.run(*charged, &Memory::new(vec![1.0; 300], &["a"; 300])).unwrap();
    }

    fn check(session: &Session, request: &Request, changed: &str) -> Result<(), String> {
        let counts = EarlierCounts::of(session.ledger(), "people", None, changed).unwrap();
        counts.check(&plan(session, request)).map_err(|few| few.error.to_string())
    }

    const LONG_AGO: &str = "2000-01-01T00:00:00Z";

    #[test]
    fn a_count_of_the_same_or_of_more_rows_tells_that_there_are_too_few() {
        let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        let median = asked("median", "0.01");
        assert_eq!(check(&session, &median, LONG_AGO), Ok(()), "nothing is known");
        let of_town = Request { filter: Some("town = 'a'".into()), ..asked("count", "10") };
        told(&mut session, &of_town);
        assert_eq!(check(&session, &median, LONG_AGO), Ok(()), "a count of some rows says nothing of all");
        let filtered = Request { filter: of_town.filter.clone(), ..median.clone() };
        assert!(check(&session, &filtered, LONG_AGO).is_err(), "the same rows");
        told(&mut session, &asked("count", "10"));
        let few = check(&session, &median, LONG_AGO).unwrap_err();
        assert!(
            few.starts_with("this would be refused: it takes about") && few.contains("`epsilon=0.3`"),
            "{few}"
        );
        assert_eq!(check(&session, &asked("median", "1"), LONG_AGO), Ok(()), "enough rows");
        assert_eq!(check(&session, &median, "9999-01-01T00:00:00Z"), Ok(()), "the data has changed since");
        let other = EarlierCounts::of(session.ledger(), "people", Some("ana"), LONG_AGO).unwrap();
        assert_eq!(other, EarlierCounts::default(), "who was told nothing knows nothing");
        let of_people = Request { unit: Some("town".into()), ..median };
        assert_eq!(check(&session, &of_people, LONG_AGO), Ok(()), "rows are not people");
    }

    #[test]
    fn a_summary_tells_the_number_of_rows_too() {
        let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        told(&mut session, &asked("summary", "8"));
        assert!(check(&session, &asked("iqr", "0.01"), LONG_AGO).is_err());
        let town = Request { column: Some("town".into()), ..asked("median", "0.01") };
        assert_eq!(check(&session, &town, LONG_AGO), Ok(()), "rows with a salary are not those with a town");
    }
}
