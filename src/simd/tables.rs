//! Tables of the kinds of bytes, looked up by nibble: a byte is of a kind if both its lower and its upper
//! nibble have the bit of the kind.

/// The kinds of each lower nibble: a bit for each field of [`super::Ascii`] but `upper` and `beyond`, in
/// their order. A letter has one of two bits, since letters lie in two ranges of nibbles.
pub(super) static ASCII_LOW: [u8; 16] =
    rows([0xFFFE, 0x07FF, 0x03FF, 1, 1 << 9 | 1 << 11 | 1 << 12, 1 << 10 | 1 << 13, 1 << 7, 1 << 15]);

/// The kinds of each upper nibble.
pub(super) static ASCII_HIGH: [u8; 16] =
    rows([1 << 4 | 1 << 6, 1 << 5 | 1 << 7, 1 << 3, 1 << 2, 1, 1, 1 << 2, 1 << 2]);

/// The kinds of each lower nibble: a bit for each field of [`super::NonAscii`] from `latin` to `odd`.
pub(super) static NON_ASCII_LOW: [u8; 16] = rows([0x07F0, 1 << 3, 1, 1 << 1, 1 << 8, 1 << 4, 0x1BE0, 1 << 7]);

/// The kinds of each upper nibble.
pub(super) static NON_ASCII_HIGH: [u8; 16] =
    rows([1 << 12, 1 << 12, 1 << 13, 1 << 13, 1 << 13, 1 << 14, 1 << 14, 1 << 9 | 1 << 11]);

/// Turns the set of nibbles of each kind into the set of kinds of each nibble.
const fn rows(kinds: [u16; 8]) -> [u8; 16] {
    let mut rows = [0; 16];
    let mut nibble = 0;
    while nibble < 16 {
        let mut kind = 0;
        while kind < 8 {
            rows[nibble] |= ((kinds[kind] >> nibble & 1) as u8) << kind;
            kind += 1;
        }
        nibble += 1;
    }
    rows
}
