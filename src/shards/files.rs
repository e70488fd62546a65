//! The files of a shard once its documents are written: headers, and Megatron's index; and shards copied from
//! pieces.
//!
//! Before, there are two files: the ids behind room for a header, and the places where the documents begin
//! and the last one ends, as numbers of 64 bits behind room for a header of NumPy.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::room;
use crate::source::{Links, WrittenHashes, checksum, open_regular};

/// Bytes of a header of NumPy: a multiple of 64, with room for any count.
pub const NPY_HEADER_BYTES: usize = 128;
/// Bytes of a header of llm.c.
pub const LLM_C_HEADER_BYTES: usize = 1024;

/// A format of shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum ShardFormat {
    /// Ids alone.
    #[serde(rename = "bin")]
    Bare,
    /// Ids alone, in one file for each split.
    #[serde(rename = "nanogpt")]
    NanoGpt,
    /// Ids behind a header of llm.c (its `dev/data/data_common.py`).
    #[serde(rename = "llm.c")]
    LlmC,
    /// Ids, and Megatron's index beside them (its `indexed_dataset.py`).
    #[serde(rename = "megatron")]
    Megatron,
    /// A file of NumPy.
    #[serde(rename = "npy")]
    Npy,
    /// A table with a row for each document, which the caller writes.
    #[serde(rename = "parquet")]
    Parquet,
}

impl ShardFormat {
    /// All formats with their names.
    pub const ALL: [(&str, ShardFormat); 6] = [
        ("bin", ShardFormat::Bare),
        ("nanogpt", ShardFormat::NanoGpt),
        ("llm.c", ShardFormat::LlmC),
        ("megatron", ShardFormat::Megatron),
        ("npy", ShardFormat::Npy),
        ("parquet", ShardFormat::Parquet),
    ];

    /// The suffix of the file of ids.
    pub fn suffix(self) -> &'static str {
        match self {
            ShardFormat::Npy => ".npy",
            ShardFormat::Parquet => ".parquet",
            _ => ".bin",
        }
    }

    /// Bytes before the ids in their file.
    pub fn head_bytes(self) -> usize {
        match self {
            ShardFormat::LlmC => LLM_C_HEADER_BYTES,
            ShardFormat::Npy => NPY_HEADER_BYTES,
            _ => 0,
        }
    }

    /// The maximum number of ids in a shard. The number is an int32 in llm.c.
    pub fn max_ids(self) -> u64 {
        if self == ShardFormat::LlmC { i32::MAX as u64 } else { 1 << 62 }
    }

    /// Whether a split is one shard, whose files have no number.
    pub fn is_single(self) -> bool {
        self == ShardFormat::NanoGpt
    }
}

/// The files of a shard, and what is in them.
#[derive(Debug)]
pub struct RawShard {
    /// The file of ids.
    pub ids: PathBuf,
    /// The file of the places of documents.
    pub starts: PathBuf,
    /// The file of the masks of the ids, a byte each.
    pub mask: Option<PathBuf>,
    /// How many ids there are.
    pub tokens: u64,
    /// How many documents there are.
    pub documents: u64,
    /// Whether ids have 32 bits, not 16.
    pub wide: bool,
}

impl RawShard {
    /// Writes the headers, and Megatron's index to the path of the ids with the suffix `.idx`.
    pub fn complete(&self, format: ShardFormat) -> Result<()> {
        put_header(&self.starts, &npy_header(self.documents + 1, "<i8"))?;
        match format {
            ShardFormat::Bare | ShardFormat::NanoGpt | ShardFormat::Parquet => Ok(()),
            ShardFormat::Npy => {
                put_header(&self.ids, &npy_header(self.tokens, if self.wide { "<u4" } else { "<u2" }))
            }
            ShardFormat::LlmC => put_header(&self.ids, &llm_c_header(self.tokens, self.wide)),
            ShardFormat::Megatron => self.put_megatron_index(&self.ids.with_extension("idx")),
        }
    }

    /// Writes the length and the place in bytes of each sequence, here a document, and the number of each.
    fn put_megatron_index(&self, path: &Path) -> Result<()> {
        let mut index = Output::create(path)?;
        // Megatron has no uint32, and reads ids below 2^31 as int32.
        let (kind, width) = if self.wide { (4, 4) } else { (8, 2) };
        index.put(b"MMIDIDX\0\0")?;
        index.put(&1_u64.to_le_bytes())?;
        index.put(&[kind])?;
        index.put(&self.documents.to_le_bytes())?;
        index.put(&(self.documents + 1).to_le_bytes())?;
        let of_starts = Error::io(&self.starts);
        let mut starts = open_at(&self.starts, NPY_HEADER_BYTES as u64)?;
        let mut before = next_number(&mut starts).map_err(&of_starts)?;
        for _ in 0..self.documents {
            let end = next_number(&mut starts).map_err(&of_starts)?;
            index.put(&(end.wrapping_sub(before) as u32).to_le_bytes())?;
            before = end;
        }
        let mut starts = open_at(&self.starts, NPY_HEADER_BYTES as u64)?;
        for _ in 0..self.documents {
            index.put(&(next_number(&mut starts).map_err(&of_starts)? * width).to_le_bytes())?;
        }
        for number in 0..=self.documents {
            index.put(&number.to_le_bytes())?;
        }
        index.end()
    }
}

/// Consecutive documents in the two files of a shard without headers.
#[derive(Debug)]
pub struct DocumentRange {
    /// The file of ids.
    pub ids: PathBuf,
    /// The file of the places of documents.
    pub starts: PathBuf,
    /// The first document.
    pub first: u64,
    /// The document after the last.
    pub end: u64,
}

/// Copies pieces to new files of a shard, ids of `width` bytes behind room for a header; returns how many ids
/// there are.
pub(super) fn join_pieces(
    (ids, starts): (&Path, &Path),
    header_bytes: usize,
    width: u64,
    pieces: &[DocumentRange],
    control: &Control,
) -> Result<u64> {
    let (mut ids, mut starts) = (Output::create(ids)?, Output::create(starts)?);
    ids.put(&vec![0; header_bytes])?;
    starts.put(&[0; NPY_HEADER_BYTES + 8])?;
    let (mut tokens, mut block) = (0_u64, Vec::new());
    room::resize(&mut block, 1 << 20)?;
    for piece in pieces {
        let of_starts = Error::io(&piece.starts);
        let mut places = open_at(&piece.starts, NPY_HEADER_BYTES as u64 + 8 * piece.first)?;
        let start = next_number(&mut places).map_err(&of_starts)?;
        let mut end = start;
        for _ in piece.first..piece.end {
            end = next_number(&mut places).map_err(&of_starts)?;
            starts.put(&(tokens + end - start).to_le_bytes())?;
        }
        tokens += end - start;
        let mut left = (end - start) * width;
        let mut source = if left > 0 { Some(open_at(&piece.ids, start * width)?) } else { None };
        while let Some(source) = source.as_mut().filter(|_| left > 0) {
            control.check()?;
            let len = left.min(block.len() as u64) as usize;
            source.read_exact(&mut block[..len]).map_err(Error::io(&piece.ids))?;
            ids.put(&block[..len])?;
            left -= len as u64;
        }
    }
    ids.end()?;
    starts.end()?;
    Ok(tokens)
}

/// A new file.
struct Output<'p> {
    path: &'p Path,
    file: BufWriter<File>,
}

impl<'p> Output<'p> {
    fn create(path: &'p Path) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let file = open_regular(path, &mut options, Links::Refuse).map_err(Error::io(path))?;
        Ok(Output { path, file: BufWriter::with_capacity(1 << 17, file) })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(Error::io(self.path))
    }

    fn end(mut self) -> Result<()> {
        self.file.flush().map_err(Error::io(self.path))
    }
}

fn open_at(path: &Path, place: u64) -> Result<BufReader<File>> {
    let opened = open_regular(path, OpenOptions::new().read(true), Links::Follow);
    let opened = opened.and_then(|mut file| file.seek(SeekFrom::Start(place)).map(|_| file));
    Ok(BufReader::with_capacity(1 << 17, opened.map_err(Error::io(path))?))
}

/// Syncs a file to the disk; returns its size and its BLAKE3 in hex, as [`checksum`] does.
pub(super) fn synced(path: &Path, written: &WrittenHashes, control: &Control) -> Result<(u64, String)> {
    let sum = checksum(path, written, control)?;
    let file = open_regular(path, OpenOptions::new().read(true).write(true), Links::Refuse);
    file.and_then(|file| file.sync_all()).map(|()| sum).map_err(Error::io(path))
}

fn put_header(path: &Path, header: &[u8]) -> Result<()> {
    let file = open_regular(path, OpenOptions::new().write(true), Links::Refuse);
    file.and_then(|mut file| file.write_all(header)).map_err(Error::io(path))
}

fn next_number(numbers: &mut impl Read) -> std::io::Result<u64> {
    let mut bytes = [0; 8];
    numbers.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// The header of a file of llm.c with ids of 16 bits, or, if `is_wide`, 32.
pub fn llm_c_header(tokens: u64, is_wide: bool) -> Vec<u8> {
    let [magic, version] = if is_wide { [20_240_801, 7] } else { [20_240_520, 1] };
    let mut header = [magic, version, tokens as u32].map(u32::to_le_bytes).concat();
    header.resize(LLM_C_HEADER_BYTES, 0);
    header
}

/// The header of a `.npy` file of numbers of a type such as "<u2".
pub fn npy_header(count: u64, kind: &str) -> Vec<u8> {
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((NPY_HEADER_BYTES as u16 - 10).to_le_bytes());
    header
        .extend(format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({count},), }}").into_bytes());
    header.resize(NPY_HEADER_BYTES - 1, b' ');
    header.push(b'\n');
    header
}
