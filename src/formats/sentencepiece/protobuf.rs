//! The wire format of Protocol Buffers.

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
    pub(super) fn number(self) -> Option<u64> {
        if let Field::Number(number) = self { Some(number) } else { None }
    }

    pub(super) fn bytes(self) -> Option<&'a [u8]> {
        if let Field::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    pub(super) fn text(self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    pub(super) fn float(self) -> Option<f32> {
        if let Field::Fixed(bits) = self { Some(f32::from_bits(bits)) } else { None }
    }
}

/// The fields of a message in order, each with its number. `None` stands for the end of what is well-formed.
pub(super) struct Fields<'a> {
    tail: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Fields { tail: message }
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, tail) = self.tail.split_at_checked(len)?;
        self.tail = tail;
        Some(taken)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn field(&mut self) -> Option<(u64, Field<'a>)> {
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Field::Number(self.varint()?),
            1 => self.take(8).map(|_| Field::Other)?,
            2 => {
                let len = usize::try_from(self.varint()?).ok()?;
                Field::Bytes(self.take(len)?)
            }
            5 => Field::Fixed(u32::from_le_bytes(*self.take(4)?.first_chunk()?)),
            _ => return None,
        };
        Some((key >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    /// An error is malformed; nothing follows it.
    type Item = Result<(u64, Field<'a>), ()>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.tail.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.tail = &[];
        }
        Some(field.ok_or(()))
    }
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
