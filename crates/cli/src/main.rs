//! The `equipoise` program.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    equipoise::main()
}
