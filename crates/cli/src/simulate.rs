//! `kafka-sticky simulate`

use std::{
    fs, io,
    io::Write as _,
    process::ExitCode,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::{
    arguments::{Format, SimulateArguments},
    failure::Failure,
    input::{self, JsonError, Source},
    json::Object,
    output::{self, print_json},
};
use events::Run;
use history::{History, Simulation};

mod events;
mod history;
mod picture;
mod table;

/// A run that is over sooner shows no progress.
const SOON: Duration = Duration::from_millis(200);

pub(crate) fn run(arguments: &SimulateArguments) -> Result<ExitCode, Failure> {
    let source = Source::new(arguments.file.as_ref());
    let json = source.read()?;
    let history = simulate(&json).map_err(|error| source.json(error))?;
    if let Some(path) = &arguments.svg {
        let failed = |error: io::Error| Failure::File { file: path.display().to_string(), error };
        fs::write(path, picture::draw(&history)).map_err(failed)?;
    }
    match arguments.format.chosen() {
        Format::Json => print_json(&history)?,
        Format::Table => {
            let mut output = output::for_people();
            table::print(&mut output, &history)?;
            output.flush()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn simulate(json: &[u8]) -> Result<History<'_>, JsonError> {
    let Run { group: Object(group), events } = input::parse(json)?;
    // On standard error, and only where that is a terminal.
    let progress = ProgressBar::with_draw_target(Some(events.len() as u64), ProgressDrawTarget::hidden());
    let started = Instant::now();
    let mut simulation = Simulation::start(group)?;
    for event in events {
        if progress.is_hidden() && started.elapsed() > SOON {
            progress.set_draw_target(ProgressDrawTarget::stderr());
        }
        simulation.happen(event)?;
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(simulation.finish())
}
