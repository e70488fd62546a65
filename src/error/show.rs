//! Values in error messages; a long value is cut.

/// The maximum number of bytes of a value that a message shows.
const MAX_SHOWN_BYTES: usize = 60;

/// Bytes as a message shows them: whole if they are few, else their beginning and their number.
pub(crate) fn show(bytes: &[u8]) -> String {
    match bytes.get(..MAX_SHOWN_BYTES) {
        Some(first) if bytes.len() > MAX_SHOWN_BYTES => {
            format!("b\"{}\"… ({} bytes)", first.escape_ascii(), bytes.len())
        }
        _ => format!("b\"{}\"", bytes.escape_ascii()),
    }
}

/// The reason that another library gives, cut because it may contain a value of any length.
pub(crate) fn show_reason(reason: &str) -> String {
    match reason.char_indices().nth(4 * MAX_SHOWN_BYTES) {
        Some((end, _)) => format!("{}…", &reason[..end]),
        None => reason.to_owned(),
    }
}

/// Text as a message shows it: whole if it is short, else its beginning and its length.
pub(crate) fn show_text(text: &str) -> String {
    if text.len() <= MAX_SHOWN_BYTES {
        return format!("{text:?}");
    }
    let end = (0..=MAX_SHOWN_BYTES).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    format!("{:?}… ({} bytes)", &text[..end], text.len())
}

pub(super) fn asked(bytes: usize) -> String {
    if bytes == 0 { String::new() } else { format!(": {bytes} bytes could not be had") }
}

pub(super) fn offered(offer: Option<(u64, u64)>) -> String {
    let Some((count, kept)) = offer else { return String::new() };
    format!(
        ", or leave rare ones out with min_pretoken_count={count}, which keeps {kept} (and changes the result: what \
         is left out is not trained on)"
    )
}

pub(super) fn place(index: Option<usize>) -> String {
    index.map(|index| format!(" (at index {index})")).unwrap_or_default()
}
