//! `cargo xtask test`

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::steps;

pub(crate) fn run(shell: &Shell) -> Result<()> {
    steps::run(&[
        ("unit and integration tests", &|| {
            Ok(cmd!(shell, "cargo test --workspace --lib --bins --tests --examples --no-fail-fast")
                .quiet()
                .run()?)
        }),
        ("examples in the docs", &|| Ok(cmd!(shell, "cargo test --workspace --doc").quiet().run()?)),
    ])
}
