//! The bytes of subscriptions, assignments and sticky user data, read by hand: by other code than what they are judged with.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use bytes::Buf;

use crate::claims::Claimed;
use crate::said::{Listed, Said};
use crate::seen::Partition;

/// Reads a subscription message.
///
/// # Errors
///
/// Where it ends too early or is no text where there should be one.
pub fn subscription(mut bytes: &[u8]) -> Result<Said> {
    let bytes = &mut bytes;
    let version = bytes.try_get_i16()?;
    let mut said = Said { version, generation: -1, ..Said::default() };
    for _ in 0..bytes.try_get_i32()? {
        said.topics.push(string(bytes)?.context("a topic without a name")?);
    }
    said.user_data = block(bytes)?;
    if version >= 1 {
        said.owned = listed(bytes)?;
    }
    if version >= 2 {
        said.generation = bytes.try_get_i32()?;
    }
    if version >= 3 {
        said.rack = string(bytes)?;
    }
    Ok(said)
}

/// What an assignment message gives, and the user data that comes with it. No bytes at all give nothing.
///
/// # Errors
///
/// As [`subscription`].
pub fn assignment(mut bytes: &[u8]) -> Result<(BTreeSet<Partition>, Option<Vec<u8>>)> {
    if bytes.is_empty() {
        return Ok((BTreeSet::new(), None));
    }
    let bytes = &mut bytes;
    bytes.try_get_i16()?;
    let given = flat(&listed(bytes)?);
    let user_data = if bytes.is_empty() { None } else { block(bytes)? };
    Ok((given, user_data))
}

/// The user data of `sticky`: version 1, else version 0, else version 1 as kafka-python 3 frames it.
///
/// # Errors
///
/// Where it is none of these.
pub fn sticky(bytes: &[u8]) -> Result<Claimed> {
    let bare = |mut bytes: &[u8]| {
        let bytes = &mut bytes;
        let partitions = flat(&listed(bytes)?);
        let generation = if bytes.is_empty() { -1 } else { bytes.try_get_i32()? };
        ensure!(bytes.is_empty(), "{} bytes too many", bytes.len());
        Ok(Claimed { generation, partitions })
    };
    bare(bytes).or_else(|error| match bytes {
        [0, 1, framed @ ..] => bare(framed),
        _ => Err(error),
    })
}

/// What a member claims by what it says, where the group uses the strategy of this name.
pub fn claims(strategy: &str, said: &Said) -> Claimed {
    let user_data = said.user_data.as_deref().unwrap_or_default();
    let by_user_data = sticky(user_data).unwrap_or_default();
    if strategy == "sticky" || said.owned.is_empty() {
        return by_user_data;
    }
    let generation = match user_data.try_into() {
        _ if said.generation >= 0 => said.generation,
        Ok(alone) => i32::from_be_bytes(alone),
        Err(_) if by_user_data.partitions.is_empty() => -1,
        Err(_) => by_user_data.generation,
    };
    Claimed { generation, partitions: flat(&said.owned) }
}

/// The partitions of a list.
pub fn flat(listed: &Listed) -> BTreeSet<Partition> {
    let of = |(topic, numbers): &(String, Vec<i32>)| {
        numbers.iter().map(|number| (topic.clone(), *number)).collect::<Vec<_>>()
    };
    listed.iter().flat_map(of).collect()
}

fn listed(bytes: &mut &[u8]) -> Result<Listed> {
    let mut listed = Listed::new();
    for _ in 0..bytes.try_get_i32()? {
        let topic = string(bytes)?.context("a topic without a name")?;
        let numbers = (0..bytes.try_get_i32()?).map(|_| Ok(bytes.try_get_i32()?)).collect::<Result<_>>()?;
        listed.push((topic, numbers));
    }
    Ok(listed)
}

/// Bytes after their count, a negative one for null.
fn block(bytes: &mut &[u8]) -> Result<Option<Vec<u8>>> {
    let Ok(length) = usize::try_from(bytes.try_get_i32()?) else { return Ok(None) };
    taken(bytes, length).map(Some)
}

fn string(bytes: &mut &[u8]) -> Result<Option<String>> {
    let Ok(length) = usize::try_from(bytes.try_get_i16()?) else { return Ok(None) };
    Ok(Some(String::from_utf8(taken(bytes, length)?)?))
}

fn taken(bytes: &mut &[u8], length: usize) -> Result<Vec<u8>> {
    let (taken, rest) = bytes.split_at_checked(length).context("the message ends too early")?;
    *bytes = rest;
    Ok(taken.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::said;

    fn had() -> Listed {
        vec![("bar".to_owned(), vec![7]), ("foo".to_owned(), vec![1, 0])]
    }

    #[test]
    fn reads_what_is_written() -> Result<()> {
        for version in 0..=3 {
            let mut said = Said { user_data: Some(vec![1, 2]), ..Said::to(version, &["bar", "foo"]) };
            if version >= 1 {
                said.owned = had();
            }
            if version >= 3 {
                said.rack = Some("a".into());
            }
            assert_eq!(subscription(&said.bytes())?.bytes(), said.bytes());
        }
        Ok(())
    }

    #[test]
    fn reads_each_form_of_sticky_user_data() -> Result<()> {
        let claimed = |generation| Claimed { generation, partitions: flat(&had()) };
        assert_eq!(sticky(&said::sticky(&had(), Some(5)))?, claimed(5));
        assert_eq!(sticky(&said::sticky(&had(), None))?, claimed(-1));
        assert_eq!(sticky(&said::framed(&had(), 5))?, claimed(5));
        assert!(sticky(&[0, 1, 2]).is_err());
        Ok(())
    }
}
