//! Where output goes.

use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write};

use serde::Serialize;

use crate::{
    arguments::{Format, FormatArgument},
    failure::Failure,
    json::write_pretty,
};

impl FormatArgument {
    /// A table on a terminal and JSON elsewhere, unless told otherwise.
    pub(crate) fn chosen(&self) -> Format {
        let default = if io::stdout().is_terminal() { Format::Table } else { Format::Json };
        self.format.unwrap_or(default)
    }
}

/// Standard output for JSON and hex.
pub(crate) fn plain() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// Standard output for people: colours reach it only where it is a terminal and `NO_COLOR` is not set.
pub(crate) fn for_people() -> BufWriter<anstream::AutoStream<StdoutLock<'static>>> {
    BufWriter::new(anstream::stdout().lock())
}

/// Prints JSON that people can read as well.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut output = plain();
    write_pretty(&mut output, value)?;
    Ok(output.flush()?)
}
