//! Groups as every peer is given them, and the file that they are kept in.
//!
//! The file is big-endian. Counts and indices are 32 bits wide; a string is a 16-bit length and UTF-8.
//!
//! ```text
//! file          = "KSGROUPS" count group*
//! group         = generation:i32
//!                 count rack:string*
//!                 count (name:string partitions replicas rack*)*       racks by partition, `replicas` of each
//!                 count (count topic*)*                                the distinct subscriptions
//!                 count (id:string subscription rack:i32 claimed:i32 count (topic count partition:i32*)*)*
//! ```
//!
//! A member's `rack` is -1 where it has none, and `claimed` is the generation of its claims.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

const MAGIC: &[u8; 8] = b"KSGROUPS";

/// A consumer group before a rebalance.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Group {
    /// The generation being formed.
    pub(crate) generation: i32,
    pub(crate) racks: Vec<String>,
    pub(crate) topics: Vec<Topic>,
    /// The distinct subscriptions: topics by index.
    pub(crate) subscriptions: Vec<Vec<u32>>,
    pub(crate) members: Vec<Member>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Topic {
    pub(crate) name: String,
    pub(crate) partitions: u32,
    /// How many replicas each partition has; 0 where their racks are not known.
    pub(crate) replicas: u32,
    /// By partition the racks of its replicas, by index.
    pub(crate) racks: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) id: String,
    pub(crate) subscription: u32,
    pub(crate) rack: Option<u32>,
    pub(crate) claims: Claims,
}

/// What a member had, and in which generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claims {
    pub(crate) generation: i32,
    pub(crate) partitions: Share,
}

/// Partition numbers by topic.
pub(crate) type Share = Vec<(u32, Vec<i32>)>;

impl Claims {
    /// Those of a member that never had anything.
    pub(crate) const NONE: Self = Self { generation: -1, partitions: Vec::new() };
}

impl Group {
    pub(crate) fn partition_count(&self) -> usize {
        self.topics.iter().map(|topic| topic.partitions as usize).sum()
    }

    pub(crate) fn topics_of(&self, member: &Member) -> &[u32] {
        &self.subscriptions[member.subscription as usize]
    }
}

/// Writes groups where the peers find them.
pub(crate) fn write(path: &Path, groups: &[Group]) -> Result<()> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    out.write_all(MAGIC)?;
    count(&mut out, groups.len())?;
    for group in groups {
        write_group(&mut out, group)?;
    }
    Ok(out.flush()?)
}

/// Reads what [`write()`] wrote.
pub(crate) fn read(path: &Path) -> Result<Vec<Group>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut input = BufReader::with_capacity(1 << 20, file);
    let mut magic = [0; 8];
    input.read_exact(&mut magic)?;
    ensure!(&magic == MAGIC, "{} is no file of groups", path.display());
    list(&mut input, read_group)
}

fn write_group(out: &mut impl Write, group: &Group) -> Result<()> {
    int(out, group.generation)?;
    count(out, group.racks.len())?;
    group.racks.iter().try_for_each(|rack| string(out, rack))?;
    count(out, group.topics.len())?;
    for topic in &group.topics {
        string(out, &topic.name)?;
        unsigned(out, topic.partitions)?;
        unsigned(out, topic.replicas)?;
        topic.racks.iter().try_for_each(|rack| unsigned(out, *rack))?;
    }
    count(out, group.subscriptions.len())?;
    for subscription in &group.subscriptions {
        count(out, subscription.len())?;
        subscription.iter().try_for_each(|topic| unsigned(out, *topic))?;
    }
    count(out, group.members.len())?;
    for member in &group.members {
        string(out, &member.id)?;
        unsigned(out, member.subscription)?;
        int(out, member.rack.map_or(-1, |rack| rack as i32))?;
        int(out, member.claims.generation)?;
        write_share(out, &member.claims.partitions)?;
    }
    Ok(())
}

fn read_group(input: &mut impl Read) -> Result<Group> {
    Ok(Group {
        generation: read_int(input)?,
        racks: list(input, read_string)?,
        topics: list(input, read_topic)?,
        subscriptions: list(input, |input| list(input, read_unsigned))?,
        members: list(input, read_member)?,
    })
}

fn read_topic(input: &mut impl Read) -> Result<Topic> {
    let (name, partitions, replicas) = (read_string(input)?, read_unsigned(input)?, read_unsigned(input)?);
    let racks = (0..partitions * replicas).map(|_| read_unsigned(input)).collect::<Result<_>>()?;
    Ok(Topic { name, partitions, replicas, racks })
}

fn read_member(input: &mut impl Read) -> Result<Member> {
    Ok(Member {
        id: read_string(input)?,
        subscription: read_unsigned(input)?,
        rack: u32::try_from(read_int(input)?).ok(),
        claims: Claims { generation: read_int(input)?, partitions: read_share(input)? },
    })
}

pub(crate) fn write_share(out: &mut impl Write, share: &Share) -> Result<()> {
    count(out, share.len())?;
    for (topic, partitions) in share {
        unsigned(out, *topic)?;
        count(out, partitions.len())?;
        partitions.iter().try_for_each(|partition| int(out, *partition))?;
    }
    Ok(())
}

pub(crate) fn read_share(input: &mut impl Read) -> Result<Share> {
    list(input, |input| Ok((read_unsigned(input)?, list(input, read_int)?)))
}

pub(crate) fn count(out: &mut impl Write, count: usize) -> Result<()> {
    unsigned(out, u32::try_from(count).context("too many for one file")?)
}

fn unsigned(out: &mut impl Write, value: u32) -> Result<()> {
    Ok(out.write_all(&value.to_be_bytes())?)
}

fn int(out: &mut impl Write, value: i32) -> Result<()> {
    Ok(out.write_all(&value.to_be_bytes())?)
}

fn string(out: &mut impl Write, text: &str) -> Result<()> {
    out.write_all(&u16::try_from(text.len()).context("a name is too long")?.to_be_bytes())?;
    Ok(out.write_all(text.as_bytes())?)
}

fn list<R: Read, T>(input: &mut R, mut item: impl FnMut(&mut R) -> Result<T>) -> Result<Vec<T>> {
    let count = read_unsigned(input)?;
    (0..count).map(|_| item(input)).collect()
}

pub(crate) fn read_unsigned(input: &mut impl Read) -> Result<u32> {
    let mut bytes = [0; 4];
    input.read_exact(&mut bytes).context("it ends too early")?;
    Ok(u32::from_be_bytes(bytes))
}

fn read_int(input: &mut impl Read) -> Result<i32> {
    Ok(read_unsigned(input)?.cast_signed())
}

fn read_string(input: &mut impl Read) -> Result<String> {
    let mut length = [0; 2];
    input.read_exact(&mut length).context("it ends too early")?;
    let mut bytes = vec![0; usize::from(u16::from_be_bytes(length))];
    input.read_exact(&mut bytes).context("it ends too early")?;
    Ok(String::from_utf8(bytes)?)
}
