//! Counts of a graph that rows name the edges of: planned, charged and recorded like any question.
//!
//! # Guarantee
//!
//! (epsilon, delta) for one edge, or for one node with all of its edges, that comes or goes. All rows that name the same two nodes are one
//! edge, whichever stands first, and a row that names none or one, or one twice, is no edge. A node is there if an edge names it.
//!
//! # Why
//!
//! 1. The edges are a function of the set of rows, and one row adds or takes at most one edge.
//! 2. What one edge, or one node, can do to each count is proved and enumerated in [`equipoise_core::stability::graph`]: a public number
//!    (`counted`, `nodes`), or a number that follows the graph (`near`), which a smooth or released bound hides.
//! 3. The charge comes first; the rows are read once behind it.
//!
//! # Time and memory
//!
//! All edges are held in memory. How long it takes shows how many rows, nodes and edges there are and how degrees are spread, as the time of
//! a scan does; a server answers at a time of its own.
//!
//! # What a ledger counts
//!
//! The unit is `edge of FROM,TO` or `node of FROM,TO`, which is no column, so that questions about rows are refused where it is registered:
//! an edge may be many rows. Where the data set is registered by rows, an edge costs what it costs, and a node two steps: one row more is
//! one edge more, which a node brings that goes and comes back.

mod counted;
mod edges;
mod near;
mod nodes;
mod simulated;

use crate::{
    answer::Answer,
    caution, columns,
    error::{PlanError, list},
    facts::DataFacts,
    ledger::DataSet,
    planned::PlanSummary,
    quiet::privately,
    release::{Promise, Release, Spent},
    session::{Charged, Held, Priced, Session},
    source::{ColumnRead, ColumnType, Source},
    statistic::Argument,
    unanswered::Unanswered,
};
use counted::Counted;
use edges::{GraphRows, OrderKey, order_key};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    coins::Coins,
    loss::{Approx, Delta, Eps, Loss, ParameterError},
    ratio::Ratio,
    stability::graph::LARGEST_STAR,
    wording,
};
use near::Near;
use nodes::Kept;
use serde::{Deserialize, Serialize};

/// What was said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GraphRequest {
    /// Always `graph`.
    pub statistic: String,
    /// What is counted: edges, triangles, stars:K, degree-histogram or components.
    pub count: String,
    /// The two columns with the ends of each edge, with a comma; the columns of a file that has two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
    /// edge or node: what comes or goes between data sets that look alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adjacency: Option<String>,
    /// The privacy loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<String>,
    /// By how much any set of outcomes may be likelier than e^epsilon allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<String>,
    /// How sure the error bar is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
    /// The mechanism by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<String>,
    /// How many edges a node keeps under node adjacency, or a public list to choose from; the last bin of a histogram otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_degree: Option<String>,
    /// At most so many nodes, as stated by the caller: error bars rest on it, the guarantee does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
    /// The character between fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// Whether the first line names the columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
}

/// What can be counted, as it is typed.
pub const COUNTS: [&str; 5] = ["edges", "triangles", "stars:K", "degree-histogram", "components"];

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    Edges,
    Triangles,
    /// Sets of so many edges at one node.
    Stars(u32),
    DegreeHistogram,
    Components,
}

impl Count {
    fn named(text: &str) -> Result<Self, PlanError> {
        match text {
            "edges" => Ok(Self::Edges),
            "triangles" => Ok(Self::Triangles),
            "degree-histogram" => Ok(Self::DegreeHistogram),
            "components" => Ok(Self::Components),
            other => match other.strip_prefix("stars:").map(str::parse::<u32>) {
                Some(Ok(edges)) if (2..=LARGEST_STAR).contains(&edges) => Ok(Self::Stars(edges)),
                Some(_) => Err(PlanError::line(format!("'{}' is not accepted:", wording::shown(other)))
                    .hint(format!(
                        "give stars:K with K from 2 to {LARGEST_STAR}; stars of one edge are edges"
                    ))),
                None => Err(PlanError::unknown("statistic", other, &COUNTS)),
            },
        }
    }

    /// A noun for error bars.
    fn noun(self) -> String {
        match self {
            Self::Edges => "the number of edges".to_string(),
            Self::Triangles => "the number of triangles".to_string(),
            Self::Stars(edges) => format!("the number of stars of {edges} edges"),
            Self::DegreeHistogram => "the number of nodes".to_string(),
            Self::Components => "the number of connected components".to_string(),
        }
    }
}

/// What comes or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protected {
    Edge,
    Node,
}

impl Protected {
    fn named(text: Option<&str>) -> Result<Self, PlanError> {
        match text {
            Some("edge") => Ok(Self::Edge),
            Some("node") => Ok(Self::Node),
            Some(other) => Err(PlanError::unknown("adjacency", other, &["edge", "node"])),
            None => Err(PlanError::about(
                Argument::Adjacency,
                "is one edge protected, or one node with all of its edges?",
            )
            .hint("Give `adjacency=edge` or `adjacency=node`")),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Edge => "edge",
            Self::Node => "node",
        }
    }
}

/// What every way to count reads.
struct Said<'a> {
    request: &'a GraphRequest,
    count: Count,
    eps: Eps,
    delta: Delta,
    failure: Ratio,
    confidence: f64,
}

impl<'a> Said<'a> {
    fn new(request: &'a GraphRequest) -> Result<Self, PlanError> {
        let eps = request.epsilon.as_deref().ok_or_else(|| {
            PlanError::about(Argument::Epsilon, "how much privacy may it cost?")
                .hint("Give `epsilon`, such as `epsilon=1`")
        })?;
        let text = request.confidence.as_deref().unwrap_or("0.95");
        let accepted = "give a number above 0 and at most 0.999999999, such as 0.95";
        let refused = || ParameterError::out_of_range("confidence", wording::shown(text), accepted);
        let confidence: Ratio = text.parse().map_err(|_| refused())?;
        let failure = Ratio::one() - &confidence;
        if !confidence.is_positive() || failure < Ratio::new(1, 1_000_000_000) {
            return Err(refused().into());
        }
        Ok(Self {
            request,
            count: Count::named(&request.count)?,
            eps: eps.parse()?,
            delta: request.delta.as_deref().map_or(Ok(Delta::zero()), str::parse)?,
            failure,
            confidence: confidence.to_f64(),
        })
    }

    /// The mechanism that was named, one of these.
    fn mechanism(&self, known: &[&'static str]) -> Result<Option<&'static str>, PlanError> {
        match self.request.mechanism.as_deref().filter(|&name| name != "auto") {
            None => Ok(None),
            Some(name) => match known.iter().find(|known| **known == name) {
                Some(known) => Ok(Some(*known)),
                None => Err(PlanError::unknown("mechanism", name, known)),
            },
        }
    }

    fn share(&self, part: i64, of: u64) -> Result<Eps, PlanError> {
        Ok(Eps::new(self.eps.ratio() * &Ratio::new(part, of))?)
    }
}

/// What the bar of each number of an answer is about lies between these, without noise. Private.
type Covered = Vec<(f64, f64)>;

/// What of a graph an answer is drawn from. Private.
enum Looked {
    Counts(Vec<i64>),
    Near(Box<near::Here>),
    /// Nodes keep edges anew for each answer.
    Edges,
}

/// How it is counted.
#[derive(Clone, Debug)]
enum Way {
    Counted(Box<Counted>),
    Near(Box<Near>),
    Kept(Box<Kept>),
}

/// A count that can be paid for.
#[derive(Clone, Debug)]
pub struct GraphPlan {
    request: GraphRequest,
    data: String,
    unit: Unit,
    columns: [usize; 2],
    count: Count,
    way: Way,
    cost: Approx,
    charge: Approx,
    charged: DataSet,
}

impl GraphPlan {
    /// Understand what was said. Free, and blind.
    pub fn new(request: &GraphRequest, facts: &DataFacts) -> Result<Self, PlanError> {
        Self::new_within(request, facts, near::LARGEST)
    }

    /// The same where triangles and stars are counted up to another number: those of small graphs can be enumerated.
    fn new_within(request: &GraphRequest, facts: &DataFacts, largest: u64) -> Result<Self, PlanError> {
        crate::windows::none(facts)?;
        let said = Said::new(request)?;
        let protected = Protected::named(request.adjacency.as_deref())?;
        let columns = ends(request, facts)?;
        let way = match (protected, said.count) {
            (Protected::Node, Count::Edges | Count::DegreeHistogram) => {
                Way::Kept(Box::new(Kept::plan(&said)?))
            }
            (Protected::Node, _) => return Err(unbounded(said.count)),
            (Protected::Edge, Count::Triangles | Count::Stars(_)) => {
                Way::Near(Box::new(Near::plan_within(&said, largest)?))
            }
            (Protected::Edge, _) => Way::Counted(Box::new(Counted::plan(&said)?)),
        };
        let Loss::Approx(cost) = way.cost() else { unreachable!("these are calibrated in (epsilon, delta)") };
        let names = columns.map(|place| facts.columns[place].as_str()).join(",");
        let unit = Unit::Column(format!("{} of {names}", protected.word()));
        let (charge, charged) = charge(protected, &unit, &names, &cost, facts)?;
        Ok(Self {
            request: request.clone(),
            data: facts.name.clone(),
            unit,
            columns,
            count: said.count,
            way,
            cost,
            charge,
            charged,
        })
    }

    /// What it costs one edge, or one node.
    pub fn cost(&self) -> &Approx {
        &self.cost
    }

    /// Both columns can be read, by the source's schema.
    pub fn readable_in(&self, source: &dyn Source) -> Result<(), PlanError> {
        match self.columns.iter().find_map(|&column| source.unreadable(column)) {
            Some(line) => Err(PlanError::line(line)),
            None => Ok(()),
        }
    }

    /// The columns that it reads, and how.
    pub fn wanted(&self) -> Vec<ColumnRead> {
        self.columns.map(|column| ColumnRead { column, kind: ColumnType::Text }).to_vec()
    }

    /// The answer about these edges.
    fn answer<C: Coins>(&self, rows: &GraphRows, key: OrderKey, coins: &mut C) -> Answer {
        self.way.answer(&self.way.look(rows), rows, key, coins).0
    }
}

impl Way {
    /// What of these edges answers are drawn from.
    fn look(&self, rows: &GraphRows) -> Looked {
        match self {
            Self::Counted(counted) => Looked::Counts(counted.look(&rows.graph)),
            Self::Near(near) => Looked::Near(Box::new(near.look(&rows.graph))),
            Self::Kept(_) => Looked::Edges,
        }
    }

    /// An answer, and what its bars are about.
    fn answer<C: Coins>(
        &self,
        looked: &Looked,
        rows: &GraphRows,
        key: OrderKey,
        coins: &mut C,
    ) -> (Answer, Covered) {
        match (self, looked) {
            (Self::Counted(counted), Looked::Counts(counts)) => counted.answer(counts, coins),
            (Self::Near(near), Looked::Near(here)) => near.answer(here, coins),
            (Self::Kept(kept), Looked::Edges) => kept.answer(&rows.ordered(key), coins),
            _ => unreachable!("what was looked at is what this way asks for"),
        }
    }

    fn cost(&self) -> Loss {
        match self {
            Self::Counted(counted) => counted.cost(),
            Self::Near(near) => near.cost(),
            Self::Kept(kept) => kept.cost(),
        }
    }

    fn mechanism(&self) -> &'static str {
        match self {
            Self::Counted(_) | Self::Kept(_) => "laplace",
            Self::Near(near) => near.mechanism(),
        }
    }

    fn expected(&self) -> String {
        match self {
            Self::Counted(counted) => counted.expected(),
            Self::Near(near) => near.expected(),
            Self::Kept(kept) => kept.expected(),
        }
    }
}

/// The places of the columns that hold the two ends of each edge.
fn ends(request: &GraphRequest, facts: &DataFacts) -> Result<[usize; 2], PlanError> {
    let names = list(&facts.columns);
    let two = || {
        PlanError::about(Argument::Column, "which two columns hold the ends of each edge?")
            .hint(format!("Give `columns=FROM,TO`. There are: {names}"))
    };
    let Some(text) = request.columns.as_deref() else {
        return if facts.columns.len() == 2 { Ok([0, 1]) } else { Err(two()) };
    };
    let place = |name: &str| {
        columns::named(&facts.columns, name.trim())
            .map_err(|error| PlanError::no_column(Argument::Column, &error))
    };
    let places: Vec<usize> = text.split(',').map(place).collect::<Result<_, _>>()?;
    match places[..] {
        [from, to] if from != to => Ok([from, to]),
        _ => Err(two()),
    }
}

/// Why a count is not answered for nodes.
fn unbounded(count: Count) -> PlanError {
    let why = match count {
        Count::Components => {
            "one node can join any number of components, and no count of them that one node moves by little is known here"
        }
        _ => {
            "one node can be in any number of them, and what nodes with a bounded number of edges have of them is not bounded by one node"
        }
    };
    PlanError::about(Argument::Adjacency, format!("{} is not answered for one node: {why}", count.noun()))
        .hint("ask for edges or degree-histogram, or protect single edges with `adjacency=edge`")
}

/// What the budget of the data set is charged, in its own terms.
fn charge(
    protected: Protected,
    unit: &Unit,
    names: &str,
    cost: &Approx,
    facts: &DataFacts,
) -> Result<(Approx, DataSet), PlanError> {
    let name = facts.name.clone();
    let Some((registered, adjacency)) = facts.registered.clone() else {
        return Ok((cost.clone(), DataSet { name, unit: unit.clone(), adjacency: Adjacency::AddRemove }));
    };
    let by_edge = registered == Unit::Column(format!("edge of {names}"));
    let steps = match (&registered, protected) {
        (Unit::Column(_), _) if registered == *unit => cost.clone(),
        // One row is at most one edge; that is a node that goes and comes back with it.
        (Unit::Row, Protected::Edge) => cost.clone(),
        (Unit::Row, Protected::Node) => cost.two_steps(),
        (Unit::Column(_), Protected::Node) if by_edge => cost.two_steps(),
        (Unit::Column(other), _) => {
            let (data, other) = (wording::shown(&name), wording::shown(other));
            let problem = format!("'{data}' is registered for one {other}, and this promises for one {unit}");
            return Err(PlanError::about(Argument::Adjacency, problem).hint("ask of it under another name"));
        }
    };
    let charge = if adjacency == Adjacency::Replace { steps.two_steps() } else { steps };
    Ok((charge, DataSet { name, unit: registered, adjacency }))
}

impl Priced for GraphPlan {
    fn data_set(&self) -> DataSet {
        self.charged.clone()
    }

    fn asked(&self) -> String {
        serde_json::to_string(&self.request).expect("texts are always JSON")
    }

    fn summary(&self) -> PlanSummary {
        let promise = Promise {
            epsilon: self.cost.eps.to_exact(),
            delta: self.cost.delta.to_exact(),
            adjacency: Adjacency::AddRemove.to_string(),
            unit: self.unit.to_string(),
            max_rows_per_unit: None,
            per_unit: false,
            composition: None,
            max_groups_per_unit: None,
            once_for_each_value: false,
            windows: None,
        };
        let histogram = self.request.count == "degree-histogram";
        PlanSummary {
            mechanism: self.way.mechanism().to_string(),
            group_by: if histogram { vec!["degree".to_string()] } else { Vec::new() },
            expected: self.way.expected(),
            charge: Spent::from(&self.charge),
            warnings: caution::warnings(&promise, caution::Rows::Unknown),
            ..PlanSummary::bare(&self.request.count, &self.data, promise)
        }
    }

    fn price(&self) -> Approx {
        self.charge.clone()
    }
}

impl Session {
    /// Read the edges, count and record it. The charge is used up whatever happens.
    pub fn answer_graph(
        &mut self,
        charged: Charged<GraphPlan>,
        source: &dyn Source,
    ) -> Result<Release, Unanswered> {
        let Charged { plan, charge } = charged;
        let coins = &mut self.coins;
        let answer = privately(|| {
            let key = order_key(coins);
            let rows = GraphRows::read(source, plan.columns)?;
            Ok(plan.answer(&rows, key, coins))
        })?;
        let release = Release::of(&plan.summary(), answer, &charge);
        self.record(Held::new(release, charge))
    }
}

pub(crate) mod audits;
pub(crate) mod edge_audits;
#[cfg(test)]
mod tests;
