//! A group that lives: members join, leave, miss rounds, subscribe to something else and forge what they say, and topics
//! grow and shrink. After each event there is a rebalance, and at most one that follows from it.

use std::collections::{BTreeMap, BTreeSet};

use arbitrary::{Result, Unstructured};
use kafka_sticky_core::Options;
use kafka_sticky_protocol::{StickyUserDataWriter, Strategy, SubscriptionWriter, cooperative_user_data};

use crate::leader::{Existing, Heard, Outcome, Partition, Round, partitions_of};
use crate::spoken::{self, EXISTING, NAMES, RACKS, one_of};

/// How many events one history has at most.
const MOST_EVENTS: usize = 24;
const MOST_MEMBERS: usize = 9;

/// Reads a history from bytes and lives through it.
pub fn history(bytes: &[u8]) {
    // It ends where the bytes do.
    let _ = lived(&mut Unstructured::new(bytes));
}

fn lived(from: &mut Unstructured<'_>) -> Result<()> {
    let mut group = Group::begin(from)?;
    for _ in 0..MOST_EVENTS {
        if from.is_empty() {
            break;
        }
        group.stir(from)?;
        if group.forges() {
            group.rebalance();
        }
        // Everybody is honest now.
        if group.rebalance() {
            let again = group.rebalance();
            assert!(!again, "a second follow-up\n{group:#?}");
        }
    }
    Ok(())
}

#[derive(Debug)]
struct Group {
    generation: i32,
    topics: Vec<Existing>,
    present: BTreeMap<String, Life>,
    /// Members that miss rounds, and do not know it.
    away: Vec<(String, Life)>,
    born: usize,
}

#[derive(Debug)]
struct Life {
    subscription: Vec<&'static str>,
    rack: &'static str,
    instance_id: Option<String>,
    way: Way,
    owned: BTreeSet<Partition>,
    /// The generation that it was last assigned in.
    generation: Option<i32>,
    /// What it says once instead of the truth.
    forged: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Goes on processing what it has while the group rebalances.
    Cooperative,
    /// Lets go of everything first, and claims what it had.
    Eager,
}

impl Group {
    fn begin(from: &mut Unstructured<'_>) -> Result<Self> {
        let mut topics = Vec::new();
        for name in &NAMES[..from.int_in_range(1..=EXISTING)?] {
            let partitions = from.int_in_range(0..=12)?;
            let mut racks = None;
            if from.ratio(1u8, 4u8)? {
                racks = Some((0..partitions).map(|_| replica(from)).collect::<Result<_>>()?);
            }
            topics.push(Existing { name, partitions, racks });
        }
        let mut group = Self { generation: 0, topics, present: BTreeMap::new(), away: Vec::new(), born: 0 };
        for _ in 0..from.int_in_range(0..=6)? {
            group.join(from)?;
        }
        group.rebalance();
        Ok(group)
    }

    fn join(&mut self, from: &mut Unstructured<'_>) -> Result<()> {
        if self.present.len() + self.away.len() >= MOST_MEMBERS {
            return Ok(());
        }
        let way = if from.ratio(1u8, 4u8)? { Way::Eager } else { Way::Cooperative };
        let life = Life {
            subscription: spoken::some_names(from)?,
            rack: one_of(&RACKS, from)?,
            instance_id: from.ratio(1u8, 4u8)?.then(|| format!("static-{}", self.born)),
            way,
            owned: BTreeSet::new(),
            generation: None,
            forged: None,
        };
        self.present.insert(format!("m{}", self.born), life);
        self.born += 1;
        Ok(())
    }

    fn stir(&mut self, from: &mut Unstructured<'_>) -> Result<()> {
        let event = from.int_in_range(0..=9)?;
        let nth: usize = from.arbitrary::<u8>()?.into();
        let anyone = self.present.keys().nth(nth % self.present.len().max(1)).cloned();
        let topic = nth % self.topics.len();
        match (event, anyone) {
            (0, Some(id)) => drop(self.present.remove(&id)),
            (1, Some(id)) => self.away.extend(self.present.remove_entry(&id)),
            (2, _) if !self.away.is_empty() => {
                let (id, life) = self.away.swap_remove(nth % self.away.len());
                self.present.insert(id, life);
            }
            (3, Some(id)) => {
                let subscription = spoken::some_names(from)?;
                self.present.entry(id).and_modify(|life| life.subscription = subscription);
            }
            (4, _) => {
                let by = from.int_in_range(1..=4)?;
                self.topics[topic].grow(by);
            }
            (5, _) => {
                let by = from.int_in_range(1..=4)?;
                self.topics[topic].shrink(by);
            }
            (6, Some(id)) => {
                // The process is new, the member is not.
                self.present.entry(id).and_modify(|life| {
                    life.owned.clear();
                    life.generation = None;
                });
            }
            (7, Some(id)) => {
                let forged = spoken::subscription(from)?;
                self.present.entry(id).and_modify(|life| life.forged = Some(forged));
            }
            _ => self.join(from)?,
        }
        Ok(())
    }

    fn forges(&self) -> bool {
        self.present.values().any(|life| life.forged.is_some())
    }

    /// Forms a generation; returns whether somebody had to let go of something and so joins again.
    fn rebalance(&mut self) -> bool {
        let (round, forged) = (self.round(), self.forges());
        self.generation += 1;
        let Outcome { shares, withheld } = round.assigned(Options::default());
        let before: BTreeMap<String, BTreeSet<Partition>> = self
            .present
            .iter()
            .filter(|(_, life)| life.way == Way::Cooperative)
            .map(|(id, life)| (id.clone(), life.owned.clone()))
            .collect();
        let mut joins_again = false;
        for (id, life) in &mut self.present {
            life.forged = None;
            let given = shares.get(id).map(|share| partitions_of(share)).unwrap_or_default();
            let others = before.iter().filter(|(other, _)| *other != id);
            let held = |partition: &&Partition| others.clone().any(|(_, owned)| owned.contains(*partition));
            let overlap = given.difference(&life.owned).find(held);
            assert!(overlap.is_none() || forged, "{overlap:?} goes to {id} while another has it\n{round:#?}");
            joins_again |= life.way == Way::Cooperative && !life.owned.is_subset(&given);
            life.owned = given;
            life.generation = Some(self.generation);
        }
        assert!(joins_again || withheld == 0 || forged, "withheld, but nobody lets go\n{round:#?}");
        joins_again
    }

    fn round(&self) -> Round {
        let members = self.present.iter().map(|(id, life)| Heard {
            id: id.clone(),
            instance_id: life.instance_id.clone(),
            subscription: life.forged.clone().unwrap_or_else(|| life.says()),
        });
        Round {
            strategy: Strategy::CooperativeSticky,
            forming: self.generation + 1,
            topics: self.topics.clone(),
            members: members.collect(),
        }
    }
}

impl Life {
    /// What this crate's members say, cooperative or registered as eager.
    fn says(&self) -> Vec<u8> {
        let had = || self.owned.iter().map(|(topic, partition)| (topic.as_str(), [*partition]));
        let writer = SubscriptionWriter::new(self.subscription.iter().copied())
            .generation_id(self.generation)
            .rack_id((!self.rack.is_empty()).then_some(self.rack));
        let written = match self.way {
            Way::Cooperative => {
                let user_data = cooperative_user_data(self.generation);
                writer.user_data(Some(&user_data)).owned_partitions(had()).write(3)
            }
            Way::Eager => {
                let user_data = StickyUserDataWriter::new(had(), self.generation).write(1);
                writer.user_data(Some(&user_data.expect("shorter than a message can be"))).write(3)
            }
        };
        written.expect("shorter than a message can be")
    }
}

impl Existing {
    fn grow(&mut self, by: u32) {
        self.resize((self.partitions + by).min(20));
    }

    fn shrink(&mut self, by: u32) {
        self.resize(self.partitions.saturating_sub(by));
    }

    fn resize(&mut self, partitions: u32) {
        self.partitions = partitions;
        if let Some(racks) = &mut self.racks {
            let like = racks.first().cloned().unwrap_or_default();
            racks.resize(self.partitions as usize, like);
        }
    }
}

fn replica(from: &mut Unstructured<'_>) -> Result<Vec<&'static str>> {
    Ok(vec![one_of(&RACKS, from)?, one_of(&RACKS, from)?])
}
