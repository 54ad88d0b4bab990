//! A member's state in a file, for the process that comes after it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use kafka_sticky_rdkafka_adapter::SavedState;

/// The state in this file; `None`, and a line in the log, where there is none that is whole.
pub(crate) fn read(path: &Path) -> Option<SavedState> {
    let bytes = fs::read(path)
        .inspect_err(|error| tracing::info!(path = %path.display(), %error, "starting without a state"))
        .ok()?;
    SavedState::from_bytes(&bytes)
        .inspect_err(|error| tracing::warn!(path = %path.display(), %error, "starting without a state"))
        .ok()
}

/// Writes the state so that, whatever happens meanwhile, the file holds either the one before or this one.
pub(crate) fn write(path: &Path, state: &SavedState) -> io::Result<()> {
    let unfinished = path.with_extension("unfinished");
    let bytes = state.to_bytes().map_err(io::Error::other)?;
    let mut file = File::create(&unfinished)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    // That it was renamed is written down with the folder.
    match path.parent() {
        Some(folder) if cfg!(unix) && !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}
