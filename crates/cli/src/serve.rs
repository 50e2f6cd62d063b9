//! `equipoise serve`: hands over to `equipoise-server`, which is a package of its own so that the first build stays short.

use crate::{Exit, args::ServeOptions, ask::usage, hand_over::find};
use std::{os::unix::process::CommandExt as _, process::Command};

/// The program that is handed over to.
const SERVER: &str = "equipoise-server";

/// Become the server, or say how to build it.
pub(crate) fn run(options: &ServeOptions) -> Exit {
    let Some(server) = find(SERVER) else {
        return usage(
            "the server is a package of its own and is not installed beside this program or on PATH; build it with \
             'cargo install --path crates/server' in the source of equipoise",
        );
    };
    // It comes back only where the program could not be started.
    let error = Command::new(server).arg("serve").args(&options.arguments).exec();
    usage(format!("{SERVER} could not be started: {}", error.kind()))
}
