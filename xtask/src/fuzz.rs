//! `cargo xtask fuzz`: every target under libFuzzer, with what was executed printed at the end.
//!
//! Stable Rust instruments for coverage by itself (`-Cpasses`), so this needs a C++ compiler for libFuzzer and no more.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use xshell::{Shell, cmd};

use crate::cargo;

/// Targets by name, with the longest input that each is worth trying.
const TARGETS: [(&str, u32); 7] = [
    ("subscription", 120),
    ("assignment", 120),
    ("sticky-user-data", 120),
    ("member-claims", 120),
    ("saved-state", 120),
    ("group", 1_000),
    ("history", 600),
];

/// What is checked in, by target: inputs that reach all that is known to be reachable.
const CORPUS: &str = "tests/fuzz/corpus";

/// What `cargo fuzz` instruments with, less the sanitizers.
const INSTRUMENTED: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table";

struct Arguments {
    /// How long each target runs.
    minutes: f64,
    /// How many inputs each target runs, in place of that.
    runs: Option<u64>,
    /// Whether to add what was found to what is checked in, after the run.
    keep: bool,
    targets: Vec<(&'static str, u32)>,
}

impl Arguments {
    fn parse(arguments: &[OsString]) -> Result<Self> {
        let mut parsed = Self { minutes: 5.0, runs: None, keep: false, targets: Vec::new() };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let argument = argument.to_str().context("an argument is not UTF-8")?;
            let mut value =
                || rest.next().and_then(|value| value.to_str()).with_context(|| format!("{argument} what?"));
            match argument {
                "--minutes" => parsed.minutes = value()?.parse().context("--minutes takes a number")?,
                "--runs" => parsed.runs = Some(value()?.parse().context("--runs takes a number")?),
                "--keep" => parsed.keep = true,
                name => match TARGETS.into_iter().find(|(target, _)| *target == name) {
                    Some(target) => parsed.targets.push(target),
                    None => bail!(
                        "there is no target {name}; there are {}",
                        TARGETS.map(|(name, _)| name).join(", ")
                    ),
                },
            }
        }
        if parsed.targets.is_empty() {
            parsed.targets = TARGETS.to_vec();
        }
        Ok(parsed)
    }
}

/// What a target came to.
struct Fuzzed {
    target: &'static str,
    executions: u64,
    took: Duration,
}

pub(crate) fn run(shell: &Shell, arguments: &[OsString]) -> Result<()> {
    let arguments = Arguments::parse(arguments)?;
    let executables = build(shell)?;
    let mut fuzzed = Vec::new();
    for &(target, longest) in &arguments.targets {
        let folders = Folders::of(shell, target)?;
        let executable = executables.join(format!("fuzz-{target}"));
        fuzzed.push(fuzz(&executable, target, longest, &folders, &arguments)?);
        if arguments.keep {
            folders.keep(shell, &executable)?;
        }
    }
    println!("{:>16}  {:>13}  {:>9}  {:>7}", "target", "executions", "a second", "seconds");
    for Fuzzed { target, executions, took } in &fuzzed {
        let (seconds, each) = (took.as_secs_f64(), *executions as f64 / took.as_secs_f64());
        println!("{target:>16}  {executions:>13}  {each:>9.0}  {seconds:>7.1}");
    }
    Ok(())
}

/// Builds all targets, and gives the folder of their executables.
fn build(shell: &Shell) -> Result<PathBuf> {
    let host = cargo::host(shell)?;
    cmd!(
        shell,
        "cargo build --quiet --package kafka-sticky-fuzz --features libfuzzer --profile fuzz --target {host}"
    )
    .env("RUSTFLAGS", INSTRUMENTED)
    .quiet()
    .run()?;
    Ok(cargo::target_folder(shell)?.join(host).join("fuzz"))
}

/// Where inputs are.
struct Folders {
    /// Checked in.
    kept: PathBuf,
    /// What this machine found.
    found: PathBuf,
    /// What broke something.
    broke: PathBuf,
}

impl Folders {
    fn of(shell: &Shell, target: &str) -> Result<Self> {
        let ours = cargo::target_folder(shell)?.join("fuzzing").join(target);
        let kept = shell.current_dir().join(CORPUS).join(target);
        let folders = Self { kept, found: ours.join("found"), broke: ours.join("broke") };
        for folder in [&folders.kept, &folders.found, &folders.broke] {
            shell.create_dir(folder)?;
        }
        Ok(folders)
    }

    /// Makes what is checked in the fewest inputs that reach all that either folder reaches.
    fn keep(&self, shell: &Shell, executable: &Path) -> Result<()> {
        let Self { kept, found, .. } = self;
        let fresh = shell.create_temp_dir()?;
        let folder = fresh.path();
        cmd!(shell, "{executable} -set_cover_merge=1 -use_counters=0 {folder} {kept} {found}")
            .quiet()
            .ignore_stderr()
            .run()?;
        shell.remove_path(kept)?;
        shell.create_dir(kept)?;
        for input in shell.read_dir(folder)? {
            let name = input.file_name().context("a file has a name")?;
            shell.copy_file(&input, kept.join(name))?;
        }
        Ok(())
    }
}

fn fuzz(
    executable: &Path,
    target: &'static str,
    longest: u32,
    folders: &Folders,
    arguments: &Arguments,
) -> Result<Fuzzed> {
    let bound = match arguments.runs {
        Some(runs) => format!("-runs={runs}"),
        None => format!("-max_total_time={:.0}", (arguments.minutes * 60.0).max(1.0)),
    };
    eprintln!("── {target}: {bound}");
    let started = Instant::now();
    let mut fuzzer = Command::new(executable)
        .arg(bound)
        .args([
            &format!("-max_len={longest}"),
            "-timeout=20",
            "-rss_limit_mb=2048",
            "-print_final_stats=1",
            "-reload=0",
        ])
        .arg(format!("-artifact_prefix={}/", folders.broke.display()))
        // What is new goes into the first folder.
        .args([&folders.found, &folders.kept])
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {}", executable.display()))?;
    let output = BufReader::new(fuzzer.stderr.take().context("its output is piped")?);
    let (mut executions, mut said) = (None, Vec::new());
    for line in output.lines().map_while(Result::ok) {
        if let Some(units) = line.strip_prefix("stat::number_of_executed_units:") {
            executions = Some(units.trim().parse().context("the number of executed units")?);
        }
        // One line for each new input would be thousands.
        if !line.contains("NEW  ") && !line.contains("REDUCE") {
            said.push(line);
        }
    }
    if !fuzzer.wait()?.success() {
        said.iter().for_each(|line| eprintln!("{line}"));
        bail!(
            "{target}: an input broke it; it is in {}. Once it is understood, give it a name in tests/fuzz/broke/{target}",
            folders.broke.display()
        );
    }
    let executions = executions.context("the fuzzer did not say how many inputs it ran")?;
    Ok(Fuzzed { target, executions, took: started.elapsed() })
}
