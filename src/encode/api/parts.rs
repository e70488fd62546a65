//! Trusted and untrusted parts of one text.

use std::ops::Range;

use crate::control::Control;
use crate::encode::encoder::{Encoder, Request};
use crate::encode::output::Sink;
use crate::encode::special_set::SpecialTokens;
use crate::error::Result;
use crate::pipeline::Trust;
use crate::room;

impl Encoder {
    /// Encodes the joined parts into `sink`, with special tokens only where one lies entirely inside a
    /// trusted stretch (neighbouring trusted parts are one stretch). Everything else is ordinary text, and is
    /// pretokenized and merged as the one joined text.
    pub fn encode_parts(
        &self,
        parts: &[(&[u8], bool)],
        sink: &mut dyn Sink,
        control: &Control,
    ) -> Result<()> {
        let mut text = room::for_items(parts.iter().map(|(part, _)| part.len()).sum())?;
        parts.iter().for_each(|(part, _)| text.extend_from_slice(part));
        self.encode_trusting(&text, &trusted_ranges(parts)?, sink, control)
    }

    /// Encodes a text, with special tokens only inside of one of these ranges.
    pub(super) fn encode_trusting(
        &self,
        text: &[u8],
        trusted: &[Range<usize>],
        sink: &mut dyn Sink,
        control: &Control,
    ) -> Result<()> {
        if self.pipeline.is_some() {
            let mut specials = self.active(SpecialTokens::from(!trusted.is_empty()));
            specials.trust = match trusted {
                [] => Trust::None,
                [all] if *all == (0..text.len()) => Trust::All,
                ranges => Trust::Inside(ranges),
            };
            return self.answer(Request::alone(text, specials, true), sink, control);
        }
        let mut specials = Vec::new();
        for range in trusted {
            // Each range is searched alone, so that text beyond its end cannot make a match longer.
            let mut matches = self.vocab.specials().matches(&text[..range.end], range.start);
            while let Some(special) = matches.next(control)? {
                room::push(&mut specials, special)?;
            }
        }
        self.pool.with(self.isa, 0, |scratch| {
            let mut at = 0;
            for special in specials {
                self.encode_text(scratch, text, at..special.range.start, sink, control)?;
                at = special.range.end;
                sink.token(special.range, self.vocab.special_ids()[special.index])?;
            }
            self.encode_text(scratch, text, at..text.len(), sink, control)
        })
    }
}

/// The ranges of the trusted stretches in the joined text.
fn trusted_ranges(parts: &[(&[u8], bool)]) -> Result<Vec<Range<usize>>> {
    let (mut trusted, mut at) = (Vec::new(), 0);
    for stretch in parts.chunk_by(|a, b| a.1 == b.1) {
        let end = at + stretch.iter().map(|(part, _)| part.len()).sum::<usize>();
        if stretch[0].1 {
            room::push(&mut trusted, at..end)?;
        }
        at = end;
    }
    Ok(trusted)
}
