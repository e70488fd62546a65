//! Packing: which documents share a row of a fixed length.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::Deserialize;

use crate::control::Control;
use crate::error::Result;
use crate::room;

/// What becomes of a document that is longer than a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LongDocument {
    /// It becomes rows of its own, and a rest.
    Split,
    /// Its beginning becomes a row of its own.
    Truncate,
    /// It is left out.
    Drop,
}

impl LongDocument {
    /// All of them, with their names.
    pub const NAMES: [(&'static str, LongDocument); 3] =
        [("split", LongDocument::Split), ("truncate", LongDocument::Truncate), ("drop", LongDocument::Drop)];
}

/// A part of a document in a row: its index, and which of its tokens.
pub type PackedPart = (usize, Range<usize>);

/// Puts documents into rows of `length` tokens by best-fit decreasing: the longest part first, each into the
/// row with the least room that is enough, the first of several. Empty documents are in no row.
///
/// Returns the parts of all rows, and where each row starts among them, and the last one ends.
///
/// Cost: O(n log n) for n parts.
pub fn pack(
    lengths: &[usize],
    length: usize,
    long: LongDocument,
    control: &Control,
) -> Result<(Vec<PackedPart>, Vec<usize>)> {
    let mut parts = parts(lengths, length.max(1), long)?;
    parts.sort_by_key(|(_, range)| std::cmp::Reverse(range.len()));
    // Rows with room, by how much room they have.
    let (mut open, mut rows) = (BTreeSet::new(), 0);
    let mut placed: Vec<(usize, PackedPart)> = room::for_items(parts.len())?;
    for (number, part) in parts.into_iter().enumerate() {
        if number % 4096 == 0 {
            control.check()?;
        }
        let fits = open.range((part.1.len(), 0)..).next().copied();
        let (free, row) = fits.unwrap_or((length, rows));
        match fits {
            Some(found) => _ = open.remove(&found),
            None => rows += 1,
        }
        if free > part.1.len() {
            open.insert((free - part.1.len(), row));
        }
        placed.push((row, part));
    }
    placed.sort_by_key(|(row, _)| *row);
    let mut starts = room::filled(placed.len(), rows + 1)?;
    for (at, (row, _)) in placed.iter().enumerate().rev() {
        starts[*row] = at;
    }
    Ok((room::collected(placed.into_iter().map(|(_, part)| part))?, starts))
}

/// The parts of documents, none longer than a row.
fn parts(lengths: &[usize], length: usize, long: LongDocument) -> Result<Vec<PackedPart>> {
    let mut parts = room::for_items(lengths.len())?;
    for (document, &len) in lengths.iter().enumerate() {
        let end = match long {
            LongDocument::Drop if len > length => continue,
            LongDocument::Truncate => len.min(length),
            _ => len,
        };
        for start in (0..end).step_by(length) {
            room::push(&mut parts, (document, start..end.min(start + length)))?;
        }
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// The rule, word by word.
    fn slowly(lengths: &[usize], length: usize, long: LongDocument) -> Vec<Vec<PackedPart>> {
        let mut parts = parts(lengths, length, long).unwrap();
        parts.sort_by_key(|(_, range)| std::cmp::Reverse(range.len()));
        let mut rows: Vec<Vec<PackedPart>> = Vec::new();
        for part in parts {
            let room =
                |row: &Vec<PackedPart>| length - row.iter().map(|(_, range)| range.len()).sum::<usize>();
            match rows.iter_mut().filter(|row| room(row) >= part.1.len()).min_by_key(|row| room(row)) {
                Some(row) => row.push(part),
                None => rows.push(vec![part]),
            }
        }
        rows
    }

    #[test]
    fn every_part_is_in_the_row_of_the_rule() {
        let mut random = Random::new(1);
        for round in 0..3000 {
            let length = 1 + random.below(40);
            let lengths: Vec<usize> = (0..random.below(60)).map(|_| random.below(2 * length)).collect();
            let (_, long) = LongDocument::NAMES[round % 3];
            let (parts, starts) = pack(&lengths, length, long, &Control::none()).unwrap();
            let rows: Vec<Vec<PackedPart>> =
                starts.windows(2).map(|at| parts[at[0]..at[1]].to_vec()).collect();
            assert_eq!(rows, slowly(&lengths, length, long));
            let total = parts.iter().map(|(_, range)| range.len()).sum::<usize>();
            let all = lengths.iter().sum::<usize>();
            assert!(total == all || long != LongDocument::Split && total < all);
        }
    }
}
