//! `cargo xtask bench`

use std::env;
use std::ffi::OsString;

use anyhow::{Result, bail};
use xshell::{Shell, cmd};

use crate::peers;

pub(crate) fn run(shell: &Shell, arguments: &[OsString]) -> Result<()> {
    let Some((what, rest)) = arguments.split_first() else { bail!("bench what? There is: core, peers") };
    match what.to_str() {
        Some("core") => {
            Ok(cmd!(shell, "cargo bench --package kafka-sticky-core --bench assign -- {rest...}")
                .quiet()
                .run()?)
        }
        Some("peers") => {
            ["bench", "leader", "codec"].into_iter().try_for_each(|command| offline(shell, command, rest))
        }
        _ => bail!("there are no benchmarks of {}; there is: core, peers", what.display()),
    }
}

/// Runs a command of `tests/peers`, which puts ours beside the other clients' programs, without a broker.
pub(crate) fn offline(shell: &Shell, command: &str, arguments: &[OsString]) -> Result<()> {
    peers::setpriv(shell)?;
    let (java, python, go) = (peers::java(shell)?, peers::python(shell)?, peers::go(shell)?);
    let packages = ["kafka-sticky-peers", "kafka-sticky-peer-librdkafka"];
    for package in packages {
        cmd!(shell, "cargo build --quiet --release --package {package}").quiet().run()?;
    }
    let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let target = shell.current_dir().join(target);
    let [ours, librdkafka] = ["peers", "peer-librdkafka"].map(|program| target.join("release").join(program));
    let (class_path, interpreter, scripts) = (java.class_path, python.interpreter, python.programs);
    let (go, folder) = (go.programs.join("offline"), target.join("peers").join("offline"));
    let programs = cmd!(
        shell,
        "setpriv --pdeathsig KILL {ours} {command} --java {class_path} --python {interpreter} --scripts {scripts} --go {go}
            --librdkafka {librdkafka} --folder {folder} {arguments...}"
    );
    Ok(programs.quiet().run()?)
}
