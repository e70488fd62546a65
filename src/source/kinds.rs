//! What a file is, by its first bytes and by its name.

use super::compression::Compression;
use super::json_scan::Scan;
use super::tar::has_checksum;

/// The format of the contents of a file, after decompression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Plain text, a document.
    Text,
    /// A JSON object in each line.
    JsonLines,
    /// A JSON array of objects, or objects one after the other that take any number of lines.
    Json,
    /// Values between commas, below a line of names.
    Csv,
    /// The same between tabs.
    Tsv,
    /// A tar archive.
    Tar,
    /// A web archive.
    Warc,
    /// Parquet, which the caller reads.
    Parquet,
    /// Arrow IPC, a file or a stream, which the caller reads.
    Arrow,
}

impl Format {
    /// All formats with their names, and what a file of each is called in messages.
    pub const ALL: [(&str, Format, &str); 9] = [
        ("text", Format::Text, "plain text"),
        ("jsonl", Format::JsonLines, "a file of JSON lines"),
        ("json", Format::Json, "a JSON document"),
        ("csv", Format::Csv, "a table of text"),
        ("tsv", Format::Tsv, "a table of text"),
        ("tar", Format::Tar, "a tar archive"),
        ("warc", Format::Warc, "a WARC file"),
        ("parquet", Format::Parquet, "a Parquet file"),
        ("arrow", Format::Arrow, "an Arrow file"),
    ];

    /// The name of the format.
    pub fn name(self) -> &'static str {
        Format::ALL.iter().find(|row| row.1 == self).map_or("text", |row| row.0)
    }

    /// The format of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Format::ALL.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    /// What a file of this format is called in messages.
    fn title(self) -> &'static str {
        Format::ALL.iter().find(|row| row.1 == self).map_or("plain text", |row| row.2)
    }

    /// The format that the suffix of a name stands for, below those of compression.
    fn of_file(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let stem =
            compression_of_name(&name).map_or(&*name, |_| name.rsplit_once('.').map_or("", |(stem, _)| stem));
        let suffix = if name.ends_with(".tgz") { "tar" } else { stem.rsplit_once('.')?.1 };
        Some(match suffix {
            "txt" | "text" | "md" | "rst" => Format::Text,
            "jsonl" | "ndjson" | "jl" => Format::JsonLines,
            "json" => Format::Json,
            "csv" => Format::Csv,
            "tsv" => Format::Tsv,
            "tar" => Format::Tar,
            "warc" | "wet" => Format::Warc,
            "parquet" | "pq" => Format::Parquet,
            "arrow" | "feather" => Format::Arrow,
            _ => return None,
        })
    }
}

/// The compression that the suffix of a name in lower case stands for.
fn compression_of_name(name: &str) -> Option<Compression> {
    Some(match name.rsplit_once('.')?.1 {
        "gz" | "gzip" | "tgz" => Compression::Gzip,
        "zst" | "zstd" => Compression::Zstd,
        "xz" => Compression::Xz,
        "bz2" => Compression::Bzip2,
        _ => return None,
    })
}

/// The compression of a file by its first bytes. If they are of no known kind, its name decides, so that a
/// file that is damaged, or something else than it says, is an error.
pub(super) fn compression_of(name: &str, head: &[u8]) -> Compression {
    let of_name = || compression_of_name(&name.to_ascii_lowercase());
    match Compression::of_head(head) {
        Compression::None if content(head, false).is_none() => of_name().unwrap_or(Compression::None),
        compression => compression,
    }
}

/// A kind of file that is not read, and what to do with it.
type Kind = (&'static str, &'static str);

const DECOMPRESS: &str = "decompress it first";
const RECORDS: &str = "take the texts out of its records first";
const DOCUMENT: &str = "take the text out of it first";
const NO_TEXT: &str = "it has no text";

/// First bytes that no UTF-8 text has.
const MAGIC: [(&[u8], Kind); 6] = [
    (b"\x93NUMPY", ("a NumPy file", NO_TEXT)),
    (b"\x89PNG\r\n\x1a\n", ("a PNG image", NO_TEXT)),
    (b"\xff\xd8\xff", ("a JPEG image", NO_TEXT)),
    (b"\xd0\xcf\x11\xe0", ("an Office document", DOCUMENT)),
    (b"\x04\x22\x4d\x18", ("lz4-compressed", DECOMPRESS)),
    (b"7z\xbc\xaf\x27\x1c", ("a 7z archive", DECOMPRESS)),
];
/// First bytes that a text could have as well. They count only if the head also has bytes that no text has.
const WEAK_MAGIC: [(&[u8], Kind); 8] = [
    (b"PK\x03\x04", ("a ZIP archive", DECOMPRESS)),
    (b"SQLite format 3\0", ("an SQLite database", RECORDS)),
    (b"%PDF-", ("a PDF document", DOCUMENT)),
    (b"\xff\xfe", ("UTF-16 text", "convert it to UTF-8 first")),
    (b"\xfe\xff", ("UTF-16 text", "convert it to UTF-8 first")),
    (b"GGUF", ("a GGUF file", NO_TEXT)),
    (b"FEA1", ("a file of Feather version 1", "convert it to Arrow first")),
    (b"BZh", ("bzip2-compressed", DECOMPRESS)),
];
/// How a file begins that Git has in place of one that Git LFS keeps.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";
const LFS_POINTER: Kind =
    ("a Git LFS pointer, which stands in place of the file", "get the file with git lfs pull");
const HTML_PAGE: Kind = ("an HTML page", "if a download gave it in place of the file, repeat that");

/// What the first bytes of decompressed contents say.
enum Content {
    Format(Format),
    Kind(Kind),
}

/// What contents are that begin with `head`, which is all of them if `is_whole`; `None` for text.
fn content(head: &[u8], is_whole: bool) -> Option<Content> {
    if let Some(content) = magic(head) {
        return Some(content);
    }
    if head.first_chunk().is_some_and(has_checksum) {
        return Some(Content::Format(Format::Tar));
    }
    if head.starts_with(b"WARC/") && memchr::memmem::find(head, b"\nWARC-Type:").is_some() {
        return Some(Content::Format(Format::Warc));
    }
    if is_html(head) {
        return Some(Content::Kind(HTML_PAGE));
    }
    json(without_bom(head), is_whole)
}

fn without_bom(head: &[u8]) -> &[u8] {
    head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head).trim_ascii_start()
}

fn is_html(head: &[u8]) -> bool {
    let head = without_bom(head);
    let begins = |tag: &[u8]| head.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag));
    begins(b"<!doctype html") || begins(b"<html>") || begins(b"<html ")
}

/// What stands in place of a file that begins with `head`, and what to do; `None` for nothing that is known.
pub fn substitute(head: &[u8]) -> Option<String> {
    let kind = if head.starts_with(LFS) { LFS_POINTER } else { HTML_PAGE };
    (head.starts_with(LFS) || is_html(head)).then(|| refusal(kind))
}

/// What data is that begins with `head` and is neither text nor JSON.
fn magic(head: &[u8]) -> Option<Content> {
    if head.starts_with(LFS) {
        return Some(Content::Kind(LFS_POINTER));
    }
    let compression = Compression::of_head(head);
    if compression != Compression::None {
        return Some(Content::Kind((compression.kind(), DECOMPRESS)));
    }
    // The first message of a stream: a mark, and a length of a few kilobytes.
    if head.starts_with(b"\xff\xff\xff\xff") && head.get(6..8) == Some(&[0, 0]) {
        return Some(Content::Format(Format::Arrow));
    }
    let strong = MAGIC.iter().find(|(magic, _)| head.starts_with(magic));
    if let Some((_, kind)) = strong {
        return Some(Content::Kind(*kind));
    }
    // A null, or bytes that are not UTF-8 whatever follows.
    let is_invalid = std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some());
    if !is_invalid && !head.contains(&0) {
        return None;
    }
    if head.starts_with(b"PAR1") || head.starts_with(b"ARROW1") {
        return Some(Content::Format(if head[0] == b'P' { Format::Parquet } else { Format::Arrow }));
    }
    WEAK_MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, kind)| Content::Kind(*kind))
}

/// What text is that begins like JSON.
fn json(text: &[u8], is_whole: bool) -> Option<Content> {
    if let Some(inner) = text.strip_prefix(b"[") {
        let inner = inner.trim_ascii_start();
        let is_empty =
            is_whole && inner.strip_prefix(b"]").is_some_and(|after| after.trim_ascii().is_empty());
        return (is_empty || begins_object(inner)).then_some(Content::Format(Format::Json));
    }
    if !begins_object(text) {
        return None;
    }
    let line = match memchr::memchr(b'\n', text) {
        Some(end) => &text[..end],
        None if is_whole => text,
        None => return Some(Content::Format(Format::JsonLines)),
    };
    let after = text[line.len()..].trim_ascii_start();
    Some(Content::Format(if is_record(line, after) { Format::JsonLines } else { Format::Json }))
}

/// Whether the first line of objects is a record, which may be damaged, or the object goes on after it.
fn is_record(line: &[u8], after: &[u8]) -> bool {
    let mut scan = Scan::default();
    scan.len(line, |_, _| false);
    // A newline in a string is not JSON, nor is an object in place of a name.
    scan.in_string
        || scan.depth == 0
        || after.is_empty()
        || after.starts_with(b"{") && !matches!(line.trim_ascii_end().last(), Some(b'[' | b':'))
}

/// Whether a text begins with `{"name":`, as far as it goes.
fn begins_object(text: &[u8]) -> bool {
    let Some(inner) = text.strip_prefix(b"{") else { return false };
    let inner = inner.trim_ascii_start();
    let Some(name) = inner.strip_prefix(b"\"") else { return false };
    let mut at = 0;
    while at < name.len() && name[at] != b'"' {
        if name[at] < b' ' {
            return false;
        }
        at += if name[at] == b'\\' { 2 } else { 1 };
    }
    let after = name.get(at + 1..).unwrap_or(&[]).trim_ascii_start();
    after.is_empty() || after[0] == b':'
}

/// The format of contents that begin with `head`, which is all of them if `is_whole`. `wanted` is the format
/// that was asked for.
///
/// # Errors
/// What the contents are, if they are not read, and what to do.
pub(super) fn format_of(
    name: &str,
    head: &[u8],
    is_whole: bool,
    wanted: Option<Format>,
) -> Result<Format, String> {
    let content = content(head, is_whole);
    if let Some(wanted) = wanted {
        let is_table = |format| matches!(format, Format::Parquet | Format::Arrow);
        return match content {
            Some(Content::Kind(LFS_POINTER | HTML_PAGE)) if wanted == Format::Text => Ok(wanted),
            Some(Content::Kind(kind)) => Err(refusal(kind)),
            Some(Content::Format(Format::Json)) if wanted == Format::JsonLines => {
                Err("this is no file of JSON lines: give input_format=\"json\"".to_owned())
            }
            Some(Content::Format(format)) if is_table(format) && !is_table(wanted) => {
                Err(format!("this is {}, not {}", format.title(), wanted.title()))
            }
            _ => Ok(wanted),
        };
    }
    match (content, Format::of_file(name)) {
        (Some(Content::Kind(HTML_PAGE)), None) => Ok(Format::Text),
        (Some(Content::Kind(HTML_PAGE)), Some(Format::Text)) => {
            Err(format!("{}, or give input_format=\"text\" to read it as it is", refusal(HTML_PAGE)))
        }
        (Some(Content::Kind(kind)), _) => Err(refusal(kind)),
        (
            Some(Content::Format(format @ (Format::JsonLines | Format::Json | Format::Warc))),
            Some(Format::Text),
        ) => {
            let (title, name) = (format.title(), format.name());
            Err(format!(
                "this looks like {title}: give input_format=\"{name}\", or \"text\" to read it as plain text"
            ))
        }
        (Some(Content::Format(format)), _) => Ok(format),
        (None, format) => Ok(format.unwrap_or(Format::Text)),
    }
}

fn refusal((kind, advice): Kind) -> String {
    format!("this is {kind}: {advice}")
}

/// Checks that data that is read as plain text does not look like something else.
///
/// # Errors
/// What it is, and what to do.
pub(super) fn check_text(head: &[u8]) -> Result<(), String> {
    match format_of(".txt", head, false, None)? {
        Format::Text => Ok(()),
        other => Err(format!("this is {}: give input_format=\"{}\"", other.title(), other.name())),
    }
}

/// Why a file is not read as plain text by those who read nothing else; `None` if it is.
pub fn not_plain(name: &str, head: &[u8]) -> Option<String> {
    let refused = |kind, advice| Some(format!("this is {kind}, and plain text is read here: {advice}"));
    // Pages and JSON are text as well: what is counted may be the markup.
    let content = content(head, false).filter(|content| {
        !matches!(content, Content::Kind(HTML_PAGE) | Content::Format(Format::JsonLines | Format::Json))
    });
    match (content, compression_of_name(&name.to_ascii_lowercase()), Format::of_file(name)) {
        (Some(Content::Kind((kind, advice))), ..) => refused(kind, advice),
        (Some(Content::Format(format)), ..) => refused(format.title(), RECORDS),
        (None, Some(compression), _) => refused(compression.kind(), DECOMPRESS),
        (None, None, Some(format @ (Format::JsonLines | Format::Parquet | Format::Arrow))) => {
            refused(format.title(), RECORDS)
        }
        (None, None, _) => None,
    }
}
