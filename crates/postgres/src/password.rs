//! Passwords that were handed over in this process, then `~/.pgpass`: lines `host:port:database:user:password`, a star for any. A file that others may read is left alone, as libpq does.

use crate::settings::Settings;
use equipoise_entropy::fork;
use std::{
    collections::BTreeMap,
    fs, mem,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::{Mutex, PoisonError},
};

/// A server, a database on it, and a role.
type Whose = (String, u16, String, String);

/// Passwords that stand in no text, file or variable: those of engines that a program has. In memory alone, and for no other role. Locked inside only.
static HANDED: Mutex<BTreeMap<Whose, String>> = Mutex::new(BTreeMap::new());

fn whose(settings: &Settings) -> Option<Whose> {
    let Settings { host, port, database, user, .. } = settings;
    Some((host.clone(), *port, database.clone(), user.clone()?))
}

/// Use this password from now on; false where no role is named.
pub(crate) fn hand(settings: &Settings, password: String) -> bool {
    let Some(whose) = whose(settings) else { return false };
    let _inside = fork::enter();
    HANDED.lock().unwrap_or_else(PoisonError::into_inner).insert(whose, password);
    true
}

/// The password that was handed over for this server, database and role.
pub(crate) fn handed(settings: &Settings) -> Option<String> {
    let whose = whose(settings)?;
    let _inside = fork::enter();
    HANDED.lock().unwrap_or_else(PoisonError::into_inner).get(&whose).cloned()
}

/// The password for this server and user.
pub(crate) fn of(file: &Path, settings: &Settings, user: Option<&str>) -> Option<String> {
    let found = fs::metadata(file).ok()?;
    if !found.is_file() || found.permissions().mode() & 0o077 != 0 {
        return None;
    }
    let port = settings.port.to_string();
    // Sockets are called localhost there.
    let host = if settings.host.starts_with('/') { "localhost" } else { &settings.host };
    let sought = [host, &port, &settings.database, user.unwrap_or_default()];
    fs::read_to_string(file).ok()?.lines().find_map(|line| password(line, sought))
}

fn password(line: &str, sought: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let fields = fields(line);
    let [host, port, database, user, password] = fields.as_slice() else { return None };
    let fits = [host, port, database, user]
        .iter()
        .zip(sought)
        .all(|(field, sought)| *field == "*" || *field == sought);
    (fits && !password.is_empty()).then(|| password.clone())
}

/// Apart at colons; a backslash takes the next character as it is.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut last) = (Vec::new(), String::new());
    let mut characters = line.trim_end_matches('\r').chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => last.extend(characters.next()),
            // The password may have colons in it.
            ':' if fields.len() < 4 => fields.push(mem::take(&mut last)),
            c => last.push(c),
        }
    }
    fields.push(last);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_counts() {
        let sought = ["db", "5432", "staff", "ann"];
        for (line, expected) in [
            ("db:5432:staff:ann:a:b", Some("a:b")),
            ("*:*:*:*:x\\:y\\\\", Some("x:y\\")),
            ("db:5432:staff:bob:x", None),
            ("#db:5432:staff:ann:x", None),
            ("db:5432:staff:ann:", None),
            ("db:5432", None),
        ] {
            assert_eq!(password(line, sought).as_deref(), expected, "{line}");
        }
    }
}
