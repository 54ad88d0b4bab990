//! Groups of several clients on a real Kafka. Run by `cargo xtask interop`, which fetches and builds what it takes.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

use anyhow::{Context as _, Result, bail};
use kafka_sticky_tests::interop::client::Programs;
use kafka_sticky_tests::interop::cluster::Cluster;
use kafka_sticky_tests::interop::member;
use kafka_sticky_tests::interop::scenario::{Brokers, Scenario, Stage};
use kafka_sticky_tests::interop::scenarios;
use kafka_sticky_tests::interop::verdict::Tally;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::{JoinSet, LocalSet};

const USAGE: &str = "\
Usage: cargo xtask interop [--list] [--keep] [--kept] [SCENARIO ...]

Runs groups of this project's members and of the other clients' on a real Kafka: all scenarios, or those whose name
begins with one of those given.

  --list   the scenarios there are
  --keep   leaves the broker standing at the end, until interrupted
  --kept   prints how much the members kept, by who led";

/// How many scenarios share the broker at a time: their members mostly wait.
const SIDE_BY_SIDE: usize = 3;

// The one thread lasts as long as the process, so that what it starts is ended with it and not before.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut interrupt = signal(SignalKind::interrupt()).expect("signals can be listened to");
    let mut terminate = signal(SignalKind::terminate()).expect("signals can be listened to");
    let local = LocalSet::new();
    let result = tokio::select! {
        result = local.run_until(run()) => result,
        // What runs is dropped, and ends all that it started.
        _ = interrupt.recv() => Err(anyhow::anyhow!("interrupted")),
        _ = terminate.recv() => Err(anyhow::anyhow!("told to end")),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("interop: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[derive(Default)]
struct Wanted {
    names: Vec<String>,
    list: bool,
    keep: bool,
    kept: bool,
}

async fn run() -> Result<bool> {
    use lexopt::prelude::*;

    let mut wanted = Wanted::default();
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Value(command) if command == "member" && wanted.names.is_empty() => {
                let (client, place) = (arguments.value()?.string()?, arguments.value()?.string()?);
                member::run(&client, &place).await?;
                return Ok(true);
            }
            Value(name) => wanted.names.push(name.string()?),
            Long("list") => wanted.list = true,
            Long("keep") => wanted.keep = true,
            Long("kept") => wanted.kept = true,
            Short('h') | Long("help") => {
                println!("{USAGE}");
                return Ok(true);
            }
            _ => bail!("{}\n\n{USAGE}", argument.unexpected()),
        }
    }
    let chosen = chosen(&wanted.names)?;
    if wanted.list {
        chosen.iter().for_each(|scenario| println!("{}", scenario.name));
        return Ok(true);
    }
    perform(chosen, &wanted).await
}

fn chosen(names: &[String]) -> Result<Vec<Scenario>> {
    let mut scenarios = scenarios::all();
    for name in names {
        if !scenarios.iter().any(|scenario| scenario.name.starts_with(name)) {
            bail!("no scenario's name begins with {name}: --list gives them");
        }
    }
    if !names.is_empty() {
        scenarios.retain(|scenario| names.iter().any(|name| scenario.name.starts_with(name)));
    }
    Ok(scenarios)
}

/// What all scenarios have in common.
struct Run {
    programs: Programs,
    folder: PathBuf,
    tally: Rc<RefCell<Tally>>,
    passed: usize,
    failed: usize,
}

async fn perform(chosen: Vec<Scenario>, wanted: &Wanted) -> Result<bool> {
    let folder = env::var_os("KAFKA_STICKY_INTEROP_FOLDER").context("run this by `cargo xtask interop`")?;
    let mut run = Run {
        programs: Programs::from_env()?,
        folder: folder.into(),
        tally: Rc::default(),
        passed: 0,
        failed: 0,
    };
    let (shared, own): (Vec<_>, Vec<_>) =
        chosen.into_iter().partition(|scenario| scenario.brokers == Brokers::Shared);
    let mut standing = Vec::new();
    if !shared.is_empty() {
        let folder = run.folder.join("shared");
        let cluster = Rc::new(start(&run.programs, &folder, &[None]).await?);
        run.side_by_side(shared.into(), &cluster).await?;
        standing.push((cluster, folder));
    }
    for scenario in own {
        let Brokers::Own(racks) = scenario.brokers.clone() else { continue };
        let folder = run.folder.join(format!("{}-brokers", scenario.name));
        let cluster = Rc::new(start(&run.programs, &folder, &racks).await?);
        let stage = run.stage(&scenario.name, &cluster)?;
        run.over(Over::of(scenario, stage).await, &folder);
        if wanted.keep {
            standing.push((cluster, folder));
        }
    }
    if wanted.kept {
        print!("{}", run.tally.borrow());
    }
    println!("{} passed, {} failed", run.passed, run.failed);
    if wanted.keep {
        for (cluster, folder) in &standing {
            println!("standing: {}, in {}", cluster.bootstrap_servers(), folder.display());
        }
        std::future::pending::<()>().await;
    }
    Ok(run.failed == 0)
}

async fn start(programs: &Programs, folder: &Path, racks: &[Option<&str>]) -> Result<Cluster> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    Cluster::start(programs, folder, racks).await
}

/// A scenario that has been run.
struct Over {
    name: String,
    result: Result<f64>,
    folder: PathBuf,
}

impl Over {
    async fn of(scenario: Scenario, stage: Stage) -> Self {
        let (name, folder) = (scenario.name.clone(), stage.folder.clone());
        Self { name, result: scenario.run(stage).await, folder }
    }
}

impl Run {
    fn stage(&self, name: &str, cluster: &Rc<Cluster>) -> Result<Stage> {
        Stage::new(name, cluster, &self.programs, &self.folder, &self.tally)
    }

    /// Runs scenarios on one broker, a few at a time.
    async fn side_by_side(&mut self, mut waiting: VecDeque<Scenario>, cluster: &Rc<Cluster>) -> Result<()> {
        let brokers = self.folder.join("shared");
        let mut running = JoinSet::new();
        loop {
            while running.len() < SIDE_BY_SIDE
                && let Some(scenario) = waiting.pop_front()
            {
                let stage = self.stage(&scenario.name, cluster)?;
                running.spawn_local(Over::of(scenario, stage));
            }
            match running.join_next().await {
                Some(over) => self.over(over?, &brokers),
                None => return Ok(()),
            }
        }
    }

    /// Says what came of a scenario, and where to look where it failed.
    fn over(&mut self, over: Over, brokers: &Path) {
        let Over { name, result, folder } = over;
        match result {
            Ok(seconds) => {
                self.passed += 1;
                println!("ok     {seconds:6.1} s  {name}");
                // What nobody needs any more; a file that stays is no harm.
                let _ = std::fs::remove_dir_all(folder);
            }
            Err(error) => {
                self.failed += 1;
                println!("FAILED           {name}: {error:#}");
                println!("                 members: {}", folder.display());
                println!("                 brokers: {}", brokers.display());
            }
        }
        // Somebody may be watching.
        let _ = std::io::stdout().flush();
    }
}
