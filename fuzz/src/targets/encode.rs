//! The encoder with large and tiny caches, from all sides, against the definition of BPE; and decoding.

use toksmith::control::Control;
use toksmith::decode::decode;
use toksmith::encode::Spans;
use toksmith::source::Text;
use toksmith::{Encoder, Error};

use super::input::Input;
use super::vocabulary::{LETTERS, encoded, ids, pretokenizer, vocabulary};
use crate::oracle;

pub(super) fn run(data: &[u8]) {
    let mut input = Input(data);
    let (cache, special, again) = (input.below(16), input.flag(), input.below(4));
    let pretokenizer = pretokenizer(&mut input);
    let vocab = vocabulary(&mut input, special);
    // Long enough for pretokens that are merged in windows.
    let text = input.text(&LETTERS).repeat(1 + again);
    let text = text[..text.len().min(600)].to_vec().into_boxed_slice();
    let expected = encoded(&vocab, &pretokenizer, &text, special);
    let piece = oracle::Bpe::new(&vocab).encode(&text);
    // Large caches are rare, since filling them takes most of the time.
    let encoder = match cache {
        0 => Encoder::new(vocab, pretokenizer).unwrap(),
        1 => Encoder::of_training(vocab, pretokenizer),
        _ => Encoder::with_small_cache(vocab, pretokenizer, [1, 3, 5][cache % 3]),
    };
    // What the first time has put into the cache answers the second time.
    for _ in 0..2 {
        check(&encoder, &text, special, &expected);
    }
    assert_eq!(encoder.encode_as_pretoken(&text, &Control::none()).unwrap(), piece);
    characters(&encoder, &text, special, &ids(&expected));
    unknown(&encoder, &ids(&expected));
}

fn check(encoder: &Encoder, text: &[u8], special: bool, expected: &[(u32, usize)]) {
    let control = Control::none();
    let found = encoder.encode_to_vec(text, special, &control).unwrap();
    assert_eq!(found, ids(expected), "{}", text.escape_ascii());
    assert_eq!(encoder.count(text, special, &control).unwrap(), found.len());
    assert_eq!(encoder.count_part(text, special, true, Some(2), &control).unwrap(), found.len());
    assert_eq!(decode(encoder.vocab(), &found, &control).unwrap(), text);
    let mut spans = Spans::default();
    encoder.encode(text, special, &mut spans, &control).unwrap();
    assert_eq!(spans.ids, found);
    let starts = std::iter::once(0).chain(expected.iter().map(|&(_, end)| end));
    assert!(spans.spans.iter().cloned().eq(starts.zip(expected).map(|(start, &(_, end))| start..end)));
    if let Ok(text) = std::str::from_utf8(text) {
        let inside = |byte: usize| text.char_indices().take_while(|&(start, _)| start <= byte).count() - 1;
        let pairs = spans.spans.iter().flat_map(|span| [inside(span.start), inside(span.end - 1) + 1]);
        assert!(
            spans.in_characters(text.as_bytes()).unwrap().into_iter().eq(pairs.map(|place| place as i64))
        );
    }
}

/// The same text as an interpreter keeps it; and with a surrogate in it.
fn characters(encoder: &Encoder, text: &[u8], special: bool, expected: &[u32]) {
    let control = Control::none();
    let Ok(text) = std::str::from_utf8(text) else { return };
    let mut points: Vec<u32> = text.chars().map(u32::from).collect();
    let narrow: Option<Vec<u16>> = points.iter().map(|&point| u16::try_from(point).ok()).collect();
    let latin: Option<Vec<u8>> = points.iter().map(|&point| u8::try_from(point).ok()).collect();
    let encode = |text: Text<'_>| encoder.encode_part(text, special, true, None, &control);
    assert_eq!(encode(Text::Ucs4(&points)).unwrap(), expected);
    assert!(narrow.is_none_or(|units| encode(Text::Ucs2(&units)).unwrap() == expected));
    assert!(latin.is_none_or(|units| encode(Text::Ucs1(&units)).unwrap() == expected));
    let Some(last) = points.last_mut() else { return };
    *last = 0xD800 | (*last & 0x7FF);
    assert!(matches!(encode(Text::Ucs4(&points)), Err(Error::Surrogate { .. })));
}

/// An id without a token is named with its place.
fn unknown(encoder: &Encoder, ids: &[u32]) {
    let beyond = encoder.vocab().tokens().max_id().and_then(|id| id.checked_add(1));
    let (Some(beyond), Some(_)) = (beyond, ids.first()) else { return };
    let at = ids.len() / 2;
    let mut broken = ids.to_vec();
    broken[at] = beyond;
    match decode(encoder.vocab(), &broken, &Control::none()) {
        Err(Error::UnknownId { id, index }) => assert_eq!((id, index), (beyond.into(), Some(at))),
        other => panic!("{other:?}"),
    }
}
