//! `kafka-sticky assign`

use std::{
    io::{BufRead as _, Write},
    process::ExitCode,
};

use kafka_sticky_core::GroupError;
use serde::Serialize;

use crate::{
    arguments::{AssignArguments, Format},
    failure::{BAD_INPUT, Failure, one_line},
    input::{self, JsonError, Source},
    json::{GroupInput, ResultJson, by_member_id, write_pretty},
    output, table,
};

pub(crate) fn run(arguments: &AssignArguments) -> Result<ExitCode, Failure> {
    let source = Source::new(arguments.file.as_ref());
    if arguments.jsonl {
        if arguments.format.format == Some(Format::Table) {
            return Err(Failure::Usage("--jsonl prints JSON, one result a line; leave out --format".into()));
        }
        return lines(&source, arguments.explain);
    }
    one(&source, arguments)
}

fn one(source: &Source, arguments: &AssignArguments) -> Result<ExitCode, Failure> {
    let json = source.read()?;
    let input = read(&json).map_err(|error| source.json(error))?;
    let group = input.to_core().map_err(|error| source.json(too_large(&error)))?;
    let assignment = group.assign();
    match arguments.format.chosen() {
        Format::Json => {
            let members = by_member_id(&assignment);
            let mut output = output::plain();
            write_pretty(&mut output, &ResultJson::new(&group, &assignment, &members, arguments.explain))?;
            output.flush()?;
        }
        Format::Table => {
            let mut output = output::for_people();
            table::assignment(&mut output, &group, &assignment, arguments.explain)?;
            output.flush()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A group a line in, a result a line out, each as soon as it is there.
fn lines(source: &Source, explain: bool) -> Result<ExitCode, Failure> {
    let mut input = source.open()?;
    let mut output = output::plain();
    let mut line = Vec::new();
    let mut bad = 0_usize;
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line).map_err(|error| source.unreadable(error))? == 0 {
            break;
        }
        if let Err(error) = write_line(&mut output, &line, explain)? {
            bad += 1;
            let error = one_line(&error.to_string());
            serde_json::to_writer(&mut output, &BadLine { error })?;
        }
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::from(BAD_INPUT) })
}

#[derive(Serialize)]
struct BadLine {
    error: String,
}

/// Writes the result for one line, unless the line is bad: nothing is written then.
fn write_line(output: &mut impl Write, line: &[u8], explain: bool) -> Result<Result<(), JsonError>, Failure> {
    let input = match read(line) {
        Ok(input) => input,
        Err(error) => return Ok(Err(error)),
    };
    let group = match input.to_core() {
        Ok(group) => group,
        Err(error) => return Ok(Err(too_large(&error))),
    };
    let assignment = group.assign();
    let members = by_member_id(&assignment);
    serde_json::to_writer(output, &ResultJson::new(&group, &assignment, &members, explain))?;
    Ok(Ok(()))
}

fn read(json: &[u8]) -> Result<GroupInput<'_>, JsonError> {
    input::parse(json)
}

fn too_large(error: &GroupError) -> JsonError {
    JsonError::new("$.topics", error.to_string())
}
