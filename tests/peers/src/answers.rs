//! What a peer answers to a file of groups.
//!
//! The file is big-endian, in the groups' order:
//!
//! ```text
//! file   = answer*
//! answer = count share*                          one for each member, in the group's order
//!        | 0xffffffff                            the peer gave up on this group
//! share  = count (topic count partition:i32*)*
//! ```

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::groups::{self, Share};

const GAVE_UP: u32 = u32::MAX;

/// What each member gets; `None` where the peer gave up.
pub(crate) type Answer = Option<Vec<Share>>;

/// A file that answers are appended to.
pub(crate) struct Answers(BufWriter<File>);

impl Answers {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self(BufWriter::with_capacity(1 << 20, file)))
    }

    /// Appends one answer, so that it can be read at once.
    pub(crate) fn append(&mut self, shares: &[Share]) -> Result<()> {
        groups::count(&mut self.0, shares.len())?;
        shares.iter().try_for_each(|share| groups::write_share(&mut self.0, share))?;
        Ok(self.0.flush()?)
    }
}

/// The first `expected` answers in a file, which has no others, unless its writer was `interrupted`.
pub(crate) fn read(path: &Path, expected: usize, interrupted: bool) -> Result<Vec<Answer>> {
    let file = File::open(path).with_context(|| format!("there is no answer in {}", path.display()))?;
    let mut input = BufReader::with_capacity(1 << 20, file);
    let answers: Vec<Answer> = (0..expected).map(|_| read_one(&mut input)).collect::<Result<_>>()?;
    ensure!(interrupted || input.read(&mut [0])? == 0, "there is more in {} than was asked", path.display());
    Ok(answers)
}

fn read_one(input: &mut impl Read) -> Result<Answer> {
    let members = groups::read_unsigned(input)?;
    if members == GAVE_UP {
        return Ok(None);
    }
    Ok(Some((0..members).map(|_| groups::read_share(input)).collect::<Result<_>>()?))
}
