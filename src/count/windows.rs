//! Counting of a document that is too long to be read at once, window by window.

use super::counting::Counting;
use super::worker::Worker;
use crate::control::{BYTES_PER_CHECK, Control};
use crate::error::Result;
use crate::room;
use crate::source::Utf8Window;
use crate::special::{Event, StreamState, TextStream};

/// A document that arrives in windows, with its count so far.
pub(super) struct WindowedDocument<'c> {
    counting: &'c Counting,
    stream: TextStream<'c>,
    window: Utf8Window,
    /// The place of the first byte.
    place: u64,
    /// Bytes of valid text so far.
    len: u64,
}

/// The inner error is the offset of the first byte that is not UTF-8.
type Checked = Result<std::result::Result<(), u64>>;

impl<'c> WindowedDocument<'c> {
    pub(super) fn new(counting: &'c Counting, place: u64) -> Self {
        let stream = TextStream::new(&counting.specials, &counting.pretokenizer, StreamState::default());
        let window = Utf8Window::new(counting.options.replace);
        WindowedDocument { counting, stream, window, place, len: 0 }
    }

    pub(super) fn push(&mut self, bytes: Vec<u8>, worker: &mut Worker<'_>, control: &Control) -> Checked {
        self.step(bytes, false, worker, control)
    }

    pub(super) fn finish(mut self, worker: &mut Worker<'_>, control: &Control) -> Checked {
        if let Err(invalid) = self.step(Vec::new(), true, worker, control)? {
            return Ok(Err(invalid));
        }
        self.counting.span(self.place, self.len);
        Ok(Ok(()))
    }

    /// Counts what one window settles.
    fn step(&mut self, bytes: Vec<u8>, last: bool, worker: &mut Worker<'_>, control: &Control) -> Checked {
        let place = self.place;
        let mut unchecked = 0;
        let mut take = |event: Event<'_>, at: u64| {
            let Event::Pretoken(pretoken) = event else { return Ok(()) };
            unchecked += pretoken.len();
            if unchecked > BYTES_PER_CHECK {
                unchecked = 0;
                control.check()?;
            }
            worker.pretoken(pretoken, place + at)
        };
        control.check()?;
        room::check_available(4 * bytes.len())?; // repaired, a text is up to three times as long
        let text = match self.window.push(bytes, last) {
            Ok(text) => text,
            Err(invalid) => return Ok(Err(invalid)),
        };
        self.len += text.len() as u64;
        self.stream.push(text, control, &mut take)?;
        if last {
            self.stream.finish(control, &mut take)?;
        }
        Ok(Ok(()))
    }
}
