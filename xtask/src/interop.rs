//! `cargo xtask interop`: what groups with the other clients on a real Kafka need.

use anyhow::Result;
use xshell::Shell;

use crate::peers;

pub(crate) fn run(shell: &Shell) -> Result<()> {
    let (java, python, go) = (peers::java(shell)?, peers::python(shell)?, peers::go(shell)?);
    println!("{}", java.class_path.display());
    println!("{} for {}", python.interpreter.display(), python.programs.display());
    println!("{}", go.programs.display());
    Ok(())
}
