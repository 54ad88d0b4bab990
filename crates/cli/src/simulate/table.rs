//! A simulation as a table.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use comfy_table::{Cell, Table};

use super::history::{History, Move, Step};
use crate::{
    failure::one_line,
    json::Name,
    table::{by_topic, counted, number, print as print_table, ranges, table, text},
};

/// More lines than this for one event are counted only.
const MOST_LINES: usize = 12;

/// A row for each event, and who holds what in the end.
pub(super) fn print(output: &mut impl Write, history: &History<'_>) -> io::Result<()> {
    print_table(output, &events(history))?;
    if let Some(last) = history.steps.last() {
        print_table(output, &holdings(last))?;
    }
    let moved: usize = history.steps.iter().map(|step| taken(step)).sum();
    let rebalances: usize = history.steps.iter().map(|step| step.rebalances().count()).sum();
    let events = history.steps.len().saturating_sub(1) as u64;
    writeln!(
        output,
        "{} under {}: {}, {} moved from one member to another.",
        counted(events, "event"),
        history.protocol,
        counted(rebalances as u64, "rebalance"),
        counted(moved as u64, "partition"),
    )
}

fn events(history: &History<'_>) -> Table {
    let mut table = table(["", "event", "generation", "load", "moved", "what moved"]);
    for (at, step) in history.steps.iter().enumerate() {
        let generations: Vec<i32> = step.rebalances().map(|rebalance| rebalance.generation).collect();
        let last = step.rebalances().last().unwrap_or(&step.first);
        table.add_row([
            number(at),
            text(&step.title()),
            text(&ranges(&generations)),
            text(&last.report.loads()),
            number(taken(step)),
            Cell::new(moves(&step.moved)),
        ]);
    }
    table
}

/// How many partitions a member had that another has now.
fn taken(step: &Step<'_>) -> usize {
    step.moved.iter().filter(|moved| moved.from.is_some() && moved.to.is_some()).count()
}

/// A line for all partitions of a topic that go the same way for the same reason.
fn moves(moved: &[Move<'_>]) -> String {
    let mut moved: Vec<&Move<'_>> = moved.iter().collect();
    moved.sort_by(|a, b| way(a).cmp(&way(b)));
    let alike: Vec<&[&Move<'_>]> = moved.chunk_by(|a, b| way(a) == way(b)).collect();
    let mut said = String::new();
    for moved in alike.iter().take(MOST_LINES) {
        let numbers: Vec<i32> = moved.iter().map(|moved| moved.partition).collect();
        let Move { topic, from, to, reason, .. } = moved[0];
        let name = |member: &Option<_>| member.as_ref().map_or_else(|| "–".to_owned(), ToString::to_string);
        let line = format!("{topic} {}: {} → {} ({reason})", ranges(&numbers), name(from), name(to));
        let _ = writeln!(said, "{}", one_line(&line));
    }
    if let Some(more) = alike.get(MOST_LINES..).filter(|more| !more.is_empty()) {
        let _ = writeln!(
            said,
            "and {} more",
            counted(more.iter().map(|moved| moved.len()).sum::<usize>() as u64, "partition")
        );
    }
    said.truncate(said.trim_end().len());
    if said.is_empty() { "–".to_owned() } else { said }
}

fn way<'m, 'a>(
    moved: &'m Move<'a>,
) -> (&'m Name<'a>, &'m Option<Name<'a>>, &'m Option<Name<'a>>, &'static str) {
    (&moved.topic, &moved.from, &moved.to, moved.reason)
}

fn holdings(last: &Step<'_>) -> Table {
    let mut table = table(["member", "load", "holds in the end"]);
    let end = last.rebalances().last().unwrap_or(&last.first);
    for (member, share) in &end.assignment.0 {
        let load: usize = share.iter().map(|(_, numbers)| numbers.len()).sum();
        let share = share.iter().map(|(topic, numbers)| (&**topic, &numbers[..]));
        table.add_row([text(member), number(load), by_topic(share)]);
    }
    table
}
