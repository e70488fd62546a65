use super::{Ascii, BLOCK_BYTES, Isa, Kernel, NonAscii, Simd};

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

struct Same([u64; 2], [u64; 2]);

impl Kernel for Same {
    type Out = bool;

    #[inline(always)]
    fn run<L: Simd>(self, simd: L) -> bool {
        simd.same(&self.0, &self.1, &[u64::MAX, u64::MAX >> 4])
    }
}

#[test]
fn keys_are_equal_by_their_unmasked_bits() {
    for isa in Isa::available() {
        for bit in 0..128 {
            let key = [0x0123_4567_89AB_CDEF, 0x0EDC_BA98_7654_3210];
            let masked = [key[0], key[1] | 0x7 << 60];
            let mut other = key;
            other[bit / 64] ^= 1 << (bit % 64);
            assert!(isa.run(Same(masked, key)), "{} {bit}", isa.name());
            assert_eq!(isa.run(Same(other, key)), bit >= 124, "{} {bit}", isa.name());
        }
    }
}

#[test]
fn put_writes_nothing_beyond_the_end() {
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
fn reads_of_fixed_size_stay_inside_the_text() {
    let text: Vec<u8> = (0..40).collect();
    for len in 0..40 {
        for at in 0..50 {
            let expected = text[..len].get(at..).and_then(|tail| tail.first_chunk::<16>()).copied();
            assert_eq!(super::sixteen(&text[..len], at), expected);
            let expected = text[..len].get(at..).and_then(|tail| tail.first_chunk::<8>());
            assert_eq!(super::eight(&text[..len], at), expected.map(|eight| u64::from_le_bytes(*eight)));
        }
    }
    assert!(super::sixteen(&text, usize::MAX).is_none() && super::eight(&text, usize::MAX).is_none());
}

/// Every byte value at every place, and blocks of several lengths.
#[test]
fn every_instruction_set_agrees_with_the_standard_library() {
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
