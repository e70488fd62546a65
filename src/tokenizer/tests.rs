//! Tokenizers as programs in Rust use them.

use std::path::PathBuf;

use super::*;
use crate::Special;
use crate::error::Error;

/// A tokenizer of Hugging Face that merges characters and normalizes.
const CHARACTERS: &str = r#"{
    "version": "1.0",
    "added_tokens": [{"id": 0, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": true,
        "normalized": false, "special": true}],
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
    "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
    "model": {"type": "BPE", "unk_token": "?", "vocab": {"<s>": 0, "?": 1, "▁": 2, "a": 3, "é": 4, "▁a": 5, "▁aé": 6},
        "merges": ["▁ a", "▁a é"]}
}"#;
const TEXT: &str = "low low lower<|end|> lowest e\u{301} 12345\r\n\u{1f600} aé <s> a";

fn trained() -> Tokenizer {
    let mut options = TrainOptions::new(275);
    options.special_tokens = vec!["<|end|>".into(), "<s>".into()];
    options.pattern = r"\p{L}+|\p{N}{1,3}|\s+(?!\S)|\s|[^\s\p{L}\p{N}]+".into();
    train([TEXT, "lowest lowest", ""], &options).unwrap()
}

fn path(folder: &tempfile::TempDir, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

#[test]
fn streams_and_counts_are_those_of_the_whole_text() {
    let folder = tempfile::tempdir().unwrap();
    let characters = Tokenizer::load(path(&folder, "tokenizer.json", CHARACTERS.as_bytes())).unwrap();
    assert_eq!(characters.encode("aé <s> a", Special::Ids).unwrap(), [6, 2, 0, 5]);
    assert_eq!(characters.decode(&[6, 2, 0, 5]).unwrap(), "aé <s> a");
    for tokenizer in [trained(), characters] {
        for special in [Special::Ids, Special::Text] {
            let ids = tokenizer.encode(TEXT, special).unwrap();
            assert_eq!(tokenizer.count(TEXT, special).unwrap(), ids.len());
            let mut appended = vec![7];
            tokenizer.encode_into(TEXT, special, &mut appended).unwrap();
            assert_eq!(appended[1..], ids);
            let mut stream = tokenizer.stream(special);
            for size in [1, 2, 7] {
                let mut streamed = Vec::new();
                let characters: Vec<String> = TEXT.chars().map(String::from).collect();
                for part in characters.chunks(size) {
                    stream.push(&part.concat(), &mut streamed).unwrap();
                }
                stream.finish(&mut streamed).unwrap();
                assert_eq!((streamed, stream.pending_bytes()), (ids.clone(), 0));
            }
        }
    }
}

#[test]
fn a_saved_tokenizer_is_loaded_again() {
    let folder = tempfile::tempdir().unwrap();
    let (tokenizer, file) = (trained(), folder.path().join("own.json"));
    std::fs::write(&file, "old").unwrap();
    tokenizer.save(&file).unwrap();
    let loaded = Tokenizer::load(&file).unwrap();
    assert!(loaded.warnings().is_empty() && tokenizer.tokens().eq(loaded.tokens()));
    assert_eq!(loaded.special_tokens().collect::<Vec<_>>(), [("<|end|>", 0), ("<s>", 1)]);
    let ids = tokenizer.encode(TEXT, Special::Ids).unwrap();
    assert_eq!(loaded.encode(TEXT, Special::Ids).unwrap(), ids);
    assert_eq!(loaded.decode(&ids).unwrap(), TEXT);
    assert_eq!(loaded.token_id(b"low").and_then(|id| loaded.token_bytes(id)), Some(&b"low"[..]));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing is left behind");
    let text = std::fs::read_to_string(&file).unwrap().replace("16.0", "13.0");
    let other = path(&folder, "other.json", text.as_bytes());
    let expected = format!("{}: made under Unicode \"13.0\"", other.display());
    let warnings = Tokenizer::load(other).unwrap().warnings().to_vec();
    assert!(warnings[0].starts_with(&expected), "{warnings:?}");
    let error = tokenizer.save(folder.path().join("none/own.json")).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
}

#[test]
fn files_are_texts_or_records() {
    let folder = tempfile::tempdir().unwrap();
    let options = TrainOptions::new(270);
    let plain = path(&folder, "plain.txt", TEXT.as_bytes());
    let records = path(&folder, "records.jsonl", b"{\"text\": \"lowest lowest\"}\n{\"text\": \"low\"}\n");
    let of_files = train_files([plain, records], &options).unwrap();
    assert!(of_files.tokens().eq(train([TEXT, "lowest lowest", "low"], &options).unwrap().tokens()));
    let error = train_files([path(&folder, "table.parquet", b"PAR1")], &options).err().unwrap();
    assert!(error.to_string().ends_with("toksmith for Python alone reads parquet"), "{error}");
}

#[test]
fn what_is_wrong_is_named() {
    let with = |pattern: &str, special: &str| {
        let mut options = TrainOptions::new(257);
        (options.pattern, options.special_tokens) = (pattern.into(), vec![special.into()]);
        train(["a"], &options).err().map_or(String::new(), |error| error.to_string())
    };
    assert_eq!(with("gpt2", "a"), "");
    assert_eq!(with("gpt2", ""), "special token number 0 is empty: leave it out");
    assert!(with("GPT-2", "a").contains("looks like the name of a pattern, but no pattern has this name"));
    assert!(with("(?<=a)b", "a").contains("a look behind, at character 0"));
    assert!(with("a)", "a").contains("a ) that closes nothing"));
    assert!(with(r"(?i:\p{Lu})", "a").contains("under (?i) has no table here"));
    let error = train(["a"], &TrainOptions::new(255)).err().unwrap();
    assert_eq!(error.to_string(), "vocab_size is 255, less than 256 bytes and 0 special tokens");
}
