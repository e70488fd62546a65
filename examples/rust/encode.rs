//! Texts to ids: reads a JSON string from each line of standard input, and writes its ids, and the text that
//! they decode to, as a JSON list of the two.
//!
//! ```text
//! echo '"Hello, world!"' | cargo run --example encode -- tokenizer.json
//! echo '"Hello, world!"' | cargo run --example encode -- gpt2.tiktoken gpt2 '<|endoftext|>=50256'
//! ```

#![allow(clippy::print_stderr)] // a program

use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};
use std::process::ExitCode;

use toksmith::{Special, Tokenizer};

const USAGE: &str = "usage: encode PATH [PATTERN [NAME=ID]...]; a rank file needs a pattern";

fn load(args: &[&str]) -> Result<Tokenizer, Box<dyn Error>> {
    Ok(match args {
        [path] => Tokenizer::load(path)?,
        [path, pattern, specials @ ..] => {
            let mut pairs = Vec::new();
            for text in specials {
                let (name, id) = text.rsplit_once('=').ok_or(USAGE)?;
                pairs.push((name, id.parse()?));
            }
            Tokenizer::from_tiktoken(path, pattern, &pairs)?
        }
        _ => return Err(USAGE.into()),
    })
}

fn run() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let tokenizer = load(&args.iter().map(String::as_str).collect::<Vec<_>>())?;
    let mut out = stdout().lock();
    let mut ids = Vec::new();
    for line in stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        ids.clear();
        tokenizer.encode_into(&text, Special::Ids, &mut ids)?;
        writeln!(out, "{}", serde_json::to_string(&(&ids, tokenizer.decode(&ids)?))?)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
