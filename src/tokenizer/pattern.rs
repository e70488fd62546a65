//! What cuts text into pretokens, with the text that a file has for it.

use serde_json::Value;

use crate::pretokenize::spellings::SPELLINGS;
use crate::pretokenize::{Named, Pattern, Pretokenizer, Unmatched};

/// A pattern as files have it, and what runs it.
#[derive(Clone)]
pub struct SourcePattern {
    /// The expression in the dialect of `regex`, or the stages of a pre-tokenizer; `None` for no pattern.
    pub source: Option<String>,
    /// The flags of the expression, as `regex` numbers them.
    pub flags: u32,
    /// The Unicode version of its classes; `None` for a pattern without any.
    pub unicode: Option<String>,
    /// What runs it.
    pub pretokenizer: Pretokenizer,
}

impl SourcePattern {
    /// No pattern: text is cut at special tokens alone.
    pub fn whole(unmatched: Unmatched) -> Self {
        let pretokenizer = Pretokenizer { pattern: Pattern::Whole, unmatched };
        SourcePattern { source: None, flags: 0, unicode: None, pretokenizer }
    }

    /// The name of a pattern that is proven equal to a named one.
    pub fn name(&self) -> Option<&'static str> {
        self.named().map(Named::name)
    }

    pub(crate) fn named(&self) -> Option<Named> {
        self.source.as_ref().filter(|_| self.flags == 0).and_then(|source| Named::of(source, &SPELLINGS))
    }

    /// The fields of toksmith's own file that hold the pattern.
    pub fn fields(&self) -> [(&'static str, Value); 4] {
        [
            ("pattern", Value::from(self.source.clone())),
            ("pattern_flags", Value::from(self.flags)),
            ("unmatched", Value::from(self.pretokenizer.unmatched.name())),
            ("unicode", Value::from(self.unicode.clone())),
        ]
    }
}

impl PartialEq for SourcePattern {
    fn eq(&self, other: &Self) -> bool {
        self.fields() == other.fields()
    }
}
