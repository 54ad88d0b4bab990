//! What processes take: threads and resident memory, as Linux counts them.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context as _, Result};
use kafka_sticky_tests::history::Name;

/// What one process takes at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    /// Other than those to brokers.
    pub(crate) threads: u64,
    /// librdkafka's, one for each broker that it knows or knew: it keeps some of brokers that went down and came back, in
    /// clients without this project's assignors as well.
    pub(crate) broker_threads: u64,
    pub(crate) kib: u64,
}

impl Taken {
    pub(crate) fn all_threads(self) -> u64 {
        self.threads + self.broker_threads
    }
}

/// What process `id` takes now.
pub(crate) fn taken(id: u32) -> Result<Taken> {
    let path = format!("/proc/{id}/status");
    let status = fs::read_to_string(&path)
        .with_context(|| format!("{path}: only Linux tells what a process takes"))?;
    let number = |field: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        number.with_context(|| format!("{path} has no {field}"))
    };
    let (mut threads, mut broker_threads) = (0, 0);
    for thread in fs::read_dir(format!("/proc/{id}/task"))? {
        // It may have ended meanwhile.
        let Ok(name) = fs::read_to_string(thread?.path().join("comm")) else { continue };
        *(if name.starts_with("rdk:broker") { &mut broker_threads } else { &mut threads }) += 1;
    }
    Ok(Taken { threads, broker_threads, kib: number("VmRSS")? })
}

/// Samples of processes that live through all of it.
#[derive(Debug, Default)]
pub(crate) struct Residents {
    samples: BTreeMap<Name, Vec<Taken>>,
}

impl Residents {
    /// How much more memory the last quarter may take than the second. The allocator keeps what a peak took.
    const SLACK_KIB: u64 = 2 << 10;

    pub(crate) fn sample(&mut self, name: &str, taken: Taken) {
        self.samples.entry(name.to_owned()).or_default().push(taken);
    }

    /// Those whose memory or threads grew, and how all of them went.
    pub(crate) fn judged(&self) -> (Vec<String>, Vec<String>) {
        let (mut grown, mut lines) = (Vec::new(), Vec::new());
        for (name, samples) in &self.samples {
            let (before, after) = (quarter(samples, 1), quarter(samples, 3));
            let line = format!(
                "{name}: {} then {} KiB, {} then {} threads, {} then {} more to brokers",
                before.kib,
                after.kib,
                before.threads,
                after.threads,
                before.broker_threads,
                after.broker_threads
            );
            if after.kib > before.kib + Self::SLACK_KIB || after.threads > before.threads {
                grown.push(line.clone());
            }
            lines.push(line);
        }
        (grown, lines)
    }
}

/// The medians of a quarter of the samples, counted from 0.
fn quarter(samples: &[Taken], number: usize) -> Taken {
    let part = &samples[samples.len() * number / 4..(samples.len() * (number + 1)).div_ceil(4)];
    let median = |of: fn(&Taken) -> u64| {
        let mut all: Vec<u64> = part.iter().map(of).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or_default()
    };
    Taken {
        threads: median(|taken| taken.threads),
        broker_threads: median(|taken| taken.broker_threads),
        kib: median(|taken| taken.kib),
    }
}
