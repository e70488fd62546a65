//! JSON, tables and archives, whole, damaged and inside of each other: the documents that went in come out,
//! and whatever is damaged is an error or other documents.

use std::io::Read;
use std::sync::LazyLock;

use toksmith::Control;
use toksmith::count::{CountOptions, Counting, DocumentFormat, InputFile};
use toksmith::pretokenize::{Pattern, Pretokenizer, Unmatched};
use toksmith::source::{Compression, Format, format_of_file, not_plain};
use toksmith::special::Specials;

use super::input::Input;

static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());

const FORMATS: [Format; 6] =
    [Format::JsonLines, Format::Json, Format::Csv, Format::Tsv, Format::Tar, Format::Warc];
const ALPHABET: [&str; 14] = ["a", " ", "\"", ",", "\t", "\n", "\r", "\\", "[", "{", "}", "é", "中", ":"];
/// More frames than this are not made of an input.
const MAX_BYTES: usize = 1 << 20;

pub(super) fn run(data: &[u8]) {
    let mut input = Input(data);
    let format = input.pick(&FORMATS);
    let (is_raw, is_packed, replace) = (input.below(4) == 0, input.flag(), input.flag());
    let (workers, block) = (1 + input.below(2), 1 + input.below(64));
    let changes: Vec<(u16, u8)> = (0..input.below(4))
        .map(|_| (u16::from_le_bytes([input.byte(), input.byte()]), input.byte()))
        .collect();
    let (bytes, documents) = if is_raw {
        (input.text(&ALPHABET), None)
    } else {
        // A text that begins like JSON would be read as such, and one that is empty is none.
        let document = |input: &mut Input<'_>| [b"x", input.word(40, &ALPHABET).as_slice()].concat();
        let documents: Vec<Vec<u8>> = (0..input.below(6)).map(|_| document(&mut input)).collect();
        let whole = container(&mut input, format, &documents, 2);
        let damaged = changed(whole.clone(), &changes);
        let documents = (damaged == whole).then_some(documents);
        (damaged, documents)
    };
    let (bytes, compression) =
        if is_packed { (gzip(&bytes), Compression::Gzip) } else { (bytes, Compression::None) };
    let path = FOLDER.path().join("part");
    std::fs::write(&path, &bytes).unwrap();
    let found = format_of_file(&path, Some(Box::new(std::io::Cursor::new(bytes.clone()))), None);
    let _ = not_plain("part", &bytes);
    // A table of text is found by its name alone, and what has no documents may look like anything.
    if documents.as_ref().is_some_and(|documents| !documents.is_empty())
        && !matches!(format, Format::Csv | Format::Tsv)
    {
        assert_eq!(found, Ok((compression, Some(format))));
    }
    let records = DocumentFormat::Framed(format, "text".into());
    let file = InputFile { compression, records, ..InputFile::text(path) };
    let counted = counted(&file, replace, workers, block as u64);
    if let Some(documents) = documents {
        let mut expected: Vec<(Vec<u8>, u64)> = Vec::new();
        for document in documents {
            match expected.iter_mut().find(|(known, _)| *known == document) {
                Some((_, count)) => *count += 1,
                None => expected.push((document, 1)),
            }
        }
        assert_eq!(counted.unwrap(), expected);
    }
}

/// The documents of a file, with how often each occurs.
fn counted(
    file: &InputFile,
    replace: bool,
    workers: usize,
    chunk_bytes: u64,
) -> toksmith::Result<Vec<(Vec<u8>, u64)>> {
    let pretokenizer = Pretokenizer { pattern: Pattern::Whole, unmatched: Unmatched::Keep };
    let options =
        CountOptions { workers, chunk_bytes, replace, table_limit: Some(1 << 20), ..CountOptions::default() };
    let mut counting = Counting::new(Specials::new(Vec::new()).unwrap(), pretokenizer, options);
    let control = Control::none();
    counting.files(std::slice::from_ref(file), &control)?;
    let counts = counting.finish(&control)?;
    Ok(counts.words().map(|(word, count)| (word.to_vec(), count)).collect())
}

/// A container of documents.
fn container(input: &mut Input<'_>, format: Format, documents: &[Vec<u8>], depth: usize) -> Vec<u8> {
    let texts = || documents.iter().map(|document| std::str::from_utf8(document).unwrap());
    let json = |text: &str| format!(r#"{{"id": [1, "]"], "text": {}}}"#, serde_json::Value::from(text));
    match format {
        Format::JsonLines => {
            texts().map(|text| json(text) + input.pick(&["\n", "\r\n", "\n\n"])).collect::<String>()
        }
        Format::Json if input.below(3) == 0 && !documents.is_empty() => texts()
            .map(|text| json(text).replacen('{', "{\n", 1) + input.pick(&["\n", "", " \n\n"]))
            .collect(),
        Format::Json => {
            let comma = input.pick(&[",", " ,\n"]);
            format!("\u{feff} [{}]\n", texts().map(json).collect::<Vec<_>>().join(comma))
        }
        Format::Csv | Format::Tsv => {
            let (comma, end) = (if format == Format::Csv { "," } else { "\t" }, input.pick(&["\n", "\r\n"]));
            let row = |text: &str| format!("1{comma}\"{}\"{end}", text.replace('"', "\"\""));
            format!("id{comma}text{end}{}", texts().map(row).collect::<String>())
        }
        Format::Tar => return tar(input, documents, depth),
        _ => return documents.iter().map(|text| record(input, text)).collect::<Vec<_>>().concat(),
    }
    .into_bytes()
}

/// A member for each document, or one for all of them.
fn tar(input: &mut Input<'_>, documents: &[Vec<u8>], depth: usize) -> Vec<u8> {
    let mut archive = Vec::new();
    let (inner, name) = match input.below(5) {
        0 => (Format::JsonLines, "a.jsonl"),
        1 => (Format::Csv, "b.csv"),
        2 => (Format::Warc, "c.warc"),
        3 if depth > 0 => (Format::Tar, "d.tar"),
        _ => (Format::Text, "e"),
    };
    if inner == Format::Text {
        for document in documents {
            member(&mut archive, name, b'0', document);
        }
    } else {
        let bytes = container(input, inner, documents, depth.saturating_sub(1));
        let bytes = if input.flag() { gzip(&bytes) } else { bytes };
        member(&mut archive, "", b'5', b"");
        member(&mut archive, ".hidden", b'0', b"\xff");
        if input.flag() {
            let long = format!("{}/{name}\0", "long".repeat(40));
            member(&mut archive, "././@LongLink", b'L', long.as_bytes());
        }
        member(&mut archive, name, b'0', &bytes);
    }
    archive.extend([0; 1024]);
    archive
}

fn member(archive: &mut Vec<u8>, name: &str, kind: u8, bytes: &[u8]) {
    let mut header = [0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[124..136].copy_from_slice(format!("{:011o}\0", bytes.len()).as_bytes());
    header[148..156].fill(b' ');
    header[156] = kind;
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    archive.extend(header);
    archive.extend(bytes);
    archive.resize(archive.len().next_multiple_of(512), 0);
}

fn record(input: &mut Input<'_>, text: &[u8]) -> Vec<u8> {
    let (kind, content) = input.pick(&[
        ("conversion", "text/plain"),
        ("resource", "text/plain"),
        ("response", "application/http; msgtype=response"),
    ]);
    let block = if kind == "response" { response(input, text) } else { text.to_vec() };
    let len = block.len();
    let start =
        format!("WARC/1.0\r\nWARC-Type: {kind}\r\nContent-Type: {content}\r\nContent-Length: {len}\r\n\r\n");
    [start.as_bytes(), &block, b"\r\n\r\n"].concat()
}

/// A response of HTTP, in some codings.
fn response(input: &mut Input<'_>, text: &[u8]) -> Vec<u8> {
    let (coding, mut body) = match input.below(4) {
        0 => ("gzip", gzip(text)),
        1 => ("x-gzip, zstd", zstd::encode_all(gzip(text).as_slice(), 1).unwrap()),
        2 => ("Identity", text.to_vec()),
        _ => ("", text.to_vec()),
    };
    let transfer = if input.flag() { "Chunked" } else { "" };
    if !transfer.is_empty() {
        let size = 1 + input.below(64);
        let chunks =
            body.chunks(size).map(|chunk| [format!("{:X};a=b\r\n", chunk.len()).as_bytes(), chunk].concat());
        body = [chunks.collect::<Vec<_>>().join(b"\r\n".as_slice()), b"\r\n0\r\n\r\n".to_vec()].concat();
    }
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding:\r\n {coding}\r\nTransfer-Encoding: {transfer}\r\n\r\n"
    );
    [head.as_bytes(), &body].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    flate2::read::GzEncoder::new(bytes, flate2::Compression::fast()).read_to_end(&mut packed).unwrap();
    packed
}

/// Changes, inserts, removes and cuts off bytes.
fn changed(mut bytes: Vec<u8>, changes: &[(u16, u8)]) -> Vec<u8> {
    for &(at, byte) in changes {
        let (kind, at) = (at >> 14, usize::from(at & 0x3fff) % (bytes.len() + 1));
        match kind {
            0 => bytes.insert(at, byte),
            1 => bytes.truncate(at),
            _ if at == bytes.len() || bytes.len() > MAX_BYTES => {}
            2 => bytes[at] = byte,
            _ => drop(bytes.remove(at)),
        }
    }
    bytes
}
