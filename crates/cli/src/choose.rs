//! `equipoise choose`: one of some public options by a score over the rows.

use crate::{
    Exit,
    args::{ChooseOptions, by_column},
    ask::{account, existing, open, unopened, usage},
    interrupt::{Stage, reached},
    paid, plot, unplanned,
};
use equipoise_session::{
    session,
    stated::{ScoredPlan, ScoredRequest},
};

pub(crate) fn run(options: &ChooseOptions) -> Exit {
    answer(options).unwrap_or_else(|exit| exit)
}

pub(crate) fn request(options: &ChooseOptions) -> ScoredRequest {
    let (privacy, rows) = (&options.privacy, &options.rows);
    ScoredRequest {
        statistic: "choose".into(),
        score: options.score.clone(),
        range: privacy.range.clone(),
        options: options.options.clone(),
        epsilon: privacy.epsilon.clone(),
        adjacency: privacy.adjacency.clone(),
        confidence: privacy.confidence.clone(),
        mechanism: privacy.mechanism.clone(),
        noise: privacy.noise.clone(),
        base: privacy.base.clone(),
        filter: rows.filter.clone(),
        unit: rows.unit.clone(),
        max_rows_per_unit: rows.max_rows_per_unit.clone(),
        types: by_column(&options.types.types),
        delimiter: options.reading.delimiter.clone(),
        header: options.reading.no_header.then_some(false),
    }
}

fn answer(options: &ChooseOptions) -> Result<Exit, Exit> {
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
    let plan = ScoredPlan::new(&request, &facts.typed_by(&*source)).map_err(|error| unplanned(&error))?;
    plan.readable_in(&*source).map_err(|error| unplanned(&error))?;
    paid::answer(plan, (&account, known), (books, showing), |session, charged| {
        session.answer_scored(charged, &*source)
    })
}
