//! Texts of every kind → merges.

use std::sync::Arc;

use super::balance::{self, ChoiceWindow, Measure};
use super::checkpoint::Saver;
use super::learn::learn_from;
use super::options::{Merge, Options};
use super::start::Start;
use super::superwords::{self, Count};
use crate::control::Control;
use crate::count::PretokenCounts;
use crate::error::Result;
use crate::pretokenize::Pretokenizer;

/// What merges are learned from.
pub enum Texts<'t> {
    /// Pretokens.
    Counts(Arc<PretokenCounts>),
    /// Several languages that are compressed alike. Of those that `window` allows, each merge is for the one
    /// that is compressed worst.
    Languages { texts: Vec<Arc<PretokenCounts>>, measure: Measure, window: Option<ChoiceWindow> },
    /// Runs of words, which a pattern finds, in the tokens of the base. The text is counted several times.
    Runs { pattern: Pretokenizer, count: Count<'t> },
}

/// Learns merges that begin with `start`, and gives them to `saver` from time to time and at the end.
///
/// Returns the merges of `start.made`, or those that make the forced tokens, followed by the learned ones.
/// All that add a token count towards `options.max_merges`. They are fewer if no pair is left that occurs
/// often enough, and at most 2^30. Takes 2 or 4 bytes of memory for each byte of the words, and 4 for each
/// occurrence of a pair that may still be merged.
///
/// # Errors
/// `Error::CountOverflow`, `Error::TooManyPretokens`, `Error::Interrupted`; `Error::BrokenState` if no
/// training of this start can have made `start.made`, or its base merges by names; `Error::Vocab` for forced
/// tokens that cannot be made, and for a base that does not fit what is learned; errors of `saver`.
pub fn learn(
    texts: Texts<'_>,
    start: &Start<'_>,
    options: &Options,
    saver: &mut Saver<'_>,
    control: &Control,
) -> Result<Vec<Merge>> {
    match texts {
        Texts::Counts(counts) => learn_from(counts, start, options, saver, control),
        Texts::Languages { texts, measure, window } => {
            balance::learn(texts, measure, window, start, options, control)
        }
        Texts::Runs { pattern, count } => superwords::learn(pattern, count, start, options, saver, control),
    }
}
