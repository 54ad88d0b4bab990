//! Where input comes from, and what is wrong with it and where.

use std::{
    fmt::{self, Write as _},
    fs::File,
    io::{self, BufRead, BufReader, Read as _},
    path::PathBuf,
};

use kafka_sticky_protocol::ReadError;
use serde::Deserialize;
use serde_path_to_error::{Deserializer, Path, Segment, Track};
use thiserror::Error;

use crate::json::Object;

/// A file, standard input, or what stands on the command line itself.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    File(PathBuf),
    StandardInput,
    /// The value of this option.
    Argument(&'static str),
}

/// What is wrong with the input.
#[derive(Debug, Error)]
pub(crate) enum InputError {
    #[error("cannot read {input}: {error}")]
    Unreadable { input: Source, error: io::Error },
    #[error("{input}: {error}")]
    Json { input: Source, error: JsonError },
    #[error("{input}: {error}")]
    Bytes { input: Source, error: BytesError },
    #[error("{input}: {error}{}", read_before(before))]
    Message { input: Source, error: ReadError, before: String },
}

/// What is wrong with JSON, and where in it.
#[derive(Debug, Error)]
#[error("{path}: {problem}")]
pub(crate) struct JsonError {
    /// As `$.topics.orders`.
    pub(crate) path: String,
    pub(crate) problem: String,
}

/// What is wrong with bytes, and where in them.
#[derive(Debug, Error)]
#[error("byte {offset}: {problem}")]
pub(crate) struct BytesError {
    pub(crate) offset: usize,
    pub(crate) problem: String,
}

impl Source {
    pub(crate) fn new(file: Option<&PathBuf>) -> Self {
        match file {
            Some(file) if file.as_os_str() != "-" => Self::File(file.clone()),
            _ => Self::StandardInput,
        }
    }

    pub(crate) fn open(&self) -> Result<Box<dyn BufRead>, InputError> {
        Ok(match self {
            Self::File(path) => {
                Box::new(BufReader::new(File::open(path).map_err(|error| self.unreadable(error))?))
            }
            Self::StandardInput => Box::new(io::stdin().lock()),
            Self::Argument(_) => Box::new(io::empty()),
        })
    }

    pub(crate) fn read(&self) -> Result<Vec<u8>, InputError> {
        let mut bytes = Vec::new();
        self.open()?.read_to_end(&mut bytes).map_err(|error| self.unreadable(error))?;
        Ok(bytes)
    }

    pub(crate) fn unreadable(&self, error: io::Error) -> InputError {
        InputError::Unreadable { input: self.clone(), error }
    }

    pub(crate) fn json(&self, error: JsonError) -> InputError {
        InputError::Json { input: self.clone(), error }
    }

    /// `before` says what could be read before it.
    pub(crate) fn message(&self, error: ReadError, before: String) -> InputError {
        InputError::Message { input: self.clone(), error, before }
    }

    pub(crate) fn bytes(&self, error: BytesError) -> InputError {
        InputError::Bytes { input: self.clone(), error }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::StandardInput => f.write_str("standard input"),
            Self::Argument(option) => f.write_str(option),
        }
    }
}

impl JsonError {
    pub(crate) fn new(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into() }
    }
}

fn read_before(before: &str) -> String {
    if before.is_empty() { String::new() } else { format!("; read before it: {before}") }
}

/// Reads one JSON object. Names are borrowed from `json` where they hold no escapes.
///
/// Where reading fails it is done again, keeping track of the path, which costs nothing otherwise.
pub(crate) fn parse<'de, T: Deserialize<'de>>(json: &'de [u8]) -> Result<T, JsonError> {
    let read = serde_json::from_slice::<Object<T>>(json);
    read.map(|Object(value)| value).map_err(|error| located::<Object<T>>(json, &error))
}

fn located<'de, T: Deserialize<'de>>(json: &'de [u8], error: &serde_json::Error) -> JsonError {
    if json.trim_ascii().is_empty() {
        return JsonError::new("$", "nothing there, expected a JSON object");
    }
    let mut track = Track::new();
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    // What follows the value is not looked at here: the path is then that of the value.
    let _ = T::deserialize(Deserializer::new(&mut deserializer, &mut track));
    let problem = error.to_string();
    let problem = match problem.rsplit_once(" at line ") {
        Some(("trailing characters", at)) => format!("trailing characters, expected the end at line {at}"),
        _ => problem,
    };
    JsonError::new(render(&track.path()), problem)
}

/// A path as JSONPath writes it.
fn render(path: &Path) -> String {
    let mut rendered = String::from("$");
    for segment in path {
        let _ = match segment {
            Segment::Seq { index } => write!(rendered, "[{index}]"),
            Segment::Map { key } => write!(rendered, "{}", Key(key)),
            Segment::Enum { variant } => write!(rendered, "{}", Key(variant)),
            Segment::Unknown => Ok(()),
        };
    }
    rendered
}

/// A step of a path into an object: `.orders`, or `["my.orders"]` where the name needs it.
pub(crate) struct Key<'k>(pub(crate) &'k str);

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
        if !self.0.is_empty() && self.0.chars().all(plain) {
            return write!(f, ".{}", self.0);
        }
        write!(f, "[{}]", serde_json::Value::from(self.0))
    }
}
