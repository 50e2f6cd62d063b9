//! The `equipoise` program with tables of Postgres. `equipoise` becomes this one where a word has the address of such a table.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    equipoise_postgres::install();
    equipoise_cli::main()
}
