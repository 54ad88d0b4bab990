//! A group that lives a hard life for as long as one likes: 20 members share 200 partitions while members join, leave and
//! are killed and brokers fail, all at random from a seed, and a producer keeps writing.
//!
//! Judged by what the members saw: every message was read, no partition had two owners in one generation, each
//! generation that covers the group was as even as possible and moved as little as possible, and what the processes
//! take does not grow.

use std::io::Write as _;
use std::process::{self, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use fastrand::Rng;
use kafka_sticky_tests::cluster::Cluster;
use kafka_sticky_tests::group::{self, Group};
use kafka_sticky_tests::judge::{self, Settled};
use kafka_sticky_tests::writer::Writer;
use tokio::time::{sleep, timeout};

use resources::{Residents, taken};
use trouble::Trouble;

mod resources;
mod trouble;

const USAGE: &str = "\
Usage: cargo xtask soak [--minutes N] [--seed S] [--bootstrap-server HOST:PORT]

Runs a group through joins, leaves, kills and broker faults, on an embedded cluster or, without the faults, on the one
named. Ten minutes and a new seed unless told otherwise. On a cluster it creates topics named kafka-sticky-soak-*, and
removes them.";

/// 200 partitions. Members that do not subscribe to all subscribe to the first ones.
const TOPICS: [(&str, i32); 4] = [("a", 90), ("b", 60), ("c", 35), ("d", 15)];
const MOST_MEMBERS: usize = 20;
/// Members in processes of their own that live through all of it.
const RESIDENTS: [&str; 3] = ["resident-0", "resident-1", "resident-2"];
/// Between messages to one partition.
const PAUSE: Duration = Duration::from_millis(500);
/// How long trouble lasts at most once a member leaves.
const LONG: Duration = Duration::from_secs(3);
/// For the last messages to be read, and for the last threads to end.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("soak: {error:#}");
            // Members that are closed now wait for a cluster that is gone.
            process::exit(1)
        }
    }
}

async fn run() -> Result<bool> {
    use lexopt::prelude::*;

    let (mut minutes, mut seed, mut servers) = (10.0, fastrand::u64(..), None);
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Value(command) if command == "member" => {
                let topics = arguments.values()?.map(|topic| topic.string()).collect::<Result<_, _>>()?;
                group::member_process(topics).await?;
                return Ok(true);
            }
            Long("minutes") => minutes = arguments.value()?.parse()?,
            Long("seed") => seed = arguments.value()?.parse()?,
            Long("bootstrap-server") => servers = Some(arguments.value()?.string()?),
            Short('h') | Long("help") => {
                println!("{USAGE}");
                return Ok(true);
            }
            _ => bail!("{}\n\n{USAGE}", argument.unexpected()),
        }
    }
    let cluster = Cluster::open(servers, "soak")?;
    println!("{cluster}, {minutes} minutes, --seed {seed}");
    let soak = Soak::start(&cluster, Rng::with_seed(seed)).await?;
    let verdict = soak.live(&cluster, Duration::from_secs_f64(minutes * 60.0)).await;
    cluster.clean_up().await?;
    if !matches!(verdict, Ok(true)) {
        println!("the same again: --seed {seed}");
    }
    verdict
}

/// A group that is soaked.
struct Soak {
    random: Rng,
    /// Of the embedded cluster.
    coordinator: i32,
    group: Group,
    writer: Writer,
    topics: Vec<String>,
    started: Instant,
    /// What this process took before it had members.
    threads_before: u64,
    residents: Residents,
    born: usize,
    count: Count,
}

/// What it came to.
#[derive(Debug, Default)]
struct Count {
    joined: usize,
    left: usize,
    killed: usize,
    troubles: usize,
    settled: usize,
    moves: u64,
    least_moves: u64,
    /// Generations that were not optimal.
    poor: Vec<String>,
}

impl Soak {
    async fn start(cluster: &Cluster, random: Rng) -> Result<Self> {
        let executable = std::env::current_exe().context("finding this executable")?;
        let mut config = cluster.member_config();
        // Twenty members on two processors need time, and who comes back after its session may be taken for somebody else on
        // the mock cluster, whose member ids are addresses. An offset is committed only once its message was reported, so
        // that a killed member takes none with it.
        config
            .set("session.timeout.ms", "6000")
            .set("heartbeat.interval.ms", "300")
            // How soon a JoinGroup is given up that the mock cluster forgot, as it does once the session is over.
            .set("max.poll.interval.ms", "6000")
            // With each new bootstrap librdkafka gets threads that it keeps.
            .set("metadata.recovery.strategy", "none")
            .set("auto.commit.interval.ms", "200")
            .set("enable.auto.offset.store", "false");
        let mut group = Group::new(config, executable.to_str().context("its path is not UTF-8")?);
        let writer = Writer::start(cluster.bootstrap_servers(), PAUSE)?;
        let topics = writer.write_to_new(&TOPICS, cluster, &mut group).await?;
        let coordinator = 1;
        if let Some(embedded) = cluster.as_embedded() {
            Trouble::Moved { coordinator }.begin(embedded, cluster.group())?;
        }
        let (residents, count) = (Residents::default(), Count::default());
        let started = Instant::now();
        Ok(Self {
            random,
            coordinator,
            group,
            writer,
            topics,
            started,
            threads_before: 0,
            residents,
            born: 0,
            count,
        })
    }

    async fn live(mut self, cluster: &Cluster, time: Duration) -> Result<bool> {
        // The writer's connections are open once it has written everywhere.
        sleep(PAUSE * 2).await;
        self.threads_before = taken(process::id())?.all_threads();
        let everything: Vec<String> = self.topics.clone();
        for name in RESIDENTS {
            self.group.spawn(name, &everything.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        while self.group.members().len() < MOST_MEMBERS {
            self.join()?;
        }
        let mut happened = String::new();
        self.tell(&mut happened, "everybody joins");
        self.settle(&happened).await?;

        while self.started.elapsed() < time {
            let mut trouble = match cluster.as_embedded() {
                Some(_) if self.random.bool() => Some(Trouble::any(&mut self.random, self.coordinator)),
                _ => None,
            };
            let mut happened = String::new();
            if let (Some(trouble), Some(embedded)) = (trouble, cluster.as_embedded()) {
                trouble.begin(embedded, cluster.group())?;
                if let Trouble::Moved { coordinator } = trouble {
                    self.coordinator = coordinator;
                }
                self.count.troubles += 1;
                self.tell(&mut happened, &trouble.to_string());
            }
            // Some of it happens in the middle of the rebalance that the first of it started.
            for _ in 0..self.random.usize(1..=3) {
                let stirred = self.stir_despite(&mut trouble, cluster).await?;
                self.tell(&mut happened, &stirred);
                sleep(Duration::from_millis(self.random.u64(0..1_500))).await;
            }
            lift(&mut trouble, cluster)?;
            self.settle(&happened).await?;
        }
        self.conclude().await
    }

    /// Says what just happened at once: should the cluster end this process, it is the last that is known.
    fn tell(&self, happened: &mut String, what: &str) {
        if happened.is_empty() {
            print!("{:6.1} s  ", self.started.elapsed().as_secs_f64());
        }
        print!("{what}; ");
        // Whoever reads it may be gone; the verdict is in the exit code as well.
        let _ = std::io::stdout().flush();
        happened.push_str(what);
        happened.push_str("; ");
    }

    /// As [`stir`](Self::stir), lifting the trouble where that takes long: a member that leaves waits for its last commits,
    /// and so for its coordinator to be back.
    async fn stir_despite(&mut self, trouble: &mut Option<Trouble>, cluster: &Cluster) -> Result<String> {
        let stirring = self.stir();
        tokio::pin!(stirring);
        tokio::select! {
            stirred = &mut stirring => return stirred,
            () = sleep(LONG) => lift(trouble, cluster)?,
        }
        stirring.await
    }

    /// Somebody joins, leaves or is killed.
    async fn stir(&mut self) -> Result<String> {
        let members = self.group.members();
        let mortal: Vec<String> =
            members.into_iter().filter(|name| !RESIDENTS.contains(&name.as_str())).collect();
        let full = mortal.len() + RESIDENTS.len() >= MOST_MEMBERS;
        if !full && (mortal.len() < 4 || self.random.u8(0..100) < 55) {
            return self.join();
        }
        let name = &mortal[self.random.usize(0..mortal.len())];
        if self.group.is_here(name) {
            self.group.leave(name).await?;
            self.count.left += 1;
            Ok(format!("{name} leaves"))
        } else {
            self.group.kill(name).await?;
            self.count.killed += 1;
            Ok(format!("{name} is killed"))
        }
    }

    fn join(&mut self) -> Result<String> {
        let name = format!("m{}", self.born);
        self.born += 1;
        self.count.joined += 1;
        let all = self.topics.len();
        let subscribed = if self.random.u8(0..4) == 0 { self.random.usize(1..=all) } else { all };
        let topics: Vec<&str> = self.topics[..subscribed].iter().map(String::as_str).collect();
        let elsewhere = self.random.u8(0..3) == 0;
        if elsewhere {
            self.group.spawn(&name, &topics)?;
        } else {
            self.group.join(&name, &topics);
        }
        Ok(format!("{name} joins{}", if elsewhere { " elsewhere" } else { "" }))
    }

    /// Waits for the group to settle after what just happened, and takes stock.
    async fn settle(&mut self, happened: &str) -> Result<()> {
        let begun = Instant::now();
        let rebalances = self.group.settle().await.with_context(|| happened.to_owned())?;
        for settled in &rebalances {
            self.count.settled += 1;
            self.count.moves += settled.cost.moves;
            self.count.least_moves += settled.least.moves;
            if !settled.is_optimal() {
                self.count
                    .poor
                    .push(format!("after {happened}: generation {}\n{settled}", settled.generation));
            }
        }
        for name in RESIDENTS {
            let process = self.group.process_of(name).with_context(|| format!("{name} has ended"))?;
            self.residents.sample(name, taken(process)?);
        }
        let last: Option<&Settled> = rebalances.last();
        println!(
            "{:.1} s later {} members, generation {}, {} moved",
            begun.elapsed().as_secs_f64(),
            self.group.members().len(),
            last.map_or(-1, |last| last.generation),
            rebalances.iter().map(|settled| settled.cost.moves).sum::<u64>(),
        );
        Ok(())
    }

    /// Stops writing, waits for the last message to be read, and sums up.
    async fn conclude(self) -> Result<bool> {
        let Self { group, writer, started, threads_before, residents, count, .. } = self;
        let written = writer.stop().await?;
        let total: i64 = written.values().sum();
        let history = group.history().clone();
        let all_read = async {
            while judge::unread_and_repeated(&history.record(), &written).0 > 0 {
                sleep(PAUSE).await;
            }
        };
        // What is missing then is counted below.
        let _ = timeout(PATIENCE, all_read).await;
        let owners = group.disband().await;
        let record = history.record();
        let (unread, repeated) = judge::unread_and_repeated(&record, &written);
        let threads_after = threads_at_most(threads_before).await?;
        let (grown, lines) = residents.judged();

        let mut faults = count.poor;
        if unread > 0 {
            faults.push(format!("{unread} messages were not read"));
        }
        if let Err(doubly_owned) = owners {
            faults.push(doubly_owned.to_string());
        }
        faults.extend(grown.into_iter().map(|line| format!("grows: {line}")));
        if threads_after > threads_before {
            faults.push(format!(
                "{threads_before} threads before the first member, {threads_after} after the last"
            ));
        }
        println!(
            "\n{}: {:.0} s; {} joined, {} left, {} killed, {} broker faults; {} rebalances settled, {} partitions moved, \
             {} had to; {total} messages written, {unread} not read, {repeated} read again\n{}\nthis process: {} threads \
             before the first member, {threads_after} after the last; {} KiB",
            if faults.is_empty() { "GOOD" } else { "BAD" },
            started.elapsed().as_secs_f64(),
            count.joined,
            count.left,
            count.killed,
            count.troubles,
            count.settled,
            count.moves,
            count.least_moves,
            lines.join("\n"),
            threads_before,
            taken(process::id())?.kib,
        );
        faults.iter().for_each(|fault| println!("{fault}"));
        Ok(faults.is_empty())
    }
}

fn lift(trouble: &mut Option<Trouble>, cluster: &Cluster) -> Result<()> {
    if let (Some(trouble), Some(embedded)) = (trouble.take(), cluster.as_embedded()) {
        trouble.lift(embedded)?;
    }
    Ok(())
}

/// Waits for this process to have no more threads than this, and gives how many it has.
async fn threads_at_most(most: u64) -> Result<u64> {
    let ended = async {
        while taken(process::id())?.all_threads() > most {
            sleep(PAUSE).await;
        }
        Ok::<_, anyhow::Error>(())
    };
    // What is there then is counted.
    let _ = timeout(PATIENCE, ended).await;
    Ok(taken(process::id())?.all_threads())
}
