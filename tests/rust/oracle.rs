//! Slow, obviously right versions, straight from the definition.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

use toksmith::Vocab;
use toksmith::pretokenize::Pretokenizer;
use toksmith::special::{Segment, SpecialMatch};
use toksmith::train::{Merge, Options, Ties};
use toksmith::vocab::Semantics;

/// Trains by counting every pair anew before each merge.
pub(crate) fn learn_merges(words: &[(Vec<u8>, u64)], options: &Options) -> Vec<Merge> {
    let mut words: Vec<(Vec<u32>, u64)> =
        words.iter().map(|(word, count)| (word.iter().map(|&b| u32::from(b)).collect(), *count)).collect();
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    let mut merges = Vec::new();
    while merges.len() < options.max_merges {
        // The pairs in the order of their first occurrence.
        let mut pairs: Vec<((u32, u32), u64)> = Vec::new();
        for (word, count) in words.iter().filter(|(_, count)| *count > 0) {
            for pair in word.windows(2).map(|pair| (pair[0], pair[1])) {
                match pairs.iter_mut().find(|(other, _)| *other == pair) {
                    Some((_, sum)) => *sum += count,
                    None => pairs.push((pair, *count)),
                }
            }
        }
        let length = |token: u32| tokens[token as usize].len() as u64;
        pairs.retain(|&((left, right), _)| {
            length(left) + length(right) <= u64::from(options.max_token_length)
        });
        let most = pairs.iter().map(|&(_, count)| count).max().unwrap_or(0);
        if most < options.min_frequency.max(1) {
            break;
        }
        let tied = pairs.iter().filter(|&&(_, count)| count == most).map(|&(pair, _)| pair);
        let Some((left, right)) =
            tied.reduce(|one, other| if precedes(other, one, options.ties, &tokens) { other } else { one })
        else {
            break;
        };
        let token = tokens.len() as u32;
        tokens.push([tokens[left as usize].as_slice(), tokens[right as usize].as_slice()].concat());
        merges.push(Merge { left, right, token, count: most });
        for (word, _) in &mut words {
            let mut rest = word.as_slice();
            let mut merged = Vec::new();
            while let [first, tail @ ..] = rest {
                if *first == left && tail.first() == Some(&right) {
                    merged.push(token);
                    rest = &tail[1..];
                } else {
                    merged.push(*first);
                    rest = tail;
                }
            }
            *word = merged;
        }
    }
    merges
}

/// Whether the tie rule prefers `one` to `other`, which occurs earlier.
fn precedes(one: (u32, u32), other: (u32, u32), ties: Ties, tokens: &[Vec<u8>]) -> bool {
    let bytes = |pair: (u32, u32)| (&tokens[pair.0 as usize], &tokens[pair.1 as usize]);
    let ranks = |pair: (u32, u32)| (printable_rank(pair.0), printable_rank(pair.1));
    let spelling =
        |id: u32| tokens[id as usize].iter().map(|&byte| printable_rank(byte.into())).collect::<Vec<_>>();
    let spelled = |pair: (u32, u32)| (spelling(pair.0), spelling(pair.1));
    let ordering = match ties {
        Ties::Bytes => bytes(one).cmp(&bytes(other)),
        Ties::Ids => one.cmp(&other),
        Ties::SmallestIds => Reverse(one).cmp(&Reverse(other)),
        Ties::First => Ordering::Less,
        Ties::HuggingFace => Reverse(ranks(one)).cmp(&Reverse(ranks(other))),
        Ties::PrintableIds => ranks(one).cmp(&ranks(other)),
        Ties::Spelling => spelled(one).cmp(&spelled(other)),
    };
    ordering == Ordering::Greater
}

fn printable_rank(id: u32) -> u32 {
    let printable = |byte: &u32| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let order = (0..256).filter(printable).chain((0..256).filter(|byte| !printable(byte)));
    order.into_iter().position(|byte| byte == id).map_or(id, |rank| rank as u32)
}

/// Pretokens with their counts and first places, in the order of first occurrence, one by one.
pub(crate) fn count_pretokens(
    documents: &[Vec<u8>],
    pretokenizer: &Pretokenizer,
) -> Vec<(Vec<u8>, u64, u64)> {
    let mut found: Vec<(Vec<u8>, u64, u64)> = Vec::new();
    let mut index: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut base = 0;
    for document in documents {
        let each = |range: std::ops::Range<usize>| {
            let pretoken = document[range.clone()].to_vec();
            let at = *index.entry(pretoken.clone()).or_insert(found.len());
            if at == found.len() {
                found.push((pretoken, 0, base + range.start as u64));
            }
            found[at].1 += 1;
            Ok(())
        };
        pretokenizer.for_each(document, each).unwrap();
        base += document.len() as u64;
    }
    found
}

/// BPE from its definition: the lowest rank, leftmost first, until nothing merges.
pub(crate) struct Bpe<'v> {
    vocab: &'v Vocab,
    /// Under a merges list, the rank of each merge.
    listed: HashMap<(u32, u32), u32>,
}

impl<'v> Bpe<'v> {
    pub(crate) fn new(vocab: &'v Vocab) -> Self {
        let mut ranks: Vec<u32> = (0..vocab.merges().len() as u32).collect();
        vocab.ties().iter().for_each(|&tie| ranks[tie as usize] = ranks[tie as usize - 1]);
        let listed = vocab.merges().into_iter().zip(ranks).collect();
        Bpe { vocab, listed }
    }

    /// What a pretoken encodes to: merged, but a token by itself where the vocabulary ignores merges then.
    pub(crate) fn encode(&self, pretoken: &[u8]) -> Vec<u32> {
        match self.vocab.ordinary_id(pretoken) {
            Some(id) if self.vocab.ignores_merges() => vec![id],
            _ => self.merge(pretoken),
        }
    }

    /// What merging makes of a pretoken.
    pub(crate) fn merge(&self, pretoken: &[u8]) -> Vec<u32> {
        let mut ids: Vec<u32> =
            pretoken.iter().map(|&byte| self.vocab.ordinary_id(&[byte]).unwrap()).collect();
        let mut pairs: Vec<Option<(u32, u32)>> = ids.windows(2).map(|pair| self.pair(pair)).collect();
        loop {
            let ranks = pairs.iter().enumerate().filter_map(|(at, pair)| Some((pair.as_ref()?.0, at)));
            let Some((_, at)) = ranks.min() else { return ids };
            let id = pairs.remove(at).unwrap().1;
            ids.splice(at..at + 2, [id]);
            for near in at.saturating_sub(1)..(at + 1).min(pairs.len()) {
                pairs[near] = self.pair(&ids[near..near + 2]);
            }
        }
    }

    /// The rank of a pair and what it becomes, if it merges.
    fn pair(&self, pair: &[u32]) -> Option<(u32, u32)> {
        let bytes = |at: usize| self.vocab.token_bytes(pair[at]).unwrap();
        let id = self.vocab.ordinary_id(&[bytes(0), bytes(1)].concat())?;
        match self.vocab.semantics() {
            Semantics::Merges => Some((*self.listed.get(&(pair[0], pair[1]))?, id)),
            Semantics::Ranks => Some((id, id)),
        }
    }
}

/// Special tokens by trying every one at every place.
pub(crate) fn segments(tokens: &[Vec<u8>], text: &[u8]) -> Vec<Segment> {
    let (mut segments, mut from, mut at) = (vec![], 0, 0);
    while at < text.len() {
        let found = (0..tokens.len()).filter(|&i| text[at..].starts_with(&tokens[i]));
        match found.max_by_key(|&i| tokens[i].len()) {
            None => at += 1,
            Some(index) => {
                if from < at {
                    segments.push(Segment::Text(from..at));
                }
                let end = at + tokens[index].len();
                segments.push(Segment::Special(SpecialMatch { index, range: at..end }));
                (from, at) = (end, end);
            }
        }
    }
    if from < at {
        segments.push(Segment::Text(from..at));
    }
    segments
}
