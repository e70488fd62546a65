//! The bytes of an input, read as choices from the front; an input that is too short reads as zeros.

/// What is left of an input.
pub(super) struct Input<'a>(pub(super) &'a [u8]);

impl<'a> Input<'a> {
    pub(super) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Below `limit`, which is 1 to 256.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit
    }

    pub(super) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    pub(super) fn pick<T: Copy>(&mut self, some: &[T]) -> T {
        some[self.below(some.len())]
    }

    pub(super) fn number(&mut self) -> u64 {
        self.take(8).iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
    }

    /// Up to so many bytes.
    pub(super) fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// All that is left as a text: the bytes themselves, or a character of an alphabet for each.
    pub(super) fn text(&mut self, alphabet: &[&str]) -> Vec<u8> {
        let plain = self.flag();
        let bytes = self.take(usize::MAX);
        if plain { bytes.to_vec() } else { spelled(bytes, alphabet) }
    }

    /// A text of up to so many characters of an alphabet.
    pub(super) fn word(&mut self, longest: usize, alphabet: &[&str]) -> Vec<u8> {
        let len = self.below(longest + 1);
        spelled(self.take(len), alphabet)
    }
}

fn spelled(bytes: &[u8], alphabet: &[&str]) -> Vec<u8> {
    bytes.iter().flat_map(|&byte| alphabet[usize::from(byte) % alphabet.len()].bytes()).collect()
}
