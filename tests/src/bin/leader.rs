//! How long a leader takes: one consumer of ours leads thousands of raw members on an embedded cluster.
//!
//! `cargo run --release -p kafka-sticky-tests --bin leader` prints a table, and with a scenario's name its part of it:
//! `hundred-topics`, `all-topics`, `one-topic`. Each takes some two session timeouts, which is what the mock cluster waits
//! for members. Everything runs in this process, so its cores are shared by the leader, the cluster and the members; while the leader
//! works the others wait for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_rdkafka_adapter::{
    Assigned, Assignor, AssignorError, Assignors, CooperativeSticky, Joining, Plan, RebalanceProtocol,
    Report, Round, Sticky,
};
use kafka_sticky_tests::manners::{Cooperative, Honest, Topics};
use kafka_sticky_tests::ours::Ours;
use kafka_sticky_tests::raw::{Manner, RawMember, Seat, Stay, Word};
use kafka_sticky_tests::said::{Listed, Said, sticky};
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

const GROUP: &str = "group";
/// Rare, so that heartbeats do not keep the cores busy.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(300);

#[tokio::main]
async fn main() -> Result<()> {
    let only = std::env::args().nth(1);
    let wanted = |scenario: &&Scenario| only.as_ref().is_none_or(|only| only == scenario.name);
    println!(
        "{:<66} {:>9} {:>10} {:>10} {:>10} {:>10} {:>10}  assignment",
        "", "metadata", "before us", "ours", "of it core", "after us", "standstill"
    );
    let scenarios = [
        Scenario {
            name: "hundred-topics",
            strategy: "sticky",
            outline: "2,000 members × 100 of 1,000 topics × 10",
            members: 2000,
            topics: thousand_topics(),
            subscribed: 100,
            session_timeout: Duration::from_secs(30),
        },
        Scenario {
            name: "all-topics",
            strategy: "sticky",
            outline: "2,000 members × 1,000 topics × 10",
            members: 2000,
            topics: thousand_topics(),
            subscribed: 1000,
            session_timeout: Duration::from_secs(120),
        },
        Scenario {
            name: "one-topic",
            strategy: "cooperative-sticky",
            outline: "450 members, one topic × 3,000",
            members: 450,
            topics: vec![("events".to_owned(), 3000)],
            subscribed: 1,
            session_timeout: Duration::from_secs(10),
        },
    ];
    for scenario in scenarios.iter().filter(wanted) {
        measure(scenario).await?;
    }
    Ok(())
}

/// Of ten partitions each.
fn thousand_topics() -> Vec<(String, i32)> {
    (0..1000).map(|topic| (format!("topic-{topic:04}"), 10)).collect()
}

struct Scenario {
    name: &'static str,
    strategy: &'static str,
    outline: &'static str,
    /// How many members there are, ours included.
    members: usize,
    topics: Vec<(String, i32)>,
    /// To how many of the topics each member subscribes.
    subscribed: usize,
    /// The mock cluster waits a second less for all members to join.
    session_timeout: Duration,
}

impl Scenario {
    /// The topics of the member of this number: evenly spaced, from a different one on for each member.
    fn subscription(&self, member: usize) -> Topics {
        let step = self.topics.len() / self.subscribed;
        // Multiplied by a prime, so that neighbours in number have little in common.
        let chosen = (0..self.subscribed)
            .map(|index| (member * 397 + index * step + index % step) % self.topics.len());
        let chosen: BTreeSet<usize> = chosen.collect();
        let topics = chosen.into_iter().map(|index| &*self.topics[index].0.clone().leak());
        // They are needed until the process ends.
        topics.collect::<Vec<_>>().leak()
    }

    fn manner(&self, member: usize) -> Box<dyn Manner> {
        let topics = self.subscription(member);
        match self.strategy {
            "sticky" => Box::new(Honest(topics)),
            _ => Box::new(Cooperative::new(topics)),
        }
    }
}

async fn measure(scenario: &Scenario) -> Result<()> {
    let cluster = GroupCluster::start(1)?;
    create_topics(&cluster, &scenario.topics)?;
    let seat = Seat {
        coordinator: cluster.bootstrap_servers(),
        group: GROUP.to_owned(),
        strategy: scenario.strategy.to_owned(),
        session_timeout: scenario.session_timeout,
        heartbeat_interval: HEARTBEAT_INTERVAL,
        instance_id: None,
    };
    // Keeps the group alive until ours and all others wait in JoinGroup, and leaves then: they all start with nothing.
    let (joins, mut joined) = watch::channel(0);
    let opener_seat = Seat { heartbeat_interval: Duration::from_millis(50), ..seat.clone() };
    let mut opener = RawMember::join(opener_seat, Opener { topics: scenario.subscription(0), joins });
    // Were ours in its first generation, the opener would have no reason to join again.
    opener.assigned().await?;

    let calls = Arc::new(Mutex::new(BTreeMap::new()));
    let ours = lead(&cluster, scenario, &calls)?;
    // Ours is waiting when the opener is told to join again.
    joined.wait_for(|joins| *joins >= 2).await?;
    let mut others = Vec::new();
    let measured = rows(&cluster, scenario, seat, opener, &ours, &mut others, &calls).await;
    // Leaving one by one would take as many rebalances.
    others.into_iter().for_each(RawMember::vanish);
    // While the cluster is there: closing a consumer waits for it.
    ours.leave().await?;
    measured
}

/// From many threads: the mock cluster looks for topics to create some times a second only, and then takes all.
fn create_topics(cluster: &GroupCluster, topics: &[(String, i32)]) -> Result<()> {
    thread::scope(|scope| {
        let create = |topics: &[(String, i32)]| {
            topics.iter().try_for_each(|(topic, partitions)| cluster.create_topic(topic, *partitions))
        };
        let creating: Vec<_> = topics.chunks(10).map(|chunk| scope.spawn(move || create(chunk))).collect();
        creating.into_iter().try_for_each(|creating| creating.join().expect("creating topics panicked"))
    })?;
    Ok(())
}

/// The opener has let everybody in.
async fn rows(
    cluster: &GroupCluster,
    scenario: &Scenario,
    seat: Seat,
    opener: RawMember,
    ours: &Ours,
    others: &mut Vec<RawMember>,
    calls: &Calls,
) -> Result<()> {
    for member in 1..scenario.members {
        others.push(RawMember::join(seat.clone(), scenario.manner(member)));
        // The mock cluster's queue of connections that are not accepted yet is short.
        if member % 5 == 0 {
            sleep(Duration::from_millis(10)).await;
        }
    }
    opener.leave().await?;

    let mut row = Row { metadata: metadata(cluster)?, settled: 0, calls };
    row.print(&format!("{}: {}, fresh", scenario.strategy, scenario.outline), ours, others).await?;
    others.push(RawMember::join(seat, scenario.manner(scenario.members)));
    row.print("  one more joins", ours, others).await?;
    if scenario.strategy == "cooperative-sticky" {
        row.print("  and the rebalance that follows", ours, others).await?;
    }
    Ok(())
}

/// Our consumer, whose strategy notes when it is called.
fn lead(cluster: &GroupCluster, scenario: &Scenario, calls: &Calls) -> Result<Ours> {
    let mut config = cluster.consumer_config(GROUP);
    config
        .set("partition.assignment.strategy", scenario.strategy)
        .set("session.timeout.ms", scenario.session_timeout.as_millis().to_string())
        .set("heartbeat.interval.ms", "1000")
        .set("topic.metadata.refresh.interval.ms", "300000");
    let calls = Arc::clone(calls);
    let assignors = match scenario.strategy {
        "sticky" => Assignors::new().with(Timed { assignor: Sticky::new(), calls }),
        _ => Assignors::new().with(Timed { assignor: CooperativeSticky::new(), calls }),
    };
    Ours::join(&config, &assignors, scenario.subscription(0))
}

/// How long a client waits for the metadata of all topics, which a leader asks for before each assignment; the shortest
/// of three.
fn metadata(cluster: &GroupCluster) -> Result<Duration> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", cluster.bootstrap_servers())
        .set("group.id", "onlooker")
        .create()?;
    let mut shortest = Duration::MAX;
    for _ in 0..3 {
        let asked = Instant::now();
        consumer.fetch_metadata(None, Duration::from_secs(30))?;
        shortest = shortest.min(asked.elapsed());
    }
    Ok(shortest)
}

/// Leads a group of its own until it is told to leave.
struct Opener {
    topics: Topics,
    joins: watch::Sender<usize>,
}

impl Manner for Opener {
    fn word(&mut self, _: &[Stay]) -> Word {
        self.joins.send_modify(|joins| *joins += 1);
        Word { subscription: Said::to(3, self.topics).bytes(), claims: None }
    }

    fn lead(&mut self, members: &[(String, Bytes)]) -> Option<Vec<(String, Vec<u8>)>> {
        // Version 0, no topics, null user data.
        let nothing = [&[0, 0], &sticky(&Listed::new(), None)[..], &[0xff; 4]].concat();
        Some(members.iter().map(|(id, _)| (id.clone(), nothing.clone())).collect())
    }
}

/// From when to when `assign` ran, by generation.
type Calls = Arc<Mutex<BTreeMap<i32, (Instant, Instant)>>>;

/// An assignor that notes when it is asked to assign, and otherwise is what it wraps.
struct Timed<A> {
    assignor: A,
    calls: Calls,
}

impl<A: Assignor> Assignor for Timed<A> {
    fn name(&self) -> &str {
        self.assignor.name()
    }

    fn rebalance_protocol(&self) -> RebalanceProtocol {
        self.assignor.rebalance_protocol()
    }

    fn user_data(&self, joining: &Joining<'_>) -> Result<Option<Vec<u8>>, AssignorError> {
        self.assignor.user_data(joining)
    }

    fn assign(&self, round: &Round<'_>) -> Result<Plan, AssignorError> {
        let called = Instant::now();
        let plan = self.assignor.assign(round);
        self.calls.lock().expect("a measurement panicked").insert(round.generation, (called, Instant::now()));
        plan
    }

    fn assigned(&self, assigned: &Assigned) {
        self.assignor.assigned(assigned);
    }
}

struct Row<'r> {
    metadata: Duration,
    settled: i32,
    calls: &'r Calls,
}

impl Row<'_> {
    /// Waits for the next generation that all are in, and says what it took.
    async fn print(&mut self, what: &str, ours: &Ours, others: &[RawMember]) -> Result<()> {
        let (assigned, stays) = self.settle(ours, others).await?;
        let generation = assigned.generation;
        self.settled = generation;
        let led = assigned.led.as_ref().context("another leads")?;
        let calls = self.calls.lock().expect("a measurement panicked");
        let (called, returned) = *calls.get(&generation).context("its assignor was not called")?;
        let answered = stays.iter().map(|stay| stay.joined).min().context("no members")?;
        let synced = || stays.iter().filter_map(|stay| stay.synced);
        let (first, last) = (synced().min().context("no members")?, synced().max().context("no members")?);
        // Ours begins before the assignor is called, by reading what the members sent.
        let around = led.took.saturating_sub(returned - called);
        let Report { members, partitions, moved, proven, .. } = led.report.context("core did not assign")?;
        println!(
            "{what:<66} {:>9} {:>10} {:>10} {:>10} {:>10} {:>10}  {partitions} partitions to {members} members, \
             {moved} moved, {}",
            millis(self.metadata),
            millis((called - answered).saturating_sub(around)),
            millis(led.took),
            millis(returned - called),
            millis(first - returned),
            millis(last - answered),
            if proven.balance && proven.moves { "proven" } else { "not proven" },
        );
        Ok(())
    }

    async fn settle(&self, ours: &Ours, others: &[RawMember]) -> Result<(Arc<Assigned>, Vec<Stay>)> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(settled) = self.settled_now(ours, others) {
                return Ok(settled);
            }
            let ended = others.iter().filter(|member| member.has_ended()).count();
            ensure!(ended == 0, "{ended} members came to grief");
            ensure!(Instant::now() < deadline, "no generation after {} that all are in", self.settled);
            sleep(Duration::from_millis(200)).await;
        }
    }

    fn settled_now(&self, ours: &Ours, others: &[RawMember]) -> Option<(Arc<Assigned>, Vec<Stay>)> {
        let assigned = ours.assignments().into_iter().rfind(|assigned| assigned.generation > self.settled)?;
        let stay = |member: &RawMember| {
            let past = member.past();
            past.into_iter().rfind(|stay| stay.generation == assigned.generation && stay.assignment.is_some())
        };
        let stays = others.iter().map(stay).collect::<Option<Vec<Stay>>>()?;
        Some((assigned, stays))
    }
}

fn millis(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1e3)
}
