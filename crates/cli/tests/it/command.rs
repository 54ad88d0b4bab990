//! Runs the command.

use std::path::PathBuf;

use serde_json::Value;
use snapbox::cmd::Command;

/// The command, to be run where the docs run it.
pub(crate) fn kafka_sticky<const N: usize>(arguments: [&str; N]) -> Command {
    Command::new(binary()).args(arguments).current_dir(root())
}

pub(crate) fn binary() -> PathBuf {
    env!("CARGO_BIN_EXE_kafka-sticky").into()
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository has a root")
}

/// What it prints, which must be JSON.
pub(crate) fn json(command: Command) -> Value {
    let output = command.output().expect("the command runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

/// The result of `assign` for a group.
pub(crate) fn assigned(group: &Value) -> Value {
    json(kafka_sticky(["assign", "--explain"]).stdin(group.to_string()))
}
