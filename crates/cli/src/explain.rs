//! `equipoise explain`: a release in a paragraph, for a paper or a privacy board.

use crate::{
    Exit,
    args::ExplainOptions,
    ask::{internal, ledger, usage},
};
use equipoise_core::wording::{self, Surface};
use equipoise_engine::books::ledger_path;
use equipoise_session::{
    explanation::{self, Unexplained},
    ledger::Ledger,
};

pub(crate) fn run(options: &ExplainOptions) -> Exit {
    explain(options).map_or_else(|exit| exit, |()| Exit::Done)
}

fn explain(options: &ExplainOptions) -> Result<(), Exit> {
    let path = ledger_path(options.ledger.as_deref(), None);
    let opened = Ledger::open_read_only(&path).map_err(ledger)?;
    let id = whole_id(&opened, &options.receipt)?;
    let explained =
        explanation::explain(&opened, &id, Surface::CommandLine).map_err(|error| match error {
            Unexplained::Unknown => unknown(&options.receipt),
            Unexplained::Ledger(error) => ledger(error),
            other @ Unexplained::OfAnotherVersion => internal(other),
        })?;
    if options.json {
        println!("{:#}", explained.document);
    } else {
        println!("{}", explained.words);
    }
    Ok(())
}

/// Receipts may be shortened to a unique beginning.
fn whole_id(opened: &Ledger, typed: &str) -> Result<String, Exit> {
    match &opened.beginning_with(typed).map_err(ledger)?[..] {
        [id] if typed.len() >= 4 => Ok(id.clone()),
        [] => Err(unknown(typed)),
        _ => Err(usage(format!("'{}' could be several receipts; give more of it", wording::shown(typed)))),
    }
}

fn unknown(typed: &str) -> Exit {
    usage(format!(
        "no receipt '{}' in this ledger; 'equipoise budget log' lists them, --ledger names another",
        wording::shown(typed)
    ))
}
