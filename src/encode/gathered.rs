//! The ids of a long text, gathered in memory that is asked for once.

/// Ids of a text so far, and how much of it they are: enough to tell how many there will be.
pub(super) struct Gathered {
    pub(super) ids: Vec<u32>,
    /// How much of the text is done, and how much it is, in any unit.
    done: usize,
    total: usize,
}

impl Gathered {
    /// None yet.
    pub(super) fn new(total: usize) -> Self {
        Gathered { ids: Vec::new(), done: 0, total }
    }

    /// So much more of the text is done: its ids were added. Makes room for those of the rest.
    ///
    /// In pages of the usual size: large ones are quicker where the machine has them at hand, and four times slower
    /// where a virtual machine must first be given the memory.
    pub(super) fn done(&mut self, more: usize) {
        self.done += more;
        let rest = self.total.saturating_sub(self.done);
        let expected = self.ids.len() as f64 / self.done.max(1) as f64 * rest as f64;
        // A twentieth more than at this rate, so that it is seldom asked for again.
        let room = expected as usize + expected as usize / 20;
        if self.ids.capacity() - self.ids.len() < expected as usize {
            self.ids.reserve_exact(room + 1024);
        }
    }

    /// The ids, without the room that was not needed.
    pub(super) fn finish(mut self) -> Vec<u32> {
        self.ids.shrink_to_fit();
        self.ids
    }
}
