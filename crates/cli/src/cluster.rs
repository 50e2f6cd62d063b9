//! `equipoise cluster`: hands over to `equipoise-sql`, which is a package of its own so that the first build stays short.

use crate::{Exit, args::ClusterOptions, ask::usage, hand_over};
use equipoise_sql_front::apart;
use std::{os::unix::process::CommandExt as _, process::Command};

/// Become a member of a cluster, or say how to build one.
pub(crate) fn run(options: &ClusterOptions) -> Exit {
    let Some(member) = hand_over::joins() else {
        return usage(
            "members of a cluster are a package of its own, which is not installed beside this program or on PATH; build it with \
             'cargo install --path sql/equipoise-sql' in the source of equipoise",
        );
    };
    // It comes back only where the program could not be started.
    let error = Command::new(member).arg("cluster").args(&options.arguments).exec();
    usage(format!("{} could not be started: {}", apart::PROGRAM, error.kind()))
}
