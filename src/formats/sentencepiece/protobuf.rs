//! The wire format of Protocol Buffers.

use crate::error::Result;
use crate::tokenizer::parts::place::refused;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field<'a> {
    /// A number of variable length.
    Number(u64),
    Fixed(u32),
    Bytes(&'a [u8]),
    /// A number of eight bytes, which no field that is read has.
    Other,
}

impl<'a> Field<'a> {
    pub(super) fn text(self) -> Option<&'a str> {
        if let Field::Bytes(bytes) = self { std::str::from_utf8(bytes).ok() } else { None }
    }
}

/// The fields of a message in order, each with its number; `place` names the message in the error for what is
/// malformed, after which nothing follows.
pub(super) fn fields<'a>(
    mut message: &'a [u8],
    place: &str,
) -> impl Iterator<Item = Result<(u64, Field<'a>)>> {
    std::iter::from_fn(move || {
        if message.is_empty() {
            return None;
        }
        Some(field(&mut message).ok_or_else(|| {
            message = &[];
            refused(place, "malformed: the file is corrupt, truncated or no SentencePiece model")
        }))
    })
}

fn field<'a>(message: &mut &'a [u8]) -> Option<(u64, Field<'a>)> {
    let key = varint(message)?;
    let value = match key & 7 {
        0 => Field::Number(varint(message)?),
        1 => message.split_off(..8).map(|_| Field::Other)?,
        2 => {
            let len = usize::try_from(varint(message)?).ok()?;
            Field::Bytes(message.split_off(..len)?)
        }
        5 => Field::Fixed(u32::from_le_bytes(*message.split_off(..4)?.first_chunk()?)),
        _ => return None,
    };
    Some((key >> 3, value))
}

fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *message.split_off_first()?;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// A message that is written field by field.
#[derive(Default)]
pub(super) struct Message {
    pub(super) bytes: Vec<u8>,
}

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number > 0x7F {
            self.bytes.push(number as u8 & 0x7F | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    pub(super) fn number(&mut self, field: u64, number: u64) {
        self.varint(field << 3);
        self.varint(number);
    }

    pub(super) fn float(&mut self, field: u64, number: f32) {
        self.varint(field << 3 | 5);
        self.bytes.extend(number.to_le_bytes());
    }

    pub(super) fn content(&mut self, field: u64, content: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(content.len() as u64);
        self.bytes.extend_from_slice(content);
    }
}
