//! `cargo xtask interop`: groups with the other clients on a real Kafka.

use std::ffi::OsString;

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::{bench, peers};

/// Scenarios that need no broker: they are commands of `tests/peers`.
const OFFLINE: [&str; 2] = ["bytes", "never-worse"];

pub(crate) fn run(shell: &Shell, arguments: &[OsString]) -> Result<()> {
    if let [name] = arguments
        && let Some(name) = OFFLINE.into_iter().find(|offline| name == offline)
    {
        return bench::offline(shell, name, &[]);
    }
    if arguments.is_empty() {
        OFFLINE.into_iter().try_for_each(|name| bench::offline(shell, name, &[]))?;
    }
    peers::setpriv(shell)?;
    let java = peers::java(shell)?;
    let python = peers::python(shell)?;
    let go = peers::go(shell)?;
    let _class_path = shell.push_env("KAFKA_STICKY_JAVA_CLASS_PATH", java.class_path);
    let _python = shell.push_env("KAFKA_STICKY_PYTHON", python.interpreter);
    let _python_programs = shell.push_env("KAFKA_STICKY_PYTHON_PROGRAMS", python.programs);
    let _go_programs = shell.push_env("KAFKA_STICKY_GO_PROGRAMS", go.programs);
    let _folder = shell.push_env("KAFKA_STICKY_INTEROP_FOLDER", peers::folder(shell).join("interop"));
    let programs = [
        "--package",
        "kafka-sticky-tests",
        "--bin",
        "interop",
        "--package",
        "kafka-sticky-cli",
        "--bin",
        "kafka-sticky",
    ];
    cmd!(shell, "cargo build {programs...}").quiet().run()?;
    // It ends everything that it started, and is ended with this process, however that ends.
    let run = cmd!(
        shell,
        "setpriv --pdeathsig TERM cargo run --quiet --package kafka-sticky-tests --bin interop -- {arguments...}"
    );
    Ok(run.quiet().run()?)
}
