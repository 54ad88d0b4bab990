//! The README's introduction is the adapter's crate documentation, copied.

use anyhow::{Context as _, Result, bail};
use xshell::Shell;

const README: &str = "README.md";
const CRATE_DOCS: &str = "crates/rdkafka-adapter/src/lib.rs";
const BEGIN: &str =
    "<!-- From the crate docs of kafka-sticky-rdkafka-adapter; `cargo xtask readme` rewrites it. -->\n";
const END: &str = "<!-- End of what is copied. -->\n";

/// Fails where the README differs from the docs.
pub(crate) fn check(shell: &Shell) -> Result<()> {
    if shell.read_file(README)? != rewritten(shell)? {
        bail!("{README} differs from the docs of {CRATE_DOCS}: run `cargo xtask readme`");
    }
    Ok(())
}

/// Makes the README say what the docs say.
pub(crate) fn write(shell: &Shell) -> Result<()> {
    Ok(shell.write_file(README, rewritten(shell)?)?)
}

fn rewritten(shell: &Shell) -> Result<String> {
    let readme = shell.read_file(README)?;
    let (before, rest) =
        readme.split_once(BEGIN).context("the README has lost the mark where the copy begins")?;
    let (_, after) = rest.split_once(END).context("the README has lost the mark where the copy ends")?;
    let docs = introduction(&shell.read_file(CRATE_DOCS)?);
    Ok(format!("{before}{BEGIN}{docs}{END}{after}"))
}

/// The crate docs up to their first heading, without the lines of code that rustdoc hides.
fn introduction(source: &str) -> String {
    let mut introduction = String::new();
    let mut in_code = false;
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        let marked = line == "#" || line.starts_with("# ");
        match (marked, in_code) {
            (true, true) => continue,
            (true, false) => break,
            (false, _) => in_code ^= line.starts_with("```"),
        }
        introduction.push_str(&line.replacen("```no_run", "```rust,no_run", 1));
        introduction.push('\n');
    }
    introduction
}
