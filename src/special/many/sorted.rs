//! Tokens in the order of their bytes: for those that begin alike in many lengths.
//!
//! Of all tokens that are not greater than a text, the greatest one begins with every token that the text begins with.
//! So the longest of these is that one, or one that it begins with, and is found in logarithmic time.

use std::ops::Range;

use super::grams::Grams;

/// Indices of tokens, sorted by their bytes, each with tokens that it begins with.
#[derive(Clone, Debug, Default)]
pub(super) struct Sorted(Vec<Node>);

/// A token; others are told by their places among the sorted.
#[derive(Clone, Copy, Debug)]
struct Node {
    index: u32,
    /// The longest shorter token that this one begins with, or itself.
    parent: u32,
    /// One further up that halves the way on average, or itself.
    jump: u32,
    /// How many there are above it.
    depth: u32,
}

impl Sorted {
    pub(super) fn new(all: &[Vec<u8>], members: &[u32]) -> Self {
        let mut indices = members.to_vec();
        indices.sort_unstable_by(|&a, &b| all[a as usize].cmp(&all[b as usize]));
        let mut nodes: Vec<Node> = Vec::with_capacity(indices.len());
        for index in indices {
            let at = nodes.len() as u32;
            // The longest token that this one begins with is the one before it, or above that one.
            let mut above = at.checked_sub(1);
            while let Some(node) = above.map(|above| nodes[above as usize])
                && !all[index as usize].starts_with(&all[node.index as usize])
            {
                above = (node.depth > 0).then_some(node.parent);
            }
            nodes.push(Node::below(at, index, above.map(|above| (above, &*nodes))));
        }
        Sorted(nodes)
    }

    /// The ranges of those with the same first bytes.
    pub(super) fn ranges(&self, all: &[Vec<u8>], grams: Grams) -> impl Iterator<Item = (u64, Range<u32>)> {
        let key = move |node: &Node| grams.key(&all[node.index as usize]);
        let mut start = 0;
        self.0.chunk_by(move |a, b| key(a) == key(b)).map(move |nodes| {
            let range = start..start + nodes.len() as u32;
            start = range.end;
            (key(&nodes[0]), range)
        })
    }

    /// The longest token of a range that `text` begins with.
    pub(super) fn longest(&self, all: &[Vec<u8>], text: &[u8], range: Range<u32>) -> Option<usize> {
        let token = |node: &Node| all[node.index as usize].as_slice();
        let nodes = self.0.get(range.start as usize..range.end as usize)?;
        let greatest = nodes.partition_point(|node| token(node) <= text).checked_sub(1)?;
        let mut node = &nodes[greatest];
        let same = common(token(node), text);
        while token(node).len() > same {
            if node.depth == 0 {
                return None;
            }
            let jump = &self.0[node.jump as usize];
            node = if token(jump).len() > same { jump } else { &self.0[node.parent as usize] };
        }
        Some(node.index as usize)
    }
}

impl Node {
    /// The node at `at` below another one, or at the top.
    fn below(at: u32, index: u32, above: Option<(u32, &[Node])>) -> Node {
        let Some((parent, nodes)) = above else { return Node { index, parent: at, jump: at, depth: 0 } };
        let one = nodes[parent as usize];
        let two = nodes[one.jump as usize];
        let three = nodes[two.jump as usize];
        // Two jumps that are equally far become one over both.
        let equal = one.depth - two.depth == two.depth - three.depth;
        Node { index, parent, jump: if equal { two.jump } else { parent }, depth: one.depth + 1 }
    }
}

/// How many bytes are the same at the beginning of both.
fn common(one: &[u8], other: &[u8]) -> usize {
    let same = one.chunks(32).zip(other.chunks(32)).take_while(|(a, b)| a == b).count();
    let at = (32 * same).min(one.len()).min(other.len());
    at + one[at..].iter().zip(&other[at..]).take_while(|(a, b)| a == b).count()
}
