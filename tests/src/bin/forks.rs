//! A process that forks with a consumer in hand, and what each half of it is told. It prints nothing where all is as it
//! should be.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};
use fork::{Fork, WEXITSTATUS, WIFEXITED, fork, waitpid};
use kafka_sticky_rdkafka_adapter::mocking::GroupCluster;
use kafka_sticky_rdkafka_adapter::{Assignors, CreateConsumer, Error, Membership};
use rdkafka::consumer::{BaseConsumer, Consumer, DefaultConsumerContext};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("forks: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let cluster = GroupCluster::start(1)?;
    cluster.create_topic("orders", 3)?;
    let mut config = cluster.consumer_config("group");
    config.set("partition.assignment.strategy", "sticky");
    let mut consumer: BaseConsumer = config.create_consumer()?;
    let parent = std::process::id();
    match fork()? {
        Fork::Child => {
            let told = told_no(&mut consumer, parent);
            if let Err(error) = &told {
                eprintln!("forks, the child: {error:#}");
            }
            // Dropping the consumer would wait for threads that are not here.
            std::process::exit(i32::from(told.is_err()));
        }
        Fork::Parent(child) => {
            let status = waitpid(child)?;
            ensure!(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child was not told no");
        }
    }
    // The parent's consumer is none the worse for it.
    consumer.subscribe(&["orders"])?;
    let membership = Membership::of(&consumer).context("the parent's consumer is a member")?;
    while membership.assigned().is_none_or(|share| share.load() < 3) {
        let _ = consumer.poll(std::time::Duration::from_millis(50));
    }
    Ok(())
}

fn told_no(consumer: &mut BaseConsumer, parent: u32) -> Result<()> {
    ensure!(Membership::of(&*consumer).is_none(), "it is a member in the child");
    match Assignors::new().install::<DefaultConsumerContext, _>(consumer, "sticky") {
        Err(Error::Forked { created_in, here }) => {
            ensure!(
                created_in == parent && here == std::process::id(),
                "{created_in} and {here} are the wrong ids"
            );
            Ok(())
        }
        other => bail!("installing gave {other:?}"),
    }
}
