//! The `equipoise` program with SQL about several tables. `equipoise` becomes this one where one table is not enough.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    equipoise_sql::install();
    equipoise_cli::main()
}
