//! The metadata of GGUF files, whole and damaged: the ids are those of the algorithms' definitions.

use toksmith::formats::huggingface::TokenizerFile;
use toksmith::pretokenize::Pattern;

use super::input::Input;
use super::tokenizer_files::{LETTERS, Model, damaged, ids, opened};
use super::vocabulary;

const PRE: [&str; 12] = [
    "gpt-2",
    "llama-bpe",
    "dbrx",
    "qwen2",
    "qwen35",
    "gpt-4o",
    "tekken",
    "starcoder",
    "default",
    "deepseek-v3",
    "falcon",
    "none",
];

pub(super) fn run(data: &[u8]) {
    let mut input = Input(data);
    let is_spm = input.below(16) > 0; // the other has 256 tokens at the least
    let mut fields = vec![("general.architecture".to_owned(), text("llama"))];
    let model = if is_spm { spm(&mut input, &mut fields) } else { byte_level(&mut input, &mut fields) };
    for _ in 0..input.below(5) {
        let name = input.pick(&[
            "bos_token_id",
            "eos_token_id",
            "add_bos_token",
            "add_eos_token",
            "pre",
            "tokens",
            "scores",
            "merges",
            "token_type",
            "x",
        ]);
        fields.push((format!("tokenizer.ggml.{name}"), value(&mut input, 0)));
    }
    let is_changed = fields.iter().skip(1).enumerate().any(|(at, (name, _))| {
        fields[1..=at].iter().any(|(other, _)| other == name) // a later field of a name takes the place
    });
    let whole = written(&fields);
    let file = damaged(whole.clone(), &mut input);
    let text = String::from_utf8(input.word(40, &LETTERS)).unwrap();
    let Ok(read) = TokenizerFile::read_gguf(&file[..], None) else { return };
    let Ok(encoder) = opened(&read) else { return };
    let _ = ids(&encoder, &text, true);
    let ids = ids(&encoder, &text, false);
    if let Some(model) = model.filter(|_| file == whole && !is_changed) {
        assert_eq!(ids.unwrap(), model.ids(&text), "{:?}, {text:?}", model.rows);
    } else if let Pattern::Named(..) = encoder.pretokenizer().pattern
        && !is_spm
        && file == whole
    {
        let expected = vocabulary::encoded(encoder.vocab(), encoder.pretokenizer(), text.as_bytes(), false);
        assert_eq!(ids.unwrap(), vocabulary::ids(&expected));
    }
}

type Fields = Vec<(String, Vec<u8>)>;

fn add(fields: &mut Fields, name: &str, value: Vec<u8>) {
    fields.push((format!("tokenizer.ggml.{name}"), value));
}

/// A model of SentencePiece's kind, as llama.cpp has it: without user-defined pieces, which it finds in the
/// text first.
fn spm(input: &mut Input<'_>, fields: &mut Fields) -> Option<Model> {
    let model = Model { remove_extra_whitespaces: false, ..Model::chosen(input) };
    let model = Model { escape_whitespaces: true, whitespace_as_suffix: false, ..model };
    add(fields, "model", text("llama"));
    add(fields, "tokens", list(8, model.rows.iter().map(|(piece, ..)| text(piece)[4..].to_vec())));
    add(fields, "scores", list(6, model.rows.iter().map(|(_, score, _)| score.to_le_bytes().to_vec())));
    add(
        fields,
        "token_type",
        list(5, model.rows.iter().map(|(.., kind)| u32::from(*kind).to_le_bytes().to_vec())),
    );
    add(fields, "add_space_prefix", vec![7, 0, 0, 0, u8::from(model.add_dummy_prefix)]);
    // An unused piece is an ordinary one to llama.cpp.
    (!model.rows.iter().any(|(.., kind)| [4, 5].contains(kind))).then_some(model)
}

/// A model that merges bytes.
fn byte_level(input: &mut Input<'_>, fields: &mut Fields) -> Option<Model> {
    let mut tokens: Vec<String> = (0..=255).map(spelled).map(String::from).collect();
    let mut merges = Vec::new();
    for _ in 0..input.below(16) {
        let mut pick = || match input.below(3) {
            0 => tokens[tokens.len() - 1].clone(),
            1 => tokens[input.below(256)].clone(),
            _ => spelled(b"a b<s>\xc3\xa9\xe4"[input.below(9)]).into(),
        };
        let (left, right) = (pick(), pick());
        merges.push(format!("{left} {right}"));
        if input.below(16) > 0 && !tokens.contains(&(left.clone() + &right)) {
            tokens.push(left + &right);
        }
    }
    tokens.push("<s>".to_owned());
    let kind = |at: usize, count: usize| if at + 1 == count { 3_u32 } else { 1 };
    let count = tokens.len();
    add(fields, "model", text(input.pick(&["gpt2", "gpt2", "gpt2", "bert"])));
    add(fields, "pre", text(input.pick(&PRE)));
    add(fields, "tokens", list(8, tokens.iter().map(|token| text(token)[4..].to_vec())));
    add(fields, "token_type", list(5, (0..count).map(|at| kind(at, count).to_le_bytes().to_vec())));
    add(fields, "merges", list(8, merges.iter().map(|merge| text(merge)[4..].to_vec())));
    None
}

/// The character that spells a byte.
fn spelled(byte: u8) -> char {
    let is_printable = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..);
    if is_printable(byte) {
        return char::from(byte);
    }
    let place = (0..byte).filter(|&byte| !is_printable(byte)).count();
    char::from_u32(256 + place as u32).unwrap()
}

fn text(text: &str) -> Vec<u8> {
    [&8_u32.to_le_bytes()[..], &(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

fn list(kind: u32, items: impl ExactSizeIterator<Item = Vec<u8>>) -> Vec<u8> {
    let head = [&9_u32.to_le_bytes()[..], &kind.to_le_bytes(), &(items.len() as u64).to_le_bytes()].concat();
    [head, items.flatten().collect()].concat()
}

/// A value of any type.
fn value(input: &mut Input<'_>, depth: u32) -> Vec<u8> {
    let kind = u32::from(input.byte() % 14);
    let content = match kind {
        0 | 1 | 7 => vec![input.byte()],
        2 | 3 => vec![input.byte(), 0],
        4..=6 => u32::from(input.byte()).to_le_bytes().to_vec(),
        8 => text(&String::from_utf8(input.word(6, &LETTERS)).unwrap())[4..].to_vec(),
        9 if depth < 4 => {
            let inner = value(input, depth + 1);
            let count = if input.below(8) == 0 { input.number() } else { 1 };
            [&inner[..4], &count.to_le_bytes(), &inner[4..]].concat()
        }
        _ => input.number().to_le_bytes().to_vec(),
    };
    [&kind.to_le_bytes()[..], &content].concat()
}

fn written(fields: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut file =
        [&b"GGUF"[..], &3_u32.to_le_bytes(), &[0; 8], &(fields.len() as u64).to_le_bytes()].concat();
    for (name, value) in fields {
        file.extend(&text(name)[4..]);
        file.extend(value);
    }
    file
}
