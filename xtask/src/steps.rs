//! Several checks in a row, each timed.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// Runs each step, says what it took, and stops at the first that fails.
pub(crate) fn run(steps: &[(&str, &dyn Fn() -> Result<()>)]) -> Result<()> {
    let mut taken: Vec<(&str, Duration)> = Vec::new();
    for (name, step) in steps {
        eprintln!("── {name}");
        let start = Instant::now();
        step().with_context(|| (*name).to_owned())?;
        taken.push((name, start.elapsed()));
    }
    for (name, duration) in taken {
        eprintln!("{:7.1} s  {name}", duration.as_secs_f64());
    }
    Ok(())
}
