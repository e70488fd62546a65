//! Counting of a document that is too long to be read at once, window by window.

use super::counting::Counting;
use super::worker::Worker;
use crate::control::{BYTES_PER_CHECK, Control};
use crate::error::Result;
use crate::room;
use crate::source::valid_utf8;
use crate::special::{Event, StreamState, TextStream};

/// A document that arrives in windows, with its count so far.
pub(super) struct WindowedDocument<'c> {
    counting: &'c Counting,
    stream: TextStream<'c>,
    /// The place of the first byte.
    place: u64,
    /// Bytes so far, and bytes of text: repaired, a text is longer.
    read: u64,
    len: u64,
}

impl<'c> WindowedDocument<'c> {
    pub(super) fn new(counting: &'c Counting, place: u64) -> Self {
        let stream = TextStream::new(&counting.specials, &counting.pretokenizer, StreamState::default());
        WindowedDocument { counting, stream, place, read: 0, len: 0 }
    }

    /// Counts what one window settles, which ends after a character. The inner error is the offset of the first byte
    /// that is not UTF-8.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        worker: &mut Worker<'_>,
        control: &Control,
    ) -> Result<std::result::Result<(), u64>> {
        control.check()?;
        room::check_available(4 * bytes.len())?; // repaired, a text is up to three times as long
        let text = match valid_utf8(bytes, self.counting.options.replace) {
            Ok(text) => text,
            Err(invalid) => return Ok(Err(self.read + invalid)),
        };
        self.read += bytes.len() as u64;
        self.len += text.len() as u64;
        self.stream.push(&text, control, &mut taking(self.place, worker, control))?;
        Ok(Ok(()))
    }

    pub(super) fn finish(mut self, worker: &mut Worker<'_>, control: &Control) -> Result<()> {
        self.stream.finish(control, &mut taking(self.place, worker, control))?;
        self.counting.span(self.place, self.len);
        Ok(())
    }
}

/// Counts the pretokens of a text that begins at a place.
fn taking<'w>(
    place: u64,
    worker: &'w mut Worker<'_>,
    control: &'w Control<'_>,
) -> impl FnMut(Event<'_>, u64) -> Result<()> + 'w {
    let mut unchecked = 0;
    move |event, at| {
        let Event::Pretoken(pretoken) = event else { return Ok(()) };
        unchecked += pretoken.len();
        if unchecked > BYTES_PER_CHECK {
            unchecked = 0;
            control.check()?;
        }
        worker.pretoken(pretoken, place + at)
    }
}
