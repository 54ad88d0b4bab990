//! Subscriptions as a fuzzer would have them: mostly well-formed, in every version and form, true or not.

use arbitrary::{Result, Unstructured};
use kafka_sticky_protocol::{
    Framing, Order, StickyUserDataWriter, SubscriptionWriter, cooperative_user_data,
};

/// Names of topics; the last two never exist.
pub(crate) const NAMES: [&str; 7] = ["a", "b", "c", "dd", "e", "é", ""];
/// Those that can exist.
pub(crate) const EXISTING: usize = 5;
/// The last is none.
pub(crate) const RACKS: [&str; 4] = ["x", "y", "z", ""];

/// One of `values`.
pub(crate) fn one_of<T: Copy>(values: &[T], from: &mut Unstructured<'_>) -> Result<T> {
    Ok(values[from.int_in_range(0..=values.len() - 1)?])
}

/// The names whose bits are set.
pub(crate) fn some_names(from: &mut Unstructured<'_>) -> Result<Vec<&'static str>> {
    let bits: u8 = from.arbitrary()?;
    let set = |(bit, name): (usize, &&'static str)| (bits >> bit & 1 == 1).then_some(*name);
    let mut names: Vec<&str> = NAMES.iter().enumerate().filter_map(set).collect();
    if bits >> 7 == 1 {
        names.extend(names.first().copied());
    }
    Ok(names)
}

/// A generation: around those that exist, or at an end of the range.
pub(crate) fn generation(from: &mut Unstructured<'_>) -> Result<i32> {
    one_of(&[0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -2, i32::MIN, i32::MAX - 1, i32::MAX], from)
}

fn partition(from: &mut Unstructured<'_>) -> Result<i32> {
    let byte: u8 = from.arbitrary()?;
    Ok(match byte {
        0..=250 => i32::from(byte % 16),
        251 => -1,
        252 => i32::MIN,
        253 => i32::MAX,
        _ => 255,
    })
}

/// Partitions by topic, in any order, repeats included.
pub(crate) fn listing(from: &mut Unstructured<'_>) -> Result<Vec<(&'static str, Vec<i32>)>> {
    let topics = from.int_in_range(0..=4)?;
    let mut listing = Vec::new();
    for _ in 0..topics {
        let name = one_of(&NAMES, from)?;
        let count = from.int_in_range(0..=8)?;
        listing.push((name, (0..count).map(|_| partition(from)).collect::<Result<_>>()?));
    }
    Ok(listing)
}

fn raw(most: usize, from: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let length = from.int_in_range(0..=most)?.min(from.len());
    Ok(from.bytes(length)?.to_vec())
}

fn user_data(from: &mut Unstructured<'_>) -> Result<Option<Vec<u8>>> {
    let form = from.int_in_range(0..=7)?;
    Ok(Some(match form {
        0 => return Ok(None),
        1 => raw(40, from)?,
        2 => Vec::new(),
        3 => cooperative_user_data(Some(generation(from)?)).to_vec(),
        _ => {
            let listing = listing(from)?;
            let framing = if form == 4 { Framing::Framed } else { Framing::Bare };
            let version = i16::from(form != 5);
            let writer = StickyUserDataWriter::new(listing, Some(generation(from)?)).framing(framing);
            writer.write(version).expect("shorter than a message can be")
        }
    }))
}

/// The bytes of a subscription: any bytes at all, a well-formed message, or one that was damaged.
pub(crate) fn subscription(from: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let kind = from.int_in_range(0..=9)?;
    if kind == 0 {
        return raw(80, from);
    }
    let names = some_names(from)?;
    let user_data = user_data(from)?;
    let owned = listing(from)?;
    let rack = one_of(&RACKS, from)?;
    let writer = SubscriptionWriter::new(names)
        .user_data(user_data.as_deref())
        .owned_partitions(owned)
        .generation_id(Some(generation(from)?))
        .rack_id((!rack.is_empty()).then_some(rack))
        .order(Order::AsGiven);
    let mut bytes = writer.write(from.int_in_range(0..=4)?).expect("shorter than a message can be");
    if kind == 1 {
        let at = from.int_in_range(0..=bytes.len() - 1)?;
        bytes[at] = from.arbitrary()?;
        bytes.truncate(bytes.len() - from.int_in_range(0..=4)?.min(bytes.len()));
    }
    Ok(bytes)
}
