//! Sticky user data read the slow and obvious way, form by form, to judge the real reader by.

/// What a form has: blocks, generation as on the wire, and how many bytes follow.
#[derive(Debug, PartialEq)]
pub(crate) struct UserData {
    pub(crate) form: Form,
    pub(crate) blocks: Vec<(String, Vec<i32>)>,
    pub(crate) generation: Option<i32>,
    pub(crate) trailing: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    V1,
    V0,
    Framed(i16),
}

pub(crate) fn read(bytes: &[u8]) -> Option<UserData> {
    read_as(bytes, |_| Some(Form::V1))
        .or_else(|| read_as(bytes, |_| Some(Form::V0)))
        .or_else(|| read_as(bytes, |bytes| Some(Form::Framed(i16::from_be_bytes(take(bytes)?)))))
}

fn read_as(bytes: &[u8], form: fn(&mut Vec<u8>) -> Option<Form>) -> Option<UserData> {
    // Reversed, so that bytes come off the end.
    let mut bytes: Vec<u8> = bytes.iter().rev().copied().collect();
    let form = form(&mut bytes)?;
    let has_generation = match form {
        Form::V1 => true,
        Form::V0 => false,
        Form::Framed(version) if version < 0 => return None,
        Form::Framed(version) => version > 0,
    };
    let mut blocks = Vec::new();
    for _ in 0..count(&mut bytes)? {
        let length = i16::from_be_bytes(take(&mut bytes)?);
        let name = (0..u16::try_from(length).ok()?).map(|_| bytes.pop()).collect::<Option<Vec<_>>>()?;
        let name = String::from_utf8(name).ok()?;
        let partitions = (0..count(&mut bytes)?)
            .map(|_| Some(i32::from_be_bytes(take(&mut bytes)?)))
            .collect::<Option<Vec<_>>>()?;
        blocks.push((name, partitions));
    }
    let generation = match has_generation {
        true => Some(i32::from_be_bytes(take(&mut bytes)?)),
        false => None,
    };
    Some(UserData { form, blocks, generation, trailing: bytes.len() })
}

fn count(bytes: &mut Vec<u8>) -> Option<u32> {
    u32::try_from(i32::from_be_bytes(take(bytes)?)).ok()
}

fn take<const N: usize>(bytes: &mut Vec<u8>) -> Option<[u8; N]> {
    let mut taken = [0; N];
    for byte in &mut taken {
        *byte = bytes.pop()?;
    }
    Some(taken)
}

#[test]
fn the_naive_reader_tells_the_forms_apart() {
    let bare = [0, 0, 0, 1, 0, 1, b't', 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 5, 7];
    let blocks = || vec![("t".to_owned(), vec![9])];
    let v1 = UserData { form: Form::V1, blocks: blocks(), generation: Some(5), trailing: 1 };
    assert_eq!(read(&bare), Some(v1));
    let v0 = UserData { form: Form::V0, blocks: blocks(), generation: None, trailing: 3 };
    assert_eq!(read(&bare[..18]), Some(v0));
    let framed = UserData { form: Form::Framed(2), blocks: blocks(), generation: Some(5), trailing: 1 };
    assert_eq!(read(&[&[0, 2][..], &bare].concat()), Some(framed));
    assert_eq!(read(&[0xff; 8]), None);
}
