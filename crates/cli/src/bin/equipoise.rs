//! The program `equipoise`: the command line as an executable of its own.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    equipoise_cli::main()
}
