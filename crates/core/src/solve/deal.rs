//! Who takes what is nobody's, where the objectives 1 to 4 leave that open: topics are to be spread evenly, and
//! then the first in order comes first.

use super::network::Segment;
use crate::dense::NOBODY;

/// Deals partitions to the members that still want some, in turn.
#[derive(Debug)]
pub(super) struct Dealer {
    /// What each member wants, before anything is dealt.
    pub(super) wants: Vec<u32>,
    /// Members by circle. The place behind each circle is nobody's, who wants nothing.
    places: Vec<Place>,
    /// For each place of a member that wants no more a later one of the circle, else that one itself.
    link: Vec<u32>,
    circles: Vec<Circle>,
    /// Where each member is, or nowhere.
    place_of: Vec<u32>,
    /// Of which deal the counts are.
    deal: u32,
}

/// A member in a circle.
#[derive(Debug, Clone, Copy)]
struct Place {
    member: u32,
    /// What it still wants.
    wants: u32,
    /// How many it has of the topic of this deal; of a later one it has none.
    count: u32,
    deal: u32,
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

const NOWHERE: u32 = u32::MAX;

impl Dealer {
    pub(super) fn new(members: usize) -> Self {
        Self {
            wants: vec![0; members],
            places: Vec::new(),
            link: Vec::new(),
            circles: Vec::new(),
            place_of: vec![NOWHERE; members],
            deal: 0,
        }
    }

    /// Forgets all circles.
    pub(super) fn clear(&mut self) {
        for place in &self.places {
            if let Some(place_of) = self.place_of.get_mut(place.member as usize) {
                *place_of = NOWHERE;
            }
        }
        self.places.clear();
        self.link.clear();
        self.circles.clear();
    }

    /// Adds a circle of members, to be dealt to in this order.
    pub(super) fn circle(&mut self, members: impl Iterator<Item = u32>) -> u32 {
        let start = self.places.len() as u32;
        let deal = self.deal;
        for member in members {
            let wants = self.wants[member as usize];
            if wants > 0 {
                self.place_of[member as usize] = self.places.len() as u32;
                self.places.push(Place { member, wants, count: 0, deal });
            }
        }
        let end = self.places.len() as u32;
        self.places.push(Place { member: NOBODY, wants: 0, count: 0, deal });
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
            let is_open = |segment: &Segment| target[segment.range()].contains(&NOBODY);
            if topic.iter().any(is_open) {
                self.deal_topic(topic, destinations, &mut turn, target);
            }
        }
    }

    fn deal_topic(
        &mut self,
        segments: &[Segment],
        destinations: &mut Vec<Destination>,
        turn: &mut usize,
        target: &mut [u32],
    ) {
        self.deal += 1;
        for &member in segments.iter().flat_map(|segment| &target[segment.range()]) {
            let place = self.place_of.get(member as usize).copied().unwrap_or(NOWHERE);
            if let Some(place) = self.places.get_mut(place as usize) {
                place.count = place.count_in(self.deal) + 1;
                place.deal = self.deal;
            }
        }
        let mut level = 0;
        for segment in segments {
            let mut rest = &mut target[segment.range()];
            while let Some(first) = rest.iter().position(|member| *member == NOBODY) {
                rest = &mut rest[first..];
                let mut dealt = 0;
                if let [only] = &mut destinations[..] {
                    dealt = self.deal_in_turn(only, level, rest);
                }
                if dealt == 0 {
                    rest[0] = self.take(destinations, turn, &mut level);
                    dealt = 1;
                }
                rest = &mut rest[dealt..];
            }
        }
    }

    /// Deals the first partitions to the next members of a circle, as long as each is nobody's and each may take
    /// one more at this level, but for the last unit. Says how many that were.
    fn deal_in_turn(&mut self, destination: &mut Destination, level: u32, target: &mut [u32]) -> usize {
        let Circle { end, next, .. } = &mut self.circles[destination.circle as usize];
        let places = &mut self.places[*next as usize..*end as usize];
        let links = &mut self.link[*next as usize..*end as usize];
        let mut dealt = 0;
        for ((place, link), member) in places.iter_mut().zip(links).zip(target) {
            let may_take = place.wants > 0 && place.count_in(self.deal) <= level;
            if *member != NOBODY || !may_take || dealt + 1 == destination.units {
                break;
            }
            dealt += 1;
            *member = place.take(self.deal);
            if place.wants == 0 {
                *link = *next + dealt;
            }
        }
        *next += dealt;
        destination.units -= dealt;
        dealt as usize
    }

    /// The next member that has at most `level` of the topic; raises the level where there is none
    /// near.
    fn take(&mut self, destinations: &mut Vec<Destination>, turn: &mut usize, level: &mut u32) -> u32 {
        let mut best = (*turn, self.circles[destinations[*turn].circle as usize].next, NOBODY);
        let first = &self.places[best.1 as usize];
        if first.wants > 0 && first.count_in(self.deal) <= *level {
            best.2 = first.count_in(self.deal);
        } else {
            best = self.look_around(destinations, *turn, *level);
        }
        let (at, place, count) = best;
        *level = (*level).max(count);
        *turn = at + 1;
        let destination = &mut destinations[at];
        self.circles[destination.circle as usize].next = place + 1;
        destination.units -= 1;
        if destination.units == 0 {
            destinations.swap_remove(at);
            *turn = at;
        }
        if *turn >= destinations.len() {
            *turn = 0;
        }
        let taker = &mut self.places[place as usize];
        if taker.wants == 1 {
            self.link[place as usize] = place + 1;
        }
        taker.take(self.deal)
    }

    /// Among the destinations from `turn` on, the first whose next member has at most `level` of the topic, or
    /// least of those near: the destination, the place and how many.
    fn look_around(&mut self, destinations: &[Destination], turn: usize, level: u32) -> (usize, u32, u32) {
        let mut best = (usize::MAX, 0, u32::MAX);
        let mut next = turn;
        for _ in 0..WINDOW.min(destinations.len()) {
            let at = next;
            next = if at + 1 == destinations.len() { 0 } else { at + 1 };
            let (place, count) = self.peek(destinations[at].circle, level);
            if count < best.2 {
                best = (at, place, count);
            }
            if count <= level {
                break;
            }
        }
        best
    }

    /// The place of the next member of a circle that has at most `level` of the topic, or least of
    /// those near; and how many.
    fn peek(&mut self, circle: u32, level: u32) -> (u32, u32) {
        let first = self.next_open(circle, self.circles[circle as usize].next);
        let mut place = first;
        let mut best = (first, u32::MAX);
        for _ in 0..WINDOW {
            let count = self.places[place as usize].count_in(self.deal);
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

impl Place {
    fn count_in(&self, deal: u32) -> u32 {
        if self.deal == deal { self.count } else { 0 }
    }

    fn take(&mut self, deal: u32) -> u32 {
        self.count = self.count_in(deal) + 1;
        self.deal = deal;
        self.wants -= 1;
        self.member
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::TopicId;

    /// Deals topics, each with who has which partition already, to three members that want two each.
    fn dealt<const N: usize>(topics: [&[u32]; N]) -> Vec<u32> {
        let mut dealer = Dealer::new(3);
        dealer.wants.fill(2);
        let circle = dealer.circle(0..3);
        let mut target = topics.concat();
        let mut end = 0;
        let segments = (0..).zip(topics).map(|(topic, members)| {
            let start = end;
            end += members.len() as u32;
            Segment { topic: TopicId(topic), start, end }
        });
        let segments: Vec<Segment> = segments.collect();
        dealer.deal(&segments, &mut vec![Destination { circle, units: u32::MAX }], &mut target);
        target
    }

    #[test]
    fn topics_go_round_and_who_wants_no_more_is_left_out() {
        assert_eq!(dealt([&[NOBODY; 2], &[NOBODY; 2], &[NOBODY; 2]]), [0, 1, 2, 0, 1, 2]);
        let mut dealer = Dealer::new(2);
        dealer.wants = vec![1, 3];
        let circle = dealer.circle(0..2);
        let mut target = vec![NOBODY; 4];
        let segment = Segment { topic: TopicId(0), start: 0, end: 4 };
        dealer.deal(&[segment], &mut vec![Destination { circle, units: 4 }], &mut target);
        assert_eq!(target, [0, 1, 1, 1]);
    }

    #[test]
    fn who_has_some_of_the_topic_already_comes_later() {
        assert_eq!(dealt([&[0, NOBODY, NOBODY]]), [0, 1, 2]);
    }

    #[test]
    fn what_somebody_has_of_another_topic_does_not_count() {
        assert_eq!(dealt([&[0, 0, NOBODY], &[NOBODY, NOBODY]]), [0, 0, 1, 2, 0]);
    }
}
