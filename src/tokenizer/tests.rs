//! Tokenizers as programs in Rust use them.

use super::*;
use crate::Special;

const TEXT: &str = "low low lower<|end|> lowest e\u{301} 12345\r\n\u{1f600} aé <s> a";

#[test]
fn streams_and_counts_are_those_of_the_whole_text() {
    let mut options = TrainOptions::new(275);
    options.special_tokens = vec!["<|end|>".into(), "<s>".into()];
    let tokenizer = train([TEXT, "lowest lowest", ""], &options).unwrap();
    for special in [Special::Ids, Special::Text] {
        let ids = tokenizer.encode(TEXT, special).unwrap();
        assert_eq!(tokenizer.count(TEXT, special).unwrap(), ids.len());
        let (mut stream, mut streamed) = (tokenizer.stream(special), Vec::new());
        for part in TEXT.split_inclusive('l') {
            stream.push(part, &mut streamed).unwrap();
        }
        stream.finish(&mut streamed).unwrap();
        assert_eq!((streamed, stream.pending_bytes()), (ids, 0));
    }
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
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("table.parquet");
    std::fs::write(&table, b"PAR1").unwrap();
    let error = train_files([table], &TrainOptions::new(270)).err().unwrap();
    assert!(error.to_string().ends_with("toksmith for Python alone reads parquet"), "{error}");
}
