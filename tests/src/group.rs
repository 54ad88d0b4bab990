//! A group under test: its cluster, its members, what they saw.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rdkafka::ClientConfig;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::history::{History, Name};
use crate::judge::{self, Settled};
use crate::member;
use crate::seen::Seen;

/// How long a group may take to settle before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// Members that come and go, and what they saw.
#[derive(Debug)]
pub struct Group {
    config: ClientConfig,
    /// The executable that takes `member` as its first argument.
    executable: String,
    members: BTreeMap<Name, Running>,
    topics: BTreeMap<String, i32>,
    /// Members that miss their heartbeats, so that the group goes on without them.
    paused: BTreeSet<Name>,
    history: Arc<History>,
    settled: i32,
}

#[derive(Debug)]
enum Running {
    Here { stop: oneshot::Sender<()>, task: JoinHandle<Result<()>> },
    Elsewhere { process: Child, reader: JoinHandle<()> },
}

impl Group {
    /// A group without members. `config` is the members'; `executable` is what [`spawn`](Self::spawn) runs.
    pub fn new(config: ClientConfig, executable: &str) -> Self {
        Self {
            config,
            executable: executable.to_owned(),
            members: BTreeMap::new(),
            topics: BTreeMap::new(),
            paused: BTreeSet::new(),
            history: Arc::default(),
            settled: -1,
        }
    }

    /// What the members saw.
    pub fn history(&self) -> &Arc<History> {
        &self.history
    }

    /// The topics that the judge knows.
    pub fn topics(&self) -> &BTreeMap<String, i32> {
        &self.topics
    }

    /// Tells the judge of a topic, or that it has more partitions now.
    pub fn expect_topic(&mut self, name: &str, partitions: i32) {
        self.topics.insert(name.to_owned(), partitions);
    }

    /// The names of those who are members now, but for those that are paused.
    pub fn members(&self) -> BTreeSet<Name> {
        self.members.keys().filter(|name| !self.paused.contains(*name)).cloned().collect()
    }

    /// Whether it is a member in this process, as opposed to one of its own.
    pub fn is_here(&self, name: &str) -> bool {
        matches!(self.members.get(name), Some(Running::Here { .. }))
    }

    /// The process of a member in a process of its own.
    pub fn process_of(&self, name: &str) -> Option<u32> {
        match self.members.get(name)? {
            Running::Here { .. } => None,
            Running::Elsewhere { process, .. } => process.id(),
        }
    }

    /// A member joins, in this process.
    pub fn join(&mut self, name: &str, topics: &[&str]) {
        let config = self.member_config(name);
        let topics = topics.iter().map(|topic| (*topic).to_owned()).collect();
        let (stop, stopped) = oneshot::channel();
        let report = self.reporter(name);
        let task = tokio::spawn(async move {
            let failed = Arc::clone(&report);
            let stop = async {
                // A dropped sender stops as well.
                let _ = stopped.await;
            };
            member::run(config, topics, report, stop)
                .await
                .inspect_err(|error| failed(Seen::Failed(format!("{error:#}"))))
        });
        self.members.insert(name.to_owned(), Running::Here { stop, task });
    }

    /// A member joins, in a process of its own.
    ///
    /// # Errors
    ///
    /// Where the process cannot be started.
    pub fn spawn(&mut self, name: &str, topics: &[&str]) -> Result<()> {
        let mut command = Command::new(&self.executable);
        command.arg("member").args(topics).stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        command.env(CONFIG, serde_json::to_string(&self.member_config(name).config_map())?);
        let mut process = command.spawn().with_context(|| format!("starting {}", self.executable))?;
        let mut lines = BufReader::new(process.stdout.take().context("its output is piped")?).lines();
        let report = self.reporter(name);
        let reader = tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                report(
                    serde_json::from_str(&line)
                        .unwrap_or_else(|error| Seen::Failed(format!("{error}: {line}"))),
                );
            }
        });
        self.members.insert(name.to_owned(), Running::Elsewhere { process, reader });
        Ok(())
    }

    /// A member of this process leaves, properly.
    ///
    /// # Errors
    ///
    /// What it came to grief over.
    pub async fn leave(&mut self, name: &str) -> Result<()> {
        let Some(Running::Here { stop, task }) = self.members.remove(name) else {
            bail!("{name} is no member in this process");
        };
        // It may have ended already.
        let _ = stop.send(());
        task.await?.with_context(|| format!("member {name}"))
    }

    /// A member in a process of its own is killed (SIGKILL): it says nothing, the group must notice.
    ///
    /// # Errors
    ///
    /// Where there is no such process.
    pub async fn kill(&mut self, name: &str) -> Result<()> {
        let Some(Running::Elsewhere { mut process, reader }) = self.members.remove(name) else {
            bail!("{name} is no member in a process of its own");
        };
        process.kill().await?;
        reader.await?;
        self.history.gone(name);
        Ok(())
    }

    /// A member in a process of its own stops in its tracks (SIGSTOP), for long enough that the group goes on without it.
    ///
    /// # Errors
    ///
    /// Where there is no such process.
    pub async fn pause(&mut self, name: &str) -> Result<()> {
        self.signal(name, "STOP").await?;
        self.paused.insert(name.to_owned());
        Ok(())
    }

    /// A paused member goes on where it was (SIGCONT).
    ///
    /// # Errors
    ///
    /// Where there is no such process.
    pub async fn resume(&mut self, name: &str) -> Result<()> {
        self.signal(name, "CONT").await?;
        self.paused.remove(name);
        Ok(())
    }

    async fn signal(&self, name: &str, signal: &str) -> Result<()> {
        let Some(Running::Elsewhere { process, .. }) = self.members.get(name) else {
            bail!("{name} is no member in a process of its own");
        };
        let pid = process.id().context("it has ended")?;
        let status = Command::new("kill").args(["-s", signal, &pid.to_string()]).status().await?;
        if !status.success() {
            bail!("kill -s {signal} {pid} failed");
        }
        Ok(())
    }

    /// Waits until all members are in one generation, later than the last one settled, that covers every partition.
    ///
    /// Gives that generation last, and before it those on the way there that covered all that was subscribed to then.
    ///
    /// # Errors
    ///
    /// When that takes longer than anybody would wait.
    pub async fn settle(&mut self) -> Result<Vec<Settled>> {
        let (members, topics, after) = (self.members(), &self.topics, self.settled);
        let settled = self
            .history
            .wait("settled generation", PATIENCE, |record| {
                let last = Settled::of(record, &members, topics).filter(|last| last.generation > after)?;
                let on_the_way = (after + 1..last.generation)
                    .filter_map(|generation| Settled::in_generation(record, generation, topics, generation));
                Some(on_the_way.chain([last.clone()]).collect::<Vec<_>>())
            })
            .await;
        let settled = match settled {
            Ok(settled) => settled,
            Err(error) => return Err(error.context(self.ended())),
        };
        self.settled = settled.last().map_or(after, |last| last.generation);
        Ok(settled)
    }

    /// Which members came to an end that nobody asked for.
    fn ended(&mut self) -> String {
        let has_ended = |(name, running): (&Name, &mut Running)| {
            let ended = match running {
                Running::Here { task, .. } => task.is_finished(),
                Running::Elsewhere { process, .. } => !matches!(process.try_wait(), Ok(None)),
            };
            ended.then(|| name.clone())
        };
        let ended: Vec<Name> = self.members.iter_mut().filter_map(has_ended).collect();
        format!("of {} members, ended by themselves: {ended:?}", self.members.len())
    }

    /// As [`settle`](Self::settle), for members that keep processing while partitions change hands: what it gives is the
    /// last generation compared with the one settled before, over all steps between.
    ///
    /// # Errors
    ///
    /// As [`settle`](Self::settle).
    pub async fn settle_in_steps(&mut self) -> Result<Settled> {
        let (members, topics, after) = (self.members(), &self.topics, self.settled);
        let settled = self
            .history
            .wait("settled generation", PATIENCE, |record| {
                let generation =
                    record.common_generation(&members).filter(|generation| *generation > after)?;
                Settled::in_generation(record, generation, topics, after + 1)
            })
            .await?;
        self.settled = settled.generation;
        Ok(settled)
    }

    /// Ends all members and checks what must hold in any history.
    ///
    /// # Errors
    ///
    /// Each partition that had two owners in one generation, each message read by somebody who did not own it.
    pub async fn disband(mut self) -> Result<()> {
        for name in self.members() {
            match self.members[&name] {
                Running::Here { .. } => self.leave(&name).await?,
                Running::Elsewhere { .. } => self.kill(&name).await?,
            }
        }
        let record = self.history.record();
        let mut faults = judge::doubly_owned(&record);
        faults.extend(judge::read_without_owning(&record));
        if faults.is_empty() {
            return Ok(());
        }
        bail!("{}", faults.join("\n"))
    }

    fn reporter(&self, name: &str) -> member::Report {
        let history = Arc::clone(&self.history);
        let name = name.to_owned();
        Arc::new(move |seen| history.add(&name, seen))
    }

    fn member_config(&self, name: &str) -> ClientConfig {
        let mut config = self.config.clone();
        config.set("client.id", name);
        config
    }
}

/// The environment variable in which a member in a process of its own finds its configuration.
const CONFIG: &str = "KAFKA_STICKY_MEMBER";

/// What an executable does whose first argument is `member`: joins, reports on standard output, until it is killed.
///
/// # Errors
///
/// Where the configuration is not that of [`Group::spawn`], or the member comes to grief.
pub async fn member_process(topics: Vec<String>) -> Result<()> {
    let config = std::env::var(CONFIG)
        .with_context(|| format!("{CONFIG} is not set: a member is started by its group"))?;
    let config: BTreeMap<String, String> = serde_json::from_str(&config)?;
    let config: ClientConfig = config.into_iter().collect();
    let report: member::Report = Arc::new(|seen| {
        let Ok(line) = serde_json::to_string(&seen) else { return };
        // Lines are written whole. Who reads them may be gone, and then nobody needs this process.
        if writeln!(std::io::stdout(), "{line}").is_err() {
            std::process::exit(1);
        }
    });
    member::run(config, topics, report, std::future::pending()).await
}
