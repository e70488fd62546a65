//! Text that arrives in parts → the pretokens and special tokens of the whole text.

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
    pub fn pending_bytes(&self) -> usize {
        self.pending.len()
    }
}

/// Held bytes up to which every push scans again, even if the last scan settled nothing.
const ALWAYS_SCANNED_BYTES: usize = 4096;

/// Finds in parts of a text, wherever it is cut, the pretokens and special tokens of the whole text.
///
/// Text that later text could still change is held back: for a pattern with a proven cut rule the last
/// pretoken and the length of the longest special token, for another pattern everything since the last
/// special token. A held pretoken of more than 4 KB is scanned again only once the held text has doubled, so
/// that feeding it byte by byte stays linear; up to twice its length is held then. For the same reason a
/// quarter more than the length of the longest special token is held back if that is over 128 bytes.
pub struct TextStream<'a> {
    specials: &'a Specials,
    pretokenizer: &'a Pretokenizer,
    state: StreamState,
}

/// The state of a [`TextStream`] between two parts of a text.
#[derive(Clone, Debug, Default)]
pub struct StreamState {
    /// Text that was not yet handed out; it starts at a pretoken boundary.
    pending: Vec<u8>,
    /// No special token starts in `pending` before here.
    searched: usize,
    /// `pending` is not scanned again before it has this many bytes.
    scan_at: usize,
    /// Offset of `pending` in the whole text, in bytes.
    offset: u64,
}

impl<'a> TextStream<'a> {
    /// A stream that continues from `state`; a default state starts a new text. With empty `Specials`,
    /// special tokens are read as ordinary text.
    pub fn new(specials: &'a Specials, pretokenizer: &'a Pretokenizer, state: StreamState) -> Self {
        TextStream { specials, pretokenizer, state }
    }

    /// The state from which a later stream can continue.
    pub fn into_state(self) -> StreamState {
        self.state
    }

    /// Adds text, and calls `f` with each event that is settled now and its offset in the whole text, in
    /// bytes.
    ///
    /// # Errors
    /// Errors of `f` or of the pattern, and [`crate::Error::Interrupted`]; the stream cannot be used after an
    /// error.
    pub fn push(
        &mut self,
        text: &[u8],
        control: &Control,
        f: &mut impl FnMut(Event<'_>, u64) -> Result<()>,
    ) -> Result<()> {
        room::extend(&mut self.state.pending, text)?;
        if self.state.pending.len() < self.state.scan_at {
            return Ok(());
        }
        let from = self.close_segments(true, control, f)?;
        let plain = self.plain_end().max(from);
        let pending = &self.state.pending[from..plain];
        let offset = self.state.offset + from as u64;
        let settled = self.pretokenizer.for_each_settled(pending, |range| {
            let at = offset + range.start as u64;
            f(Event::Pretoken(&pending[range]), at)
        })?;
        self.drop_front(from + settled);
        self.state.searched = plain - from - settled;
        let pending = self.state.pending.len();
        let unsettled = settled == 0 && pending > ALWAYS_SCANNED_BYTES;
        self.state.scan_at = if unsettled { 2 * pending } else { pending + self.specials.search_step() };
        Ok(())
    }

    /// Ends the text and calls `f` with the remaining events. The stream can then start a new text.
    pub fn finish(
        &mut self,
        control: &Control,
        f: &mut impl FnMut(Event<'_>, u64) -> Result<()>,
    ) -> Result<()> {
        let from = self.close_segments(false, control, f)?;
        self.give(from, self.state.pending.len(), f)?;
        self.drop_front(self.state.pending.len());
        (self.state.searched, self.state.scan_at) = (0, 0);
        Ok(())
    }

    /// Hands out every special token that is settled, with the text before it. Returns where the text after
    /// the last one starts.
    fn close_segments(
        &self,
        open: bool,
        control: &Control,
        f: &mut impl FnMut(Event<'_>, u64) -> Result<()>,
    ) -> Result<usize> {
        let mut from = 0;
        let mut matches = self.specials.matches(&self.state.pending, self.state.searched);
        while let Some(special) = matches.next(control)? {
            // Later text could still complete a longer token here, or one that starts a little earlier.
            if open && special.range.start + self.specials.max_len() > self.state.pending.len() {
                break;
            }
            self.give(from, special.range.start, f)?;
            f(Event::Special(special.index), self.state.offset + special.range.start as u64)?;
            from = special.range.end;
        }
        Ok(from)
    }

    /// The end of the part of `pending` that cannot belong to an incomplete special token.
    fn plain_end(&self) -> usize {
        let undecided = self.specials.max_len().saturating_sub(1);
        self.state.pending.len().saturating_sub(undecided)
    }

    /// Hands out the pretokens of a whole segment between special tokens.
    fn give(&self, from: usize, to: usize, f: &mut impl FnMut(Event<'_>, u64) -> Result<()>) -> Result<()> {
        let segment = &self.state.pending[from..to];
        let offset = self.state.offset + from as u64;
        self.pretokenizer.for_each(segment, |range| {
            let at = offset + range.start as u64;
            f(Event::Pretoken(&segment[range]), at)
        })
    }

    fn drop_front(&mut self, count: usize) {
        self.state.pending.drain(..count);
        self.state.offset += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretokenize::{Isa, Named, Pattern, Unmatched};
    use crate::special::steps;

    #[test]
    fn text_in_single_bytes_is_searched_in_linear_time() {
        let specials = Specials::new(vec![[&[b'x'; 3000], &b"y"[..]].concat(), b"x".to_vec()]).unwrap();
        let pattern = Pattern::Named(Named::Gpt2, Isa::best());
        let pretokenizer = Pretokenizer { pattern, unmatched: Unmatched::Keep };
        let text = [&[b'x'; 9000], &b"y"[..], &[b'x'; 50_000]].concat();
        let (mut events, control) = (Vec::new(), Control::none());
        let mut take = |event: Event<'_>, at: u64| {
            assert!(matches!(event, Event::Special(_)));
            events.push((event == Event::Special(0), at));
            Ok(())
        };
        let mut stream = TextStream::new(&specials, &pretokenizer, StreamState::default());
        steps::take();
        for byte in text.chunks(1) {
            stream.push(byte, &control, &mut take).unwrap();
            assert!(stream.state.pending.len() < 3001 + 3001 / 4 + 1);
        }
        stream.finish(&control, &mut take).unwrap();
        assert!(steps::take() < 40 * text.len() as u64);
        let ones = (0..6000).chain(9001..text.len() as u64).map(|at| (false, at));
        let mut expected: Vec<(bool, u64)> = ones.chain([(true, 6000)]).collect();
        expected.sort_by_key(|&(_, at)| at);
        assert_eq!(events, expected);
    }
}
