//! A group that lives: members come, go, change their minds, miss rounds and come back; after every event it is
//! assigned, each member takes what it is given and lets go of the rest, and rejoins if it had to.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    case::{Case, Claim, Member, Partition, Topic},
    generate::{Size, Structure, group},
    judge::judged,
    rules::facts,
    seeded::Seeded,
};

/// How a member takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Goes on processing what it holds while the group rebalances.
    Cooperative,
    /// Lets go of everything first: claims, but holds nothing.
    Eager,
}

#[derive(Clone, Debug)]
struct Life {
    member: Member,
    way: Way,
    owned: BTreeSet<Partition>,
    /// The generation it was last assigned in.
    generation: Option<i32>,
}

#[derive(Clone, Debug)]
struct History {
    generation: i32,
    topics: Vec<Topic>,
    present: BTreeMap<String, Life>,
    /// Members that missed rounds; what they hold is nobody's business until they are back.
    away: Vec<Life>,
    born: usize,
}

#[test]
fn a_rebalance_needs_at_most_one_follow_up_and_nothing_has_two_holders() {
    let mut seen = Seen::default();
    for seed in 0..900 {
        live(seed, &[Way::Cooperative], &mut seen);
    }
    seen.is_enough(900);
}

#[test]
fn groups_on_the_way_from_eager_to_cooperative_need_at_most_one_follow_up_too() {
    let mut seen = Seen::default();
    for seed in 0..500 {
        live(50_000 + seed, &[Way::Cooperative, Way::Eager], &mut seen);
    }
    seen.is_enough(250);
}

/// What the histories were made of.
#[derive(Debug, Default)]
struct Seen {
    follow_ups: usize,
    /// Rebalances with a member that holds or claims what another one had later.
    zombies: usize,
}

impl Seen {
    fn is_enough(&self, each: usize) {
        println!("{self:?}");
        assert!(
            self.follow_ups > each && self.zombies > each / 5,
            "the histories do not stir enough: {self:?}"
        );
    }
}

/// Runs one history.
fn live(seed: u64, ways: &[Way], seen: &mut Seen) {
    let rng = &mut Seeded::new(seed);
    let structure = *rng.pick(&Structure::ALL);
    let size = if rng.percent(85) { Size::SMALL } else { Size::MEDIUM };
    let start = group(structure, size, rng.next());
    let mut history =
        History { generation: 0, topics: start.topics, present: BTreeMap::new(), away: Vec::new(), born: 0 };
    for member in start.members {
        let member = Member { claims: Vec::new(), holds: Vec::new(), ..member };
        history.join(member, *rng.pick(ways));
    }
    for _ in 0..8 {
        history.stir(ways, rng);
        seen.zombies +=
            usize::from(facts(&history.case()).iter().any(|partition| partition.earlier.is_some()));
        if history.rebalance(seed) {
            seen.follow_ups += 1;
            assert!(!history.rebalance(seed), "seed {seed}: a second follow-up\n{}", history.case());
        }
    }
}

impl History {
    fn join(&mut self, mut member: Member, way: Way) {
        member.id = format!("n{:02}", self.born);
        member.instance = member.instance.map(|_| format!("s{:02}", self.born));
        self.born += 1;
        let life = Life { member, way, owned: BTreeSet::new(), generation: None };
        self.present.insert(life.member.id.clone(), life);
    }

    fn stir(&mut self, ways: &[Way], rng: &mut Seeded) {
        let anyone = rng.below(self.present.len().max(1));
        let id = self.present.keys().nth(anyone).cloned();
        let like =
            self.present.values().nth(rng.below(self.present.len().max(1))).map(|life| life.member.clone());
        match (rng.below(16), id) {
            (0 | 1, Some(id)) => {
                self.present.remove(&id);
            }
            (2 | 3 | 12 | 13, Some(id)) => self.away.extend(self.present.remove(&id)),
            (4 | 5 | 14 | 15, _) if !self.away.is_empty() => {
                let back = self.away.swap_remove(rng.below(self.away.len()));
                self.present.insert(back.member.id.clone(), back);
            }
            (6 | 7, Some(id)) => {
                let subscription = match like {
                    Some(like) if rng.percent(60) => like.subscription,
                    _ => {
                        let wanted = self.topics.iter().filter(|_| rng.percent(40));
                        wanted.map(|topic| topic.name.clone()).collect()
                    }
                };
                self.present.get_mut(&id).expect("present").member.subscription = subscription;
            }
            (8, _) if !self.topics.is_empty() => {
                let topic = rng.below(self.topics.len());
                self.topics[topic].grow(rng.between(1, 3) as u32);
            }
            (9, _) if !self.topics.is_empty() => {
                // Deleted, or made anew with fewer partitions.
                let topic = rng.below(self.topics.len());
                if rng.percent(50) {
                    self.topics.remove(topic);
                } else {
                    self.topics[topic].shrink(rng.below(4) as u32);
                }
            }
            (10, Some(id)) => {
                // The process is new, the member is not: it comes back with nothing.
                let life = self.present.get_mut(&id).expect("present");
                life.owned.clear();
                life.generation = None;
            }
            _ => {
                let mut member = like.unwrap_or_default();
                if rng.percent(30) {
                    member.subscription.clear();
                    member.subscription.extend(self.topics.first().map(|topic| topic.name.clone()));
                }
                self.join(member, *rng.pick(ways));
            }
        }
    }

    /// What the leader of the next generation is told.
    fn case(&self) -> Case {
        let members = self.present.values().map(|life| {
            let claims: Vec<Claim> = life
                .owned
                .iter()
                .map(|(topic, number)| Claim {
                    topic: topic.clone(),
                    partition: *number as i32,
                    generation: life.generation,
                })
                .collect();
            let holds = if life.way == Way::Cooperative { claims.clone() } else { Vec::new() };
            Member { claims, holds, ..life.member.clone() }
        });
        Case {
            generation: Some(self.generation + 1),
            topics: self.topics.clone(),
            members: members.collect(),
        }
    }

    /// One generation; returns whether somebody had to let go of something, and so rejoins.
    fn rebalance(&mut self, seed: u64) -> bool {
        let case = self.case();
        let outcome = judged(&case).outcome;
        self.generation += 1;
        let mut rejoin = false;
        for (id, life) in &mut self.present {
            let mut given: BTreeSet<Partition> = BTreeSet::new();
            for (partition, to) in &outcome.target {
                if to == id && !outcome.withheld.contains(partition) {
                    given.insert(partition.clone());
                }
            }
            for partition in given.difference(&holding(&case, id)) {
                let other = case.members.iter().find(|other| other.id != *id && holds(other, partition));
                assert!(
                    other.is_none(),
                    "seed {seed}: {partition:?} goes to {id} and {other:?} has it\n{case}"
                );
            }
            if life.way == Way::Cooperative && !life.owned.is_subset(&given) {
                rejoin = true;
            }
            life.owned = given;
            life.generation = Some(self.generation);
        }
        assert!(rejoin || outcome.withheld.is_empty(), "seed {seed}: withheld, but nobody lets go\n{case}");
        rejoin
    }
}

impl Topic {
    fn grow(&mut self, by: u32) {
        self.partitions += by;
        if let Some(racks) = &mut self.racks {
            let like = racks.first().cloned().unwrap_or_default();
            racks.resize(self.partitions as usize, like);
        }
    }

    fn shrink(&mut self, by: u32) {
        self.partitions = self.partitions.saturating_sub(by);
        if let Some(racks) = &mut self.racks {
            racks.truncate(self.partitions as usize);
        }
    }
}

fn holding(case: &Case, id: &str) -> BTreeSet<Partition> {
    case.member(id).holds.iter().map(|hold| (hold.topic.clone(), hold.partition as u32)).collect()
}

fn holds(member: &Member, partition: &Partition) -> bool {
    member.holds.iter().any(|hold| hold.topic == partition.0 && hold.partition as u32 == partition.1)
}
