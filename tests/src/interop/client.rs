//! The clients, and how a member of each is started.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::interop::process::bound;

/// What a member is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Client {
    /// librdkafka with this project's assignors.
    Ours,
    /// The same, where `sticky` writes its user data as kafka-python 3 does.
    OursFramed,
    /// librdkafka with its own `cooperative-sticky`.
    Librdkafka,
    /// Kafka's own client.
    Java,
    /// kafka-python 3.
    KafkaPython,
    /// franz-go.
    FranzGo,
    /// Sarama.
    Sarama,
}

impl Client {
    /// Whether this project's assignors are in it.
    pub fn is_ours(self) -> bool {
        matches!(self, Self::Ours | Self::OursFramed)
    }

    /// Whether it stands on librdkafka.
    pub fn is_librdkafka(self) -> bool {
        self.is_ours() || self == Self::Librdkafka
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ours => "ours",
            Self::OursFramed => "ours-framed",
            Self::Librdkafka => "librdkafka",
            Self::Java => "java",
            Self::KafkaPython => "kafka-python",
            Self::FranzGo => "franz-go",
            Self::Sarama => "sarama",
        })
    }
}

/// Where a member belongs: what every client's program is told when it starts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Place {
    /// The brokers, separated by commas.
    pub bootstrap_servers: String,
    /// The group.
    pub group: String,
    /// The `client.id`, by which the broker tells of it.
    pub name: String,
    /// The topics to subscribe to.
    pub topics: Vec<String>,
    /// `partition.assignment.strategy`.
    pub strategies: Vec<String>,
    /// `group.instance.id`.
    pub instance_id: Option<String>,
    /// `client.rack`.
    pub rack: Option<String>,
    /// Where one of ours keeps its state for the next process.
    pub state_file: Option<PathBuf>,
    /// How long a member may be silent.
    pub session_timeout_ms: u32,
    /// How often it says that it is there.
    pub heartbeat_interval_ms: u32,
    /// How soon it notices that a topic has grown.
    pub metadata_max_age_ms: u32,
    /// How often it commits what it read.
    pub commit_interval_ms: u32,
}

/// Where the clients' programs are.
#[derive(Debug, Clone)]
pub struct Programs {
    ours: PathBuf,
    class_path: OsString,
    python: PathBuf,
    python_programs: PathBuf,
    go_programs: PathBuf,
}

impl Programs {
    /// As `cargo xtask interop` puts them into the environment.
    ///
    /// # Errors
    ///
    /// Where it has not.
    pub fn from_env() -> Result<Self> {
        let path = |name: &str| {
            env::var_os(name).with_context(|| format!("{name} is not set: run this by `cargo xtask interop`"))
        };
        Ok(Self {
            ours: env::current_exe()?,
            class_path: path("KAFKA_STICKY_JAVA_CLASS_PATH")?,
            python: path("KAFKA_STICKY_PYTHON")?.into(),
            python_programs: path("KAFKA_STICKY_PYTHON_PROGRAMS")?.into(),
            go_programs: path("KAFKA_STICKY_GO_PROGRAMS")?.into(),
        })
    }

    /// Java, to run a class with these arguments for the virtual machine.
    pub fn java(&self, machine: &[&str]) -> Command {
        let mut command = bound("java");
        command.arg("-XX:+UseSerialGC").args(machine).arg("-cp").arg(&self.class_path);
        command
    }

    /// A member.
    ///
    /// # Errors
    ///
    /// Never, as long as a place can be written as JSON.
    pub fn member(&self, client: Client, place: &Place) -> Result<Command> {
        let mut command = match client {
            Client::Ours | Client::OursFramed | Client::Librdkafka => {
                let mut command = bound(&self.ours);
                command.args(["member", &serde_json::to_string(&client)?]);
                command
            }
            Client::Java => {
                // Short-lived: what it would gain by better code it would not live to see.
                let mut command = self.java(&["-XX:TieredStopAtLevel=1", "-Xmx128m"]);
                command.arg("LiveMember");
                command
            }
            Client::KafkaPython => {
                let mut command = bound(&self.python);
                command.arg(self.python_programs.join("live_member.py"));
                command
            }
            Client::FranzGo | Client::Sarama => {
                let mut command = bound(self.go_programs.join("live-member"));
                command.arg(client.to_string());
                command
            }
        };
        command.arg(serde_json::to_string(place)?);
        Ok(command)
    }
}
