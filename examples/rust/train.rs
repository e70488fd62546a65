//! Trains a tokenizer on files, saves it, and shows the tokens that it learned.
//!
//! ```text
//! cargo run --example train -- 1000 tokenizer.json corpus.txt more.jsonl
//! ```

use std::error::Error;
use std::io::{Write, stdout};

use toksmith::{TrainOptions, train_files};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [size, output, files @ ..] = &*args else {
        return Err("usage: train VOCAB_SIZE OUTPUT FILE...".into());
    };
    let mut options = TrainOptions::new(size.parse()?);
    options.special_tokens = vec!["<|endoftext|>".into()];
    let tokenizer = train_files(files, &options)?;
    tokenizer.save(output)?;
    let mut out = stdout().lock();
    for (id, token) in tokenizer.tokens().skip(257) {
        writeln!(out, "{id} {:?}", String::from_utf8_lossy(token))?;
    }
    Ok(())
}
