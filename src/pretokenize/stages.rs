//! Splitting in stages: each cuts the pieces of the one before, and may drop some of them (Hugging Face's
//! sequences).

use std::ops::Range;

use super::matcher::Matcher;
use super::splitter::{OnMatch, Splitter};
use crate::error::Result;
use crate::room;

/// What happens to a match, and to the text between two matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behavior {
    /// A match is left out; the rest becomes pieces.
    Removed,
    /// Each match and each rest is a piece.
    Isolated,
    /// A match forms one piece with the text before it, if that is not a match.
    MergedWithPrevious,
    /// A match forms one piece with the text after it, if that is not a match.
    MergedWithNext,
    /// Neighbouring matches form one piece.
    Contiguous,
}

impl Behavior {
    /// The behaviors by their names in a `tokenizer.json`.
    pub const NAMES: [(&str, Behavior); 5] = [
        ("Removed", Behavior::Removed),
        ("Isolated", Behavior::Isolated),
        ("MergedWithPrevious", Behavior::MergedWithPrevious),
        ("MergedWithNext", Behavior::MergedWithNext),
        ("Contiguous", Behavior::Contiguous),
    ];
}

/// A stage, which cuts all pieces.
#[derive(Clone)]
pub struct SplitStage {
    /// Finds the matches; each piece is searched as if it stood alone.
    pub matcher: Matcher,
    /// What happens to the matches.
    pub behavior: Behavior,
    /// Whether matches and the text between them change roles.
    pub invert: bool,
}

/// Stages, one after the other. Text that they drop is not among the splitter's matches, so the pretokenizer
/// must drop unmatched text.
pub struct SplitStages(pub Vec<SplitStage>);

impl Splitter for SplitStages {
    fn split(&self, text: &[u8], on_match: OnMatch<'_>) -> Result<()> {
        let mut pieces: Vec<Range<usize>> = std::iter::once(0..text.len()).collect();
        for stage in &self.0 {
            let mut next = room::for_items(pieces.len())?;
            for piece in pieces {
                stage.cut(text, piece, &mut next)?;
            }
            pieces = next;
        }
        for piece in pieces {
            if !piece.is_empty() && !on_match(piece)? {
                break;
            }
        }
        Ok(())
    }

    fn is_parallel(&self) -> bool {
        self.0.iter().all(|stage| stage.matcher.is_parallel())
    }
}

/// A stretch, and whether it is a match.
type MatchedRange = (Range<usize>, bool);

impl SplitStage {
    fn cut(&self, text: &[u8], piece: Range<usize>, pieces: &mut Vec<Range<usize>>) -> Result<()> {
        let stretches = self.stretches(text, piece)?;
        let first = pieces.len();
        room::reserve(pieces, stretches.len())?;
        match self.behavior {
            Behavior::Isolated => pieces.extend(stretches.into_iter().map(|(range, _)| range)),
            Behavior::Removed => {
                pieces
                    .extend(stretches.into_iter().filter(|(_, is_match)| !is_match).map(|(range, _)| range));
            }
            // The first stretch is compared with a stretch that is not a match.
            Behavior::Contiguous => join(stretches, pieces, first, |is_match, before| is_match == before),
            Behavior::MergedWithPrevious => {
                join(stretches, pieces, first, |is_match, before| is_match && !before);
            }
            Behavior::MergedWithNext => {
                let mut reversed = stretches;
                reversed.reverse();
                join(reversed, pieces, first, |is_match, behind| is_match && !behind);
                pieces[first..].reverse();
            }
        }
        let mut kept = first;
        for at in first..pieces.len() {
            if !pieces[at].is_empty() {
                pieces.swap(kept, at);
                kept += 1;
            }
        }
        pieces.truncate(kept);
        Ok(())
    }

    /// The matches in a piece and all text between them, in order, without a gap.
    fn stretches(&self, text: &[u8], piece: Range<usize>) -> Result<Vec<MatchedRange>> {
        let base = piece.start;
        let (mut stretches, mut end) = (Vec::new(), base);
        self.matcher.find(&text[piece.clone()], &mut |range| {
            let range = base + range.start..base + range.end;
            if range.start != end {
                room::push(&mut stretches, (end..range.start, self.invert))?;
            }
            end = range.end;
            room::push(&mut stretches, (range, !self.invert))
        })?;
        if end != piece.end {
            room::push(&mut stretches, (end..piece.end, self.invert))?;
        }
        Ok(stretches)
    }
}

/// Adds stretches to the pieces from `first` on, each as a new piece or as a continuation of the last one.
fn join(
    stretches: Vec<MatchedRange>,
    pieces: &mut Vec<Range<usize>>,
    first: usize,
    joins: impl Fn(bool, bool) -> bool,
) {
    let mut before = false;
    for (range, is_match) in stretches {
        match pieces[first..].last_mut() {
            Some(last) if joins(is_match, before) => {
                *last = last.start.min(range.start)..last.end.max(range.end);
            }
            _ => pieces.push(range),
        }
        before = is_match;
    }
}
