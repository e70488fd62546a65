//! Mistral's `tekken.json`, whole and damaged: what is accepted has the ids that the file gives, and encodes
//! as defined.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use toksmith::dialects::SyntaxTables;
use toksmith::formats::{LoadOptions, kind_of};

use super::input::Input;
use super::state;
use super::tokenizer_files::{LETTERS, damaged};

pub(super) fn run(data: &[u8]) {
    let mut input = Input(data);
    let names = ["<unk>", "<s>", "</s>", "a", "[INST]", "<SPECIAL_3>", "é"];
    // Most files lack the bytes, which a vocabulary needs and which take most of the time.
    let bytes = if input.below(16) == 0 { 256 } else { 2 };
    let mut tokens: Vec<Vec<u8>> = (0..bytes).map(|byte| vec![byte as u8]).collect();
    for _ in 0..input.below(12) {
        let token = input.word(4, &LETTERS);
        if input.below(16) == 0 || !(token.is_empty() || tokens.contains(&token)) {
            tokens.push(token);
        }
    }
    let odd = |input: &mut Input<'_>| input.below(16) == 0;
    let vocab = (0_u32..).zip(&tokens).map(|(rank, token)| {
        json!({"rank": rank, "token_bytes": BASE64_STANDARD.encode(token), "token_str": null})
    });
    let mut vocab: Vec<_> = vocab.collect();
    if odd(&mut input) {
        let at = input.below(vocab.len().min(256));
        vocab[at] = json!({"rank": input.byte(), "token_bytes": "YQ="});
    }
    let listed: Vec<_> = (0..input.below(6)).map(|rank| (rank as u64, input.pick(&names))).collect();
    // Thousands of special tokens, as many as a file of a few bytes may ask for, take most of the time.
    let count = match input.byte() {
        0 => input.number(),
        1..16 => input.byte().into(),
        _ => (listed.len() + input.below(4)) as u64,
    };
    let size = if odd(&mut input) { input.number() } else { count.saturating_add(tokens.len() as u64) };
    let rows: Vec<_> = listed.iter().map(|(rank, name)| json!({"rank": rank, "token_str": name})).collect();
    let version = input.pick(&["v3", "v7m1", "v11", "v13", "v", "x"]);
    let content = json!({
        "config": {"pattern": "a+|.", "num_vocab_tokens": tokens.len(), "default_vocab_size": size,
                   "default_num_special_tokens": count, "version": version},
        "vocab": vocab,
        "special_tokens": if input.below(4) == 0 { json!(null) } else { json!(rows) },
    });
    let whole = content.to_string().into_bytes();
    let file = damaged(whole.clone(), &mut input);
    let kind = kind_of("tekken").unwrap();
    let Ok(read) = kind.read(&file, &LoadOptions::default(), &SyntaxTables) else { return };
    let specials = read.special_tokens().count();
    assert!(read.special_tokens().map(|(_, id)| id).eq(0..specials as u32));
    assert!(read.tokens().map(|(id, _)| id).eq(0..read.vocab_size() as u32));
    if file == whole {
        let ordinary = read.vocab_size() - specials;
        assert!(read.tokens().skip(specials).map(|(_, token)| token).eq(&tokens[..ordinary]));
        assert_eq!((specials as u64, read.vocab_size() as u64), (count, size));
    }
    state::encodes(read.vocab().clone());
}
