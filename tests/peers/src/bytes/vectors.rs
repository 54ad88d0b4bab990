//! The neighbours' bytes, as they are checked in for the codec's tests.

use std::fs;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::bytes::message::Message;

const PATH: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/protocol/tests/vectors/neighbours.jsonl");

/// Bytes, who wrote them, and what they mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Vector {
    pub(crate) origin: String,
    #[serde(with = "hex::serde")]
    pub(crate) bytes: Vec<u8>,
    pub(crate) message: Message,
}

/// A line each.
pub(crate) fn write(vectors: &[Vector]) -> Result<()> {
    let lines: Vec<String> = vectors.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    fs::write(PATH, lines.join("\n") + "\n").with_context(|| format!("cannot write {PATH}"))
}

/// Where these are not the ones checked in.
pub(crate) fn differences(vectors: &[Vector]) -> Result<Vec<String>> {
    let text = fs::read_to_string(PATH).with_context(|| format!("cannot read {PATH}"))?;
    let known: Vec<Vector> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let mut differences = Vec::new();
    if known.len() != vectors.len() {
        differences.push(format!("{} vectors are checked in, and there are {}", known.len(), vectors.len()));
    }
    for (known, now) in known.iter().zip(vectors).filter(|(known, now)| !known.same(now)) {
        differences.push(format!("checked in is {known:?}, and now it is {now:?}"));
    }
    Ok(differences)
}

impl Vector {
    /// Sarama writes the topics of a map in any order.
    fn same(&self, other: &Self) -> bool {
        let in_any_order = self.origin.starts_with("Sarama") && self.message.topics.is_none();
        self == other
            || (in_any_order && self.bytes.len() == other.bytes.len() && self.message == other.message)
    }
}
