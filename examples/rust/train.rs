//! Trains a tokenizer on the lines of standard input, and shows the tokens that it learned.
//!
//! ```text
//! cargo run --example train -- 1000 < corpus.txt
//! ```

use std::error::Error;
use std::io::{Write, read_to_string, stdin, stdout};

use toksmith::{TrainOptions, train};

fn main() -> Result<(), Box<dyn Error>> {
    let size = std::env::args().nth(1).ok_or("usage: train VOCAB_SIZE < TEXT")?;
    let mut options = TrainOptions::new(size.parse()?);
    options.special_tokens = vec!["<|endoftext|>".into()];
    let text = read_to_string(stdin())?;
    let tokenizer = train(text.split_inclusive('\n'), &options)?;
    let mut out = stdout().lock();
    for (id, token) in tokenizer.tokens().skip(257) {
        writeln!(out, "{id} {}", serde_json::to_string(&String::from_utf8_lossy(token))?)?;
    }
    Ok(())
}
