//! Running a peer's program, and hearing what it says.

use std::fmt;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use kafka_sticky_protocol::Strategy;
use serde::Deserialize;

use crate::answers::{self, Answer};
use crate::schedule::Schedule;

/// A peer that takes longer for all calls of one group that is timed is stopped.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
/// What it takes to start and to read the groups is not the peer's fault.
const LOADING: Duration = Duration::from_secs(600);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Peer {
    Ours(Ours),
    JavaSticky,
    JavaCooperative,
    FranzGo,
    Sarama,
    KafkaPython,
    Librdkafka,
}

/// Which of our strategies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Ours {
    Sticky,
    Cooperative,
}

impl Peer {
    pub(crate) const OTHERS: [Self; 6] = [
        Self::FranzGo,
        Self::JavaSticky,
        Self::JavaCooperative,
        Self::Sarama,
        Self::KafkaPython,
        Self::Librdkafka,
    ];

    /// The one of ours that does the same work.
    pub(crate) fn counterpart(self) -> Ours {
        match self {
            Self::JavaCooperative | Self::Librdkafka | Self::Ours(Ours::Cooperative) => Ours::Cooperative,
            _ => Ours::Sticky,
        }
    }

    /// Whether what another member has is withheld from the answer.
    pub(crate) fn withholds(self) -> bool {
        matches!(self, Self::JavaCooperative | Self::Ours(Ours::Cooperative))
    }

    /// Whether it can be told the racks from outside of its client.
    pub(crate) fn knows_racks(self) -> bool {
        matches!(self, Self::Ours(_) | Self::JavaSticky | Self::JavaCooperative | Self::Librdkafka)
    }
}

impl Ours {
    pub(crate) fn strategy(self) -> Strategy {
        match self {
            Self::Sticky => Strategy::Sticky,
            Self::Cooperative => Strategy::CooperativeSticky,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ours(Ours::Sticky) => "ours",
            Self::Ours(Ours::Cooperative) => "ours, cooperative",
            Self::JavaSticky => "Java",
            Self::JavaCooperative => "Java, cooperative",
            Self::FranzGo => "franz-go",
            Self::Sarama => "Sarama",
            Self::KafkaPython => "kafka-python",
            Self::Librdkafka => "librdkafka, cooperative",
        })
    }
}

/// Where the peers' programs are, and where they leave what they answer.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    /// The class path of the Java program and of kafka-clients.
    pub(crate) java: String,
    /// An interpreter that finds kafka-python.
    pub(crate) python: PathBuf,
    /// The folder of the Python programs.
    pub(crate) scripts: PathBuf,
    pub(crate) go: PathBuf,
    pub(crate) librdkafka: PathBuf,
    /// A folder for groups and answers.
    pub(crate) folder: PathBuf,
}

/// How a peer fared with the groups of a file.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) rounds: Vec<Round>,
    pub(crate) answers: Vec<Answer>,
    pub(crate) end: End,
}

/// How a peer fared with one group.
#[derive(Debug, Default, Clone)]
pub(crate) struct Round {
    pub(crate) first_ms: Option<f64>,
    pub(crate) warm_ms: Vec<f64>,
    /// The mean CPU time of the warm calls, all threads together.
    pub(crate) cpu_ms: Option<f64>,
    pub(crate) peak_kib: Option<u64>,
    pub(crate) error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    Finished,
    /// It took too long and was stopped.
    Stopped,
    /// It ended by itself, with this status.
    Died(String),
}

/// A line that a peer prints.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    loaded: bool,
    first_ms: Option<f64>,
    warm_ms: Option<Vec<f64>>,
    cpu_ms: Option<f64>,
    peak_kib: Option<u64>,
    error: Option<String>,
}

impl Programs {
    /// Lets a peer assign the groups of a file, and stops it where the calls of one take longer than `limit`.
    pub(crate) fn run(
        &self,
        peer: Peer,
        groups: &Path,
        count: usize,
        schedule: Schedule,
        limit: Duration,
    ) -> Result<Run> {
        let path = self.folder.join("answers");
        // What another peer answered is not this one's.
        File::create(&path)?;
        let command = self.command(peer, groups, &path, schedule)?;
        let mut child = Command::new("setpriv")
            // It ends with this process, however that ends.
            .args(["--pdeathsig", "KILL", "--"])
            .arg(command.get_program())
            .args(command.get_args())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {peer} ({:?})", command.get_program()))?;
        let lines = lines(child.stdout.take().context("no output")?);
        let heard = hear(&lines, count, limit);
        let end = end(&mut child, &heard)?;
        let (rounds, _) = heard?;
        let answered =
            rounds.iter().filter(|round| round.first_ms.is_some() || round.error.is_some()).count();
        let answers = answers::read(&path, answered, end != End::Finished)
            .with_context(|| format!("{peer}'s answers"))?;
        Ok(Run { rounds, answers, end })
    }

    fn command(&self, peer: Peer, groups: &Path, answers: &Path, schedule: Schedule) -> Result<Command> {
        let (mut command, which) = match peer {
            Peer::Ours(ours) => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg("assign");
                (command, ours.strategy().name())
            }
            Peer::JavaSticky => (self.java("OfflineAssign"), "sticky"),
            Peer::JavaCooperative => (self.java("OfflineAssign"), "cooperative-sticky"),
            Peer::KafkaPython => (self.python("offline_assign.py"), "sticky"),
            Peer::FranzGo => (self.go("assign"), "franz-go"),
            Peer::Sarama => (self.go("assign"), "sarama"),
            Peer::Librdkafka => (Command::new(&self.librdkafka), "cooperative-sticky"),
        };
        let millis = |duration: Duration| duration.as_millis().to_string();
        command.args([groups, answers]).args([millis(schedule.warm), millis(schedule.measure)]).arg(which);
        Ok(command)
    }

    pub(crate) fn java(&self, class: &str) -> Command {
        let mut command = Command::new("java");
        command.args(["-Xmx8g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", &self.java, class]);
        command
    }

    pub(crate) fn python(&self, script: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(self.scripts.join(script));
        command
    }

    pub(crate) fn go(&self, what: &str) -> Command {
        let mut command = Command::new(&self.go);
        command.arg(what);
        command
    }
}

fn lines(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Hears of every group, until all are done (true) or the peer says no more in time (false).
fn hear(lines: &Receiver<String>, count: usize, limit: Duration) -> Result<(Vec<Round>, bool)> {
    let mut rounds = Vec::new();
    while rounds.len() < count {
        let mut round = Round::default();
        let mut deadline = Instant::now() + LOADING;
        loop {
            let text = match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(text) => text,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    rounds.push(round);
                    return Ok((rounds, false));
                }
            };
            let line: Line = serde_json::from_str(&text).with_context(|| format!("a peer said {text:?}"))?;
            if line.loaded {
                deadline = Instant::now() + limit;
            }
            round.first_ms = round.first_ms.or(line.first_ms);
            let done = line.warm_ms.is_some() || line.error.is_some();
            round.warm_ms = line.warm_ms.unwrap_or_default();
            round.cpu_ms = line.cpu_ms;
            round.peak_kib = line.peak_kib;
            round.error = line.error;
            if done {
                break;
            }
        }
        rounds.push(round);
    }
    Ok((rounds, true))
}

fn end(child: &mut Child, heard: &Result<(Vec<Round>, bool)>) -> Result<End> {
    if matches!(heard, Ok((_, true))) {
        let status = child.wait()?;
        if !status.success() {
            bail!("a peer answered all and ended with {status}");
        }
        return Ok(End::Finished);
    }
    // Its output may be closed because it is about to end by itself.
    for _ in 0..50 {
        if let Some(status) = child.try_wait()? {
            return Ok(End::Died(status.to_string()));
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill()?;
    child.wait()?;
    Ok(End::Stopped)
}
