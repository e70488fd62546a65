//! tiktoken's rank files in their usual form: each line is a token in base64, one space, its id and a line
//! feed.
//!
//! The empty token is a lone `=` (Whisper's file has one), and a byte order mark may stand before the first line.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

/// Like Python's `b64decode(validate=True)`: padding is required, and unused bits of the last character are
/// ignored.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The tokens of a rank file.
#[derive(Debug)]
pub struct RankLines {
    bytes: Vec<u8>,
    /// The id of each token, and the offset in `bytes` at which it ends.
    ends: Vec<(u32, usize)>,
}

impl RankLines {
    /// Reads a file; `None` if any line is not of the usual form. The caller then uses a slower reader, which
    /// accepts other forms and reports errors.
    pub fn parse(file: &[u8]) -> Option<Self> {
        let file = file.strip_prefix(BYTE_ORDER_MARK).unwrap_or(file);
        let mut lines = RankLines { bytes: Vec::with_capacity(file.len() / 2), ends: Vec::new() };
        for line in file.split_inclusive(|&byte| byte == b'\n') {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let space = line.iter().position(|&byte| byte == b' ').filter(|&space| space > 0)?;
            let start = lines.bytes.len();
            if &line[..space] != b"=" {
                lines.bytes.resize(start + space, 0);
                let len = BASE64.decode_slice(&line[..space], &mut lines.bytes[start..]).ok()?;
                lines.bytes.truncate(start + len);
            }
            lines.ends.push((number(&line[space + 1..])?, lines.bytes.len()));
        }
        Some(lines)
    }

    /// Ids and tokens in the order of the file.
    pub fn tokens(&self) -> Vec<(u32, &[u8])> {
        let mut start = 0;
        let token = |&(id, end): &(u32, usize)| {
            let token = &self.bytes[start..end];
            start = end;
            (id, token)
        };
        self.ends.iter().map(token).collect()
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| plain)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_other_forms_are_refused() {
        let lines = RankLines::parse(b"YQ== 0\nYWI= 7\nYWJj 4294967295").unwrap();
        assert_eq!(lines.tokens(), [(0, &b"a"[..]), (7, b"ab"), (u32::MAX, b"abc")]);
        assert!(RankLines::parse(b"").unwrap().tokens().is_empty());
        let marked = RankLines::parse(b"\xef\xbb\xbfYQ== 0\n= 1\n").unwrap();
        assert_eq!(marked.tokens(), [(0, &b"a"[..]), (1, b"")]);
        for odd in [
            "YQ==",
            "YQ== ",
            "YQ==  1",
            "YQ== 1 ",
            "YQ== 1\r\n",
            "YQ 1",
            "Y*== 1",
            "YQ== -1",
            "YQ== +1",
            " 1",
            "== 1",
            "\u{feff}\u{feff}YQ== 1",
        ] {
            assert!(RankLines::parse(odd.as_bytes()).is_none(), "{odd}");
        }
        assert!(RankLines::parse(b"YQ== 1\n\nYg== 2\n").is_none());
        assert!(RankLines::parse(b"YQ== 4294967296").is_none());
    }
}
