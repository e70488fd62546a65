//! What a tokenizer does: loads each format, counts and encodes a batch, truncates, streams a decode up to a
//! stop string, edits a document, and saves.
//!
//! ```text
//! cargo run --example tour -- FOLDER [MODEL]...
//! ```
//!
//! FOLDER gets the files of a tokenizer that is trained here, one in each format. Each MODEL is a file or a
//! folder to load besides, such as a `.model` of SentencePiece.

#![allow(clippy::print_stdout)] // a program

use std::error::Error;
use std::path::Path;

use toksmith::{DecodeOptions, Special, Tokenizer, TrainOptions, train};

const TEXTS: [&str; 3] = ["the cat sat on the mat", "the cat<|endoftext|>", "caf\u{e9} \u{1f600}"];
/// Formats with the name of a file of each.
const FORMATS: [(&str, &str); 4] = [
    ("toksmith", "t.toksmith"),
    ("huggingface", "tokenizer.json"),
    ("tekken", "tekken.json"),
    ("gguf", "t.gguf"),
];

fn trained() -> Result<Tokenizer, toksmith::Error> {
    let mut options = TrainOptions::new(280);
    options.special_tokens = vec!["<|endoftext|>".into()];
    train(TEXTS, &options)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: tour FOLDER")?;
    let folder = Path::new(&folder);
    let tokenizer = trained()?;
    for (format, name) in FORMATS {
        let path = folder.join(name);
        std::fs::write(&path, tokenizer.to_bytes(format)?)?;
        let loaded = Tokenizer::load(&path)?;
        println!(
            "{format}: {} tokens, the same ids: {}",
            loaded.vocab_size(),
            same_ids(&tokenizer, &loaded, Special::Ids)?
        );
    }
    let ranks = folder.join("t.tiktoken");
    std::fs::write(&ranks, tokenizer.to_bytes("tiktoken")?)?;
    let loaded = Tokenizer::from_tiktoken(&ranks, "gpt2", &[("<|endoftext|>", 0)])?;
    println!("tiktoken: the same ids: {}", same_ids(&tokenizer, &loaded, Special::Ids)?);
    let (plain, model) = (train(TEXTS, &TrainOptions::new(280))?, folder.join("t.model"));
    std::fs::write(&model, plain.to_bytes("minbpe")?)?;
    println!("minbpe: the same ids: {}", same_ids(&plain, &Tokenizer::load(&model)?, Special::Ids)?);
    let pair = folder.join("gpt2");
    std::fs::create_dir_all(&pair)?;
    for (name, content) in ["vocab.json", "merges.txt"].iter().zip(tokenizer.to_gpt2()?) {
        std::fs::write(pair.join(name), content)?;
    }
    // The pair does not say which of its tokens are special.
    println!("gpt2: the same ids: {}", same_ids(&tokenizer, &Tokenizer::load(&pair)?, Special::Text)?);
    for path in std::env::args().skip(2) {
        let loaded = Tokenizer::load(&path)?;
        println!("{path}: {} tokens, {:?}", loaded.vocab_size(), loaded.encode(TEXTS[0], Special::Text)?);
    }

    println!("counts: {:?}", tokenizer.count_batch(&TEXTS, Special::Ids, 2)?);
    println!("cut to two tokens: {:?}", tokenizer.truncate(TEXTS[0], 2, Special::Ids)?);
    println!("pieces: {:?}", tokenizer.split(TEXTS[0], 3, 1, Special::Ids)?);

    let mut options = DecodeOptions::default();
    options.stop = vec!["mat".into()];
    let mut stream = tokenizer.decode_stream(&[], options)?;
    let mut text = String::new();
    for id in tokenizer.encode(TEXTS[0], Special::Ids)? {
        text += &stream.push(id)?;
        if stream.stopped().is_some() {
            break;
        }
    }
    text += &stream.finish()?;
    println!("streamed: {text:?}, stopped by {:?}", stream.stopped());

    let mut document = tokenizer.document(TEXTS[0], Special::Ids)?;
    document.replace(4..7, "dog")?;
    let again = tokenizer.encode(&document.text()?, Special::Ids)?;
    println!(
        "edited: {:?}, {} ids, as encoded anew: {}",
        document.text()?,
        again.len(),
        document.ids()? == again
    );
    tokenizer.with_special_tokens(&[("<|user|>", 300)])?.save(folder.join("chat.toksmith"))?;
    println!("fingerprint: {}", tokenizer.fingerprint()?);
    Ok(())
}

fn same_ids(one: &Tokenizer, other: &Tokenizer, special: Special) -> Result<bool, toksmith::Error> {
    Ok(one.encode_batch(&TEXTS, special, 2)? == other.encode_batch(&TEXTS, special, 2)?)
}
