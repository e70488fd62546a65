//! Streams at any cuts against the whole text.

use std::sync::Arc;

use toksmith::Encoder;
use toksmith::control::Control;
use toksmith::encode::EncodeStream;

use super::input::Input;
use super::vocabulary::{LETTERS, encoded, ids, pretokenizer, vocabulary};

pub(super) fn run(data: &[u8]) {
    let mut input = Input(data);
    let special = input.flag();
    let pretokenizer = pretokenizer(&mut input);
    let vocab = vocabulary(&mut input, special);
    let cuts: Vec<usize> = (0..input.below(9)).map(|_| input.below(24)).collect();
    let text = input.text(&LETTERS);
    let expected = ids(&encoded(&vocab, &pretokenizer, &text, special));
    let encoder = Arc::new(Encoder::with_small_cache(vocab, pretokenizer, 1));
    let (control, mut found) = (Control::none(), Vec::new());
    let mut stream = EncodeStream::new(encoder, special);
    // Twice: a stream that was finished is as new.
    for _ in 0..2 {
        let mut rest = text.as_slice();
        for cut in cuts.iter().copied().cycle().take(text.len()) {
            let (piece, after) = rest.split_at(cut.min(rest.len()));
            stream.step(Some(piece), &mut found, &control).unwrap();
            assert!(expected.starts_with(&found), "what is given out is settled");
            rest = after;
        }
        stream.step(Some(rest), &mut found, &control).unwrap();
        stream.step(None, &mut found, &control).unwrap();
        assert_eq!(found, expected, "{}", text.escape_ascii());
        assert_eq!(stream.pending_bytes(), 0);
        found.clear();
    }
}
