//! Divides things into parts so that the things of a part are alike: the step that makes automata minimal.

use std::collections::HashMap;
use std::hash::Hash;

/// Divides `count` things into as few parts as possible so that things with different signatures are in
/// different parts. A signature may depend on the parts. Returns the number of each thing's part.
pub(super) fn refine<S: Hash + Eq>(
    count: usize,
    signature: impl Fn(usize, &[usize]) -> Vec<S>,
) -> Vec<usize> {
    let (mut parts, mut part_count) = (vec![0; count], 1);
    loop {
        let mut numbers = HashMap::new();
        let mut next = Vec::with_capacity(count);
        for thing in 0..count {
            let new = numbers.len();
            next.push(*numbers.entry((parts[thing], signature(thing, &parts))).or_insert(new));
        }
        if numbers.len() == part_count {
            return parts;
        }
        (part_count, parts) = (numbers.len(), next);
    }
}
