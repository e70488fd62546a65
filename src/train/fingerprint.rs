//! Fingerprints of counts.

use crate::hashing::{GOLDEN, MIXER, fold};

/// A fingerprint of 128 bits of words with their counts, in this order. It distinguishes different inputs, but
/// not inputs that were made to collide.
pub fn fingerprint<'w>(words: impl Iterator<Item = (&'w [u8], u64)>) -> [u64; 2] {
    // Digits of pi: numbers that nobody chose.
    let mut sums = [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7344];
    let mut add = |number: u64| {
        sums[0] = folded(sums[0] ^ number, GOLDEN);
        sums[1] = folded(sums[1].rotate_left(23) ^ number, MIXER);
    };
    for (word, count) in words {
        add(count);
        add(word.len() as u64);
        for piece in word.chunks(8) {
            let mut bytes = [0; 8];
            bytes[..piece.len()].copy_from_slice(piece);
            add(u64::from_le_bytes(bytes));
        }
    }
    add(!0);
    sums
}

/// A hash of a number. The addition keeps a number of 0 from staying 0.
fn folded(number: u64, factor: u64) -> u64 {
    fold(number.wrapping_add(factor.rotate_left(32)), factor)
}
