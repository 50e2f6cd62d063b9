//! A query about several tables, in two parts: the relation that it is about, which is for an engine that joins, and what is asked of that
//! relation, which is a query about one table like any other.
//!
//! Both parts are the text itself with what belongs to the other one blanked out, so that every place in them is its place in the query.

use crate::{
    Query, SqlError,
    token::{Kind, Token, tokens},
};
use equipoise_core::wording;
use equipoise_session::{request::Request, source::Source};
use std::{collections::BTreeMap, ops::Range, path::PathBuf, sync::OnceLock};

/// A column with the table that it may stand behind, and the byte of the query where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name of its table.
    pub table: Option<String>,
    /// Its own name.
    pub column: String,
    at: usize,
}

/// A query about several tables.
#[derive(Clone, Debug)]
pub struct Several {
    text: String,
    outer: String,
    inner: String,
    relation: String,
    units: Vec<Named>,
    public: Vec<String>,
    columns: Vec<Named>,
    from_at: usize,
}

/// A table whose rows are somebody's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateTable {
    /// The file or the address, as it was typed.
    pub name: String,
    /// The column that names the unit.
    pub unit: String,
}

/// A relation that may be asked about: no row of it was read.
pub struct Joined {
    /// What is asked of it.
    pub query: Query,
    /// Its rows, made when they are first scanned.
    pub source: Box<dyn Source>,
    /// The tables that the rows come from, each of which pays.
    pub private: Vec<PrivateTable>,
    /// The tables that are said to be public, as they were typed.
    pub public: Vec<String>,
}

/// A cluster of hosts that make relations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The address of its scheduler, as `HOST:PORT`.
    pub scheduler: String,
    /// The folder with the certificates that are shown to its members.
    pub certificates: Option<PathBuf>,
}

/// Who makes relations of several tables.
pub trait Joins: Send + Sync {
    /// The relation of a query, or why it is not accepted. `given` is what was said beside the query. It is made on this host, or on a
    /// cluster.
    fn open(&self, several: &Several, given: &Request, on: Option<&Cluster>) -> Result<Joined, SqlError>;
}

static JOINS: OnceLock<&'static dyn Joins> = OnceLock::new();

/// Hand in who joins tables; the first one counts. The default build has nobody, so that it needs no large engine.
pub fn install(joins: &'static dyn Joins) {
    let _ = JOINS.set(joins);
}

/// Who joins tables, where there is somebody.
pub fn installed() -> Option<&'static dyn Joins> {
    JOINS.get().copied()
}

/// The words that begin clauses.
const CLAUSES: [&str; 7] = ["from", "where", "group", "having", "order", "limit", "offset"];
const SETS: [&str; 4] = ["union", "intersect", "except", "minus"];

/// Text of the same length, blank but for what is copied from another.
struct Canvas(Vec<u8>);

impl Canvas {
    fn blank(text: &str) -> Self {
        // Line ends stay, so that lines and columns do.
        Self(text.bytes().map(|byte| if byte == b'\n' { b'\n' } else { b' ' }).collect())
    }

    fn of(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }

    fn erase(&mut self, range: Range<usize>) {
        self.0[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }

    fn copy(&mut self, text: &str, range: Range<usize>) {
        self.0[range.clone()].copy_from_slice(&text.as_bytes()[range]);
    }

    fn text(self) -> String {
        String::from_utf8(self.0).expect("whole tokens are copied and erased")
    }
}

/// Where the parts of a query are, as places among its tokens.
struct Parts {
    /// The last SELECT that stands in no parentheses: the outer one.
    select: usize,
    from: usize,
    /// The first token behind the conditions.
    behind: usize,
    end: usize,
}

impl Several {
    /// Take a query apart.
    pub fn read(text: &str) -> Result<Self, SqlError> {
        let tokens = tokens(text)?;
        let wrong = |place: usize, problem: String| {
            SqlError::at(text, tokens.get(place).map_or(text.len(), |token| token.start), problem)
        };
        let parts = parts(&tokens, &wrong)?;
        let mut outer = Canvas::of(text);
        let mut inner = Canvas::blank(text);
        let byte = |place: usize| tokens.get(place).map_or(text.len(), |token| token.start);
        // What WITH names is for the inner part, with what follows FROM and WHERE.
        outer.erase(0..byte(parts.select));
        let mut relation = String::new();
        let mut end = 0;
        for place in (0..=parts.select).chain(parts.from..parts.behind) {
            let token = &tokens[place];
            inner.copy(text, token.start..token.end);
            if text[token.start..].starts_with('`') {
                if text[token.start + 1..token.end - 1].contains(['"', '`']) {
                    let hint = "write the name between double quotes, each of its own doubled";
                    return Err(wrong(place, "a name between backticks has quotes in it".into()).hint(hint));
                }
                (inner.0[token.start], inner.0[token.end - 1]) = (b'"', b'"');
            }
            // Blanks and comments between tokens are one blank; those inside of texts and names stay.
            let gap = if !relation.is_empty() && token.start > end { " " } else { "" };
            relation.push_str(gap);
            let written = String::from_utf8_lossy(&inner.0[token.start..token.end]);
            match token.kind {
                Kind::Text(_) | Kind::Quoted(_) => relation.push_str(&without_role(&written)),
                _ => relation.push_str(&written),
            }
            if place == parts.select {
                relation.push_str(" *");
            }
            end = token.end;
        }
        inner.0[tokens[parts.select].end] = b'*';
        let (first, last) = (&tokens[parts.from + 1], &tokens[parts.behind - 1]);
        outer.erase(first.start..last.end);
        outer.0[first.start] = b't';
        let mut this = Self {
            text: text.to_string(),
            outer: String::new(),
            inner: inner.text(),
            relation,
            units: Vec::new(),
            public: Vec::new(),
            columns: Vec::new(),
            from_at: first.start,
        };
        let asked = this.options(&tokens, &parts, &mut outer, &wrong)?;
        this.qualified(&tokens, (asked..parts.from).chain(parts.behind..parts.end), &mut outer);
        this.outer = outer.text();
        Ok(this)
    }

    /// Take the options that name tables off the clause: the rest of it is the outer query's. The place behind the clause, where the list begins.
    fn options(
        &mut self,
        tokens: &[Token],
        parts: &Parts,
        outer: &mut Canvas,
        wrong: &dyn Fn(usize, String) -> SqlError,
    ) -> Result<usize, SqlError> {
        let is = |place: usize, word: &str| tokens.get(place).is_some_and(|token| token.is_word(word));
        let open = parts.select + 4;
        let begins = is(parts.select + 1, "with")
            && is(parts.select + 3, "options")
            && tokens.get(open).is_some_and(|token| token.is_sign("("));
        if !begins {
            return Ok(parts.select + 1);
        }
        let mut depth = 0usize;
        let (mut start, mut place, mut list) = (open + 1, open, Vec::new());
        while place < parts.from {
            match tokens[place].kind {
                Kind::Sign("(" | "[") => depth += 1,
                Kind::Sign(")" | "]") => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 || depth == 1 && tokens[place].is_sign(",") {
                list.push((start, place));
                start = place + 1;
            }
            if depth == 0 {
                break;
            }
            place += 1;
        }
        let mut kept = 0;
        for &(start, end) in &list {
            let named = [is(start, "privacy_unit_column"), is(start, "public_tables")];
            let taken = named != [false, false];
            // Commas stay between the options that stay.
            if (taken || kept == 0) && tokens[start - 1].is_sign(",") {
                outer.erase(tokens[start - 1].start..tokens[start - 1].end);
            }
            if !taken {
                kept += usize::from(start < end);
                continue;
            }
            if end < start + 3 || !tokens[start + 1].is_sign("=") {
                return Err(wrong(start, "an option is a name and a value".into())
                    .hint("write public_tables=['towns.csv']"));
            }
            let value = start + 2..end;
            if named[0] {
                self.units.extend(units(tokens, value, wrong)?);
            } else {
                self.public.extend(tables(tokens, value, wrong)?);
            }
            outer.erase(tokens[start].start..tokens[end - 1].end);
        }
        Ok(place)
    }

    /// Take the names of tables off the columns of the outer part, and remember them.
    fn qualified(&mut self, tokens: &[Token], places: impl Iterator<Item = usize>, outer: &mut Canvas) {
        let name = |place: usize| match tokens.get(place).map(|token| &token.kind) {
            Some(Kind::Word(name) | Kind::Quoted(name)) => Some(name.clone()),
            _ => None,
        };
        let dot = |place: usize| tokens.get(place).is_some_and(|token| token.is_sign("."));
        for place in places {
            let Some(own) = name(place) else { continue };
            let at = tokens[place].start;
            if place > 0 && dot(place - 1) {
                continue;
            }
            match (dot(place + 1), name(place + 2)) {
                (true, Some(column)) if !dot(place + 3) => {
                    outer.erase(tokens[place].start..tokens[place + 1].end);
                    self.columns.push(Named { table: Some(own), column, at });
                }
                _ => self.columns.push(Named { table: None, column: own, at }),
            }
        }
    }

    /// The query as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The relation as a query of its own, for an engine that joins.
    pub fn inner(&self) -> &str {
        &self.inner
    }

    /// The relation in few blanks and without comments, its texts and names as they are: what is charged and kept. As whom a server of tables is
    /// asked is nobody's to read there.
    pub fn relation(&self) -> &str {
        &self.relation
    }

    /// The columns that name units.
    pub fn units(&self) -> &[Named] {
        &self.units
    }

    /// The tables that are said to be public.
    pub fn public_tables(&self) -> &[String] {
        &self.public
    }

    /// The tables that a column of the outer part was said to be of, each once, `None` where none was named.
    pub fn tables_of(&self, column: &str) -> Vec<&Named> {
        let mut found: Vec<&Named> = Vec::new();
        for named in self.columns.iter().filter(|named| named.column == column) {
            if !found.iter().any(|known| known.table == named.table) {
                found.push(named);
            }
        }
        found
    }

    /// What is asked of the relation, whose unit is the column of this name. What was declared of its tables is charged and kept with it:
    /// the same words about other units, other public tables or other types are another request.
    pub fn query(&self, given: &Request, unit: &str, declared: &str) -> Result<Query, SqlError> {
        let given = Request { unit: Some(unit.to_string()), ..given.clone() };
        Ok(Query::read(&self.outer, &given)?.about_relation(format!("{} -- {declared}", self.relation)))
    }

    /// What is wrong with the relation.
    pub fn wrong(&self, problem: impl Into<String>, hint: impl Into<String>) -> SqlError {
        SqlError::at(&self.text, self.from_at, problem).hint(hint)
    }

    /// What is wrong at a line and column.
    pub fn wrong_at(
        &self,
        place: (usize, usize),
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> SqlError {
        SqlError::placed(place, problem).hint(hint)
    }

    /// What is wrong with a column that is named.
    pub fn wrong_column(
        &self,
        named: &Named,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> SqlError {
        SqlError::at(&self.text, named.at, problem).hint(hint)
    }
}

/// What was declared of the tables of a relation, in words of one order: a part of what is charged and kept.
pub fn declared_words(
    private: &[PrivateTable],
    public: &[String],
    types: &BTreeMap<String, String>,
) -> String {
    let quoted = |name: &str| without_role(&format!("{name:?}"));
    let mut tables: Vec<String> =
        private.iter().map(|table| format!("{} of {:?}", quoted(&table.name), table.unit)).collect();
    tables.extend(public.iter().map(|name| format!("{} public", quoted(name))));
    tables.sort();
    tables.extend(types.iter().map(|(column, kind)| format!("{column:?} {kind:?}")));
    tables.join(", ")
}

/// Two tables that have rows in common and not one privacy unit: one person's rows would not be removed with them.
pub fn two_owners(
    private: &[PrivateTable],
    public: &[String],
    share_rows: &dyn Fn(&str, &str) -> bool,
) -> Option<String> {
    let owned = private.iter().map(|table| (&table.name, Some(&table.unit)));
    let all: Vec<(&String, Option<&String>)> = owned.chain(public.iter().map(|name| (name, None))).collect();
    let pairs = (1..all.len()).flat_map(|number| (0..number).map(move |before| (before, number)));
    let shared =
        |&(one, two): &(usize, usize)| all[one].1 != all[two].1 && share_rows(all[one].0, all[two].0);
    let (one, two) = pairs.into_iter().find(shared)?;
    let [(one, one_unit), (two, two_unit)] = [all[one], all[two]];
    let [one, two] = [one, two].map(|name| wording::shown(name));
    Some(match (one_unit, two_unit) {
        (Some(one_unit), Some(two_unit)) => format!(
            "'{one}' and '{two}' have rows in common and two privacy units, {} and {}; name one privacy unit for both",
            wording::shown(one_unit),
            wording::shown(two_unit)
        ),
        _ => format!(
            "'{one}' and '{two}' have rows in common, and one is said to be public and the other private; name the privacy unit of both"
        ),
    })
}

/// An address of a server between quotes without the name that is asked with; other texts as they are.
fn without_role(quoted: &str) -> String {
    let Some((scheme, rest)) = quoted.split_once("://") else { return quoted.to_string() };
    let known = ["postgres", "postgresql"];
    if !known.iter().any(|known| scheme.get(1..).is_some_and(|scheme| scheme.eq_ignore_ascii_case(known))) {
        return quoted.to_string();
    }
    let (host, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let Some((path, parameters)) = path.split_once('?') else { return format!("{scheme}://{host}{path}") };
    let end = parameters.chars().next_back().filter(|end| ['\'', '"'].contains(end));
    let parameters = parameters.trim_end_matches(['\'', '"']).split('&');
    let is_role =
        |parameter: &&str| parameter.split('=').next().is_some_and(|name| name.eq_ignore_ascii_case("user"));
    let kept: Vec<&str> = parameters.filter(|parameter| !is_role(parameter)).collect();
    format!("{scheme}://{host}{path}?{}{}", kept.join("&"), end.map_or(String::new(), String::from))
}

fn parts(tokens: &[Token], wrong: &dyn Fn(usize, String) -> SqlError) -> Result<Parts, SqlError> {
    let end = tokens.len() - usize::from(tokens.last().is_some_and(|last| last.is_sign(";")));
    let mut depth = 0usize;
    let (mut select, mut from, mut behind) = (None, None, None);
    for (place, token) in tokens[..end].iter().enumerate() {
        match token.kind {
            Kind::Sign("(" | "[") => depth += 1,
            Kind::Sign(")" | "]") if depth == 0 => {
                return Err(wrong(place, "this parenthesis closes nothing".into()).hint("leave it out"));
            }
            Kind::Sign(")" | "]") => depth -= 1,
            Kind::Sign(";") => {
                return Err(wrong(place, "a second query follows".into()).hint("ask one at a time"));
            }
            Kind::Word(_) if depth == 0 => {
                if token.is_any(&SETS) {
                    let hint = "aggregate outside: SELECT COUNT(*) FROM (SELECT .. UNION ALL SELECT ..)";
                    let problem =
                        "queries with privacy are not put together; their relations are".to_string();
                    return Err(wrong(place, problem).hint(hint));
                }
                let clause = CLAUSES.iter().position(|word| token.is_word(word));
                match clause {
                    _ if token.is_word("select") && select.is_none() => select = Some(place),
                    Some(0) if select.is_some() && from.is_none() => from = Some(place),
                    Some(2..) if from.is_some() && behind.is_none() => behind = Some(place),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err(wrong(end, "a parenthesis is never closed".into()).hint("close it"));
    }
    let Some(select) = select else {
        return Err(wrong(0, "no SELECT stands outside of parentheses".into())
            .hint("write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM (..)"));
    };
    let missing = || wrong(end, "FROM is missing".into()).hint("name the tables");
    let from = from.ok_or_else(missing)?;
    let behind = behind.unwrap_or(end);
    if behind < from + 2 {
        return Err(missing());
    }
    Ok(Parts { select, from, behind, end })
}

/// A list between brackets, or one alone, each as a range of tokens.
fn list(tokens: &[Token], value: Range<usize>) -> Vec<Range<usize>> {
    let bracketed = tokens[value.start].is_sign("[") && tokens[value.end - 1].is_sign("]");
    let value = if bracketed { value.start + 1..value.end - 1 } else { value };
    let mut parts = Vec::new();
    let mut start = value.start;
    for place in value.clone() {
        if tokens[place].is_sign(",") {
            parts.push(start..place);
            start = place + 1;
        }
    }
    parts.push(start..value.end);
    parts
}

fn name_of(token: &Token) -> Option<String> {
    match &token.kind {
        Kind::Word(name) | Kind::Quoted(name) | Kind::Text(name) => Some(name.clone()),
        _ => None,
    }
}

/// Units: columns, each behind the name of its table or alone.
fn units(
    tokens: &[Token],
    value: Range<usize>,
    wrong: &dyn Fn(usize, String) -> SqlError,
) -> Result<Vec<Named>, SqlError> {
    let one = |range: Range<usize>| {
        let at = tokens[range.start.min(tokens.len() - 1)].start;
        let names: Option<Vec<String>> = tokens[range.clone()].iter().step_by(2).map(name_of).collect();
        let dots = tokens[range.clone()].iter().skip(1).step_by(2).all(|token| token.is_sign("."));
        match names.filter(|names| dots && !names.is_empty() && range.len() % 2 == 1) {
            Some(mut names) => {
                let column = names.pop().expect("it is not empty");
                let table = (!names.is_empty()).then(|| names.join("."));
                Ok(Named { table, column, at })
            }
            None => Err(wrong(range.start, "a privacy unit is a column".into())
                .hint("write privacy_unit_column=[orders.person, visits.person]")),
        }
    };
    list(tokens, value).into_iter().map(one).collect()
}

/// Tables, by the names that FROM has them under.
fn tables(
    tokens: &[Token],
    value: Range<usize>,
    wrong: &dyn Fn(usize, String) -> SqlError,
) -> Result<Vec<String>, SqlError> {
    let one = |range: Range<usize>| {
        let names: Option<Vec<String>> = tokens[range.clone()].iter().step_by(2).map(name_of).collect();
        let dots = tokens[range.clone()].iter().skip(1).step_by(2).all(|token| token.is_sign("."));
        names
            .filter(|names| dots && !names.is_empty() && range.len() % 2 == 1)
            .map(|names| names.join("."))
            .ok_or_else(|| {
                wrong(range.start, "a table is a name".into()).hint("write public_tables=['towns.csv']")
            })
    };
    list(tokens, value).into_iter().map(one).collect()
}

impl Named {
    /// As it is typed.
    pub fn shown(&self) -> String {
        let text = match &self.table {
            Some(table) => format!("{table}.{}", self.column),
            None => self.column.clone(),
        };
        wording::shown(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &str = "WITH x AS (SELECT a FROM `q t`) -- all of it\nSELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, \
        privacy_unit_column=[p.id, \"q t\".who], delta=1e-6, public_tables=['g.csv', h]) o.town, SUM(o.cost) AS s\nFROM 'p.csv' o, x WHERE \
        o.id = x.a GROUP BY o.town ORDER BY s;";

    #[test]
    fn both_parts_have_the_places_of_the_query() {
        let several = Several::read(QUERY).unwrap();
        assert_eq!(several.inner().len(), QUERY.len());
        assert_eq!(several.outer.len(), QUERY.len());
        assert_eq!(
            several.relation(),
            "WITH x AS (SELECT a FROM \"q t\") SELECT * FROM 'p.csv' o, x WHERE o.id = x.a"
        );
        let blanks = "SELECT COUNT(*) FROM  'a  b.csv' p,q /* c */ WHERE p.x='a \n b'\n AND `q  r`=1";
        assert_eq!(
            Several::read(blanks).unwrap().relation(),
            "SELECT * FROM 'a  b.csv' p,q WHERE p.x='a \n b' AND \"q  r\"=1"
        );
        for word in ["town", "SUM", "GROUP"] {
            assert_eq!(several.outer.find(word), QUERY.find(word), "{word}");
        }
        let outer = several.outer.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            outer,
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1 , delta=1e-6 ) town, SUM( cost) AS s FROM t GROUP BY town ORDER BY s;"
        );
    }

    #[test]
    fn nobodys_role_is_in_what_is_kept() {
        let relation = |from: &str| {
            Several::read(&format!("SELECT COUNT(*) FROM {from}")).unwrap().relation().to_string()
        };
        for (from, kept) in [
            (
                "'postgres://ann@h:5/d?table=t' a JOIN 'b@c.csv' b ON a.x = b.x",
                "SELECT * FROM 'postgres://h:5/d?table=t' a JOIN 'b@c.csv' b ON a.x = b.x",
            ),
            (
                "\"PostgreSQL:///d?user=ann&table=t\" a JOIN b ON a.x = 'u@://v'",
                "SELECT * FROM \"PostgreSQL:///d?table=t\" a JOIN b ON a.x = 'u@://v'",
            ),
            ("'postgres://h/d?table=t&user=ann' a", "SELECT * FROM 'postgres://h/d?table=t' a"),
        ] {
            assert_eq!(relation(from), kept);
        }
    }

    #[test]
    fn units_public_tables_and_columns_are_taken_off() {
        let several = Several::read(QUERY).unwrap();
        let units: Vec<String> = several.units().iter().map(Named::shown).collect();
        assert_eq!(units, ["p.id", "q t.who"]);
        assert_eq!(several.public_tables(), ["g.csv", "h"]);
        let tables: Vec<Option<&str>> =
            several.tables_of("town").iter().map(|named| named.table.as_deref()).collect();
        assert_eq!(tables, [Some("o")]);
        // A unit in the options is no column that is asked for.
        assert!(several.tables_of("id").is_empty() && several.tables_of("who").is_empty());
        let query = several.query(&Request::default(), "id", "public g.csv").unwrap();
        assert_eq!(query.columns_read().into_iter().collect::<Vec<_>>(), ["cost", "town"]);
        let kept = query.batch().to_json();
        assert!(kept.contains("\"relation\":\"WITH x AS") && kept.contains(" -- public g.csv\""), "{kept}");
        assert_eq!(query.column_names(), ["town", "s"]);
    }

    #[test]
    fn what_cannot_be_taken_apart_has_a_place() {
        for (query, said) in [
            ("SELECT COUNT(*)", "line 1, column 16: FROM is missing"),
            ("SELECT COUNT(*) FROM", "line 1, column 21: FROM is missing"),
            ("(SELECT 1)", "line 1, column 1: no SELECT stands outside of parentheses"),
            ("SELECT a FROM b) c", "line 1, column 16: this parenthesis closes nothing"),
            ("SELECT a FROM (b", "line 1, column 17: a parenthesis is never closed"),
            (
                "SELECT a FROM b UNION SELECT a FROM c",
                "line 1, column 17: queries with privacy are not put together",
            ),
            ("SELECT a FROM b; SELECT a FROM c", "line 1, column 16: a second query follows"),
            (
                "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column=[1]) a FROM b, c",
                "line 1, column 63: a privacy unit is a column",
            ),
            ("SELECT a FROM `b\" x, \"c` y", "line 1, column 15: a name between backticks has quotes in it"),
            (
                "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(public_tables=) a FROM b, c",
                "line 1, column 42: an option is",
            ),
        ] {
            let error = Several::read(query).unwrap_err().to_string();
            assert!(error.starts_with(said), "{query}: {error}");
        }
    }
}
