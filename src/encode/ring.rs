//! Ids that do not fit beside a key, in a ring: what is new takes the place of what is oldest.

/// Ids that there is room for: four megabytes.
const SIZE: usize = 1 << 20;

/// Made when first written to.
#[derive(Clone, Default)]
pub(super) struct Ring {
    ids: Vec<u32>,
    /// Ids ever written, and those left out where the ring closes.
    written: u64,
}

impl Ring {
    /// Keeps ids, far fewer than there is room for; returns where they are.
    pub(super) fn push(&mut self, ids: &[u32]) -> u64 {
        if self.ids.is_empty() {
            // Zeros that the system gives out when they are written to: most texts need few of them.
            self.ids = vec![0; SIZE];
        }
        let mut at = self.written as usize % SIZE;
        if at + ids.len() > SIZE {
            // They stay together.
            self.written += (SIZE - at) as u64;
            at = 0;
        }
        self.ids[at..at + ids.len()].copy_from_slice(ids);
        let place = self.written;
        self.written += ids.len() as u64;
        place
    }

    /// The `count` ids that were put at `place`, if they are still there.
    #[inline]
    pub(super) fn get(&self, place: u64, count: usize) -> Option<&[u32]> {
        let at = place as usize % SIZE;
        let kept = self.written <= place + SIZE as u64;
        if kept { self.ids.get(at..at + count) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_there_until_they_are_written_over() {
        let mut ring = Ring::default();
        let mut kept: std::collections::VecDeque<(u64, Vec<u32>)> = std::collections::VecDeque::new();
        for round in 0..400_000_u32 {
            let ids: Vec<u32> = (0..5 + round % 11).map(|id| round * 16 + id).collect();
            kept.push_back((ring.push(&ids), ids));
            while ring.get(kept[0].0, kept[0].1.len()).is_none() {
                kept.pop_front();
            }
            if round % 9973 == 0 {
                for (place, ids) in &kept {
                    assert_eq!(ring.get(*place, ids.len()), Some(&ids[..]));
                }
                assert!(round < 150_000 || kept.len() > SIZE / 16);
            }
        }
    }
}
