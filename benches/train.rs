//! Times training on one thread, phase by phase: counting pretokens, then the merge loop.
//!
//! `cargo bench -p toksmith-benches --bench train -- FILE VOCAB_SIZE [ROUNDS [MERGES_OUT]]`: GPT-2's pattern, documents separated by
//! `<|endoftext|>`, ties by bytes. Writes the merges as pairs of hex, one a line, to compare with other trainers.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use toksmith::Control;
use toksmith::count::{CountOptions, Counting, InputFile};
use toksmith::pretokenize::{Isa, Named, Pattern, Pretokenizer, Unmatched};
use toksmith::special::Specials;
use toksmith::train::{Merge, Options, Saver, Start, resume};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let [file, vocab_size, rest @ ..] = arguments.as_slice() else {
        println!("usage: train FILE VOCAB_SIZE [ROUNDS [MERGES_OUT]]");
        return;
    };
    let max_merges = vocab_size.parse::<usize>().expect("a number") - 257;
    let rounds = rest.first().map_or(1, |rounds| rounds.parse().expect("a number"));
    let mut merges = Vec::new();
    for _ in 0..rounds {
        merges = train(file, max_merges);
    }
    println!("peak {}", peak_memory());
    if let Some(out) = rest.get(1) {
        fs::write(out, in_hex(&merges)).expect("writable");
    }
}

fn train(file: &str, max_merges: usize) -> Vec<Merge> {
    let control = Control::none();
    let specials = Specials::new(vec![b"<|endoftext|>".to_vec()]).expect("valid");
    let pretokenizer =
        Pretokenizer { pattern: Pattern::Named(Named::Gpt2, Isa::best()), unmatched: Unmatched::Keep };
    let start = Instant::now();
    let options = CountOptions { workers: 1, ..CountOptions::default() };
    let mut counting = Counting::new(specials, pretokenizer, options);
    counting.files(&[InputFile::text(PathBuf::from(file))], &control).expect("counts");
    let counts = counting.finish(&control).expect("counts");
    let counted = start.elapsed();
    let options = Options { max_merges, ..Options::default() };
    let merges =
        resume(counts.words(), &Start::default(), &options, &mut Saver::none(), &control).expect("learns");
    let all = start.elapsed();
    println!(
        "total {:.1} ms: count {:.1}, merges {:.1} ({} pretokens, {} unique, {} merges)",
        all.as_secs_f64() * 1e3,
        counted.as_secs_f64() * 1e3,
        (all - counted).as_secs_f64() * 1e3,
        counts.total(),
        counts.len(),
        merges.len()
    );
    merges
}

fn in_hex(merges: &[Merge]) -> String {
    let mut tokens: Vec<String> = (0..256).map(|byte| format!("{byte:02x}")).collect();
    let mut text = String::new();
    for merge in merges {
        let (left, right) = (&tokens[merge.left as usize], &tokens[merge.right as usize]);
        writeln!(text, "{left} {right}").expect("a string takes all");
        let token = format!("{left}{right}");
        tokens.push(token);
    }
    text
}

fn peak_memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap_or(" unknown").trim().to_owned()
}
