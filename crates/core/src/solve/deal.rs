//! Which partitions a member gives up, and who takes what is nobody's, where the objectives 1 to 4
//! leave that open: topics are to be spread evenly, and then the first in order comes first.

use super::network::Segment;
use crate::dense::{NOBODY, PartitionId, TopicId};

/// Chooses what members give up.
#[derive(Debug, Default)]
pub(super) struct Releaser {
    /// Turns on with each partition, so that not everybody gives up the same topic.
    turn: usize,
    /// How many topics the member has at least this many partitions of.
    topics_with: Vec<usize>,
    /// The partitions at hand, by member, and the members.
    held: Vec<(TopicId, PartitionId)>,
    givers: Vec<u32>,
    /// Per member: how many there are, then where the next one goes; all zero between uses.
    place: Vec<u32>,
}

impl Releaser {
    pub(super) fn new(members: usize) -> Self {
        Self { place: vec![0; members], ..Self::default() }
    }

    /// Takes `surplus[m]` partitions away from each member `m`, where it has most of a topic first,
    /// and of a topic the last ones.
    pub(super) fn release(&mut self, segments: &[Segment], surplus: &[u32], target: &mut [u32]) {
        let mut held = std::mem::take(&mut self.held);
        let mut givers = std::mem::take(&mut self.givers);
        let giver = |id: u32, target: &[u32]| {
            let member = target[id as usize];
            (member != NOBODY && surplus[member as usize] > 0).then_some(member)
        };
        let ids = |segment: &Segment| segment.start..segment.end;
        for member in segments.iter().flat_map(ids).filter_map(|id| giver(id, target)) {
            let count = &mut self.place[member as usize];
            if *count == 0 {
                givers.push(member);
            }
            *count += 1;
        }
        givers.sort_unstable();
        let mut end = 0;
        for &member in &givers {
            end += std::mem::replace(&mut self.place[member as usize], end);
        }
        held.clear();
        held.resize(end as usize, (TopicId(0), PartitionId(0)));
        for segment in segments {
            for id in ids(segment) {
                if let Some(member) = giver(id, target) {
                    let place = &mut self.place[member as usize];
                    held[*place as usize] = (segment.topic, PartitionId(id));
                    *place += 1;
                }
            }
        }
        let mut start = 0;
        for member in givers.drain(..) {
            let end = std::mem::take(&mut self.place[member as usize]) as usize;
            let of_member = &held[start..end];
            self.release_of_one(of_member, surplus[member as usize] as usize, |id| {
                target[id.index()] = NOBODY
            });
            start = end;
        }
        self.held = held;
        self.givers = givers;
    }

    fn release_of_one(
        &mut self,
        held: &[(TopicId, PartitionId)],
        surplus: usize,
        mut act: impl FnMut(PartitionId),
    ) {
        let runs = || held.chunk_by(|a, b| a.0 == b.0);
        self.topics_with.clear();
        for run in runs() {
            if self.topics_with.len() < run.len() {
                self.topics_with.resize(run.len(), 0);
            }
            self.topics_with[run.len() - 1] += 1;
        }
        for at in (1..self.topics_with.len()).rev() {
            self.topics_with[at - 1] += self.topics_with[at];
        }
        // Everything above `level` partitions of a topic goes, and of some topics one more.
        let mut level = self.topics_with.len();
        let mut left = surplus;
        while level > 0 && self.topics_with[level - 1] <= left {
            left -= self.topics_with[level - 1];
            level -= 1;
        }
        let candidates = if level == 0 { 0 } else { self.topics_with[level - 1] };
        let first = if candidates == 0 { 0 } else { self.turn % candidates };
        self.turn += left;
        let mut candidate = 0;
        for run in runs() {
            let mut keep = run.len().min(level);
            if level > 0 && run.len() >= level {
                let behind_first = (candidate + candidates - first) % candidates;
                keep -= usize::from(behind_first < left);
                candidate += 1;
            }
            run[keep..].iter().for_each(|&(_, partition)| act(partition));
        }
    }
}

/// Deals partitions to the members that still want some, in turn.
#[derive(Debug)]
pub(super) struct Dealer {
    /// What each member still wants.
    pub(super) wants: Vec<u32>,
    /// Members by circle. A place behind each circle stays empty.
    open: Vec<u32>,
    /// For each place that one itself while its member wants some, else a later one of the circle.
    link: Vec<u32>,
    circles: Vec<Circle>,
    /// How many of the topic at hand each member has.
    count: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Circle {
    start: u32,
    end: u32,
    next: u32,
}

/// How many partitions go to the members of a circle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Destination {
    pub(super) circle: u32,
    pub(super) units: u32,
}

/// How many members are looked at for one that has less of the topic.
const WINDOW: usize = 32;

impl Dealer {
    pub(super) fn new(members: usize) -> Self {
        Self {
            wants: vec![0; members],
            open: Vec::new(),
            link: Vec::new(),
            circles: Vec::new(),
            count: vec![0; members],
        }
    }

    /// Forgets all circles.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.link.clear();
        self.circles.clear();
    }

    /// Adds a circle of members, to be dealt to in this order.
    pub(super) fn circle(&mut self, members: impl Iterator<Item = u32>) -> u32 {
        let start = self.open.len() as u32;
        let wants = &self.wants;
        self.open.extend(members.filter(|&member| wants[member as usize] > 0));
        let end = self.open.len() as u32;
        self.open.push(NOBODY);
        self.link.extend(start..=end);
        self.circles.push(Circle { start, end, next: start });
        self.circles.len() as u32 - 1
    }

    /// Deals those of the partitions that are nobody's. Segments are sorted.
    pub(super) fn deal(
        &mut self,
        segments: &[Segment],
        destinations: &mut Vec<Destination>,
        target: &mut [u32],
    ) {
        let mut turn = 0;
        for topic in segments.chunk_by(|a, b| a.topic == b.topic) {
            self.deal_topic(topic, destinations, &mut turn, target);
        }
    }

    fn deal_topic(
        &mut self,
        segments: &[Segment],
        destinations: &mut Vec<Destination>,
        turn: &mut usize,
        target: &mut [u32],
    ) {
        let of = |segment: &Segment| segment.start as usize..segment.end as usize;
        let mut any = false;
        for segment in segments {
            for &member in &target[of(segment)] {
                match self.count.get_mut(member as usize) {
                    Some(count) => *count += 1,
                    None => any = true,
                }
            }
        }
        let mut level = 0;
        for segment in segments.iter().filter(|_| any) {
            for member in &mut target[of(segment)] {
                if *member == NOBODY {
                    *member = self.take(destinations, turn, &mut level);
                }
            }
        }
        for segment in segments {
            for &member in &target[of(segment)] {
                self.count[member as usize] = 0;
            }
        }
    }

    /// The next member that has at most `level` of the topic; raises the level where there is none
    /// near.
    fn take(&mut self, destinations: &mut Vec<Destination>, turn: &mut usize, level: &mut u32) -> u32 {
        let mut best = (usize::MAX, 0, u32::MAX);
        let mut next = *turn;
        for _ in 0..WINDOW.min(destinations.len()) {
            let at = next;
            next = if at + 1 == destinations.len() { 0 } else { at + 1 };
            let (place, count) = self.peek(destinations[at].circle, *level);
            if count < best.2 {
                best = (at, place, count);
            }
            if count <= *level {
                break;
            }
        }
        let (at, place, count) = best;
        *level = (*level).max(count);
        *turn = at + 1;
        destinations[at].units -= 1;
        let member = self.open[place as usize];
        self.circles[destinations[at].circle as usize].next = place + 1;
        if destinations[at].units == 0 {
            destinations.swap_remove(at);
            *turn = at;
        }
        if *turn >= destinations.len() {
            *turn = 0;
        }
        self.count[member as usize] += 1;
        self.wants[member as usize] -= 1;
        if self.wants[member as usize] == 0 {
            self.link[place as usize] = place + 1;
        }
        member
    }

    /// The place of the next member of a circle that has at most `level` of the topic, or least of
    /// those near; and how many.
    fn peek(&mut self, circle: u32, level: u32) -> (u32, u32) {
        let first = self.next_open(circle, self.circles[circle as usize].next);
        let mut place = first;
        let mut best = (first, u32::MAX);
        for _ in 0..WINDOW {
            let count = self.count[self.open[place as usize] as usize];
            if count < best.1 {
                best = (place, count);
            }
            if count <= level {
                break;
            }
            place = self.next_open(circle, place + 1);
            if place == first {
                break;
            }
        }
        best
    }

    /// The next place in the circle, from this one on, of a member that wants some. There must be
    /// one.
    fn next_open(&mut self, circle: u32, from: u32) -> u32 {
        let Circle { start, end, .. } = self.circles[circle as usize];
        let place = self.skip_closed(from);
        if place < end { place } else { self.skip_closed(start) }
    }

    /// Follows the links over members that want no more, and shortens them.
    fn skip_closed(&mut self, mut place: u32) -> u32 {
        while self.link[place as usize] != place {
            let ahead = self.link[self.link[place as usize] as usize];
            self.link[place as usize] = ahead;
            place = ahead;
        }
        place
    }
}
