//! The core, piece by piece: scanning, encoding with a fresh cache and with a warm one, counting ids, counting pretokens,
//! training, loading. `cargo bench --bench core [-- FILTER]`.
//!
//! The text is the project's own documentation, or the file that `TOKSMITH_BENCH_TEXT` names; the vocabulary is trained
//! on it, or the rank file that `TOKSMITH_BENCH_RANKS` names.
#![allow(missing_docs, clippy::expect_used)]

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use toksmith::count::{CountOptions, Counting, PretokenCounts};
use toksmith::pretokenize::{ENDS, Isa, Named, Pattern, Pretokenizer, Scanner, Unmatched};
use toksmith::special::Specials;
use toksmith::train::{Options, learn_merges};
use toksmith::vocab::RankLines;
use toksmith::{Control, Encoder, Vocab};

/// Merges of the vocabulary that is trained.
const MERGES: usize = 2_000;

type Group<'a> = BenchmarkGroup<'a, criterion::measurement::WallTime>;

fn text() -> Vec<u8> {
    if let Some(path) = std::env::var_os("TOKSMITH_BENCH_TEXT") {
        return std::fs::read(path).expect("TOKSMITH_BENCH_TEXT names a readable file");
    }
    [include_bytes!("../docs/design.md").as_slice(), include_bytes!("../README.md")].concat()
}

fn pretokenizer(named: Named) -> Pretokenizer {
    Pretokenizer { pattern: Pattern::Named(named, Isa::best()), unmatched: Unmatched::Keep }
}

fn counts(text: &[u8]) -> PretokenCounts {
    let control = Control::none();
    let options = CountOptions { workers: 1, ..CountOptions::default() };
    let mut counting = Counting::new(Specials::default(), pretokenizer(Named::Gpt2), options);
    counting.document(text, &control).expect("counts");
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
        learn_merges(counts(text).in_order().into_iter(), &options, &Control::none()).expect("learns");
    let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    for merge in merges {
        tokens.push([tokens[merge.left as usize].as_slice(), &tokens[merge.right as usize]].concat());
    }
    (0..).zip(tokens).collect()
}

fn encoder(ranks: &[(u32, Vec<u8>)]) -> Encoder {
    Encoder::new(Vocab::new(ranks, None, &[]).expect("a vocabulary"), pretokenizer(Named::Cl100k))
}

fn scan(named: Named, text: &[u8]) -> usize {
    let mut scanner = Scanner::new(named, Isa::best(), text);
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
        group.bench_function(format!("scan/{}", named.name()), |bench| bench.iter(|| scan(named, text)));
    }
}

fn encoding(group: &mut Group<'_>, text: &[u8], ranks: &[(u32, Vec<u8>)]) {
    let control = Control::none();
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
    group.bench_function("train/count pretokens", |bench| bench.iter(|| counts(text)));
    let counts = counts(text);
    group.bench_function("train/merges", |bench| {
        let options = Options { max_merges: MERGES, ..Options::default() };
        bench.iter(|| learn_merges(counts.in_order().into_iter(), &options, &Control::none()));
    });
}

fn core(criterion: &mut Criterion) {
    let text = text();
    let ranks = ranks(&text);
    let mut group = criterion.benchmark_group("core");
    group.sample_size(20).throughput(Throughput::Bytes(text.len() as u64));
    scanning(&mut group, &text);
    encoding(&mut group, &text, &ranks);
    training(&mut group, &text);
    group.throughput(Throughput::Elements(ranks.len() as u64));
    group.bench_function("load", |bench| bench.iter(|| encoder(&ranks)));
    group.finish();
}

criterion_group!(benches, core);
criterion_main!(benches);
