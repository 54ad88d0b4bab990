//! The contract read naively: what counts, what it costs, what is withheld and why something moved. No cleverness
//! and nothing from the crate under test: every question scans all that could answer it.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::{Case, Claim, Partition, Target};

/// One partition that exists, with members by index into the group.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) topic: usize,
    pub(crate) number: u32,
    pub(crate) subscribers: Vec<usize>,
    pub(crate) owner: Option<usize>,
    pub(crate) earlier: Option<usize>,
    /// Has counting claims, but no owner.
    pub(crate) contested: bool,
    /// Claimed by anybody, counting or not.
    pub(crate) claimed: bool,
    /// By member index: would it be a rack mismatch?
    pub(crate) mismatch: Vec<bool>,
}

/// The five objectives, in their order: less is better, the first difference decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Score {
    pub(crate) sum_of_squares: u64,
    pub(crate) rack_mismatches: u64,
    pub(crate) taken: u64,
    pub(crate) not_returned: u64,
    pub(crate) topic_sum_of_squares: u64,
}

impl Score {
    /// The objectives that are exact, most important first.
    pub(crate) fn exact(&self) -> [u64; 4] {
        [self.sum_of_squares, self.rack_mismatches, self.taken, self.not_returned]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    Unclaimed,
    Unsubscribed,
    Contested,
    Rack,
    Balance,
}

/// A partition that its owner does not keep, or that has none: from whom, to whom, why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) partition: Partition,
    pub(crate) from: Option<String>,
    pub(crate) to: String,
    pub(crate) reason: Reason,
}

/// Every partition that exists, subscribed or not, in the order of the group.
pub(crate) fn facts(case: &Case) -> Vec<Facts> {
    let racks_on = racks_are_on(case);
    let mut all = Vec::new();
    for (index, topic) in case.topics.iter().enumerate() {
        let subscribers: Vec<usize> = (0..case.members.len())
            .filter(|member| case.members[*member].subscription.contains(&topic.name))
            .collect();
        for number in 0..topic.partitions {
            let claims = claims_on(case, &topic.name, number);
            let counting: BTreeMap<usize, i32> = claims
                .iter()
                .filter(|(member, _)| subscribers.contains(member))
                .map(|(member, generation)| (*member, *generation))
                .collect();
            let (deciding, next) = top_two_generations(&counting);
            let owner = only(&deciding);
            let replicas = replica_racks(case, index, number);
            let mismatch = case
                .members
                .iter()
                .map(|member| racks_on && rack_of(&member.rack).is_some_and(|rack| !replicas.contains(&rack)))
                .collect();
            all.push(Facts {
                topic: index,
                number,
                subscribers: subscribers.clone(),
                owner,
                earlier: only(&next),
                contested: !counting.is_empty() && owner.is_none(),
                claimed: !claims.is_empty(),
                mismatch,
            });
        }
    }
    all
}

/// Rack-awareness is on if some subscribed member's rack holds a replica of a subscribed partition, and not every
/// subscribed partition has a replica on every rack that appears among them (KIP-881).
pub(crate) fn racks_are_on(case: &Case) -> bool {
    let subscribed: Vec<usize> = (0..case.topics.len())
        .filter(|topic| {
            case.members.iter().any(|member| member.subscription.contains(&case.topics[*topic].name))
        })
        .collect();
    let mut replicas: Vec<BTreeSet<&str>> = Vec::new();
    for topic in subscribed {
        for number in 0..case.topics[topic].partitions {
            replicas.push(replica_racks(case, topic, number).into_iter().collect());
        }
    }
    let appearing: BTreeSet<&str> = replicas.iter().flatten().copied().collect();
    let some_member_is_near = case.members.iter().any(|member| {
        let subscribes = case.topics.iter().any(|topic| member.subscription.contains(&topic.name));
        subscribes && rack_of(&member.rack).is_some_and(|rack| appearing.contains(rack))
    });
    some_member_is_near && replicas.iter().any(|racks| *racks != appearing)
}

/// The score of an assignment that gives every partition with a subscriber to one of them.
pub(crate) fn score(case: &Case, facts: &[Facts], target: &Target) -> Score {
    let mut score = Score::default();
    let mut loads: BTreeMap<usize, u64> = BTreeMap::new();
    let mut topic_loads: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for partition in facts {
        let name = (case.topics[partition.topic].name.clone(), partition.number);
        let Some(id) = target.get(&name) else { continue };
        let member = case.members.iter().position(|member| member.id == *id).expect("a member of the group");
        *loads.entry(member).or_default() += 1;
        *topic_loads.entry((partition.topic, member)).or_default() += 1;
        let [mismatch, taken, not_returned] = costs(partition, member);
        score.rack_mismatches += mismatch;
        score.taken += taken;
        score.not_returned += not_returned;
    }
    score.sum_of_squares = loads.values().map(|load| load * load).sum();
    score.topic_sum_of_squares = topic_loads.values().map(|count| count * count).sum();
    score
}

/// What giving `partition` to `member` adds to objectives 2, 3 and 4.
pub(crate) fn costs(partition: &Facts, member: usize) -> [u64; 3] {
    let taken = partition.owner.is_some_and(|owner| owner != member);
    let kept = partition.owner == Some(member);
    let not_returned = !kept && partition.earlier.is_some_and(|earlier| earlier != member);
    [u64::from(partition.mismatch[member]), u64::from(taken), u64::from(not_returned)]
}

/// What is wrong with `target` as an assignment of `case`, if anything.
pub(crate) fn invalid(case: &Case, facts: &[Facts], target: &Target) -> Option<String> {
    let mut left: BTreeSet<Partition> = target.keys().cloned().collect();
    for partition in facts {
        let name = (case.topics[partition.topic].name.clone(), partition.number);
        left.remove(&name);
        let Some(id) = target.get(&name) else {
            if partition.subscribers.is_empty() {
                continue;
            }
            return Some(format!("{name:?} has a subscriber, but was given to nobody"));
        };
        if !partition.subscribers.iter().any(|member| case.members[*member].id == *id) {
            return Some(format!("{name:?} was given to {id}, which does not subscribe to it"));
        }
    }
    left.first().map(|name| format!("{name:?} does not exist, but was given away"))
}

/// The partitions of `target` that must wait for a holder to let go.
pub(crate) fn withheld(case: &Case, target: &Target) -> BTreeSet<Partition> {
    let must_wait = |partition: &Partition, to: &String| {
        let mut by_target: Option<i32> = None;
        let mut by_others: Option<i32> = None;
        for member in &case.members {
            let generation = said_of(case, &member.holds, &partition.0, partition.1);
            if member.id == *to {
                by_target = generation;
            } else {
                by_others = by_others.max(generation);
            }
        }
        match (by_target, by_others) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(target), Some(others)) => target <= others,
        }
    };
    target.iter().filter(|(partition, to)| must_wait(partition, to)).map(|(name, _)| name.clone()).collect()
}

/// Why each partition that is not kept has the target it has, by topic name and number.
pub(crate) fn changes(case: &Case, facts: &[Facts], target: &Target) -> Vec<Change> {
    let mut changes = Vec::new();
    for partition in facts {
        let name = (case.topics[partition.topic].name.clone(), partition.number);
        let Some(id) = target.get(&name) else { continue };
        let to = case.members.iter().position(|member| member.id == *id).expect("a member of the group");
        if partition.owner == Some(to) {
            continue;
        }
        let reason = match partition.owner {
            Some(owner) if partition.mismatch[owner] && !partition.mismatch[to] => Reason::Rack,
            Some(_) => Reason::Balance,
            None if partition.contested => Reason::Contested,
            None if partition.claimed => Reason::Unsubscribed,
            None => Reason::Unclaimed,
        };
        let from = partition.owner.map(|owner| case.members[owner].id.clone());
        changes.push(Change { partition: name, from, to: id.clone(), reason });
    }
    changes.sort_by(|a, b| a.partition.cmp(&b.partition));
    changes
}

/// A claim's generation as it counts: genuine ones are at least 0 and older than the one being formed, if that is
/// known. No negative number is.
fn counted_generation(case: &Case, generation: Option<i32>) -> i32 {
    let forming = case.generation.filter(|forming| *forming >= 0);
    match generation {
        Some(said) if said >= 0 && forming.is_none_or(|forming| said < forming) => said,
        _ => -1,
    }
}

/// The generation in which `said` names this partition, if it does.
fn said_of(case: &Case, said: &[Claim], topic: &str, number: u32) -> Option<i32> {
    said.iter()
        .filter(|claim| claim.topic == topic && i64::from(claim.partition) == i64::from(number))
        .map(|claim| counted_generation(case, claim.generation))
        .max()
}

/// Who claims a partition, each member once, with the generation that counts.
fn claims_on(case: &Case, topic: &str, number: u32) -> Vec<(usize, i32)> {
    let mut claims = Vec::new();
    for (index, member) in case.members.iter().enumerate() {
        if let Some(generation) = said_of(case, &member.claims, topic, number) {
            claims.push((index, generation));
        }
    }
    claims
}

/// The claimants of the highest generation, and those of the next lower one that has any.
fn top_two_generations(claims: &BTreeMap<usize, i32>) -> (Vec<usize>, Vec<usize>) {
    let generations: BTreeSet<i32> = claims.values().copied().collect();
    let mut highest_first = generations.into_iter().rev();
    let mut next = || {
        let generation = highest_first.next();
        claims.iter().filter(|(_, g)| Some(**g) == generation).map(|(member, _)| *member).collect()
    };
    (next(), next())
}

fn only(members: &[usize]) -> Option<usize> {
    match members {
        [member] => Some(*member),
        _ => None,
    }
}

fn replica_racks(case: &Case, topic: usize, number: u32) -> Vec<&str> {
    match &case.topics[topic].racks {
        Some(racks) => racks[number as usize].iter().map(String::as_str).collect(),
        None => Vec::new(),
    }
}

fn rack_of(rack: &Option<String>) -> Option<&str> {
    rack.as_deref().filter(|rack| !rack.is_empty())
}
