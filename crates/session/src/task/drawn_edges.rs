//! Bins that hold about as many rows each, or the points of a distribution function: edges that are drawn as quantiles, with all of epsilon but for
//! the number of rows. What lies between them follows from their ranks.
//!
//! # Why the bars are as they say, all at once
//!
//! 1. The quantile at i of K parts lies between the rows so many ranks before and after its own, r, all of them at once ([`quantiles`]), except in
//!    half of the cases that may fail; the number of rows is off by at most m, except in the other half.
//! 2. Let a be the rows below an edge and b those not above it. The row at i/K of N, moved by r either way, is the edge or lies beyond it: a is at most
//!    iN/K + r, and b at least iN/K - r. Rows that are equal to the edge are the difference, and the bar counts them on either side.
//! 3. So between the edges at i and j, with their own rows on either side, (j - i)N/K rows lie but for both ranks, and the share up to the
//!    edge at i is i/K but for r/N.
//! 4. Edges that are equal are one value that many rows have: it is a bin of its own.
//!
//! [`quantiles`]: super::quantiles

use super::{
    Answering, Expected,
    bar::Bar,
    quantiles::{Drawn, Quantiles},
    stages::SharedRange,
};
use crate::{
    answer::{Answer, Group},
    bar::{self, Condition, ErrorBar},
    error::PlanError,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::{Ask, RowFacts},
    source::ColumnRead,
    statistic::{Argument, Statistic},
};
use equipoise_core::{coins::Coins, loss::Loss, ratio::Ratio};
use serde_json::{Value, json};

/// So many points a distribution function has where none were stated, and one part more.
const POINTS: u64 = 9;
/// More bins than this have hardly any rows.
const MOST: u64 = 100;
/// Ranks are rounded up to whole rows, at either end of a bin.
const ROUNDED: u64 = 2;
/// What is said of rows that a bar counts on either side.
const ON_EDGES: &str = "rows that are equal to an edge count on either side of it";

/// Bins or points between edges that are drawn.
#[derive(Clone, Debug)]
pub(crate) struct DrawnEdges {
    by: [ColumnRead; 1],
    quantiles: Quantiles,
    /// Into how many parts the edges cut the rows.
    parts: u64,
    /// Is it a distribution function?
    cumulative: bool,
    /// The number of rows is off by at most this.
    margin: u64,
    confidence: f64,
    /// For which points all bars hold at once, in words.
    together: &'static str,
}

/// An edge that was drawn, once for all that are equal.
struct Edge {
    text: String,
    /// Of which parts it is the end: the first and the last of its equals.
    first: u64,
    last: u64,
    /// How many ranks off the first and the last may be.
    ranks: [u64; 2],
}

impl DrawnEdges {
    /// Are edges drawn where this was asked for?
    pub fn are_said(said: &ResolvedRequest) -> bool {
        match said.statistic() {
            Statistic::Ecdf => said.at().is_none(),
            _ => said.quantile_bins().is_some(),
        }
    }

    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        let cumulative = said.statistic() == Statistic::Ecdf;
        let (&[column], false) = (said.group_by(), said.limits_groups()) else {
            let what = if cumulative { "ecdf of which column?" } else { "quantile bins are of one column" };
            return Err(PlanError::about(Argument::Column, what)
                .hint("name one, and leave `max_groups_per_unit` out"));
        };
        if !cumulative && (said.bins().is_some() || said.width().is_some()) {
            return Err(PlanError::about(Argument::QuantileBins, "quantile bins have no other edges")
                .hint("leave `bins` and `width` out"));
        }
        let parts = match said.quantile_bins() {
            Some(text) => parts(text)?,
            None => POINTS + 1,
        };
        let half = said.failure() / &Ratio::from(2u64);
        let fractions: Vec<Ratio> = (1..parts).map(|part| Ratio::from(part) / &Ratio::from(parts)).collect();
        let need = said.numbers(column)?;
        let quantiles =
            Quantiles::edges(&said.with_failure(half.clone()), need, said.lattice(column)?, &fractions)?;
        let margin = quantiles.margin(&half)?;
        let by = [said.key(column)];
        let (confidence, together) = (said.confidence(), said.together());
        Ok(Self { by, quantiles, parts, cumulative, margin, confidence, together })
    }

    /// The edges that there are rows enough for, in order, each value once.
    fn edges(values: &[Value], ranks: &[u64]) -> Vec<Edge> {
        let mut edges: Vec<Edge> = Vec::new();
        for (part, (value, &rank)) in (1..).zip(values.iter().zip(ranks)) {
            let text = bar::value(value);
            match edges.last_mut() {
                _ if value.is_null() => {}
                Some(last) if last.text == text => {
                    last.last = part;
                    last.ranks[1] = rank;
                }
                _ => edges.push(Edge { text, first: part, last: part, ranks: [rank; 2] }),
            }
        }
        edges
    }

    /// How many rows lie in so many parts, off by so many ranks at both ends together.
    fn counted(&self, label: String, parts: u64, ranks: u64, rows: u64) -> Group {
        let share = |whole: u64| u128::from(parts) * u128::from(whole) / u128::from(self.parts);
        let whole = |number: u128| i64::try_from(number).unwrap_or(i64::MAX);
        let value = whole(share(rows));
        let off = whole(u128::from(ranks) + share(self.margin) + u128::from(ROUNDED));
        let bar = Bar::around(value, off).at_least_zero();
        let error = self.bar(bar.low, bar.high);
        Answer::released(json!(value), error).into_group(&vec![Some(label)])
    }

    /// How many rows are equal to an edge that was drawn several times: no fewer than lie between its first and its last, and no more than
    /// between the edges beside it.
    fn just(&self, edge: &Edge, before: Option<&Edge>, after: Option<&Edge>, rows: u64) -> Group {
        let (from, off_before) = before.map_or((0, 0), |before| (before.last, before.ranks[1]));
        let (to, off_after) = after.map_or((self.parts, 0), |after| (after.first, after.ranks[0]));
        let inner = self.counted(String::new(), edge.last - edge.first, edge.ranks[0] + edge.ranks[1], rows);
        let outer = self.counted(String::new(), to - from, off_before + off_after, rows);
        let end = |group: &Group, high: usize| {
            group.error.as_ref().and_then(ErrorBar::numeric_ends).map_or(0.0, |ends| ends[high])
        };
        let error = self.bar(end(&inner, 0), end(&outer, 1));
        Answer::released(inner.value, error).into_group(&vec![Some(format!("just {}", edge.text))])
    }

    fn bar(&self, low: f64, high: f64) -> ErrorBar {
        let together = [self.together, ON_EDGES].map(|clause| Condition::Given(clause.to_string()));
        together.into_iter().fold(ErrorBar::noise(self.confidence, low, high), ErrorBar::on)
    }

    fn bins(&self, edges: &[Edge], rows: u64) -> Vec<Group> {
        let mut groups = Vec::new();
        let mut before: Option<&Edge> = None;
        for (place, edge) in edges.iter().enumerate() {
            let (label, from, off) = match before {
                None => (format!("below {}", edge.text), 0, 0),
                Some(last) => (format!("{} .. {}", last.text, edge.text), last.last, last.ranks[1]),
            };
            groups.push(self.counted(label, edge.first - from, off + edge.ranks[0], rows));
            if edge.last > edge.first {
                groups.push(self.just(edge, before, edges.get(place + 1), rows));
            }
            before = Some(edge);
        }
        if let Some(last) = before {
            let label = format!("above {}", last.text);
            groups.push(self.counted(label, self.parts - last.last, last.ranks[1], rows));
        }
        groups
    }

    fn points(&self, edges: &[Edge], rows: u64) -> Vec<Group> {
        let least_rows = rows.saturating_sub(self.margin).max(1) as f64;
        let point = |edge: &Edge| {
            let share = edge.last as f64 / self.parts as f64;
            // Division rounds by far less than a part in 2^40.
            let off = (edge.ranks[1] + 1) as f64 / least_rows * (1.0 + 1e-12);
            let error = self.bar((share - off).max(0.0), (share + off).min(1.0));
            Answer::number(share, error).into_group(&vec![Some(format!("at {}", edge.text))])
        };
        edges.iter().map(point).collect()
    }
}

/// Into how many bins.
fn parts(text: &str) -> Result<u64, PlanError> {
    text.parse().ok().filter(|parts| (2..=MOST).contains(parts)).ok_or_else(|| {
        let problem = format!("{} quantile bins are not accepted:", equipoise_core::wording::shown(text));
        PlanError::about(Argument::QuantileBins, problem)
            .hint(format!("give a whole number from 2 to {MOST}, such as 10"))
    })
}

impl Answering for DrawnEdges {
    fn mechanism(&self) -> &'static str {
        self.quantiles.mechanism()
    }

    fn cost(&self) -> Loss {
        self.quantiles.cost()
    }

    fn needs(&self) -> Vec<Need> {
        self.quantiles.needs()
    }

    fn asks(&self, shared: Option<&SharedRange>) -> Vec<Ask> {
        self.quantiles.asks(shared)
    }

    fn expected(&self) -> Expected {
        let drawn = self.quantiles.expected().words;
        let what = if self.cumulative { "points" } else { "edges" };
        let words = format!("{} {what} are drawn as quantiles: {drawn}; {ON_EDGES}", self.parts - 1);
        Expected { error: None, words }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        let Drawn { answer, rows } = self.quantiles.drawn(gathered, coins);
        let (Some(value), Some(error)) = (&answer.value, &answer.error) else { return answer };
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        let ranks = error.in_ranks().map(bar::Ranks::each).unwrap_or_default();
        let edges = Self::edges(values, ranks);
        let groups = if self.cumulative { self.points(&edges, rows) } else { self.bins(&edges, rows) };
        let conditions = |group: Group| match group.error.clone() {
            // What was done to rows before they were ranked holds for what follows from ranks.
            Some(bar) => {
                let more = error.conditions().iter().cloned().fold(bar, ErrorBar::on);
                Group { error: Some(more), ..group }
            }
            None => group,
        };
        Answer::grouped(groups.into_iter().map(conditions).collect(), String::new).with_rows(answer.rows)
    }

    fn answer_type(&self) -> Option<String> {
        self.cumulative.then(|| "share".to_string())
    }

    fn group_by(&self) -> &[ColumnRead] {
        &self.by
    }

    /// A bin for each part, and one more for each edge that several rows are equal to.
    fn answers(&self) -> usize {
        usize::try_from(2 * self.parts).unwrap_or(usize::MAX)
    }

    fn rows_needed(&self) -> Option<u64> {
        self.quantiles.rows_needed()
    }

    fn rows_assured(&self) -> Option<u64> {
        self.quantiles.rows_assured()
    }

    fn rows_within(&self) -> u64 {
        self.quantiles.rows_within()
    }

    fn no_prediction(&self) -> String {
        "the error of drawn edges depends on the number of rows; give `epsilon`".to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        audits::Memory,
        gather::{ScanResult, tests::FixedWords},
        plan::{DataFacts, Plan},
        request::Request,
        rows::ScanKeys,
    };
    use equipoise_core::coins::ScriptedWords;

    fn facts() -> DataFacts {
        DataFacts {
            name: "people".into(),
            columns: vec!["salary".into(), "town".into()],
            registered: None,
            kinds: Vec::new(),
            windows: None,
        }
    }

    fn request(statistic: &str, bins: Option<&str>, confidence: &str) -> Request {
        Request {
            column: Some("salary".into()),
            quantile_bins: bins.map(str::to_string),
            confidence: Some(confidence.into()),
            epsilon: Some("4".into()),
            ..Request::new(statistic)
        }
    }

    fn each_answer(request: &Request, rows: &[f64], trials: usize, mut visit: impl FnMut(Answer)) {
        let plan = Plan::new(request, &facts()).unwrap();
        let memory = Memory::new(rows.to_vec(), &["ash"]);
        let hands = ScanKeys::new(1, &mut ScriptedWords::new(vec![1; 6]));
        let gathered = ScanResult::scan(&memory, plan.rows(), &plan.needs(), &hands).expect("memory");
        let mut coins = FixedWords(17);
        for _ in 0..trials {
            visit(plan.task().answer(&gathered, &mut coins));
        }
    }

    /// The ends of a bin or point, by its label, and whether it is one value.
    fn ends(label: &str) -> (f64, f64) {
        let number = |text: &str| text.parse::<f64>().unwrap();
        if let Some(text) = label.strip_prefix("below ").or(label.strip_prefix("at ")) {
            return (f64::NEG_INFINITY, number(text));
        }
        if let Some(text) = label.strip_prefix("above ") {
            return (number(text), f64::INFINITY);
        }
        if let Some(text) = label.strip_prefix("just ") {
            return (number(text), number(text));
        }
        let (low, high) = label.split_once(" .. ").unwrap();
        (number(low), number(high))
    }

    /// Of rows without ties and with many: every bar holds some way to count rows at the edges, all at once, as often as is said. The false alarm
    /// is below 1e-6 (a binomial of 200 at 0.8 below 130).
    #[test]
    fn bars_hold_all_at_once_as_often_as_they_say() {
        let distinct: Vec<f64> = (0..3000).map(|row| f64::from(row) * 1.5 - 700.0).collect();
        let tied: Vec<f64> = (0..3000).map(|row| f64::from((row % 50).min(20))).collect();
        for rows in [distinct, tied] {
            for (statistic, bins) in [("histogram", Some("8")), ("histogram", Some("2")), ("ecdf", None)] {
                let (mut held, mut all) = (0, 0);
                each_answer(&request(statistic, bins, "0.8"), &rows, 200, |answer| {
                    let groups = answer.groups.expect("bins");
                    let holds = |group: &Group| {
                        let (low, high) = ends(group.key.as_str().unwrap());
                        let inside = rows.iter().filter(|&&row| low < row && row < high).count() as f64;
                        let with_ends = rows.iter().filter(|&&row| low <= row && row <= high).count() as f64;
                        let [least, most] = group.error.as_ref().unwrap().numeric_ends().unwrap();
                        let whole = if statistic == "ecdf" { rows.len() as f64 } else { 1.0 };
                        inside / whole <= most && least <= with_ends / whole
                    };
                    held += usize::from(groups.iter().all(holds));
                    all += 1;
                });
                assert!(held >= 130 && all == 200, "{statistic} {bins:?}: {held}");
            }
        }
    }

    /// A value that most rows have is a bin of its own, and no label stands twice.
    #[test]
    fn equal_edges_are_one_value() {
        let rows: Vec<f64> = (0..4000).map(|row| if row % 4 == 0 { f64::from(row) } else { 7.0 }).collect();
        each_answer(&request("histogram", Some("10"), "0.95"), &rows, 5, |answer| {
            let groups = answer.groups.expect("bins");
            let mut labels: Vec<&str> = groups.iter().map(|group| group.key.as_str().unwrap()).collect();
            assert!(labels.contains(&"just 7"), "{labels:?}");
            let many = labels.len();
            labels.sort_unstable();
            labels.dedup();
            assert_eq!(labels.len(), many);
            let just = groups.iter().find(|group| group.key == "just 7").unwrap();
            let [low, high] = just.error.as_ref().unwrap().numeric_ends().unwrap();
            let equal = rows.iter().filter(|&&row| row.to_bits() == 7f64.to_bits()).count() as f64;
            assert!(low <= equal && equal <= high, "{low} {high} {equal}");
            let sum: i64 = groups.iter().map(|group| group.value.as_i64().unwrap()).sum();
            assert!((sum - 4000).abs() < 100, "{sum}");
        });
    }

    #[test]
    fn what_is_wrong_is_said_for_free() {
        let few = Request { quantile_bins: Some("1".into()), ..request("histogram", None, "0.95") };
        let both = Request { bins: Some("5".into()), ..request("histogram", Some("5"), "0.95") };
        let elsewhere = request("mean", Some("5"), "0.95");
        for (request, line) in [
            (few, "1 quantile bins are not accepted: give a whole number from 2 to 100"),
            (both, "quantile bins have no other edges"),
            (elsewhere, "mean takes no quantile_bins"),
        ] {
            let error = Plan::new(&request, &facts()).unwrap_err().to_string();
            assert!(error.contains(line), "{error}");
        }
    }
}
