//! `cargo xtask memcheck`: groups that rebalance, fail and are dropped in every order, under what sees each access to memory.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use xshell::{Shell, cmd};

use crate::missing::need;
use crate::{cargo, steps};

/// One of each rebalance protocol: valgrind is slow.
const GROUPS: [&str; 2] = [
    "one_two_three_two_members",
    "a_cooperative_group_moves_the_least_and_no_partition_before_its_holder_is_done_with_it",
];

/// Tests that end in any order but by a fork, which sanitizers do not follow.
const SANITIZED: [&str; 8] =
    ["--test", "groups", "--test", "assignors", "--test", "faults", "--test", "restarts"];

pub(crate) fn run(shell: &Shell) -> Result<()> {
    need(cmd!(shell, "valgrind --version"), "checking memory", "valgrind", "valgrind")?;
    let install = "it by `rustup toolchain install nightly --profile minimal`";
    need(cmd!(shell, "cargo +nightly --version"), "AddressSanitizer", "nightly Rust", install)?;
    steps::run(&[
        ("valgrind", &|| valgrind(shell)),
        ("AddressSanitizer, librdkafka with it", &|| address_sanitizer(shell)),
    ])
}

/// Every access of the whole process, compiled with whatever; definite leaks.
fn valgrind(shell: &Shell) -> Result<()> {
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

/// Nearly at full speed, so many more tests; sees the stack and globals as well, and all leaks.
fn address_sanitizer(shell: &Shell) -> Result<()> {
    let host = cargo::host(shell)?;
    let suppressed = shell.current_dir().join("tests/leaks.supp");
    let tests = cmd!(
        shell,
        "cargo +nightly test --package kafka-sticky-tests --target {host} {SANITIZED...} -- --skip fork"
    )
    .env("RUSTFLAGS", "-Zsanitizer=address")
    .env("CFLAGS", "-fsanitize=address -fno-omit-frame-pointer")
    .env("LDFLAGS", "-fsanitize=address")
    .env("LSAN_OPTIONS", format!("suppressions={}:print_suppressions=0", suppressed.display()));
    Ok(tests.run()?)
}
