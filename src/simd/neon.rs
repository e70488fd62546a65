//! NEON: four registers for each block. So far tested in an emulator only.

use std::arch::aarch64::*;

use super::classes::BLOCK_BYTES;
use super::kernel::{LANES, Simd, mapped};
use super::rows::{FLAG, Rows, STEPS};

/// Proof that this machine has NEON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Neon(());

impl Neon {
    pub(super) fn detect() -> Option<Self> {
        // NEON is part of the baseline of aarch64, so no function has to enable it.
        std::arch::is_aarch64_feature_detected!("neon").then_some(Neon(()))
    }
}

type Quarters = [uint8x16_t; 4];

/// A different bit for each of eight bytes: their sum is a byte with one bit for each of them.
const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

/// One bit for each byte of `bytes`. Every byte must be all zeros or all ones.
#[inline(always)]
fn gather(bytes: Quarters) -> u64 {
    // SAFETY: this function is called by methods of `Neon` only, and a value of that type proves that the
    // instructions exist. The load reads the 16 bytes of `WEIGHTS`.
    unsafe {
        let [a, b, c, d] = mapped(&bytes, |bytes| vandq_u8(bytes, vld1q_u8(WEIGHTS.as_ptr())));
        let sum = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)))
    }
}

/// A mask of the bytes that have any of `bits`.
#[inline(always)]
fn test(bytes: Quarters, bits: u8) -> u64 {
    // SAFETY: as in `gather`.
    gather(mapped(&bytes, |bytes| unsafe { vtstq_u8(bytes, vdupq_n_u8(bits)) }))
}

impl Simd for Neon {
    type Bytes = Quarters;
    type Lanes = [u32; LANES];

    #[inline(always)]
    fn entries(self, bytes: &[u8; BLOCK_BYTES], table: &[u8; 128]) -> [u8; BLOCK_BYTES] {
        let mut classes = [0; BLOCK_BYTES];
        // SAFETY: `self` proves that the instructions exist. The loads read 64 bytes each, of arrays of 64
        // and 128 bytes. Beyond its 64 entries a table gives zero.
        unsafe {
            let (low, high) = (vld1q_u8_x4(table.as_ptr()), vld1q_u8_x4(table.as_ptr().add(64)));
            for (classes, bytes) in classes.chunks_exact_mut(16).zip(self.load(bytes)) {
                let upper = vqtbl4q_u8(high, vsubq_u8(bytes, vdupq_n_u8(64)));
                vst1q_u8(classes.as_mut_ptr(), vorrq_u8(vqtbl4q_u8(low, bytes), upper));
            }
        }
        classes
    }

    type State = uint8x16_t;

    #[inline(always)]
    fn state(self, state: u8) -> uint8x16_t {
        // SAFETY: `self` proves that the instruction exists.
        unsafe { vdupq_n_u8(state) }
    }

    #[inline(always)]
    fn follow(self, rows: &Rows, offsets: &[u16; STEPS], state: &mut uint8x16_t) -> u16 {
        let mut path = [0; STEPS];
        // SAFETY: `self` proves that the instructions exist. The loads read the 16 bytes of a row. The mask
        // keeps indices below 16.
        unsafe {
            let mut states = *state;
            for (path, &offset) in path.iter_mut().zip(offsets) {
                states = vqtbl1q_u8(vld1q_u8(rows.row(offset).as_ptr()), vandq_u8(states, vdupq_n_u8(15)));
                *path = vgetq_lane_u8::<0>(states);
            }
            *state = states;
        }
        let flags = path.iter().enumerate();
        flags.fold(0, |flags, (step, path)| flags | u16::from(path & FLAG != 0) << step)
    }

    #[inline(always)]
    fn follow_back(self, rows: &Rows, offsets: &[u16; STEPS], state: &mut uint8x16_t) -> [u8; STEPS] {
        let mut path = [0; STEPS];
        // SAFETY: as in `follow`.
        unsafe {
            let mut states = *state;
            for (path, &offset) in path.iter_mut().zip(offsets).rev() {
                states = vqtbl1q_u8(vld1q_u8(rows.row(offset).as_ptr()), vandq_u8(states, vdupq_n_u8(15)));
                *path = vgetq_lane_u8::<0>(states);
            }
            *state = states;
        }
        path
    }

    #[inline(always)]
    fn lanes(self, numbers: &[u32; LANES]) -> [u32; LANES] {
        *numbers
    }

    #[inline(always)]
    fn lowest<const N: usize>(self, groups: [[u32; LANES]; N]) -> u32 {
        let mut lowest = u32::MAX;
        for group in groups {
            for number in group {
                lowest = lowest.min(number);
            }
        }
        lowest
    }

    #[inline(always)]
    fn put<const N: usize>(self, groups: &mut [[u32; LANES]; N], at: usize, number: u32) {
        groups[at / LANES % N][at % LANES] = number;
    }

    #[inline(always)]
    fn load(self, block: &[u8; BLOCK_BYTES]) -> Quarters {
        let first = block.as_ptr();
        // SAFETY: `self` proves that the instruction exists; the block has the 64 bytes that the four loads
        // read.
        unsafe {
            [vld1q_u8(first), vld1q_u8(first.add(16)), vld1q_u8(first.add(32)), vld1q_u8(first.add(48))]
        }
    }

    #[inline(always)]
    fn look_up(self, bytes: Quarters, low: &[u8; 16], high: &[u8; 16]) -> Quarters {
        // SAFETY: `self` proves that the instructions exist. Both loads read the 16 bytes of a table.
        mapped(&bytes, |bytes| unsafe {
            let lower = vqtbl1q_u8(vld1q_u8(low.as_ptr()), vandq_u8(bytes, vdupq_n_u8(0x0F)));
            let upper = vqtbl1q_u8(vld1q_u8(high.as_ptr()), vshrq_n_u8::<4>(bytes));
            vandq_u8(lower, upper)
        })
    }

    #[inline(always)]
    fn bit<const BIT: i32>(self, bytes: Quarters) -> u64 {
        test(bytes, 1 << BIT)
    }

    #[inline(always)]
    fn lowest_two(self, kinds: Quarters) -> u64 {
        test(kinds, 0b11)
    }

    #[inline(always)]
    fn equal(self, bytes: Quarters, byte: u8) -> u64 {
        // SAFETY: `self` proves that the instructions exist.
        gather(mapped(&bytes, |bytes| unsafe { vceqq_u8(bytes, vdupq_n_u8(byte)) }))
    }
}
