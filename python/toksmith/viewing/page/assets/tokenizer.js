// A tokenizer: text to ids.

import { Automaton } from "./automaton.js";
import { Before } from "./before.js";
import { mergeBytes } from "./merging.js";
import { cutInStages } from "./stages.js";
import { unpackBlock } from "./unpack.js";
import { Vocabulary } from "./vocabulary.js";

/** Pretokens whose ids are kept, at most. */
const MAX_KNOWN = 200_000;
export const encoder = new TextEncoder();

/** Returns `text` with U+FFFD in place of each lone surrogate: these have no UTF-8. */
export function wellFormed(text) {
  return text.replace(/[\ud800-\udfff]/gu, "\ufffd");
}

/** Finds special tokens: of overlapping ones the leftmost, of several at one place the longest. */
class SpecialTokens {
  constructor(special) {
    this.ids = new Map(special);
    this.byFirst = new Map();
    const firsts = special.map(([name]) => name[0].replace(/[\\\]^-]/, "\\$&")).join("");
    this.anyFirst = new RegExp(`[${firsts}]`, "g");
    for (const [name] of [...special].sort(([one], [two]) => two.length - one.length)) {
      const known = this.byFirst.get(name[0]);
      if (known === undefined) this.byFirst.set(name[0], [name]);
      else known.push(name);
    }
  }

  /** Calls `onFound(name, start)` for each special token in `text`. */
  findAll(text, onFound) {
    const { anyFirst } = this;
    anyFirst.lastIndex = 0;
    for (let found = anyFirst.exec(text); found !== null; found = anyFirst.exec(text)) {
      const name = this.byFirst.get(found[0]).find((name) => text.startsWith(name, found.index));
      if (name === undefined) continue;
      onFound(name, found.index);
      anyFirst.lastIndex = found.index + name.length;
    }
  }
}

export class Tokenizer {
  constructor(description, vocabulary, stages) {
    this.name = description.name;
    this.vocabulary = vocabulary;
    this.stages = stages;
    /** Whether a pretoken that is a token is not merged. */
    this.wholes = description.wholes;
    this.special = new SpecialTokens(description.special);
    this.nameOfSpecial = new Map(description.special.map(([name, id]) => [id, name]));
    this.known = new Map();
    this.last = { text: "", pieces: [] };
  }

  /** Unpacks a tokenizer of the page. `blocks` keeps what several tokenizers have in common. */
  static async load(description, blocks) {
    const block = (number, make) => {
      const key = `${number} ${description.ranks}`;
      if (!blocks.has(key)) blocks.set(key, unpackBlock(number).then(make));
      return blocks.get(key);
    };
    const vocabulary = block(description.vocabulary, (columns) => new Vocabulary(columns, description.ranks));
    const stages = description.stages.map(async (stage) => ({
      ...stage,
      automaton: await block(stage.automaton, (columns) => new Automaton(columns)),
    }));
    return new Tokenizer(description, await vocabulary, await Promise.all(stages));
  }

  /**
   * Returns the pretokens and special tokens of a well-formed text, in order, each with `start` and `end` in the text,
   * its `ids` and whether it `isSpecial`. Text that the pattern drops is in none.
   */
  encode(text, readsSpecial) {
    const pieces = [];
    const before = new Before(this.last.pieces, this.last.text, text);
    let at = 0;
    if (readsSpecial) {
      this.special.findAll(text, (name, start) => {
        this.#encodeOrdinary(text, at, start, before, pieces);
        at = start + name.length;
        pieces.push({ start, end: at, ids: [this.special.ids.get(name)], isSpecial: true });
      });
    }
    this.#encodeOrdinary(text, at, text.length, before, pieces);
    this.last = { text, pieces };
    return pieces;
  }

  #encodeOrdinary(text, start, end, before, pieces) {
    const cuts = cutInStages(this.stages, text, start, end);
    for (let i = 0; i < cuts.length; i += 2) {
      const ids = before.idsOf(cuts[i], cuts[i + 1]) ?? this.#idsOf(text.slice(cuts[i], cuts[i + 1]));
      pieces.push({ start: cuts[i], end: cuts[i + 1], ids, isSpecial: false });
    }
  }

  /** Returns the ids of a pretoken. */
  #idsOf(pretoken) {
    let ids = this.known.get(pretoken);
    if (ids === undefined) {
      const bytes = encoder.encode(pretoken);
      const whole = this.#wholeToken(bytes);
      const tokens = whole < 0 ? mergeBytes(this.vocabulary, bytes) : [whole];
      ids = tokens.map((index) => this.vocabulary.ids[index]);
      if (this.known.size >= MAX_KNOWN) this.known.clear();
      this.known.set(pretoken, ids);
    }
    return ids;
  }

  #wholeToken(bytes) {
    return this.wholes ? this.vocabulary.table.find(bytes, 0, bytes.length) : -1;
  }

  /**
   * Returns how the `bytes` of a pretoken merge: a list of merges, each with where its two parts begin, where the right
   * one begins, where it ends, and the rank. None, and `isWhole`, if it is a token that stands for itself.
   */
  explain(pretoken) {
    const bytes = encoder.encode(pretoken);
    const isWhole = this.#wholeToken(bytes) >= 0;
    const merges = [];
    if (!isWhole) {
      mergeBytes(this.vocabulary, bytes, (start, middle, end, rank) => {
        merges.push({ start, middle, end, rank: this.vocabulary.shownRank(rank) });
      });
    }
    return { bytes, isWhole, merges };
  }

  /** Returns the bytes of a token. */
  bytesOf(id) {
    const name = this.nameOfSpecial.get(id);
    return name === undefined ? this.vocabulary.bytesOf(id) : encoder.encode(name);
  }
}

/** The pieces of a pretoken after any number of its merges. */
export class Pieces {
  constructor(bytes, merges) {
    this.bytes = bytes;
    /** For each place, how many merges are done when the cut there is gone. */
    this.goneAfter = new Float64Array(bytes.length).fill(Infinity);
    merges.forEach((merge, i) => (this.goneAfter[merge.middle] = i + 1));
  }

  /** Returns the first pieces after `count` merges, `most` of them at most. */
  after(count, most) {
    const { bytes, goneAfter } = this;
    const pieces = [];
    for (let start = 0; start < bytes.length && pieces.length < most; ) {
      let end = start + 1;
      while (end < bytes.length && goneAfter[end] <= count) end++;
      pieces.push(bytes.subarray(start, end));
      start = end;
    }
    return pieces;
  }
}
