//! Random groups with histories through ours and through other clients: ours is never less balanced than any, and never
//! moves more at the same balance.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use anyhow::{Result, bail, ensure};

use crate::groups::{self, Group};
use crate::histories;
use crate::judge::{self, Worth};
use crate::options::Options;
use crate::peer::{End, Ours, Peer, Programs};
use crate::schedule::Schedule;

/// Those that answer with the target itself.
const PEERS: [Peer; 4] = [Peer::JavaSticky, Peer::FranzGo, Peer::KafkaPython, Peer::Sarama];

/// What takes milliseconds should not take longer on a busy machine.
const LIMIT: Duration = Duration::from_secs(10);

/// # Errors
/// Where ours is worse in any group, and all such groups are named; or does not assign one.
pub(crate) fn run(options: &Options) -> Result<()> {
    let programs = &options.programs;
    let groups = histories::groups(options.groups)?;
    // Kept for whoever wants to see a group that is spoken of.
    groups::write(&programs.folder.join("histories"), &groups)?;
    let ours = answers(programs, Peer::Ours(Ours::Sticky), &groups)?;
    let mut faults = Vec::new();
    for peer in PEERS {
        let theirs = answers(programs, peer, &groups)?;
        let mut tally = Tally::default();
        for (at, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            let Found::Worth(ours) = ours else { bail!("ours, group {at}: {ours:?}") };
            let Found::Worth(theirs) = theirs else {
                tally.fail(at, theirs);
                continue;
            };
            tally.count(ours, theirs);
            if ours.objectives() > theirs.objectives() {
                faults.push(format!("group {at}: ours {ours:?}, {peer}'s {theirs:?}"));
            }
        }
        println!("{peer}: {tally}");
    }
    ensure!(faults.is_empty(), "ours is worse:\n{}", faults.join("\n"));
    Ok(())
}

/// What came of a group.
#[derive(Debug)]
enum Found {
    Worth(Worth),
    /// Not every partition has one member that subscribes to it, or something that is no partition has one.
    Invalid(String),
    GaveUp(String),
    /// It was stopped: small as the groups are, it would never have ended.
    NoEnd,
    Died(String),
}

/// What each answer is worth. A peer that fails at a group is started again for those after it.
fn answers(programs: &Programs, peer: Peer, groups: &[Group]) -> Result<Vec<Found>> {
    let path = programs.folder.join("histories-left");
    let mut found = Vec::new();
    while found.len() < groups.len() {
        let left = &groups[found.len()..];
        groups::write(&path, left)?;
        let run = programs.run(peer, &path, left.len(), Schedule::ONCE, LIMIT)?;
        for ((group, answer), round) in left.iter().zip(run.answers).zip(run.rounds) {
            found.push(match answer {
                Some(shares) => judge::worth(group, &shares)
                    .map_or_else(|error| Found::Invalid(format!("{error:#}")), Found::Worth),
                None => Found::GaveUp(round.error.unwrap_or_default()),
            });
        }
        match run.end {
            End::Finished => {}
            End::Stopped => found.push(Found::NoEnd),
            End::Died(status) => found.push(Found::Died(status)),
        }
    }
    Ok(found)
}

/// By how much a peer was worse, and how often.
#[derive(Default)]
struct Tally {
    groups: usize,
    /// The groups that it did not assign, and why.
    without: BTreeMap<&'static str, (usize, String)>,
    /// By how much Σ load² was larger.
    less_balanced: BTreeMap<u64, usize>,
    /// By how many partitions it moved more, where the balance was the same.
    more_moves: BTreeMap<u64, usize>,
    moves: u64,
    our_moves: u64,
}

impl Tally {
    fn fail(&mut self, at: usize, found: &Found) {
        let (what, why) = match found {
            Found::Worth(_) => return,
            Found::Invalid(why) => ("not valid", why.as_str()),
            Found::GaveUp(why) => ("gave up", why.as_str()),
            Found::NoEnd => ("no end", "no answer in time"),
            Found::Died(status) => ("died", status.as_str()),
        };
        self.without.entry(what).or_insert_with(|| (0, format!("group {at}: {why}"))).0 += 1;
    }

    fn count(&mut self, ours: &Worth, theirs: &Worth) {
        self.groups += 1;
        if theirs.sum_of_squares > ours.sum_of_squares {
            *self.less_balanced.entry(theirs.sum_of_squares - ours.sum_of_squares).or_default() += 1;
            return;
        }
        self.moves += theirs.moves;
        self.our_moves += ours.moves;
        if theirs.moves > ours.moves {
            *self.more_moves.entry(theirs.moves - ours.moves).or_default() += 1;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |by: &BTreeMap<u64, usize>| by.values().sum::<usize>();
        write!(f, "of {} groups, less balanced in {}", self.groups, sum(&self.less_balanced))?;
        listed(f, "sum of load^2 larger by", &self.less_balanced)?;
        write!(f, "; of the others, more moves in {}", sum(&self.more_moves))?;
        listed(f, "more by", &self.more_moves)?;
        write!(f, ", {} in all where ours moved {}", self.moves, self.our_moves)?;
        for (what, (groups, first)) in &self.without {
            write!(f, "; {what} in {groups}, first in {first}")?;
        }
        Ok(())
    }
}

fn listed(f: &mut fmt::Formatter<'_>, what: &str, by: &BTreeMap<u64, usize>) -> fmt::Result {
    if by.is_empty() {
        return Ok(());
    }
    let each: Vec<String> = by.iter().map(|(by, groups)| format!("{by}: {groups}")).collect();
    write!(f, " ({what} {})", each.join(", "))
}
