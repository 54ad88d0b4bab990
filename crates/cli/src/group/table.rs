//! A group for people.

use std::io::{self, Write};

use super::{
    view::{Balance, MemberView, Partitions, View},
    what_if::Next,
};
use crate::{
    failure::one_line,
    json::ChangeJson,
    table::{by_topic, changes_table, counted, number, print as print_table, spread, table, text},
};

pub(super) fn print(output: &mut impl Write, view: &View, next: Option<&Next>) -> io::Result<()> {
    let protocol = if view.protocol.is_empty() { "no protocol" } else { &view.protocol };
    let line = format!("{}: {}, {protocol}", view.group, view.state);
    writeln!(output, "{}\n", one_line(&line))?;
    if !view.members.is_empty() {
        print_table(output, &members(view))?;
    }
    if let Some(balance) = &view.balance {
        writeln!(output, "{}", said(balance))?;
    }
    for note in notes(view) {
        writeln!(output, "Note: {}", one_line(&note))?;
    }
    match next {
        Some(next) => print_next(output, view, next),
        None => Ok(()),
    }
}

fn members(view: &View) -> comfy_table::Table {
    let mut table = table(["member", "host", "subscribes to", "claimed when it joined", "assigned", "load"]);
    for (id, member) in &view.members {
        let topics: Vec<String> = member.topics.iter().map(|topic| one_line(topic)).collect();
        table.add_row([
            text(id),
            text(&member.host),
            comfy_table::Cell::new(topics.join("\n")),
            claims(member),
            shares(&member.assignment),
            number(member.load),
        ]);
    }
    table
}

fn claims(member: &MemberView) -> comfy_table::Cell {
    let cell = shares(&member.claims);
    match member.generation {
        Some(generation) if !member.claims.is_empty() => {
            comfy_table::Cell::new(format!("{}\nin generation {generation}", cell.content()))
        }
        _ => cell,
    }
}

fn shares(partitions: &Partitions) -> comfy_table::Cell {
    by_topic(partitions.iter().map(|(topic, numbers)| (topic.as_str(), &numbers[..])))
}

fn said(balance: &Balance) -> String {
    let even = if balance.unassigned > 0 {
        format!(" {} assigned to nobody.", balance.unassigned)
    } else if balance.sum_of_squares == balance.least_sum_of_squares {
        " No split is more even.".to_owned()
    } else {
        format!(
            " Not as even as it could be: the loads squared sum to {}, the least is {}.",
            balance.sum_of_squares, balance.least_sum_of_squares
        )
    };
    format!(
        "{} and {}: {} each.{even}",
        counted(balance.members, "member"),
        counted(balance.partitions, "partition"),
        spread(balance.min_load, balance.max_load)
    )
}

/// Those of the group, then those of members.
fn notes(view: &View) -> Vec<String> {
    let of_members = view
        .members
        .iter()
        .flat_map(|(id, member)| member.notes.iter().map(move |note| format!("{id}: {note}")));
    view.notes.iter().cloned().chain(of_members).collect()
}

fn print_next(output: &mut impl Write, view: &View, next: &Next) -> io::Result<()> {
    let leave = next.without.iter().map(|id| format!("without {id}"));
    let join = (!next.with.is_empty()).then(|| format!("with {}", next.with.join(", ")));
    let change: Vec<String> = leave.chain(join).collect();
    writeln!(output, "\nThe next rebalance {}", one_line(&change.join(", ")))?;
    if view.strategy().is_none() {
        writeln!(output, "Note: as {} does it; the group runs {}", next.protocol, one_line(&view.protocol))?;
    }
    writeln!(output)?;
    print_table(output, &after(next))?;
    writeln!(output, "{}", next.report.summary())?;
    if !next.changes.is_empty() {
        let changes: Vec<ChangeJson<'_>> = next.changes.iter().map(ChangeJson::from).collect();
        writeln!(output)?;
        print_table(output, &changes_table(&changes))?;
    }
    Ok(())
}

fn after(next: &Next) -> comfy_table::Table {
    let nothing = Partitions::new();
    let withheld = |id: &str| shares(next.withheld.get(id).unwrap_or(&nothing));
    if next.withheld.is_empty() {
        let mut after = table(["member", "assigned"]);
        after.add_rows(next.assignment.iter().map(|(id, share)| [text(id), shares(share)]));
        return after;
    }
    let mut after = table(["member", "assigned", "withheld"]);
    after.add_rows(next.assignment.iter().map(|(id, share)| [text(id), shares(share), withheld(id)]));
    after
}
