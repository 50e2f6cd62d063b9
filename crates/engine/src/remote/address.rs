//! `postgres://user@host/db?table=hr.salaries`: a table of a database server where the name of a file may stand.
//!
//! It is read as libpq reads it, without passwords: what is typed stands in histories and lists of processes.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

/// How an address begins.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// The settings that may stand behind the question mark, beside `table`. What else there is belongs to whoever runs the server.
const SETTINGS: [&str; 9] = [
    "host",
    "port",
    "user",
    "dbname",
    "service",
    "sslmode",
    "sslrootcert",
    "connect_timeout",
    "application_name",
];

/// Settings that hold a secret.
const SECRETS: [&str; 4] = ["password", "passfile", "sslpassword", "sslkey"];

/// A table by its schema and its name, as the database spells them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableName {
    /// The schema.
    pub schema: String,
    /// The table.
    pub table: String,
}

/// Where a table is, as it was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostgresAddress {
    /// What was said: `host`, `port`, `user`, `dbname` and the like.
    pub settings: BTreeMap<String, String>,
    /// The table.
    pub table: Option<TableName>,
}

/// What is wrong with an address. None of these shows it: there may be a password in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressProblem {
    /// It has a password in it.
    Password,
    /// It has a setting that is none of the known ones.
    Setting,
    /// It cannot be understood.
    Unreadable,
    /// What stands behind `table=` is no name of a table.
    Table,
}

impl PostgresAddress {
    /// Does a path name a table of a server?
    pub fn is(path: &Path) -> bool {
        scheme(path).is_some()
    }

    /// The address that a path is, or `None` for everything else.
    pub fn of(path: &Path) -> Option<Result<Self, AddressProblem>> {
        let rest = scheme(path)?.len();
        let text = path.to_str().and_then(|text| text.get(rest..));
        Some(text.ok_or(AddressProblem::Unreadable).and_then(read))
    }

    /// The whole of it, as it can be typed.
    pub fn typed(&self) -> String {
        let mut typed = String::from("postgres://?");
        for (key, value) in &self.settings {
            let _ = write!(typed, "{key}={}&", escaped(value, "/:"));
        }
        if let Some(table) = &self.table {
            let _ = write!(typed, "table={}", escaped(&table.typed(), "\""));
        }
        typed
    }

    /// The address for a reader: without user and settings, which are nobody's business but the asker's.
    pub fn shown(&self) -> String {
        let of = |key: &str| self.settings.get(key).map(String::as_str);
        let table = self.table.as_ref().map(TableName::typed);
        text(of("host"), of("port"), of("dbname").unwrap_or_default(), table.as_deref())
    }
}

/// An address of these parts, as it is typed.
pub fn text(host: Option<&str>, port: Option<&str>, database: &str, table: Option<&str>) -> String {
    let mut text = String::from("postgres://");
    let host = host.unwrap_or_default();
    if host.contains(':') {
        let _ = write!(text, "[{}]", escaped(host, ":"));
    } else {
        text.push_str(&escaped(host, ""));
    }
    if let Some(port) = port {
        let _ = write!(text, ":{}", escaped(port, ""));
    }
    let _ = write!(text, "/{}", escaped(database, ""));
    if let Some(table) = table {
        let _ = write!(text, "?table={}", escaped(table, "\""));
    }
    text
}

/// The scheme that a path begins with.
fn scheme(path: &Path) -> Option<&'static str> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let begins = |scheme: &str| {
        bytes.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme.as_bytes()))
    };
    SCHEMES.into_iter().find(|scheme| begins(scheme))
}

impl TableName {
    /// As it is typed: parts that are not plain words in quotes.
    pub fn typed(&self) -> String {
        format!("{}.{}", typed_part(&self.schema), typed_part(&self.table))
    }

    /// `hr.salaries`, `"Odd name".t`, or a table of the schema `public`. As in SQL, what has no quotes is in lower case.
    pub fn read(text: &str) -> Option<Self> {
        let (first, rest) = part(text)?;
        let (schema, table) = match rest.strip_prefix('.') {
            Some(rest) => (first, part(rest).filter(|(_, rest)| rest.is_empty())?.0),
            None if rest.is_empty() => ("public".to_string(), first),
            None => return None,
        };
        Some(Self { schema, table })
    }
}

/// A name up to a point that is not in quotes, and what follows.
fn part(text: &str) -> Option<(String, &str)> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find(['.', '"']).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        return (!name.is_empty()).then(|| (name.to_ascii_lowercase(), rest));
    };
    let mut name = String::new();
    loop {
        let end = rest.find('"')?;
        name.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(more) => {
                name.push('"');
                rest = more;
            }
            None => return (!name.is_empty()).then_some((name, rest)),
        }
    }
}

fn typed_part(name: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '$';
    if !name.is_empty() && name.chars().all(plain) {
        name.to_string()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

fn read(rest: &str) -> Result<PostgresAddress, AddressProblem> {
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    // The last @ is the one: a password that was typed must not be taken for a host and shown.
    let (user, place) = match place.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, place),
    };
    let mut address = PostgresAddress::default();
    let mut put = |key: &str, value: &str| -> Result<(), AddressProblem> {
        let value = unescaped(value).ok_or(AddressProblem::Unreadable)?;
        if value.contains('\0') {
            return Err(AddressProblem::Unreadable);
        }
        if !value.is_empty() {
            address.settings.insert(key.to_string(), value);
        }
        Ok(())
    };
    if let Some(user) = user {
        if user.contains(':') || user.contains('@') {
            return Err(AddressProblem::Password);
        }
        put("user", user)?;
    }
    let (authority, database) = place.split_once('/').unwrap_or((place, ""));
    let (host, port) = host_and_port(authority).ok_or(AddressProblem::Unreadable)?;
    put("host", host)?;
    put("port", port)?;
    put("dbname", database)?;
    let mut table = None;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        match key {
            "table" => {
                let value = unescaped(value).ok_or(AddressProblem::Table)?;
                table = Some(TableName::read(&value).ok_or(AddressProblem::Table)?);
            }
            key if SECRETS.contains(&key) => return Err(AddressProblem::Password),
            key if SETTINGS.contains(&key) => put(key, value)?,
            _ => return Err(AddressProblem::Setting),
        }
    }
    let several = |key: &str| address.settings.get(key).is_some_and(|value| value.contains(','));
    let port = address.settings.get("port").is_some_and(|port| port.parse::<u16>().is_err());
    // Several hosts are several databases by turns: which one answers would be nobody's choice.
    if several("host") || several("port") || port {
        return Err(AddressProblem::Unreadable);
    }
    Ok(PostgresAddress { table, ..address })
}

/// `host:port`, `[::1]:port`, or the percent-encoded folder of a socket.
fn host_and_port(authority: &str) -> Option<(&str, &str)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, port)),
            None => rest.is_empty().then_some((host, "")),
        };
    }
    Some(authority.split_once(':').unwrap_or((authority, "")))
}

/// `%2F` and the like read back.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        rest = more;
        if first == b'%' {
            let digit = |byte: &u8| char::from(*byte).to_digit(16);
            let [high, low, ..] = more else { return None };
            bytes.push(u8::try_from(digit(high)? * 16 + digit(low)?).ok()?);
            rest = &more[2..];
        } else {
            bytes.push(first);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Everything but letters, digits and what separates nothing.
fn escaped(text: &str, also: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || "-._~$".contains(c) || also.contains(c) {
            escaped.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(escaped, "%{byte:02X}");
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Result<PostgresAddress, AddressProblem>> {
        PostgresAddress::of(Path::new(text))
    }

    fn address(settings: &[(&str, &str)], table: Option<(&str, &str)>) -> PostgresAddress {
        PostgresAddress {
            settings: settings.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
            table: table.map(|(schema, table)| TableName { schema: schema.into(), table: table.into() }),
        }
    }

    #[test]
    fn addresses_by_hand() {
        let salaries = Some(("hr", "salaries"));
        for (text, expected) in [
            (
                "postgres://ann@db.example.org:5433/staff?table=hr.salaries",
                address(
                    &[("host", "db.example.org"), ("port", "5433"), ("user", "ann"), ("dbname", "staff")],
                    salaries,
                ),
            ),
            ("postgresql:///staff?table=people", address(&[("dbname", "staff")], Some(("public", "people")))),
            (
                "POSTGRES://%2Frun%2Fpostgresql/staff?table=HR.Salaries",
                address(&[("host", "/run/postgresql"), ("dbname", "staff")], salaries),
            ),
            (
                "postgres:///staff?host=/tmp&table=\"Odd \"\"t.\".\"A&B\"",
                // An ampersand has to be percent-encoded, as in every address.
                PostgresAddress::default(),
            ),
            (
                "postgres://[::1]:6000/a%20b?table=%22Odd%20%22%22t.%22.%22A%26B%22&sslmode=disable",
                address(
                    &[("host", "::1"), ("port", "6000"), ("dbname", "a b"), ("sslmode", "disable")],
                    Some(("Odd \"t.", "A&B")),
                ),
            ),
            ("postgres://?service=books", address(&[("service", "books")], None)),
        ] {
            if expected == PostgresAddress::default() {
                assert_eq!(of(text), Some(Err(AddressProblem::Table)), "{text}");
            } else {
                assert_eq!(of(text), Some(Ok(expected)), "{text}");
            }
        }
        assert_eq!(of("people.csv"), None);
        assert_eq!(of("./postgres://a/b"), None);
    }

    #[test]
    fn passwords_and_unknown_settings_are_refused_wherever_they_stand() {
        for text in [
            "postgres://ann:secret@h/d?table=t",
            "postgres://ann:se@cret@h/d?table=t",
            "postgres://a@b@h/d",
            "postgres://h/d?password=secret&table=t",
            "postgres://h/d?sslpassword=x",
        ] {
            assert_eq!(of(text), Some(Err(AddressProblem::Password)), "{text}");
        }
        for text in ["postgres://h/d?options=-c%20x", "postgres://h/d?hostaddr=1.2.3.4", "postgres://h/d?x"] {
            assert_eq!(of(text), Some(Err(AddressProblem::Setting)), "{text}");
        }
        for text in [
            "postgres://a,b/d",
            "postgres://h:1,2/d",
            "postgres://h:x/d",
            "postgres://%zz/d",
            "postgres://[::1",
        ] {
            assert_eq!(of(text), Some(Err(AddressProblem::Unreadable)), "{text}");
        }
        for text in ["postgres://h/d?table=", "postgres://h/d?table=a.b.c", "postgres://h/d?table=\"a"] {
            assert_eq!(of(text), Some(Err(AddressProblem::Table)), "{text}");
        }
    }

    #[test]
    fn what_is_shown_can_be_typed_and_has_no_user() {
        for text in [
            "postgres://db.example.org:5433/staff?table=hr.salaries",
            "postgres://%2Frun%2Fpostgresql/staff?table=hr.salaries",
            "postgres://[::1]:6000/a%20b?table=\"Odd%20\"\"t.\".\"A%26B\"",
        ] {
            let address = of(text).expect("an address").expect("readable");
            assert_eq!(address.shown(), text);
            assert_eq!(of(&address.typed()), Some(Ok(address)));
        }
        let typed = of("postgres://ann@h/d?table=t&sslmode=disable").expect("an address").expect("readable");
        assert_eq!(typed.shown(), "postgres://h/d?table=public.t");
        assert_eq!(of(&typed.typed()), Some(Ok(typed)));
    }
}
