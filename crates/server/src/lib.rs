//! Private answers over HTTP: data sets, plans, questions, releases and the ledger, and a console for people.
//!
//! Analysts ask through the server and touch neither data nor ledger, so that a limit is a lock and not only a record. The order
//! is the one of the command line: plan for free, charge, read rows, record, show; but recording and showing wait until a time
//! that is fixed by the charge and a public setting of the data set ([`desk`]).
//!
//! [`app`] is the whole server but for sockets and TLS, which are in [`serve`]. What it does is in [`acts`], which the API and the
//! console call alike; who may do it is one function in [`authorise`].

#![forbid(unsafe_code)]

pub mod acts;
pub mod answered;
mod api;
pub mod authorise;
pub mod backup;
mod console;
pub mod demo;
pub mod desk;
mod http;
mod log;
mod made_up;
pub mod metrics;
pub mod monitors;
pub mod problem;
pub mod rate;
pub mod rollback;
pub mod secret;
pub mod serve;
pub mod sink;
pub mod state;
pub mod store;

use axum::Router;
use state::State;
use std::sync::Arc;

/// Every route of the API and of the console.
pub fn app(state: Arc<State>) -> Router {
    let router =
        Router::new().merge(api::routes()).merge(console::routes(&state)).fallback(http::nothing_here);
    http::with_headers_and_log(router, &state).with_state(state)
}

/// The description of the API that is served at `/openapi.json`.
pub const OPENAPI: &str = include_str!("../openapi.json");
