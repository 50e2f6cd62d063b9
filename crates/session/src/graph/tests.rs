//! Graphs as they are asked about: prices, what ledgers count, and answers where there is hardly any noise.

use super::*;
use crate::{
    session::Paid,
    simulate::Simulated,
    source::{Batch, Cells, ColumnRead, ColumnType, Lost, Visitor},
};
use equipoise_ledger::Ledger;

/// Rows of two names.
struct Friends {
    columns: Vec<String>,
    rows: Vec<(String, String)>,
}

impl Friends {
    /// A ring of so many nodes in which each also knows the next but one: as many triangles as nodes.
    fn ring(nodes: usize) -> Self {
        let name = |node: usize| format!("n{}", node % nodes);
        let rows = (0..nodes).flat_map(|node| [1, 2].map(|step| (name(node), name(node + step)))).collect();
        Self { columns: vec!["from".into(), "to".into()], rows }
    }
}

impl Source for Friends {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        assert!(wanted.iter().all(|one| one.kind == ColumnType::Text));
        for (from, to) in &self.rows {
            let both = [[Some(from.as_str())], [Some(to.as_str())]];
            let cells: Vec<Cells<'_>> = wanted.iter().map(|one| Cells::Texts(&both[one.column])).collect();
            visitors[0].batch(Batch { rows: 1, cells: &cells });
        }
        Ok(())
    }
}

fn facts(registered: Option<(Unit, Adjacency)>) -> DataFacts {
    DataFacts {
        name: "friends".into(),
        columns: vec!["from".into(), "to".into()],
        registered,
        kinds: Vec::new(),
        windows: None,
    }
}

fn request(count: &str, adjacency: &str) -> GraphRequest {
    GraphRequest {
        statistic: "graph".into(),
        count: count.into(),
        adjacency: Some(adjacency.into()),
        epsilon: Some("10".into()),
        ..GraphRequest::default()
    }
}

fn released(request: &GraphRequest, friends: &Friends) -> Release {
    let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
    let plan = GraphPlan::new(request, &facts(None)).unwrap();
    let Paid::Charged(charged) = session.charge(plan, None).unwrap() else { unreachable!("it is new") };
    session.answer_graph(*charged, friends).unwrap()
}

/// A number that removals bring it down to, outside of its bar with a chance of one in a billion.
fn removed(count: &str) -> GraphRequest {
    let confidence = Some("0.999999999".into());
    GraphRequest { mechanism: Some("shifted-inverse".into()), confidence, ..request(count, "edge") }
}

/// At epsilon 10 noise beyond 40 steps of scale one has a chance below e^-40.
#[test]
fn every_count_is_near_the_truth_and_says_for_whom_it_is_private() {
    let friends = Friends::ring(3000);
    let delta = |request: GraphRequest| GraphRequest { delta: Some("1e-6".into()), ..request };
    let named = |name: &str, request: GraphRequest| GraphRequest { mechanism: Some(name.into()), ..request };
    let bounded = |request: GraphRequest| GraphRequest { max_degree: Some("8".into()), ..request };
    for (request, truth, within, unit) in [
        (request("edges", "edge"), 6000.0, 40.0, "edge of from,to"),
        (request("components", "edge"), 1.0, 40.0, "edge of from,to"),
        (request("triangles", "edge"), 3000.0, 1000.0, "edge of from,to"),
        (delta(request("triangles", "edge")), 3000.0, 300.0, "edge of from,to"),
        (named("released-scale", delta(request("triangles", "edge"))), 3000.0, 300.0, "edge of from,to"),
        (request("stars:2", "edge"), 18_000.0, 5000.0, "edge of from,to"),
        (delta(request("stars:3", "edge")), 12_000.0, 5000.0, "edge of from,to"),
        (removed("triangles"), 3000.0, 60.0, "edge of from,to"),
        (removed("stars:2"), 18_000.0, 400.0, "edge of from,to"),
        (bounded(request("edges", "node")), 6000.0, 300.0, "node of from,to"),
        (request("edges", "node"), 6000.0, 300.0, "node of from,to"),
    ] {
        let release = released(&request, &friends);
        let value = release.value.as_f64().unwrap();
        assert!((value - truth).abs() <= within, "{request:?}: {value}");
        assert_eq!(
            (release.guarantee.unit.as_str(), release.guarantee.adjacency.as_str()),
            (unit, "add-remove")
        );
        let [low, high] = release.error.unwrap().numeric_ends().unwrap();
        assert!(low <= value && value <= high);
    }
}

#[test]
fn histograms_have_a_bin_for_each_degree() {
    let friends = Friends::ring(3000);
    let edge = GraphRequest { max_degree: Some("6".into()), ..request("degree-histogram", "edge") };
    let node = GraphRequest { max_degree: Some("4".into()), ..request("degree-histogram", "node") };
    for (request, keys) in
        [(edge, vec!["1", "2", "3", "4", "5", "6 or more"]), (node, vec!["1", "2", "3", "4"])]
    {
        let release = released(&request, &friends);
        let groups = release.groups.unwrap();
        assert_eq!(groups.iter().map(|group| group.key.as_str().unwrap()).collect::<Vec<_>>(), keys);
        for group in &groups {
            let truth = if group.key == "4" { 3000.0 } else { 0.0 };
            assert!((group.value.as_f64().unwrap() - truth).abs() < 100.0, "{group:?}");
        }
        // Degrees of kept edges are not degrees, and the table says so.
        let bars = groups.iter().filter_map(|group| group.error.as_ref());
        let (_, about) = crate::bar::ErrorBar::table_words(bars).unwrap();
        let kept = "the number of nodes that keep so many edges where each node keeps at most 4";
        assert_eq!(about.contains(&kept.to_string()), request.adjacency.as_deref() == Some("node"));
    }
}

#[test]
fn what_a_ledger_counts_is_charged_in_its_own_terms_or_refused() {
    use Adjacency::{AddRemove, Replace};
    let of = |adjacency: &str, unit: &str, by: Adjacency| {
        let unit = if unit == "row" { Unit::Row } else { Unit::Column(unit.into()) };
        GraphPlan::new(&request("edges", adjacency), &facts(Some((unit, by))))
            .map(|plan| plan.price().eps.to_string())
    };
    for (adjacency, unit, by, charged) in [
        ("edge", "row", AddRemove, Some("10")),
        ("edge", "row", Replace, Some("20")),
        ("node", "row", AddRemove, Some("20")),
        ("node", "row", Replace, Some("40")),
        ("edge", "edge of from,to", AddRemove, Some("10")),
        ("node", "edge of from,to", AddRemove, Some("20")),
        ("node", "node of from,to", AddRemove, Some("10")),
        ("edge", "node of from,to", AddRemove, None),
        ("edge", "from", AddRemove, None),
        ("node", "to", Replace, None),
    ] {
        let found = of(adjacency, unit, by);
        assert_eq!(found.as_deref().ok(), charged, "{adjacency} {unit}");
        assert!(charged.is_some() || found.unwrap_err().to_string().contains("is registered for one"));
    }
}

#[test]
fn what_is_wrong_is_said_before_anything_is_charged() {
    let change = |change: fn(&mut GraphRequest), count: &str, adjacency: &str| {
        let mut request = request(count, adjacency);
        change(&mut request);
        request
    };
    for (bad, said) in [
        (request("squares", "edge"), "no statistic is called 'squares'"),
        (request("stars:9", "edge"), "K from 2 to 4"),
        (request("stars:x", "edge"), "K from 2 to 4"),
        (request("triangles", "node"), "is not answered for one node"),
        (request("stars:2", "node"), "ask for edges or degree-histogram"),
        (request("components", "node"), "one node can join any number"),
        (request("edges", "row"), "no adjacency is called 'row'"),
        (change(|r| r.adjacency = None, "edges", ""), "one edge protected, or one node"),
        (change(|r| r.epsilon = None, "edges", "edge"), "how much privacy"),
        (change(|r| r.epsilon = Some("0".into()), "edges", "edge"), "epsilon"),
        (change(|r| r.confidence = Some("2".into()), "edges", "edge"), "confidence"),
        (change(|r| r.mechanism = Some("magic".into()), "edges", "edge"), "no mechanism is called 'magic'"),
        (change(|r| r.mechanism = Some("released-scale".into()), "triangles", "edge"), "needs a delta"),
        (
            change(
                |r| (r.mechanism, r.delta) = (Some("bounded-local-sensitivity".into()), Some("1e-6".into())),
                "stars:3",
                "edge",
            ),
            "use smooth or released-scale",
        ),
        (
            change(|r| r.mechanism = Some("shifted-inverse".into()), "stars:3", "edge"),
            "use smooth or released-scale",
        ),
        (
            change(|r| r.max_degree = Some("3".into()), "edges", "edge"),
            "leave it out, or use `adjacency=node`",
        ),
        (change(|r| r.max_degree = Some("3".into()), "triangles", "edge"), "leave it out"),
        (change(|r| r.max_degree = Some("0".into()), "edges", "node"), "from 1 to"),
        (change(|r| r.max_degree = Some("3,2".into()), "edges", "node"), "in growing order"),
        (change(|r| r.nodes = Some("1".into()), "triangles", "edge"), "of at least 2"),
        (change(|r| r.columns = Some("from".into()), "edges", "edge"), "which two columns"),
        (change(|r| r.columns = Some("from,from".into()), "edges", "edge"), "which two columns"),
        (change(|r| r.columns = Some("from,too".into()), "edges", "edge"), "did you mean 'to'"),
    ] {
        let error = GraphPlan::new(&bad, &facts(None)).unwrap_err().to_string();
        assert!(error.contains(said), "{bad:?}: {error}");
    }
    let three = DataFacts { columns: vec!["a".into(), "b".into(), "c".into()], ..facts(None) };
    let error = GraphPlan::new(&request("edges", "edge"), &three).unwrap_err().to_string();
    assert!(error.contains("`columns=FROM,TO`. There are: a, b, c"), "{error}");
}

/// A graph without triangles in which two people have up to forty common neighbours: only what edges that are there do counts for removals.
#[test]
fn removals_do_not_mind_what_edges_could_do_that_are_not_there() {
    let name = |side: &str, node: usize| format!("{side}{node}");
    let rows = (0..40).flat_map(|a| (0..40).map(move |b| (name("left", a), name("right", b)))).collect();
    let friends = Friends { columns: vec!["from".into(), "to".into()], rows };
    let release = released(&removed("triangles"), &friends);
    assert_eq!(release.value, serde_json::json!(0));
    let bar = release.error.unwrap();
    assert!(bar.subject().unwrap().contains("edges that are in most triangles"), "{bar:?}");
}

/// Of a ring with 3000 triangles: what is true, what is refused, and bars as often as they say, within eight standard errors.
#[test]
fn counts_of_public_graphs_are_simulated() {
    let friends = Friends::ring(300);
    let few = |request: GraphRequest| GraphRequest { epsilon: Some("1".into()), ..request };
    let named = |name: &str, request: GraphRequest| GraphRequest { mechanism: Some(name.into()), ..request };
    let delta = |request: GraphRequest| GraphRequest { delta: Some("1e-6".into()), ..request };
    for (request, truth) in [
        (few(request("edges", "edge")), 600),
        (few(request("edges", "node")), 600),
        (few(request("components", "edge")), 1),
        (few(delta(request("triangles", "edge"))), 300),
        (few(named("shifted-inverse", request("triangles", "edge"))), 300),
        (few(named("smooth", request("stars:2", "edge"))), 1800),
    ] {
        let plan = GraphPlan::new(&request, &facts(None)).unwrap();
        let simulation = plan.simulate(&friends, 200).unwrap();
        assert_eq!((simulation.trials.len(), simulation.refused(0)), (200, 0));
        let [series] = &simulation.series[..] else { panic!("one number") };
        assert_eq!((series.truth(), series.values.len()), (Some(serde_json::json!(truth)), 200));
        assert_eq!((series.bars, series.confidence), (200, Some(0.95)));
        // 190 of 200 are promised at least, and the standard error is about 3.
        assert!(series.held > 165, "{request:?}: {} of 200", series.held);
        let first = &simulation.trials[0].value();
        assert!(
            simulation.trials.iter().any(|trial| trial.value() != *first),
            "each trial draws its own noise"
        );
    }
    let histogram = GraphRequest { max_degree: Some("4".into()), ..few(request("degree-histogram", "edge")) };
    let simulation = GraphPlan::new(&histogram, &facts(None)).unwrap().simulate(&friends, 50).unwrap();
    let truths: Vec<_> =
        simulation.series.iter().map(|series| (series.key.clone(), series.truth())).collect();
    let expected = [("1", 0), ("2", 0), ("3", 0), ("4 or more", 300)]
        .map(|(key, count)| (Some(serde_json::json!(key)), Some(serde_json::json!(count))));
    assert_eq!(truths, expected);
}
