//! `equipoise graph`: counts of a graph whose edges are rows.

use crate::{
    Exit,
    args::GraphOptions,
    ask::{account, existing, open, unopened, usage},
    interrupt::{Stage, reached},
    paid, plot, unplanned,
};
use equipoise_session::{
    graph::{GraphPlan, GraphRequest},
    session,
};

pub(crate) fn run(options: &GraphOptions) -> Exit {
    answer(options).unwrap_or_else(|exit| exit)
}

pub(crate) fn request(options: &GraphOptions) -> GraphRequest {
    let privacy = &options.privacy;
    GraphRequest {
        statistic: "graph".into(),
        count: options.statistic.clone(),
        columns: options.columns.clone(),
        adjacency: privacy.adjacency.clone(),
        epsilon: privacy.epsilon.clone(),
        delta: privacy.delta.clone(),
        confidence: privacy.confidence.clone(),
        mechanism: privacy.mechanism.clone(),
        max_degree: privacy.max_degree.clone(),
        nodes: privacy.nodes.clone(),
        delimiter: options.reading.delimiter.clone(),
        header: options.reading.no_header.then_some(false),
    }
}

fn answer(options: &GraphOptions) -> Result<Exit, Exit> {
    reached(Stage::Planning);
    let (file, books, showing) = (&options.file, &options.books, &options.showing);
    let request = request(options);
    let source = open(file, request.delimiter.as_deref(), request.header)?;
    let account = account(file, books)?;
    if let Some(picture) = &showing.plot {
        plot::check(picture, &[file, &account.ledger]).map_err(usage)?;
    }
    let known = existing(&account.ledger)?;
    let facts = session::facts(known.as_ref(), &account.name, source.columns()).map_err(unopened)?;
    let plan = GraphPlan::new(&request, &facts.typed_by(&*source)).map_err(|error| unplanned(&error))?;
    plan.readable_in(&*source).map_err(|error| unplanned(&error))?;
    paid::answer(plan, (&account, known), (books, showing), |session, charged| {
        session.answer_graph(charged, &*source)
    })
}
