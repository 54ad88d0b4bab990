//! What a leader is asked: who is in the group, what there is to assign, and who had what.

use kafka_sticky_core::{Group, GroupError, Member, Topic};

/// One assignment to be computed.
///
/// Members and topics are known by their index in here. [`group`](Self::group) gives the same to `kafka-sticky-core`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Round<'r> {
    /// The generation being formed; genuine claims and holds are older.
    pub generation: i32,
    /// The topics that exist and that somebody subscribes to. No name stands twice.
    pub topics: Vec<RoundTopic<'r>>,
    /// The members. No id stands twice.
    pub members: Vec<RoundMember<'r>>,
    /// Members that were in the generation before and are gone, where this leader led that one too.
    pub gone: Vec<Gone<'r>>,
}

/// A member that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gone<'r> {
    /// The member id that it had.
    pub id: &'r str,
    /// What this leader gave it last.
    pub had: Vec<Listing<'r>>,
}

/// A topic to be assigned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoundTopic<'r> {
    /// Its name.
    pub name: &'r str,
    /// How many partitions it has, numbered from 0; it may be none.
    pub partitions: u32,
    /// The racks of each partition's replicas, by partition number; `None` where no member has a rack, since librdkafka
    /// does not ask for them then.
    pub racks: Option<Vec<Vec<&'r str>>>,
}

/// A member to be assigned to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoundMember<'r> {
    /// The member id that the broker gave.
    pub id: &'r str,
    /// `group.instance.id`, if it is a static member.
    pub instance_id: Option<&'r str>,
    /// `client.rack`, if set.
    pub rack: Option<&'r str>,
    /// The topics it subscribes to, whether they exist or not, as sent.
    pub subscription: Vec<&'r str>,
    /// The user data of its subscription, as sent; `None` is null.
    pub user_data: Option<&'r [u8]>,
    /// What it says it had, and would best keep. All is as said: nothing tells whether it exists, or is true.
    pub claims: Vec<Listing<'r>>,
    /// What it still processes, so that nobody else may have it yet.
    pub holds: Vec<Listing<'r>>,
    /// Whether it says that it has been in no generation yet: its subscription, of version 1 or later, names none, and no
    /// more does its user data, which can be read.
    pub is_new: bool,
    /// Whether the claims are this leader's own memory of what it gave this member in the generation before, as the
    /// member says nothing itself.
    pub remembered: bool,
}

/// Partitions of one topic, claimed or held since one generation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing<'r> {
    /// The topic's name, as sent.
    pub topic: &'r str,
    /// Partition numbers, as sent.
    pub partitions: Vec<i32>,
    /// The generation; `None` where it was not said, or is negative.
    pub generation: Option<i32>,
}

impl<'r> Round<'r> {
    /// A round of your own making, to try an assignor on.
    pub fn new(
        generation: i32,
        topics: impl IntoIterator<Item = RoundTopic<'r>>,
        members: impl IntoIterator<Item = RoundMember<'r>>,
    ) -> Self {
        let (topics, members) = (topics.into_iter().collect(), members.into_iter().collect());
        Self { generation, topics, members, gone: Vec::new() }
    }

    /// The round as a group of `kafka-sticky-core`, claims and holds included. Linear in the size of the round.
    ///
    /// # Errors
    ///
    /// Where two members or two topics have one name, or a topic has racks for more or fewer partitions than it has:
    /// never in a round that librdkafka asked for.
    pub fn group(&self) -> Result<Group<'_>, GroupError> {
        let topics = self.topics.iter().map(|topic| {
            let described = Topic::new(topic.name, topic.partitions);
            match &topic.racks {
                Some(racks) => described.with_racks(racks.iter().map(|racks| racks.iter().copied())),
                None => described,
            }
        });
        Group::new_forming(self.generation, topics, self.members.iter().map(RoundMember::described))
    }
}

impl<'r> RoundTopic<'r> {
    /// A topic without racks.
    pub fn new(name: &'r str, partitions: u32) -> Self {
        Self { name, partitions, racks: None }
    }

    /// With the racks of each partition's replicas.
    pub fn with_racks(self, racks: Vec<Vec<&'r str>>) -> Self {
        Self { racks: Some(racks), ..self }
    }
}

impl<'r> RoundMember<'r> {
    /// A member that subscribes to nothing and says nothing.
    pub fn new(id: &'r str) -> Self {
        Self {
            id,
            instance_id: None,
            rack: None,
            subscription: Vec::new(),
            user_data: None,
            claims: Vec::new(),
            holds: Vec::new(),
            is_new: false,
            remembered: false,
        }
    }

    /// Adds topics to its subscription.
    pub fn subscribe(mut self, topics: impl IntoIterator<Item = &'r str>) -> Self {
        self.subscription.extend(topics);
        self
    }

    /// With user data.
    pub fn say(self, user_data: &'r [u8]) -> Self {
        Self { user_data: Some(user_data), ..self }
    }

    /// Adds claims.
    pub fn claim(
        mut self,
        topic: &'r str,
        partitions: impl IntoIterator<Item = i32>,
        generation: i32,
    ) -> Self {
        self.claims.push(Listing::new(topic, partitions.into_iter().collect(), Some(generation)));
        self
    }

    /// Adds holds.
    pub fn hold(
        mut self,
        topic: &'r str,
        partitions: impl IntoIterator<Item = i32>,
        generation: i32,
    ) -> Self {
        self.holds.push(Listing::new(topic, partitions.into_iter().collect(), Some(generation)));
        self
    }

    fn described(&self) -> Member<'_> {
        let mut described = Member::new(self.id).subscribe(self.subscription.iter().copied());
        if let Some(instance_id) = self.instance_id {
            described = described.instance_id(instance_id);
        }
        if let Some(rack) = self.rack {
            described = described.rack(rack);
        }
        for Listing { topic, partitions, generation } in &self.claims {
            described.add_claim(topic, partitions.iter().copied(), *generation);
        }
        for Listing { topic, partitions, generation } in &self.holds {
            described.add_hold(topic, partitions.iter().copied(), *generation);
        }
        described
    }
}

impl<'r> Listing<'r> {
    pub(crate) fn new(topic: &'r str, partitions: Vec<i32>, generation: Option<i32>) -> Self {
        Self { topic, partitions, generation }
    }
}
