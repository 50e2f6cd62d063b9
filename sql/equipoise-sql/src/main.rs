//! The `equipoise` program with SQL about several tables. `equipoise` becomes this one where one table is not enough.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    if let Some(code) = equipoise_sql::asked_by_another(&words) {
        return code;
    }
    if words.get(1).is_some_and(|word| word == "cluster") {
        return equipoise_sql::member::main(words);
    }
    equipoise_sql::install();
    equipoise_cli::main()
}
