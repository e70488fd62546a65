//! Bytes of a file → valid UTF-8, window by window.

use std::str::from_utf8;

/// Checks or repairs UTF-8 that arrives in windows, which may end inside characters.
pub(crate) struct Utf8Window {
    /// Whether invalid bytes become U+FFFD; otherwise they are an error.
    replace: bool,
    /// The start of a character whose end is still to come, then the text of the current window.
    text: Vec<u8>,
    /// Bytes of `text` that the last call returned.
    returned: usize,
    /// Bytes before `text` in the file.
    offset: u64,
}

impl Utf8Window {
    pub(crate) fn new(replace: bool) -> Self {
        Utf8Window { replace, text: Vec::new(), returned: 0, offset: 0 }
    }

    /// Adds a window and returns its valid text. `last` says that nothing follows.
    ///
    /// # Errors
    /// The offset of the first invalid byte in the file, unless invalid bytes are replaced.
    pub(crate) fn push(&mut self, bytes: Vec<u8>, last: bool) -> Result<&[u8], u64> {
        self.drop_returned();
        if self.text.is_empty() {
            self.text = bytes;
        } else {
            self.text.extend_from_slice(&bytes);
        }
        self.returned = match from_utf8(&self.text) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() && !last => error.valid_up_to(),
            Err(_) if self.replace => return Ok(self.repair(last)),
            Err(error) => return Err(self.offset + error.valid_up_to() as u64),
        };
        Ok(&self.text[..self.returned])
    }

    /// Removes the text that the last call returned.
    fn drop_returned(&mut self) {
        self.text.drain(..self.returned);
        self.offset += self.returned as u64;
        self.returned = 0;
    }

    /// Replaces invalid bytes by U+FFFD like Python's `errors="replace"`, except for a character at the end
    /// that may still be completed.
    fn repair(&mut self, last: bool) -> &[u8] {
        let mut repaired = Vec::with_capacity(self.text.len() + 64);
        let mut tail = 0;
        for chunk in self.text.utf8_chunks() {
            repaired.extend_from_slice(chunk.valid().as_bytes());
            tail = 0;
            if !chunk.invalid().is_empty() {
                tail = chunk.invalid().len();
                repaired.extend_from_slice("\u{fffd}".as_bytes());
            }
        }
        let ends_open = tail > 0
            && from_utf8(&self.text[self.text.len() - tail..])
                .is_err_and(|error| error.error_len().is_none());
        let kept = if ends_open && !last { self.text[self.text.len() - tail..].to_vec() } else { Vec::new() };
        if !kept.is_empty() {
            repaired.truncate(repaired.len() - "\u{fffd}".len());
        }
        // `offset` is not kept up to date, since no error is reported if invalid bytes are replaced.
        self.returned = repaired.len();
        repaired.extend_from_slice(&kept);
        self.text = repaired;
        &self.text[..self.returned]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(bytes: &[u8], size: usize, replace: bool) -> Result<Vec<u8>, u64> {
        let mut window = Utf8Window::new(replace);
        let mut text = Vec::new();
        for part in bytes.chunks(size) {
            text.extend_from_slice(window.push(part.to_vec(), false)?);
        }
        text.extend_from_slice(window.push(Vec::new(), true)?);
        Ok(text)
    }

    #[test]
    fn windows_of_any_size_give_the_text_of_the_whole() {
        let samples: [&[u8]; 6] = [
            "añ日👍\u{fffd}".as_bytes(),
            b"a\xff\xf0\x9f\x91b\xe2\x82",
            b"\xed\xa0\x80\xc0\x80\xf5\x80",
            b"\xf0\x9f\x91",
            b"",
            b"\xe2\x82\xe2\x82\xac\xac",
        ];
        for sample in samples {
            for size in 1..=sample.len() + 1 {
                let lossy = String::from_utf8_lossy(sample).into_owned().into_bytes();
                assert_eq!(windows(sample, size, true), Ok(lossy), "{sample:?} by {size}");
                let strict = from_utf8(sample).map(|s| s.as_bytes().to_vec());
                let strict = strict.map_err(|error| error.valid_up_to() as u64);
                assert_eq!(windows(sample, size, false), strict, "{sample:?} by {size}");
            }
        }
    }
}
