//! The one error type of the core, with a variant for each failure that callers tell apart.

mod show;

use std::path::PathBuf;

pub(crate) use show::unexpected_map;
use show::{asked, offered, place, summed};
pub use show::{show, show_reason, show_text};

/// The result of a function of the core that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong in the core. Messages show bytes like Rust's byte strings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The observer of a [`crate::Control`] asked for the call to end.
    #[error("interrupted")]
    Interrupted,

    /// The system has no memory for data whose size follows the input.
    #[error("out of memory{}", asked(*bytes))]
    OutOfMemory {
        /// The size of the allocation in bytes; 0 if unknown.
        bytes: usize,
    },

    /// A sum of counts passed 2^63, the highest count that is accepted.
    #[error("{} passes 2^63: counts of this size cannot be added", summed(left, right))]
    CountOverflow {
        /// Bytes of the pair's left token.
        left: Vec<u8>,
        /// Bytes of the pair's right token; empty if the count is that of a pretoken.
        right: Vec<u8>,
    },

    /// The unique pretokens have more bytes than the merge loop can address.
    #[error("the unique pretokens hold {bytes} bytes, more than the {limit} that training can address")]
    TooManyPretokens {
        /// Their bytes.
        bytes: u64,
        /// The bytes that can be addressed.
        limit: u64,
    },

    /// A vocabulary that cannot be made of its tokens, merges and special tokens; names one, and says why.
    #[error("{0}")]
    Vocab(String),

    /// Something else that cannot be used as it is; says what, why, and what to do.
    #[error("{0}")]
    Invalid(String),

    /// A byte value that has no token.
    #[error(
        "the vocabulary has no token for the single byte 0x{byte:02x}: all 256 are needed, or some text could not be encoded"
    )]
    MissingByte {
        /// The byte.
        byte: u8,
    },

    /// Bytes that were not written by [`crate::Vocab::state`].
    #[error("the saved state of the vocabulary is corrupt")]
    BrokenState,

    /// A part of a file that cannot be used: its place, as a path of JSON, and what is wrong.
    #[error("{0}: {1}")]
    BrokenPart(String, String),

    /// A tokenizer that another library's format cannot hold; says why.
    #[error("{0}; save() keeps everything")]
    Unwritable(String),

    /// A file, whose name the caller adds, could not be read.
    #[error("{0}")]
    Reading(std::io::Error),

    /// A pattern that cannot be used; says why.
    #[error("{0}")]
    Pattern(String),

    /// An id that the vocabulary does not have.
    #[error("there is no token of id {id}{}", place(*index))]
    UnknownId {
        /// The id.
        id: i128,
        /// Its index in the list that was given, if there was a list.
        index: Option<usize>,
    },

    /// A lone surrogate, which is not a character and has no UTF-8.
    #[error("the text has a lone surrogate at character {at}, which cannot be encoded as UTF-8")]
    Surrogate {
        /// The index of the surrogate, in characters.
        at: usize,
    },

    /// An id that is too large for the type that was asked for.
    #[error("id {0} does not fit into uint16: give dtype=\"uint32\"")]
    IdTooWide(u32),

    /// More ids than a list of lists of ids can count.
    #[error(
        "the texts have more than {0} ids, the maximum of 32-bit offsets: pass large=True, or fewer texts at a time"
    )]
    TooManyIds(usize),

    /// An Arrow array that is not as Arrow's C data interface describes it; says where and how.
    #[error("invalid Arrow array: {0}")]
    BrokenArrow(String),

    /// An Arrow array of a type that is not accepted.
    #[error("the Arrow array {actual}: {wanted}")]
    ArrowType {
        /// Its type, as "is of type …".
        actual: String,
        /// The types that are accepted.
        wanted: &'static str,
    },

    /// A single character that has more tokens than a piece may have.
    #[error(
        "the character at byte {at} alone is {tokens} tokens, more than the {limit} of a piece: raise max_tokens"
    )]
    CharacterTooLong {
        /// The offset of the character in bytes.
        at: usize,
        /// The number of its tokens.
        tokens: usize,
        /// The maximum number of tokens of a piece.
        limit: usize,
    },

    /// A file that cannot be opened or read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },

    /// A file that is no tokenizer: what it is, and what to do.
    #[error("this is {0}")]
    NoTokenizer(&'static str),

    /// A file of a tokenizer whose content cannot be used.
    #[error("{}: {source}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: Box<Error>,
    },

    /// A snapshot from which a run of shards cannot continue.
    #[error(
        "the state of the unfinished run does not match its sources and options: start again in another folder"
    )]
    Snapshot,

    /// A file, or an element of an iterable, whose contents cannot be read: damaged, of another kind, or not
    /// UTF-8.
    #[error("{}: {reason}", path.display())]
    Unread {
        /// The file, or the element.
        path: PathBuf,
        /// What is wrong, after the place of a record or a member, such as `line 3 (byte 40)`.
        reason: String,
    },

    /// The temporary file of counting cannot be written or read.
    #[error(
        "{source}: the temporary file of counting, with {} MB in it so far: free some space, set TMPDIR to a folder that has more, or raise memory_limit",
        written / 1_000_000
    )]
    Spill {
        /// The folder of the temporary file.
        folder: PathBuf,
        /// Bytes that were written before the failure.
        written: u64,
        /// The error of the system.
        source: std::io::Error,
    },

    /// The unique pretokens alone take more than the memory limit.
    #[error(
        "there are {unique} different pretokens, which take {:.1} MB: they may take {:.1} MB, three quarters of memory_limit. Raise it{}",
        *needed as f64 / 1e6,
        *room as f64 / 1e6,
        offered(*offer)
    )]
    TooManyUnique {
        /// How many there are.
        unique: u64,
        /// The bytes that they take.
        needed: u64,
        /// The bytes that they may take.
        room: u64,
        /// A `min_pretoken_count` that would fit, and the number of pretokens that it keeps.
        offer: Option<(u64, u64)>,
    },

    /// An error of a [`crate::pretokenize::Splitter`] that the caller supplied, such as a Python exception.
    #[error(transparent)]
    Splitter(Box<dyn std::error::Error + Send + Sync>),
}

/// What to do about a text that is not UTF-8.
pub const NOT_UTF8_ADVICE: &str = "give errors=\"replace\" to read invalid bytes as U+FFFD";

/// What is wrong with a text that is not UTF-8 at a byte.
pub fn not_utf8(at: u64) -> String {
    format!("not UTF-8 at byte {at}: {NOT_UTF8_ADVICE}")
}

impl Error {
    /// Makes errors of the system those of a file.
    pub(crate) fn io(path: &std::path::Path) -> impl Fn(std::io::Error) -> Error + '_ {
        move |source| Error::Io { path: path.to_owned(), source }
    }
}
