//! How many distinct pretokens occur how often, and what memory they take: what it would save to leave out
//! rare ones.

use super::slot::CountSlot;

/// Counts at which pretokens are tallied. Chosen as round numbers.
const STEPS: [u64; 20] =
    [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 75, 100, 200, 500, 1000, 10_000, 100_000, 1_000_000];

/// The distinct pretokens that occur at least `min_count` times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frequent {
    /// The minimum count.
    pub min_count: u64,
    /// How many they are.
    pub pretokens: u64,
    /// Bytes of their text.
    pub bytes: u64,
    /// Bytes of memory that they take as counts.
    pub memory: u64,
}

/// The pretokens, their bytes and their memory, for each step: of those that occur as often, but less often
/// than the next step says.
#[derive(Debug, Default)]
pub(super) struct Frequencies([[u64; 3]; STEPS.len()]);

impl Frequencies {
    /// Adds a pretoken; `arena` has its bytes if it is long.
    pub(super) fn add(&mut self, slot: &CountSlot, arena: &[u8]) {
        let step = STEPS.partition_point(|&step| step <= slot.count).saturating_sub(1);
        let numbers = [1, slot.pretoken(arena).len(), slot.memory(arena)];
        for (sum, number) in self.0[step].iter_mut().zip(numbers) {
            *sum += number as u64;
        }
    }

    /// Adds what others have.
    pub(super) fn add_all(&mut self, others: &Frequencies) {
        for (sum, number) in self.0.as_flattened_mut().iter_mut().zip(others.0.as_flattened()) {
            *sum += number;
        }
    }

    /// The pretokens that reach each step, the lowest step first.
    pub(super) fn sums(&self) -> Vec<Frequent> {
        let (mut sums, mut last) = (Vec::new(), Frequent::default());
        for (&min_count, &[pretokens, bytes, memory]) in STEPS.iter().zip(&self.0).rev() {
            last = Frequent {
                min_count,
                pretokens: last.pretokens + pretokens,
                bytes: last.bytes + bytes,
                memory: last.memory + memory,
            };
            sums.push(last);
        }
        sums.reverse();
        sums
    }
}
