//! `cargo xtask bench`

use std::ffi::OsString;

use anyhow::{Result, bail};
use xshell::{Shell, cmd};

pub(crate) fn run(shell: &Shell, arguments: &[OsString]) -> Result<()> {
    let Some((what, rest)) = arguments.split_first() else { bail!("bench what? There is: core") };
    if what != "core" {
        bail!("there are no benchmarks of {}; there is: core", what.display());
    }
    Ok(cmd!(shell, "cargo bench --package kafka-sticky-core --bench assign -- {rest...}").quiet().run()?)
}
