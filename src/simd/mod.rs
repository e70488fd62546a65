//! Sixty-four bytes at a time: what kind of byte stands where, as bit masks, by the instruction set of the machine.
//!
//! One small file an instruction set, and the only `unsafe` code of the scanners. A value of a leaf's type
//! exists only where its instruction set does: that is what every block here rests on.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod prefetch;
mod tables;

pub(crate) use portable::Portable;
pub(crate) use prefetch::prefetch;

/// Numbers that are compared at once.
pub(crate) const LANES: usize = 16;

/// Bytes in a block; one bit of a `u64` each, the first in the lowest.
pub(crate) const BLOCK_BYTES: usize = 64;

/// How many places [`crate::pretokenize::Scanner::fill`] has room for.
pub const ENDS: usize = 256;

/// Which bytes of a block are which ASCII characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ascii {
    pub(crate) letters: u64,
    pub(crate) upper: u64,
    pub(crate) digits: u64,
    /// U+0020.
    pub(crate) spaces: u64,
    /// Tab, U+000B and U+000C.
    pub(crate) blanks: u64,
    /// `\r` and `\n`.
    pub(crate) newlines: u64,
    pub(crate) apostrophes: u64,
    pub(crate) slashes: u64,
    /// No ASCII characters at all.
    pub(crate) beyond: u64,
}

/// Which bytes of a block are which bytes of longer characters: first bytes that say much about the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NonAscii {
    /// 80 to BF.
    pub(crate) continuing: u64,
    /// C4 to CA: U+0100 to U+02BF are letters.
    pub(crate) latin: u64,
    /// C3: U+00C0 to U+00FF are letters, but for two.
    pub(crate) accents: u64,
    /// D0: U+0400 to U+043F are letters, the first 48 of them upper case, the others lower.
    pub(crate) cyrillic: u64,
    /// D1: U+0440 to U+047F are letters, the first 32 of them lower case.
    pub(crate) cyrillic_lower: u64,
    /// D8: U+0620 to U+063F are letters without case.
    pub(crate) arabic: u64,
    /// E4: U+4000 to U+4FFF are letters without case, but for U+4DC0 to U+4DFF.
    pub(crate) han_first: u64,
    /// E5 to E9, EB and EC: Han and Hangul, all of them letters without case.
    pub(crate) caseless: u64,
    /// 97 and B7: the signs of multiplication and division among the accents, U+4DC0 to U+4DFF among Han.
    pub(crate) odd: u64,
    /// 9F: the one small letter among the upper half of the accents.
    pub(crate) sharp_s: u64,
    /// Bits 4 and 5 of each byte.
    pub(crate) bit4: u64,
    pub(crate) bit5: u64,
}

/// Code for one instruction set.
pub(crate) trait Simd: Copy {
    /// A block in registers.
    type Bytes: Copy;

    fn load(self, block: &[u8; BLOCK_BYTES]) -> Self::Bytes;

    /// Fewer than 64 bytes, and zeros behind them.
    #[inline(always)]
    fn load_padded(self, bytes: &[u8]) -> Self::Bytes {
        let mut block = [0; BLOCK_BYTES];
        block[..bytes.len()].copy_from_slice(bytes);
        self.load(&block)
    }

    fn ascii(self, bytes: Self::Bytes) -> Ascii;

    fn non_ascii(self, bytes: Self::Bytes) -> NonAscii;

    /// The bits of each byte that both its nibbles' rows have: a mask for each bit, the lowest first.
    fn sets(self, bytes: Self::Bytes, low: &[u8; 16], high: &[u8; 16]) -> [u64; 8];

    /// [`LANES`] numbers in registers.
    type Lanes: Copy;

    fn lanes(self, numbers: &[u32; LANES]) -> Self::Lanes;

    /// The least of them.
    fn least(self, lanes: Self::Lanes) -> u32;

    /// With another number at `at`.
    fn put(self, lanes: Self::Lanes, at: usize, number: u32) -> Self::Lanes;

    /// Writes the UTF-8 of characters, and anything behind it; returns how many bytes it is.
    #[inline(always)]
    fn utf8(self, points: &[u32; LANES], room: &mut [u8; 4 * LANES]) -> usize {
        let mut len = 0;
        for &point in points {
            let low = |shift: u32| 0x80 | point >> shift & 0x3f;
            let longer = [0x80, 0x800, 0x1_0000].map(|least| usize::from(point >= least));
            let longer = longer[0] + longer[1] + longer[2];
            // All of them are made, and four bytes written: no branch, which text of many kinds could not foretell.
            let bytes = [
                point,
                0xc0 | point >> 6 | low(0) << 8,
                0xe0 | point >> 12 | low(6) << 8 | low(0) << 16,
                0xf0 | point >> 18 | low(12) << 8 | low(6) << 16 | low(0) << 24,
            ];
            if let Some(four) = room.get_mut(len..len + 4) {
                four.copy_from_slice(&bytes[longer].to_le_bytes());
            }
            len += 1 + longer;
        }
        len
    }

    /// Whether two keys are the same, where only the bits of `mask` count.
    #[inline(always)]
    fn same(self, one: &[u64; 2], other: &[u64; 2], mask: &[u64; 2]) -> bool {
        (one[0] ^ other[0]) & mask[0] | (one[1] ^ other[1]) & mask[1] == 0
    }

    /// Which of two keys is `key`, where only the bits of `mask` count: 0, 1, or 2 for none.
    #[inline(always)]
    fn which(self, keys: &[[u64; 2]; 2], key: [u64; 2], mask: [u64; 2]) -> usize {
        let differs = |[low, high]: [u64; 2]| (low ^ key[0]) & mask[0] | (high ^ key[1]) & mask[1];
        let [first, second] = keys.map(differs);
        usize::from(first != 0) + usize::from((first != 0) & (second != 0))
    }

    /// What `keep` has of these bytes, and `add`; and a number that depends on all of it, the upper bits of which are
    /// the better ones, and which differs from leaf to leaf.
    #[inline(always)]
    fn key(self, bytes: &[u8; 16], keep: &[u64; 2], add: &[u64; 2]) -> ([u64; 2], u64) {
        let all = u128::from_le_bytes(*bytes);
        let (low, high) = (all as u64 & keep[0] | add[0], (all >> 64) as u64 & keep[1] | add[1]);
        ([low, high], fold(low ^ SALT[0], high ^ SALT[1]))
    }

    /// Adds `base` and the number of each bit of `bits` to the `count` places there are; returns how many there
    /// are then. With room for fewer than 64, none.
    #[inline(always)]
    fn add_places(self, mut bits: u64, base: usize, places: &mut [usize; ENDS], count: usize) -> usize {
        let found = bits.count_ones() as usize;
        let Some(room) = places[count..].first_chunk_mut::<BLOCK_BYTES>() else { return count };
        for eight in room.as_chunks_mut::<8>().0 {
            // Without a branch for each: what is too much is overwritten later.
            for place in eight {
                *place = base + bits.trailing_zeros() as usize;
                bits &= bits.wrapping_sub(1);
            }
            if bits == 0 {
                break;
            }
        }
        count + found
    }
}

/// Numbers without a pattern, for hashes.
pub(crate) const SALT: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03];

/// The two halves of the product, mixed: one multiplication.
#[inline(always)]
pub(crate) fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

/// Something to do with whichever leaf there is; inlined into code that is compiled for its instruction set.
pub(crate) trait Kernel {
    type Out;

    /// To be marked `#[inline(always)]`, like all that it calls.
    fn run<L: Simd>(self, simd: L) -> Self::Out;
}

/// An instruction set that this machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa(IsaKind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IsaKind {
    #[cfg(target_arch = "x86_64")]
    Avx512Vbmi2(avx512::Avx512<true>),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512<false>),
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Neon),
    Portable(Portable),
}

impl Isa {
    /// The instruction sets of this machine, the best first.
    pub fn available() -> impl Iterator<Item = Isa> {
        let available = [
            #[cfg(target_arch = "x86_64")]
            avx512::Avx512::detect().map(IsaKind::Avx512Vbmi2),
            #[cfg(target_arch = "x86_64")]
            avx512::Avx512::detect().map(IsaKind::Avx512),
            #[cfg(target_arch = "x86_64")]
            avx2::Avx2::detect().map(IsaKind::Avx2),
            #[cfg(target_arch = "aarch64")]
            neon::Neon::detect().map(IsaKind::Neon),
            Some(IsaKind::Portable(Portable)),
        ];
        available.into_iter().flatten().map(Isa)
    }

    /// The best one of this machine.
    pub fn best() -> Isa {
        Self::available().next().unwrap_or(Isa(IsaKind::Portable(Portable)))
    }

    /// By its name, if this machine has it.
    pub fn from_name(name: &str) -> Option<Isa> {
        Self::available().find(|isa| isa.name() == name)
    }

    /// `avx512vbmi2`, `avx512`, `avx2`, `neon` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            IsaKind::Avx512Vbmi2(_) => "avx512vbmi2",
            #[cfg(target_arch = "x86_64")]
            IsaKind::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            IsaKind::Avx2(_) => "avx2",
            #[cfg(target_arch = "aarch64")]
            IsaKind::Neon(_) => "neon",
            IsaKind::Portable(_) => "portable",
        }
    }

    /// Does `kernel` in code for this instruction set.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Out {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            IsaKind::Avx512Vbmi2(simd) => simd.run(kernel),
            #[cfg(target_arch = "x86_64")]
            IsaKind::Avx512(simd) => simd.run(kernel),
            #[cfg(target_arch = "x86_64")]
            IsaKind::Avx2(simd) => simd.run(kernel),
            #[cfg(target_arch = "aarch64")]
            IsaKind::Neon(simd) => kernel.run(simd),
            IsaKind::Portable(simd) => kernel.run(simd),
        }
    }
}

/// The 16 bytes of `text` from `at` on, if there are so many.
#[inline(always)]
pub(crate) fn sixteen(text: &[u8], at: usize) -> Option<[u8; 16]> {
    // One comparison, half of which does not change in a loop; a slice of a slice makes two.
    if at >= text.len().saturating_sub(15) {
        return None;
    }
    // SAFETY: at + 16 <= text.len(), since at < text.len() - 15.
    Some(unsafe { text.as_ptr().add(at).cast::<[u8; 16]>().read() })
}

/// The 8 bytes of `text` from `at` on as a number, the first in its lowest bits, if there are so many.
#[inline(always)]
pub(crate) fn eight(text: &[u8], at: usize) -> Option<u64> {
    if at >= text.len().saturating_sub(7) {
        return None;
    }
    // SAFETY: at + 8 <= text.len(), since at < text.len() - 7.
    Some(u64::from_le_bytes(unsafe { text.as_ptr().add(at).cast::<[u8; 8]>().read() }))
}

/// Writes some numbers at `at`, where there is room for so many; else it writes nothing.
#[inline(always)]
pub(crate) fn put<const N: usize>(numbers: &mut [u32], at: usize, some: &[u32; N]) {
    if at < (numbers.len() + 1).saturating_sub(N) {
        // SAFETY: at + N <= numbers.len(), since at < numbers.len() + 1 - N.
        unsafe { numbers.as_mut_ptr().add(at).cast::<[u32; N]>().write(*some) };
    }
}

#[cfg(test)]
mod tests {
    use super::{Ascii, BLOCK_BYTES, Isa, Kernel, LANES, NonAscii, Simd};

    struct Classify<'t>(&'t [u8]);

    impl Kernel for Classify<'_> {
        type Out = (Ascii, NonAscii);

        #[inline(always)]
        fn run<L: Simd>(self, simd: L) -> Self::Out {
            let bytes = match self.0.first_chunk() {
                Some(block) => simd.load(block),
                None => simd.load_padded(self.0),
            };
            (simd.ascii(bytes), simd.non_ascii(bytes))
        }
    }

    fn mask(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> u64 {
        (0..BLOCK_BYTES).filter(|&at| belongs(bytes.get(at).copied().unwrap_or(0))).map(|at| 1 << at).sum()
    }

    fn expected(bytes: &[u8]) -> (Ascii, NonAscii) {
        let ascii = Ascii {
            letters: mask(bytes, |b| b.is_ascii_alphabetic()),
            upper: mask(bytes, |b| b.is_ascii_uppercase()),
            digits: mask(bytes, |b| b.is_ascii_digit()),
            spaces: mask(bytes, |b| b == b' '),
            blanks: mask(bytes, |b| matches!(b, b'\t' | 0x0B | 0x0C)),
            newlines: mask(bytes, |b| matches!(b, b'\r' | b'\n')),
            apostrophes: mask(bytes, |b| b == b'\''),
            slashes: mask(bytes, |b| b == b'/'),
            beyond: mask(bytes, |b| !b.is_ascii()),
        };
        let non_ascii = NonAscii {
            continuing: mask(bytes, |b| b & 0xC0 == 0x80),
            latin: mask(bytes, |b| matches!(b, 0xC4..=0xCA)),
            accents: mask(bytes, |b| b == 0xC3),
            cyrillic: mask(bytes, |b| b == 0xD0),
            cyrillic_lower: mask(bytes, |b| b == 0xD1),
            arabic: mask(bytes, |b| b == 0xD8),
            han_first: mask(bytes, |b| b == 0xE4),
            caseless: mask(bytes, |b| matches!(b, 0xE5..=0xE9 | 0xEB | 0xEC)),
            odd: mask(bytes, |b| matches!(b, 0x97 | 0xB7)),
            sharp_s: mask(bytes, |b| b == 0x9F),
            bit4: mask(bytes, |b| b & 0x10 != 0),
            bit5: mask(bytes, |b| b & 0x20 != 0),
        };
        (ascii, non_ascii)
    }

    struct Sets<'t>(&'t [u8; BLOCK_BYTES], [u8; 16], [u8; 16]);

    impl Kernel for Sets<'_> {
        type Out = [u64; 8];

        #[inline(always)]
        fn run<L: Simd>(self, simd: L) -> [u64; 8] {
            simd.sets(simd.load(self.0), &self.1, &self.2)
        }
    }

    #[test]
    fn sets_are_the_bits_that_both_nibbles_have() {
        for isa in Isa::available() {
            for seed in 0..64_u8 {
                let bytes: [u8; BLOCK_BYTES] =
                    std::array::from_fn(|at| (at as u8).wrapping_mul(4).wrapping_add(seed));
                let low = std::array::from_fn(|at| (at as u8).wrapping_mul(37).wrapping_add(seed));
                let high = std::array::from_fn(|at| !(at as u8).wrapping_mul(89).wrapping_mul(seed));
                let available = |byte: u8| low[usize::from(byte & 15)] & high[usize::from(byte >> 4)];
                let expected =
                    std::array::from_fn(|bit| mask(&bytes, |byte| available(byte) >> bit & 1 != 0));
                assert_eq!(isa.run(Sets(&bytes, low, high)), expected, "{}", isa.name());
            }
        }
    }

    struct Put([u32; LANES], usize, u32);

    impl Kernel for Put {
        type Out = [u32; 2];

        #[inline(always)]
        fn run<L: Simd>(self, simd: L) -> [u32; 2] {
            let lanes = simd.lanes(&self.0);
            [simd.least(lanes), simd.least(simd.put(lanes, self.1, self.2))]
        }
    }

    #[test]
    fn the_least_number_is_found_wherever_it_is_put() {
        for isa in Isa::available() {
            for at in 0..LANES {
                for least in [0, 5, u32::MAX - 1, u32::MAX] {
                    let others: [u32; LANES] = std::array::from_fn(|lane| u32::MAX - (lane as u32 % 3));
                    let mut lanes = others;
                    lanes[at] = least;
                    let expected = [others, lanes].map(|lanes| lanes.into_iter().min().unwrap());
                    assert_eq!(isa.run(Put(others, at, least)), expected, "{} {at} {least}", isa.name());
                }
            }
        }
    }

    struct Which([[u64; 2]; 2], [u64; 2]);

    impl Kernel for Which {
        type Out = (usize, [bool; 2]);

        #[inline(always)]
        fn run<L: Simd>(self, simd: L) -> Self::Out {
            let mask = [u64::MAX, u64::MAX >> 4];
            let same = [simd.same(&self.0[0], &self.1, &mask), simd.same(&self.0[1], &self.1, &mask)];
            (simd.which(&self.0, self.1, mask), same)
        }
    }

    #[test]
    fn a_key_is_found_by_all_of_its_bits_but_the_masked() {
        for isa in Isa::available() {
            for bit in 0..128 {
                let key = [0x0123_4567_89AB_CDEF, 0x0EDC_BA98_7654_3210];
                let masked = [key[0], key[1] | 0x7 << 60];
                let mut other = key;
                other[bit / 64] ^= 1 << (bit % 64);
                let none = if bit < 124 { 2 } else { 0 };
                let found = |first, second| isa.run(Which([first, second], key));
                let counts = bit < 124;
                assert_eq!(found(masked, other), (0, [true, !counts]), "{} {bit}", isa.name());
                assert_eq!(
                    found(other, masked),
                    (usize::from(counts), [!counts, true]),
                    "{} {bit}",
                    isa.name()
                );
                assert_eq!(found(other, other), (none, [!counts; 2]), "{} {bit}", isa.name());
            }
        }
    }

    #[test]
    fn numbers_are_never_put_beyond_the_end() {
        for len in 0..12 {
            for at in 0..20 {
                let mut numbers = vec![0; len];
                super::put(&mut numbers, at, &[1, 2, 3, 4]);
                let expected: Vec<u32> = (0..len)
                    .map(|i| if at + 4 <= len && (at..at + 4).contains(&i) { (i - at) as u32 + 1 } else { 0 })
                    .collect();
                assert_eq!(numbers, expected);
            }
        }
    }

    #[test]
    fn no_bytes_are_beyond_the_text() {
        let text: Vec<u8> = (0..40).collect();
        for len in 0..40 {
            for at in 0..50 {
                let expected = text[..len].get(at..).and_then(|rest| rest.first_chunk::<16>()).copied();
                assert_eq!(super::sixteen(&text[..len], at), expected);
                let expected = text[..len].get(at..).and_then(|rest| rest.first_chunk::<8>());
                assert_eq!(super::eight(&text[..len], at), expected.map(|eight| u64::from_le_bytes(*eight)));
            }
        }
        assert!(super::sixteen(&text, usize::MAX).is_none() && super::eight(&text, usize::MAX).is_none());
    }

    /// Every byte at every place, and every number of bytes.
    #[test]
    fn every_instruction_set_says_what_the_standard_library_does() {
        for isa in Isa::available() {
            for first in 0..=255_u8 {
                for step in [0, 1, 7, 129] {
                    let bytes: Vec<u8> =
                        (0..BLOCK_BYTES as u8).map(|at| first.wrapping_add(at.wrapping_mul(step))).collect();
                    for len in [0, 1, usize::from(first) % BLOCK_BYTES, BLOCK_BYTES - 1, BLOCK_BYTES] {
                        let got = isa.run(Classify(&bytes[..len]));
                        assert_eq!(got, expected(&bytes[..len]), "{} {bytes:?}", isa.name());
                    }
                }
            }
        }
    }
}
