//! Where values of JSON end, block by block, without reading them.

/// Finds the end of a value of JSON.
#[derive(Default)]
pub(super) struct Scan {
    pub(super) depth: u64,
    pub(super) in_string: bool,
    after_backslash: bool,
}

impl Scan {
    /// The bytes of a block before the first one outside of strings at which `is_end` says so, given the
    /// brackets that are open there.
    pub(super) fn len(&mut self, block: &[u8], is_end: impl Fn(u64, u8) -> bool) -> usize {
        let mut at = 0;
        while at < block.len() {
            if self.after_backslash {
                self.after_backslash = false;
            } else if self.in_string {
                let Some(next) = memchr::memchr2(b'"', b'\\', &block[at..]) else { return block.len() };
                at += next;
                (self.in_string, self.after_backslash) = (block[at] == b'\\', block[at] == b'\\');
            } else if is_end(self.depth, block[at]) {
                return at;
            } else {
                match block[at] {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
            }
            at += 1;
        }
        block.len()
    }
}
