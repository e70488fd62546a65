// Text to tokens, each `{ id, start, end }`: where the characters that it has a part of begin and end in the text.

import { Automaton } from "./automaton.js";
import { mergeBytes } from "./merging.js";
import { bytesOf, unpackBlock } from "./unpack.js";

/** Pretokens whose tokens are kept, at most. */
const MAX_KNOWN = 200_000;
/** Stands between the two parts of a pair that merges; no byte is this character. */
const BETWEEN = "\u0100";
const encoder = new TextEncoder();

/** Returns the bytes of a text as a binary string. */
function binaryOf(text) {
  return Array.from(encoder.encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/** The ordinary tokens, and which pairs of them merge: `document.py` says what the content is. */
class Vocabulary {
  constructor([runs, merges]) {
    const tokens = runs.flatMap(([, tokens]) => tokens);
    this.ids = runs.flatMap(([first, tokens]) => tokens.map((_, i) => first + i));
    this.longest = tokens.reduce((longest, token) => Math.max(longest, token.length), 0);
    /** From bytes to the place of their token among all tokens by id. */
    this.places = new Map(tokens.map((token, place) => [token, place]));
    this.bytesById = new Map(tokens.map((token, place) => [this.ids[place], token]));
    /** From two parts to the place of their pair in the list of merges. Without a list, any two merge to a token. */
    this.pairs =
      merges && new Map(merges.map(([left, right], rank) => [`${tokens[left]}${BETWEEN}${tokens[right]}`, rank]));
  }

  idOf(token) {
    return this.ids[this.places.get(token)];
  }

  /** Returns the rank of a pair; undefined if it does not merge. */
  rankOf(bytes, start, middle, end) {
    if (end - start > this.longest) return undefined;
    if (this.pairs === null) return this.places.get(bytes.slice(start, end));
    return this.pairs.get(`${bytes.slice(start, middle)}${BETWEEN}${bytes.slice(middle, end)}`);
  }
}

/** Returns the pattern of some names, of which the longest wins at each place; null without any. */
function anyOf(names) {
  if (names.length === 0) return null;
  const longestFirst = [...names].sort((one, two) => two.length - one.length);
  return new RegExp(longestFirst.map((name) => name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|"), "gu");
}

/** A tokenizer that runs in the page. */
export class LiveTokenizer {
  constructor(description, vocabulary, automaton) {
    this.name = description.name;
    this.isLive = true;
    this.vocabulary = vocabulary;
    this.automaton = automaton;
    /** Whether text that the pattern does not match is dropped; whether a pretoken that is a token is not merged. */
    this.drops = description.drops;
    this.wholes = description.wholes;
    this.special = new Map(Object.entries(description.special));
    this.specialNames = new Map([...this.special].map(([name, id]) => [id, name]));
    this.anySpecial = anyOf([...this.special.keys()]);
    this.known = new Map();
  }

  /** Unpacks a tokenizer of the page. `blocks` keeps what several tokenizers have in common. */
  static async load(description, blocks) {
    const block = (number, kind) => {
      if (!blocks.has(number)) blocks.set(number, unpackBlock(number).then((content) => new kind(content)));
      return blocks.get(number);
    };
    const tokens = block(description.vocabulary, Vocabulary);
    const found = description.automaton === null ? null : block(description.automaton, Automaton);
    return new LiveTokenizer(description, await tokens, await found);
  }

  isSpecial(id) {
    return this.specialNames.has(id);
  }

  /** Returns the tokens of a well-formed text. Text that the pattern drops is in none. */
  encode(text, readsSpecial) {
    const tokens = [];
    let at = 0;
    for (const match of readsSpecial && this.anySpecial !== null ? text.matchAll(this.anySpecial) : []) {
      const end = match.index + match[0].length;
      this.#encodeOrdinary(text, at, match.index, tokens);
      tokens.push({ id: this.special.get(match[0]), start: match.index, end });
      at = end;
    }
    this.#encodeOrdinary(text, at, text.length, tokens);
    return tokens;
  }

  #encodeOrdinary(text, start, end, tokens) {
    const add = (first, last) => {
      for (const { id, start, end } of this.#tokensOf(text.slice(first, last))) {
        tokens.push({ id, start: first + start, end: first + end });
      }
    };
    let at = start;
    this.automaton?.findAll(text, start, end, (first, last) => {
      if (!this.drops && first > at) add(at, first);
      add(first, last);
      at = last;
    });
    if (!this.drops && at < end) add(at, end);
  }

  /** Returns the tokens of a pretoken: ids, and places in it. */
  #tokensOf(pretoken) {
    let tokens = this.known.get(pretoken);
    if (tokens === undefined) {
      const spelled = this.#spelled(binaryOf(pretoken));
      const places = placesOf(pretoken, spelled);
      tokens = spelled.map((token, i) => ({ id: this.vocabulary.idOf(token), ...places[i] }));
      if (this.known.size >= MAX_KNOWN) this.known.clear();
      this.known.set(pretoken, tokens);
    }
    return tokens;
  }

  /** Returns the tokens of the bytes of a pretoken. */
  #spelled(bytes) {
    if (this.wholes && this.vocabulary.places.has(bytes)) return [bytes];
    return mergeBytes(bytes, (start, middle, end) => this.vocabulary.rankOf(bytes, start, middle, end));
  }

  /** Returns the bytes of a token. */
  bytesOf(id) {
    const name = this.specialNames.get(id);
    return name === undefined ? bytesOf(this.vocabulary.bytesById.get(id)) : encoder.encode(name);
  }
}

/** A tokenizer that does not run in the page: Python has computed its tokens for the page's own texts. */
export class ComputedTokenizer {
  constructor(description, texts) {
    this.name = description.name;
    this.isLive = this.drops = false;
    this.texts = texts;
    this.encodings = description.encodings;
    this.bytesById = new Map(Object.entries(description.bytes).map(([id, bytes]) => [Number(id), bytesOf(bytes)]));
    this.specialIds = new Set(description.special);
  }

  isSpecial(id) {
    return this.specialIds.has(id);
  }

  /** Returns the tokens of a text; null for one that Python has not encoded. */
  encode(text, readsSpecial) {
    const ofText = this.encodings.filter((one) => this.texts[one.text].text === text);
    const found = ofText.find((one) => one.readsSpecial === readsSpecial) ?? ofText[0];
    if (found === undefined) return null;
    const { ids, starts, ends } = found;
    return ids.map((id, i) => ({ id, start: starts[i], end: ends[i] }));
  }

  bytesOf(id) {
    return this.bytesById.get(id);
  }
}

/** Returns where the characters that each token of a text has a part of begin and end. */
function placesOf(text, tokens) {
  const [starts, ends] = [[], []]; // of the character that each byte is of
  let unit = 0;
  for (const character of text) {
    for (let size = byteLength(character); size > 0; size--) {
      starts.push(unit);
      ends.push(unit + character.length);
    }
    unit += character.length;
  }
  let byte = 0;
  return tokens.map((token) => {
    const start = starts[byte];
    byte += token.length;
    return { start, end: ends[byte - 1] };
  });
}

/** Returns how many bytes a character has in UTF-8. */
function byteLength(character) {
  const codePoint = character.codePointAt(0);
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}
