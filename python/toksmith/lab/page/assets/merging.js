// Byte pair encoding of one pretoken: the pair of neighbours with the lowest rank merges first, of equal ones the
// leftmost, until no pair merges.

/** In a number of the heap, the rank stands above the place of a pair. Places are below this. */
const PLACES = 2 ** 30;
const NEVER = -1;

/** Numbers, of which the lowest is taken out first. */
class Heap {
  constructor() {
    this.numbers = [];
  }

  push(number) {
    const { numbers } = this;
    let at = numbers.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (numbers[above] <= number) break;
      numbers[at] = numbers[above];
      at = above;
    }
    numbers[at] = number;
  }

  /** Takes the lowest number out; undefined if there is none. */
  pop() {
    const { numbers } = this;
    const lowest = numbers[0];
    const moved = numbers.pop();
    const count = numbers.length;
    if (count === 0) return lowest;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= count) break;
      if (below + 1 < count && numbers[below + 1] < numbers[below]) below++;
      if (numbers[below] >= moved) break;
      numbers[at] = numbers[below];
      at = below;
    }
    numbers[at] = moved;
    return lowest;
  }
}

/**
 * Merges the bytes of a pretoken. Returns its tokens, as indices. `onMerge`, if given, is called with each merge: where
 * the two begin, where the right one begins, where it ends, and the rank. Time: n log n.
 */
export function mergeBytes(vocabulary, bytes, onMerge) {
  const parts = new Parts(vocabulary, bytes);
  for (let merge = parts.next(); merge !== null; merge = parts.next()) {
    const [start, middle, end, rank] = merge;
    onMerge?.(start, middle, end, rank);
    parts.join(start, middle, end, rank);
  }
  return parts.tokens();
}

/** The parts of a pretoken while it is merged. A part is known by the place of its first byte. */
class Parts {
  constructor(vocabulary, bytes) {
    const count = bytes.length;
    this.vocabulary = vocabulary;
    this.bytes = bytes;
    this.token = Int32Array.from(bytes, (byte) => vocabulary.indexOfByte[byte]);
    /** For each part, where it ends. */
    this.ends = Int32Array.from({ length: count }, (_, i) => i + 1);
    /** For the end of each part, where it starts. */
    this.starts = Int32Array.from({ length: count + 1 }, (_, i) => i - 1);
    /** For each part, the rank at which it merges with the next one. */
    this.ranks = new Int32Array(count).fill(NEVER);
    this.waiting = new Heap();
    for (let start = 0; start + 1 < count; start++) this.#look(start);
  }

  /** Finds the rank of a part and the one behind it. */
  #look(start) {
    const middle = this.ends[start];
    const end = this.ends[middle];
    const rank = this.vocabulary.rankOf(this.token[start], this.token[middle], this.bytes, start, end);
    this.ranks[start] = rank;
    if (rank !== NEVER) this.waiting.push(rank * PLACES + start);
  }

  /** Returns the next merge; null if there is none. */
  next() {
    for (let number = this.waiting.pop(); number !== undefined; number = this.waiting.pop()) {
      const rank = Math.floor(number / PLACES);
      const start = number % PLACES;
      // The pair may have changed since it was put there.
      if (this.ranks[start] !== rank) continue;
      const middle = this.ends[start];
      return [start, middle, this.ends[middle], rank];
    }
    return null;
  }

  join(start, middle, end, rank) {
    this.token[start] = this.vocabulary.resultOf(rank);
    this.ends[start] = end;
    this.starts[end] = start;
    this.ranks[middle] = this.ranks[start] = NEVER;
    if (end < this.bytes.length) this.#look(start);
    if (start > 0) this.#look(this.starts[start]);
  }

  tokens() {
    const tokens = [];
    for (let start = 0; start < this.bytes.length; start = this.ends[start]) tokens.push(this.token[start]);
    return tokens;
  }
}
