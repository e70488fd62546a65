//! A text in chunks, each with the ids that it is encoded to by itself, in groups of up to [`MAX_GROUP`]. So
//! an edit moves some kilobytes, and finding a place looks at the sums of the groups, then at one group.

use std::iter;

/// Chunks of a group at most.
const MAX_GROUP: usize = 128;

/// How much a stretch of the text has of everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) bytes: usize,
    pub(super) characters: usize,
    pub(super) ids: usize,
}

impl Extent {
    fn add(&mut self, other: Extent) {
        self.bytes += other.bytes;
        self.characters += other.characters;
        self.ids += other.ids;
    }
}

/// A stretch of the text between two cuts.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) text: Vec<u8>,
    pub(super) ids: Vec<u32>,
    characters: usize,
}

impl Chunk {
    pub(super) fn new(text: Vec<u8>, ids: Vec<u32>) -> Self {
        let characters = text.iter().filter(|&&byte| is_first(byte)).count();
        Chunk { text, ids, characters }
    }

    fn extent(&self) -> Extent {
        Extent { bytes: self.text.len(), characters: self.characters, ids: self.ids.len() }
    }

    /// The byte at which a character begins; the end for the number of characters.
    fn byte_of(&self, character: usize) -> usize {
        if self.characters == self.text.len() {
            return character;
        }
        let mut firsts = (0..self.text.len()).filter(|&at| is_first(self.text[at]));
        firsts.nth(character).unwrap_or(self.text.len())
    }
}

/// Whether a byte of UTF-8 is the first of its character.
fn is_first(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

#[derive(Debug, Default)]
struct Group {
    chunks: Vec<Chunk>,
    extent: Extent,
}

/// A chunk by its place, with all that is before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkPlace {
    group: usize,
    chunk: usize,
    pub(super) before: Extent,
}

/// The chunks of a text. There is always one; that of an empty text is empty.
#[derive(Debug)]
pub(super) struct Rope {
    groups: Vec<Group>,
    total: Extent,
}

impl Rope {
    pub(super) fn new() -> Self {
        let group = Group { chunks: vec![Chunk::default()], extent: Extent::default() };
        Rope { groups: vec![group], total: Extent::default() }
    }

    pub(super) fn total(&self) -> Extent {
        self.total
    }

    pub(super) fn first(&self) -> ChunkPlace {
        ChunkPlace { group: 0, chunk: 0, before: Extent::default() }
    }

    /// The chunk that has byte `at` of the text; the last chunk for places beyond the end.
    pub(super) fn at_byte(&self, at: usize) -> ChunkPlace {
        self.place(|before| before.bytes <= at)
    }

    /// The chunk that has an id; the last chunk for places beyond the end.
    pub(super) fn at_id(&self, at: usize) -> ChunkPlace {
        self.place(|before| before.ids <= at)
    }

    /// The byte at which a character of the text begins; the end for the number of characters.
    pub(super) fn byte_of(&self, character: usize) -> usize {
        let place = self.place(|before| before.characters <= character);
        place.before.bytes + self.chunk(place).byte_of(character - place.before.characters)
    }

    /// The last chunk that has so much before it that `reaches` is true.
    fn place(&self, reaches: impl Fn(Extent) -> bool) -> ChunkPlace {
        let mut place = self.first();
        while place.group + 1 < self.groups.len() {
            let mut after = place.before;
            after.add(self.groups[place.group].extent);
            if !reaches(after) {
                break;
            }
            (place.group, place.before) = (place.group + 1, after);
        }
        let chunks = &self.groups[place.group].chunks;
        while place.chunk + 1 < chunks.len() {
            let mut after = place.before;
            after.add(chunks[place.chunk].extent());
            if !reaches(after) {
                break;
            }
            (place.chunk, place.before) = (place.chunk + 1, after);
        }
        place
    }

    pub(super) fn chunk(&self, place: ChunkPlace) -> &Chunk {
        &self.groups[place.group].chunks[place.chunk]
    }

    pub(super) fn next(&self, place: ChunkPlace) -> Option<ChunkPlace> {
        let mut before = place.before;
        before.add(self.chunk(place).extent());
        if place.chunk + 1 < self.groups[place.group].chunks.len() {
            return Some(ChunkPlace { chunk: place.chunk + 1, before, ..place });
        }
        (place.group + 1 < self.groups.len()).then(|| ChunkPlace { group: place.group + 1, chunk: 0, before })
    }

    pub(super) fn previous(&self, place: ChunkPlace) -> Option<ChunkPlace> {
        place.before.bytes.checked_sub(1).map(|byte| self.at_byte(byte))
    }

    /// The chunks from `first` on.
    pub(super) fn chunks_from(&self, first: ChunkPlace) -> impl Iterator<Item = &Chunk> + Clone {
        iter::successors(Some(first), |place| self.next(*place)).map(|place| self.chunk(place))
    }

    /// The chunks from `first` to `last`, both included.
    pub(super) fn chunks_between(
        &self,
        first: ChunkPlace,
        last: ChunkPlace,
    ) -> impl Iterator<Item = &Chunk> + Clone {
        let within = move |place: &ChunkPlace| (place.group, place.chunk) <= (last.group, last.chunk);
        let places = iter::successors(Some(first), |place| self.next(*place)).take_while(within);
        places.map(|place| self.chunk(place))
    }

    /// The chunks from the last to the first.
    pub(super) fn chunks_backward(&self) -> impl Iterator<Item = &Chunk> {
        self.groups.iter().rev().flat_map(|group| group.chunks.iter().rev())
    }

    /// Replaces the chunks from `first` to `last`, both included, by others. These are not empty, but for the
    /// one of an empty text.
    pub(super) fn splice(&mut self, first: ChunkPlace, last: ChunkPlace, chunks: Vec<Chunk>) {
        let mut tail = self.groups[last.group].chunks.split_off(last.chunk + 1);
        let mut all = std::mem::take(&mut self.groups[first.group].chunks);
        all.truncate(first.chunk);
        all.extend(chunks);
        all.append(&mut tail);
        let count = all.len().div_ceil(MAX_GROUP).max(1);
        let size = all.len().div_ceil(count).max(1);
        let mut groups = Vec::with_capacity(count);
        while !all.is_empty() {
            let tail = all.split_off(size.min(all.len()));
            let mut group = Group { chunks: std::mem::replace(&mut all, tail), extent: Extent::default() };
            group.chunks.iter().for_each(|chunk| group.extent.add(chunk.extent()));
            groups.push(group);
        }
        self.groups.splice(first.group..=last.group, groups);
        self.total = Extent::default();
        self.groups.iter().for_each(|group| self.total.add(group.extent));
    }
}
