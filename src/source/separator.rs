//! The separator of the documents of a text, and where a text may be cut at it.

use memchr::memmem::{Finder, FinderRev};

/// A separator of documents. Its occurrences are found from left to right, and do not overlap.
pub(crate) struct Separator {
    find: Finder<'static>,
    find_last: FinderRev<'static>,
    /// The distances at which a second occurrence can start so that it overlaps the first.
    overlaps: Vec<usize>,
}

impl Separator {
    /// Makes a separator. `bytes` must not be empty.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let overlaps = (1..bytes.len()).filter(|&at| bytes[at..] == bytes[..bytes.len() - at]).collect();
        Separator {
            find: Finder::new(bytes).into_owned(),
            find_last: FinderRev::new(bytes).into_owned(),
            overlaps,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.find.needle().len()
    }

    /// The parts of a text between the occurrences, as `str.split` of Python gives them.
    pub(crate) fn split<'t>(&self, text: &'t [u8]) -> impl Iterator<Item = &'t [u8]> {
        let mut remaining = Some(text);
        std::iter::from_fn(move || {
            let text = remaining?;
            let Some(at) = self.find.find(text) else { return remaining.take() };
            remaining = Some(&text[at + self.len()..]);
            Some(&text[..at])
        })
    }

    /// The last place in `text` where an occurrence starts that overlaps no occurrence before it: a search
    /// from the left finds it, wherever it begins. No occurrence that starts before `text` may reach into it.
    pub(crate) fn last_alone(&self, text: &[u8]) -> Option<usize> {
        let mut text = text;
        loop {
            let at = self.find_last.rfind(text)?;
            if self.is_alone(text, at) {
                return Some(at);
            }
            text = &text[..at + self.len() - 1];
        }
    }

    /// The last place that a search from the left finds, if it finds one at `at`. Where occurrences overlap
    /// for long, as in a run of line ends, few of them are alone.
    pub(crate) fn last_after(&self, text: &[u8], at: usize) -> usize {
        let mut last = at;
        while let Some(next) = self.find.find(&text[last + self.len()..]) {
            last += self.len() + next;
        }
        last
    }

    /// Whether no occurrence that starts before `at` reaches beyond it. There must be an occurrence at `at`.
    fn is_alone(&self, text: &[u8], at: usize) -> bool {
        let needle = self.find.needle();
        self.overlaps.iter().all(|&back| back > at || text[at - back..at] != needle[..back])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests all texts of up to nine letters `a` and `b`, with every separator of up to three.
    #[test]
    fn a_cut_at_an_occurrence_alone_changes_no_part() {
        let words = |len: u32| {
            (0..1_u32 << len)
                .map(move |bits| (0..len).map(|at| b"ab"[(bits >> at & 1) as usize]).collect::<Vec<u8>>())
        };
        for needle in (1..=3).flat_map(words) {
            let separator = Separator::new(&needle);
            for text in (0..=9).flat_map(words) {
                let expected: Vec<&[u8]> = separator.split(&text).collect();
                let is_alone =
                    |at: &usize| text[*at..].starts_with(&needle) && separator.is_alone(&text, *at);
                let alone: Vec<usize> = (0..text.len()).filter(is_alone).collect();
                for &at in &alone {
                    let parts =
                        separator.split(&text[..at]).chain(separator.split(&text[at + needle.len()..]));
                    assert!(parts.eq(expected.iter().copied()), "{needle:?} {text:?} {at}");
                }
                let last = separator.last_alone(&text);
                assert_eq!(last, alone.last().copied());
                assert_eq!(last.is_some(), expected.len() > 1, "a first occurrence overlaps none");
                if let Some(at) = last {
                    let end = separator.last_after(&text, at) + needle.len();
                    assert_eq!(text[end..], *expected[expected.len() - 1], "{needle:?} {text:?}");
                }
            }
        }
    }
}
