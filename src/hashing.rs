//! Fast hashes of words of 64 bits, and the constants that they are made with.
//!
//! They spread words that occur in texts; they do not withstand keys that somebody chooses so that they
//! collide. Fingerprints in files are made with these hashes, so the hashes must stay the same.

/// 2^64 divided by the golden ratio, which is odd. Its multiples modulo 2^64 are spread evenly, and those of
/// neighbouring numbers lie far from each other (Fibonacci hashing).
pub(crate) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// Two odd numbers without a pattern in their bits and without a relation to each other. Words are combined
/// with them so that a word of zeros does not stay zero, and so that the same word gives something else in
/// another place. The second is 2^64 divided by the root 1.2207… of x^4 = x + 1.
pub(crate) const SALT: [u64; 2] = [GOLDEN, 0xD1B5_4A32_D192_ED03];
/// An odd multiplier that was found by search (degski's): each bit of the other factor changes about half of
/// the bits of the product above it. For hashes that take one word after another.
pub(crate) const MIXER: u64 = 0xD6E8_FEB8_6659_FD93;

/// A hash of one word by one multiplication. Its upper bits depend on all bits of the word; its lower bits do
/// not.
#[inline(always)]
pub(crate) fn spread(word: u64) -> u64 {
    word.wrapping_mul(GOLDEN)
}

/// Multiplies two numbers to 128 bits and combines the two halves of the product: a fast hash. It is 0 where
/// one of the numbers is.
#[inline(always)]
pub(crate) fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

/// A hash of two words. The upper bits are the better ones.
#[inline(always)]
pub(crate) fn fold_words(low: u64, high: u64) -> u64 {
    fold(low ^ SALT[0], high ^ SALT[1])
}

/// The finalizer of `SplitMix64` (Steele, Lea and Flood, 2014): neighbouring numbers give numbers that do not
/// depend on each other.
pub(crate) fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_stay_the_same() {
        assert_eq!(spread(3), 0xDAA6_6D2C_7DDF_743F);
        assert_eq!(fold(1 << 63, 6), 3);
        assert_eq!(fold_words(1, 2), 0xC8B7_F534_790F_4C6E);
    }
}
