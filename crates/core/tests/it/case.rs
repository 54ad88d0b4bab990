//! A group as plain data: no type of the crate under test, nothing checked, nothing interned.

use std::collections::BTreeMap;

/// A group to assign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Case {
    /// The generation being formed, if known.
    pub(crate) generation: Option<i32>,
    pub(crate) topics: Vec<Topic>,
    pub(crate) members: Vec<Member>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Topic {
    pub(crate) name: String,
    pub(crate) partitions: u32,
    /// Replica racks by partition number.
    pub(crate) racks: Option<Vec<Vec<String>>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) id: String,
    pub(crate) instance: Option<String>,
    pub(crate) rack: Option<String>,
    pub(crate) subscription: Vec<String>,
    pub(crate) claims: Vec<Claim>,
    pub(crate) holds: Vec<Claim>,
}

/// Something a member says it had (a claim) or still processes (a hold).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) topic: String,
    pub(crate) partition: i32,
    pub(crate) generation: Option<i32>,
}

/// A partition that exists: topic name and number.
pub(crate) type Partition = (String, u32);

/// Who gets each partition, by member id.
pub(crate) type Target = BTreeMap<Partition, String>;

impl Case {
    pub(crate) fn member(&self, id: &str) -> &Member {
        self.members.iter().find(|member| member.id == id).unwrap_or_else(|| panic!("no member {id}"))
    }

    pub(crate) fn member_mut(&mut self, id: &str) -> &mut Member {
        self.members.iter_mut().find(|member| member.id == id).unwrap_or_else(|| panic!("no member {id}"))
    }

    pub(crate) fn remove(&mut self, id: &str) -> Member {
        let index = self.members.iter().position(|member| member.id == id);
        self.members.remove(index.unwrap_or_else(|| panic!("no member {id}")))
    }

    pub(crate) fn partition_count(&self) -> u32 {
        self.topics.iter().map(|topic| topic.partitions).sum()
    }

    /// The same group after everybody received its part of `target` in `generation`, and rejoins with it.
    pub(crate) fn fed_back(&self, target: &Target, generation: i32) -> Case {
        let mut next = self.clone();
        next.generation = generation.checked_add(1);
        for member in &mut next.members {
            member.claims = claims_of(target, &member.id, Some(generation));
            member.holds.clone_from(&member.claims);
        }
        next
    }
}

/// What `target` gives to `member`, as that member would claim it next.
pub(crate) fn claims_of(target: &Target, member: &str, generation: Option<i32>) -> Vec<Claim> {
    target
        .iter()
        .filter(|(_, owner)| *owner == member)
        .map(|((topic, number), _)| Claim {
            topic: topic.clone(),
            partition: i32::try_from(*number).expect("fewer than 2^31 partitions"),
            generation,
        })
        .collect()
}

/// The loads of all members, in the order of the group.
pub(crate) fn loads(case: &Case, target: &Target) -> Vec<u64> {
    case.members
        .iter()
        .map(|member| target.values().filter(|owner| **owner == member.id).count() as u64)
        .collect()
}
