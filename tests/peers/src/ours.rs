//! Ours as a peer: a process of its own that is given groups and answers as the others do.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use kafka_sticky_protocol::Strategy;
use serde_json::json;

use crate::answers::Answers;
use crate::groups::{self, Group};
use crate::leader::Joined;
use crate::schedule::Schedule;

/// Assigns each group of a file. What is timed is from members' metadata bytes to names.
pub(crate) fn assign(groups: &Path, answers: &Path, schedule: Schedule, strategy: Strategy) -> Result<()> {
    let mut answers = Answers::create(answers)?;
    for group in groups::read(groups)? {
        assign_one(group, &mut answers, schedule, strategy)?;
    }
    Ok(())
}

fn assign_one(group: Group, answers: &mut Answers, schedule: Schedule, strategy: Strategy) -> Result<()> {
    let joined = Joined::of(&group, strategy)?;
    drop(group);
    println!("{}", json!({ "loaded": true }));

    let call = || joined.bytes_to_names().expect("it was assigned before");
    let start = Instant::now();
    joined.bytes_to_names()?;
    let first = start.elapsed();
    let peak = peak_kib()?;
    answers.append(&joined.shares()?)?;
    println!("{}", json!({ "first_ms": millis(first) }));
    let (times, cpu) = schedule.run(start, || {
        call();
    });
    let times: Vec<f64> = times.into_iter().map(millis).collect();
    println!("{}", json!({ "warm_ms": times, "cpu_ms": millis(cpu), "peak_kib": peak }));
    Ok(())
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// The most memory that this process had, in KiB.
fn peak_kib() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    Ok(peak.trim().trim_end_matches(" kB").parse()?)
}
