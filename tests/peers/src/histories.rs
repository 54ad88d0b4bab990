//! Random groups with histories: who had what, in which generation, after members and topics came and went.

use anyhow::Result;

use crate::groups::{Claims, Group, Member, Topic};
use crate::random::Random;
use crate::shapes::settle;

/// The generation of a group's first rebalance.
const FIRST_GENERATION: i32 = 3;

/// So many groups, the same every time.
pub(crate) fn groups(count: usize) -> Result<Vec<Group>> {
    let mut random = Random(2027);
    let mut groups = Vec::new();
    while groups.len() < count {
        History::begin(&mut random).live(&mut groups)?;
    }
    groups.truncate(count);
    Ok(groups)
}

struct History<'r> {
    random: &'r mut Random,
    group: Group,
    /// Those that left, with what they had then.
    gone: Vec<Member>,
    /// How many members there ever were.
    born: usize,
    /// The chance in a hundred that a member subscribes to a topic; 100 makes them identical.
    density: usize,
}

impl<'r> History<'r> {
    fn begin(random: &'r mut Random) -> Self {
        let density = if random.percent(30) { 100 } else { 20 + random.below(70) };
        let group = Group { generation: FIRST_GENERATION, ..Group::default() };
        let mut history = Self { random, group, gone: Vec::new(), born: 0, density };
        for number in 0..1 + history.random.below(8) {
            let partitions = 1 + history.random.below(12) as u32;
            let topic =
                Topic { name: format!("topic-{number:04}"), partitions, replicas: 0, racks: Vec::new() };
            history.group.topics.push(topic);
        }
        for _ in 0..2 + history.random.below(9) {
            history.join();
        }
        history
    }

    /// A rebalance after each of some changes, the first of them the fresh group's.
    fn live(mut self, groups: &mut Vec<Group>) -> Result<()> {
        groups.push(self.group.clone());
        for _ in 0..2 + self.random.below(5) {
            self.group = settle(&self.group)?;
            for _ in 0..1 + self.random.below(3) {
                self.change();
            }
            groups.push(self.group.clone());
        }
        Ok(())
    }

    fn change(&mut self) {
        match self.random.below(10) {
            0..3 => self.join(),
            3..6 => self.leave(),
            6 => self.come_back(),
            7 => self.resubscribe(),
            8 => self.grow(),
            _ => self.make_again_smaller(),
        }
    }

    fn join(&mut self) {
        let subscription = self.subscription();
        self.group.members.push(Member {
            id: format!("member-{:05}", self.born),
            subscription,
            rack: None,
            claims: Claims::NONE,
        });
        self.born += 1;
    }

    fn leave(&mut self) {
        if self.group.members.len() > 1 {
            let at = self.random.below(self.group.members.len());
            self.gone.push(self.group.members.remove(at));
        }
    }

    /// A member that was away claims what it had a while ago.
    fn come_back(&mut self) {
        let Some(member) = self.gone.pop() else { return self.join() };
        self.group.members.push(member);
        self.group.members.sort_by(|a, b| a.id.cmp(&b.id));
    }

    fn resubscribe(&mut self) {
        let at = self.random.below(self.group.members.len());
        let subscription = self.subscription();
        self.group.members[at].subscription = subscription;
    }

    fn grow(&mut self) {
        let at = self.random.below(self.group.topics.len());
        self.group.topics[at].partitions += 1 + self.random.below(6) as u32;
    }

    /// A topic is deleted and made again with fewer partitions.
    fn make_again_smaller(&mut self) {
        let at = self.random.below(self.group.topics.len());
        let partitions = self.group.topics[at].partitions;
        self.group.topics[at].partitions = 1 + self.random.below(partitions as usize) as u32;
    }

    fn subscription(&mut self) -> u32 {
        let topics = self.group.topics.len();
        let mut chosen: Vec<u32> = (0..topics as u32).filter(|_| self.random.percent(self.density)).collect();
        if chosen.is_empty() {
            chosen.push(self.random.below(topics) as u32);
        }
        let known = self.group.subscriptions.iter().position(|known| *known == chosen);
        let at = known.unwrap_or(self.group.subscriptions.len());
        if known.is_none() {
            self.group.subscriptions.push(chosen);
        }
        at as u32
    }
}
