//! The main job, end to end: a group of consumers that assigns itself with `sticky` while messages flow.
//!
//! Members come, leave, are killed; a topic is created. After each rebalance every member's kept, gained and lost
//! partitions are printed, and the least number of moves that was possible. Exits non-zero where a message was not
//! read, a partition had two owners in one generation, or more moved than had to.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use kafka_sticky_tests::cluster::Cluster;
use kafka_sticky_tests::group::{self, Group};
use kafka_sticky_tests::judge;
use kafka_sticky_tests::writer::Writer;

const NAME: &str = "demo";
/// Between messages to one partition.
const PAUSE: Duration = Duration::from_millis(20);

const USAGE: &str = "\
Usage: cargo xtask demo [--bootstrap-server HOST:PORT]

Runs a group of consumers that assigns itself with `sticky`, on an embedded cluster or on the one named.
On a cluster it creates topics named kafka-sticky-demo-*, and removes them.";

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("demo: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<bool> {
    use lexopt::prelude::*;

    let mut bootstrap_servers = None;
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Value(command) if command == "member" => {
                let topics = arguments.values()?.map(|topic| topic.string()).collect::<Result<_, _>>()?;
                group::member_process(topics).await?;
                return Ok(true);
            }
            Long("bootstrap-server") => bootstrap_servers = Some(arguments.value()?.string()?),
            Short('h') | Long("help") => {
                println!("{USAGE}");
                return Ok(true);
            }
            _ => bail!("{}\n\n{USAGE}", argument.unexpected()),
        }
    }
    let cluster = Cluster::open(bootstrap_servers, NAME)?;
    let verdict = Demo::start(&cluster).await?.play(&cluster).await;
    cluster.clean_up().await?;
    verdict
}

/// A group being shown.
struct Demo {
    group: Group,
    writer: Writer,
    started: Instant,
    moves: u64,
    least_moves: u64,
    all_optimal: bool,
}

impl Demo {
    async fn start(cluster: &Cluster) -> Result<Self> {
        let executable = std::env::current_exe().context("finding this executable")?;
        let mut group =
            Group::new(cluster.member_config(), executable.to_str().context("its path is not UTF-8")?);
        let writer = Writer::start(cluster.bootstrap_servers(), PAUSE)?;
        writer.write_to_new(&[("orders", 12), ("payments", 7)], cluster, &mut group).await?;
        println!("{cluster}: topics orders (12 partitions) and payments (7), a producer that keeps writing");
        Ok(Self { group, writer, started: Instant::now(), moves: 0, least_moves: 0, all_optimal: true })
    }

    async fn play(mut self, cluster: &Cluster) -> Result<bool> {
        let pattern = cluster.pattern();
        let subscription = [pattern.as_str()];

        for name in ["ann", "bob", "cleo"] {
            self.group.join(name, &subscription);
        }
        self.show("ann, bob and cleo join").await?;

        self.group.leave("bob").await?;
        self.show("bob leaves").await?;

        self.group.join("dan", &subscription);
        self.show("dan joins").await?;

        self.group.spawn("eve", &subscription)?;
        self.show("eve joins, in a process of its own").await?;

        self.group.kill("eve").await?;
        self.show("eve is killed (SIGKILL)").await?;

        self.writer.write_to_new(&[("refunds", 5)], cluster, &mut self.group).await?;
        self.show("topic refunds is created (5 partitions), and matches the pattern subscribed to").await?;

        if cluster.can_grow() {
            let topic = cluster.grow_topic("payments", 11).await?;
            self.group.expect_topic(&topic, 11);
            self.writer.write_to(&topic, 11);
            self.show("topic payments grows to 11 partitions").await?;
        }
        self.conclude().await
    }

    /// Waits for the group to settle after what just happened, and prints what each rebalance on the way cost.
    async fn show(&mut self, happened: &str) -> Result<()> {
        let rebalances = self.group.settle().await.with_context(|| happened.to_owned())?;
        println!("\n{:5.1} s  {happened}", self.started.elapsed().as_secs_f64());
        for settled in &rebalances {
            println!("  generation {}\n{settled}", settled.generation);
            self.moves += settled.cost.moves;
            self.least_moves += settled.least.moves;
            self.all_optimal &= settled.is_optimal();
        }
        Ok(())
    }

    /// Stops writing, waits for the last message to be read, and sums up.
    async fn conclude(self) -> Result<bool> {
        let Self { group, writer, started, moves, least_moves, all_optimal } = self;
        let written = writer.stop().await?;
        let total: i64 = written.values().sum();
        let history = group.history().clone();
        // What is missing then is counted below.
        let _ = history
            .wait("end of the messages", Duration::from_secs(20), |record| {
                (judge::unread_and_repeated(record, &written).0 == 0).then_some(())
            })
            .await;
        let owners = group.disband().await;
        let record = history.record();
        let (unread, repeated) = judge::unread_and_repeated(&record, &written);
        let generations: BTreeSet<i32> =
            record.assignments.values().flatten().map(|assigned| assigned.generation).collect();

        let fine = unread == 0 && owners.is_ok() && all_optimal;
        println!(
            "\n{}: {} of {total} messages read ({repeated} again after a rebalance); {} in {} \
             generations; {moves} partitions moved, {least_moves} had to; every split {} even as possible; {:.1} s",
            if fine { "GOOD" } else { "BAD" },
            total - unread as i64,
            if owners.is_ok() { "no partition with two owners" } else { "PARTITIONS WITH TWO OWNERS" },
            generations.len(),
            if all_optimal { "as" } else { "NOT as" },
            started.elapsed().as_secs_f64(),
        );
        if let Err(faults) = owners {
            println!("{faults}");
        }
        Ok(fine)
    }
}
