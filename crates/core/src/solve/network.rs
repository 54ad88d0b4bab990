//! The group, compressed: members that are alike form a class, partitions that are alike a hub.

use std::collections::HashMap;

use crate::{
    dense::{Group, MemberId, NOBODY, RackId, SubscriptionId, TopicId},
    racks::RackSwitch,
};

/// Which partitions may go to which members, with alike ones taken together.
///
/// A *class* is the members with the same subscription (and, while racks count, the same rack). A
/// *hub* is the partitions with the same subscribing classes (and the same racks of members among
/// those of their replicas). Hubs send along *routes* to the classes that may take their
/// partitions.
///
/// Where racks count, routes lead over *gates*, one for each rack that subscribers are on (and one
/// for those on none), and to gates on a wrong rack over a *bypass*. Hubs with the same subscribers
/// share both, so that routes stay few.
#[derive(Debug)]
pub(super) struct Network {
    /// Class `c` has the members `class_members[class_start[c]..class_start[c + 1]]`, sorted.
    class_start: Vec<u32>,
    class_members: Vec<u32>,
    class_rack: Vec<Place>,
    /// The class of each member, or nobody where it subscribes to nothing.
    pub(super) class_of: Vec<u32>,
    /// How many partitions each hub has.
    pub(super) supply: Vec<u32>,
    segment_start: Vec<u32>,
    segments: Vec<Segment>,
    /// The racks of members that hold replicas of a hub's partitions.
    hub_racks: Vec<u32>,
    rack_sets: Vec<Vec<RackId>>,
    /// Sender `s` (first hubs, then bypasses, then gates) has the routes
    /// `route_start[s]..route_start[s + 1]`.
    route_start: Vec<u32>,
    routes: Vec<Route>,
    bypass_count: usize,
    /// Per bypass and gate, how many members it leads to.
    reach: Vec<usize>,
    racks_count: bool,
}

/// Consecutive partitions of one topic.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) topic: TopicId,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Segment {
    /// The partitions as indices into an array.
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Where a sender may send to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// To a class.
    Class(u32),
    /// To another sender, a bypass or a gate. What goes to a bypass ends on a wrong rack.
    Via(u32),
}

/// A class and the routes that lead there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) class: u32,
    routes: [u32; 3],
    length: u8,
}

impl Way {
    /// The ids of the routes.
    pub(super) fn routes(&self) -> impl Iterator<Item = usize> + use<> {
        self.routes.into_iter().take(self.length.into()).map(|id| id as usize)
    }
}

/// The rack of a class, while racks count.
type Place = Option<RackId>;

impl Network {
    pub(super) fn of(group: &Group, racks: RackSwitch) -> Self {
        let mut network = Self::classes(group, racks);
        let grouping = Grouping::of(group);
        network.add_hubs(group, &grouping);
        network.add_routes(group, &grouping);
        network
    }

    pub(super) fn class_count(&self) -> usize {
        self.class_start.len() - 1
    }

    pub(super) fn hub_count(&self) -> usize {
        self.supply.len()
    }

    /// Hubs, bypasses and gates.
    pub(super) fn sender_count(&self) -> usize {
        self.route_start.len() - 1
    }

    pub(super) fn members_of(&self, class: u32) -> &[u32] {
        let at = class as usize;
        &self.class_members[self.class_start[at] as usize..self.class_start[at + 1] as usize]
    }

    pub(super) fn segments_of(&self, hub: u32) -> &[Segment] {
        let at = hub as usize;
        &self.segments[self.segment_start[at] as usize..self.segment_start[at + 1] as usize]
    }

    pub(super) fn routes_of(&self, sender: u32) -> &[Route] {
        &self.routes[self.route_range(sender)]
    }

    /// The ids of a sender's routes.
    pub(super) fn route_range(&self, sender: u32) -> std::ops::Range<usize> {
        self.route_start[sender as usize] as usize..self.route_start[sender as usize + 1] as usize
    }

    /// How a hub's partitions may reach classes; those on the right racks come first.
    pub(super) fn ways(&self, hub: u32) -> Vec<Way> {
        let mut ways = Vec::new();
        self.add_ways(hub, [0; 3], 0, &mut ways);
        ways
    }

    /// Goes two deep: over a bypass and a gate.
    fn add_ways(&self, sender: u32, mut routes: [u32; 3], length: usize, ways: &mut Vec<Way>) {
        for (id, &route) in self.route_range(sender).zip(self.routes_of(sender)) {
            routes[length] = id as u32;
            match route {
                Route::Class(class) => ways.push(Way { class, routes, length: length as u8 + 1 }),
                Route::Via(next) => self.add_ways(next, routes, length + 1, ways),
            }
        }
    }

    /// Whether there are gates: whether racks count.
    pub(super) fn has_gates(&self) -> bool {
        self.sender_count() > self.hub_count()
    }

    /// Whether a route leads to a bypass.
    pub(super) fn is_bypass(&self, route: Route) -> bool {
        let bypasses = self.hub_count()..self.hub_count() + self.bypass_count;
        matches!(route, Route::Via(sender) if bypasses.contains(&(sender as usize)))
    }

    /// [`Self::ways`], sorted by class.
    pub(super) fn sorted_ways(&self, hub: u32) -> Vec<Way> {
        let mut ways = self.ways(hub);
        ways.sort_by_key(|way| way.class);
        ways
    }

    /// How many members a route leads to.
    pub(super) fn reach(&self, route: Route) -> usize {
        match route {
            Route::Class(class) => self.members_of(class).len(),
            Route::Via(sender) => self.reach[sender as usize - self.hub_count()],
        }
    }

    pub(super) fn route(&self, id: usize) -> Route {
        self.routes[id]
    }

    pub(super) fn route_count(&self) -> usize {
        self.routes.len()
    }

    /// Whether a hub's partitions have no replica on the rack of the class, which has one.
    pub(super) fn mismatch(&self, hub: u32, class: u32) -> bool {
        self.racks_count
            && self.class_rack[class as usize].is_some_and(|rack| {
                let set = &self.rack_sets[self.hub_racks[hub as usize] as usize];
                set.binary_search(&rack).is_err()
            })
    }

    /// Classes, numbered in the order of their first members.
    fn classes(group: &Group, racks: RackSwitch) -> Self {
        let mut of_key: HashMap<(SubscriptionId, Place), u32> = HashMap::new();
        let mut of_subscription = vec![NOBODY; group.subscription_count()];
        let mut class_of = vec![NOBODY; group.member_count()];
        let mut class_rack: Vec<Place> = Vec::new();
        for member in (0..group.member_count() as u32).map(MemberId) {
            let subscription = group.subscription_of(member);
            if group.topics_of(subscription).is_empty() {
                continue;
            }
            let rack = group.rack_of(member).filter(|_| racks.is_on());
            let next = class_rack.len() as u32;
            let class = if racks.is_on() {
                of_key.entry((subscription, rack)).or_insert(next)
            } else {
                &mut of_subscription[subscription.index()]
            };
            if *class == NOBODY || *class == next {
                *class = next;
                class_rack.push(rack);
            }
            class_of[member.index()] = *class;
        }
        let mut class_start = vec![0_u32; class_rack.len() + 1];
        for &class in class_of.iter().filter(|&&class| class != NOBODY) {
            class_start[class as usize + 1] += 1;
        }
        accumulate(&mut class_start);
        let mut next = class_start.clone();
        let mut class_members = vec![0; class_start[class_rack.len()] as usize];
        for (member, &class) in (0..).zip(&class_of).filter(|(_, class)| **class != NOBODY) {
            class_members[next[class as usize] as usize] = member;
            next[class as usize] += 1;
        }
        Self {
            class_start,
            class_members,
            class_rack,
            class_of,
            supply: Vec::new(),
            segment_start: vec![0],
            segments: Vec::new(),
            hub_racks: Vec::new(),
            rack_sets: Vec::new(),
            route_start: vec![0],
            routes: Vec::new(),
            bypass_count: 0,
            reach: Vec::new(),
            racks_count: racks.is_on(),
        }
    }

    fn subscription_of(&self, group: &Group, class: u32) -> SubscriptionId {
        group.subscription_of(MemberId(self.members_of(class)[0]))
    }

    fn add_hubs(&mut self, group: &Group, grouping: &Grouping) {
        let set_of = self.intern_rack_sets(group);
        let mut hub_of_set = vec![(u32::MAX, 0_u32); self.rack_sets.len()];
        let mut segments: Vec<(u32, Segment)> = Vec::new();
        for of_group in 0..grouping.count() as u32 {
            let first_segment = segments.len();
            for &topic in grouping.topics_of(of_group) {
                let mut partitions = group.partitions_of(topic);
                while let Some(first) = partitions.next() {
                    let set = set_of[group.rack_set_of(first) as usize];
                    let mut end = first.0 + 1;
                    if self.racks_count {
                        let alike =
                            |id: &crate::dense::PartitionId| set_of[group.rack_set_of(*id) as usize] == set;
                        while partitions.clone().next().as_ref().is_some_and(alike) {
                            partitions.next();
                            end += 1;
                        }
                    } else {
                        end += partitions.len() as u32;
                        partitions = group.partitions_of(topic);
                        partitions.by_ref().for_each(drop);
                    }
                    let known = &mut hub_of_set[set as usize];
                    if known.0 != of_group {
                        *known = (of_group, self.supply.len() as u32);
                        self.supply.push(0);
                        self.hub_racks.push(set);
                    }
                    self.supply[known.1 as usize] += end - first.0;
                    segments.push((known.1, Segment { topic, start: first.0, end }));
                }
            }
            segments[first_segment..].sort_by_key(|&(hub, _)| hub);
        }
        self.segment_start = vec![0; self.supply.len() + 1];
        for &(hub, _) in &segments {
            self.segment_start[hub as usize + 1] += 1;
        }
        accumulate(&mut self.segment_start);
        self.segments = segments.into_iter().map(|(_, segment)| segment).collect();
    }

    /// The racks of replicas, as far as members are on them: numbered, with the number of each of
    /// the group's rack sets.
    fn intern_rack_sets(&mut self, group: &Group) -> Vec<u32> {
        self.rack_sets.push(Vec::new());
        let mut set_of = vec![0; group.rack_set_count()];
        if !self.racks_count {
            return set_of;
        }
        let mut of_members: Vec<RackId> = self.class_rack.iter().copied().flatten().collect();
        of_members.sort_unstable();
        of_members.dedup();
        let mut known = HashMap::from([(Vec::new(), 0)]);
        for (set, number) in (0..).zip(&mut set_of) {
            let counting = group.rack_set(set).iter().filter(|rack| of_members.binary_search(rack).is_ok());
            let counting: Vec<RackId> = counting.copied().collect();
            *number = *known.entry(counting).or_insert_with_key(|racks| {
                self.rack_sets.push(racks.clone());
                self.rack_sets.len() as u32 - 1
            });
        }
        set_of
    }

    fn add_routes(&mut self, group: &Group, grouping: &Grouping) {
        let classes = ClassesOfGroups::of(self, group, grouping);
        let group_of: Vec<u32> = (0..self.hub_count() as u32)
            .map(|hub| grouping.of_topic[self.segments_of(hub)[0].topic.index()])
            .collect();
        if self.racks_count {
            self.add_routes_over_gates(&group_of, &classes, grouping.count());
            return;
        }
        for of_group in group_of {
            self.routes.extend(classes.of_group(of_group).iter().map(|&class| Route::Class(class)));
            self.route_start.push(self.routes.len() as u32);
        }
    }

    fn add_routes_over_gates(&mut self, group_of: &[u32], classes: &ClassesOfGroups, groups: usize) {
        // Gates, by group, each with its classes.
        let mut gates: Vec<(Place, &[u32])> = Vec::new();
        let mut gate_start = vec![0];
        for of_group in 0..groups as u32 {
            let of_rack = |a: &u32, b: &u32| self.class_rack[*a as usize] == self.class_rack[*b as usize];
            let by_rack = classes.of_group(of_group).chunk_by(of_rack);
            gates.extend(by_rack.map(|classes| (self.class_rack[classes[0] as usize], classes)));
            gate_start.push(gates.len());
        }
        let right_gates = |hub: usize, set: &[RackId]| {
            let of_group = gate_start[group_of[hub] as usize]..gate_start[group_of[hub] as usize + 1];
            let is_right = |place: Place| place.is_none_or(|rack| set.binary_search(&rack).is_ok());
            of_group.filter(|&gate| is_right(gates[gate].0)).collect::<Vec<usize>>()
        };
        let sets = |network: &Self, hub: usize| network.rack_sets[network.hub_racks[hub] as usize].clone();
        let right: Vec<Vec<usize>> =
            (0..group_of.len()).map(|hub| right_gates(hub, &sets(self, hub))).collect();

        let mut bypass_of = vec![NOBODY; groups];
        let mut bypasses: Vec<u32> = Vec::new();
        for (right, &of_group) in right.iter().zip(group_of) {
            let all = gate_start[of_group as usize + 1] - gate_start[of_group as usize];
            let bypass = &mut bypass_of[of_group as usize];
            if right.len() < all && *bypass == NOBODY {
                *bypass = (group_of.len() + bypasses.len()) as u32;
                bypasses.push(of_group);
            }
        }
        self.bypass_count = bypasses.len();
        let gate_sender = |gate: usize| (group_of.len() + bypasses.len() + gate) as u32;
        for (right, &of_group) in right.iter().zip(group_of) {
            self.routes.extend(right.iter().map(|&gate| Route::Via(gate_sender(gate))));
            if right.len() < gate_start[of_group as usize + 1] - gate_start[of_group as usize] {
                self.routes.push(Route::Via(bypass_of[of_group as usize]));
            }
            self.route_start.push(self.routes.len() as u32);
        }
        let size = |classes: &[u32]| classes.iter().map(|&class| self.members_of(class).len()).sum::<usize>();
        let sizes: Vec<usize> = gates.iter().map(|(_, classes)| size(classes)).collect();
        for &of_group in &bypasses {
            let of_group = gate_start[of_group as usize]..gate_start[of_group as usize + 1];
            let on_racks = || of_group.clone().filter(|&gate| gates[gate].0.is_some());
            self.routes.extend(on_racks().map(|gate| Route::Via(gate_sender(gate))));
            self.route_start.push(self.routes.len() as u32);
            self.reach.push(on_racks().map(|gate| sizes[gate]).sum());
        }
        for (_, classes) in &gates {
            self.routes.extend(classes.iter().map(|&class| Route::Class(class)));
            self.route_start.push(self.routes.len() as u32);
        }
        self.reach.extend(sizes);
    }
}

/// Topics with the same subscriptions, taken together.
struct Grouping {
    /// The group of each topic, numbered in order of first topic; nobody where nobody subscribes.
    of_topic: Vec<u32>,
    start: Vec<u32>,
    topics: Vec<TopicId>,
}

impl Grouping {
    /// Splits the topics by one subscription after the other. Linear in all subscriptions.
    fn of(group: &Group) -> Self {
        let mut used = vec![false; group.subscription_count()];
        for member in (0..group.member_count() as u32).map(MemberId) {
            used[group.subscription_of(member).index()] = true;
        }
        let mut of_topic = vec![NOBODY; group.topic_count()];
        // Where topics of a part go that the subscription at hand contains; part NOBODY is kept
        // last.
        let mut split_by: Vec<(u32, u32)> = Vec::new();
        let mut unsubscribed = (NOBODY, 0);
        for subscription in (0..).map(SubscriptionId).zip(&used).filter(|(_, used)| **used).map(|(id, _)| id)
        {
            for topic in group.topics_of(subscription) {
                let part = of_topic[topic.index()];
                let fresh = split_by.len() as u32;
                let split = split_by.get_mut(part as usize).unwrap_or(&mut unsubscribed);
                if split.0 != subscription.0 {
                    *split = (subscription.0, fresh);
                    split_by.push((NOBODY, 0));
                }
                let split = split_by.get(part as usize).unwrap_or(&unsubscribed);
                of_topic[topic.index()] = split.1;
            }
        }
        Self::numbered(of_topic, split_by.len())
    }

    fn numbered(mut of_topic: Vec<u32>, parts: usize) -> Self {
        let mut number_of = vec![NOBODY; parts];
        let mut start = vec![0];
        for part in of_topic.iter_mut().filter(|part| **part != NOBODY) {
            let number = &mut number_of[*part as usize];
            if *number == NOBODY {
                *number = start.len() as u32 - 1;
                start.push(0);
            }
            *part = *number;
            start[*part as usize + 1] += 1;
        }
        accumulate(&mut start);
        let mut next = start.clone();
        let mut topics = vec![TopicId(0); start[start.len() - 1] as usize];
        for (topic, &part) in (0..).map(TopicId).zip(&of_topic).filter(|(_, part)| **part != NOBODY) {
            topics[next[part as usize] as usize] = topic;
            next[part as usize] += 1;
        }
        Self { of_topic, start, topics }
    }

    fn count(&self) -> usize {
        self.start.len() - 1
    }

    fn topics_of(&self, of_group: u32) -> &[TopicId] {
        &self.topics[self.start[of_group as usize] as usize..self.start[of_group as usize + 1] as usize]
    }
}

/// The classes that subscribe to each group of topics, sorted by rack, then number.
struct ClassesOfGroups {
    start: Vec<u32>,
    classes: Vec<u32>,
}

impl ClassesOfGroups {
    fn of(network: &Network, group: &Group, grouping: &Grouping) -> Self {
        let mut order: Vec<u32> = (0..network.class_count() as u32).collect();
        order.sort_by_key(|&class| network.class_rack[class as usize]);
        let groups_of = |class: u32| {
            let topics = group.topics_of(network.subscription_of(group, class));
            topics.iter().filter_map(|&topic| {
                let of_group = grouping.of_topic[topic.index()];
                (grouping.topics_of(of_group)[0] == topic).then_some(of_group)
            })
        };
        let mut start = vec![0_u32; grouping.count() + 1];
        for of_group in order.iter().flat_map(|&class| groups_of(class)) {
            start[of_group as usize + 1] += 1;
        }
        accumulate(&mut start);
        let mut next = start.clone();
        let mut classes = vec![0; start[grouping.count()] as usize];
        for &class in &order {
            for of_group in groups_of(class) {
                classes[next[of_group as usize] as usize] = class;
                next[of_group as usize] += 1;
            }
        }
        Self { start, classes }
    }

    fn of_group(&self, of_group: u32) -> &[u32] {
        &self.classes[self.start[of_group as usize] as usize..self.start[of_group as usize + 1] as usize]
    }
}

/// Turns counts, each one place too far up, into starts.
fn accumulate(counts: &mut [u32]) {
    for at in 1..counts.len() {
        counts[at] += counts[at - 1];
    }
}
