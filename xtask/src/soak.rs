//! `cargo xtask soak`

use std::ffi::OsString;

use anyhow::Result;
use xshell::{Shell, cmd};

pub(crate) fn run(shell: &Shell, arguments: &[OsString]) -> Result<()> {
    // Cargo shows its progress: the first build takes a few minutes.
    cmd!(shell, "cargo build --package kafka-sticky-tests --bin soak").quiet().run()?;
    Ok(cmd!(shell, "cargo run --quiet --package kafka-sticky-tests --bin soak -- {arguments...}")
        .quiet()
        .run()?)
}
