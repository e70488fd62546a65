//! The longest token that starts at each place of a text, in linear time for any tokens and any text.
//!
//! This is an Aho-Corasick automaton of the reversed tokens, run over the text from its end to its start. Its
//! state at a place tells the longest token that starts there. A forward search has to read on to see whether
//! a longer token follows, and reads the same bytes again if none does; here every byte is read once.

use std::ops::Range;

/// The automaton: a trie of the reversed tokens, with failure links.
///
/// Memory: 13 bytes for each byte of the tokens. Building takes time linear in these bytes.
#[derive(Clone, Debug)]
pub(super) struct BackwardAutomaton {
    /// The child of the root for each byte; the root itself if there is none.
    below_root: Box<[u32; 256]>,
    /// Nodes are in breadth-first order, so the children of `node` are `children[node]..children[node + 1]`.
    children: Vec<u32>,
    /// The byte that leads to each node; the children of a node are sorted by it.
    bytes: Vec<u8>,
    /// The failure link of each node: the node of the longest proper suffix of the bytes that lead to it.
    links: Vec<u32>,
    /// The longest token that starts at the current place when the automaton is in a node.
    longest: Vec<u32>,
    /// Bytes of the longest token.
    max_len: usize,
}

const ROOT: u32 = 0;
/// Marks in `longest` that no token starts at the place.
const NO_TOKEN: u32 = u32::MAX;

impl BackwardAutomaton {
    /// An automaton of the tokens `members` of `all`, by index. They must be distinct and not empty, and have
    /// fewer than 2^32 bytes together.
    pub(super) fn new(all: &[Vec<u8>], members: Vec<u32>) -> Self {
        let max_len = members.iter().map(|&index| all[index as usize].len()).max().unwrap_or(0);
        let mut automaton = BackwardAutomaton {
            below_root: Box::new([ROOT; 256]),
            children: Vec::new(),
            bytes: vec![0],
            links: vec![ROOT],
            longest: vec![NO_TOKEN],
            max_len,
        };
        automaton.add_nodes(all, members);
        automaton.add_links();
        automaton
    }

    /// Builds the trie level by level. A node is a range of `members`: the tokens that have the same last
    /// bytes.
    fn add_nodes(&mut self, all: &[Vec<u8>], mut members: Vec<u32>) {
        let (mut level, mut below) = (Vec::new(), Vec::new());
        level.push(0..members.len());
        for depth in 0..=self.max_len {
            let before = |index: u32| {
                let token = &all[index as usize];
                token.len().checked_sub(depth + 1).map(|at| token[at])
            };
            // The nodes of the current level are the last ones that were added.
            let first = self.bytes.len() - level.len();
            for (node, range) in (first..).zip(level.drain(..)) {
                self.children.push(self.bytes.len() as u32);
                let (mut start, tokens) = (range.start, &mut members[range]);
                tokens.sort_unstable_by_key(|&index| before(index));
                for same in tokens.chunk_by(|&a, &b| before(a) == before(b)) {
                    match before(same[0]) {
                        None => self.longest[node] = same[0],
                        Some(byte) => {
                            self.bytes.push(byte);
                            self.longest.push(NO_TOKEN);
                            below.push(start..start + same.len());
                        }
                    }
                    start += same.len();
                }
            }
            std::mem::swap(&mut level, &mut below);
        }
        self.children.push(self.bytes.len() as u32);
    }

    /// Sets the failure links, and gives each node without a token of its own the longest token of its link.
    fn add_links(&mut self) {
        self.links.resize(self.bytes.len(), ROOT);
        for child in self.children_of(ROOT) {
            self.below_root[usize::from(self.bytes[child])] = child as u32;
        }
        for node in 1..self.bytes.len() as u32 {
            for child in self.children_of(node) {
                let link = self.step(self.links[node as usize], self.bytes[child]);
                self.links[child] = link;
                if self.longest[child] == NO_TOKEN {
                    self.longest[child] = self.longest[link as usize];
                }
            }
        }
    }

    fn children_of(&self, node: u32) -> Range<usize> {
        self.children[node as usize] as usize..self.children[node as usize + 1] as usize
    }

    /// The node that `byte` leads to from `node`. Over a whole text, links are followed at most once for each
    /// byte read.
    #[inline]
    fn step(&self, mut node: u32, byte: u8) -> u32 {
        while node != ROOT {
            #[cfg(test)]
            steps::add();
            let children = self.children_of(node);
            if let Ok(at) = self.bytes[children.clone()].binary_search(&byte) {
                return (children.start + at) as u32;
            }
            node = self.links[node as usize];
        }
        self.below_root[usize::from(byte)]
    }

    /// Calls `report` for each place of `range` where a token starts, from the last to the first, with the
    /// place and the index of the longest token there.
    pub(super) fn each_start(&self, text: &[u8], range: Range<usize>, mut report: impl FnMut(usize, usize)) {
        let end = text.len().min(range.end + self.max_len.saturating_sub(1));
        let mut node = ROOT;
        for at in (range.start..end).rev() {
            node = self.step(node, text[at]);
            let token = self.longest[node as usize];
            if token != NO_TOKEN && at < range.end {
                report(at, token as usize);
            }
        }
    }

    /// For each place of `range`, the furthest end of a token that starts before the place. If that is not
    /// greater than the place, no token lies across it.
    pub(super) fn reach(&self, all: &[Vec<u8>], text: &[u8], range: Range<usize>) -> Vec<usize> {
        let low = range.start.saturating_sub(self.max_len);
        let mut reach = vec![0; range.end - low];
        if let Some(last) = range.end.checked_sub(1) {
            self.each_start(text, low..last, |start, token| {
                reach[start + 1 - low] = start + all[token].len()
            });
        }
        let mut furthest = 0;
        for reach in &mut reach {
            furthest = furthest.max(*reach);
            *reach = furthest;
        }
        reach.split_off(range.start - low)
    }

    /// Whether a text contains a token, or begins with a suffix of one.
    pub(super) fn touches(&self, text: &[u8]) -> bool {
        let (mut node, mut holds) = (ROOT, false);
        for &byte in text.iter().rev() {
            node = self.step(node, byte);
            holds |= self.longest[node as usize] != NO_TOKEN;
        }
        holds || node != ROOT
    }
}

/// Counts the work of the automaton, for tests that it is linear.
#[cfg(test)]
pub(crate) mod steps {
    use std::cell::Cell;

    thread_local! {
        static STEPS: Cell<u64> = const { Cell::new(0) };
    }

    pub(super) fn add() {
        STEPS.set(STEPS.get() + 1);
    }

    /// The number of steps since the last call.
    pub(crate) fn take() -> u64 {
        STEPS.replace(0)
    }
}
