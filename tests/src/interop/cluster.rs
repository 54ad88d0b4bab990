//! Brokers: Apache Kafka in combined mode, each a process, all on loopback.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewPartitions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::types::RDKafkaErrorCode;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use crate::interop::client::Programs;
use crate::interop::process::Process;

/// How long brokers may take until they answer.
const PATIENCE: Duration = Duration::from_secs(180);
const REQUEST: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(100);
/// In which brokers keep groups: a group's is given by Java's hash of its name.
const OFFSETS_PARTITIONS: u32 = 4;

/// The brokers of one cluster.
pub struct Cluster {
    brokers: Vec<Broker>,
    /// To create topics with, and to ask about groups.
    pub admin: Arc<AdminClient<DefaultClientContext>>,
    /// Topics that may be on their way out.
    deleted: RefCell<BTreeSet<String>>,
}

/// One broker. What it writes stays in its folder.
#[derive(Debug)]
struct Broker {
    folder: PathBuf,
    port: u16,
    programs: Programs,
    process: RefCell<Option<Process>>,
}

impl Cluster {
    /// Starts one broker for each of `racks`, and waits until all are there. They keep what they have in `folder`.
    ///
    /// # Errors
    ///
    /// Where a broker does not start.
    pub async fn start(programs: &Programs, folder: &Path, racks: &[Option<&str>]) -> Result<Self> {
        let ports = free_ports(2 * racks.len())?;
        let (ports, controllers) = ports.split_at(racks.len());
        let mut brokers = Vec::new();
        for (index, rack) in racks.iter().enumerate() {
            let folder = folder.join(format!("broker-{}", index + 1));
            fs::create_dir_all(&folder)?;
            let settings = settings(&folder, index, ports, controllers, *rack);
            let lines: Vec<String> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
            fs::write(folder.join("server.properties"), lines.join("\n"))?;
            brokers.push(Broker {
                folder,
                port: ports[index],
                programs: programs.clone(),
                process: RefCell::default(),
            });
        }
        for broker in &brokers {
            broker.format().await?;
        }
        for broker in &brokers {
            broker.start()?;
        }
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", bootstrap_servers(&brokers));
        // Brokers come and go here on purpose.
        config.set("reconnect.backoff.max.ms", "500").set("log_level", "2");
        let cluster = Self { brokers, admin: Arc::new(config.create()?), deleted: RefCell::default() };
        cluster.ready().await?;
        Ok(cluster)
    }

    /// `bootstrap.servers`.
    pub fn bootstrap_servers(&self) -> String {
        bootstrap_servers(&self.brokers)
    }

    /// Kills a broker, numbered from 1, in the middle of whatever it does.
    ///
    /// # Errors
    ///
    /// Where it is not running.
    pub async fn kill(&self, number: usize) -> Result<()> {
        let process = self.brokers[number - 1].process.take();
        process.context("it is not running")?.kill().await
    }

    /// Stops a broker, numbered from 1, as an operator would.
    ///
    /// # Errors
    ///
    /// Where it is not running.
    pub async fn stop(&self, number: usize) -> Result<()> {
        let mut process = self.brokers[number - 1].process.take().context("it is not running")?;
        process.signal("TERM").await?;
        process.child.wait().await?;
        Ok(())
    }

    /// The number of the broker that coordinates a group: the leader of the partition that keeps the group.
    ///
    /// # Errors
    ///
    /// While it is not known, as before any group has a member.
    pub async fn coordinator(&self, group: &str) -> Result<usize> {
        let hash = group.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31) + i32::from(unit));
        let kept_in = hash.unsigned_abs() % OFFSETS_PARTITIONS;
        let admin = Arc::clone(&self.admin);
        let ask = move || admin.inner().fetch_metadata(Some("__consumer_offsets"), REQUEST);
        let metadata = spawn_blocking(ask).await??;
        let mut partitions = metadata.topics().iter().flat_map(|topic| topic.partitions());
        let partition = partitions.find(|partition| i64::from(partition.id()) == i64::from(kept_in));
        let leader = partition.context("no broker coordinates yet")?.leader();
        usize::try_from(leader).with_context(|| format!("nobody coordinates {group}"))
    }

    /// Starts a broker again that was killed or stopped, and waits until all are there.
    ///
    /// # Errors
    ///
    /// Where it does not start.
    pub async fn start_again(&self, number: usize) -> Result<()> {
        self.brokers[number - 1].start()?;
        self.ready().await
    }

    /// Waits until every broker that runs is known to the others.
    async fn ready(&self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let running = self.brokers.iter().filter(|broker| broker.process.borrow().is_some()).count();
        loop {
            for broker in &self.brokers {
                if let Some(process) = &mut *broker.process.borrow_mut()
                    && let Some(status) = process.child.try_wait()?
                {
                    bail!("the broker ended with {status}; see {}", broker.log().display());
                }
            }
            let admin = Arc::clone(&self.admin);
            let metadata =
                spawn_blocking(move || admin.inner().fetch_metadata(None, Duration::from_secs(1))).await?;
            if metadata.is_ok_and(|metadata| metadata.brokers().len() == running) {
                return Ok(());
            }
            ensure!(
                Instant::now() < deadline,
                "the brokers do not answer; see {}",
                self.brokers[0].log().display()
            );
            sleep(PAUSE).await;
        }
    }

    /// Creates a topic, each partition on one broker.
    ///
    /// # Errors
    ///
    /// What the broker says.
    pub async fn create_topic(&self, name: &str, partitions: i32) -> Result<()> {
        self.create_topic_on(name, partitions, TopicReplication::Fixed(1)).await
    }

    /// Creates a topic, and says where its replicas are. A topic of that name may be on its way out still.
    ///
    /// # Errors
    ///
    /// What the broker says.
    pub async fn create_topic_on(
        &self,
        name: &str,
        partitions: i32,
        replication: TopicReplication<'_>,
    ) -> Result<()> {
        let topic = NewTopic::new(name, partitions, replication);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let results = self.admin.create_topics([&topic], &options()).await?;
            match only(results)? {
                Ok(_) => return Ok(()),
                // librdkafka repeats a request that was not answered in time, and the first was carried out.
                Err((_, RDKafkaErrorCode::TopicAlreadyExists)) if !self.deleted.borrow().contains(name) => {
                    return Ok(());
                }
                Err((_, RDKafkaErrorCode::TopicAlreadyExists)) if Instant::now() < deadline => {
                    sleep(PAUSE).await;
                }
                Err((_, code)) => bail!("creating {name}: {code}"),
            }
        }
    }

    /// Gives a topic more partitions.
    ///
    /// # Errors
    ///
    /// What the broker says.
    pub async fn grow_topic(&self, name: &str, partitions: i32) -> Result<()> {
        let more = NewPartitions::new(name, usize::try_from(partitions)?);
        let results = self.admin.create_partitions([&more], &options()).await?;
        only(results)?.map(drop).map_err(|(_, code)| anyhow::anyhow!("growing {name}: {code}"))
    }

    /// Deletes a topic.
    ///
    /// # Errors
    ///
    /// What the broker says.
    pub async fn delete_topic(&self, name: &str) -> Result<()> {
        self.deleted.borrow_mut().insert(name.to_owned());
        let results = self.admin.delete_topics(&[name], &options()).await?;
        only(results)?.map(drop).map_err(|(_, code)| anyhow::anyhow!("deleting {name}: {code}"))
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").field("brokers", &self.brokers).finish_non_exhaustive()
    }
}

impl Broker {
    fn log(&self) -> PathBuf {
        self.folder.join("broker.log")
    }

    fn settings(&self) -> PathBuf {
        self.folder.join("server.properties")
    }

    async fn format(&self) -> Result<()> {
        let mut command = self.programs.java(&["-XX:TieredStopAtLevel=1"]);
        // The same for all brokers of a cluster: 16 bytes in base64 for URLs. They meet by their ports alone.
        command.args(["kafka.tools.StorageTool", "format", "-t", "a2Fma2Etc3RpY2t5LXRlcw", "-c"]);
        let output = command.arg(self.settings()).stdin(Stdio::null()).output().await?;
        ensure!(output.status.success(), "formatting: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    fn start(&self) -> Result<()> {
        let mut command = self.programs.java(&["-Xmx512m"]);
        command.arg("kafka.Kafka").arg(self.settings());
        self.process.replace(Some(Process::start(command, &self.log())?));
        Ok(())
    }
}

/// `server.properties` of the broker of this index.
fn settings(
    folder: &Path,
    index: usize,
    ports: &[u16],
    controllers: &[u16],
    rack: Option<&str>,
) -> BTreeMap<&'static str, String> {
    let voters = controllers.iter().zip(1..).map(|(port, id)| format!("{id}@127.0.0.1:{port}"));
    let (port, controller) = (ports[index], controllers[index]);
    // With several brokers one may die: what they must not forget is on all of them.
    let copies = ports.len().to_string();
    let mut settings = BTreeMap::from([
        ("process.roles", "broker,controller".to_owned()),
        ("node.id", (index + 1).to_string()),
        ("controller.quorum.voters", voters.collect::<Vec<_>>().join(",")),
        ("listeners", format!("PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}")),
        ("advertised.listeners", format!("PLAINTEXT://127.0.0.1:{port}")),
        ("controller.listener.names", "CONTROLLER".to_owned()),
        ("listener.security.protocol.map", "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT".to_owned()),
        ("log.dirs", folder.join("data").display().to_string()),
        ("offsets.topic.replication.factor", copies.clone()),
        ("offsets.topic.num.partitions", OFFSETS_PARTITIONS.to_string()),
        ("transaction.state.log.replication.factor", copies),
        ("transaction.state.log.min.isr", "1".to_owned()),
        ("auto.create.topics.enable", "false".to_owned()),
        ("group.initial.rebalance.delay.ms", "0".to_owned()),
        ("group.min.session.timeout.ms", "1000".to_owned()),
    ]);
    if let Some(rack) = rack {
        settings.insert("broker.rack", rack.to_owned());
    }
    settings
}

fn bootstrap_servers(brokers: &[Broker]) -> String {
    let servers = brokers.iter().map(|broker| format!("127.0.0.1:{}", broker.port));
    servers.collect::<Vec<_>>().join(",")
}

fn options() -> AdminOptions {
    AdminOptions::new().operation_timeout(Some(REQUEST)).request_timeout(Some(REQUEST))
}

fn only<T>(results: Vec<T>) -> Result<T> {
    results.into_iter().next().context("the broker answered nothing")
}

/// Ports that nobody listens on, each handed out once: a broker that is down comes back to its own. They are below those
/// that the kernel gives to outgoing connections (from 32,768 on): a client that keeps trying to reach a broker that is down
/// could else come to sit on its port.
fn free_ports(count: usize) -> Result<Vec<u16>> {
    static TRIED: AtomicU16 = AtomicU16::new(0);
    const FIRST: u16 = 15_000;
    const COUNT: u16 = 17_000;
    // Another run at the same time starts elsewhere.
    let start = std::process::id() as u16 % COUNT;
    let candidates = std::iter::from_fn(|| {
        let tried = TRIED.fetch_add(1, Ordering::Relaxed);
        (tried < COUNT).then(|| FIRST + (start + tried) % COUNT)
    });
    let free: Vec<u16> =
        candidates.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).take(count).collect();
    ensure!(free.len() == count, "not enough free ports");
    Ok(free)
}
