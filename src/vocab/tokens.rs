//! Ids → bytes, in one allocation, for dense and for sparse ids.

/// Ids with their bytes, by ascending id.
#[derive(Clone, Debug, Default)]
pub struct TokenBytes {
    ids: Vec<u32>,
    /// `starts[i]..starts[i + 1]` are the bytes of `ids[i]`.
    starts: Vec<usize>,
    bytes: Vec<u8>,
    /// id → index + 1, where ids are dense enough for a table (0: no such id).
    index: Option<Vec<u32>>,
}

/// A table may be this many times larger than the tokens it holds, beyond a free allowance.
const SPARSE: usize = 8;
const FREE: usize = 1 << 16;

impl TokenBytes {
    /// From ids in ascending order, each once.
    pub(super) fn new(tokens: &[(u32, &[u8])]) -> Self {
        let mut all = TokenBytes { starts: vec![0], ..Self::default() };
        for (id, bytes) in tokens {
            all.ids.push(*id);
            all.bytes.extend_from_slice(bytes);
            all.starts.push(all.bytes.len());
        }
        all.index = all.table();
        all
    }

    fn table(&self) -> Option<Vec<u32>> {
        let size = *self.ids.last()? as usize + 1;
        if size > SPARSE * self.ids.len() + FREE {
            return None;
        }
        let mut table = vec![0; size];
        for (index, &id) in self.ids.iter().enumerate() {
            table[id as usize] = index as u32 + 1;
        }
        Some(table)
    }

    /// The bytes of a token, if there is one of this id.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&[u8]> {
        let index = match &self.index {
            Some(table) => (*table.get(id as usize)?).checked_sub(1)? as usize,
            None => self.ids.binary_search(&id).ok()?,
        };
        Some(&self.bytes[self.starts[index]..self.starts[index + 1]])
    }

    /// The bytes of the token at `index`, counted by ascending id.
    ///
    /// # Panics
    /// If there are not so many tokens.
    #[inline]
    pub fn bytes_at(&self, index: u32) -> &[u8] {
        let index = index as usize;
        &self.bytes[self.starts[index]..self.starts[index + 1]]
    }

    /// The id of the token at `index`, counted by ascending id.
    ///
    /// # Panics
    /// If there are not so many tokens.
    #[inline]
    pub fn id_at(&self, index: u32) -> u32 {
        self.ids[index as usize]
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The highest id.
    pub fn max_id(&self) -> Option<u32> {
        self.ids.last().copied()
    }

    /// Ids and bytes, by ascending id.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.ids.iter().enumerate().map(|(i, &id)| (id, &self.bytes[self.starts[i]..self.starts[i + 1]]))
    }
}
