//! The same bytes: what each neighbour's own code writes is read by ours, and what ours writes is read by theirs, over a
//! table of cases and in every version.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Result, ensure};

use crate::bytes::message::{Kind, Message};
use crate::bytes::neighbour::{Answer, Neighbour, Request};
use crate::bytes::vectors::Vector;
use crate::options::Options;

mod cases;
mod message;
mod neighbour;
mod ours;
mod vectors;

/// Prints how many messages of each kind were exchanged with each neighbour, and in how many the bytes are the same.
///
/// # Errors
/// Where one understood something else than the other said, or a neighbour writes other bytes than those checked in: all
/// such cases are named.
pub(crate) fn run(options: &Options) -> Result<()> {
    let cases = cases::all();
    let mut vectors = Vec::new();
    let mut faults = Vec::new();
    for neighbour in Neighbour::ALL {
        let mut exchange = Exchange { neighbour, tally: BTreeMap::new(), faults: &mut faults };
        let written = neighbour.ask(&options.programs, &Request::writing(&cases))?;
        for (case, answer) in cases.iter().zip(written) {
            vectors.extend(exchange.neighbour_wrote(case, answer));
        }
        let ours =
            cases.iter().map(|case| ours::write(case, neighbour.framing())).collect::<Result<Vec<_>>>()?;
        let read = neighbour.ask(&options.programs, &Request::reading(&cases, &ours))?;
        for ((case, bytes), answer) in cases.iter().zip(&ours).zip(read) {
            exchange.ours_wrote(case, bytes, answer);
        }
        for (kind, tally) in exchange.tally {
            println!("{}, {kind:?}: {tally}", neighbour.version());
        }
    }
    if options.write {
        vectors::write(&vectors)?;
    } else {
        faults.extend(vectors::differences(&vectors)?);
    }
    ensure!(faults.is_empty(), "not understood alike:\n{}", faults.join("\n"));
    Ok(())
}

struct Exchange<'f> {
    neighbour: Neighbour,
    tally: BTreeMap<Kind, Tally>,
    faults: &'f mut Vec<String>,
}

#[derive(Default)]
struct Tally {
    /// Written by the neighbour, understood by ours.
    read_by_ours: usize,
    /// How many of these ours writes in the very same bytes.
    same_bytes: usize,
    /// Written by ours, understood by the neighbour.
    read_by_neighbour: usize,
    /// What the neighbour does not write, or has no reader for.
    not_written: usize,
    not_read: usize,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { read_by_ours, same_bytes, read_by_neighbour, not_written, not_read } = self;
        write!(f, "ours reads {read_by_ours} of theirs ({same_bytes} in the same bytes as ours), ")?;
        write!(f, "they read {read_by_neighbour} of ours; not written {not_written}, not read {not_read}")
    }
}

impl Exchange<'_> {
    fn neighbour_wrote(&mut self, case: &Message, answer: Answer) -> Option<Vector> {
        let tally = self.tally.entry(case.kind).or_default();
        let bytes = match answer {
            Answer::Bytes(bytes) => bytes,
            Answer::Cannot(_) if !self.neighbour.writes(case) => {
                tally.not_written += 1;
                return None;
            }
            other => {
                self.faults.push(format!("{} does not write {case:?}: {other}", self.neighbour.version()));
                return None;
            }
        };
        let meant = self.neighbour.means(case);
        match ours::read(case.kind, &bytes) {
            Ok(understood) if understood.sorted() == meant => {
                tally.read_by_ours += 1;
                let same = ours::write(&meant, self.neighbour.framing()).is_ok_and(|ours| ours == bytes);
                tally.same_bytes += usize::from(same);
            }
            understood => self.faults.push(format!(
                "{} wrote {} for {meant:?}, and ours read {understood:?}",
                self.neighbour.version(),
                hex::encode(&bytes)
            )),
        }
        Some(Vector { origin: self.neighbour.version().to_owned(), bytes, message: meant })
    }

    fn ours_wrote(&mut self, case: &Message, bytes: &[u8], answer: Answer) {
        let tally = self.tally.entry(case.kind).or_default();
        let meant = self.neighbour.makes_of(case);
        match answer {
            Answer::Message(understood) if understood.sorted() == meant => tally.read_by_neighbour += 1,
            Answer::Cannot(_) if !self.neighbour.reads(case) => tally.not_read += 1,
            other => self.faults.push(format!(
                "ours wrote {} for {case:?}, and {} read {other} instead of {meant:?}",
                hex::encode(bytes),
                self.neighbour.version()
            )),
        }
    }
}
