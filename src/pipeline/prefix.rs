//! The space, or the character that stands for one, that is put before a text.

/// Which stretches of text, between two added tokens, are encoded as if a space, or another mark, stood before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefix {
    /// None.
    #[default]
    None,
    /// All.
    Always,
    /// Those that do not begin with the mark.
    Missing,
    /// The one that begins a text, if it does not begin with the mark.
    First,
}

impl Prefix {
    /// Whether a stretch gets a mark in front, such as a space; `is_first` says that it begins the text.
    #[inline]
    pub(crate) fn is_before(self, stretch: &[u8], mark: &[u8], is_first: bool) -> bool {
        let lacks = !stretch.starts_with(mark);
        match self {
            Prefix::None => false,
            Prefix::Always => true,
            Prefix::Missing => lacks,
            Prefix::First => lacks && is_first,
        }
    }
}
