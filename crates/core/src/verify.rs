//! Judging an assignment without the solver.
//!
//! Nothing here is shared with the solver but the plain data types: owners and racks are worked out
//! again.

use thiserror::Error;

use crate::{
    certificate::{Certificate, Potential},
    dense::{Group, MemberId, PartitionId, RackId, Target, TopicId},
    report::Proven,
};

/// What a certificate shows about an assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// The objectives that it proves optimal.
    pub proven: Proven,
    /// Where it fails first, if it does not prove all four.
    pub gap: Option<Gap>,
}

/// Where a certificate fails to prove an assignment optimal: either the assignment is not
/// optimal, or this certificate does not show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// A member's potential lies outside what its load allows.
    Load {
        /// The first objective (1 to 4) that is not proven.
        objective: usize,
        /// The member.
        member: MemberId,
    },
    /// A partition would be better off elsewhere.
    Partition {
        /// The first objective (1 to 4) that is not proven.
        objective: usize,
        /// The partition.
        partition: PartitionId,
    },
}

/// What makes an assignment invalid, or a certificate unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Flaw {
    /// The target does not have one entry for each partition.
    #[error("the target has {found} entries, the group {expected} partitions")]
    TargetLength {
        /// Partitions of the group.
        expected: usize,
        /// Entries of the target.
        found: usize,
    },
    /// The certificate does not have one potential for each member.
    #[error("the certificate has {found} potentials, the group {expected} members")]
    CertificateLength {
        /// Members of the group.
        expected: usize,
        /// Potentials of the certificate.
        found: usize,
    },
    /// A partition that somebody subscribes to is meant for nobody.
    #[error("{partition:?} has subscribers but is meant for nobody")]
    Unassigned {
        /// The partition.
        partition: PartitionId,
    },
    /// A partition is meant for a member that does not subscribe to it, or is none.
    #[error("{partition:?} is meant for {member:?}, which does not subscribe to its topic")]
    NotSubscribed {
        /// The partition.
        partition: PartitionId,
        /// The member.
        member: MemberId,
    },
}

/// Cost plus price, in the order of the objectives. Wide enough that no potential can overflow it.
type Price = [i128; 4];

/// Says which objectives `certificate` proves optimal for `target`, and that `target` is valid at
/// all.
///
/// Never says "proven" of an assignment that is not optimal, whatever the certificate: see
/// [`Potential`] for why. A certificate that does not fit proves nothing, which does not mean that
/// the assignment is not optimal.
///
/// Linear in subscriptions, partitions, replica racks and claims, but for the searches by topic of
/// a claim and by rack.
///
/// ```
/// use kafka_sticky_core::{Certificate, Group, Member, Topic, verify};
///
/// let members = ["a", "b"].map(|id| Member::new(id).subscribe(["orders"]));
/// let group = Group::new([Topic::new("orders", 4)], members).unwrap();
/// let assignment = group.assign();
/// let verdict = verify(group.dense(), assignment.dense().target(), assignment.certificate()).unwrap();
/// assert!(verdict.proven.all());
///
/// let made_up = Certificate::new(vec![[9, 0, 0, 0], [0, 0, 0, 0]]);
/// let verdict = verify(group.dense(), assignment.dense().target(), &made_up).unwrap();
/// assert!(!verdict.proven.balance);
/// ```
///
/// # Errors
/// [`Flaw`], where a partition with a subscriber is not assigned to one, or the sizes do not fit the group.
pub fn verify(group: &Group, target: &Target, certificate: &Certificate) -> Result<Verdict, Flaw> {
    check_sizes(group, target, certificate)?;
    let loads = valid_loads(group, target)?;
    let mut judge = Judge { objectives: 4, gap: None };
    for ((id, &load), potential) in (0..).zip(&loads).zip(certificate.potentials()) {
        judge.load(MemberId(id), load, *potential);
    }
    judge_partitions(group, target, certificate, &mut judge);
    Ok(Verdict { proven: Proven::first(judge.objectives), gap: judge.gap })
}

fn check_sizes(group: &Group, target: &Target, certificate: &Certificate) -> Result<(), Flaw> {
    let (expected, found) = (group.partition_count(), target.members().len());
    if expected != found {
        return Err(Flaw::TargetLength { expected, found });
    }
    let (expected, found) = (group.member_count(), certificate.potentials().len());
    if expected != found {
        return Err(Flaw::CertificateLength { expected, found });
    }
    Ok(())
}

/// The load of each member, if every partition with a subscriber is assigned to one, and no other
/// is assigned.
fn valid_loads(group: &Group, target: &Target) -> Result<Vec<u64>, Flaw> {
    let mut loads = vec![0; group.member_count()];
    // Per topic and subscription, whether the one contains the other: checked by topic for all
    // members at it.
    let subscribers = Subscribers::of(group);
    let mut stamp = vec![u32::MAX; group.subscription_count()];
    for topic in topics(group) {
        for &subscription in subscribers.of_topic(topic) {
            stamp[subscription as usize] = topic.0;
        }
        for partition in group.partitions_of(topic) {
            match target.member_of(partition) {
                None if subscribers.of_topic(topic).is_empty() => {}
                None => return Err(Flaw::Unassigned { partition }),
                Some(member) => {
                    let subscribed = member.index() < group.member_count()
                        && stamp[group.subscription_of(member).index()] == topic.0;
                    if !subscribed {
                        return Err(Flaw::NotSubscribed { partition, member });
                    }
                    loads[member.index()] += 1;
                }
            }
        }
    }
    Ok(loads)
}

struct Judge {
    objectives: usize,
    gap: Option<Gap>,
}

impl Judge {
    fn load(&mut self, member: MemberId, load: u64, potential: Potential) {
        let potential = potential.map(i128::from);
        let last = [2 * i128::from(load) - 1, 0, 0, 0];
        let next = [2 * i128::from(load) + 1, 0, 0, 0];
        if load > 0 && potential < last {
            self.fails(first_difference(potential, last), |objective| Gap::Load { objective, member });
        }
        if potential > next {
            self.fails(first_difference(potential, next), |objective| Gap::Load { objective, member });
        }
    }

    fn partition(&mut self, partition: PartitionId, found: Price, least: Price) {
        if found != least {
            self.fails(first_difference(found, least), |objective| Gap::Partition { objective, partition });
        }
    }

    fn fails(&mut self, proven: usize, gap: impl Fn(usize) -> Gap) {
        if proven < self.objectives {
            self.objectives = proven;
            self.gap = Some(gap(proven + 1));
        }
    }
}

fn first_difference(a: Price, b: Price) -> usize {
    a.iter().zip(&b).take_while(|(a, b)| a == b).count()
}

fn judge_partitions(group: &Group, target: &Target, certificate: &Certificate, judge: &mut Judge) {
    let history = History::of(group);
    let racks = Racks::of(group);
    let subscribers = Subscribers::of(group);
    let floors = Floors::of(group, &racks, certificate);
    let mut topic_floor = TopicFloor::new(group, &racks);
    for topic in topics(group) {
        if subscribers.of_topic(topic).is_empty() {
            continue;
        }
        topic_floor.enter(topic, subscribers.of_topic(topic), &floors);
        for partition in group.partitions_of(topic) {
            let (owner, earlier) = history.of_partition(partition);
            let price = |member: MemberId| {
                let moved = owner.is_some_and(|owner| owner != member);
                let kept = owner == Some(member);
                let astray = !kept && earlier.is_some_and(|earlier| earlier != member);
                let mismatch = racks.mismatch(group, member, partition);
                let mut price = certificate.potentials()[member.index()].map(i128::from);
                price[1] += i128::from(mismatch);
                price[2] += i128::from(moved);
                price[3] += i128::from(astray);
                price
            };
            let mut least = topic_floor.least(group, &racks, partition);
            least[2] += i128::from(owner.is_some());
            least[3] += i128::from(earlier.is_some());
            for special in [owner, earlier].into_iter().flatten() {
                least = least.min(price(special));
            }
            let at = target.member_of(partition).map(price);
            judge.partition(partition, at.unwrap_or(least), least);
        }
    }
}

fn topics(group: &Group) -> impl Iterator<Item = TopicId> + use<> {
    (0..group.topic_count() as u32).map(TopicId)
}

fn members(group: &Group) -> impl Iterator<Item = MemberId> + use<> {
    (0..group.member_count() as u32).map(MemberId)
}

/// The subscriptions, of at least one member, that contain each topic.
struct Subscribers {
    start: Vec<u32>,
    subscriptions: Vec<u32>,
}

impl Subscribers {
    fn of(group: &Group) -> Self {
        let mut used = vec![false; group.subscription_count()];
        for member in members(group) {
            used[group.subscription_of(member).index()] = true;
        }
        let used = || (0..).zip(&used).filter(|(_, used)| **used).map(|(id, _)| id);
        let topics_of = |id: u32| group.topics_of(crate::dense::SubscriptionId(id));
        let mut start = vec![0; group.topic_count() + 1];
        for topic in used().flat_map(topics_of) {
            start[topic.index() + 1] += 1;
        }
        for at in 0..group.topic_count() {
            start[at + 1] += start[at];
        }
        let mut next = start.clone();
        let mut subscriptions = vec![0; start[group.topic_count()] as usize];
        for id in used() {
            for topic in topics_of(id) {
                subscriptions[next[topic.index()] as usize] = id;
                next[topic.index()] += 1;
            }
        }
        Self { start, subscriptions }
    }

    fn of_topic(&self, topic: TopicId) -> &[u32] {
        &self.subscriptions[self.start[topic.index()] as usize..self.start[topic.index() + 1] as usize]
    }
}

/// The owner and the earlier owner of each partition.
struct History {
    of: Vec<(Option<MemberId>, Option<MemberId>)>,
}

impl History {
    fn of(group: &Group) -> Self {
        let mut start = vec![0_u32; group.partition_count() + 1];
        let mut counting = Vec::new();
        for listing in group.claims() {
            let topics = group.topics_of(group.subscription_of(listing.member));
            for &id in listing.partitions {
                if id.index() < group.partition_count() && topics.binary_search(&group.topic_of(id).0).is_ok()
                {
                    counting.push((id, listing.generation, listing.member));
                    start[id.index() + 1] += 1;
                }
            }
        }
        for at in 0..group.partition_count() {
            start[at + 1] += start[at];
        }
        let mut next = start.clone();
        let mut sorted = vec![(0, MemberId(0)); counting.len()];
        for (id, generation, member) in counting {
            sorted[next[id.index()] as usize] = (generation, member);
            next[id.index()] += 1;
        }
        let bounds = start.windows(2).map(|bounds| bounds[0] as usize..bounds[1] as usize);
        Self { of: bounds.map(|bounds| deciding_claimants(&mut sorted[bounds])).collect() }
    }

    fn of_partition(&self, partition: PartitionId) -> (Option<MemberId>, Option<MemberId>) {
        self.of[partition.index()]
    }
}

fn deciding_claimants(claims: &mut [(i32, MemberId)]) -> (Option<MemberId>, Option<MemberId>) {
    if let [(_, only)] = claims {
        return (Some(*only), None);
    }
    claims.sort_unstable_by(|a, b| b.cmp(a));
    let mut seen = std::collections::HashSet::new();
    let mut first: (Option<i32>, Vec<MemberId>) = (None, Vec::new());
    let mut second: (Option<i32>, Vec<MemberId>) = (None, Vec::new());
    for &(generation, member) in claims.iter() {
        if !seen.insert(member) {
            continue;
        }
        if first.0.is_none_or(|deciding| deciding == generation) {
            first.0 = Some(generation);
            first.1.push(member);
        } else if second.0.is_none_or(|next| next == generation) {
            second.0 = Some(generation);
            second.1.push(member);
        } else {
            break;
        }
    }
    let only = |claimants: &[MemberId]| if let [only] = claimants { Some(*only) } else { None };
    (only(&first.1), only(&second.1))
}

/// Racks, if they count.
struct Racks {
    /// The racks that members are on, sorted; empty while racks do not count.
    of_members: Vec<RackId>,
    count: bool,
}

impl Racks {
    fn of(group: &Group) -> Self {
        let subscribers = Subscribers::of(group);
        let mut replicas: Vec<&[RackId]> = topics(group)
            .filter(|&topic| !subscribers.of_topic(topic).is_empty())
            .flat_map(|topic| group.partitions_of(topic))
            .map(|partition| group.racks_of(partition))
            .collect();
        replicas.sort_unstable();
        replicas.dedup();
        let mut appearing: Vec<RackId> = replicas.concat();
        appearing.sort_unstable();
        appearing.dedup();
        let everywhere = replicas.iter().all(|racks| **racks == appearing);
        let mut of_members: Vec<RackId> = members(group)
            .filter(|&member| !group.topics_of(group.subscription_of(member)).is_empty())
            .filter_map(|member| group.rack_of(member))
            .collect();
        of_members.sort_unstable();
        of_members.dedup();
        let meets = of_members.iter().any(|rack| appearing.binary_search(rack).is_ok());
        let count = meets && !everywhere;
        Self { of_members: if count { of_members } else { Vec::new() }, count }
    }

    fn mismatch(&self, group: &Group, member: MemberId, partition: PartitionId) -> bool {
        self.count && group.rack_of(member).is_some_and(|rack| !group.racks_of(partition).contains(&rack))
    }

    /// A place for each rack of a member, and the last one for members without.
    fn place(&self, rack: Option<RackId>) -> usize {
        match rack {
            Some(rack) if self.count => self.of_members.binary_search(&rack).unwrap_or(self.of_members.len()),
            _ => self.of_members.len(),
        }
    }
}

/// For each subscription and place of a rack, the least potential of its members.
struct Floors {
    start: Vec<u32>,
    least: Vec<(usize, Price)>,
}

impl Floors {
    fn of(group: &Group, racks: &Racks, certificate: &Certificate) -> Self {
        let mut all: Vec<(u32, usize, Price)> = members(group)
            .map(|member| {
                let potential = certificate.potentials()[member.index()].map(i128::from);
                (group.subscription_of(member).0, racks.place(group.rack_of(member)), potential)
            })
            .collect();
        all.sort_unstable();
        all.dedup_by_key(|entry| (entry.0, entry.1));
        let mut start = vec![0; group.subscription_count() + 1];
        for entry in &all {
            start[entry.0 as usize + 1] += 1;
        }
        for at in 0..group.subscription_count() {
            start[at + 1] += start[at];
        }
        Self { start, least: all.into_iter().map(|(_, place, price)| (place, price)).collect() }
    }

    fn of_subscription(&self, id: u32) -> &[(usize, Price)] {
        &self.least[self.start[id as usize] as usize..self.start[id as usize + 1] as usize]
    }
}

/// For one topic, the least potential of its subscribers, by place of a rack and over all.
struct TopicFloor {
    by_place: Vec<Option<Price>>,
    entered: Vec<usize>,
    anywhere: Option<Price>,
    /// The least price for each rack set in this topic.
    by_set: Vec<Option<(TopicId, Price)>>,
    topic: TopicId,
}

impl TopicFloor {
    fn new(group: &Group, racks: &Racks) -> Self {
        Self {
            by_place: vec![None; racks.of_members.len() + 1],
            entered: Vec::new(),
            anywhere: None,
            by_set: vec![None; group.rack_set_count()],
            topic: TopicId(0),
        }
    }

    fn enter(&mut self, topic: TopicId, subscriptions: &[u32], floors: &Floors) {
        for place in self.entered.drain(..) {
            self.by_place[place] = None;
        }
        self.topic = topic;
        self.anywhere = None;
        for &(place, price) in subscriptions.iter().flat_map(|&id| floors.of_subscription(id)) {
            let known = &mut self.by_place[place];
            if known.is_none() {
                self.entered.push(place);
            }
            *known = Some(known.map_or(price, |known| known.min(price)));
            self.anywhere = Some(self.anywhere.map_or(price, |known| known.min(price)));
        }
    }

    /// The least of rack mismatch plus potential over the topic's subscribers.
    fn least(&mut self, group: &Group, racks: &Racks, partition: PartitionId) -> Price {
        let set = group.rack_set_of(partition) as usize;
        match self.by_set[set] {
            Some((topic, price)) if topic == self.topic => price,
            _ => {
                let price = self.least_of_set(racks, group.racks_of(partition));
                self.by_set[set] = Some((self.topic, price));
                price
            }
        }
    }

    fn least_of_set(&self, racks: &Racks, replicas: &[RackId]) -> Price {
        let mut least = self.anywhere.unwrap_or_default();
        // Who is on the wrong rack, or, counted too dear but again below, on the right one or none.
        least[1] += i128::from(racks.count);
        let right = replicas.iter().filter_map(|rack| racks.of_members.binary_search(rack).ok());
        for place in right.chain([racks.of_members.len()]) {
            if let Some(price) = self.by_place[place] {
                least = least.min(price);
            }
        }
        least
    }
}
