//! XXH64, a published hash of 64 bits: anybody can compute which split a document belongs to.

const PRIMES: [u64; 5] = [
    0x9E37_79B1_85EB_CA87,
    0xC2B2_AE3D_27D4_EB4F,
    0x1656_67B1_9E37_79F9,
    0x85EB_CA77_C2B2_AE63,
    0x27D4_EB2F_1656_67C5,
];
/// Bytes that are hashed in one step: eight for each lane.
const STRIPE_BYTES: usize = 32;

/// The hash of bytes that arrive in parts. The result does not depend on where the parts were divided.
#[derive(Clone, Debug)]
pub struct Xxh64 {
    seed: u64,
    lanes: [u64; 4],
    /// The bytes after the last whole stripe.
    held: [u8; STRIPE_BYTES],
    len: u64,
}

impl Xxh64 {
    /// The hash of no bytes yet.
    pub fn new(seed: u64) -> Self {
        let [one, two, ..] = PRIMES;
        let lanes =
            [seed.wrapping_add(one).wrapping_add(two), seed.wrapping_add(two), seed, seed.wrapping_sub(one)];
        Xxh64 { seed, lanes, held: [0; STRIPE_BYTES], len: 0 }
    }

    /// Adds bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        let at = (self.len % STRIPE_BYTES as u64) as usize;
        self.len += bytes.len() as u64;
        if at > 0 {
            let taken = bytes.len().min(STRIPE_BYTES - at);
            self.held[at..at + taken].copy_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if at + taken < STRIPE_BYTES {
                return;
            }
            let held = self.held;
            self.stripe(&held);
        }
        let (stripes, rest) = bytes.as_chunks::<STRIPE_BYTES>();
        stripes.iter().for_each(|stripe| self.stripe(stripe));
        self.held[..rest.len()].copy_from_slice(rest);
    }

    fn stripe(&mut self, stripe: &[u8; STRIPE_BYTES]) {
        for (lane, word) in self.lanes.iter_mut().zip(stripe.as_chunks::<8>().0) {
            *lane = round(*lane, u64::from_le_bytes(*word));
        }
    }

    /// The hash of all bytes so far.
    pub fn digest(&self) -> u64 {
        let [one, two, three, four, five] = PRIMES;
        let mut hash = self.seed.wrapping_add(five);
        if self.len >= STRIPE_BYTES as u64 {
            let turns = [1, 7, 12, 18];
            let turned = self.lanes.iter().zip(turns).map(|(lane, turn)| lane.rotate_left(turn));
            hash = turned.fold(0, u64::wrapping_add);
            for lane in self.lanes {
                hash = (hash ^ round(0, lane)).wrapping_mul(one).wrapping_add(four);
            }
        }
        hash = hash.wrapping_add(self.len);
        let rest = &self.held[..(self.len % STRIPE_BYTES as u64) as usize];
        let (words, rest) = rest.as_chunks::<8>();
        for word in words {
            hash ^= round(0, u64::from_le_bytes(*word));
            hash = hash.rotate_left(27).wrapping_mul(one).wrapping_add(four);
        }
        let (halves, rest) = rest.as_chunks::<4>();
        for half in halves {
            hash ^= u64::from(u32::from_le_bytes(*half)).wrapping_mul(one);
            hash = hash.rotate_left(23).wrapping_mul(two).wrapping_add(three);
        }
        for &byte in rest {
            hash = (hash ^ u64::from(byte).wrapping_mul(five)).rotate_left(11).wrapping_mul(one);
        }
        hash = (hash ^ hash >> 33).wrapping_mul(two);
        hash = (hash ^ hash >> 29).wrapping_mul(three);
        hash ^ hash >> 32
    }
}

#[inline]
fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(PRIMES[1])).rotate_left(31).wrapping_mul(PRIMES[0])
}

/// The hash of bytes.
pub(super) fn xxh64(bytes: &[u8], seed: u64) -> u64 {
    let mut hash = Xxh64::new(seed);
    hash.update(bytes);
    hash.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hashes_are_the_published_ones() {
        let text: Vec<u8> = (0..=255).collect();
        assert_eq!(xxh64(b"", 0), 0xEF46_DB37_51D8_E999);
        assert_eq!(xxh64(b"a", 0), 0xD24E_C4F1_A98C_6E5B);
        assert_eq!(xxh64(b"abc", 0), 0x44BC_2CF5_AD77_0999);
        let whole = xxh64(&text, 7);
        for cut in 0..=text.len() {
            let mut hash = Xxh64::new(7);
            hash.update(&text[..cut]);
            hash.update(&text[cut..]);
            assert_eq!(hash.digest(), whole, "{cut}");
        }
    }
}
