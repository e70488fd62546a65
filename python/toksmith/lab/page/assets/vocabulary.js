// The tokens of a tokenizer, and which pairs of them merge. A token is known by its index: its place among all ordinary
// tokens in the order of their ids.

import { sumSteps } from "./unpack.js";

const NONE = -1;

/** The bytes of all tokens: one behind the other, with where each begins. */
class TokenBytes {
  constructor(count, literal, literalLengths, literalBytes, merges) {
    const lengths = new Uint32Array(count);
    literal.forEach((index, i) => (lengths[index] = literalLengths[i]));
    const makes = new Uint8Array(merges.count); // whether a merge spells its result: not if that is spelled already
    for (let rank = 0; rank < merges.count; rank++) {
      const result = merges.result[rank];
      makes[rank] = lengths[result] === 0 ? 1 : 0;
      if (makes[rank]) lengths[result] = lengths[merges.left[rank]] + lengths[merges.right[rank]];
    }
    this.starts = new Uint32Array(count + 1);
    for (let i = 0; i < count; i++) this.starts[i + 1] = this.starts[i] + lengths[i];
    this.bytes = new Uint8Array(this.starts[count]);
    this.longest = lengths.reduce((longest, length) => Math.max(longest, length), 0);
    let at = 0;
    literal.forEach((index, i) => {
      this.bytes.set(literalBytes.subarray(at, at + literalLengths[i]), this.starts[index]);
      at += literalLengths[i];
    });
    for (let rank = 0; rank < merges.count; rank++) {
      if (makes[rank]) this.#join(merges.left[rank], merges.right[rank], merges.result[rank]);
    }
  }

  #join(left, right, result) {
    const { bytes, starts } = this;
    bytes.copyWithin(starts[result], starts[left], starts[left + 1]);
    bytes.copyWithin(starts[result] + starts[left + 1] - starts[left], starts[right], starts[right + 1]);
  }

  at(index) {
    return this.bytes.subarray(this.starts[index], this.starts[index + 1]);
  }
}

/** Returns the number of slots of a table for `count` entries: a power of two, at least twice as many. */
function slotsFor(count) {
  return 2 ** Math.ceil(Math.log2(2 * count + 2));
}

/** Returns a hash of the bytes from `start` to `end`, 32 bits. */
export function hashOf(bytes, start, end) {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return hash ^ (hash >>> 15);
}

/** Finds tokens by their bytes. */
class TokenTable {
  constructor(tokens, count) {
    this.tokens = tokens;
    this.slots = new Int32Array(slotsFor(count)).fill(NONE);
    for (let index = 0; index < count; index++) {
      const start = tokens.starts[index];
      const end = tokens.starts[index + 1];
      let slot = this.#firstSlot(tokens.bytes, start, end);
      while (this.slots[slot] !== NONE) slot = (slot + 1) & (this.slots.length - 1);
      if (start < end) this.slots[slot] = index;
    }
  }

  #firstSlot(bytes, start, end) {
    return hashOf(bytes, start, end) & (this.slots.length - 1);
  }

  /** Returns the index of the token that is `bytes` from `start` to `end`, or -1. */
  find(bytes, start, end) {
    const { starts, bytes: spelled, longest } = this.tokens;
    const length = end - start;
    if (length > longest) return NONE;
    let slot = this.#firstSlot(bytes, start, end);
    for (;;) {
      const index = this.slots[slot];
      if (index === NONE) return NONE;
      const first = starts[index];
      if (starts[index + 1] - first === length) {
        let same = 0;
        while (same < length && spelled[first + same] === bytes[start + same]) same++;
        if (same === length) return index;
      }
      slot = (slot + 1) & (this.slots.length - 1);
    }
  }
}

/** Finds the merge of two tokens. */
class PairTable {
  constructor(merges) {
    this.merges = merges;
    this.slots = new Int32Array(slotsFor(merges.count)).fill(NONE);
    for (let rank = 0; rank < merges.count; rank++) {
      let slot = this.#firstSlot(merges.left[rank], merges.right[rank]);
      while (this.slots[slot] !== NONE) slot = (slot + 1) & (this.slots.length - 1);
      this.slots[slot] = rank;
    }
  }

  #firstSlot(left, right) {
    const hash = Math.imul(Math.imul(left, 0x9e3779b1) ^ right, 0x85ebca6b);
    return (hash ^ (hash >>> 15)) & (this.slots.length - 1);
  }

  find(left, right) {
    const { left: lefts, right: rights } = this.merges;
    let slot = this.#firstSlot(left, right);
    for (;;) {
      const rank = this.slots[slot];
      if (rank === NONE || (lefts[rank] === left && rights[rank] === right)) return rank;
      slot = (slot + 1) & (this.slots.length - 1);
    }
  }
}

export class Vocabulary {
  /**
   * `columns` are those of `vocabulary.py`. With `isRanks` any two neighbours merge whose bytes are a token, the one
   * with the lowest id first; else only the listed pairs do, in the order of the list.
   */
  constructor(columns, isRanks) {
    const [ids, literal, literalLengths, literalBytes, left, right, result] = columns;
    const merges = { count: left.length, left, right, result: sumSteps(result) };
    this.ids = sumSteps(ids);
    this.tokens = new TokenBytes(this.ids.length, sumSteps(literal), literalLengths, literalBytes, merges);
    this.table = new TokenTable(this.tokens, this.ids.length);
    this.results = isRanks ? null : merges.result;
    this.pairs = isRanks ? null : new PairTable(merges);
    this.indexOfByte = Int32Array.from({ length: 256 }, (_, byte) => this.table.find([byte], 0, 1));
  }

  /**
   * Returns the rank at which the tokens `left` and `right` merge, or -1. Together they are `bytes` from `start` to
   * `end`.
   */
  rankOf(left, right, bytes, start, end) {
    return this.pairs === null ? this.table.find(bytes, start, end) : this.pairs.find(left, right);
  }

  /** Returns the token that a merge makes. */
  resultOf(rank) {
    return this.results === null ? rank : this.results[rank];
  }

  /** Returns the bytes of an ordinary token. */
  bytesOf(id) {
    const { ids } = this;
    let [low, high] = [0, Math.min(id, ids.length - 1)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (ids[middle] <= id) low = middle;
      else high = middle - 1;
    }
    return this.tokens.at(low);
  }

  /** Returns a rank as people know it: the place in the list of merges, or the id. */
  shownRank(rank) {
    return this.results === null ? this.ids[rank] : rank;
  }
}
