//! One table, a line a cell.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use serde_json::json;

use crate::judge::Worth;
use crate::peer::{LIMIT, Peer, Round};

/// How a peer fared in a cell.
#[derive(Debug)]
pub(crate) enum Outcome {
    Done {
        timing: Timing,
        worth: Worth,
        follow_ups: usize,
    },
    /// It took more than a minute; its first call may have ended.
    Stopped {
        first_ms: Option<f64>,
    },
    NotTried(&'static str),
    /// It gave up or crashed.
    Failed(String),
    /// It did not do the work.
    Invalid(String),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) first_ms: f64,
    pub(crate) median_ms: f64,
    pub(crate) least_ms: f64,
    pub(crate) most_ms: f64,
    /// Of a call, all threads together.
    pub(crate) cpu_ms: f64,
    pub(crate) peak_kib: u64,
}

impl Timing {
    pub(crate) fn of(round: &Round) -> Result<Self> {
        let mut times = round.warm_ms.clone();
        times.sort_by(f64::total_cmp);
        let (Some(first_ms), Some(cpu_ms), Some(peak_kib), [least_ms, ..]) =
            (round.first_ms, round.cpu_ms, round.peak_kib, &times[..])
        else {
            anyhow::bail!("a peer finished without times: {round:?}");
        };
        ensure!(*least_ms > 0.0, "a peer took no time: {round:?}");
        Ok(Self {
            first_ms,
            median_ms: times[times.len() / 2],
            least_ms: *least_ms,
            most_ms: times[times.len() - 1],
            cpu_ms,
            peak_kib,
        })
    }
}

/// A peer beside ours.
pub(crate) struct Cell<'c> {
    pub(crate) case: &'c str,
    pub(crate) peer: Peer,
    /// How many times faster ours should be.
    pub(crate) goal: f64,
    pub(crate) ours: &'c Outcome,
    pub(crate) outcome: &'c Outcome,
}

pub(crate) struct Table {
    json: bool,
}

impl Table {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    pub(crate) fn head(&self) {
        if self.json {
            return;
        }
        println!(
            "{:<62} {:<23} {:>9} {:>9} {:>21} {:>9} {:>9} {:>6} {:>8} {:>16} {:>8} {:>6} {:>14}",
            "partitions x members",
            "",
            "first ms",
            "median",
            "least to most",
            "CPU",
            "ratio",
            "goal",
            "peak MiB",
            "sum of load^2",
            "moves",
            "racks",
            "sum of topic^2"
        );
    }

    pub(crate) fn ours(&self, case: &str, peer: Peer, outcome: &Outcome) {
        if !self.json {
            println!("{}", row(case, peer, outcome, String::new(), String::new()));
        }
    }

    pub(crate) fn peer(&self, cell: &Cell<'_>) {
        if self.json {
            println!("{}", cell.json());
            return;
        }
        let ratio = cell.ratio().map_or_else(String::new, |ratio| format!("{ratio:.1}"));
        let goal = format!("{}{:.0}", if cell.misses() == Some(true) { "!" } else { "" }, cell.goal);
        println!("{}", row(cell.case, cell.peer, cell.outcome, ratio, goal));
    }
}

fn row(case: &str, peer: Peer, outcome: &Outcome, ratio: String, goal: String) -> String {
    let mut row = format!("{case:<62} {peer:<23} ");
    let (timing, worth, follow_ups) = match outcome {
        Outcome::Done { timing, worth, follow_ups } => (timing, worth, *follow_ups),
        Outcome::Stopped { first_ms: None } => return row + &format!("stopped after {} s", LIMIT.as_secs()),
        Outcome::Stopped { first_ms: Some(first) } => {
            return row + &format!("{:>9} stopped after {} s", short(*first), LIMIT.as_secs());
        }
        Outcome::NotTried(why) => return row + why,
        Outcome::Failed(why) => return row + "failed: " + why,
        Outcome::Invalid(why) => return row + "INVALID: " + why,
    };
    let spread = format!("{} to {}", short(timing.least_ms), short(timing.most_ms));
    let _ = write!(
        row,
        "{:>9} {:>9} {spread:>21} {:>9} {ratio:>9} {goal:>6} {:>8} {:>16} {:>8} {:>6} {:>14}",
        short(timing.first_ms),
        short(timing.median_ms),
        short(timing.cpu_ms),
        timing.peak_kib / 1024,
        worth.sum_of_squares,
        worth.moves,
        worth.mismatches,
        worth.topic_sum_of_squares,
    );
    if follow_ups > 0 {
        let _ = write!(row, "  {follow_ups} follow-up");
    }
    row
}

/// Three digits that count.
fn short(ms: f64) -> String {
    match ms {
        0.0..10.0 => format!("{ms:.2}"),
        10.0..100.0 => format!("{ms:.1}"),
        _ => format!("{ms:.0}"),
    }
}

impl Cell<'_> {
    fn ratio(&self) -> Option<f64> {
        self.ratio_of(|timing| timing.median_ms)
    }

    fn ratio_of(&self, time: impl Fn(&Timing) -> f64) -> Option<f64> {
        match (self.outcome, self.ours) {
            (Outcome::Done { timing: theirs, .. }, Outcome::Done { timing: ours, .. }) => {
                Some(time(theirs) / time(ours))
            }
            _ => None,
        }
    }

    /// Whether the goal is missed, as far as is known.
    fn misses(&self) -> Option<bool> {
        match (self.outcome, self.ours) {
            (Outcome::Stopped { first_ms: None }, Outcome::Done { timing, .. }) => {
                Some(LIMIT.as_secs_f64() * 1e3 / timing.median_ms < self.goal)
            }
            _ => Some(self.ratio()? < self.goal),
        }
    }

    fn json(&self) -> serde_json::Value {
        let done = |outcome: &Outcome| match outcome {
            Outcome::Done { timing, worth, .. } => Some((*timing, *worth)),
            _ => None,
        };
        let (ours, theirs) = (done(self.ours), done(self.outcome));
        let first = match self.outcome {
            Outcome::Stopped { first_ms } => *first_ms,
            _ => theirs.map(|(timing, _)| timing.first_ms),
        };
        let said = match self.outcome {
            Outcome::Done { .. } => None,
            Outcome::Stopped { .. } => Some("stopped"),
            Outcome::NotTried(why) => Some(*why),
            Outcome::Failed(why) | Outcome::Invalid(why) => Some(why.as_str()),
        };
        json!({
            "peer": self.peer.to_string(),
            "case": self.case,
            "ours_ms": ours.map(|(timing, _)| timing.median_ms),
            "peer_ms": theirs.map(|(timing, _)| timing.median_ms),
            "ratio": self.ratio(),
            "ratio_of_least": self.ratio_of(|timing| timing.least_ms),
            "ratio_of_cpu": self.ratio_of(|timing| timing.cpu_ms),
            "goal": self.goal,
            "ours_moves": ours.map(|(_, worth)| worth.moves),
            "peer_moves": theirs.map(|(_, worth)| worth.moves),
            "ours_sum_of_squares": ours.map(|(_, worth)| worth.sum_of_squares),
            "peer_sum_of_squares": theirs.map(|(_, worth)| worth.sum_of_squares),
            "ours_topic_sum_of_squares": ours.map(|(_, worth)| worth.topic_sum_of_squares),
            "peer_topic_sum_of_squares": theirs.map(|(_, worth)| worth.topic_sum_of_squares),
            "ours_rack_mismatches": ours.map(|(_, worth)| worth.mismatches),
            "peer_rack_mismatches": theirs.map(|(_, worth)| worth.mismatches),
            "ours_first_ms": ours.map(|(timing, _)| timing.first_ms),
            "peer_first_ms": first,
            "ours_spread_ms": ours.map(|(timing, _)| [timing.least_ms, timing.most_ms]),
            "peer_spread_ms": theirs.map(|(timing, _)| [timing.least_ms, timing.most_ms]),
            "ours_cpu_ms": ours.map(|(timing, _)| timing.cpu_ms),
            "peer_cpu_ms": theirs.map(|(timing, _)| timing.cpu_ms),
            "ours_peak_kib": ours.map(|(timing, _)| timing.peak_kib),
            "peer_peak_kib": theirs.map(|(timing, _)| timing.peak_kib),
            "peer_said": said,
        })
    }
}
