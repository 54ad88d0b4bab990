//! What a command needs and this machine has not.

use anyhow::Result;
use xshell::Cmd;

/// A tool that is not installed. [`EXIT_CODE`](Self::EXIT_CODE) tells it from a check that failed.
#[derive(Debug, thiserror::Error)]
#[error("{tool} is missing: `{asked}` fails, and {what} cannot do without; install {install}")]
pub(crate) struct Missing {
    what: &'static str,
    tool: &'static str,
    asked: String,
    install: &'static str,
}

impl Missing {
    pub(crate) const EXIT_CODE: u8 = 2;
}

/// Asks a tool whether it is there.
///
/// # Errors
///
/// [`Missing`]
pub(crate) fn need(
    ask: Cmd<'_>,
    what: &'static str,
    tool: &'static str,
    install: &'static str,
) -> Result<()> {
    let asked = ask.to_string();
    let answered = ask.quiet().ignore_stdout().ignore_stderr().run();
    answered.map_err(|_| Missing { what, tool, asked, install }.into())
}
