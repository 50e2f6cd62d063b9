//! Programs that this one becomes, because what they need would make the first build long.

use equipoise_engine::remote;
use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::Command,
};

/// The same program with what reads tables of Postgres.
const WITH_POSTGRES: &str = "equipoise-postgres";

/// The same program with what joins tables.
pub(crate) const WITH_JOINS: &str = "equipoise-sql";

/// How addresses of such tables begin.
const SCHEMES: [&[u8]; 2] = [b"postgres://", b"postgresql://"];

/// Become the program that reads tables of Postgres, and keeps ledgers there, where a word has the address of one. Where there is none, whoever opens the address
/// says how to get it.
pub(crate) fn to_postgres(words: &[OsString]) {
    let ledger = env::var_os("EQUIPOISE_LEDGER");
    if remote::installed() || !words.iter().chain(&ledger).any(|word| has_an_address(word)) {
        return;
    }
    if let Some(program) = find(WITH_POSTGRES) {
        // It comes back only where the program could not be started; then the address says so.
        let _ = Command::new(program).args(words).exec();
    }
}

/// Become the program that joins tables, for a query about several. It comes back where there is none, and for tables of Postgres, which that
/// program would leave to the other one again.
pub(crate) fn to_joins(words: &[OsString]) {
    if words.iter().any(|word| has_an_address(word)) {
        return;
    }
    if let Some(program) = find(WITH_JOINS) {
        let _ = Command::new(program).args(words).exec();
    }
}

/// In the middle of a query, too.
fn has_an_address(word: &OsStr) -> bool {
    let word = word.as_encoded_bytes();
    SCHEMES.iter().any(|scheme| word.windows(scheme.len()).any(|part| part.eq_ignore_ascii_case(scheme)))
}

/// A program beside this one, or else where programs are looked for.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let beside = env::current_exe().ok().and_then(|program| Some(program.parent()?.join(name)));
    let on_path = env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = env::split_paths(&on_path).map(|folder| folder.join(name)).collect();
    beside.into_iter().chain(on_path).find(|path| path.is_file())
}
