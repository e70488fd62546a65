//! How fast counting is beside the scanner alone: `cargo bench --bench count -- FILE... [WORKERS...]`. The text is in
//! memory for the first two figures; the files are read for those of the workers. GB/s, the best of some rounds in turn.
#![allow(missing_docs, clippy::print_stdout, clippy::expect_used)]

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use toksmith::Control;
use toksmith::count::{CountOptions, CountedFile, Counting, PretokenCounts, Records};
use toksmith::pretokenize::{ENDS, Isa, Named, Pattern, Pretokenizer, Scanner, Unmatched};
use toksmith::source::Compression;
use toksmith::special::Specials;

const ROUNDS: usize = 5;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let workers: Vec<usize> = args.iter().filter_map(|arg| arg.parse().ok()).collect();
    let workers = if workers.is_empty() { vec![1, 2] } else { workers };
    for file in args.iter().filter(|arg| arg.parse::<usize>().is_err()) {
        let text = std::fs::read(file).expect("a readable file");
        let mut best = vec![Duration::MAX; 2 + workers.len()];
        let mut counts = PretokenCounts::default();
        for _ in 0..ROUNDS {
            time(&mut best[0], || scan(&text));
            time(&mut best[1], || counts = in_memory(&text));
            for (best, &workers) in best[2..].iter_mut().zip(&workers) {
                time(best, || from_file(file, workers));
            }
        }
        let speed = |time: &Duration| text.len() as f64 / time.as_secs_f64() / 1e9;
        println!("{file}: {} bytes, {} pretokens, {} different", text.len(), counts.total(), counts.len());
        println!("  scanner {:.2} GB/s, counting {:.2}", speed(&best[0]), speed(&best[1]));
        for (best, workers) in best[2..].iter().zip(&workers) {
            println!("  from the file, {workers} workers: {:.2}", speed(best));
        }
    }
}

fn time<T>(best: &mut Duration, work: impl FnOnce() -> T) {
    let start = Instant::now();
    black_box(work());
    *best = start.elapsed().min(*best);
}

fn scan(text: &[u8]) -> usize {
    let mut scanner = Scanner::new(Named::Gpt2, Isa::best(), text);
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

fn counting(workers: usize) -> Counting {
    let specials = Specials::new(vec![b"<|endoftext|>".to_vec()]).expect("valid");
    let pattern = Pattern::Named(Named::Gpt2, Isa::best());
    let pretokenizer = Pretokenizer { pattern, unmatched: Unmatched::Keep };
    Counting::new(specials, pretokenizer, CountOptions { workers, ..CountOptions::default() })
}

fn in_memory(text: &[u8]) -> PretokenCounts {
    let control = Control::none();
    let mut counting = counting(1);
    counting.document(text, &control).expect("counts");
    counting.finish(&control).expect("counts")
}

fn from_file(file: &str, workers: usize) -> PretokenCounts {
    let control = Control::none();
    let mut counting = counting(workers);
    let file = CountedFile {
        path: PathBuf::from(file),
        compression: Compression::None,
        records: Records::Whole,
        range: None,
    };
    counting.files(&[file], &control).expect("counts");
    counting.finish(&control).expect("counts")
}
