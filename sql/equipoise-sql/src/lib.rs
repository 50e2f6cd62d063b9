//! Private SQL with joins, subqueries and set operations, on DataFusion.

#![forbid(unsafe_code)]

#[cfg(test)]
mod audit;
mod dialect;
pub mod member;
mod open;
mod prepare;
mod refusal;
mod relation;
mod rules;
mod table;
mod walk;

use equipoise_sql_front::apart;
use std::{
    ffi::OsString,
    io,
    os::{fd::AsFd as _, unix::net::UnixStream},
    process::{self, ExitCode},
};

pub use refusal::Refusal;

/// Have queries about several tables answered by this crate, in every command that takes queries.
pub fn install() {
    equipoise_sql_front::several::install(&open::DataFusionJoins);
}

/// Hand relations to the process that started this one, where that is what it was started for.
pub fn asked_by_another(words: &[OsString]) -> Option<ExitCode> {
    match words {
        [_, word] if word == apart::WORD => {}
        _ => return None,
    }
    let Ok(stream) = whoever_asks() else {
        eprintln!(
            "equipoise: '{}' is how other programs of equipoise ask; ask with: equipoise sql \"SELECT ..\"",
            apart::WORD
        );
        return Some(ExitCode::from(2));
    };
    let served = apart::serve(stream, &open::DataFusionJoins, || process::exit(0));
    Some(if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Standard input, where it is one end of a pair of sockets that nobody else can have.
fn whoever_asks() -> io::Result<UnixStream> {
    let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    if stream.peer_addr()?.is_unnamed() { Ok(stream) } else { Err(io::Error::other("it has a name")) }
}
