//! From a group to its assignment, stage by stage.

use crate::{
    certificate::Certificate,
    claims::Owners,
    dense::{Assignment, Group, MemberId, NOBODY, SubscriptionId, Target},
    racks::RackSwitch,
    report::{Options, Proven, report},
    withhold::withheld,
};

mod complete;
mod deal;

/// The optimal assignment of a group, within a bound on the work.
pub(crate) fn assign(group: &Group, _options: &Options) -> Assignment {
    let owners = Owners::of(group);
    let racks = RackSwitch::of(group);
    let mut state = State {
        target: vec![NOBODY; group.partition_count()],
        potentials: vec![[0; 4]; group.member_count()],
    };
    let mut used: Vec<SubscriptionId> = Vec::new();
    let mut members = Vec::new();
    for member in (0..group.member_count() as u32).map(MemberId) {
        let subscription = group.subscription_of(member);
        if !group.topics_of(subscription).is_empty() {
            members.push(member.0);
            used.push(subscription);
        }
    }
    used.sort_unstable();
    used.dedup();
    let mut topics: Vec<u32> = used.iter().flat_map(|&s| group.topics_of(s)).map(|t| t.0).collect();
    topics.sort_unstable();
    topics.dedup();
    let proven = if used.len() <= 1 {
        complete::solve(group, &owners, &members, &topics, &mut state);
        Proven::first(if racks.is_on() {
            1
        } else if owners.earlier.is_empty() {
            4
        } else {
            3
        })
    } else {
        for &topic in &topics {
            let who = members.iter().find(|&&m| {
                let topics = group.topics_of(group.subscription_of(MemberId(m)));
                topics.binary_search(&crate::dense::TopicId(topic)).is_ok()
            });
            for partition in group.partitions_of(crate::dense::TopicId(topic)) {
                state.target[partition.index()] = *who.unwrap();
            }
        }
        Proven::default()
    };
    let report = report(group, &racks, &owners, &state.target, proven);
    let withheld = withheld(group, &state.target);
    Assignment {
        withheld,
        report,
        target: Target::new(state.target),
        certificate: Certificate::new(state.potentials),
    }
}

/// What the stages fill in.
#[derive(Debug)]
struct State {
    target: Vec<u32>,
    potentials: Vec<[i64; 4]>,
}
