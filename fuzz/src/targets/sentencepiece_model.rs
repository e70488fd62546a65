//! SentencePiece's `.model` files, whole and damaged: the ids are those of the algorithm's definition.

use toksmith::formats::huggingface::TokenizerFile;

use super::input::Input;
use super::tokenizer_files::{LETTERS, Model, damaged, ids, opened};

pub(super) fn run(data: &[u8]) {
    let mut input = Input(data);
    let model = Model::chosen(&mut input);
    let whole = written(&model);
    let charsmap = input.flag().then(|| input.word(32, &["\0", "\u{1}", "a", "b", " ", "\u{7f}"]));
    let with_map = charsmap.as_ref().map(|map| [&whole[..], &field(3, &field(2, map))].concat());
    let file = damaged(with_map.unwrap_or_else(|| whole.clone()), &mut input);
    let text = String::from_utf8(input.word(40, &LETTERS)).unwrap();
    let Ok(read) = TokenizerFile::read_sentencepiece(&file) else { return };
    let Ok(encoder) = opened(&read) else { return };
    let _ = ids(&encoder, &text, true);
    let ids = ids(&encoder, &text, false);
    if file == whole {
        assert_eq!(ids.unwrap(), model.ids(&text), "{:?}, {text:?}", model.rows);
    }
}

/// The file of a model.
fn written(model: &Model) -> Vec<u8> {
    let mut file = Vec::new();
    for (text, score, kind) in &model.rows {
        let score = [&[0x15][..], &score.to_le_bytes()].concat();
        file.extend(field(1, &[field(1, text.as_bytes()), score, flag(3, *kind)].concat()));
    }
    let is_suffix = u8::from(model.whitespace_as_suffix);
    let trainer = [flag(3, 2), flag(24, is_suffix), flag(35, u8::from(model.byte_fallback))];
    file.extend(field(2, &trainer.concat()));
    let flags = [model.add_dummy_prefix, model.remove_extra_whitespaces, model.escape_whitespaces];
    let normalizer = (3..).zip(flags).map(|(number, on)| flag(number, u8::from(on)));
    file.extend(field(3, &normalizer.collect::<Vec<_>>().concat()));
    file
}

/// A field of few bytes.
fn field(number: u32, content: &[u8]) -> Vec<u8> {
    let len = content.len();
    let len = if len < 128 { vec![len as u8] } else { vec![len as u8 | 0x80, (len >> 7) as u8] };
    [&key(number, 2)[..], &len, content].concat()
}

fn flag(number: u32, value: u8) -> Vec<u8> {
    [&key(number, 0)[..], &[value]].concat()
}

fn key(number: u32, kind: u32) -> Vec<u8> {
    let key = number << 3 | kind;
    if key < 128 { vec![key as u8] } else { vec![key as u8 | 0x80, (key >> 7) as u8] }
}
