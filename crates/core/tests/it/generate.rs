//! Random groups of every structure: who subscribes to what, what they claim and hold, racks, static members.

use crate::{
    case::{Case, Claim, Member, Topic, claims_of},
    optimum::by_flow,
    rules::facts,
    seeded::Seeded,
};

/// How subscriptions relate to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Structure {
    Identical,
    TwoClasses,
    Nested,
    Chain,
    Ring,
    Disjoint,
    Sparse,
    Dense,
    /// Anything goes: nobody's topics, unknown topics, empty subscriptions, nobody at all.
    Arbitrary,
}

impl Structure {
    pub(crate) const ALL: [Structure; 9] = [
        Structure::Identical,
        Structure::TwoClasses,
        Structure::Nested,
        Structure::Chain,
        Structure::Ring,
        Structure::Disjoint,
        Structure::Sparse,
        Structure::Dense,
        Structure::Arbitrary,
    ];
}

/// Upper bounds of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) topics: usize,
    pub(crate) partitions: usize,
    pub(crate) members: usize,
}

impl Size {
    /// Small enough to try every assignment.
    pub(crate) const TINY: Size = Size { topics: 3, partitions: 3, members: 4 };
    pub(crate) const SMALL: Size = Size { topics: 5, partitions: 6, members: 7 };
    pub(crate) const MEDIUM: Size = Size { topics: 9, partitions: 8, members: 20 };
    pub(crate) const LARGE: Size = Size { topics: 14, partitions: 12, members: 80 };
    /// Many partitions a topic: what is kept, dealt and left over comes in bulk.
    pub(crate) const WIDE: Size = Size { topics: 3, partitions: 100, members: 8 };
    /// Too large for the oracle.
    pub(crate) const HUGE: Size = Size { topics: 60, partitions: 40, members: 400 };
}

/// What members say about the past.
#[derive(Clone, Copy, Debug)]
enum Past {
    /// Nothing: a fresh group.
    None,
    /// A good assignment, then something happened.
    Mutated,
    /// Any assignment, however uneven.
    Uneven,
    /// Partitions claimed by several members, in a few generations.
    Duplicated,
    /// Numbers that exist or not, topics that exist or not, generations at both ends of their range.
    Garbage,
}

/// A random group; the same for the same seed.
pub(crate) fn group(structure: Structure, size: Size, seed: u64) -> Case {
    let rng = &mut Seeded::new(seed);
    let mut case = subscriptions(structure, size, rng);
    if rng.percent(45) {
        add_racks(&mut case, rng);
    }
    if rng.percent(25) {
        for member in &mut case.members {
            member.instance = rng.percent(60).then(|| format!("s{}", rng.below(40)));
        }
    }
    let past = match rng.below(100) {
        0..10 => Past::None,
        10..40 if case.members.len() <= Size::LARGE.members => Past::Mutated,
        10..55 => Past::Uneven,
        55..82 => Past::Duplicated,
        _ => Past::Garbage,
    };
    add_past(&mut case, past, rng);
    add_holds(&mut case, rng);
    case.generation = match rng.below(10) {
        0..6 => Some(8),
        6..8 => None,
        8 => Some(rng.between(0, 9) as i32),
        _ => Some(*rng.pick(&[i32::MIN, -1, 0, 1, i32::MAX])),
    };
    rng.shuffle(&mut case.members);
    rng.shuffle(&mut case.topics);
    case
}

fn subscriptions(structure: Structure, size: Size, rng: &mut Seeded) -> Case {
    let least = usize::from(structure != Structure::Arbitrary);
    let topics = rng.between(least, size.topics);
    let members = rng.between(least, size.members);
    // Equal counts make several topics interchangeable; more members than partitions come from small ones.
    let most = rng.between(1, size.partitions);
    let equal = rng.percent(30);
    let topic = |index: usize, partitions: u32| Topic { name: format!("t{index}"), partitions, racks: None };
    let mut case = Case::default();
    for index in 0..topics {
        let partitions = if equal { most } else { rng.between(0, most) };
        case.topics.push(topic(index, partitions as u32));
    }
    let all: Vec<usize> = (0..topics).collect();
    let classes = [chosen(&all, 60, rng), chosen(&all, 60, rng)];
    let blocks = rng.between(2, 4);
    for index in 0..members {
        let subscribed: Vec<usize> = match structure {
            Structure::Identical => all.clone(),
            Structure::TwoClasses => rng.pick(&classes).clone(),
            Structure::Nested => all[..rng.between(1, topics)].to_vec(),
            Structure::Chain => all
                .iter()
                .copied()
                .filter(|t| index % (topics + 1) == *t || index % (topics + 1) == t + 1)
                .collect(),
            Structure::Ring => vec![index % topics, (index + 1) % topics],
            Structure::Disjoint => all.iter().copied().filter(|t| t % blocks == index % blocks).collect(),
            Structure::Sparse => (0..rng.between(1, 2)).map(|_| *rng.pick(&all)).collect(),
            Structure::Dense => chosen(&all, 85, rng),
            Structure::Arbitrary => {
                let chance = rng.below(100);
                chosen(&all, chance, rng)
            }
        };
        let mut subscription: Vec<String> = subscribed.iter().map(|topic| format!("t{topic}")).collect();
        if structure == Structure::Arbitrary && rng.percent(20) {
            subscription.push("unknown".to_owned());
            subscription.extend(subscription.first().cloned());
        }
        case.members.push(Member { id: format!("m{index}"), subscription, ..Member::default() });
    }
    case
}

fn chosen(all: &[usize], chance: usize, rng: &mut Seeded) -> Vec<usize> {
    all.iter().copied().filter(|_| rng.percent(chance)).collect()
}

fn add_racks(case: &mut Case, rng: &mut Seeded) {
    const RACKS: [&str; 4] = ["a", "b", "c", "d"];
    let racks = &RACKS[..rng.between(1, 4)];
    let replicas = rng.between(1, 3);
    for topic in &mut case.topics {
        if rng.percent(10) {
            continue;
        }
        let of_a_partition = |rng: &mut Seeded| {
            let mut list: Vec<String> = (0..replicas).map(|_| (*rng.pick(racks)).to_owned()).collect();
            if rng.percent(5) {
                list.clear();
            }
            list
        };
        topic.racks = Some((0..topic.partitions).map(|_| of_a_partition(rng)).collect());
    }
    for member in &mut case.members {
        member.rack = match rng.below(20) {
            0 => None,
            1 => Some(String::new()),
            2 => Some("elsewhere".to_owned()),
            _ => Some((*rng.pick(racks)).to_owned()),
        };
    }
}

fn add_past(case: &mut Case, past: Past, rng: &mut Seeded) {
    match past {
        Past::None => {}
        Past::Mutated => add_mutated(case, rng),
        Past::Uneven => add_uneven(case, rng),
        Past::Duplicated => add_duplicated(case, rng),
        Past::Garbage => add_garbage(case, rng),
    }
}

/// Everybody claims its part of an optimal assignment; then members come, go and change their minds, and topics grow.
fn add_mutated(case: &mut Case, rng: &mut Seeded) {
    let (_, target) = by_flow(case, &facts(case));
    for member in &mut case.members {
        member.claims = claims_of(&target, &member.id, Some(7));
    }
    for _ in 0..rng.between(1, 3) {
        let anyone = (!case.members.is_empty()).then(|| rng.below(case.members.len()));
        match (rng.below(5), anyone) {
            (0, Some(index)) => {
                case.members.remove(index);
            }
            (1, Some(index)) => case.members[index].claims.clear(),
            (2, Some(index)) => {
                let like = rng.pick(&case.members).subscription.clone();
                case.members[index].subscription = like;
            }
            (3, Some(index)) => {
                // A member that missed rounds still says what it had.
                let like = rng.pick(&case.members).claims.clone();
                for claim in &like {
                    let stale = Claim { generation: Some(rng.between(4, 6) as i32), ..claim.clone() };
                    case.members[index].claims.push(stale);
                }
                one_generation(&mut case.members[index].claims);
            }
            _ => {
                for topic in case.topics.iter_mut().filter(|topic| topic.racks.is_none()) {
                    topic.partitions += u32::from(rng.percent(30)) * rng.between(1, 3) as u32;
                }
            }
        }
    }
}

/// A member states one generation for all it claims.
fn one_generation(claims: &mut [Claim]) {
    let oldest = claims.iter().map(|claim| claim.generation).min().flatten();
    for claim in claims {
        claim.generation = oldest;
    }
}

fn add_uneven(case: &mut Case, rng: &mut Seeded) {
    let greedy = rng.below(case.members.len().max(1));
    for partition in facts(case) {
        if partition.subscribers.is_empty() || rng.percent(15) {
            continue;
        }
        let mut member = *rng.pick(&partition.subscribers);
        if rng.percent(50) && partition.subscribers.contains(&greedy) {
            member = greedy;
        }
        let topic = case.topics[partition.topic].name.clone();
        let claim = Claim { topic, partition: partition.number as i32, generation: Some(7) };
        case.members[member].claims.push(claim);
    }
}

fn add_duplicated(case: &mut Case, rng: &mut Seeded) {
    const GENERATIONS: [Option<i32>; 6] = [None, Some(-1), Some(4), Some(5), Some(6), Some(7)];
    let generations = &GENERATIONS[rng.below(5)..];
    let density = rng.between(10, 60);
    for index in 0..case.members.len() {
        let generation = *rng.pick(generations);
        for topic in case.topics.clone() {
            let subscribed = case.members[index].subscription.contains(&topic.name);
            for partition in 0..topic.partitions as i32 {
                if rng.percent(if subscribed { density } else { 6 }) {
                    let claim = Claim { topic: topic.name.clone(), partition, generation };
                    case.members[index].claims.push(claim);
                }
            }
        }
    }
}

fn add_garbage(case: &mut Case, rng: &mut Seeded) {
    let mut names: Vec<String> = case.topics.iter().map(|topic| topic.name.clone()).collect();
    names.extend(["unknown".to_owned(), String::new()]);
    for member in &mut case.members {
        let generation = *rng.pick(&[
            None,
            Some(i32::MIN),
            Some(-1),
            Some(0),
            Some(5),
            Some(i32::MAX - 1),
            Some(i32::MAX),
        ]);
        for _ in 0..rng.below(12) {
            let partition = match rng.below(10) {
                0 => *rng.pick(&[i32::MIN, -1, i32::MAX, i32::MAX - 1]),
                _ => rng.below(9) as i32,
            };
            member.claims.push(Claim { topic: rng.pick(&names).clone(), partition, generation });
        }
    }
}

fn add_holds(case: &mut Case, rng: &mut Seeded) {
    let everybody_at_once = rng.percent(60);
    for index in 0..case.members.len() {
        let claims = case.members[index].claims.clone();
        case.members[index].holds = match rng.below(10) {
            _ if everybody_at_once => claims,
            0..3 => Vec::new(),
            3..6 => claims.into_iter().filter(|_| rng.percent(60)).collect(),
            6 => rng.pick(&case.members).claims.clone(),
            _ => claims,
        };
    }
}
