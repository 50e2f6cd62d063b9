//! Which table a name means, what its columns are, and whether it can be read so that no row fails it: all of it from catalogues.

use crate::{
    settings::Settings,
    types::{self, Declared, Wire},
};
use equipoise_engine::{
    reading::Meaning,
    remote::{FoundTable, ServerProblem, TableName},
};
use equipoise_session::file_id::FileId;
use tokio_postgres::{Client, Error, Row, types::Kind};

/// The oldest server that is understood: since then every table has an access method by name.
const OLDEST: i32 = 120_000;

/// The server, the role and the database.
const ROLE: &str = "SELECT pg_catalog.current_setting('server_version_num')::pg_catalog.int4 AS version,
    (SELECT pg_catalog.bool_or(rolsuper) FROM pg_catalog.pg_roles
        WHERE rolname IN (CURRENT_USER, SESSION_USER)) AS superuser,
    (SELECT system_identifier FROM pg_catalog.pg_control_system()) AS cluster,
    (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()) AS number,
    pg_catalog.current_database()::pg_catalog.text AS name,
    pg_catalog.current_setting('server_encoding') AS encoding";

/// What is needed of a table or of one of its parts.
const RELATION: &str = "c.oid, n.nspname::pg_catalog.text AS schema, c.relname::pg_catalog.text AS name, c.relkind::pg_catalog.text AS kind,
    c.relrowsecurity AS policies, COALESCE(am.amname = 'heap', c.relkind = 'p') AS plain,
    pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
        OR pg_catalog.has_any_column_privilege(c.oid, 'INSERT, UPDATE') AS may_write
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam";

/// Columns with their types, behind all domains.
const COLUMNS: &str = "WITH RECURSIVE typed(number, type, modifier) AS (
        SELECT attnum, atttypid, atttypmod FROM pg_catalog.pg_attribute
            WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped
        UNION ALL
        SELECT typed.number, t.typbasetype, t.typtypmod FROM typed
            JOIN pg_catalog.pg_type t ON t.oid = typed.type WHERE t.typtype = 'd')
    SELECT a.attname::pg_catalog.text AS name, t.oid AS number,
        pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') AS readable,
        a.attgenerated::pg_catalog.text = 'v' AS computed,
        n.nspname::pg_catalog.text AS schema, t.typname::pg_catalog.text AS type, typed.modifier,
        t.typtype = 'e' AS is_enum, COALESCE(l.collisdeterministic, true) AS deterministic
    FROM typed
    JOIN pg_catalog.pg_attribute a ON a.attrelid = $1 AND a.attnum = typed.number
    JOIN pg_catalog.pg_type t ON t.oid = typed.type AND t.typtype <> 'd'
    JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
    ORDER BY a.attnum";

/// All partitions and all tables that inherit, however deep.
const PARTS: &str = "WITH RECURSIVE parts(oid) AS (
        SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = $1
        UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN parts ON i.inhparent = parts.oid)";

/// In a query of the steward's, names are looked up as they are in `psql`.
pub(crate) const AS_TYPED: &str = "SET LOCAL search_path TO DEFAULT";

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub name: String,
    /// The number of its type, behind all domains.
    pub number: u32,
    pub wire: Wire,
    /// What it is, or in words why it cannot be read.
    pub meaning: Result<Meaning, String>,
}

/// A table that can be asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub name: TableName,
    pub number: u32,
    pub columns: Vec<Column>,
    /// May it be locked? A materialized view may not, nor a table of which only some columns may be read.
    pub lockable: bool,
    /// Are texts stored as they are sent, without a conversion that one of them could fail?
    pub as_stored: bool,
    database: String,
    /// Which cluster of databases, and which database of it.
    place: (u64, u32),
    parts: Vec<(u32, TableName)>,
}

impl Table {
    /// The table as ledgers know it.
    pub fn found(&self, settings: &Settings) -> FoundTable {
        let (cluster, database) = self.place;
        // Replicas have the number of their original, whatever they are called; a table keeps its own when it is renamed.
        let id =
            |number: u32| FileId::from_words([0, u64::from(database) << 32 | u64::from(number), cluster]);
        let address = |name: &TableName| settings.address(&name.typed());
        let own = (address(&self.name), id(self.number));
        let parts = self.parts.iter().map(|(number, name)| (address(name), id(*number)));
        FoundTable {
            name: address(&self.name),
            table: (self.database.clone(), self.name.clone()),
            ids: std::iter::once(own).chain(parts).collect(),
        }
    }
}

/// The table of this name, or why it cannot be asked about.
pub(crate) async fn table(client: &Client, name: Option<&TableName>) -> Result<Table, ServerProblem> {
    let failed = |_: Error| ServerProblem::Failed;
    let role = client.query_one(ROLE, &[]).await.map_err(failed)?;
    if role.get::<_, i32>("version") < OLDEST {
        return Err(ServerProblem::TooOld);
    }
    if role.get::<_, Option<bool>>("superuser") != Some(false) {
        return Err(ServerProblem::Superuser);
    }
    let Some(name) = name else {
        return Err(ServerProblem::NoTableNamed { known: known(client, None).await.map_err(failed)? });
    };
    let is_ours = !name.schema.starts_with("pg_") && name.schema != "information_schema";
    let query = format!(
        "SELECT {RELATION} WHERE n.nspname::pg_catalog.text = $1 AND c.relname::pg_catalog.text = $2"
    );
    let found = client.query_opt(&query, &[&name.schema, &name.table]).await.map_err(failed)?;
    let Some(found) = found.filter(|_| is_ours) else {
        let known = known(client, Some(&name.schema)).await.map_err(failed)?;
        return Err(ServerProblem::NoTable { known });
    };
    is_a_table(&found)?;
    let number: u32 = found.get("oid");
    let query = format!("{PARTS} SELECT {RELATION} JOIN parts ON parts.oid = c.oid ORDER BY c.oid");
    let parts = client.query(&query, &[&number]).await.map_err(failed)?;
    for part in &parts {
        if is_a_table(part).is_err() || part.get("policies") {
            return Err(ServerProblem::Partition(part.get("name")));
        }
    }
    let allowed = "SELECT pg_catalog.has_table_privilege($1::pg_catalog.oid, 'SELECT') AS whole,
        pg_catalog.has_schema_privilege((SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = $1), 'USAGE')
            AND pg_catalog.has_any_column_privilege($1::pg_catalog.oid, 'SELECT') AS some,
        pg_catalog.row_security_active($1::pg_catalog.oid) AS policies";
    let allowed = client.query_one(allowed, &[&number]).await.map_err(failed)?;
    if !allowed.get::<_, bool>("some") {
        return Err(ServerProblem::NotPermitted);
    }
    if parts.iter().chain([&found]).any(|table| table.get("may_write")) {
        return Err(ServerProblem::MayWrite);
    }
    if allowed.get("policies") {
        return Err(ServerProblem::Policies);
    }
    let encoding: String = role.get("encoding");
    let as_stored = matches!(encoding.as_str(), "UTF8" | "SQL_ASCII");
    let columns = client.query(COLUMNS, &[&number]).await.map_err(failed)?;
    Ok(Table {
        name: called(&found),
        number,
        columns: columns.iter().map(|row| column(row, as_stored)).collect(),
        lockable: allowed.get("whole") && found.get::<_, String>("kind") != "m",
        as_stored,
        database: role.get("name"),
        place: (role.get::<_, i64>("cluster").cast_unsigned(), role.get("number")),
        parts: parts.iter().map(|part| (part.get("oid"), called(part))).collect(),
    })
}

/// What the columns of a query are, as the server describes it before it runs.
pub(crate) async fn query(client: &Client, query: &str) -> Result<(Vec<Column>, bool), ServerProblem> {
    let failed = |_: Error| ServerProblem::Failed;
    let role = client.query_one(ROLE, &[]).await.map_err(failed)?;
    if role.get::<_, Option<bool>>("superuser") != Some(false) {
        return Err(ServerProblem::Superuser);
    }
    client.batch_execute(AS_TYPED).await.map_err(failed)?;
    let encoding: String = role.get("encoding");
    let as_stored = matches!(encoding.as_str(), "UTF8" | "SQL_ASCII");
    // Whoever extracts may see every row, and so what the server says of the query.
    let said = |error: Error| match error.as_db_error() {
        Some(said) => ServerProblem::Query(said.message().to_string()),
        None => ServerProblem::Failed,
    };
    let described = client.prepare(&format!("SELECT * FROM ({query}\n) AS extracted")).await.map_err(said)?;
    let mut columns: Vec<Column> = Vec::new();
    for column in described.columns() {
        if columns.iter().any(|known| known.name == column.name()) {
            return Err(ServerProblem::Query(format!("two columns are called '{}'", column.name())));
        }
        let type_ = column.type_();
        let declared = Declared {
            schema: type_.schema().to_string(),
            name: type_.name().to_string(),
            modifier: column.type_modifier(),
            is_enum: matches!(type_.kind(), Kind::Enum(_)),
            deterministic: true,
            utf8: as_stored,
        };
        let (wire, meaning) = types::meaning(&declared);
        columns.push(Column { name: column.name().to_string(), number: type_.oid(), wire, meaning });
    }
    Ok((columns, as_stored))
}

fn called(row: &Row) -> TableName {
    TableName { schema: row.get("schema"), table: row.get("name") }
}

/// Rows that lie there and are read as they lie: a view is computed from others, and a foreign table comes from somebody else.
fn is_a_table(row: &Row) -> Result<(), ServerProblem> {
    match row.get::<_, String>("kind").as_str() {
        "r" | "p" | "m" if row.get("plain") => Ok(()),
        "r" | "p" | "m" => {
            Err(ServerProblem::NotATable("a table that an extension stores in a way of its own"))
        }
        "v" => Err(ServerProblem::NotATable("a view")),
        "f" => Err(ServerProblem::NotATable("a foreign table")),
        _ => Err(ServerProblem::NotATable("no table")),
    }
}

fn column(row: &Row, utf8: bool) -> Column {
    let declared = Declared {
        schema: row.get("schema"),
        name: row.get("type"),
        modifier: row.get("modifier"),
        is_enum: row.get("is_enum"),
        deterministic: row.get("deterministic"),
        utf8,
    };
    let (wire, meaning) = types::meaning(&declared);
    let meaning = if row.get("computed") {
        Err("what is computed from other columns when it is read".to_string())
    } else if !row.get::<_, bool>("readable") {
        Err("what this role may not read".to_string())
    } else {
        meaning
    };
    Column { name: row.get("name"), number: row.get("number"), wire, meaning }
}

/// Names of tables that this role may read, of a schema or of all.
async fn known(client: &Client, schema: Option<&str>) -> Result<Vec<String>, Error> {
    let query = "SELECT n.nspname::pg_catalog.text AS schema, c.relname::pg_catalog.text AS name
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p', 'm') AND NOT c.relispartition
            AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
            AND ($1::pg_catalog.text IS NULL OR n.nspname::pg_catalog.text = $1)
            AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
            AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
        ORDER BY 1, 2 LIMIT 100";
    Ok(client.query(query, &[&schema]).await?.iter().map(|row| called(row).typed()).collect())
}
