//! The one error type of the core, with the data of each failure in its variant.

mod show;

use std::path::PathBuf;

use show::{asked, offered, place};
pub(crate) use show::{show, show_reason, show_text};

/// What the core returns where something can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong in the core. Bytes are shown as Rust writes byte strings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The observer of a [`crate::Control`] asked for the call to end.
    #[error("interrupted")]
    Interrupted,

    /// The system has no memory for what follows the size of the input.
    #[error("out of memory{}", asked(*bytes))]
    OutOfMemory {
        /// What was asked for; 0 where that is not known.
        bytes: usize,
    },

    /// A sum of counts left the range that is kept exact (2^63).
    #[error(
        "the count of {} followed by {} passes 2^63: counts of this size cannot be added",
        show(left),
        show(right)
    )]
    CountOverflow {
        /// Bytes of the pair's left token.
        left: Vec<u8>,
        /// Bytes of the pair's right token; empty where the count is of a pretoken.
        right: Vec<u8>,
    },

    /// The unique pretokens are more than the merge loop can address.
    #[error("the unique pretokens hold {bytes} bytes, more than the {limit} that training can address")]
    TooManyPretokens {
        /// The bytes that there are.
        bytes: u64,
        /// The bytes that there may be.
        limit: u64,
    },

    /// A special token without a byte.
    #[error("special token number {index} is empty: leave it out")]
    EmptySpecial {
        /// Where it stands in the list, from 0.
        index: usize,
    },

    /// The same special token twice.
    #[error("special token {} is there twice, as number {first} and {second}: leave one out", show(token))]
    RepeatedSpecial {
        /// The token.
        token: Vec<u8>,
        /// Where it stands first, from 0.
        first: usize,
        /// Where it stands again.
        second: usize,
    },

    /// A special token of more bytes than one may have.
    #[error(
        "special token number {index}, which begins with {}, has {bytes} bytes: at most {limit} are possible",
        show(start)
    )]
    SpecialTooLong {
        /// Where it stands in the list, from 0.
        index: usize,
        /// Its first bytes.
        start: Vec<u8>,
        /// What it has.
        bytes: usize,
        /// What it may have.
        limit: usize,
    },

    /// The special tokens have too many bytes together.
    #[error("the special tokens are too many or too long: {reason}")]
    TooManySpecials {
        /// How many there are, and may be.
        reason: String,
    },

    /// One id for two tokens.
    #[error(
        "id {id} is given to {} but belongs to {}: every token needs an id of its own",
        show(token),
        show(owner)
    )]
    IdTaken {
        /// The id.
        id: u32,
        /// The second token.
        token: Vec<u8>,
        /// The first.
        owner: Vec<u8>,
    },

    /// Two ids for the same ordinary token.
    #[error(
        "the token {} has two ids, {first} and {second}: drop one, or list it as a special token",
        show(token)
    )]
    RepeatedToken {
        /// Its bytes.
        token: Vec<u8>,
        /// The lower id.
        first: u32,
        /// The higher id.
        second: u32,
    },

    /// A byte value without a token.
    #[error(
        "the vocabulary has no token for the single byte 0x{byte:02x}: all 256 are needed, or some text could not be encoded"
    )]
    MissingByte {
        /// The byte.
        byte: u8,
    },

    /// A special token on the id of an ordinary token that merging needs.
    #[error(
        "special token {} is given id {id}, which is the ordinary token of these bytes: give the special token an id of its own",
        show(token)
    )]
    SpecialIsOrdinary {
        /// The special token.
        token: Vec<u8>,
        /// The id.
        id: u32,
    },

    /// All ids up to 2^32 - 1 lie below one in use.
    #[error("there is no id left for special token {}: the highest id in use is 2^32 - 1", show(token))]
    NoIdLeft {
        /// The special token.
        token: Vec<u8>,
    },

    /// A merge of something that is no token, or into something that is none.
    #[error(
        "merge number {index} ({}, {}) needs the token {}, which is not in the vocabulary",
        show(left),
        show(right),
        show(unknown)
    )]
    MergeUnknown {
        /// Where it stands in the list, from 0.
        index: usize,
        /// Its left part.
        left: Vec<u8>,
        /// Its right part.
        right: Vec<u8>,
        /// The token that is not in the vocabulary.
        unknown: Vec<u8>,
    },

    /// The same merge twice.
    #[error(
        "merge number {index} ({}, {}) is the same as number {first}: leave one out",
        show(left),
        show(right)
    )]
    RepeatedMerge {
        /// Where it stands again, from 0.
        index: usize,
        /// Where it stands first.
        first: usize,
        /// Its left part.
        left: Vec<u8>,
        /// Its right part.
        right: Vec<u8>,
    },

    /// Forced tokens on a vocabulary whose own merges they could set off.
    #[error(
        "forced tokens cannot be added to a tokenizer with tokens that merging does not make, such as {} (id {id}): \
         train without forced tokens",
        show(token)
    )]
    ForcedOnUnreachable {
        /// Such a token's id.
        id: u32,
        /// Its bytes.
        token: Vec<u8>,
    },

    /// Forced tokens for which the vocabulary has no room.
    #[error("the forced tokens need {merges} new tokens, and there is room for {room}: raise vocab_size")]
    TooManyForced {
        /// The new tokens that they need.
        merges: usize,
        /// The tokens that may be added.
        room: usize,
    },

    /// Bytes that [`crate::Vocab::state`] did not write.
    #[error("the saved state of the vocabulary is broken")]
    BrokenState,

    /// An id that the vocabulary does not have.
    #[error("there is no token of id {id}{}", place(*index))]
    UnknownId {
        /// The id.
        id: i128,
        /// Where it stands in the list that was given, from 0.
        index: Option<usize>,
    },

    /// A normalizer that makes much more of a text than there was.
    #[error(
        "step {step} of the normalizer ({name}) makes more than {most} bytes of {bytes}: a text and its stretches may \
         come to 64 times as many bytes, and to 16 MB in any case"
    )]
    NormalizedTooLong {
        /// Which step it is, from 0.
        step: usize,
        /// The name of the step.
        name: &'static str,
        /// The bytes of the text.
        bytes: usize,
        /// The bytes that the step may make.
        most: usize,
    },

    /// A character that is none: it has no UTF-8.
    #[error("the text has a lone surrogate at character {at}, which is no character and has no UTF-8 bytes")]
    Surrogate {
        /// Which of the text's characters, from 0.
        at: usize,
    },

    /// An id that is too large for the type that was asked for.
    #[error("id {id} does not fit into uint16: give dtype=\"uint32\"")]
    IdTooWide {
        /// The id.
        id: u32,
    },

    /// One character alone is more tokens than a piece may have.
    #[error(
        "the character at byte {at} alone is {tokens} tokens, more than the {limit} of a piece: raise max_tokens"
    )]
    CharacterTooLong {
        /// Its first byte.
        at: usize,
        /// What it needs.
        tokens: usize,
        /// What it may have.
        limit: usize,
    },

    /// A pretoken of 4 GiB or more.
    #[error("a pretoken of {bytes} bytes is too long: at most {} can be merged as one piece", u32::MAX)]
    PretokenTooLong {
        /// Its length.
        bytes: usize,
    },

    /// A file that cannot be opened or read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },

    /// A training text that is not UTF-8.
    #[error(
        "{name}: not UTF-8 at byte {offset}: give errors=\"replace\" to read invalid bytes as U+FFFD, or convert it first"
    )]
    NotUtf8 {
        /// The file, or the element of an iterable.
        name: String,
        /// The first invalid byte.
        offset: u64,
    },

    /// A compressed file that cannot be read as what it says it is.
    #[error("{}: this is no whole {format} file: {reason}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The format that it should have.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },

    /// A record of a file that has no text.
    #[error("{}: line {line} (byte {offset}): {reason}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// Where the line begins.
        offset: u64,
        /// What is wrong.
        reason: String,
    },

    /// The temporary file of counting cannot be written, or read again.
    #[error(
        "{source}: the temporary file of counting, with {} MB in it so far: free some space, set TMPDIR to a folder that has more, or raise memory_limit",
        written / 1_000_000
    )]
    Spill {
        /// The folder it is in.
        folder: PathBuf,
        /// Bytes in the file before.
        written: u64,
        /// What the system says.
        source: std::io::Error,
    },

    /// The unique pretokens do not fit into memory.
    #[error(
        "there are {unique} different pretokens, which take {} MB: more than memory_limit, {} MB, has room for. Raise it{}",
        needed.div_ceil(1_000_000),
        limit / 1_000_000,
        offered(*offer)
    )]
    TooManyUnique {
        /// How many there are.
        unique: u64,
        /// Bytes that they take.
        needed: u64,
        /// Bytes that there are.
        limit: u64,
        /// A least count, and how many pretokens occur as often; there is room for those.
        offer: Option<(u64, u64)>,
    },

    /// A file of counts that does not hold what it should.
    #[error("the counts in the file are broken at byte {offset}")]
    BrokenCounts {
        /// Where.
        offset: u64,
    },

    /// What a [`crate::pretokenize::Splitter`] from outside failed with.
    #[error(transparent)]
    Splitter(Box<dyn std::error::Error + Send + Sync>),
}
