//! A group under test on a real cluster: its members, each in a process of its own, and what they saw.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write as _;
use std::mem;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::history::{History, Name, Record};
use crate::interop::client::{Client, Place};
use crate::interop::described::{Described, Doing, describe, doing};
use crate::interop::process::Process;
use crate::interop::scenario::Stage;
use crate::interop::verdict::{self, Settled};
use crate::judge;
use crate::seen::{Partition, Seen};
use crate::writer::Writer;

/// How long a group may take to settle before it counts as stuck: several session timeouts.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long a member may take to end.
const FAREWELL: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);
/// How long a member may be silent before the group goes on without it.
pub const SESSION_TIMEOUT: Duration = Duration::from_secs(6);
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);
const METADATA_MAX_AGE: Duration = Duration::from_secs(1);
const COMMIT_INTERVAL: Duration = Duration::from_millis(200);
/// How often a message is written to every partition.
const BEAT: Duration = Duration::from_millis(200);

/// Members that come and go, and what they saw.
#[derive(Debug)]
pub struct LiveGroup {
    stage: Rc<Stage>,
    id: String,
    strategies: Vec<String>,
    topics: BTreeMap<String, i32>,
    members: BTreeMap<Name, Live>,
    history: Arc<History>,
    settled: Option<Settled>,
    /// Whether what members had when the group settled last is nothing to go by.
    forgotten: bool,
    /// Whether a topic was ever deleted.
    has_deleted: bool,
    /// The instance ids of those that had one.
    instances: BTreeMap<Name, String>,
}

#[derive(Debug)]
struct Live {
    client: Client,
    /// What it was told to subscribe to.
    topics: BTreeSet<String>,
    rack: Option<String>,
    process: Process,
    /// Not the process's own, which is closed when somebody waits for it to end.
    commands: ChildStdin,
    reader: JoinHandle<()>,
    paused: bool,
}

impl LiveGroup {
    /// A group without members and topics. Members use these strategies unless they are told otherwise.
    pub fn new(stage: &Rc<Stage>, id: String, strategies: &[&str]) -> Self {
        Self {
            stage: Rc::clone(stage),
            id,
            strategies: strategies.iter().map(|name| (*name).to_owned()).collect(),
            topics: BTreeMap::new(),
            members: BTreeMap::new(),
            history: Arc::default(),
            settled: None,
            forgotten: false,
            has_deleted: false,
            instances: BTreeMap::new(),
        }
    }

    /// What the members saw.
    pub fn history(&self) -> &Arc<History> {
        &self.history
    }

    /// The racks of the members that have one.
    pub fn racks(&self) -> BTreeMap<Name, String> {
        let racks = self.members.iter().filter_map(|(name, live)| Some((name.clone(), live.rack.clone()?)));
        racks.collect()
    }

    /// What it settled on last.
    pub fn settled(&self) -> Option<&Settled> {
        self.settled.as_ref()
    }

    /// `group.id`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The topics that there are, by their full names, with how many partitions each has.
    pub fn topics(&self) -> &BTreeMap<String, i32> {
        &self.topics
    }

    /// The full name of a topic of this group.
    pub fn topic(&self, name: &str) -> String {
        format!("{}.{name}", self.id)
    }

    /// Creates a topic.
    ///
    /// # Errors
    ///
    /// What the broker says.
    pub async fn create_topic(&mut self, name: &str, partitions: i32) -> Result<()> {
        let topic = self.topic(name);
        self.stage.cluster.create_topic(&topic, partitions).await?;
        self.topics.insert(topic, partitions);
        Ok(())
    }

    /// Notes a topic that was created elsewhere, by its full name.
    pub fn expect_topic(&mut self, topic: String, partitions: i32) {
        self.topics.insert(topic, partitions);
    }

    /// Gives a topic more partitions.
    ///
    /// # Errors
    ///
    /// What the broker says.
    pub async fn grow_topic(&mut self, name: &str, partitions: i32) -> Result<()> {
        let topic = self.topic(name);
        self.stage.cluster.grow_topic(&topic, partitions).await?;
        self.topics.insert(topic, partitions);
        Ok(())
    }

    /// Deletes a topic.
    ///
    /// # Errors
    ///
    /// What the broker says.
    pub async fn delete_topic(&mut self, name: &str) -> Result<()> {
        let topic = self.topic(name);
        self.stage.cluster.delete_topic(&topic).await?;
        self.topics.remove(&topic);
        // Whether they claim partitions of another one of that name depends on when they notice: what they had before says
        // nothing of what they are to keep.
        self.forgotten = true;
        self.has_deleted = true;
        Ok(())
    }

    /// Writes to all topics that there are now, until it is told to stop.
    ///
    /// # Errors
    ///
    /// Where there can be no producer.
    pub fn fed(&self) -> Result<Writer> {
        let writer = Writer::start(self.stage.cluster.bootstrap_servers(), BEAT)?;
        self.topics.iter().for_each(|(topic, partitions)| writer.write_to(topic, *partitions));
        Ok(writer)
    }

    /// A member joins, and subscribes to all topics that there are.
    ///
    /// # Errors
    ///
    /// Where its process cannot be started.
    pub fn join(&mut self, name: &str, client: Client) -> Result<()> {
        self.join_as(name, client, |_| {})
    }

    /// A member joins, to these topics only.
    ///
    /// # Errors
    ///
    /// Where its process cannot be started.
    pub fn join_to(&mut self, name: &str, client: Client, topics: &[&str]) -> Result<()> {
        let topics = topics.iter().map(|topic| self.topic(topic)).collect();
        self.join_as(name, client, |place| place.topics = topics)
    }

    /// A member joins that is configured differently.
    ///
    /// # Errors
    ///
    /// Where its process cannot be started.
    pub fn join_as(&mut self, name: &str, client: Client, differ: impl FnOnce(&mut Place)) -> Result<()> {
        let millis = |duration: Duration| u32::try_from(duration.as_millis()).expect("seconds");
        let mut place = Place {
            bootstrap_servers: self.stage.cluster.bootstrap_servers(),
            group: self.id.clone(),
            name: name.to_owned(),
            topics: self.topics.keys().cloned().collect(),
            strategies: self.strategies.clone(),
            instance_id: None,
            rack: None,
            state_file: None,
            session_timeout_ms: millis(SESSION_TIMEOUT),
            heartbeat_interval_ms: millis(HEARTBEAT_INTERVAL),
            metadata_max_age_ms: millis(METADATA_MAX_AGE),
            commit_interval_ms: millis(COMMIT_INTERVAL),
        };
        differ(&mut place);
        ensure!(!self.members.contains_key(name), "{name} is a member already");
        let command = self.stage.programs.member(client, &place)?;
        let mut process = Process::start(command, &self.log(name, "log"))?;
        let output = process.child.stdout.take().context("its output is piped")?;
        let commands = process.child.stdin.take().context("its input is piped")?;
        let reader = self.listen(name, output)?;
        self.instances.extend(place.instance_id.map(|instance_id| (name.to_owned(), instance_id)));
        let topics = place.topics.into_iter().collect();
        let live = Live { client, topics, rack: place.rack, process, commands, reader, paused: false };
        self.members.insert(name.to_owned(), live);
        Ok(())
    }

    /// Where what a member writes is kept.
    fn log(&self, name: &str, ending: &str) -> PathBuf {
        self.stage.folder.join(format!("{}-{name}.{ending}", self.id))
    }

    /// Puts what a member says into the history, and all it says into a file.
    fn listen(&self, name: &str, output: ChildStdout) -> Result<JoinHandle<()>> {
        let mut copy = File::options().create(true).append(true).open(self.log(name, "seen"))?;
        let (history, name) = (Arc::clone(&self.history), name.to_owned());
        let start = self.stage.start;
        let mut lines = BufReader::new(output).lines();
        Ok(tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                // The copy is for people; a full disk shows elsewhere.
                let _ = writeln!(copy, "{:8.3} {line}", start.elapsed().as_secs_f64());
                let seen = serde_json::from_str(&line);
                history.add(&name, seen.unwrap_or_else(|error| Seen::Failed(format!("{error}: {line}"))));
            }
        }))
    }

    fn member(&mut self, name: &str) -> Result<&mut Live> {
        self.members.get_mut(name).with_context(|| format!("{name} is no member"))
    }

    /// A member leaves, properly.
    ///
    /// # Errors
    ///
    /// Where it does not, or comes to grief over it.
    pub async fn leave(&mut self, name: &str) -> Result<()> {
        self.member(name)?.tell_to_stop().await.with_context(|| format!("telling {name} to leave"))?;
        ensure!(self.ends(name).await?, "{name} did not end well");
        Ok(())
    }

    /// A member is killed (SIGKILL): it says nothing, the group must notice.
    ///
    /// # Errors
    ///
    /// Where there is no such member.
    pub async fn kill(&mut self, name: &str) -> Result<()> {
        let mut live = self.members.remove(name).with_context(|| format!("{name} is no member"))?;
        live.process.kill().await?;
        live.reader.await?;
        self.history.gone(name);
        Ok(())
    }

    /// A member stops in its tracks (SIGSTOP). The group is expected to go on without it.
    ///
    /// # Errors
    ///
    /// Where there is no such member.
    pub async fn pause(&mut self, name: &str) -> Result<()> {
        let member = self.member(name)?;
        member.paused = true;
        member.process.signal("STOP").await
    }

    /// A paused member goes on where it was (SIGCONT).
    ///
    /// # Errors
    ///
    /// Where there is no such member.
    pub async fn resume(&mut self, name: &str) -> Result<()> {
        let member = self.member(name)?;
        member.paused = false;
        member.process.signal("CONT").await
    }

    /// Waits until a member has ended, and gives whether it ended well.
    ///
    /// # Errors
    ///
    /// Where it does not end.
    pub async fn ends(&mut self, name: &str) -> Result<bool> {
        let mut live = self.members.remove(name).with_context(|| format!("{name} is no member"))?;
        let success = match timeout(FAREWELL, live.process.child.wait()).await {
            Ok(status) => status?.success(),
            Err(_) => {
                let stacks = self.log(name, "stacks");
                live.process.write_stacks(&stacks).await;
                ensure!(
                    self.has_deleted && live.client.is_librdkafka() && hangs_in_librdkafka(&stacks),
                    "{name} does not end"
                );
                eprintln!("{name} of {}: librdkafka does not come to the end of closing it", self.id);
                live.process.kill().await?;
                true
            }
        };
        live.reader.await?;
        self.history.gone(name);
        Ok(success)
    }

    /// Waits until all members are in one generation, later than the one settled last, and have all that they subscribe
    /// to; and judges it.
    ///
    /// # Errors
    ///
    /// When that takes longer than anybody would wait, or what was settled on is not as it should be.
    pub async fn settle(&mut self) -> Result<Settled> {
        let settled = self.settle_unjudged().await?;
        let record = self.history.record();
        let forgotten = mem::take(&mut self.forgotten);
        let before = self.settled.as_ref().filter(|_| !forgotten);
        settled.judge(&record, &self.topics, before)?;
        if !forgotten {
            self.stage.tally.borrow_mut().add(&settled, &self.topics);
        }
        self.settled = Some(settled.clone());
        Ok(settled)
    }

    /// Waits until somebody has read each of these messages, given by how many there are in each partition.
    ///
    /// # Errors
    ///
    /// When that takes longer than anybody would wait.
    pub async fn reads_all(&self, written: &BTreeMap<Partition, i64>) -> Result<()> {
        let all_read = |record: &Record| (judge::unread_and_repeated(record, written).0 == 0).then_some(());
        self.history.wait("end to what is read", PATIENCE, all_read).await
    }

    /// Waits until the coordinator says that the group is doing this, with these members in it besides others.
    ///
    /// # Errors
    ///
    /// When that takes longer than anybody would wait.
    pub async fn is_doing(&self, what: &str, names: &[&str]) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let doing = doing(&self.stage.cluster.admin, &self.id).await?;
            let fits =
                |doing: &Doing| doing.state == what && names.iter().all(|name| doing.members.contains(*name));
            if doing.as_ref().is_some_and(fits) {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "{} is not {what} with {names:?}: {doing:?}", self.id);
            sleep(PAUSE).await;
        }
    }

    /// As [`settle`](Self::settle), judged only by what must be so whatever the strategy and whoever leads.
    ///
    /// # Errors
    ///
    /// As [`settle`](Self::settle).
    pub async fn settle_whoever_leads(&mut self) -> Result<Settled> {
        let settled = self.settle_unjudged().await?;
        settled.judge_whoever_leads()?;
        self.settled = Some(settled.clone());
        Ok(settled)
    }

    /// As [`settle`](Self::settle), without judging.
    ///
    /// # Errors
    ///
    /// When that takes longer than anybody would wait.
    pub async fn settle_unjudged(&mut self) -> Result<Settled> {
        self.settle_in(|before, generation| match before {
            Some(before) if before >= generation => Err(format!("it is still in generation {generation}")),
            _ => Ok(()),
        })
        .await
    }

    /// Waits until all members have what they subscribe to, in the generation that was settled last: somebody came back
    /// without a rebalance.
    ///
    /// # Errors
    ///
    /// When that takes longer than anybody would wait, as it does where there is a rebalance.
    pub async fn settle_without_rebalance(&mut self) -> Result<Settled> {
        let same = |before: Option<i32>, generation| match before {
            Some(before) if before == generation => Ok(()),
            _ => Err(format!("it was in generation {before:?}, and is in {generation}")),
        };
        let settled = self.settle_in(same).await?;
        settled.judge_whoever_leads()?;
        self.settled = Some(settled.clone());
        Ok(settled)
    }

    /// Waits until all members are in one generation that `fits` the one settled last, and have all that they subscribe to.
    async fn settle_in(&mut self, fits: impl Fn(Option<i32>, i32) -> Result<(), String>) -> Result<Settled> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.all_alive()?;
            let described = describe(&self.stage.cluster.admin, &self.id).await?;
            let described = described.map(|described| described.as_reported(&self.history.record()));
            let settled = described.as_ref().map(|described| {
                let settled = self.settled_as(described)?;
                fits(self.settled.as_ref().map(|before| before.generation), settled.generation)?;
                Ok(settled)
            });
            let missing: String = match settled {
                None => "it rebalances".to_owned(),
                Some(Err(missing)) => missing,
                Some(Ok(settled)) => return Ok(settled),
            };
            if Instant::now() > deadline {
                let outline = self.history.record().outline();
                bail!("the group does not settle: {missing}; described as {described:?}; {outline}");
            }
            sleep(PAUSE).await;
        }
    }

    fn all_alive(&mut self) -> Result<()> {
        for (name, live) in &mut self.members {
            if let Some(status) = live.process.child.try_wait()? {
                let outline = self.history.record().outline();
                bail!("{name} ended with {status}; {outline}");
            }
        }
        Ok(())
    }

    /// What the group has settled on, if it has; else what is missing.
    fn settled_as(&self, described: &Described) -> Result<Settled, String> {
        let present: BTreeMap<Name, Client> = self
            .members
            .iter()
            .filter(|(_, live)| !live.paused)
            .map(|(name, live)| (name.clone(), live.client))
            .collect();
        let mut names: Vec<&Name> = described.members.iter().map(|member| &member.name).collect();
        names.sort_unstable();
        if !names.iter().copied().eq(present.keys()) {
            return Err(format!("its members are {names:?}"));
        }
        for member in &described.members {
            let topics = &self.members[&member.name].topics;
            // librdkafka names only those that it has found.
            let unnamed = topics
                .iter()
                .find(|topic| self.topics.contains_key(*topic) && !member.said.topics.contains(*topic));
            if let Some(topic) = unnamed {
                return Err(format!("{} has not found {topic}", member.name));
            }
        }
        let record = self.history.record();
        let settled = Settled::of(described, &present, &record, self.settled.as_ref())?;
        // The broker does not say which generation it describes. A static member may come back to the one that it was in.
        let again = settled.members.iter().find(|(name, member)| {
            member.claims.generation >= settled.generation && !self.instances.contains_key(*name)
        });
        if let Some((name, _)) = again {
            return Err(format!("{name} has joined again after generation {}", settled.generation));
        }
        let missing = verdict::uncovered(&settled, &self.topics);
        if !missing.is_empty() {
            return Err(format!("nobody has {missing:?}"));
        }
        Ok(settled)
    }

    /// Ends all members and checks what must hold in any history, and that every assignment that one of ours computed was
    /// the best.
    ///
    /// # Errors
    ///
    /// All that is not so.
    pub async fn end(mut self) -> Result<()> {
        // At once, so that they need not sit through each other's rebalances.
        for live in self.members.values_mut() {
            live.tell_to_stop().await?;
        }
        let names: Vec<Name> = self.members.keys().cloned().collect();
        for name in names {
            ensure!(self.ends(&name).await?, "{name} did not end well");
        }
        let record = self.history.record();
        // To the group, the processes of one instance are one member.
        let by_member = record.as_members(&self.instances);
        let mut faults = judge::doubly_owned(&by_member);
        faults.extend(judge::read_without_owning(&record));
        faults.extend(verdict::not_the_best(&record));
        if self.strategies == ["cooperative-sticky"] {
            faults.extend(verdict::taken_while_held(&by_member));
        }
        ensure!(faults.is_empty(), "{}", faults.join("\n"));
        Ok(())
    }

    /// The names of its members.
    pub fn names(&self) -> BTreeSet<Name> {
        self.members.keys().cloned().collect()
    }
}

impl Live {
    async fn tell_to_stop(&mut self) -> Result<()> {
        self.commands.write_all(b"stop\n").await?;
        Ok(self.commands.flush().await?)
    }
}

/// Whether a process, by the stacks of its threads, waits in librdkafka for a broker's thread to end: where a topic was deleted
/// shortly before, closing a client may do so for ever (confluentinc/librdkafka#4362). It has left its group by then.
fn hangs_in_librdkafka(stacks: &Path) -> bool {
    let stacks = fs::read_to_string(stacks).unwrap_or_default();
    stacks.contains("rd_kafka_destroy_internal") && stacks.contains("rd_kafka_broker_thread_main")
}

/// Makes a folder anew.
pub(crate) fn fresh(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(fs::create_dir_all(folder)?)
}
