//! `cargo xtask lint`

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::{readme, steps};

pub(crate) fn run(shell: &Shell) -> Result<()> {
    steps::run(&[
        ("rustfmt", &|| Ok(cmd!(shell, "cargo fmt --all --check").quiet().run()?)),
        ("clippy", &|| {
            Ok(cmd!(shell, "cargo clippy --workspace --all-targets --quiet -- -D warnings").quiet().run()?)
        }),
        ("docs", &|| {
            let _flags = shell.push_env("RUSTDOCFLAGS", "-D warnings");
            Ok(cmd!(shell, "cargo doc --workspace --no-deps --document-private-items --quiet")
                .quiet()
                .run()?)
        }),
        ("README in step with the crate docs", &|| readme::check(shell)),
    ])
}
