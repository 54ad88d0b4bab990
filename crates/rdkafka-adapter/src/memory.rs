//! What a leader remembers of the last generation that it led.

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::plan::Plan;
use crate::round::{Gone, Listing, Round};

/// Topic by topic, partition numbers.
type Share = Vec<(String, Vec<i32>)>;

/// What each member was given, for members that cannot say it themselves: franz-go's forget when they revoke, a static
/// member forgets when it restarts, user data may be unreadable.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    generation: i32,
    /// The member id that the leader had then.
    leader_id: Vec<u8>,
    /// By member id, in the order of the round.
    shares: IndexMap<String, Share>,
    /// Places in `shares`.
    by_instance_id: HashMap<String, usize>,
}

impl Memory {
    /// What this plan gives in this round, led under this member id.
    pub(crate) fn of(round: &Round<'_>, plan: &Plan, leader_id: &[u8]) -> Self {
        let mut memory =
            Self { generation: round.generation, leader_id: leader_id.to_vec(), ..Self::default() };
        for (index, member) in round.members.iter().enumerate() {
            let mut share = Share::new();
            for (topic, partition) in plan.given(index) {
                let name = round.topics[topic].name;
                if share.last().is_none_or(|(last, _)| last != name) {
                    share.push((name.to_owned(), Vec::new()));
                }
                if let Some((_, partitions)) = share.last_mut() {
                    partitions.extend(i32::try_from(partition));
                }
            }
            memory.shares.insert(member.id.to_owned(), share);
            if let Some(instance_id) = member.instance_id {
                memory.by_instance_id.insert(instance_id.to_owned(), index);
            }
        }
        memory
    }

    /// Puts what is remembered where a member claims nothing itself, in a round led under this member id, and says who is
    /// gone and what they had.
    ///
    /// Only where nobody else can have led since, and given members other things: the generation is the one before, or
    /// this member has not been out of the group meanwhile, which would have cost it its member id, and generations
    /// between were given up before anybody was assigned.
    pub(crate) fn recall<'r>(&'r self, round: &mut Round<'r>, leader_id: &[u8]) {
        if self.generation.checked_add(1) != Some(round.generation) && self.leader_id != leader_id {
            return;
        }
        let mut is_here = vec![false; self.shares.len()];
        for member in &mut round.members {
            let by_id = self.shares.get_index_of(member.id);
            let by_instance_id = || self.by_instance_id.get(member.instance_id?).copied();
            let Some(place) = by_id.or_else(by_instance_id) else { continue };
            is_here[place] = true;
            // It was to be given something, and joined again before it was.
            let was_given_nothing = by_id.is_some() && member.is_new;
            let claims = member.claims.iter().any(|listing| !listing.partitions.is_empty());
            if claims || was_given_nothing {
                continue;
            }
            member.claims = self.listings(&self.shares[place]);
            member.remembered = !member.claims.is_empty();
        }
        let gone = self.shares.iter().zip(is_here).filter(|(_, is_here)| !is_here);
        round.gone = gone.map(|((id, share), _)| Gone { id, had: self.listings(share) }).collect();
    }

    fn listings<'r>(&self, share: &'r Share) -> Vec<Listing<'r>> {
        let by_topic = share.iter();
        by_topic
            .map(|(topic, partitions)| Listing::new(topic, partitions.clone(), Some(self.generation)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::{RoundMember, RoundTopic};

    /// What a leader remembers of generation 5, in which `a` was given t-0 and t-1, and the static member `b` t-2.
    fn memory() -> Memory {
        let mut b = RoundMember::new("b").subscribe(["t"]);
        b.instance_id = Some("static-b");
        let round = Round::new(5, [RoundTopic::new("t", 3)], [RoundMember::new("a").subscribe(["t"]), b]);
        let mut plan = Plan::new(&round);
        plan.give(0, 0, 0);
        plan.give(0, 0, 1);
        plan.give(1, 0, 2);
        Memory::of(&round, &plan, b"leader")
    }

    fn recalled(
        generation: i32,
        leader_id: &[u8],
        member: RoundMember<'_>,
    ) -> Vec<(String, Vec<i32>, Option<i32>)> {
        let memory = memory();
        let mut round = Round::new(generation, [], [member]);
        memory.recall(&mut round, leader_id);
        let claims = round.members[0].claims.iter();
        claims.map(|claim| (claim.topic.to_owned(), claim.partitions.clone(), claim.generation)).collect()
    }

    #[test]
    fn speaks_for_a_member_that_claims_nothing() {
        assert_eq!(recalled(6, b"leader", RoundMember::new("a")), [("t".into(), vec![0, 1], Some(5))]);
    }

    #[test]
    fn speaks_for_a_static_member_under_another_member_id() {
        let mut member = RoundMember::new("b, restarted");
        member.instance_id = Some("static-b");
        assert_eq!(recalled(6, b"leader", member), [("t".into(), vec![2], Some(5))]);
    }

    #[test]
    fn is_silent_about_a_member_that_joined_again_before_it_was_given_anything() {
        let mut member = RoundMember::new("a");
        member.is_new = true;
        assert_eq!(recalled(6, b"leader", member), []);
    }

    #[test]
    fn speaks_for_a_static_member_that_is_new_under_its_member_id() {
        let mut member = RoundMember::new("b, restarted");
        (member.instance_id, member.is_new) = (Some("static-b"), true);
        assert_eq!(recalled(6, b"leader", member), [("t".into(), vec![2], Some(5))]);
    }

    #[test]
    fn is_silent_where_the_member_speaks_itself() {
        let claims = recalled(6, b"leader", RoundMember::new("a").claim("t", [2], 4));
        assert_eq!(claims, [("t".into(), vec![2], Some(4))]);
    }

    #[test]
    fn knows_who_is_gone_and_what_they_had() {
        let memory = memory();
        let mut restarted = RoundMember::new("b, restarted");
        restarted.instance_id = Some("static-b");
        let mut round = Round::new(6, [], [restarted, RoundMember::new("c")]);
        memory.recall(&mut round, b"leader");
        assert_eq!(round.gone, [Gone { id: "a", had: vec![Listing::new("t", vec![0, 1], Some(5))] }]);
    }

    #[test]
    fn is_silent_about_strangers() {
        assert_eq!(recalled(6, b"leader", RoundMember::new("c")), []);
    }

    #[test]
    fn lasts_through_generations_that_were_given_up_before_anybody_was_assigned() {
        assert_eq!(recalled(8, b"leader", RoundMember::new("a")), [("t".into(), vec![0, 1], Some(5))]);
    }

    #[test]
    fn lasts_one_generation_where_the_leader_was_out_of_the_group() {
        assert_eq!(recalled(6, b"leader, again", RoundMember::new("a")), [("t".into(), vec![0, 1], Some(5))]);
        assert_eq!(recalled(7, b"leader, again", RoundMember::new("a")), []);
    }
}
