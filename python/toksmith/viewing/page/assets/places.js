// Where tokens stand in a text: in characters, in bytes, and beside the tokens of another tokenizer.

import { encoder } from "./tokenizer.js";

/**
 * Returns the span in characters of each token of `pieces`, as Python's `encode_with_offsets`: [start, end]. A token
 * that starts inside a character starts at that character, and one that ends inside ends after it.
 */
export function spansOf(tokenizer, text, pieces) {
  const spans = [];
  let unit = 0;
  let character = 0;
  for (const { start, end, ids } of pieces) {
    character += characterCount(text, unit, start);
    const ends = byteEndsOfCharacters(text.slice(start, end));
    let byte = 0;
    let first = 0; // the first character that does not end at or before `byte`
    for (const id of ids) {
      byte += tokenizer.bytesOf(id).length;
      let last = first;
      while (last < ends.length && ends[last] < byte) last++;
      spans.push([character + first, character + last + 1]);
      first = ends[last] === byte ? last + 1 : last;
    }
    character += ends.length;
    unit = end;
  }
  return spans;
}

/** Returns where the characters that a token of a pretoken has a part of begin and end in the text: [start, end]. */
export function rangeOf(tokenizer, text, piece, place) {
  const ends = byteEndsOfTokens(tokenizer, piece);
  const [first, last] = [ends[place - 1] ?? 0, ends[place]];
  let [at, byte, start] = [piece.start, 0, piece.start];
  while (at < piece.end && byte < last) {
    const codePoint = text.codePointAt(at);
    if (byte <= first) start = at;
    byte += byteLength(codePoint);
    at += codePoint > 0xffff ? 2 : 1;
  }
  return [start, at];
}

/** Returns which tokens of a pretoken have a part of the text from `start` to `end`. */
export function placesIn(tokenizer, text, piece, start, end) {
  const inside = (at) => Math.min(Math.max(at, piece.start), piece.end);
  const bytesTo = (at) => encoder.encode(text.slice(piece.start, inside(at))).length;
  const [first, last] = [bytesTo(start), bytesTo(end)];
  const ends = byteEndsOfTokens(tokenizer, piece);
  return [...ends.keys()].filter((place) => ends[place] > first && (ends[place - 1] ?? 0) < last);
}

/** Returns, for each token of a pretoken, where it ends in its bytes. */
function byteEndsOfTokens(tokenizer, piece) {
  let end = 0;
  return piece.ids.map((id) => (end += tokenizer.bytesOf(id).length));
}

/** Returns how many bytes of a text are in no pretoken: a pattern may drop text that it does not match. */
export function lostBytes(text, pieces) {
  let [lost, at] = [0, 0];
  for (const { start, end } of pieces) {
    if (start > at) lost += encoder.encode(text.slice(at, start)).length;
    at = end;
  }
  return lost + encoder.encode(text.slice(at)).length;
}

/** Returns how many characters there are from one place to another. */
export function characterCount(text, start, end) {
  let count = 0;
  for (let at = start; at < end; at += text.codePointAt(at) > 0xffff ? 2 : 1) count++;
  return count;
}

/** Returns, for each character, where it ends in the bytes of the text. */
function byteEndsOfCharacters(text) {
  const ends = [];
  let bytes = 0;
  for (const character of text) {
    bytes += byteLength(character.codePointAt(0));
    ends.push(bytes);
  }
  return ends;
}

/** Returns how many bytes a character has in UTF-8. */
export function byteLength(codePoint) {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}
