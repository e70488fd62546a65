//! The one rule for bytes that should be UTF-8.

use std::borrow::Cow;

/// A text as valid UTF-8. With `replace`, invalid bytes are read as U+FFFD, as Python does; otherwise the
/// error is the offset of the first one.
pub fn valid_utf8(text: &[u8], replace: bool) -> Result<Cow<'_, [u8]>, u64> {
    if simdutf8::basic::from_utf8(text).is_ok() {
        return Ok(Cow::Borrowed(text));
    }
    if replace {
        return Ok(Cow::Owned(String::from_utf8_lossy(text).into_owned().into_bytes()));
    }
    Err(std::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len) as u64)
}

/// The last place in `text`, of five bytes or more, before which a character ends; also if the text is not
/// UTF-8: of four bytes one begins a character, or the last one is invalid. So both sides are repaired as the
/// whole is.
pub(crate) fn late_character(text: &[u8]) -> Option<usize> {
    let from = text.len().saturating_sub(4);
    let last = text[from..].iter().rposition(|byte| byte & 0xc0 != 0x80);
    Some(last.map_or(text.len(), |at| from + at)).filter(|&at| at > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests all texts of up to seven bytes of some kinds.
    #[test]
    fn a_text_cut_at_a_character_is_repaired_as_the_whole() {
        let kinds = *b"a\xc3\xe4\xf0\xf4\x80\x90\xbf";
        for number in 0..8_u32.pow(7) {
            let text: Vec<u8> = (0..7).map(|at| kinds[(number >> (3 * at) & 7) as usize]).collect();
            let at = late_character(&text).unwrap();
            let parts = [&text[..at], &text[at..]].map(|part| valid_utf8(part, true).unwrap());
            assert_eq!(parts.concat(), *valid_utf8(&text, true).unwrap(), "{text:?} {at}");
        }
    }
}
