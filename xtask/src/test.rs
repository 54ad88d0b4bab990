//! `cargo xtask test`

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::steps;

/// Its only target is a program whose `main` is C's, which no test harness fits.
const NO_TESTS: &str = "kafka-sticky-peer-librdkafka";

pub(crate) fn run(shell: &Shell) -> Result<()> {
    steps::run(&[
        ("unit and integration tests", &|| {
            Ok(cmd!(
                shell,
                "cargo test --workspace --exclude {NO_TESTS} --lib --bins --tests --examples --no-fail-fast"
            )
            .quiet()
            .run()?)
        }),
        ("examples in the docs", &|| Ok(cmd!(shell, "cargo test --workspace --doc").quiet().run()?)),
    ])
}
