//! The ids of the beginnings of texts, kept for texts that begin in the same way.
//!
//! Texts are in a tree, whose nodes are stretches of them between two cuts. A text goes down the tree as long
//! as its bytes are those of the nodes. Where it differs, or ends, it leaves at the last place where both can
//! be cut, and what follows becomes new nodes. A node is found by the node above it and by the first bytes
//! that are not those of that node. So texts of the same tokenizer share what they have in common, and
//! nothing that is kept can be out of date.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, TryLockError};

use crate::control::Control;
use crate::encode::encoder::Encoder;
use crate::encode::special_set::ActiveSpecials;
use crate::error::Result;
use crate::source::Cutter;
use crate::{hashing, room};

/// Bytes of a node at least, where the text has as many and can be cut. The text that follows a smaller one
/// is added to it, since each node on the way costs some reads of far memory.
const NODE_BYTES: usize = if cfg!(test) { 32 } else { 1 << 12 };
/// Less text is not kept: finding it would take longer than encoding it.
const MIN_NODE_BYTES: usize = if cfg!(test) { 8 } else { 1 << 7 };
/// Parts with a lock each at most, and bytes of each at least.
const MAX_SHARDS: usize = 16;
const MIN_SHARD_BYTES: usize = 1 << 16;
/// What a node takes besides its text and ids: its entry, its place in the queue, and what allocators add.
const ENTRY_BYTES: usize = 288;
/// How often a lock is tried: some microseconds. Then the text is encoded: a child of `fork` must not wait
/// for a thread that it does not have.
const MAX_LOCK_ATTEMPTS: usize = 100;

/// Encodes texts of which many begin in the same way, such as the turns of conversations: from the last cut
/// on up to which the text is known. Any number of threads may use it at once.
///
/// Cost of what is known: its bytes are compared, its ids copied. Memory: `max_bytes` at most; what was not
/// used for long goes first. Where a pattern has no known cuts, nothing is kept.
pub struct PrefixCache {
    encoder: Arc<Encoder>,
    special: bool,
    max_bytes: usize,
    root: Arc<Node>,
    /// The number of the next node. None has the number of an earlier one, so what was below that is not
    /// found.
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
    /// Whether a node was put below this one.
    has_branches: AtomicBool,
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
pub struct KnownPrefix {
    /// The last node on the way down, and where it begins in the text.
    node: Arc<Node>,
    start: usize,
    /// Where the node is; `None` for the root.
    place: Option<Branch>,
    /// How many bytes of the node the text has.
    same: usize,
    /// Where the text goes on; `None` if other threads kept a lock too long, so that nobody knows what is
    /// there.
    branch: Option<Branch>,
}

/// Appends the ids of a range of the text.
type EncodeRange<'a> = dyn FnMut(Range<usize>, &mut Vec<u32>) -> Result<()> + 'a;

#[derive(Default)]
struct Shard {
    entries: HashMap<Branch, CachedText>,
    /// All branches. The first goes when memory is needed, or, if it was used since it was there, becomes the
    /// last.
    queue: VecDeque<Branch>,
    bytes: usize,
}

struct CachedText {
    node: Arc<Node>,
    is_used: bool,
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
        let (root, next_number) = (Arc::default(), AtomicU64::new(1));
        PrefixCache { encoder, special, max_bytes, root, next_number, shards }
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
    pub fn encode(&self, text: &[u8], ids: &mut Vec<u32>, control: &Control) -> Result<()> {
        let known = self.find(text, ids)?;
        self.encode_from(known, text, ids, control)
    }

    /// Appends the other ids of a text, after those that [`PrefixCache::find`] appended for the same text.
    pub fn encode_from(
        &self,
        known: KnownPrefix,
        text: &[u8],
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let (encoder, prompt) = (&*self.encoder, self.prompt(text));
        encoder.pool.with(encoder.isa, 0, |scratch| {
            let encode = &mut |range: Range<usize>, ids: &mut Vec<u32>| {
                let is_first = range.start == 0;
                encoder.encode_in(scratch, &text[range], prompt.specials, is_first, ids, control)
            };
            let above = known.leave(&prompt, ids, encode)?;
            let end = self.grow(&prompt, &known, above, ids, encode)?;
            if end < text.len() || text.is_empty() { encode(end..text.len(), ids) } else { Ok(()) }
        })
    }

    fn prompt<'a>(&'a self, text: &'a [u8]) -> Prompt<'a> {
        let specials = self.encoder.active(self.special.into());
        Prompt { text, specials, cutter: self.encoder.cutter_of(specials, false) }
    }

    /// Finds how far a text is known: goes down the tree as far as it has the text, and appends the ids of
    /// the nodes above the last. [`PrefixCache::encode_from`] does the rest.
    pub fn find(&self, text: &[u8], ids: &mut Vec<u32>) -> Result<KnownPrefix> {
        let prompt = self.prompt(text);
        let (mut node, mut start, mut place) = (Arc::clone(&self.root), 0, None);
        loop {
            let same = common_prefix(&node.text, &text[start..]);
            let branch = node.branch(same, &text[start + same..]);
            let below = locked(self.shard(branch), |shard| shard.look_up(branch));
            let is_cut = |at: usize| at == start || prompt.cutter.is_cut(text, at);
            match below {
                Some(Some(below)) if is_cut(start + below.above.bytes) => {
                    room::extend(ids, &node.ids[..below.above.ids])?;
                    start += below.above.bytes;
                    (node, place) = (below, Some(branch));
                }
                below => {
                    let branch = below.is_some().then_some(branch);
                    return Ok(KnownPrefix { node, start, place, same, branch });
                }
            }
        }
    }

    /// Encodes what is not known, up to a late cut, which is returned, and adds it to the tree.
    fn grow(
        &self,
        Prompt { text, specials, cutter }: &Prompt<'_>,
        known: &KnownPrefix,
        above: Extent,
        ids: &mut Vec<u32>,
        encode: &mut EncodeRange<'_>,
    ) -> Result<usize> {
        let start = known.start + above.bytes;
        let Some(branch) = known.branch else { return Ok(start) };
        let late_cut = cutter.late_cut(&text[start..]).filter(|&bytes| bytes >= MIN_NODE_BYTES);
        let end = start + late_cut.unwrap_or(0);
        let mut stem = known.stem(above, end - start);
        let (mut place, mut parent) = (stem.map_or(branch, |(place, _)| place), Arc::clone(&known.node));
        let mut above = stem.map_or(above, |(_, node)| node.above);
        for range in self.encoder.kept_chunks(&text[start..end], *specials, NODE_BYTES)? {
            let (range, before) = (start + range.start..start + range.end, ids.len());
            encode(range.clone(), ids)?;
            let old = stem.take().map(|(_, node)| node);
            let node = Arc::new(Node {
                number: self.next_number.fetch_add(1, Relaxed),
                text: joined(old.map_or(&[][..], |old| &old.text), &text[range.clone()])?,
                ids: joined(old.map_or(&[][..], |old| &old.ids), &ids[before..])?,
                above,
                has_branches: AtomicBool::new(false),
            });
            parent.has_branches.store(true, Relaxed);
            above = Extent { bytes: node.text.len(), ids: node.ids.len() };
            parent = node;
            if !self.put(place, &parent, old) {
                return Ok(range.end);
            }
            place = parent.branch(above.bytes, &text[range.end..]);
        }
        Ok(end)
    }

    /// Puts a node to its place, where there is none yet, or that of which it is a longer form.
    fn put(&self, place: Branch, node: &Arc<Node>, old: Option<&Node>) -> bool {
        let max_bytes = self.max_bytes / self.shards.len();
        let old = old.map(|old| old.number);
        locked(self.shard(place), |shard| shard.put(place, Arc::clone(node), old, max_bytes)).unwrap_or(false)
    }

    fn shard(&self, branch: Branch) -> &Mutex<Shard> {
        let hash = hashing::fold_words(branch.number ^ branch.next, branch.same as u64);
        &self.shards[(hash >> 32) as usize % self.shards.len()]
    }
}

impl KnownPrefix {
    /// Bytes of the text whose ids were appended: all that are known but for the last node, of which a part
    /// may have to be encoded again.
    pub fn bytes(&self) -> usize {
        self.start
    }

    /// The last node with its place, if `more` bytes that follow all of it can be added to it.
    fn stem(&self, above: Extent, more: usize) -> Option<(Branch, &Node)> {
        let node = &*self.node;
        let is_open = above.bytes == node.text.len() && !node.has_branches.load(Relaxed);
        let place = self.place.filter(|_| is_open && node.text.len() + more <= NODE_BYTES)?;
        Some((place, node))
    }

    /// Appends the ids of the last node up to the place where the text leaves it, which is returned: its end,
    /// or else a cut before the first byte that is different.
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
        entry.is_used = true;
        Some(Arc::clone(&entry.node))
    }

    /// Puts a node where none is, or one of the number `old`; false if another thread has put one there, or
    /// it is too large.
    fn put(&mut self, place: Branch, node: Arc<Node>, old: Option<u64>, max_bytes: usize) -> bool {
        let here = self.entries.get(&place).map(|entry| &entry.node);
        let freed = here.map_or(0, |node| node.bytes());
        let is_free = here.map(|node| node.number) == old;
        if !is_free || node.bytes() > max_bytes || self.entries.try_reserve(1).is_err() {
            return false;
        }
        self.bytes = self.bytes - freed + node.bytes();
        if self.entries.insert(place, CachedText { node, is_used: old.is_some() }).is_none() {
            self.queue.push_back(place);
        }
        while self.bytes > max_bytes
            && let Some(first) = self.queue.pop_front()
        {
            match self.entries.get_mut(&first) {
                Some(entry) if entry.is_used => {
                    entry.is_used = false;
                    self.queue.push_back(first);
                }
                Some(entry) => {
                    self.bytes -= entry.node.bytes();
                    self.entries.remove(&first);
                }
                None => {}
            }
        }
        true
    }
}

/// Two slices in a row.
fn joined<T: Copy>(first: &[T], second: &[T]) -> Result<Vec<T>> {
    let mut both = room::for_items(first.len() + second.len())?;
    both.extend_from_slice(first);
    both.extend_from_slice(second);
    Ok(both)
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
    use crate::random::Random;
    use crate::vocab::Vocab;

    const SIZE: usize = 8 + 4 + ENTRY_BYTES;

    fn branch(number: u64) -> Branch {
        Branch { number, same: 0, next: 0 }
    }

    fn insert(shard: &mut Shard, number: u64, max_bytes: usize) -> bool {
        let node = Node { number, text: vec![number as u8; 8], ids: vec![number as u32], ..Node::default() };
        shard.put(branch(number), Arc::new(node), None, max_bytes)
    }

    #[test]
    fn what_was_not_used_goes_first() {
        let mut shard = Shard::default();
        assert!((1..=3).all(|number| insert(&mut shard, number, 3 * SIZE)));
        assert!(!insert(&mut shard, 3, 3 * SIZE), "it is there");
        assert_eq!(shard.bytes, 3 * SIZE);
        for _ in 0..100 {
            assert_eq!(shard.look_up(branch(1)).unwrap().ids, [1]);
        }
        assert!(insert(&mut shard, 4, 3 * SIZE));
        assert_eq!(
            [1, 2, 3, 4].map(|number| shard.look_up(branch(number)).is_some()),
            [true, false, true, true]
        );
        assert_eq!(shard.bytes, 3 * SIZE);
        assert!(!insert(&mut shard, 5, SIZE - 1), "what is larger than all memory is not kept");
        let longer = Arc::new(Node { number: 6, text: vec![0; 9], ..Node::default() });
        assert!(!shard.put(branch(4), Arc::clone(&longer), Some(3), 3 * SIZE), "it is another node");
        assert!(shard.put(branch(4), longer, Some(4), 3 * SIZE));
        assert_eq!((shard.bytes, shard.queue.len(), shard.entries.len()), (3 * SIZE - 3, 3, 3));
    }

    fn encoder(pattern: Pattern) -> Arc<Encoder> {
        let mut tokens: Vec<(u32, Vec<u8>)> = (0..=255).map(|byte| (u32::from(byte), vec![byte])).collect();
        tokens.extend([(256, b"ab".to_vec()), (257, b" ab".to_vec()), (258, b"  ".to_vec())]);
        let specials = [(b"<a b \n>".to_vec(), None), (b"b a".to_vec(), None)];
        let vocab = Vocab::new(&tokens, None, &specials).unwrap();
        Arc::new(Encoder::new(vocab, Pretokenizer { pattern, unmatched: Unmatched::Keep }).unwrap())
    }

    #[test]
    fn ids_are_those_of_the_whole_text_and_the_beginning_is_known() {
        let words = ["ab", " ", "\n", "<a b \n>", "<a ", "b \n>", "é", "  ", "b a", "'ll", "漢", "/", "a b"];
        let (control, isa) = (Control::none(), Isa::best());
        let named = [Named::Gpt2, Named::Cl100k, Named::O200k].map(|named| Pattern::Named(named, isa));
        for pattern in named.into_iter().chain([Pattern::Whole]) {
            let is_whole = matches!(pattern, Pattern::Whole);
            let encoder = encoder(pattern);
            let mut random = Random::new(1);
            for max_bytes in [0, 5_000, 1 << 24] {
                let cache = PrefixCache::new(Arc::clone(&encoder), max_bytes, true);
                let mut texts = vec![String::new()];
                for _ in 0..3_000 {
                    // A text goes on, or another one leaves it anywhere.
                    let mut text = texts[random.below(texts.len())].clone();
                    if random.below(3) > 0 {
                        let kept = random.below(text.chars().count() + 1);
                        text = text.chars().take(kept).collect();
                    }
                    text.extend((0..random.below(40)).map(|_| words[random.below(words.len())]));
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
                let known = cache.find(text.as_bytes(), &mut Vec::new()).unwrap();
                let expected = if is_whole || max_bytes < 1 << 20 { 0 } else { text.len() - 100 };
                assert!(known.start + known.same >= expected);
            }
        }
    }
}
