// Byte pair encoding of one pretoken: the pair of neighbours with the lowest rank merges first, of equal ones the
// leftmost, until no pair merges. Bytes are binary strings here: characters below U+0100.

/** In a number of the heap, the rank stands above the place of a pair. Places are below this. */
const PLACES = 2 ** 30;

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
 * Returns the tokens that the bytes of a pretoken merge to, as binary strings. `rankOf(start, middle, end)` is the
 * rank of the pair on both sides of `middle`, undefined if it does not merge. Time: n log n.
 */
export function mergeBytes(bytes, rankOf) {
  const count = bytes.length;
  const ends = Int32Array.from({ length: count }, (_, i) => i + 1); // of the part that begins here
  const starts = Int32Array.from({ length: count + 1 }, (_, i) => i - 1); // of the part that ends here
  const ranks = new Array(count); // of the part that begins here and the next one
  const waiting = new Heap();
  const look = (start) => {
    const middle = ends[start];
    const rank = middle < count ? rankOf(start, middle, ends[middle]) : undefined;
    ranks[start] = rank;
    if (rank !== undefined) waiting.push(rank * PLACES + start);
  };
  for (let start = 0; start < count; start++) look(start);
  for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
    const [rank, start] = [Math.floor(number / PLACES), number % PLACES];
    if (ranks[start] !== rank) continue; // the pair has changed since it was put there
    const middle = ends[start];
    const end = ends[middle];
    [ends[start], starts[end], ranks[middle]] = [end, start, undefined];
    look(start);
    if (start > 0) look(starts[start]);
  }
  const tokens = [];
  for (let start = 0; start < count; start = ends[start]) tokens.push(bytes.slice(start, ends[start]));
  return tokens;
}
