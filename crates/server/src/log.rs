//! One line a request: time, member, route, status, charge. No question, no number, no duration: a log is read by people who
//! may not see answers, and how long something took may depend on rows.

use equipoise_core::wording;
use equipoise_session::ledger::{seconds_now, utc};
use std::io::{self, Write as _};

/// What is known of a request when it has been answered.
pub struct Line<'a> {
    /// Who sent it.
    pub member: Option<&'a str>,
    /// The method.
    pub method: &'a str,
    /// The template of its route, not the path that was typed.
    pub route: &'a str,
    /// The status of the answer.
    pub status: u16,
    /// The charge that it made, where it made one.
    pub charge: Option<&'a str>,
}

/// Write the line.
pub fn request(line: &Line<'_>) {
    let member = line.member.map_or("-".to_string(), wording::shown);
    let charge = line.charge.unwrap_or("-");
    tell(&format!("{} {member} {} {} {} {charge}", utc(seconds_now()), line.method, line.route, line.status));
}

/// Something failed inside, before any row was read or without a word about them.
pub fn failure(what: &str) {
    tell(&format!("{} failure: {}", utc(seconds_now()), wording::line(what)));
}

/// One line on standard error. Who cannot be told goes on.
fn tell(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
