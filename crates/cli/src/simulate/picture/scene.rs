//! What there is to see: columns of rebalances, rows of members, and partitions in slots that they keep.

use std::collections::{BTreeMap, HashMap};

use super::super::history::{History, Rebalance, Step};
use crate::{json::Name, table::counted};

/// All of it.
pub(super) struct Scene<'h> {
    pub(super) title: String,
    /// In order of joining.
    pub(super) members: Vec<&'h str>,
    /// In order of name.
    pub(super) topics: Vec<&'h str>,
    pub(super) columns: Vec<Column>,
}

/// The group after one rebalance, or before all.
pub(super) struct Column {
    /// The number of the event.
    pub(super) step: usize,
    pub(super) title: String,
    /// Two lines.
    pub(super) said: Vec<String>,
    /// By member; none while it is not in the group.
    pub(super) cells: Vec<Option<Cell>>,
    /// How many partitions come from whom to whom since the column before.
    pub(super) ways: BTreeMap<(usize, usize), usize>,
}

/// What a member has.
#[derive(Clone, Default)]
pub(super) struct Cell {
    pub(super) load: usize,
    pub(super) slots: Vec<Option<Chip>>,
}

/// A partition at a member.
#[derive(Clone)]
pub(super) struct Chip {
    pub(super) topic: usize,
    pub(super) partition: i32,
    pub(super) state: State,
    pub(super) said: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Here before, and after.
    Stays,
    /// Not here in the column before.
    Received,
    /// Not here in the column after.
    Leaves,
    /// Meant for this member, and not here yet.
    Waits,
}

/// Where a partition is, by topic and number.
type Places = BTreeMap<(usize, i32), Place>;

#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    member: usize,
    waits: bool,
}

impl<'h> Scene<'h> {
    pub(super) fn of(history: &'h History<'_>) -> Self {
        let mut members: Vec<&str> = Vec::new();
        let mut topics: Vec<&str> = Vec::new();
        let mut known = HashMap::new();
        for rebalance in history.steps.iter().flat_map(Step::rebalances) {
            for (member, share) in &rebalance.assignment.0 {
                known.entry(&**member).or_insert_with(|| {
                    members.push(member);
                    members.len() - 1
                });
                topics.extend(share.iter().map(|(topic, _)| &**topic));
            }
            for share in rebalance.withheld.0.values() {
                topics.extend(share.iter().map(|(topic, _)| &**topic));
            }
        }
        topics.sort_unstable();
        topics.dedup();
        let mut ids = Ids { members: known, topics: &topics };
        let columns = columns(history, &mut ids);
        Self { title: format!("Who holds what under {}", history.protocol), members, topics, columns }
    }

    /// The most slots that a member needs.
    pub(super) fn most_slots(&self) -> usize {
        self.cells().map(|cell| cell.slots.len()).max().unwrap_or(0)
    }

    pub(super) fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.columns.iter().flat_map(|column| column.cells.iter().flatten())
    }
}

struct Ids<'i, 'h> {
    members: HashMap<&'h str, usize>,
    topics: &'i [&'h str],
}

impl Ids<'_, '_> {
    fn topic(&self, name: &str) -> usize {
        self.topics.binary_search(&name).unwrap_or_default()
    }

    fn places_after(&self, rebalance: &Rebalance<'_>) -> Places {
        let held = rebalance.assignment.partitions().map(|partition| (partition, false));
        let waiting = rebalance.withheld.partitions().map(|partition| (partition, true));
        let place = |((member, (topic, number)), waits): ((&Name<'_>, (&Name<'_>, i32)), bool)| {
            ((self.topic(topic), number), Place { member: self.members[&**member], waits })
        };
        held.chain(waiting).map(place).collect()
    }
}

/// A column before it is known what it looks like.
struct Moment {
    step: usize,
    title: String,
    said: Vec<String>,
    present: Vec<usize>,
    places: Places,
}

fn columns(history: &History<'_>, ids: &mut Ids<'_, '_>) -> Vec<Column> {
    let moments = moments(history, ids);
    let rows = ids.members.len();
    let mut slots: Vec<Vec<Option<(usize, i32)>>> = vec![Vec::new(); rows];
    let mut columns = Vec::new();
    let nothing = Places::new();
    for (at, moment) in moments.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &moments[before].places);
        let after = moments.get(at + 1).map(|after| &after.places);
        settle(&mut slots, &moment.places);
        let mut cells: Vec<Option<Cell>> = vec![None; rows];
        for &member in &moment.present {
            let chips = slots[member].iter().map(|slot| {
                let place = moment.places[&(*slot)?];
                Some(chip(ids, (*slot)?, place, before, after))
            });
            let slots: Vec<Option<Chip>> = chips.collect();
            let load = slots.iter().flatten().filter(|chip| chip.state != State::Waits).count();
            cells[member] = Some(Cell { load, slots });
        }
        let ways = ways(before.unwrap_or(&nothing), &moment.places);
        columns.push(Column {
            step: moment.step,
            title: moment.title.clone(),
            said: moment.said.clone(),
            cells,
            ways,
        });
    }
    columns
}

fn moments(history: &History<'_>, ids: &Ids<'_, '_>) -> Vec<Moment> {
    let mut moments = Vec::new();
    if !history.before.is_empty() {
        let place = |((topic, number), member): (&(Name<'_>, i32), &Name<'_>)| {
            ((ids.topic(topic), *number), Place { member: ids.members[&**member], waits: false })
        };
        let places: Places = history.before.iter().map(place).collect();
        let present = history.steps.first().map(|step| present(&step.first, ids)).unwrap_or_default();
        moments.push(Moment { step: 0, title: "before".to_owned(), said: Vec::new(), present, places });
    }
    for (number, step) in history.steps.iter().enumerate() {
        for (at, rebalance) in step.rebalances().enumerate() {
            let report = &rebalance.report;
            let moved = if at == 0 { counted_moves(step) } else { "what was withheld".to_owned() };
            moments.push(Moment {
                step: number,
                title: if at == 0 { step.title() } else { "follow-up".to_owned() },
                said: vec![moved, format!("load {}", report.loads())],
                present: present(rebalance, ids),
                places: ids.places_after(rebalance),
            });
        }
    }
    moments
}

fn counted_moves(step: &Step<'_>) -> String {
    let moved = step.moved.iter().filter(|moved| moved.from.is_some() && moved.to.is_some()).count();
    let new = step.moved.iter().filter(|moved| moved.from.is_none()).count();
    let gone = step.moved.iter().filter(|moved| moved.to.is_none()).count();
    let counts = [(moved, "moved"), (new, "new"), (gone, "gone")];
    let said: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if said.is_empty() { "nothing moved".to_owned() } else { said.join(", ") }
}

fn present(rebalance: &Rebalance<'_>, ids: &Ids<'_, '_>) -> Vec<usize> {
    rebalance.assignment.0.keys().map(|member| ids.members[&**member]).collect()
}

/// Who is still somewhere keeps its slot; who comes takes the first that is free.
fn settle(slots: &mut [Vec<Option<(usize, i32)>>], places: &Places) {
    for (member, slots) in slots.iter_mut().enumerate() {
        for slot in slots.iter_mut() {
            *slot =
                slot.filter(|partition| places.get(partition).is_some_and(|place| place.member == member));
        }
    }
    for (partition, place) in places {
        let slots = &mut slots[place.member];
        if slots.contains(&Some(*partition)) {
            continue;
        }
        match slots.iter_mut().find(|slot| slot.is_none()) {
            Some(free) => *free = Some(*partition),
            None => slots.push(Some(*partition)),
        }
    }
}

fn chip(
    ids: &Ids<'_, '_>,
    partition: (usize, i32),
    place: Place,
    before: Option<&Places>,
    after: Option<&Places>,
) -> Chip {
    let was_here = before.is_none_or(|before| before.get(&partition) == Some(&place));
    let stays =
        after.is_none_or(|after| after.get(&partition).is_some_and(|next| next.member == place.member));
    let (state, said) = match (place.waits, was_here, stays) {
        (true, ..) => (State::Waits, "withheld until its holder has given it up"),
        (false, _, false) => (State::Leaves, "about to leave"),
        (false, false, true) => (State::Received, "just received"),
        (false, true, true) => (State::Stays, "stays"),
    };
    let said = format!("{} {}: {said}", ids.topics[partition.0], partition.1);
    Chip { topic: partition.0, partition: partition.1, state, said }
}

fn ways(before: &Places, now: &Places) -> BTreeMap<(usize, usize), usize> {
    let mut ways = BTreeMap::new();
    for (partition, place) in now {
        match before.get(partition) {
            Some(from) if from.member != place.member => {
                *ways.entry((from.member, place.member)).or_default() += 1;
            }
            _ => {}
        }
    }
    ways
}

/// `3 topics`, for the legend of a picture that does not show them.
pub(super) fn topics_counted(scene: &Scene<'_>) -> String {
    counted(scene.topics.len() as u64, "topic")
}
