// A tokenizer: text to ids.

import { Automaton } from "./automaton.js";
import { Before } from "./before.js";
import { mergeBytes } from "./merging.js";
import { Step } from "./normalizing.js";
import { Preparation } from "./preparing.js";
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

export class Tokenizer {
  constructor(description, vocabulary, stages, steps) {
    this.name = description.name;
    this.vocabulary = vocabulary;
    this.stages = stages;
    /** Whether a pretoken that is a token is not merged. */
    this.wholes = description.wholes;
    const added = description.added.map((token) => ({ foundBy: token.content, ...token }));
    this.preparation = new Preparation(added, steps, description.prefix);
    this.nameOfAdded = new Map(added.map(({ content, id }) => [id, content]));
    this.specialIds = new Set(added.filter((token) => token.isSpecial).map(({ id }) => id));
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
    const steps = description.steps.map((step) => block(step.table, (columns) => new Step(columns, step)));
    return new Tokenizer(description, await vocabulary, await Promise.all(stages), await Promise.all(steps));
  }

  /**
   * Returns what is made of a well-formed text, in which special tokens count where there is `trust`: the `text` that is
   * cut, which a normalizer may have changed, with `starts` and `ends` as `Preparation.prepare` has them, and its
   * `pieces`, the pretokens and added tokens in order, each with `start` and `end` in that text, its `ids` and whether it
   * `isAdded`. Text that the pattern drops is in none.
   */
  encode(original, trust) {
    const pieces = [];
    const { text, stretches, starts, ends } = this.preparation.prepare(original, trust);
    const before = new Before(this.last.pieces, this.last.text, text);
    for (const { start, end, token } of stretches) {
      if (token === undefined) this.#encodeOrdinary(text, start, end, before, pieces);
      else pieces.push({ start, end, ids: [token.id], isAdded: true });
    }
    this.last = { text, pieces };
    return { text, starts, ends, pieces };
  }

  #encodeOrdinary(text, start, end, before, pieces) {
    const cuts = cutInStages(this.stages, text, start, end);
    for (let i = 0; i < cuts.length; i += 2) {
      const ids = before.idsOf(cuts[i], cuts[i + 1]) ?? this.#idsOf(text.slice(cuts[i], cuts[i + 1]));
      pieces.push({ start: cuts[i], end: cuts[i + 1], ids, isAdded: false });
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
   * one begins, where it ends, and the rank. With `isWhole` it is a token that stands for itself without merging.
   */
  explain(pretoken) {
    const bytes = encoder.encode(pretoken);
    const isWhole = this.#wholeToken(bytes) >= 0;
    const merges = [];
    mergeBytes(this.vocabulary, bytes, (start, middle, end, rank) => {
      merges.push({ start, middle, end, rank: this.vocabulary.shownRank(rank) });
    });
    return { bytes, isWhole, merges };
  }

  /** Returns the bytes of a token. */
  bytesOf(id) {
    const name = this.nameOfAdded.get(id);
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
