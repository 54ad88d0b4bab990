//! A leader's whole work, from members' bytes to their assignments' bytes, beside the least that any leader must do: read
//! and write those bytes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use cpu_time::ThreadTime;
use kafka_sticky_protocol::Strategy;
use serde_json::json;

use crate::cells::{self, Scope};
use crate::leader::Joined;
use crate::options::Options;
use crate::shapes::{Shape, Subscriptions};

/// Prints a line for each case: the least CPU time of each part, taken in turns.
pub(crate) fn run(options: &Options) -> Result<()> {
    if !options.json {
        println!(
            "{:<62} {:>9} {:>9} {:>9} {:>9} {:>6} {:>5}",
            "the whole work of a leader, CPU ms", "read", "floor", "to names", "to bytes", "ratio", "goal"
        );
    }
    for (shape, steps) in cells::shapes(options.scope) {
        for (step, group) in steps.iter().zip(shape.groups(steps)?) {
            let case = format!("{shape}, {step}");
            if !options.wants(&case) {
                continue;
            }
            let times = measure(&Joined::of(&group, Strategy::Sticky)?, options.scope)?;
            print(&case, &times, goal(&shape), options.json);
        }
    }
    Ok(())
}

/// How many times the floor the whole work may take.
fn goal(shape: &Shape) -> f64 {
    if shape.subscriptions == Subscriptions::Identical { 2.0 } else { 5.0 }
}

#[derive(Debug, Clone, Copy)]
struct Times {
    read: Duration,
    floor: Duration,
    names: Duration,
    bytes: Duration,
}

fn measure(joined: &Joined, scope: Scope) -> Result<Times> {
    let subscriptions = joined.read()?;
    let claims = joined.claims(&subscriptions);
    let assignment = joined.assign(&subscriptions, &claims)?;
    let shares: Vec<Vec<(&str, &[i32])>> =
        assignment.members().map(|share| share.assigned().collect()).collect();
    ensure!(joined.floor(&shares)? == joined.bytes_to_bytes()?, "the floor writes something else");

    let mut least =
        Times { read: Duration::MAX, floor: Duration::MAX, names: Duration::MAX, bytes: Duration::MAX };
    let patience = if scope == Scope::Test { Duration::from_millis(20) } else { Duration::from_secs(2) };
    let start = Instant::now();
    let mut turns = 0;
    while turns < 3 || start.elapsed() < patience {
        time(&mut least.read, || joined.walk());
        time(&mut least.floor, || joined.floor(&shares));
        time(&mut least.names, || joined.bytes_to_names());
        time(&mut least.bytes, || joined.bytes_to_bytes());
        turns += 1;
    }
    Ok(least)
}

fn time(least: &mut Duration, call: impl FnOnce() -> Result<usize>) {
    let start = ThreadTime::now();
    black_box(call().expect("it worked before"));
    *least = start.elapsed().min(*least);
}

fn print(case: &str, times: &Times, goal: f64, json: bool) {
    let millis = |duration: Duration| duration.as_secs_f64() * 1e3;
    let ratio = times.bytes.as_secs_f64() / times.floor.as_secs_f64();
    if json {
        let line = json!({
            "case": case,
            "read_ms": millis(times.read),
            "floor_ms": millis(times.floor),
            "bytes_to_names_ms": millis(times.names),
            "bytes_to_bytes_ms": millis(times.bytes),
            "ratio": ratio,
            "goal": goal,
        });
        return println!("{line}");
    }
    let missed = if ratio > goal { "!" } else { "" };
    let [read, floor, names, bytes] = [times.read, times.floor, times.names, times.bytes].map(millis);
    println!(
        "{case:<62} {read:>9.2} {floor:>9.2} {names:>9.2} {bytes:>9.2} {ratio:>6.1} {:>5}",
        format!("{missed}{goal:.0}")
    );
}
