//! What ends the command early, as one line on standard error and an exit status.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use thiserror::Error;

use crate::input::InputError;

/// Exit status where the work could not be done: the cluster, the group, the output.
pub(crate) const NOT_DONE: u8 = 1;
/// Exit status of bad input and usage.
pub(crate) const BAD_INPUT: u8 = 2;

/// Why the command stops.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error("{0}")]
    Usage(String),
    #[cfg(feature = "group")]
    #[error(transparent)]
    Cluster(#[from] crate::group::ClusterError),
    #[error("cannot write the output: {0}")]
    Output(io::Error),
    #[error("cannot write {file}: {error}")]
    File { file: String, error: io::Error },
    /// Help, the version, or a reader that has seen enough: nothing went wrong and all is said.
    #[error("done")]
    Done,
}

impl Failure {
    /// Says what went wrong, in one line.
    pub(crate) fn report(self) -> ExitCode {
        let status = match self {
            Self::Done => return ExitCode::SUCCESS,
            Self::Input(_) | Self::Usage(_) => BAD_INPUT,
            #[cfg(feature = "group")]
            Self::Cluster(_) => NOT_DONE,
            Self::Output(_) | Self::File { .. } => NOT_DONE,
        };
        // Where nobody listens any more, the exit status has to do.
        let _ = writeln!(io::stderr(), "kafka-sticky: {}", one_line(&self.to_string()));
        ExitCode::from(status)
    }
}

/// A reader that went away (`kafka-sticky … | head`) has seen enough.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Done,
            _ => Self::Output(error),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}

/// Names come from the input: a line break or an escape sequence in one stays visible, and harmless.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}
