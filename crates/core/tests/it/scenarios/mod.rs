//! The scenarios that the field knows by name, as properties: who keeps what, how even, what moves.

use std::collections::BTreeSet;

use crate::{
    case::{Case, Partition, Target, loads},
    judge::judged,
    subject::Outcome,
    text,
};

mod cooperative_sticky;
mod defects;
mod documented_examples;
mod large;
mod rack_switch;
mod shared;
mod shared_racks;
mod sticky;

/// A group that was assigned, and judged while at it: the oracle has seen every scenario's result.
#[derive(Debug)]
struct Round {
    case: Case,
    outcome: Outcome,
}

/// A generation to claim in, and the one that is being formed.
const FORMING: i32 = 8;

impl Round {
    #[track_caller]
    fn of(text: &str) -> Round {
        Round::judge(Case { generation: Some(FORMING), ..text::case(text) })
    }

    #[track_caller]
    fn judge(case: Case) -> Round {
        let outcome = judged(&case).outcome;
        Round { case, outcome }
    }

    /// The next rebalance: everybody has what the target gave it, and then something happens.
    #[track_caller]
    fn then(&self, edit: impl FnOnce(&mut Case)) -> Round {
        let formed = self.case.generation.expect("scenarios know their generation");
        let mut next = self.case.fed_back(&self.outcome.target, formed);
        edit(&mut next);
        Round::judge(next)
    }

    /// The follow-up of a cooperative round: members have what they were given, the withheld is nobody's.
    #[track_caller]
    fn follow_up(&self) -> Round {
        let formed = self.case.generation.expect("scenarios know their generation");
        Round::judge(self.case.fed_back(&self.given_to_all(), formed))
    }

    fn given_to_all(&self) -> Target {
        let given = |partition: &Partition| !self.outcome.withheld.contains(partition);
        self.outcome.target.clone().into_iter().filter(|(partition, _)| given(partition)).collect()
    }

    /// The member's part of the target, as `t1:0 t1:2 t2:1`.
    fn target(&self, member: &str) -> String {
        written(&self.outcome.target, member)
    }

    /// What the member gets in this round.
    fn given(&self, member: &str) -> String {
        written(&self.given_to_all(), member)
    }

    fn load(&self, member: &str) -> usize {
        self.outcome.target.values().filter(|owner| *owner == member).count()
    }

    fn loads(&self) -> Vec<u64> {
        loads(&self.case, &self.outcome.target)
    }

    fn load_in(&self, member: &str, topic: &str) -> usize {
        self.outcome.target.iter().filter(|(partition, to)| partition.0 == topic && *to == member).count()
    }

    /// The loads differ by one at most.
    #[track_caller]
    fn is_fully_balanced(&self) {
        let loads = self.loads();
        let (least, most) = (loads.iter().min(), loads.iter().max());
        assert!(most.unwrap_or(&0) - least.unwrap_or(&0) <= 1, "{loads:?}");
    }

    /// What was taken from its owner, as `t1:2 c1 c3`: partition, from whom, to whom.
    fn transfers(&self) -> Vec<String> {
        let taken = self.outcome.changes.iter().filter_map(|change| {
            let from = change.from.as_ref()?;
            Some(format!("{}:{} {from} {}", change.partition.0, change.partition.1, change.to))
        });
        taken.collect()
    }

    /// What the member claimed and what it was meant to have are the same, but for what is new.
    fn keeps_all(&self, member: &str) -> bool {
        let claims = &self.case.member(member).claims;
        let has = |topic: &str, number| {
            self.outcome.target.get(&(topic.to_owned(), number)).is_some_and(|to| to == member)
        };
        claims.iter().all(|claim| has(&claim.topic, claim.partition as u32))
    }
}

fn written(target: &Target, member: &str) -> String {
    let partitions: Vec<String> = target
        .iter()
        .filter(|(_, owner)| *owner == member)
        .map(|((topic, number), _)| format!("{topic}:{number}"))
        .collect();
    partitions.join(" ")
}

/// The set-ups each shared scenario runs in: a client without holds and one with, without racks, with racks of
/// one side only, and with racks on both where every partition is on every rack, which must change nothing.
#[track_caller]
fn in_every_set_up(text: &str, check: impl Fn(&Round)) {
    for eager in [true, false] {
        for (replicas, members) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut case = Case { generation: Some(FORMING), ..text::case(text) };
            if eager {
                case.members.iter_mut().for_each(|member| member.holds.clear());
            }
            if replicas {
                put_everywhere(&mut case);
            }
            if members {
                for (index, member) in case.members.iter_mut().enumerate() {
                    member.rack = Some(RACKS[index % RACKS.len()].to_owned());
                }
            }
            check(&Round::judge(case));
        }
    }
}

const RACKS: [&str; 3] = ["rack-a", "rack-b", "rack-c"];

/// Every partition has a replica on every rack.
fn put_everywhere(case: &mut Case) {
    for topic in &mut case.topics {
        let everywhere = RACKS.map(str::to_owned).to_vec();
        topic.racks = Some(vec![everywhere; topic.partitions as usize]);
    }
}

fn join(text: &str) -> impl FnOnce(&mut Case) {
    let members = text::case(text).members;
    move |case| case.members.extend(members)
}

fn leave(member: &str) -> impl FnOnce(&mut Case) {
    move |case| {
        case.remove(member);
    }
}

fn withheld(round: &Round) -> BTreeSet<String> {
    round.outcome.withheld.iter().map(|(topic, number)| format!("{topic}:{number}")).collect()
}
