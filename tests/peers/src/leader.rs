//! A leader of ours, without the client around it: from members' metadata bytes to shares by name, and to bytes again.

use std::hint::black_box;

use anyhow::Result;
use kafka_sticky_core as core;
use kafka_sticky_protocol::{
    AssignmentWriter, MemberClaims, StickyUserDataWriter, Strategy, Subscription, SubscriptionWriter,
    TopicPartitions, cooperative_user_data,
};

use crate::groups::{Group, Member, Share};

/// A group as a leader has it: topics as the metadata tells them, and what each member sent.
pub(crate) struct Joined {
    generation: i32,
    strategy: Strategy,
    topics: Vec<Topic>,
    members: Vec<JoinedMember>,
}

struct Topic {
    name: String,
    partitions: u32,
    racks: Option<Vec<Vec<String>>>,
}

struct JoinedMember {
    id: String,
    metadata: Vec<u8>,
}

impl Joined {
    /// The group after every member has said what it has to say, as members of ours would.
    pub(crate) fn of(group: &Group, strategy: Strategy) -> Result<Self> {
        let member = |member: &Member| {
            Ok(JoinedMember { id: member.id.clone(), metadata: metadata(group, member, strategy)? })
        };
        let topics = group.topics.iter().map(|topic| {
            let named =
                |racks: &[u32]| racks.iter().map(|rack| group.racks[*rack as usize].clone()).collect();
            let racks = (topic.replicas > 0)
                .then(|| topic.racks.chunks(topic.replicas as usize).map(named).collect());
            Topic { name: topic.name.clone(), partitions: topic.partitions, racks }
        });
        Ok(Self {
            generation: group.generation,
            strategy,
            topics: topics.collect(),
            members: group.members.iter().map(member).collect::<Result<_>>()?,
        })
    }

    /// Reads what every member sent.
    pub(crate) fn read(&self) -> Result<Vec<Subscription<'_>>> {
        Ok(self
            .members
            .iter()
            .map(|member| Subscription::read(&member.metadata))
            .collect::<Result<_, _>>()?)
    }

    /// What each of these subscriptions claims.
    pub(crate) fn claims<'s>(&self, subscriptions: &'s [Subscription<'_>]) -> Vec<MemberClaims<'s>> {
        subscriptions.iter().map(|said| MemberClaims::read(self.strategy, said)).collect()
    }

    /// From what was read to who gets what.
    pub(crate) fn assign<'r>(
        &'r self,
        subscriptions: &'r [Subscription<'_>],
        claims: &'r [MemberClaims<'_>],
    ) -> Result<core::Assignment<'r>> {
        let topics = self.topics.iter().map(|topic| {
            let described = core::Topic::new(&topic.name, topic.partitions);
            match &topic.racks {
                Some(racks) => {
                    described.with_racks(racks.iter().map(|racks| racks.iter().map(String::as_str)))
                }
                None => described,
            }
        });
        let members = self.members.iter().zip(subscriptions).zip(claims).map(|((member, said), claims)| {
            let mut described = core::Member::new(&member.id).subscribe(said.topics());
            if let Some(rack) = said.rack() {
                described = described.rack(rack);
            }
            for (topic, partitions) in claims.claims() {
                described.add_claim(topic, partitions, claims.claims_generation());
            }
            for (topic, partitions) in claims.holds() {
                described.add_hold(topic, partitions, claims.holds_generation());
            }
            described
        });
        Ok(core::Group::new_forming(self.generation, topics, members)?.assign())
    }

    /// From bytes to names: what is timed beside the peers. Returns how many partitions were given to somebody.
    pub(crate) fn bytes_to_names(&self) -> Result<usize> {
        let subscriptions = self.read()?;
        let claims = self.claims(&subscriptions);
        let assignment = self.assign(&subscriptions, &claims)?;
        let given = assignment.members().map(|share| {
            black_box(share.id());
            share.assigned().map(|(topic, partitions)| black_box((topic, partitions)).1.len()).sum::<usize>()
        });
        Ok(given.sum())
    }

    /// From bytes to bytes: a leader's whole work. Returns how many bytes were written.
    pub(crate) fn bytes_to_bytes(&self) -> Result<usize> {
        let subscriptions = self.read()?;
        let claims = self.claims(&subscriptions);
        let assignment = self.assign(&subscriptions, &claims)?;
        assignment.members().try_fold(0, |written, share| {
            Ok(written + black_box(self.write(&share.assigned().collect::<Vec<_>>())?).len())
        })
    }

    /// Reads every name and number of what the members sent.
    pub(crate) fn walk(&self) -> Result<usize> {
        self.members.iter().try_fold(0, |read, member| {
            let said = Subscription::read(&member.metadata)?;
            let claims = MemberClaims::read(self.strategy, &said);
            let topics = said.topics().iter().map(str::len).sum::<usize>();
            Ok(read + topics + walk(claims.claims()) + walk(claims.holds()))
        })
    }

    /// Reads all that, and writes these shares: the least that a leader must do. Returns how many bytes were written.
    pub(crate) fn floor(&self, shares: &[Vec<(&str, &[i32])>]) -> Result<usize> {
        black_box(self.walk()?);
        shares.iter().try_fold(0, |written, share| Ok(written + black_box(self.write(share)?).len()))
    }

    /// A member's assignment, as the leader of the adapter writes it: under `sticky` with its next claims.
    fn write(&self, share: &[(&str, &[i32])]) -> Result<Vec<u8>> {
        let user_data = match self.strategy {
            Strategy::Sticky => {
                Some(StickyUserDataWriter::new(share.iter().copied(), Some(self.generation)).write(1)?)
            }
            _ => None,
        };
        Ok(AssignmentWriter::new(share.iter().copied()).user_data(user_data.as_deref()).write(0)?)
    }

    /// What each member gets, with topics by index.
    pub(crate) fn shares(&self) -> Result<Vec<Share>> {
        let subscriptions = self.read()?;
        let claims = self.claims(&subscriptions);
        let assignment = self.assign(&subscriptions, &claims)?;
        let index = |name: &str| {
            let at = self.topics.binary_search_by(|topic| topic.name.as_str().cmp(name));
            at.expect("only topics of the group are assigned") as u32
        };
        let share = |member: &JoinedMember| {
            let share = assignment.member(&member.id).expect("every member gets a share");
            share.assigned().map(|(topic, partitions)| (index(topic), partitions.to_vec())).collect()
        };
        Ok(self.members.iter().map(share).collect())
    }
}

fn walk(claims: TopicPartitions<'_>) -> usize {
    let topics = claims.iter();
    topics
        .map(|(topic, partitions)| {
            topic.len() + partitions.iter().map(|number| number as usize).sum::<usize>()
        })
        .sum()
}

fn metadata(group: &Group, member: &Member, strategy: Strategy) -> Result<Vec<u8>> {
    let name = |topic: &u32| group.topics[*topic as usize].name.as_str();
    let generation = Some(member.claims.generation).filter(|generation| *generation >= 0);
    let had =
        || member.claims.partitions.iter().map(|(topic, numbers)| (name(topic), numbers.iter().copied()));
    let rack = member.rack.map(|rack| group.racks[rack as usize].as_str());
    let writer = SubscriptionWriter::new(group.topics_of(member).iter().map(name)).rack_id(rack);
    let written = match strategy {
        Strategy::Sticky => {
            let user_data =
                generation.map(|_| StickyUserDataWriter::new(had(), generation).write(1)).transpose()?;
            writer.user_data(user_data.as_deref()).generation_id(generation).write(3)?
        }
        _ => {
            let user_data = cooperative_user_data(generation);
            writer.user_data(Some(&user_data)).owned_partitions(had()).generation_id(generation).write(3)?
        }
    };
    Ok(written)
}
