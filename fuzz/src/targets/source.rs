//! Files of all kinds, also damaged ones, in blocks of any size on several threads, against reading them
//! whole.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::sync::LazyLock;

use toksmith::count::{CountOptions, Counting, DocumentFormat, InputFile};
use toksmith::encode::FileOptions;
use toksmith::pretokenize::{Isa, Named, Pattern, Pretokenizer, Unmatched};
use toksmith::source::Compression;
use toksmith::special::Specials;
use toksmith::{Control, Encoder, Error, Vocab};

use super::input::Input;
use super::vocabulary::LETTERS;
use crate::oracle;

static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());

const FIELD: &str = "text";

/// A reference that unpacks more is left alone.
const MOST: u64 = 1 << 20;

pub(super) fn run(data: &[u8]) {
    let mut input = Input(data);
    let (compression, lines) = (input.below(6), input.flag());
    let (replace, pattern) = (input.flag(), input.below(1 + Named::ALL.len()));
    // Without a limit the tables are so large that filling them takes most of the time.
    let table_limit = input.pick(&[Some(1), Some(1 << 20), Some(1 << 20), Some(1 << 20), Some(1), None]);
    let (workers, window) = (1 + input.below(3), 1 + input.below(64));
    let changes: Vec<(u8, u8)> = (0..input.below(4)).map(|_| (input.byte(), input.byte())).collect();
    let (bytes, compression) = match compression {
        0 => (input.0.to_vec(), Compression::None),
        1 => (input.0.to_vec(), Compression::Gzip),
        2 => (input.0.to_vec(), Compression::Zstd),
        3 => (input.0.to_vec(), Compression::Xz),
        4 => (changed(gzip(&input.text(&LETTERS)), &changes), Compression::Gzip),
        _ => (
            changed(zstd::encode_all(input.text(&LETTERS).as_slice(), 1).unwrap(), &changes),
            Compression::Zstd,
        ),
    };
    let path = FOLDER.path().join("source");
    std::fs::write(&path, &bytes).unwrap();
    let pattern = match pattern.checked_sub(1) {
        None => Pattern::Whole,
        Some(named) => Pattern::Named(Named::ALL[named], Isa::best()),
    };
    let pretokenizer = Pretokenizer { pattern, unmatched: Unmatched::Keep };
    let options =
        CountOptions { workers, chunk_bytes: window as u64, replace, table_limit, ..CountOptions::default() };
    let records = if lines { DocumentFormat::JsonLines(FIELD.into()) } else { DocumentFormat::Whole };
    let file = InputFile { compression, records, ..InputFile::text(path.clone()) };
    let Some(content) = content(&bytes, compression) else { return };
    let mut counting = Counting::new(specials(), pretokenizer.clone(), options);
    let control = Control::none();
    let done = counting.files(std::slice::from_ref(&file), &control);
    if content.is_err() {
        let may_pass = compression == Compression::Zstd && passes_in_small_steps(&bytes);
        return assert!(done.is_err() || may_pass, "what cannot be unpacked is refused");
    }
    let content = content.unwrap();
    let text = match std::str::from_utf8(&content) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) if replace => String::from_utf8_lossy(&content),
        Err(error) => return not_utf8(done, error.valid_up_to(), lines),
    };
    // Where the lines are no records, there is nothing to compare with.
    if let Some(documents) = documents(&text, lines) {
        done.unwrap();
        let found = counting.finish(&control).unwrap();
        let found: Vec<_> = found.words().collect();
        let expected = counted(&documents, &pretokenizer);
        let expected: Vec<_> = expected.iter().map(|(word, count)| (word.as_slice(), *count)).collect();
        assert_eq!(found, expected);
    }
    if compression == Compression::None {
        encoded(&path, &text, replace, workers, window as u64);
    }
}

fn specials() -> Specials {
    Specials::new(vec![b"<".to_vec(), b"b\n a".to_vec()]).unwrap()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    flate2::read::GzEncoder::new(text, flate2::Compression::fast()).read_to_end(&mut packed).unwrap();
    packed
}

fn changed(mut bytes: Vec<u8>, changes: &[(u8, u8)]) -> Vec<u8> {
    for &(at, byte) in changes {
        let len = bytes.len();
        match usize::from(at) {
            200.. => bytes.truncate(usize::from(byte).min(len)),
            100.. => bytes.push(byte),
            at => bytes[at % len] ^= byte,
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

/// What a file holds, unpacked at one go; none where that is too much.
fn content(bytes: &[u8], compression: Compression) -> Option<std::io::Result<Vec<u8>>> {
    let reader: Box<dyn Read> = match compression {
        Compression::None => Box::new(bytes),
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(bytes)),
        Compression::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes).unwrap();
            decoder.window_log_max(31).unwrap();
            Box::new(decoder)
        }
        Compression::Xz => return unpacked_xz(bytes),
        Compression::Bzip2 => return None,
    };
    let mut content = Vec::new();
    match reader.take(MOST).read_to_end(&mut content) {
        Ok(read) => (read < MOST as usize).then_some(Ok(content)),
        Err(error) => Some(Err(error)),
    }
}

/// Whether libzstd accepts a file if it unpacks some bytes at a time. A frame whose last block is empty may
/// then have less than its header says; in one step that is an error.
fn passes_in_small_steps(bytes: &[u8]) -> bool {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes).unwrap();
    decoder.window_log_max(31).unwrap();
    let mut step = [0; 16];
    let mut unpacked = 0;
    while unpacked < MOST {
        match decoder.read(&mut step) {
            Ok(0) => return true,
            Ok(read) => unpacked += read as u64,
            Err(_) => return false,
        }
    }
    true
}

/// The same of xz, in one step: its reader does not come to an end in some damaged files.
fn unpacked_xz(bytes: &[u8]) -> Option<std::io::Result<Vec<u8>>> {
    let mut content = vec![0; MOST as usize];
    match lzma_rust2::XzStream::new(true).process(bytes, &mut content, lzma_rust2::Action::Finish) {
        Ok(step) if step.bytes_produced == content.len() => None,
        Ok(step) if step.status == lzma_rust2::Status::StreamEnd => {
            content.truncate(step.bytes_produced);
            Some(Ok(content))
        }
        Ok(_) => Some(Err(std::io::ErrorKind::UnexpectedEof.into())),
        Err(error) => Some(Err(error)),
    }
}

/// The first byte that is not UTF-8 is named; in lines something else may be wrong before.
fn not_utf8(done: toksmith::Result<()>, at: usize, lines: bool) {
    match done {
        Err(Error::Unread { reason, .. }) => {
            assert!(lines || reason.starts_with(&format!("not UTF-8 at byte {at}:")), "{reason}")
        }
        other => panic!("{other:?} for a text that is not UTF-8 at {at}"),
    }
}

/// The documents of a file; none where a line is no record.
fn documents(text: &str, lines: bool) -> Option<Vec<Vec<u8>>> {
    if !lines {
        return Some(vec![text.as_bytes().to_vec()]);
    }
    let text = text.trim_start_matches('\u{feff}');
    let lines = text.split_inclusive('\n').filter(|line| !line.trim_ascii().is_empty());
    let record = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(value.get(FIELD)?.as_str()?.as_bytes().to_vec())
    };
    lines.map(record).collect()
}

/// The pretokens between special tokens, in the order of first occurrence.
fn counted(documents: &[Vec<u8>], pretokenizer: &Pretokenizer) -> Vec<(Vec<u8>, u64)> {
    let specials = specials();
    let texts: Vec<Vec<u8>> = documents
        .iter()
        .flat_map(|document| {
            let segments = oracle::segments(specials.tokens(), document).into_iter();
            segments.filter_map(|segment| match segment {
                toksmith::special::Segment::Text(range) => Some(document[range].to_vec()),
                toksmith::special::Segment::Special(_) => None,
            })
        })
        .collect();
    let counts = oracle::count_pretokens(&texts, pretokenizer);
    counts.into_iter().map(|(word, count, _)| (word, count)).collect()
}

/// The ids of a file are those of its text.
fn encoded(path: &std::path::Path, text: &str, replace: bool, workers: usize, window_bytes: u64) {
    static ENCODER: LazyLock<Encoder> = LazyLock::new(|| {
        let mut tokens: Vec<(u32, Vec<u8>)> = (0..=255).map(|byte| (byte, vec![byte as u8])).collect();
        tokens.extend([(256, b"a ".to_vec()), (257, b" a".to_vec()), (258, b" aa".to_vec())]);
        let vocab = Vocab::new(&tokens, None, &[(b"b\n a".to_vec(), None), (b"<".to_vec(), None)]).unwrap();
        let pattern = Pattern::Named(Named::O200k, Isa::best());
        Encoder::with_small_cache(vocab, Pretokenizer { pattern, unmatched: Unmatched::Keep }, 3)
    });
    let control = Control::none();
    let options = FileOptions { special: true, replace, workers, window_bytes };
    let ids = ENCODER.encode_file::<u32>(path, &options, &control).unwrap();
    assert_eq!(ids, ENCODER.encode_to_vec(text.as_bytes(), true, &control).unwrap());
    assert!(in_file(&ENCODER, path, &options, true).chunks(4).eq(ids.iter().map(|id| id.to_le_bytes())));
    let narrow = ids.iter().map(|&id| (id as u16).to_le_bytes());
    assert!(in_file(&ENCODER, path, &options, false).chunks(2).eq(narrow));
}

/// The bytes of a file of ids.
fn in_file(encoder: &Encoder, path: &std::path::Path, options: &FileOptions, is_wide: bool) -> Vec<u8> {
    let name = FOLDER.path().join("ids");
    let out = File::create(&name).unwrap();
    encoder.encode_file_to(path, options, (&out, &name), (0, is_wide), &Control::none()).unwrap();
    std::fs::read(name).unwrap()
}
