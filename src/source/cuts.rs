//! Places where a text or a file can be cut without a change of its pretokens and special tokens.

use crate::normalize::Normalizer;
use crate::pretokenize::{CutRule, Pretokenizer};
use crate::special::Specials;

/// Finds places for a cut: those that the pattern allows and that no special token lies across.
pub struct Cutter<'a> {
    specials: &'a Specials,
    rule: CutRule,
    /// Bytes of context that must be known on each side of a place.
    pub(crate) margin: usize,
    guard: Option<Guard<'a>>,
}

/// Further conditions for a cut, for a text that goes through a pipeline.
pub(crate) struct Guard<'a> {
    /// Both sides are normalized alone.
    pub(crate) normalizer: &'a Normalizer,
    /// Whether U+2581 is a plain space after normalization.
    pub(crate) spaces_are_plain: bool,
    /// Whether a cut must not have whitespace on both sides.
    pub(crate) not_in_space: bool,
    /// No cut is made after one of these bytes.
    pub(crate) not_after: Vec<u8>,
}

impl Guard<'_> {
    fn allows(&self, text: &[u8], cut: usize) -> bool {
        let is_space = |byte: u8| byte.is_ascii_whitespace() || byte == 0x0B || !byte.is_ascii();
        let is_in_space = self.not_in_space && is_space(text[cut - 1]) && is_space(text[cut]);
        !is_in_space
            && !self.not_after.contains(&text[cut - 1])
            && self.normalizer.may_cut(text, cut, self.spaces_are_plain)
    }
}

/// Bytes on each side of a place that the rules of patterns and normalizers look at, at most.
const MIN_MARGIN_BYTES: usize = 12;

impl<'a> Cutter<'a> {
    /// `replace` says whether invalid bytes of the file are read as U+FFFD.
    pub(crate) fn new(specials: &'a Specials, pretokenizer: &Pretokenizer, replace: bool) -> Self {
        Self::guarded(specials, pretokenizer.cut_rule(), replace, None)
    }

    /// A cutter for a text that goes through a pipeline; no cut lies inside one of the texts of `specials`.
    pub(crate) fn guarded(
        specials: &'a Specials,
        rule: CutRule,
        replace: bool,
        guard: Option<Guard<'a>>,
    ) -> Self {
        let is_unsure = replace && specials.cut_depends_on_replacement();
        let rule = if is_unsure { CutRule::Never } else { rule };
        Cutter { specials, rule, margin: specials.max_len().max(MIN_MARGIN_BYTES), guard }
    }

    /// Whether there can be places for a cut at all.
    pub(crate) fn can_cut(&self) -> bool {
        self.rule.is_some()
    }

    /// The first place for a cut in `text` at or after `from`; the end of `text` if there is none.
    pub(crate) fn cut_from(&self, text: &[u8], from: usize) -> usize {
        self.cut_in(text, from, text.len()).unwrap_or(text.len())
    }

    /// Whether `text` can be cut at `at`. Looks at the margin on both sides only.
    pub(crate) fn is_cut(&self, text: &[u8], at: usize) -> bool {
        let start = at.saturating_sub(self.margin);
        let near = &text[start..text.len().min(at + self.margin)];
        self.cut_in(near, at - start, at - start + 1).is_some()
    }

    /// A place for a cut near the last one of `text`, for a text that continues.
    pub(crate) fn late_cut(&self, text: &[u8]) -> Option<usize> {
        let known = text.len().saturating_sub(self.margin);
        // Searches a short part at the end first, then longer ones: searching forward is fast.
        let mut end = known;
        let mut cut = [1 << 6, 1 << 9, 1 << 13, 1 << 17, usize::MAX].into_iter().find_map(|stretch| {
            let start = known.saturating_sub(stretch).max(1);
            let cut = self.cut_in(text, start, end);
            end = if cut.is_none() { start } else { end };
            cut
        })?;
        // The first place in a long part may be far from its end: what is left of the text would be searched
        // again from there, and again.
        while end - cut > 1 << 6 {
            let middle = cut + (end - cut) / 2;
            match self.cut_in(text, middle, end) {
                Some(later) => cut = later,
                None => end = middle,
            }
        }
        Some(cut)
    }

    fn cut_in(&self, text: &[u8], from: usize, to: usize) -> Option<usize> {
        let text = &text[..text.len().min(to.saturating_add(self.margin))];
        self.specials.first_uncrossed(text, from..to, |from| {
            let mut cut = self.rule.next_cut(text, from)?;
            while let Some(guard) = &self.guard
                && !guard.allows(text, cut)
            {
                cut = self.rule.next_cut(text, cut + 1)?;
            }
            Some(cut)
        })
    }
}
