//! Merges that are left out at random (BPE-dropout, arXiv:1910.13267).

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use crate::hashing::{GOLDEN, fold, mixed};

/// How often a merge is left out, and where the choices come from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dropout {
    /// The probability, from 0 to 1.
    pub rate: f32,
    /// With a seed, the tokens of a pretoken depend on the seed and the pretoken alone. Without one, they are
    /// chosen again each time.
    pub seed: Option<u64>,
}

impl Dropout {
    /// Whether all merges happen.
    pub(crate) fn is_never(&self) -> bool {
        self.rate <= 0.0
    }

    /// Whether no merge happens.
    pub(crate) fn is_always(&self) -> bool {
        self.rate >= 1.0
    }

    /// Whether the same pretoken may get other tokens each time.
    pub(crate) fn is_random(&self) -> bool {
        self.seed.is_none() && !self.is_never() && !self.is_always()
    }
}

/// The choices for one pretoken.
pub(crate) struct Draws {
    rate: f64,
    state: u64,
}

impl Draws {
    /// The choices of a model that has a dropout. `hash` gives a hash of the pretoken.
    pub(super) fn new(dropout: Dropout, hash: impl FnOnce() -> u64) -> Self {
        let state = match dropout.seed {
            _ if dropout.is_never() => 0,
            Some(seed) => fold(seed ^ GOLDEN, hash() | 1),
            None => RandomState::new().hash_one(0),
        };
        Draws { rate: f64::from(dropout.rate), state }
    }

    /// The choices for pretoken number `pretoken` of text number `text`, both from 0 on.
    pub(crate) fn of_pretoken(rate: f64, seed: u64, text: u64, pretoken: u64) -> Self {
        let state = mixed(mixed(mixed(seed).wrapping_add(text)).wrapping_add(pretoken));
        Draws { rate, state }
    }

    /// Whether the next merge is left out.
    #[inline]
    pub(super) fn leaves_out(&mut self) -> bool {
        if self.rate <= 0.0 {
            return false;
        }
        self.state = self.state.wrapping_add(GOLDEN);
        let drawn = (mixed(self.state) >> 11) as f64; // 53 bits, which a number holds exactly
        drawn < self.rate * (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_met_by_single_draws_and_by_pairs() {
        for seed in [Some(3), None] {
            let mut draws = Draws::new(Dropout { rate: 0.3, seed }, || 77);
            let dropped: Vec<bool> = (0..100_000).map(|_| draws.leaves_out()).collect();
            let single = dropped.iter().filter(|&&is| is).count();
            let pairs = dropped.windows(2).filter(|pair| pair == &[true, true]).count();
            assert!((29_000..31_000).contains(&single), "{single}");
            assert!((8_500..9_500).contains(&pairs), "{pairs}");
        }
    }
}
