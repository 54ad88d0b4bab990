//! `cargo xtask builds`: one group under each build of librdkafka that services use.

use std::path::Path;

use anyhow::{Result, bail};
use xshell::{Shell, cmd};

use crate::steps;

const SYSTEM_OPENSSL: &str = "/usr/include/openssl";
const GROUP: &str = "one_two_three_two_members";

pub(crate) fn run(shell: &Shell) -> Result<()> {
    steps::run(&[
        ("default features", &|| one_group(shell, "libz")),
        ("ssl-vendored, the system's OpenSSL headers hidden", &|| without_openssl(shell, "ssl-vendored")),
        ("cmake-build", &|| one_group(shell, "cmake-build")),
        ("cmake-build and ssl-vendored, the system's OpenSSL headers hidden", &|| {
            without_openssl(shell, "cmake-build,ssl-vendored")
        }),
        ("dynamic-linking is refused", &|| refused(shell)),
    ])
}

fn one_group(shell: &Shell, features: &str) -> Result<()> {
    let test = cmd!(
        shell,
        "cargo test --package kafka-sticky-tests --features {features} --test groups -- --exact {GROUP}"
    );
    Ok(test.quiet().run()?)
}

/// In a mount namespace of its own, where nothing is seen in the folder of the system's OpenSSL headers.
fn without_openssl(shell: &Shell, features: &str) -> Result<()> {
    if !Path::new(SYSTEM_OPENSSL).exists() {
        return one_group(shell, features);
    }
    let script = format!(
        "mount -t tmpfs none {SYSTEM_OPENSSL} && exec cargo test --package kafka-sticky-tests --features {features} \
         --test groups -- --exact {GROUP}"
    );
    let hidden = cmd!(shell, "unshare --mount sh -c {script}");
    if cmd!(shell, "unshare --mount true").quiet().ignore_stderr().run().is_err() {
        bail!("cannot hide {SYSTEM_OPENSSL} (unshare --mount needs root): remove it, or run this as root");
    }
    Ok(hidden.quiet().run()?)
}

/// The reason must be in what cargo prints: from this crate if a librdkafka is installed, else from rdkafka-sys.
fn refused(shell: &Shell) -> Result<()> {
    let build = cmd!(shell, "cargo check --package kafka-sticky-rdkafka-adapter --features dynamic-linking");
    let output = build.quiet().ignore_status().output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success()
        || !(said.contains("`dynamic-linking`") || said.contains("Dynamic linking failed"))
    {
        bail!("expected a refusal of dynamic-linking, got:\n{said}");
    }
    Ok(())
}
