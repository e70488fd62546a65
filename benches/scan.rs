//! How fast the scanners are: `cargo bench --bench scan -- FILE... [PATTERN...] [INSTRUCTION_SET...]`, GB/s by pattern and
//! instruction set, the best of some rounds taken in turn; and what a short text costs.
#![allow(missing_docs, clippy::print_stdout, clippy::expect_used)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use toksmith::pretokenize::{ENDS, Isa, Named, Scanner};

const ROUNDS: usize = 7;

type Cases = Vec<(Named, Isa, Duration)>;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let (mut named, mut isas): (Vec<Named>, Vec<Isa>) = (Vec::new(), Vec::new());
    let mut files = Vec::new();
    for arg in &args {
        match (Named::from_name(arg), Isa::from_name(arg)) {
            (Some(name), _) => named.push(name),
            (_, Some(isa)) => isas.push(isa),
            _ => files.push(arg),
        }
    }
    let named = if named.is_empty() { Named::ALL.to_vec() } else { named };
    let isas = if isas.is_empty() { Isa::available().collect() } else { isas };
    let of = |&named| isas.iter().map(move |&isa| (named, isa, Duration::MAX));
    let cases: Cases = named.iter().flat_map(of).collect();
    for file in files {
        let text = std::fs::read(file).expect("a readable file");
        println!("{file}: {} bytes", text.len());
        whole(&text, cases.clone());
        for len in [20, 100, 200] {
            short(&text, len, cases.clone());
        }
    }
}

/// The best of each 64 KB, all added up: others at work on the machine disturb some slices of a round, not all. The
/// text is in the cache.
fn whole(text: &[u8], cases: Cases) {
    let slices: Vec<&[u8]> = text.chunks(1 << 16).collect();
    let mut best = vec![vec![Duration::MAX; slices.len()]; cases.len()];
    for (number, slice) in slices.iter().enumerate() {
        for _ in 0..ROUNDS {
            for ((named, isa, _), best) in cases.iter().zip(&mut best) {
                let start = Instant::now();
                black_box(pretokens(*named, *isa, slice));
                best[number] = start.elapsed().min(best[number]);
            }
        }
    }
    for ((named, isa, _), best) in cases.iter().zip(best) {
        let count = pretokens(*named, *isa, text);
        let speed = text.len() as f64 / best.iter().sum::<Duration>().as_secs_f64() / 1e9;
        println!("  {:10} {:8} {speed:6.2} GB/s  {count} pretokens", named.name(), isa.name());
    }
}

fn short(text: &[u8], len: usize, mut cases: Cases) {
    let texts: Vec<&[u8]> = text.chunks_exact(len).step_by(7).take(5000).collect();
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
