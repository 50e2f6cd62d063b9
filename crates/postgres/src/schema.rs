//! The tables of a ledger in Postgres: how they are made, for whom, and whether they are still as they were made.

use crate::{
    ledger::fault,
    line::{Line, Trouble},
};
use equipoise_core::wording;
use equipoise_session::ledger::{Fault, Value};

/// One table that only grows, as in a file. Texts are compared by their bytes, whatever the language of the database.
const TABLES: &str = r#"CREATE SCHEMA equipoise;
CREATE TABLE equipoise.entries (
  number bigint PRIMARY KEY, kind text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, time text COLLATE "C" NOT NULL,
  data_set text COLLATE "C" NOT NULL, analyst text COLLATE "C" NOT NULL, request_id text COLLATE "C", body text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL);
CREATE TABLE equipoise.secret (secret bytea NOT NULL);
CREATE TABLE equipoise.versions (version bigint PRIMARY KEY);
CREATE UNIQUE INDEX entries_by_id ON equipoise.entries (id, kind);
CREATE INDEX entries_by_data_set ON equipoise.entries (kind, data_set, number);
CREATE INDEX entries_by_analyst ON equipoise.entries (kind, data_set, analyst, number);
CREATE UNIQUE INDEX charges_by_request ON equipoise.entries (analyst, request_id) WHERE request_id IS NOT NULL;
CREATE FUNCTION equipoise.entries_stay() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'entries are never changed or deleted'; END $$;
CREATE TRIGGER entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON equipoise.entries
  FOR EACH STATEMENT EXECUTE FUNCTION equipoise.entries_stay()"#;

/// Columns, indexes, triggers and what else decides what the tables hold, one line each.
const DESCRIBED: &str = r#"SELECT line FROM (
  SELECT 'table ' || relname || ' ' || relkind::text || relpersistence::text || relrowsecurity::text || relhasrules::text AS line
    FROM pg_catalog.pg_class WHERE relnamespace = 'equipoise'::regnamespace AND relkind NOT IN ('i', 't')
  UNION ALL
  SELECT 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || a.attnotnull::text || a.atthasdef::text
    || coalesce(l.collname, '')
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
    LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
    WHERE c.relnamespace = 'equipoise'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL
  SELECT 'index ' || replace(pg_get_indexdef(i.indexrelid), 'equipoise.', '') || i.indisvalid::text || i.indisready::text
    FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
    WHERE c.relnamespace = 'equipoise'::regnamespace AND c.relkind = 'r'
  UNION ALL
  SELECT 'trigger ' || c.relname || '.' || t.tgname || ' ' || t.tgenabled::text || t.tgtype || ' ' || p.prosrc
    FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
    WHERE c.relnamespace = 'equipoise'::regnamespace
) AS described ORDER BY line COLLATE pg_catalog."C""#;

/// What that says of tables that were just made.
const AS_MADE: &[&str] = &[
    "column entries.analyst texttruefalseC",
    "column entries.body texttruefalseC",
    "column entries.data_set texttruefalseC",
    "column entries.hash texttruefalseC",
    "column entries.id texttruefalseC",
    "column entries.kind texttruefalseC",
    "column entries.number biginttruefalse",
    "column entries.request_id textfalsefalseC",
    "column entries.time texttruefalseC",
    "column secret.secret byteatruefalse",
    "column versions.version biginttruefalse",
    "index CREATE INDEX entries_by_analyst ON entries USING btree (kind, data_set, analyst, number)truetrue",
    "index CREATE INDEX entries_by_data_set ON entries USING btree (kind, data_set, number)truetrue",
    "index CREATE UNIQUE INDEX charges_by_request ON entries USING btree (analyst, request_id) WHERE (request_id IS NOT NULL)truetrue",
    "index CREATE UNIQUE INDEX entries_by_id ON entries USING btree (id, kind)truetrue",
    "index CREATE UNIQUE INDEX entries_pkey ON entries USING btree (number)truetrue",
    "index CREATE UNIQUE INDEX versions_pkey ON versions USING btree (version)truetrue",
    "table entries rpfalsefalse",
    "table secret rpfalsefalse",
    "table versions rpfalsefalse",
    "trigger entries.entries_stay O58  BEGIN RAISE EXCEPTION 'entries are never changed or deleted'; END ",
];

/// Make the tables as the role of the line, and let another role in.
pub(crate) fn make(line: &Line, role: &str) -> Result<(), Fault> {
    let said = |what: String| Fault::Server { what };
    let quoted = role.replace('\'', "''");
    let found = line.batch(&format!(
        "SELECT to_regnamespace('equipoise') IS NOT NULL, current_setting('server_encoding'), current_user = '{quoted}', \
         (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = '{quoted}'), current_setting('server_version_num')::int >= 120000"
    ));
    let found = found.map_err(|trouble| fault(&trouble))?;
    let [there, encoding, own, superuser, new_enough] = &found[..] else { return Err(Fault::Gone) };
    let name = wording::shown(role);
    if there == "t" {
        return Err(Fault::Begun);
    }
    if new_enough != "t" {
        return Err(said("the server is older than Postgres 12; use a newer one".to_string()));
    }
    if encoding != "UTF8" {
        return Err(said(
            "the encoding of the database is not UTF8; make another with ENCODING 'UTF8'".to_string(),
        ));
    }
    if superuser.is_empty() {
        return Err(said(format!("there is no role '{name}'; make it first, with CREATE ROLE {name} LOGIN")));
    }
    if own == "t" || superuser == "t" {
        return Err(said(format!(
            "the role '{name}' could change entries, as the one that makes them or as a superuser; name another role"
        )));
    }
    let role = format!("\"{}\"", role.replace('"', "\"\""));
    let grants = format!(
        "GRANT USAGE ON SCHEMA equipoise TO {role}; GRANT SELECT, INSERT ON equipoise.entries, equipoise.versions TO {role}; \
         GRANT SELECT ON equipoise.secret TO {role}"
    );
    line.batch(&format!("{TABLES}; {grants}")).map(|_| ()).map_err(|trouble| match &trouble {
        Trouble::Code(code) if code == "42501" => said(
            "the role may make no schema in this database; its owner can GRANT CREATE ON DATABASE"
                .to_string(),
        ),
        // Another was quicker.
        Trouble::Code(code) if ["23505", "42P06"].contains(&code.as_str()) => Fault::Begun,
        _ => fault(&trouble),
    })
}

/// What is wrong with the tables, or with what their unique indexes promise. The indexes themselves are not asked.
pub(crate) fn damage(rows: impl Fn(&str) -> Result<Vec<Vec<Value>>, Fault>) -> Result<Option<String>, Fault> {
    let lines = rows(DESCRIBED)?.into_iter().map(|mut row| row.pop());
    let lines: Option<Vec<String>> = lines
        .map(|line| match line {
            Some(Value::Text(line)) => Some(line),
            _ => None,
        })
        .collect();
    if lines.is_none_or(|lines| lines != AS_MADE) {
        return Ok(Some("its tables, indexes or triggers were changed".to_string()));
    }
    for set in ["enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan"] {
        rows(&format!("SELECT set_config('{set}', 'off', true)"))?;
    }
    for (unique, what) in [("id, kind", "id"), ("analyst, request_id", "request id")] {
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM entries WHERE request_id IS NOT NULL OR '{what}' = 'id' \
             GROUP BY {unique} HAVING count(*) > 1)"
        );
        if rows(&sql)? != [[Value::Number(0)]] {
            return Ok(Some(format!("two of its entries have one {what}")));
        }
    }
    for set in ["enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan"] {
        rows(&format!("SELECT set_config('{set}', 'on', true)"))?;
    }
    Ok(None)
}
