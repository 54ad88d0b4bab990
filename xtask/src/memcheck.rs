//! `cargo xtask memcheck`: groups that rebalance, under valgrind.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use xshell::{Shell, cmd};

/// One of each rebalance protocol.
const GROUPS: [&str; 2] = [
    "one_two_three_two_members",
    "a_cooperative_group_moves_the_least_and_no_partition_before_its_holder_is_done_with_it",
];

pub(crate) fn run(shell: &Shell) -> Result<()> {
    cmd!(shell, "valgrind --version")
        .quiet()
        .ignore_stdout()
        .run()
        .context("valgrind is needed; install it")?;
    let test = test_executable(shell)?;
    // Valgrind runs one thread at a time, some twenty times slower: heartbeats need more time to arrive.
    let _timers = shell.push_env("KAFKA_STICKY_SESSION_TIMEOUT_MS", "4000");
    let run = cmd!(
        shell,
        "valgrind --error-exitcode=1 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite
            --num-callers=30 --suppressions=tests/valgrind.supp {test} --exact {GROUPS...}"
    );
    Ok(run.run()?)
}

/// Builds the tests of groups and gives their executable.
fn test_executable(shell: &Shell) -> Result<PathBuf> {
    let build =
        cmd!(shell, "cargo test --package kafka-sticky-tests --test groups --no-run --message-format=json");
    let messages = build.quiet().read()?;
    messages
        .lines()
        .filter_map(|line| line.split_once("\"executable\":\"")?.1.split_once('"'))
        .map(|(path, _)| PathBuf::from(path))
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("groups-")))
        .context("cargo named no executable of the tests of groups")
}
