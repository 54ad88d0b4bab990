//! The one entry for every check: `cargo xtask --help`.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use xshell::Shell;

use missing::Missing;

mod bench;
mod builds;
mod cargo;
mod demo;
mod fuzz;
mod interop;
mod lint;
mod memcheck;
mod missing;
mod peers;
mod readme;
mod soak;
mod steps;
mod test;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  demo [--bootstrap-server HOST:PORT]   the main job, on an embedded cluster or on a real one
  test                                  the tests; needs Rust, a C compiler and make
  lint                                  rustfmt, clippy, docs, README
  readme                                rewrites the README's introduction from the crate docs
  bench core [ARGUMENT ...]             the solver's benchmarks; arguments go to criterion
  bench peers [--quick | --test] [--json] [--cases TEXT] [--peers NAME/...]
                                        ours beside the other clients; needs what interop needs
  builds                                one group under each build of librdkafka that services use; needs CMake
  memcheck                              groups under valgrind and AddressSanitizer; needs valgrind and nightly Rust
  interop [ARGUMENT ...]                groups with the other clients on a real Kafka; --help says more; needs Java,
                                        Maven, Python and Go
  fuzz [--minutes N | --runs N] [--keep] [TARGET ...]
                                        decoders, groups and histories under libFuzzer, five minutes each unless told
                                        otherwise; --keep checks in what was found; needs a C++ compiler
  soak [--minutes N] [--seed S] [--bootstrap-server HOST:PORT]
                                        a group that lives through joins, leaves, kills and broker faults at random";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            match error.downcast_ref() {
                Some(Missing { .. }) => ExitCode::from(Missing::EXIT_CODE),
                None => ExitCode::FAILURE,
            }
        }
    }
}

fn run() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<OsString> = arguments.collect();
    let shell = Shell::new()?;
    // This file is xtask/src/main.rs of the workspace.
    shell.change_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));

    let command = command.to_str().context("the command is not UTF-8")?;
    if !matches!(command, "demo" | "bench" | "fuzz" | "soak" | "interop") && !rest.is_empty() {
        bail!("{command} takes no arguments\n\n{USAGE}");
    }
    match command {
        "demo" => demo::run(&shell, &rest),
        "test" => test::run(&shell),
        "lint" => lint::run(&shell),
        "readme" => readme::write(&shell),
        "bench" => bench::run(&shell, &rest),
        "builds" => builds::run(&shell),
        "memcheck" => memcheck::run(&shell),
        "fuzz" => fuzz::run(&shell, &rest),
        "soak" => soak::run(&shell, &rest),
        "interop" => interop::run(&shell, &rest),
        "" | "help" | "-h" | "--help" => {
            println!("{USAGE}");
            Ok(())
        }
        _ => bail!("there is no command {command}\n\n{USAGE}"),
    }
}
