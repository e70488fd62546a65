//! How fast the scanners are: `cargo bench --bench scan -- FILE...`, GB/s by pattern and instruction set, the best of
//! some rounds taken in turn; and what a short text costs.
#![allow(missing_docs, clippy::print_stdout, clippy::expect_used)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use toksmith::pretokenize::{ENDS, Isa, Named, Scanner};

const ROUNDS: usize = 7;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    for file in files {
        let text = std::fs::read(&file).expect("a readable file");
        println!("{file}: {} bytes", text.len());
        whole(&text);
        for len in [20, 100, 200] {
            short(&text, len);
        }
    }
}

fn cases() -> Vec<(Named, Isa, Duration)> {
    let of = |named| Isa::available().map(move |isa| (named, isa, Duration::MAX));
    Named::ALL.into_iter().flat_map(of).collect()
}

fn whole(text: &[u8]) {
    let mut cases = cases();
    for _ in 0..ROUNDS {
        for (named, isa, best) in &mut cases {
            let start = Instant::now();
            black_box(pretokens(*named, *isa, text));
            *best = start.elapsed().min(*best);
        }
    }
    for (named, isa, best) in cases {
        let count = pretokens(named, isa, text);
        let speed = text.len() as f64 / best.as_secs_f64() / 1e9;
        println!("  {:10} {:8} {speed:6.2} GB/s  {count} pretokens", named.name(), isa.name());
    }
}

fn short(text: &[u8], len: usize) {
    let texts: Vec<&[u8]> = text.chunks_exact(len).step_by(7).take(5000).collect();
    let mut cases = cases();
    for _ in 0..ROUNDS {
        for (named, isa, best) in &mut cases {
            let start = Instant::now();
            for text in &texts {
                black_box(pretokens(*named, *isa, text));
            }
            *best = start.elapsed().min(*best);
        }
    }
    let shown: Vec<String> = cases
        .iter()
        .map(|(named, isa, best)| {
            let each = best.as_nanos() as usize / texts.len();
            format!("{} {} {each} ns", named.name(), isa.name())
        })
        .collect();
    println!("  {len} bytes: {}", shown.join(", "));
}

fn pretokens(named: Named, isa: Isa, text: &[u8]) -> usize {
    let mut scanner = Scanner::new(named, isa, text);
    let mut ends = [0; ENDS];
    let mut all = 0;
    loop {
        let count = scanner.fill(&mut ends);
        if count == 0 {
            return all;
        }
        black_box(&ends);
        all += count;
    }
}
