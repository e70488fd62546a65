//! The core, piece by piece: scanning by pattern and instruction set, encoding with a fresh cache and with a warm one,
//! counting ids, counting pretokens, training, loading. `cargo bench -p toksmith-benches --bench core [-- FILTER]`; the
//! filter is a regular expression: `scan/gpt2/avx2`, `core/count`.
//!
//! The text is the project's own documentation, or the file that `TOKSMITH_BENCH_TEXT` names; the vocabulary is trained
//! on it, or the rank file that `TOKSMITH_BENCH_RANKS` names.
#![allow(missing_docs, clippy::expect_used)]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use toksmith::count::{CountOptions, Counting, InputFile, PretokenCounts};
use toksmith::formats::RankLines;
use toksmith::pretokenize::{ENDS, Isa, Named, Pattern, Pretokenizer, Scanner, Unmatched};
use toksmith::special::Specials;
use toksmith::train::{Options, Saver, Start, resume};
use toksmith::{Control, Encoder, Vocab};

/// Merges of the vocabulary that is trained.
const MERGES: usize = 2_000;
/// Bytes of short texts.
const SHORT: [usize; 2] = [20, 200];

type Group<'a> = BenchmarkGroup<'a, criterion::measurement::WallTime>;

fn files() -> Vec<PathBuf> {
    if let Some(path) = std::env::var_os("TOKSMITH_BENCH_TEXT") {
        return vec![path.into()];
    }
    ["../docs/decisions.md", "../README.md"]
        .map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join(name))
        .into()
}

fn text() -> Vec<u8> {
    let read = |path| std::fs::read(path).expect("a readable file; TOKSMITH_BENCH_TEXT names another");
    files().into_iter().flat_map(read).collect()
}

fn pretokenizer(named: Named) -> Pretokenizer {
    Pretokenizer { pattern: Pattern::Named(named, Isa::best()), unmatched: Unmatched::Keep }
}

fn counting(workers: usize) -> Counting {
    let specials = Specials::new(vec![b"<|endoftext|>".to_vec()]).expect("valid");
    Counting::new(specials, pretokenizer(Named::Gpt2), CountOptions { workers, ..CountOptions::default() })
}

fn counts(text: &[u8]) -> PretokenCounts {
    let control = Control::none();
    let mut counting = counting(1);
    let mut batch = Some(vec![text]);
    counting.batches(|| Ok(batch.take()), &control).expect("counts");
    counting.finish(&control).expect("counts")
}

fn counts_of_files(files: &[InputFile], workers: usize) -> PretokenCounts {
    let control = Control::none();
    let mut counting = counting(workers);
    counting.files(files, &control).expect("counts");
    counting.finish(&control).expect("counts")
}

/// A rank file of the merges of `text`.
fn ranks(text: &[u8]) -> Vec<(u32, Vec<u8>)> {
    if let Some(path) = std::env::var_os("TOKSMITH_BENCH_RANKS") {
        let file = std::fs::read(path).expect("TOKSMITH_BENCH_RANKS names a readable file");
        let lines = RankLines::parse(&file).expect("a rank file");
        return lines.tokens().into_iter().map(|(id, token)| (id, token.to_vec())).collect();
    }
    let options = Options { max_merges: MERGES, ..Options::default() };
    let merges =
        resume(counts(text).words(), &Start::default(), &options, &mut Saver::none(), &Control::none())
            .expect("learns");
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    for merge in merges {
        tokens.push([tokens[merge.left as usize].as_slice(), &tokens[merge.right as usize]].concat());
    }
    (0..).zip(tokens).collect()
}

fn encoder(ranks: &[(u32, Vec<u8>)]) -> Encoder {
    Encoder::new(Vocab::new(ranks, None, &[]).expect("a vocabulary"), pretokenizer(Named::Cl100k))
        .expect("memory")
}

fn scan(named: Named, isa: Isa, text: &[u8]) -> usize {
    let mut scanner = Scanner::new(named, isa, text);
    let (mut ends, mut all) = ([0; ENDS], 0);
    loop {
        let count = scanner.fill(&mut ends);
        if count == 0 {
            return all;
        }
        black_box(&ends);
        all += count;
    }
}

fn scanning(group: &mut Group<'_>, text: &[u8]) {
    for named in Named::ALL {
        for isa in Isa::available() {
            let name = format!("scan/{}/{}", named.name(), isa.name());
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(&name, |bench| bench.iter(|| scan(named, isa, text)));
            for len in SHORT {
                let texts: Vec<&[u8]> = text.chunks_exact(len).step_by(7).take(5_000).collect();
                group.throughput(Throughput::Elements(texts.len() as u64));
                group.bench_function(format!("{name}/texts of {len} bytes"), |bench| {
                    bench.iter(|| texts.iter().map(|text| scan(named, isa, text)).sum::<usize>());
                });
            }
        }
    }
}

fn encoding(group: &mut Group<'_>, text: &[u8], ranks: &[(u32, Vec<u8>)]) {
    let control = Control::none();
    group.throughput(Throughput::Bytes(text.len() as u64));
    // What a process pays that encodes one text: nothing of it is in a cache yet.
    group.bench_function("encode/fresh", |bench| {
        bench.iter_batched(
            || encoder(ranks),
            |encoder| (encoder.encode_to_vec(text, true, &control), encoder),
            BatchSize::PerIteration,
        );
    });
    let warm = encoder(ranks);
    group.bench_function("encode/warm", |bench| bench.iter(|| warm.encode_to_vec(text, true, &control)));
    group.bench_function("encode/count", |bench| bench.iter(|| warm.count(text, true, &control)));
    let run = vec![b'a'; 100_000];
    group.throughput(Throughput::Bytes(run.len() as u64));
    group.bench_function("encode/one pretoken", |bench| {
        bench.iter(|| warm.encode_to_vec(&run, true, &control));
    });
}

fn training(group: &mut Group<'_>, text: &[u8]) {
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("count/memory", |bench| bench.iter(|| counts(text)));
    let files: Vec<InputFile> = files().into_iter().map(InputFile::text).collect();
    for workers in [1, 2] {
        group.bench_function(format!("count/files/{workers} workers"), |bench| {
            bench.iter(|| counts_of_files(&files, workers));
        });
    }
    let counts = counts(text);
    group.bench_function("train/merges", |bench| {
        let options = Options { max_merges: MERGES, ..Options::default() };
        bench.iter(|| {
            resume(counts.words(), &Start::default(), &options, &mut Saver::none(), &Control::none())
        });
    });
}

fn core(criterion: &mut Criterion) {
    let text = text();
    let ranks = ranks(&text);
    let mut group = criterion.benchmark_group("core");
    group.sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    scanning(&mut group, &text);
    encoding(&mut group, &text, &ranks);
    training(&mut group, &text);
    group.throughput(Throughput::Elements(ranks.len() as u64));
    group.bench_function("load", |bench| bench.iter(|| encoder(&ranks)));
    group.finish();
}

criterion_group!(benches, core);
criterion_main!(benches);
