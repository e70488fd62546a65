//! A text in stretches: added tokens, and the text between them that is cut into pretokens.

use crate::control::Control;
use crate::encode::encoder::Encoder;
use crate::error::Result;
use crate::pipeline::{Passage, Stretch};
use crate::special::Segment;

impl Encoder {
    /// Passes on each stretch of a text. `is_tracked` says that the places of changed text are needed.
    pub(super) fn for_each_stretch(
        &self,
        text: &[u8],
        special: bool,
        is_tracked: bool,
        control: &Control,
        on_stretch: &mut dyn FnMut(Stretch<'_>) -> Result<()>,
    ) -> Result<()> {
        let specials = self.active(special.into());
        if let Some(pipeline) = specials.pipeline {
            let passage = Passage { text, trust: specials.trust, is_first: true, is_tracked, control };
            return pipeline.for_each_stretch(passage, &mut |stretch| on_stretch(stretch).map(|()| true));
        }
        for segment in specials.search.segments(text, control) {
            on_stretch(match segment? {
                Segment::Text(range) => Stretch::Same(range),
                Segment::Special(token) => Stretch::Token {
                    id: specials.ids[token.index],
                    text: &text[token.range.clone()],
                    range: token.range,
                },
            })?;
        }
        Ok(())
    }
}
