//! The ids of the beginnings of texts, kept for texts that begin in the same way.
//!
//! Texts are in a tree, whose nodes are stretches of them between two cuts. A text goes down the tree as long as its
//! bytes are those of the nodes. Where it differs, or ends, it leaves at the last place where both can be cut, and what
//! follows becomes new nodes. A node is found by the node above it and by the first bytes that are not those of that
//! node. So texts of the same tokenizer share what they have in common, and nothing that is kept can be out of date.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, TryLockError};

use crate::control::Control;
use crate::encode::encoder::Encoder;
use crate::encode::special_set::ActiveSpecials;
use crate::error::Result;
use crate::source::Cutter;
use crate::{hashing, room};

/// Bytes of a node at least, where the text has as many and can be cut.
const NODE_BYTES: usize = if cfg!(test) { 32 } else { 1 << 12 };
/// Less text is not kept: finding it would take longer than encoding it.
const MIN_NODE_BYTES: usize = if cfg!(test) { 8 } else { 1 << 7 };
/// Parts with a lock each at most, and bytes of each at least.
const MAX_SHARDS: usize = 16;
const MIN_SHARD_BYTES: usize = 1 << 16;
/// What a node takes besides its text and ids: its entry, its places in the order of use, and what allocators add.
const ENTRY_BYTES: usize = 320;
/// How often a lock is tried: some microseconds. Then the text is encoded: a child of `fork` must not wait for a thread
/// that it does not have.
const MAX_LOCK_ATTEMPTS: usize = 100;

/// Encodes texts of which many begin in the same way, such as the turns of conversations: from the last cut on up to
/// which the text is known. Any number of threads may use it at once.
///
/// Cost of what is known: its bytes are compared, its ids copied. Memory: `max_bytes` at most; what was used least
/// recently goes first. Where a pattern has no known cuts, nothing is kept.
pub struct PrefixCache {
    encoder: Arc<Encoder>,
    special: bool,
    max_bytes: usize,
    root: Arc<Node>,
    /// The number of the next node. None has the number of an earlier one, so what was below that is not found.
    next_number: AtomicU64,
    shards: Vec<Mutex<Shard>>,
}

/// A stretch of text between two cuts.
#[derive(Default)]
struct Node {
    number: u64,
    text: Vec<u8>,
    ids: Vec<u32>,
    /// How much of the node above is before this one.
    above: Extent,
}

/// The beginning of a node, up to a cut.
#[derive(Clone, Copy, Default)]
struct Extent {
    bytes: usize,
    ids: usize,
}

/// Where a text leaves a node: after so many bytes that are the same, with these bytes next.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Branch {
    number: u64,
    same: usize,
    next: u64,
}

/// A text that is encoded.
struct Prompt<'a> {
    text: &'a [u8],
    specials: ActiveSpecials<'a>,
    cutter: Cutter<'a>,
}

/// How far a text is known.
struct Known {
    /// The last node on the way down, and where it begins in the text.
    node: Arc<Node>,
    start: usize,
    /// How many bytes of the node the text has.
    same: usize,
    /// Where the text goes on; `None` if other threads kept a lock too long, so that nobody knows what is there.
    branch: Option<Branch>,
}

/// Appends the ids of a range of the text.
type EncodeRange<'a> = dyn FnMut(Range<usize>, &mut Vec<u32>) -> Result<()> + 'a;

#[derive(Default)]
struct Shard {
    entries: HashMap<Branch, Entry>,
    /// Branches in the order of use, each with the time of that use. If one was used later, this use does not count.
    uses: VecDeque<(Branch, u64)>,
    time: u64,
    bytes: usize,
}

struct Entry {
    node: Arc<Node>,
    used: u64,
}

impl Node {
    /// Where a text that has `same` bytes of the node, and then `more`, leaves it.
    fn branch(&self, same: usize, more: &[u8]) -> Branch {
        let mut next = [0; 8];
        next.iter_mut().zip(more).for_each(|(to, &byte)| *to = byte);
        Branch { number: self.number, same, next: u64::from_le_bytes(next) }
    }

    fn bytes(&self) -> usize {
        self.text.capacity() + size_of::<u32>() * self.ids.capacity() + ENTRY_BYTES
    }
}

impl PrefixCache {
    /// An empty cache for at most `max_bytes` bytes.
    pub fn new(encoder: Arc<Encoder>, max_bytes: usize, special: bool) -> Self {
        let shards = (max_bytes / MIN_SHARD_BYTES).clamp(1, MAX_SHARDS);
        let shards = (0..shards).map(|_| Mutex::default()).collect();
        PrefixCache { encoder, special, max_bytes, root: Arc::default(), next_number: AtomicU64::new(1), shards }
    }

    /// Bytes of memory that it may take.
    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Bytes of memory that it takes now, but for what other threads are changing.
    pub fn bytes(&self) -> usize {
        self.shards.iter().filter_map(|shard| locked(shard, |shard| shard.bytes)).sum()
    }

    /// Appends the ids of a text, as [`Encoder::encode`] finds them.
    ///
    /// # Errors
    /// Same as [`Encoder::encode`].
    pub fn encode(&self, text: &[u8], ids: &mut Vec<u32>, control: &Control) -> Result<()> {
        let encoder = &*self.encoder;
        let specials = encoder.active(self.special.into());
        let prompt = Prompt { text, specials, cutter: encoder.cutter_of(specials, false) };
        let known = self.descend(&prompt, ids)?;
        encoder.pool.with(encoder.isa, 0, |scratch| {
            let encode = &mut |range: Range<usize>, ids: &mut Vec<u32>| {
                let is_first = range.start == 0;
                encoder.encode_in(scratch, &text[range], specials, is_first, ids, control)
            };
            let above = known.leave(&prompt, ids, encode)?;
            let end = self.grow(&prompt, &known, above, ids, encode)?;
            if end < text.len() || text.is_empty() { encode(end..text.len(), ids) } else { Ok(()) }
        })
    }

    /// Goes down the tree as far as it has the text; appends the ids of the nodes above the last.
    fn descend(&self, prompt: &Prompt<'_>, ids: &mut Vec<u32>) -> Result<Known> {
        let text = prompt.text;
        let (mut node, mut start) = (Arc::clone(&self.root), 0);
        loop {
            let same = common_prefix(&node.text, &text[start..]);
            let branch = node.branch(same, &text[start + same..]);
            let below = locked(self.shard(branch), |shard| shard.look_up(branch));
            let is_cut = |at: usize| at == start || prompt.cutter.is_cut(text, at);
            match below {
                Some(Some(below)) if is_cut(start + below.above.bytes) => {
                    room::extend(ids, &node.ids[..below.above.ids])?;
                    start += below.above.bytes;
                    node = below;
                }
                below => return Ok(Known { node, start, same, branch: below.is_some().then_some(branch) }),
            }
        }
    }

    /// Encodes what is not known, up to a late cut, which is returned, and adds it to the tree.
    fn grow(
        &self,
        Prompt { text, specials, cutter }: &Prompt<'_>,
        known: &Known,
        mut above: Extent,
        ids: &mut Vec<u32>,
        encode: &mut EncodeRange<'_>,
    ) -> Result<usize> {
        let start = known.start + above.bytes;
        let Some(mut branch) = known.branch else { return Ok(start) };
        let late_cut = cutter.late_cut(&text[start..]).filter(|&bytes| bytes >= MIN_NODE_BYTES);
        let end = start + late_cut.unwrap_or(0);
        for range in self.encoder.kept_chunks(&text[start..end], *specials, NODE_BYTES)? {
            let (part, before) = (start + range.start..start + range.end, ids.len());
            encode(part.clone(), ids)?;
            let number = self.next_number.fetch_add(1, Relaxed);
            let (text_of_node, ids_of_node) = (room::copied(&text[part.clone()])?, room::copied(&ids[before..])?);
            let node = Arc::new(Node { number, text: text_of_node, ids: ids_of_node, above });
            above = Extent { bytes: node.text.len(), ids: node.ids.len() };
            let max_bytes = self.max_bytes / self.shards.len();
            let below = node.branch(above.bytes, &text[part.end..]);
            if locked(self.shard(branch), |shard| shard.insert(branch, node, max_bytes)) != Some(true) {
                return Ok(part.end);
            }
            branch = below;
        }
        Ok(end)
    }

    fn shard(&self, branch: Branch) -> &Mutex<Shard> {
        let hash = hashing::fold_words(branch.number ^ branch.next, branch.same as u64);
        &self.shards[(hash >> 32) as usize % self.shards.len()]
    }
}

impl Known {
    /// Appends the ids of the last node up to the place where the text leaves it, which is returned: its end, or else a
    /// cut before the first byte that is different.
    fn leave(
        &self,
        Prompt { text, cutter, .. }: &Prompt<'_>,
        ids: &mut Vec<u32>,
        encode: &mut EncodeRange<'_>,
    ) -> Result<Extent> {
        let (node, end) = (&self.node, self.start + self.same);
        let before = ids.len();
        let is_whole = self.same == node.text.len() && (end == text.len() || cutter.is_cut(text, end));
        let bytes = if is_whole { self.same } else { cutter.late_cut(&node.text[..self.same]).unwrap_or(0) };
        if is_whole {
            room::extend(ids, &node.ids)?;
        } else if bytes > 0 {
            encode(self.start..self.start + bytes, ids)?;
        }
        Ok(Extent { bytes, ids: ids.len() - before })
    }
}

impl Shard {
    fn look_up(&mut self, branch: Branch) -> Option<Arc<Node>> {
        let entry = self.entries.get_mut(&branch)?;
        self.time += 1;
        entry.used = self.time;
        let node = Arc::clone(&entry.node);
        self.note_use(branch);
        Some(node)
    }

    /// Adds a node; false if there is one already, added by another thread, or no room.
    fn insert(&mut self, branch: Branch, node: Arc<Node>, max_bytes: usize) -> bool {
        let is_new = node.bytes() <= max_bytes && !self.entries.contains_key(&branch);
        if !is_new || self.entries.try_reserve(1).is_err() {
            return false;
        }
        while self.bytes + node.bytes() > max_bytes {
            let Some((oldest, used)) = self.uses.pop_front() else { return false };
            if self.is_last_use(oldest, used)
                && let Some(entry) = self.entries.remove(&oldest)
            {
                self.bytes -= entry.node.bytes();
            }
        }
        self.time += 1;
        self.bytes += node.bytes();
        self.entries.insert(branch, Entry { node, used: self.time });
        self.note_use(branch);
        true
    }

    fn is_last_use(&self, branch: Branch, used: u64) -> bool {
        self.entries.get(&branch).is_some_and(|entry| entry.used == used)
    }

    fn note_use(&mut self, branch: Branch) {
        if self.uses.len() >= 2 * self.entries.len() + 16 {
            let mut uses = std::mem::take(&mut self.uses);
            uses.retain(|&(branch, used)| self.is_last_use(branch, used));
            self.uses = uses;
        }
        self.uses.push_back((branch, self.time));
    }
}

/// How many bytes at the front are the same in both.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = 64;
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    if a == b {
        return len;
    }
    let same = BLOCK * a.chunks(BLOCK).zip(b.chunks(BLOCK)).take_while(|(a, b)| a == b).count();
    same + a[same..].iter().zip(&b[same..]).take_while(|(a, b)| a == b).count()
}

/// Calls `f` with what is behind a lock, unless other threads keep it too long.
fn locked<T>(shard: &Mutex<Shard>, f: impl FnOnce(&mut Shard) -> T) -> Option<T> {
    for _ in 0..MAX_LOCK_ATTEMPTS {
        match shard.try_lock() {
            Ok(mut shard) => return Some(f(&mut shard)),
            Err(TryLockError::Poisoned(poisoned)) => return Some(f(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::{Isa, Named, Pattern, Pretokenizer, Unmatched};
    use crate::vocab::Vocab;

    const SIZE: usize = 8 + 4 + ENTRY_BYTES;

    fn branch(number: u64) -> Branch {
        Branch { number, same: 0, next: 0 }
    }

    fn insert(shard: &mut Shard, number: u64, max_bytes: usize) -> bool {
        let node = Node { number, text: vec![number as u8; 8], ids: vec![number as u32], above: Extent::default() };
        shard.insert(branch(number), Arc::new(node), max_bytes)
    }

    #[test]
    fn what_was_used_least_recently_goes_first() {
        let mut shard = Shard::default();
        assert!((1..=3).all(|number| insert(&mut shard, number, 3 * SIZE)));
        assert!(!insert(&mut shard, 3, 3 * SIZE), "it is there");
        assert_eq!(shard.bytes, 3 * SIZE);
        for _ in 0..100 {
            assert_eq!(shard.look_up(branch(1)).unwrap().ids, [1]);
        }
        assert!(shard.uses.len() < 30);
        assert!(insert(&mut shard, 4, 3 * SIZE));
        assert_eq!([1, 2, 3, 4].map(|number| shard.look_up(branch(number)).is_some()), [true, false, true, true]);
        assert_eq!(shard.bytes, 3 * SIZE);
        assert!(!insert(&mut shard, 5, SIZE - 1), "what is larger than all memory is not kept");
    }

    #[test]
    fn common_prefixes() {
        let text: Vec<u8> = (0..200).collect();
        for len in 0..200 {
            assert_eq!(common_prefix(&text[..len], &text), len);
            let mut other = text.clone();
            other[len] = 255;
            assert_eq!(common_prefix(&other, &text), len);
        }
    }

    fn encoder(pattern: Pattern) -> Arc<Encoder> {
        let mut tokens: Vec<(u32, Vec<u8>)> = (0..=255).map(|byte| (u32::from(byte), vec![byte])).collect();
        tokens.extend([(256, b"ab".to_vec()), (257, b" ab".to_vec()), (258, b"  ".to_vec())]);
        let specials = [(b"<a b \n>".to_vec(), None), (b"b a".to_vec(), None)];
        let vocab = Vocab::new(&tokens, None, &specials).unwrap();
        Arc::new(Encoder::new(vocab, Pretokenizer { pattern, unmatched: Unmatched::Keep }))
    }

    #[test]
    fn ids_are_those_of_the_whole_text_and_the_beginning_is_known() {
        let words = ["ab", " ", "\n", "<a b \n>", "<a ", "b \n>", "é", "  ", "b a", "'ll", "漢", "/", "a b"];
        let (control, isa) = (Control::none(), Isa::best());
        let named = [Named::Gpt2, Named::Cl100k, Named::O200k].map(|named| Pattern::Named(named, isa));
        for pattern in named.into_iter().chain([Pattern::Whole]) {
            let is_whole = matches!(pattern, Pattern::Whole);
            let encoder = encoder(pattern);
            let mut state = 1_u64;
            let mut draw = |end: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % end
            };
            for max_bytes in [0, 5_000, 1 << 24] {
                let cache = PrefixCache::new(Arc::clone(&encoder), max_bytes, true);
                let mut texts = vec![String::new()];
                for _ in 0..3_000 {
                    // A text goes on, or another one leaves it anywhere.
                    let mut text = texts[draw(texts.len())].clone();
                    if draw(3) > 0 {
                        let kept = draw(text.chars().count() + 1);
                        text = text.chars().take(kept).collect();
                    }
                    text.extend((0..draw(40)).map(|_| words[draw(words.len())]));
                    let expected = encoder.encode_to_vec(text.as_bytes(), true, &control).unwrap();
                    let mut ids = Vec::new();
                    cache.encode(text.as_bytes(), &mut ids, &control).unwrap();
                    assert_eq!(ids, expected, "{text:?}");
                    assert!(cache.bytes() <= max_bytes);
                    if text.len() > 1_000 {
                        texts.clear();
                    }
                    texts.push(text);
                }
                let text = "ab é ab ".repeat(100);
                cache.encode(text.as_bytes(), &mut Vec::new(), &control).unwrap();
                let specials = encoder.active(true.into());
                let prompt = Prompt { text: text.as_bytes(), specials, cutter: encoder.cutter_of(specials, false) };
                let known = cache.descend(&prompt, &mut Vec::new()).unwrap();
                let expected = if is_whole || max_bytes < 1 << 20 { 0 } else { text.len() - 100 };
                assert!(known.start + known.same >= expected);
            }
        }
    }
}
