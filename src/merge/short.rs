//! A short pretoken: parts and ranks side by side, a scan for each merge.

use crate::vocab::{PairMerge, Vocab};

/// Stands for "merges with nothing"; its rank is above all others.
const NONE: PairMerge = PairMerge { rank: u32::MAX, id: u32::MAX };

#[derive(Debug, Default)]
pub(super) struct Parts {
    ids: Vec<u32>,
    /// `merges[i]`: what `ids[i]` and `ids[i + 1]` merge into.
    merges: Vec<PairMerge>,
}

impl Parts {
    /// Applies every merge of a rank below `limit`.
    pub(super) fn merge(&mut self, vocab: &Vocab, pretoken: &[u8], limit: u32, out: &mut Vec<u32>) {
        let Parts { ids, merges } = self;
        let look_up = |left, right| vocab.pair(left, right).unwrap_or(NONE);
        ids.clear();
        ids.extend(pretoken.iter().map(|&byte| vocab.byte_id(byte)));
        merges.clear();
        merges.extend(ids.windows(2).map(|pair| look_up(pair[0], pair[1])));
        while let Some((at, merge)) = lowest(merges).filter(|(_, merge)| merge.rank < limit) {
            ids[at] = merge.id;
            ids.remove(at + 1);
            merges.remove(at);
            if at < merges.len() {
                merges[at] = look_up(ids[at], ids[at + 1]);
            }
            if at > 0 {
                merges[at - 1] = look_up(ids[at - 1], ids[at]);
            }
        }
        out.extend_from_slice(ids);
    }
}

/// The leftmost merge of the lowest rank.
#[inline]
fn lowest(merges: &[PairMerge]) -> Option<(usize, PairMerge)> {
    let mut best = (0, *merges.first()?);
    for (at, &merge) in merges.iter().enumerate().skip(1) {
        if merge.rank < best.1.rank {
            best = (at, merge);
        }
    }
    Some(best)
}
