//! The `kafka-sticky` command: look at a consumer group, plan a change, decode a blob.
//!
//! `crates/cli/README.md` says what it is for, `docs/cli.md` how each command is used.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use arguments::Command;
use failure::Failure;

mod arguments;
mod assign;
mod decode;
mod encode;
mod failure;
#[cfg(feature = "group")]
mod group;
mod input;
mod json;
mod manual;
mod output;
mod simulate;
mod table;

fn main() -> ExitCode {
    let result = arguments::parse().and_then(|command| match command {
        Command::Assign(arguments) => assign::run(&arguments),
        Command::Decode(arguments) => decode::run(&arguments),
        Command::Encode(arguments) => encode::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        #[cfg(feature = "group")]
        Command::Group(arguments) => group::run(&arguments),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { command } => manual::man(command.as_deref()),
    });
    result.unwrap_or_else(Failure::report)
}
