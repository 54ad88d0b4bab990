//! Ours beside each peer, cell by cell.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::answers::Answer;
use crate::cells::{self, Scope};
use crate::groups::{self, Group, Share};
use crate::judge::{self, Worth};
use crate::options::Options;
use crate::peer::{End, LIMIT, Ours, Peer, Round};
use crate::schedule::Schedule;
use crate::shapes::{Shape, Step};
use crate::table::{Cell, Outcome, Table, Timing};

/// More follow-up rebalances than any cooperative assignor should need.
const MOST_FOLLOW_UPS: usize = 10;

/// Times every cell of the scope, and prints each as soon as it is known.
///
/// # Errors
/// Where an answer was not valid, or ours was worse than a peer's: after all cells are done.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut bench =
        Bench { options, slow: HashMap::new(), table: Table::new(options.json), faults: Vec::new() };
    bench.table.head();
    for (shape, steps) in cells::shapes(options.scope) {
        let wanted =
            |step: &&Step| options.only.as_ref().is_none_or(|only| format!("{shape}, {step}").contains(only));
        let steps: Vec<Step> = steps.iter().filter(wanted).copied().collect();
        if steps.is_empty() {
            continue;
        }
        for (step, group) in steps.iter().zip(shape.groups(&steps)?) {
            bench.case(&shape, *step, &group)?;
        }
    }
    ensure!(bench.faults.is_empty(), "{}", bench.faults.join("\n"));
    Ok(())
}

struct Bench<'o> {
    options: &'o Options,
    /// How large the last group was in whose first call a peer was stopped: the least, where it is spared those no
    /// smaller.
    slow: HashMap<Peer, u64>,
    table: Table,
    faults: Vec<String>,
}

impl Bench<'_> {
    fn case(&mut self, shape: &Shape, step: Step, group: &Group) -> Result<()> {
        let case = format!("{shape}, {step}");
        let ours = [Ours::Sticky, Ours::Cooperative].map(|ours| self.cell(Peer::Ours(ours), group));
        let [sticky, cooperative] = ours;
        let (sticky, cooperative) = (sticky?, cooperative?);
        for (ours, outcome) in [(Ours::Sticky, &sticky), (Ours::Cooperative, &cooperative)] {
            ensure!(matches!(outcome, Outcome::Done { .. }), "{case}: {}: {outcome:?}", Peer::Ours(ours));
            self.table.ours(&case, Peer::Ours(ours), outcome);
        }
        for &peer in &self.options.peers {
            let outcome = self.peer(peer, shape, group)?;
            let ours = match peer.counterpart() {
                Ours::Sticky => &sticky,
                Ours::Cooperative => &cooperative,
            };
            self.judge(&case, peer, &outcome, ours);
            let cell =
                Cell { case: &case, peer, goal: cells::goal(peer, shape, step), ours, outcome: &outcome };
            self.table.peer(&cell);
        }
        Ok(())
    }

    fn peer(&mut self, peer: Peer, shape: &Shape, group: &Group) -> Result<Outcome> {
        if shape.replicas.is_some() && !peer.knows_racks() {
            return Ok(Outcome::NotTried("has no racks here"));
        }
        let too_large = self.slow.get(&peer).is_some_and(|size| *size <= shape.size());
        if self.options.scope == Scope::Quick && too_large {
            return Ok(Outcome::NotTried("stopped in one no larger"));
        }
        let outcome = self.cell(peer, group)?;
        let anchor = matches!(peer, Peer::JavaSticky | Peer::JavaCooperative | Peer::FranzGo);
        if matches!(outcome, Outcome::Stopped { first_ms: None }) && !anchor {
            self.slow.insert(peer, shape.size());
        }
        Ok(outcome)
    }

    /// What would make the figures worthless.
    fn judge(&mut self, case: &str, peer: Peer, outcome: &Outcome, ours: &Outcome) {
        match (outcome, ours) {
            (Outcome::Invalid(why), _) => self.faults.push(format!("{case}: {peer} is not valid: {why}")),
            (Outcome::Done { worth: theirs, .. }, Outcome::Done { worth: ours, .. })
                if ours.objectives() > theirs.objectives() =>
            {
                self.faults.push(format!("{case}: ours {ours:?} is worse than {peer}'s {theirs:?}"));
            }
            _ => {}
        }
    }

    fn cell(&self, peer: Peer, group: &Group) -> Result<Outcome> {
        let schedule = match self.options.scope {
            Scope::Test => Schedule { warm: Duration::ZERO, measure: Duration::from_millis(50) },
            Scope::Quick => Schedule { warm: Duration::from_secs(1), measure: Duration::from_millis(500) },
            Scope::All => Schedule { warm: Duration::from_secs(2), measure: Duration::from_secs(2) },
        };
        let (round, answer, end) = self.once(peer, group, schedule)?;
        match end {
            End::Finished => {}
            End::Stopped => return Ok(Outcome::Stopped { first_ms: round.first_ms }),
            End::Died(status) => return Ok(Outcome::Failed(status)),
        }
        let Some(shares) = answer else {
            return Ok(Outcome::Failed(round.error.unwrap_or_default()));
        };
        let timing = Timing::of(&round)?;
        Ok(match self.settle(peer, group, shares) {
            Ok(Some((worth, follow_ups))) => Outcome::Done { timing, worth, follow_ups },
            Ok(None) => Outcome::Failed("a follow-up rebalance failed".to_owned()),
            Err(error) => Outcome::Invalid(format!("{error:#}")),
        })
    }

    /// What the answer comes to, after as many rebalances as it takes to hand over what was withheld.
    fn settle(&self, peer: Peer, group: &Group, mut shares: Vec<Share>) -> Result<Option<(Worth, usize)>> {
        let mut follow_ups = 0;
        let mut now = group.clone();
        while peer.withholds() && judge::withheld(&now, &shares)? > 0 {
            ensure!(follow_ups < MOST_FOLLOW_UPS, "not settled after {follow_ups} follow-up rebalances");
            now = judge::after(&now, &shares);
            let (_, answer, _) = self.once(peer, &now, Schedule::ONCE)?;
            let Some(answer) = answer else { return Ok(None) };
            shares = answer;
            follow_ups += 1;
        }
        Ok(Some((judge::worth(group, &shares)?, follow_ups)))
    }

    fn once(&self, peer: Peer, group: &Group, schedule: Schedule) -> Result<(Round, Answer, End)> {
        let path = self.options.programs.folder.join("groups");
        groups::write(&path, std::slice::from_ref(group))?;
        let run = self.options.programs.run(peer, &path, 1, schedule, LIMIT)?;
        let round = run.rounds.into_iter().next().context("not a round")?;
        Ok((round, run.answers.into_iter().next().flatten(), run.end))
    }
}
