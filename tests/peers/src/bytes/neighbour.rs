//! The other clients' codecs, asked over standard input.

use std::fmt;
use std::io::Write as _;
use std::process::Stdio;
use std::thread;

use anyhow::{Context as _, Result, ensure};
use kafka_sticky_protocol::Framing;
use serde::{Deserialize, Serialize};

use crate::bytes::message::{Kind, Message, Partitions};
use crate::peer::Programs;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Neighbour {
    Java,
    KafkaPython,
    FranzGo,
    Sarama,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Request {
    Write(Message),
    Read {
        kind: Kind,
        bytes: String,
        /// Of sticky user data: what it claims, and as much that it does not. Only a balancer can say what it understood.
        among: Partitions,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    bytes: Option<String>,
    message: Option<Message>,
    cannot: Option<String>,
}

pub(crate) enum Answer {
    Bytes(Vec<u8>),
    Message(Message),
    /// And why.
    Cannot(String),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => f.write_str(&hex::encode(bytes)),
            Self::Message(message) => write!(f, "{message:?}"),
            Self::Cannot(why) => write!(f, "nothing ({why})"),
        }
    }
}

impl Request {
    pub(crate) fn writing(cases: &[Message]) -> Vec<Self> {
        cases.iter().cloned().map(Self::Write).collect()
    }

    pub(crate) fn reading(cases: &[Message], ours: &[Vec<u8>]) -> Vec<Self> {
        let read = |(case, bytes): (&Message, &Vec<u8>)| Self::Read {
            kind: case.kind,
            bytes: hex::encode(bytes),
            among: among(case.partitions.as_deref().unwrap_or_default()),
        };
        cases.iter().zip(ours).map(read).collect()
    }
}

/// These partitions and as many others.
fn among(partitions: &[(String, Vec<i32>)]) -> Partitions {
    let with_others = |(topic, numbers): &(String, Vec<i32>)| {
        let others = (1_000_000..).take(numbers.len());
        (topic.clone(), numbers.iter().copied().chain(others).collect())
    };
    partitions.iter().map(with_others).collect()
}

impl Neighbour {
    pub(crate) const ALL: [Self; 4] = [Self::Java, Self::KafkaPython, Self::FranzGo, Self::Sarama];

    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::Java => "kafka-clients 4.3.1",
            Self::KafkaPython => "kafka-python 3.0.0",
            Self::FranzGo => "franz-go 1.22.3",
            Self::Sarama => "Sarama 1.61.1",
        }
    }

    /// The form of sticky user data that it reads.
    pub(crate) fn framing(self) -> Framing {
        if self == Self::KafkaPython { Framing::Framed } else { Framing::Bare }
    }

    /// Whether it has code that writes this.
    pub(crate) fn writes(self, case: &Message) -> bool {
        match case.kind {
            Kind::Subscription | Kind::Assignment => true,
            Kind::Sticky => case.version == 1,
            Kind::Cooperative => self == Self::Java,
        }
    }

    /// Whether it has code that reads this.
    pub(crate) fn reads(self, case: &Message) -> bool {
        case.kind != Kind::Cooperative || self == Self::Java
    }

    /// What it says when it is told to write this.
    pub(crate) fn means(self, case: &Message) -> Message {
        let mut means = case.sorted();
        if self == Self::FranzGo && case.kind == Kind::Sticky && means.generation.is_none() {
            // Without a generation it writes version 0.
            means.version = 0;
        }
        means
    }

    /// What it takes this for.
    pub(crate) fn makes_of(self, case: &Message) -> Message {
        let mut made = self.means(case);
        if self == Self::Sarama && case.kind == Kind::Sticky {
            // Its balancer does not tell which generation it read.
            (made.version, made.generation) = (0, None);
        }
        made
    }

    /// Asks it all of these, in order.
    pub(crate) fn ask(self, programs: &Programs, requests: &[Request]) -> Result<Vec<Answer>> {
        let mut command = match self {
            Self::Java => programs.java("OfflineBytes"),
            Self::KafkaPython => programs.python("offline_bytes.py"),
            Self::FranzGo | Self::Sarama => programs.go("bytes"),
        };
        match self {
            Self::FranzGo => command.arg("franz-go"),
            Self::Sarama => command.arg("sarama"),
            Self::Java | Self::KafkaPython => &mut command,
        };
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut input = child.stdin.take().context("no input")?;
        let mut lines = Vec::new();
        for request in requests {
            serde_json::to_writer(&mut lines, request)?;
            lines.push(b'\n');
        }
        // Beside reading, so that neither waits for the other.
        let writing = thread::spawn(move || input.write_all(&lines));
        let output = child.wait_with_output()?;
        writing.join().expect("writing does not panic").context("it stopped listening")?;
        ensure!(output.status.success(), "{} ended with {}", self.version(), output.status);
        let text = String::from_utf8(output.stdout)?;
        let answers: Vec<Answer> = text.lines().map(answer).collect::<Result<_>>()?;
        ensure!(answers.len() == requests.len(), "{} answers to {} requests", answers.len(), requests.len());
        Ok(answers)
    }
}

fn answer(text: &str) -> Result<Answer> {
    let line: Line = serde_json::from_str(text).with_context(|| text.to_owned())?;
    if let Some(why) = line.cannot {
        return Ok(Answer::Cannot(why));
    }
    if let Some(bytes) = line.bytes {
        return Ok(Answer::Bytes(hex::decode(bytes)?));
    }
    Ok(Answer::Message(line.message.with_context(|| format!("no answer in {text:?}"))?))
}
