//! Tables for people.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use kafka_sticky_core::{Assignment, Group, MemberShare};

use crate::{
    failure::one_line,
    json::{ChangeJson, ReportJson, by_member_id, changes},
};

/// A line below the header and nothing else.
const RULED: TableStyle = TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─'));

/// An empty table that fits the terminal, and has attributes only there.
pub(crate) fn table<const N: usize>(header: [&str; N]) -> Table {
    let header = header.map(|name| Cell::new(name).add_attribute(Attribute::Bold));
    let mut table = Table::new();
    table.load_style(RULED).set_content_arrangement(ContentArrangement::Dynamic).set_header(header);
    table
}

/// Prints a table and an empty line.
pub(crate) fn print(output: &mut impl Write, table: &Table) -> io::Result<()> {
    writeln!(output, "{}\n", table.trim_fmt())
}

/// Text from the input or a cluster, with nothing in it that a terminal obeys.
pub(crate) fn text(text: &str) -> Cell {
    Cell::new(one_line(text))
}

/// A number, to the right.
pub(crate) fn number(number: impl ToString) -> Cell {
    Cell::new(number.to_string()).set_alignment(CellAlignment::Right)
}

/// `orders 0-2, 5`, a line for each topic.
pub(crate) fn by_topic<'p>(partitions: impl IntoIterator<Item = (&'p str, &'p [i32])>) -> Cell {
    let lines: Vec<String> = partitions
        .into_iter()
        .map(|(topic, numbers)| format!("{} {}", one_line(topic), ranges(numbers)))
        .collect();
    Cell::new(if lines.is_empty() { "–".to_owned() } else { lines.join("\n") })
}

/// Numbers with runs drawn together: `0-2, 5`.
pub(crate) fn ranges(numbers: &[i32]) -> String {
    let mut said = String::new();
    for run in numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
        let (first, last) = (run[0], run[run.len() - 1]);
        if !said.is_empty() {
            said.push_str(", ");
        }
        let _ = match run.len() {
            1 => write!(said, "{first}"),
            2 => write!(said, "{first}, {last}"),
            _ => write!(said, "{first}-{last}"),
        };
    }
    said
}

/// Who gets what, what that comes to and, where asked for, why.
pub(crate) fn assignment(
    output: &mut impl Write,
    group: &Group<'_>,
    assignment: &Assignment<'_>,
    explain: bool,
) -> io::Result<()> {
    print(output, &shares(assignment))?;
    writeln!(output, "{}", ReportJson::from(assignment.report()).summary())?;
    if assignment.withholds() {
        writeln!(
            output,
            "What is withheld follows in the next rebalance, once its holders have given it up."
        )?;
    }
    if explain {
        let changes = changes(group, assignment);
        if !changes.is_empty() {
            print(output, &changes_table(&changes))?;
        }
    }
    Ok(())
}

/// Who gets what.
pub(crate) fn shares(assignment: &Assignment<'_>) -> Table {
    let members = by_member_id(assignment);
    let count = |partitions: &mut dyn Iterator<Item = (&str, &[i32])>| {
        partitions.map(|(_, numbers)| numbers.len()).sum::<usize>()
    };
    let row = |member: &MemberShare<'_, '_>| {
        let mut row =
            vec![text(member.id()), number(count(&mut member.target())), by_topic(member.assigned())];
        if assignment.withholds() {
            row.push(by_topic(member.withheld()));
        }
        row
    };
    let mut shares = if assignment.withholds() {
        table(["member", "load", "assigned", "withheld"])
    } else {
        table(["member", "load", "assigned"])
    };
    shares.add_rows(members.iter().map(row));
    shares
}

/// `3`, or `3 to 4`.
pub(crate) fn spread(least: u64, most: u64) -> String {
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

/// `1 member`, `2 members`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// What is not kept, and why: partitions of a topic that share all else in one row.
pub(crate) fn changes_table(changes: &[ChangeJson<'_>]) -> Table {
    let mut table = table(["topic", "partitions", "from", "to", "reason"]);
    let mut changes: Vec<&ChangeJson<'_>> = changes.iter().collect();
    let key = |change: &ChangeJson<'_>| {
        (change.topic.to_owned(), change.from.map(str::to_owned), change.to.to_owned(), change.reason)
    };
    changes.sort_by_cached_key(|change| key(change));
    for alike in changes.chunk_by(|a, b| key(a) == key(b)) {
        let numbers: Vec<i32> = alike.iter().map(|change| change.partition).collect();
        let ChangeJson { topic, from, to, reason, .. } = alike[0];
        table.add_row([
            text(topic),
            text(&ranges(&numbers)),
            text(from.unwrap_or("–")),
            text(to),
            text(reason),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_numbers_are_drawn_together() {
        let cases: [(&[i32], &str); 5] = [
            (&[], ""),
            (&[3], "3"),
            (&[0, 1], "0, 1"),
            (&[0, 1, 2, 5, 7, 8, 9], "0-2, 5, 7-9"),
            (&[i32::MIN, i32::MAX], "-2147483648, 2147483647"),
        ];
        for (numbers, expected) in cases {
            assert_eq!(ranges(numbers), expected);
        }
    }
}
