//! A group by name.

use thiserror::Error;

use crate::{assignment::Assignment, dense, interner::Interner, report::Options};

/// A consumer group as its leader sees it: topics, members, and what the members say they had.
///
/// Only how the group is put together can be wrong ([`GroupError`]). Whatever a *member* says is
/// accepted: unknown topics, partitions that do not exist, repeats, any generation. What cannot be
/// true does not count.
#[derive(Debug, Clone)]
pub struct Group<'a> {
    /// Sorted; a topic's position is its [`TopicId`](crate::dense::TopicId).
    topics: Vec<&'a str>,
    /// In tie-break order; a member's position is its [`dense::MemberId`].
    members: Vec<Identity<'a>>,
    dense: dense::Group,
}

/// A topic: its name, how many partitions it has, and where known the racks of their replicas.
#[derive(Debug, Clone)]
pub struct Topic<'a> {
    pub(crate) name: &'a str,
    pub(crate) partitions: u32,
    pub(crate) racks: Option<RackLists<'a>>,
}

/// A member: who it is, what it subscribes to, what it had and what it still processes.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    pub(crate) identity: Identity<'a>,
    pub(crate) rack: Option<&'a str>,
    pub(crate) subscription: Vec<&'a str>,
    pub(crate) claims: Listings<'a>,
    pub(crate) holds: Listings<'a>,
}

/// What is wrong with how a group was put together.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GroupError {
    /// Two topics have the same name.
    #[error("topic {topic:?} is given twice; give each topic once, with all its partitions")]
    DuplicateTopic {
        /// The name.
        topic: String,
    },
    /// Two members have the same member id.
    #[error("member {member:?} is given twice; member ids are unique within a group")]
    DuplicateMember {
        /// The member id.
        member: String,
    },
    /// The racks of a topic's replicas are not one list for each partition.
    #[error(
        "topic {topic:?} has {partitions} partitions but racks for {racks}; give one list for each partition"
    )]
    RackCount {
        /// The topic.
        topic: String,
        /// How many partitions it has.
        partitions: u32,
        /// How many lists were given.
        racks: usize,
    },
    /// The topics have too many partitions to number them in 31 bits.
    #[error("topic {topic:?} brings the partitions to 2^31 - 1 or more; groups that large are not supported")]
    TooManyPartitions {
        /// The topic with which it became too many.
        topic: String,
    },
}

/// A list of racks for each partition, one behind the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct RackLists<'a> {
    names: Vec<&'a str>,
    /// Where each list ends.
    ends: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity<'a> {
    pub(crate) id: &'a str,
    pub(crate) instance_id: Option<&'a str>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Listings<'a> {
    heads: Vec<ListingHead<'a>>,
    partitions: Vec<i32>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ListingHead<'a> {
    pub(crate) topic: &'a str,
    pub(crate) generation: Option<i32>,
    end: usize,
}

impl<'a> Topic<'a> {
    /// A topic whose replicas' racks are not known.
    #[must_use]
    pub const fn new(name: &'a str, partitions: u32) -> Self {
        Self { name, partitions, racks: None }
    }

    /// The same with the racks of each partition's replicas, in order of partition number.
    /// Partitions may have none; empty names are no racks.
    #[must_use]
    pub fn with_racks<I>(mut self, racks: I) -> Self
    where
        I: IntoIterator,
        I::Item: IntoIterator<Item = &'a str>,
    {
        let mut lists = RackLists::default();
        for racks in racks {
            lists.names.extend(racks.into_iter().filter(|rack| !rack.is_empty()));
            lists.ends.push(lists.names.len());
        }
        self.racks = Some(lists);
        self
    }
}

impl<'a> Member<'a> {
    /// A member that subscribes to nothing and had nothing.
    #[must_use]
    pub const fn new(member_id: &'a str) -> Self {
        let nothing = Listings { heads: Vec::new(), partitions: Vec::new() };
        Self {
            identity: Identity { id: member_id, instance_id: None },
            rack: None,
            subscription: Vec::new(),
            claims: Listings { heads: Vec::new(), partitions: Vec::new() },
            holds: nothing,
        }
    }

    /// The same as a static member (KIP-345): its group instance id breaks ties in place of its
    /// member id.
    #[must_use]
    pub const fn instance_id(mut self, instance_id: &'a str) -> Self {
        self.identity.instance_id = Some(instance_id);
        self
    }

    /// The same on a rack. An empty name is no rack.
    #[must_use]
    pub const fn rack(mut self, rack: &'a str) -> Self {
        self.rack = if rack.is_empty() { None } else { Some(rack) };
        self
    }

    /// The same with these topics subscribed to as well. Unknown topics and repeats do no harm.
    #[must_use]
    pub fn subscribe(mut self, topics: impl IntoIterator<Item = &'a str>) -> Self {
        self.subscription.extend(topics);
        self
    }

    /// The same with a claim: partitions that it had, in this generation.
    #[must_use]
    pub fn claim(
        mut self,
        topic: &'a str,
        partitions: impl IntoIterator<Item = i32>,
        generation: Option<i32>,
    ) -> Self {
        self.add_claim(topic, partitions, generation);
        self
    }

    /// The same with a hold: partitions that it still processes, since this generation, and that
    /// nobody else may get before it gave them up.
    #[must_use]
    pub fn hold(
        mut self,
        topic: &'a str,
        partitions: impl IntoIterator<Item = i32>,
        generation: Option<i32>,
    ) -> Self {
        self.add_hold(topic, partitions, generation);
        self
    }

    /// Adds a claim, as [`Self::claim`] does.
    pub fn add_claim(
        &mut self,
        topic: &'a str,
        partitions: impl IntoIterator<Item = i32>,
        generation: Option<i32>,
    ) {
        self.claims.add(topic, partitions, generation);
    }

    /// Adds a hold, as [`Self::hold`] does.
    pub fn add_hold(
        &mut self,
        topic: &'a str,
        partitions: impl IntoIterator<Item = i32>,
        generation: Option<i32>,
    ) {
        self.holds.add(topic, partitions, generation);
    }
}

impl<'a> Group<'a> {
    /// A group of these topics and members, in any order. The generation being formed is not known:
    /// see [`Self::new_forming`].
    ///
    /// Near-linear in everything said, plus sorting topic names and member ids. The names are
    /// borrowed, all else is held in dense ids.
    ///
    /// # Errors
    /// [`GroupError`], where topics or members are given twice, or racks not once for each partition.
    pub fn new(
        topics: impl IntoIterator<Item = Topic<'a>>,
        members: impl IntoIterator<Item = Member<'a>>,
    ) -> Result<Self, GroupError> {
        Self::new_forming(-1, topics, members)
    }

    /// The same where the generation being formed is known: the one in the JoinGroup response.
    /// Claims and holds of this or a later one cannot be true and count as of no known generation.
    /// Negative is "not known".
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn new_forming(
        generation: i32,
        topics: impl IntoIterator<Item = Topic<'a>>,
        members: impl IntoIterator<Item = Member<'a>>,
    ) -> Result<Self, GroupError> {
        let topics = sorted_topics(topics)?;
        let mut interner = Interner::new(generation, &topics);
        let (members, racks): (Vec<Identity<'a>>, Vec<Option<&'a str>>) =
            members.into_iter().map(|member| interner.member(member)).unzip();
        let order = tie_break_order(&members)?;
        interner.racks(&topics, &racks)?;
        Ok(Self {
            topics: topics.iter().map(|topic| topic.name).collect(),
            members: order.iter().map(|&at| members[at as usize]).collect(),
            dense: interner.finish(&order),
        })
    }

    /// The optimal assignment, with [`Options::default`].
    ///
    /// Near-linear in the size of the group in ordinary cases, in time and space; bounded by
    /// [`Options::budget`] in all. See the crate's `docs/algorithm.md` for the method and its
    /// sources.
    #[must_use]
    pub fn assign(&self) -> Assignment<'a> {
        self.assign_with(&Options::default())
    }

    /// The optimal assignment that can be found within a bound on the work. Where the bound is
    /// reached, [`crate::Report::proven`] says which objectives are no longer proven optimal.
    #[must_use]
    pub fn assign_with(&self, options: &Options) -> Assignment<'a> {
        Assignment::new(self, self.dense.assign_with(options))
    }

    /// The group in dense ids.
    #[must_use]
    pub fn dense(&self) -> &dense::Group {
        &self.dense
    }

    /// The topics, sorted by name.
    #[must_use]
    pub fn topics(&self) -> &[&'a str] {
        &self.topics
    }

    /// The member ids, in tie-break order: by group instance id where there is one, else by member
    /// id.
    pub fn member_ids(&self) -> impl ExactSizeIterator<Item = &'a str> {
        self.members.iter().map(|member| member.id)
    }

    pub(crate) fn identities(&self) -> &[Identity<'a>] {
        &self.members
    }
}

impl<'a> Identity<'a> {
    fn tie_break(&self) -> (&'a str, &'a str) {
        (self.instance_id.unwrap_or(self.id), self.id)
    }
}

impl<'a> RackLists<'a> {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[&'a str]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.names[start..end])
    }
}

impl<'a> Listings<'a> {
    fn add(&mut self, topic: &'a str, partitions: impl IntoIterator<Item = i32>, generation: Option<i32>) {
        self.partitions.extend(partitions);
        self.heads.push(ListingHead { topic, generation, end: self.partitions.len() });
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&ListingHead<'a>, &[i32])> {
        let mut start = 0;
        self.heads.iter().map(move |head| {
            let partitions = &self.partitions[start..head.end];
            start = head.end;
            (head, partitions)
        })
    }
}

fn sorted_topics<'a>(topics: impl IntoIterator<Item = Topic<'a>>) -> Result<Vec<Topic<'a>>, GroupError> {
    let mut topics: Vec<Topic<'a>> = topics.into_iter().collect();
    topics.sort_unstable_by_key(|topic| topic.name);
    if let Some(pair) = topics.windows(2).find(|pair| pair[0].name == pair[1].name) {
        return Err(GroupError::DuplicateTopic { topic: pair[0].name.to_owned() });
    }
    let mut total = 0_u32;
    for topic in &topics {
        total = total
            .checked_add(topic.partitions)
            .filter(|&total| total < i32::MAX.unsigned_abs())
            .ok_or_else(|| GroupError::TooManyPartitions { topic: topic.name.to_owned() })?;
    }
    Ok(topics)
}

/// The positions of members in tie-break order.
fn tie_break_order(members: &[Identity<'_>]) -> Result<Vec<u32>, GroupError> {
    let mut order: Vec<u32> = (0..members.len() as u32).collect();
    let of = |at: u32| members[at as usize];
    order.sort_unstable_by_key(|&at| of(at).tie_break());
    let mut ids: Vec<&str> = order.iter().map(|&at| of(at).id).collect();
    ids.sort_unstable();
    match ids.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(GroupError::DuplicateMember { member: pair[0].to_owned() }),
        None => Ok(order),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misuse_is_named() {
        let twice = Group::new([Topic::new("t", 1), Topic::new("t", 2)], []).unwrap_err();
        assert_eq!(twice, GroupError::DuplicateTopic { topic: "t".to_owned() });
        let twice = Group::new([], [Member::new("m"), Member::new("m").instance_id("i")]).unwrap_err();
        assert_eq!(twice, GroupError::DuplicateMember { member: "m".to_owned() });
        let racks = Group::new([Topic::new("t", 2).with_racks([["a"]])], []).unwrap_err();
        assert_eq!(racks, GroupError::RackCount { topic: "t".to_owned(), partitions: 2, racks: 1 });
        let many = Group::new([Topic::new("t", u32::MAX), Topic::new("u", 1)], []).unwrap_err();
        assert_eq!(many, GroupError::TooManyPartitions { topic: "t".to_owned() });
    }

    #[test]
    fn static_members_are_ordered_by_instance_id() {
        let members =
            [Member::new("x").instance_id("b"), Member::new("a").instance_id("c"), Member::new("b")];
        let group = Group::new([], members).unwrap();
        assert_eq!(group.member_ids().collect::<Vec<_>>(), ["b", "x", "a"]);
    }

    #[test]
    fn what_does_not_exist_is_dropped_and_never_fails() {
        let member = Member::new("m")
            .subscribe(["u", "t", "t"])
            .claim("t", [i32::MIN, -1, 0, 0, 1, i32::MAX], Some(i32::MAX))
            .claim("nowhere", [0], None)
            .hold("t", [-1, 5], Some(i32::MIN));
        let group = Group::new([Topic::new("t", 1)], [member]).unwrap();
        assert_eq!(group.assign().report().kept, 1);
    }
}
