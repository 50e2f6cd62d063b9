//! What earlier releases tell about how many rows there are: a question that needs more is known to be refused before it is paid for.

use crate::{
    answer::BatchAnswer,
    bar::ErrorBar,
    error::PlanError,
    ledger::{Ledger, LedgerError},
    next::NextStep,
    plan::{Part, Plan, ToldRows},
    promise::{Outcome, Promise},
    release::Release,
    request::Request,
    statistic::{Argument, Statistic, Truth},
};
use equipoise_core::{adjacency::Unit, ratio::Ratio, wording::Surface};
use equipoise_expression::{Expression, Node};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Bars that are less sure keep nobody from asking.
const SURE: f64 = 0.95;
/// So many releases are looked at, the latest first.
const LOOKED_AT: u32 = 200;

/// A number of rows that was released.
#[derive(Clone, Debug, PartialEq)]
struct RowCount {
    filter: Option<String>,
    column: Option<String>,
    /// As what columns were read, where that was declared.
    types: BTreeMap<String, String>,
    promise: Promise,
    /// There are no more, as sure as its error bar is.
    most: u64,
    /// How far the upper end lies above the count: what the bar's price made it, whatever the noise was.
    reach: u64,
    receipt: String,
}

impl RowCount {
    /// What it tells of the number of rows of a question: the count, and where that will not do, the most that there may be. Of more rows
    /// than those that the question is about it says nothing from below.
    fn told(&self, request: &Request) -> [ToldRows; 2] {
        let is_same =
            self.filter == request.filter && self.column == request.column && request.group_by.is_empty();
        let about = self.most.saturating_sub(self.reach);
        let off = if is_same { self.reach } else { about };
        [ToldRows { about, off }, ToldRows { about: self.most, off: self.most }]
    }
}

/// What this analyst was told of the number of rows of a data set while it was as it is now, in answers of their own or in others' that
/// were shown to them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EarlierCounts(Vec<RowCount>);

/// A question that would be refused, or some of several, by what was told already.
#[derive(Clone, Debug, PartialEq)]
pub struct TooFewRows {
    /// Why, in one line.
    pub error: PlanError,
    /// The same question as it would be answered.
    pub step: Option<NextStep>,
    /// The questions of a batch that would be refused while others are answered, from one.
    pub leave_out: Vec<usize>,
    /// The questions that would be refused, from one.
    pub refused: Vec<usize>,
    /// How many rows they take and how many there are, in words.
    pub rows: String,
}

impl TooFewRows {
    fn new(error: PlanError, rows: String, refused: Vec<usize>) -> Self {
        Self { error, step: None, leave_out: Vec::new(), refused, rows }
    }

    /// The call of Python that would be answered instead. Of a batch its hint says what to add to the one that was typed.
    pub fn call(&self) -> Option<String> {
        self.step.as_ref().map(|step| step.written(Surface::Python, "data"))
    }
}

/// What takes more rows than there are.
struct Hopeless<'a> {
    /// Which quantiles of a summary, where the rest of it does not; none where all of the question does.
    parts: Vec<String>,
    needed: u64,
    count: &'a RowCount,
}

impl Hopeless<'_> {
    fn rows(&self) -> String {
        let receipt: String = self.count.receipt.chars().take(8).collect();
        format!(
            "about {} rows, and there are at most {}, as sure as the count of receipt {receipt} is",
            self.needed, self.count.most
        )
    }
}

impl EarlierCounts {
    /// Can they tell anything of this plan? Most questions of counts are never refused, and nothing is looked up for them.
    pub fn matter_to(plan: &Plan) -> bool {
        let takes_some = |part: &Part| part.rows_needed().is_some() || !part.parts_needed().is_empty();
        plan.parts().iter().any(takes_some)
    }

    /// Look them up. `changed` is when the data was changed last, as the ledger writes times; what was told before is about other rows.
    pub fn of(
        ledger: &Ledger,
        data: &str,
        analyst: Option<&str>,
        changed: &str,
    ) -> Result<Self, LedgerError> {
        let mut recorded = ledger.latest_records(data, analyst, LOOKED_AT)?;
        if let Some(analyst) = analyst {
            recorded.extend(ledger.latest_seen(data, analyst, LOOKED_AT)?);
        }
        Ok(Self(
            recorded
                .iter()
                .filter(|recorded| recorded.receipt.time.as_str() > changed)
                .flat_map(|recorded| row_counts(&recorded.release, &recorded.receipt.id))
                .collect(),
        ))
    }

    /// What releases tell that whoever asks has kept, the latest first: for rows in memory, which did not change between them.
    pub fn told<'a>(releases: impl IntoIterator<Item = &'a str>) -> Self {
        let counts = |text: &'a str| {
            let release = serde_json::from_str::<Release>(text).ok();
            let receipt = release.and_then(|release| release.receipt);
            receipt.map_or(Vec::new(), |receipt| row_counts(text, &receipt.id))
        };
        Self(releases.into_iter().take(LOOKED_AT as usize).flat_map(counts).collect())
    }

    /// The error of a plan that needs more rows than there are, or some of whose parts do, and what would do. Which parts take what is
    /// left is for whoever asks to say: a bar may be wrong, and who reads answers by their names expects all of them.
    pub fn check(&self, plan: &Plan) -> Result<(), Box<TooFewRows>> {
        if plan.is_batch() {
            return self.check_batch(plan);
        }
        let Some(hopeless) = self.hopeless(&plan.parts()[0], &plan.promise()) else { return Ok(()) };
        let more = hopeless
            .count
            .told(plan.parts()[0].request())
            .into_iter()
            .find_map(|told| plan.with_more_epsilon(told));
        let is_sure = more.as_ref().is_some_and(|more| more.is_sure);
        let more = more.map(|more| more.step);
        let enough = more.as_ref().and_then(|step| step.request.epsilon.clone());
        let for_all = match &enough {
            Some(epsilon) if is_sure => format!("`epsilon={epsilon}` is enough"),
            Some(epsilon) => format!("`epsilon={epsilon}` may be enough"),
            None => "no epsilon up to 10 is sure to be enough".to_string(),
        };
        if hopeless.parts.is_empty() {
            let problem = format!("this would be refused: it takes {}", hopeless.rows());
            let separator = if enough.is_some() { ", or" } else { ";" };
            let hint = format!("{for_all}{separator} give `anyway` to ask all the same");
            let error =
                PlanError::about(Argument::Epsilon, problem).hint(hint).meaning(Argument::Epsilon, enough);
            return Err(Box::new(TooFewRows {
                step: more,
                ..TooFewRows::new(error, hopeless.rows(), vec![1])
            }));
        }
        let (quantiles, take) = match hopeless.parts.len() {
            1 => ("quantile", "takes"),
            _ => ("quantiles", "take up to"),
        };
        let which = hopeless.parts.join(", ");
        let problem =
            format!("some of this would be refused: the {quantiles} {which} {take} {}", hopeless.rows());
        let none = || TooFewRows::new(PlanError::about(Argument::Epsilon, ""), hopeless.rows(), Vec::new());
        if Statistic::named(&plan.parts()[0].request().statistic) != Some(Statistic::Summary) {
            let hint = format!("{for_all} for all of it, or give `anyway` to ask all the same");
            let error =
                PlanError::about(Argument::Epsilon, problem).hint(hint).meaning(Argument::Epsilon, enough);
            let step = more.or_else(|| plan.without_fractions(&hopeless.parts));
            return Err(Box::new(TooFewRows { error, step, ..none() }));
        }
        let hint = format!(
            "`no_quantiles` gives all of epsilon to the others, {for_all} for all of it, or give `anyway` to ask all the same"
        );
        let step = plan.without_quantiles();
        let error = PlanError::about(Argument::NoQuantiles, problem).hint(hint);
        Err(Box::new(TooFewRows { error, step, ..none() }))
    }

    /// The same for questions that share a price: those that would be refused while others are answered can be left out.
    fn check_batch(&self, plan: &Plan) -> Result<(), Box<TooFewRows>> {
        let promise = plan.promise();
        let all_of_it = |part| self.hopeless(part, &promise).filter(|hopeless| hopeless.parts.is_empty());
        let found: Vec<(usize, Hopeless<'_>)> =
            (1..).zip(plan.parts()).filter_map(|(number, part)| Some((number, all_of_it(part)?))).collect();
        let Some((_, most)) = found.iter().max_by_key(|(_, hopeless)| hopeless.needed) else { return Ok(()) };
        let leave_out: Vec<usize> = found.iter().map(|(number, _)| *number).collect();
        let numbers = leave_out.iter().map(usize::to_string).collect::<Vec<_>>();
        let one = leave_out.len() == 1;
        let (questions, take) = if one { ("question", "it takes") } else { ("questions", "they take up to") };
        let which = format!("{questions} {}", numbers.join(", "));
        let problem = format!("{which} would be refused: {take} {}", most.rows());
        let refused = leave_out.clone();
        let (hint, leave_out) = if leave_out.len() == plan.parts().len() {
            ("raise \"epsilon\", or give `anyway` to ask all the same".to_string(), Vec::new())
        } else {
            let numbers = numbers.join(",");
            let hint = format!(
                "`leave_out={numbers}` gives what is shared to the others, or give `anyway` to ask all the same"
            );
            (hint, leave_out)
        };
        let error = PlanError::about(Argument::Epsilon, problem).hint(hint);
        Err(Box::new(TooFewRows { leave_out, ..TooFewRows::new(error, most.rows(), refused) }))
    }

    /// What of a question takes more rows than there are; what is named can be left out.
    fn hopeless(&self, part: &Part, promise: &Promise) -> Option<Hopeless<'_>> {
        let count = self.narrowest(part.request(), promise)?;
        let too_many = |needed: u64| needed > count.most;
        let parts = part.parts_needed();
        let hopeless: Vec<&(Option<String>, u64)> =
            parts.iter().filter(|(_, needed)| too_many(*needed)).collect();
        let quantiles: Option<Vec<String>> = hopeless.iter().map(|(name, _)| name.clone()).collect();
        let needed = match (quantiles, hopeless.iter().map(|(_, needed)| *needed).max()) {
            // A list of which nothing would be there is refused as a whole.
            (Some(named), Some(needed)) if named.len() < parts.len() => {
                return Some(Hopeless { parts: named, needed, count });
            }
            (_, needed) => needed.or(part.rows_needed())?,
        };
        too_many(needed).then_some(Hopeless { parts: Vec::new(), needed, count })
    }

    /// The count with the narrowest bar of those that are about the rows of a question, or about more.
    fn narrowest(&self, request: &Request, promise: &Promise) -> Option<&RowCount> {
        // The column of a histogram or an ecdf is the first that it groups by.
        let column = request.column.as_ref().or(request.group_by.first());
        let wider = |count: &&RowCount| {
            count.promise.windows == promise.windows
                && ((count.filter.is_none() && count.column.is_none()) || count.types == request.types)
                && count.filter.as_ref().is_none_or(|wider| is_part_of(wider, request.filter.as_ref()))
                // Under replace rows without a value take part, which a count of the column leaves out.
                && (count.column.is_none() || (count.column.as_ref() == column && promise.adjacency == "add-remove"))
                && (&count.promise.unit, count.promise.max_rows_per_unit, count.promise.max_groups_per_unit)
                    == (&promise.unit, promise.max_rows_per_unit, promise.max_groups_per_unit)
        };
        // Whatever it says: of several upper ends the least fails more often than each. So neither is the least width taken: a bar
        // ends at zero, which makes the lowest counts the narrowest.
        self.0.iter().filter(wider).min_by_key(|count| count.reach)
    }
}

/// Do the rows of a filter all pass this one too? So they do where it asks for nothing but some of what they fulfil.
fn is_part_of(wider: &str, filter: Option<&String>) -> bool {
    fn conditions(expression: &Expression, into: &mut BTreeSet<String>) {
        match &expression.node {
            Node::And(parts) => parts.iter().for_each(|part| conditions(part, into)),
            _ => drop(into.insert(expression.to_string())),
        }
    }
    let of = |text: &str| {
        let mut all = BTreeSet::new();
        conditions(&Expression::parse(text).ok()?, &mut all);
        Some(all)
    };
    let Some(filter) = filter else { return false };
    wider == filter || of(wider).zip(of(filter)).is_some_and(|(wider, filter)| wider.is_subset(&filter))
}

/// What a release tells of numbers of rows, under the id of its charge.
fn row_counts(text: &str, receipt: &str) -> Vec<RowCount> {
    // Most releases are of something else, which shows without reading all of them.
    if !Statistic::names().into_iter().any(|name| counts(name) && text.contains(&format!("\"{name}\""))) {
        return Vec::new();
    }
    let Ok(release) = serde_json::from_str::<Release>(text) else { return Vec::new() };
    let ends = |outcome: Outcome, value: &Value, error: Option<&ErrorBar>| match outcome {
        Outcome::Released => upper_end(value, error?),
        Outcome::Refused => None,
    };
    let count = |column: Option<&String>, (most, reach): (u64, u64)| RowCount {
        filter: release.filter.clone(),
        column: column.cloned(),
        types: release.types.clone(),
        promise: release.guarantee.clone(),
        most,
        reach,
        receipt: receipt.to_string(),
    };
    let of_release = |ends| count(release.column.as_ref(), ends);
    if release.guarantee.per_unit {
        return Vec::new();
    }
    match &release.answers {
        None if counts(&release.statistic) && release.groups.is_none() => {
            let ends = ends(release.outcome, &release.value, release.error.as_ref());
            ends.map(of_release).into_iter().collect()
        }
        Some(answers) if release.statistic == Statistic::Summary.name() => {
            let counted = answers.iter().find(|item: &&BatchAnswer| counts(&item.statistic));
            let ends = counted.and_then(|item| ends(item.outcome, &item.value, item.error.as_ref()));
            ends.map(of_release).into_iter().collect()
        }
        // Of units a count in a query may be of what each has: only where a unit is a row is it one of rows for sure.
        Some(answers) if release.statistic == "batch" && release.guarantee.unit == Unit::Row.to_string() => {
            let plain = answers.iter().filter(|item| counts(&item.statistic) && item.group_by.is_empty());
            plain
                .filter_map(|item| {
                    Some(count(item.column.as_ref(), ends(item.outcome, &item.value, item.error.as_ref())?))
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Is it a number of rows?
fn counts(statistic: &str) -> bool {
    Statistic::named(statistic).is_some_and(|one| one.spec().truth == Truth::Count)
}

/// Where a bar that is sure enough ends above a count, and how far that is from it.
fn upper_end(value: &Value, error: &ErrorBar) -> Option<(u64, u64)> {
    if error.confidence() < SURE {
        return None;
    }
    let [_, high] = error.numeric_ends()?;
    let whole = |number: f64| {
        Ratio::from_f64_exact(number)
            .and_then(|number| number.ceil_i64())
            .map(|number| number.max(0).unsigned_abs())
    };
    Some((whole(high)?, whole(high - value.as_f64()?)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        batch::Batch,
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

    /// A count of texts that read as whole numbers is no count of those that read as numbers.
    #[test]
    fn a_count_of_rows_that_were_read_otherwise_tells_nothing() {
        let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        let read = |request: Request, kind: &str| Request {
            types: BTreeMap::from([("salary".to_string(), kind.to_string())]),
            ..request
        };
        let filtered = |request: Request| Request { filter: Some("salary > 0".into()), ..request };
        told(&mut session, &filtered(read(asked("count", "10"), "integer")));
        let median = filtered(asked("median", "0.01"));
        assert_eq!(check(&session, &median, LONG_AGO), Ok(()));
        assert!(check(&session, &read(median, "integer"), LONG_AGO).is_err());
        told(&mut session, &read(asked("count", "10"), "integer"));
        assert!(check(&session, &asked("median", "0.01"), LONG_AGO).is_err(), "all rows are all rows");
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
        let with = |filter: &str| Request { filter: Some(filter.into()), ..median.clone() };
        for some_of_them in ["salary > 5 and town = 'a'", "town='a' and (salary > 5 and salary < 9)"] {
            assert!(check(&session, &with(some_of_them), LONG_AGO).is_err(), "{some_of_them}");
        }
        for others in ["salary > 5", "town = 'b' and salary > 5", "town = 'a' or salary > 5"] {
            assert_eq!(check(&session, &with(others), LONG_AGO), Ok(()), "{others}");
        }
        told(&mut session, &asked("count", "10"));
        let few = check(&session, &median, LONG_AGO).unwrap_err();
        assert!(
            few.starts_with("this would be refused: it takes about") && few.contains("` may be enough"),
            "{few}"
        );
        told(&mut session, &Request { column: Some("salary".into()), ..asked("count", "9") });
        let few = check(&session, &filtered, LONG_AGO).unwrap_err();
        assert!(few.contains("may be enough"), "the count of more rows tells nothing from below: {few}");
        assert_eq!(check(&session, &asked("median", "1"), LONG_AGO), Ok(()), "enough rows");
        assert_eq!(check(&session, &median, "9999-01-01T00:00:00Z"), Ok(()), "the data has changed since");
        let other = EarlierCounts::of(session.ledger(), "people", Some("ana"), LONG_AGO).unwrap();
        assert_eq!(other, EarlierCounts::default(), "who was told nothing knows nothing");
        let of_people = Request { unit: Some("town".into()), ..median };
        assert_eq!(check(&session, &of_people, LONG_AGO), Ok(()), "rows are not people");
    }

    /// Of counts at one price the latest is believed, and not the one whose noise was lowest, whose bar ends at zero.
    #[test]
    fn of_equal_counts_the_latest_is_believed_and_not_the_lowest() {
        let told = |value: u64, id: &str| {
            format!(
                r#"{{"outcome": "released", "value": {value}, "statistic": "count", "data": "people", "mechanism": "laplace",
                "guarantee": {{"epsilon": "0.001", "delta": "0", "adjacency": "add-remove", "unit": "row"}},
                "error": {{"confidence": 0.95, "kind": "noise", "low": {}, "high": {}}},
                "spent": {{"epsilon": "0.001", "delta": "0"}}, "remaining": null,
                "receipt": {{"id": "{id}", "hash": "", "time": "", "ledger": null}}}}"#,
                value.saturating_sub(2996),
                value + 2996
            )
        };
        let session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        let median = plan(&session, &asked("median", "0.01"));
        let counts = EarlierCounts::told([told(5000, "late").as_str(), told(0, "low").as_str()]);
        assert_eq!(
            counts.0.iter().map(|count| (count.most, count.reach)).collect::<Vec<_>>(),
            [(7996, 2996), (2996, 2996)]
        );
        let believed = counts.narrowest(median.parts()[0].request(), &median.promise()).unwrap();
        assert_eq!(believed.receipt, "late");
        let counts = EarlierCounts::told([told(0, "low").as_str(), told(5000, "early").as_str()]);
        assert!(counts.check(&median).is_err(), "whatever the latest says");
    }

    #[test]
    fn plans_that_take_no_rows_look_nothing_up() {
        let session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        for (statistic, matters) in [("count", false), ("median", true), ("summary", true)] {
            assert_eq!(
                EarlierCounts::matter_to(&plan(&session, &asked(statistic, "1"))),
                matters,
                "{statistic}"
            );
        }
    }

    #[test]
    fn parts_of_a_summary_that_would_be_refused_can_be_left_out() {
        let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        told(&mut session, &asked("count", "10"));
        // Quantiles with intervals of values are never taken from cells.
        let summary = Request { interval: Some(true), ..asked("summary", "1") };
        let counts = EarlierCounts::of(session.ledger(), "people", None, LONG_AGO).unwrap();
        let planned = plan(&session, &summary);
        let few = counts.check(&planned).unwrap_err();
        let line = few.error.to_string();
        assert!(line.starts_with("some of this would be refused: the quantiles 0.05, 0.25, "), "{line}");
        assert!(line.contains("`no_quantiles` gives all of epsilon to the others"), "{line}");
        let step = few.step.expect("the rest can be answered");
        let without = plan(&session, &step.request);
        assert_eq!(counts.check(&without), Ok(()));
        assert_eq!((without.charge(), &step.charge), (planned.charge(), &planned.charge().into()));
        // All of epsilon for the sums: what they need is half as much.
        let needed = |plan: &Plan| plan.parts()[0].parts_needed()[0].1;
        assert!(needed(&without) * 2 <= needed(&planned) + 2, "{} {}", needed(&without), needed(&planned));
    }

    /// "this would be refused" stood over a list whose middle one would have been there.
    #[test]
    fn quantiles_of_a_list_that_would_be_refused_are_named() {
        let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        told(&mut session, &asked("count", "10"));
        let list = |fractions: &str, epsilon: &str| Request {
            fraction: Some(fractions.into()),
            ..asked("quantile", epsilon)
        };
        let few = check(&session, &list("0.1,0.5,0.9", "2"), LONG_AGO).unwrap_err();
        assert!(
            few.starts_with("some of this would be refused: the quantiles 0.1, 0.9 take up to about"),
            "{few}"
        );
        assert!(few.contains("may be enough for all of it, or give `anyway`"), "{few}");
        let all = check(&session, &list("0.1,0.5,0.9", "0.1"), LONG_AGO).unwrap_err();
        assert!(all.starts_with("this would be refused: it takes about"), "{all}");
        // No epsilon up to ten finds the thousandth of 300 rows: the rest of the list can be asked.
        let counts = EarlierCounts::of(session.ledger(), "people", None, LONG_AGO).unwrap();
        let few = counts.check(&plan(&session, &list("0.001,0.5", "2"))).unwrap_err();
        assert_eq!(few.step.unwrap().request.fraction.as_deref(), Some("0.5"), "{}", few.error);
    }

    #[test]
    fn questions_of_a_batch_that_would_be_refused_can_be_left_out() {
        let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        told(&mut session, &asked("count", "10"));
        let counts = EarlierCounts::of(session.ledger(), "people", None, LONG_AGO).unwrap();
        let facts = facts(Some(session.ledger()), "people", &COLUMNS.map(String::from)).unwrap();
        let batch = |questions: &str| {
            Batch::from_json(&format!(
                r#"{{"epsilon": 0.5, "column": "salary", "questions": [{questions}]}}"#
            ))
            .unwrap()
        };
        let three = batch(
            r#"{"statistic": "count"}, {"statistic": "iqr"}, {"statistic": "median", "epsilon": 0.01}"#,
        );
        let few = counts.check(&Plan::batch(&three, &facts).unwrap()).unwrap_err();
        assert_eq!(few.leave_out, [2, 3]);
        let line = few.error.to_string();
        assert!(line.starts_with("questions 2, 3 would be refused: they take up to about"), "{line}");
        assert!(line.contains("`leave_out=2,3`"), "{line}");
        let rest = three.without(&few.leave_out).unwrap();
        let plan = Plan::batch(&rest, &facts).unwrap();
        assert_eq!((counts.check(&plan), plan.charge().eps.to_exact().as_str()), (Ok(()), "0.5"));
        let hopeless = batch(r#"{"statistic": "iqr"}, {"statistic": "iqr"}"#);
        let few = counts.check(&Plan::batch(&hopeless, &facts).unwrap()).unwrap_err();
        assert!(few.leave_out.is_empty() && few.error.to_string().contains("raise \"epsilon\""));
        assert!(three.without(&[4]).is_err() && three.without(&[1, 2, 3]).is_err());
    }

    #[test]
    fn releases_that_somebody_kept_tell_the_same_and_so_do_counts_of_a_batch() {
        let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        let run = |session: &mut Session, plan: Plan| {
            let Ok(Paid::Charged(charged)) = session.charge(plan, None) else { panic!("no limit, no id") };
            session.run(*charged, &Memory::new(vec![1.0; 300], &["a"; 300])).unwrap().to_text()
        };
        let planned = plan(&session, &asked("count", "10"));
        let count = run(&mut session, planned);
        let median = plan(&session, &asked("median", "0.01"));
        let few = EarlierCounts::told([count.as_str()]).check(&median).unwrap_err();
        assert!(few.error.to_string().starts_with("this would be refused: it takes about"));
        assert_eq!((few.refused.as_slice(), few.leave_out.is_empty()), ([1].as_slice(), true));
        assert!(few.call().unwrap().starts_with("eq.median(data, 'salary', epsilon=0."), "{few:?}");
        assert_eq!(EarlierCounts::told(["{}", "no release"]), EarlierCounts::default());
        // Of a batch: all rows, as its question about no column says.
        let facts = facts(Some(session.ledger()), "people", &COLUMNS.map(String::from)).unwrap();
        let text = r#"{"epsilon": 9, "questions": [{"statistic": "count"}, {"statistic": "histogram", "column": "town", "keys": ["a"]}]}"#;
        let planned = Plan::batch(&Batch::from_json(text).unwrap(), &facts).unwrap();
        let batch = run(&mut session, planned);
        let counts = EarlierCounts::told([batch.as_str()]);
        assert_eq!(counts.0.len(), 1, "{counts:?}");
        assert!(counts.check(&median).is_err());
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
