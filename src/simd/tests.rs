use crate::random::Random;

use super::{Ascii, BLOCK_BYTES, FLAG, Isa, Kernel, LANES, NonAscii, ROW_BYTES, Rows, STEPS, Simd};

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
            let expected = std::array::from_fn(|bit| mask(&bytes, |byte| available(byte) >> bit & 1 != 0));
            assert_eq!(isa.run(Sets(&bytes, low, high)), expected, "{}", isa.name());
        }
    }
}

/// Numbers in groups, and one of them that is replaced.
struct Put<const N: usize>([[u32; LANES]; N], usize, u32);

impl<const N: usize> Kernel for Put<N> {
    type Out = [u32; 2];

    #[inline(always)]
    fn run<L: Simd>(self, simd: L) -> [u32; 2] {
        let mut groups = self.0.map(|numbers| simd.lanes(&numbers));
        let before = simd.lowest(groups);
        simd.put(&mut groups, self.1, self.2);
        [before, simd.lowest(groups)]
    }
}

fn lowest_at_every_place<const N: usize>() {
    for isa in Isa::available() {
        for at in 0..N * LANES {
            for lowest in [0, 5, u32::MAX - 1, u32::MAX] {
                let mut others = [[0; LANES]; N];
                for (number, lane) in (0..).zip(others.as_flattened_mut()) {
                    *lane = u32::MAX - number % 3;
                }
                let mut numbers = others;
                numbers.as_flattened_mut()[at] = lowest;
                let expected = [others, numbers].map(|numbers| numbers.into_iter().flatten().min().unwrap());
                assert_eq!(isa.run(Put(others, at, lowest)), expected, "{} {N} {at} {lowest}", isa.name());
            }
        }
    }
}

#[test]
fn the_least_number_is_found_at_every_place() {
    lowest_at_every_place::<1>();
    lowest_at_every_place::<4>();
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
fn a_key_is_found_by_its_unmasked_bits() {
    for isa in Isa::available() {
        for bit in 0..128 {
            let key = [0x0123_4567_89AB_CDEF, 0x0EDC_BA98_7654_3210];
            let masked = [key[0], key[1] | 0x7 << 60];
            let mut other = key;
            other[bit / 64] ^= 1 << (bit % 64);
            let none = if bit < 124 { 2 } else { 0 };
            let which = |first, second| isa.run(Which([first, second], key));
            let counts = bit < 124;
            assert_eq!(which(masked, other), (0, [true, !counts]), "{} {bit}", isa.name());
            assert_eq!(which(other, masked), (usize::from(counts), [!counts, true]), "{} {bit}", isa.name());
            assert_eq!(which(other, other), (none, [!counts; 2]), "{} {bit}", isa.name());
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

struct Entries<'t>(&'t [u8; BLOCK_BYTES], &'t [u8; 128]);

impl Kernel for Entries<'_> {
    type Out = [u8; BLOCK_BYTES];

    #[inline(always)]
    fn run<L: Simd>(self, simd: L) -> [u8; BLOCK_BYTES] {
        simd.entries(self.0, self.1)
    }
}

#[test]
fn entries_are_those_of_the_table() {
    let table = std::array::from_fn(|at| (at as u8).wrapping_mul(37).wrapping_add(5));
    for isa in Isa::available() {
        for first in 0..=128 {
            let bytes = std::array::from_fn(|at| (first + at * at) as u8 % 128);
            let expected = bytes.map(|byte| table[usize::from(byte)]);
            assert_eq!(isa.run(Entries(&bytes, &table)), expected, "{}", isa.name());
        }
    }
}

struct Follow<'t>(&'t Rows, &'t [[u16; STEPS]]);

impl Kernel for Follow<'_> {
    type Out = (Vec<u16>, Vec<[u8; STEPS]>);

    #[inline(always)]
    fn run<L: Simd>(self, simd: L) -> Self::Out {
        let (mut state, mut back) = (simd.state(3), simd.state(9));
        let flags = self.1.iter().map(|places| simd.follow(self.0, places, &mut state)).collect();
        let states = self.1.iter().map(|places| simd.follow_back(self.0, places, &mut back)).collect();
        (flags, states)
    }
}

#[test]
fn automata_are_followed_from_entry_to_entry() {
    let mut random = Random::new(1);
    let mut rows = Rows::new();
    let places: Vec<u16> =
        (0..40).map(|_| random.below(4096) as u16 * ROW_BYTES as u16).chain([0xFFF0]).collect();
    for &place in &places {
        rows.set(place, std::array::from_fn(|_| random.below(128) as u8));
    }
    let mut places_of = || std::array::from_fn(|_| places[random.below(places.len())]);
    let all: Vec<[u16; STEPS]> = (0..200).map(|_| places_of()).collect();
    let (mut state, mut back) = (3, 9);
    let mut expected = (Vec::new(), Vec::new());
    for places in &all {
        let (mut flags, mut states) = (0, [0; STEPS]);
        for (step, &place) in places.iter().enumerate() {
            state = rows.entry(place, state);
            flags |= u16::from(state & FLAG != 0) << step;
        }
        for (states, &place) in states.iter_mut().zip(places).rev() {
            back = rows.entry(place, back);
            *states = back;
        }
        expected.0.push(flags);
        expected.1.push(states);
    }
    for isa in Isa::available() {
        assert_eq!(isa.run(Follow(&rows, &all)), expected, "{}", isa.name());
    }
}
