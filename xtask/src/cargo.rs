//! What Cargo and its compiler say of themselves.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use xshell::{Shell, cmd};

/// The target that they run on. Naming it keeps `RUSTFLAGS` from build scripts.
pub(crate) fn host(shell: &Shell) -> Result<String> {
    let about = cmd!(shell, "rustc -vV").quiet().read()?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc named no host")?.to_owned())
}

pub(crate) fn target_folder(shell: &Shell) -> Result<PathBuf> {
    let metadata = cmd!(shell, "cargo metadata --format-version=1 --no-deps --offline").quiet().read()?;
    let (_, rest) = metadata.split_once("\"target_directory\":\"").context("cargo named no target folder")?;
    let (folder, _) = rest.split_once('"').context("cargo named no target folder")?;
    Ok(PathBuf::from(folder))
}
