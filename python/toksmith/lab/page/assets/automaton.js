// Finds the matches of a pattern: runs the automaton that the core of toksmith made of it.

const CODE_POINTS = 0x110000;
/** Of places whose search was in vain, one is kept for each 64 characters: 2 to this power. */
const BLOCK_BITS = 6;

export class Automaton {
  constructor([firsts, classes, symbols, transitions]) {
    this.symbols = symbols;
    this.transitions = transitions;
    this.classOf = new Uint8Array(CODE_POINTS);
    firsts.forEach((first, i) => this.classOf.fill(classes[i], first, firsts[i + 1] ?? CODE_POINTS));
  }

  /** Calls `onMatch(start, end)` for each match in `text` from `start` to `end`, as if nothing were around that. */
  findAll(text, start, end, onMatch) {
    const search = new Search(this, text, end);
    let at = start;
    while (at < end) {
      const found = search.endOfMatch(at);
      if (found > at) {
        onMatch(at, found);
        at = found;
      } else {
        at += text.codePointAt(at) > 0xffff ? 2 : 1;
      }
    }
  }
}

/** The search in one text. Its time is linear in the text, whatever the pattern. */
class Search {
  constructor(automaton, text, end) {
    this.automaton = automaton;
    this.text = text;
    this.end = end;
    /** States at places from which no end of a match can be reached, as numbers: see `endOfMatch`. */
    this.dead = new Set();
  }

  /** Returns the end of the match that begins at `start`, or -1 if none does. */
  endOfMatch(start) {
    const { text, end, dead } = this;
    const { symbols, transitions, classOf } = this.automaton;
    let at = start;
    let row = 0;
    let last = -1;
    let passed = [];
    for (;;) {
      let width = 0;
      let symbol = symbols - 1; // the end of the text
      if (at < end) {
        const codePoint = text.codePointAt(at);
        width = codePoint > 0xffff ? 2 : 1;
        symbol = classOf[codePoint];
      }
      const transition = transitions[row + symbol];
      if (transition & 1) {
        last = at;
        if (passed.length > 0) passed = [];
      }
      if (transition < 2 || width === 0) break;
      row = ((transition >>> 1) - 1) * symbols;
      if (at >> BLOCK_BITS !== (at + width) >> BLOCK_BITS) {
        // The search may come here again from a later start; what it finds then is the same.
        const place = (at + width) * transitions.length + row;
        if (dead.has(place)) break;
        passed.push(place);
      }
      at += width;
    }
    for (const place of passed) dead.add(place);
    return last;
  }
}
