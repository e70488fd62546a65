//! Text that arrives in pieces → the pretokens and special tokens of the whole.

use super::set::Specials;
use crate::control::Control;
use crate::error::Result;
use crate::pretokenize::Pretokenizer;
use crate::room;

/// A pretoken or a special token that a [`TextStream`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'t> {
    /// A pretoken.
    Pretoken(&'t [u8]),
    /// A special token, by its index in [`Specials::tokens`].
    Special(usize),
}

impl StreamState {
    /// How many bytes of text are held back.
    pub fn held_bytes(&self) -> usize {
        self.held.len()
    }
}

/// Below this many held bytes a scan that settles nothing is repeated at every push.
const ALWAYS_SCANNED_BYTES: usize = 4096;

/// Finds in pieces of text, however it is cut, what would be found in the whole.
///
/// Holds back what later text could still change: for a pattern with a proven cut rule the last
/// pretoken and the length of the longest special token, otherwise everything since the last special
/// token. A pretoken longer than 4 KB is looked at again only when what is held has doubled, so that
/// feeding it byte by byte stays linear; up to twice its length is held then. For the same reason a special token
/// longer than 128 bytes has a quarter more than its length held back.
pub struct TextStream<'a> {
    specials: &'a Specials,
    pretokenizer: &'a Pretokenizer,
    state: StreamState,
}

/// The state that a [`TextStream`] keeps from one piece of text to the next.
#[derive(Clone, Debug, Default)]
pub struct StreamState {
    /// Text not yet given out; it starts at a pretoken boundary.
    held: Vec<u8>,
    /// No special token starts in `held` before here.
    searched: usize,
    /// No scan before `held` is this long.
    scan_at: usize,
    /// Place of `held` in the whole text, in bytes.
    offset: u64,
}

impl<'a> TextStream<'a> {
    /// A stream that goes on from `state`; a default one starts a text. Pass empty `Specials` to read
    /// special tokens as ordinary text.
    pub fn new(specials: &'a Specials, pretokenizer: &'a Pretokenizer, state: StreamState) -> Self {
        TextStream { specials, pretokenizer, state }
    }

    /// What a later stream over the same text needs.
    pub fn into_state(self) -> StreamState {
        self.state
    }

    /// Adds text; calls `f` with everything that is settled now, and its place in the whole text.
    ///
    /// # Errors
    /// What `f` or the pattern fails with, and [`crate::Error::Interrupted`]; the stream is of no more use then.
    pub fn push(
        &mut self,
        text: &[u8],
        control: &Control,
        f: &mut impl FnMut(Event<'_>, u64) -> Result<()>,
    ) -> Result<()> {
        room::extend(&mut self.state.held, text)?;
        if self.state.held.len() < self.state.scan_at {
            return Ok(());
        }
        let from = self.close_segments(true, control, f)?;
        let plain = self.plain_end().max(from);
        let held = &self.state.held[from..plain];
        let offset = self.state.offset + from as u64;
        let settled = self.pretokenizer.for_each_settled(held, |range| {
            let at = offset + range.start as u64;
            f(Event::Pretoken(&held[range]), at)
        })?;
        self.drop_front(from + settled);
        self.state.searched = plain - from - settled;
        let held = self.state.held.len();
        let unsettled = settled == 0 && held > ALWAYS_SCANNED_BYTES;
        self.state.scan_at = if unsettled { 2 * held } else { held + self.specials.search_step() };
        Ok(())
    }

    /// Ends the text: gives out the rest. The stream starts anew.
    ///
    /// # Errors
    /// What `f` or the pattern fails with, and [`crate::Error::Interrupted`].
    pub fn finish(
        &mut self,
        control: &Control,
        f: &mut impl FnMut(Event<'_>, u64) -> Result<()>,
    ) -> Result<()> {
        let from = self.close_segments(false, control, f)?;
        self.give(from, self.state.held.len(), f)?;
        self.drop_front(self.state.held.len());
        (self.state.searched, self.state.scan_at) = (0, 0);
        Ok(())
    }

    /// Gives out every special token that is decided, with the text before it; returns where the
    /// text after the last one starts.
    fn close_segments(
        &self,
        open: bool,
        control: &Control,
        f: &mut impl FnMut(Event<'_>, u64) -> Result<()>,
    ) -> Result<usize> {
        let mut from = 0;
        let mut matches = self.specials.matches(&self.state.held, self.state.searched);
        while let Some(found) = matches.next(control)? {
            // A longer one could start here, or one a little to the left that has not all arrived.
            if open && found.range.start + self.specials.max_len() > self.state.held.len() {
                break;
            }
            self.give(from, found.range.start, f)?;
            f(Event::Special(found.index), self.state.offset + found.range.start as u64)?;
            from = found.range.end;
        }
        Ok(from)
    }

    /// Up to here `held` cannot be part of a special token that has not all arrived.
    fn plain_end(&self) -> usize {
        let undecided = self.specials.max_len().saturating_sub(1);
        self.state.held.len().saturating_sub(undecided)
    }

    /// Gives out the pretokens of a whole segment.
    fn give(&self, from: usize, to: usize, f: &mut impl FnMut(Event<'_>, u64) -> Result<()>) -> Result<()> {
        let segment = &self.state.held[from..to];
        let offset = self.state.offset + from as u64;
        self.pretokenizer.for_each(segment, |range| {
            let at = offset + range.start as u64;
            f(Event::Pretoken(&segment[range]), at)
        })
    }

    fn drop_front(&mut self, count: usize) {
        self.state.held.drain(..count);
        self.state.offset += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::{Isa, Named, Pattern, Unmatched};
    use crate::special::steps;

    #[test]
    fn text_that_arrives_byte_by_byte_is_searched_a_few_times() {
        let specials = Specials::new(vec![[&[b'x'; 3000], &b"y"[..]].concat(), b"x".to_vec()]).unwrap();
        let pattern = Pattern::Named(Named::Gpt2, Isa::best());
        let pretokenizer = Pretokenizer { pattern, unmatched: Unmatched::Keep };
        let text = [&[b'x'; 9000], &b"y"[..], &[b'x'; 50_000]].concat();
        let (mut found, control) = (Vec::new(), Control::none());
        let mut take = |event: Event<'_>, at: u64| {
            assert!(matches!(event, Event::Special(_)));
            found.push((event == Event::Special(0), at));
            Ok(())
        };
        let mut stream = TextStream::new(&specials, &pretokenizer, StreamState::default());
        steps::take();
        for byte in text.chunks(1) {
            stream.push(byte, &control, &mut take).unwrap();
            assert!(stream.state.held.len() < 3001 + 3001 / 4 + 1);
        }
        stream.finish(&control, &mut take).unwrap();
        assert!(steps::take() < 40 * text.len() as u64);
        let ones = (0..6000).chain(9001..text.len() as u64).map(|at| (false, at));
        let mut expected: Vec<(bool, u64)> = ones.chain([(true, 6000)]).collect();
        expected.sort_by_key(|&(_, at)| at);
        assert_eq!(found, expected);
    }
}
