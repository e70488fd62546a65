// Where tokens stand in a text: in characters, in bytes, and beside the tokens of another tokenizer.

import { encoder } from "./tokenizer.js";

/**
 * Returns the span in characters of each token of what `tokenizer` has `encoded`, as Python's `encode_with_offsets`:
 * [start, end]. A token that starts inside a character starts at that character, and one that ends inside ends after it.
 * Where the text was changed before it was cut, spans are those of the characters that it comes from.
 */
export function spansOf(tokenizer, original, encoded) {
  const spans = spansInPrepared(tokenizer, encoded);
  if (encoded.starts === undefined) return spans;
  const units = unitsOfCharacters(encoded.text);
  const numbers = [];
  unitsOfCharacters(original).forEach((unit, number) => (numbers[unit] = number));
  return spans.map(([start, end]) => {
    const [first, last] = originOf(encoded, units[start], units[end]);
    return [numbers[first], numbers[last]];
  });
}

/** Returns where the part of the original text begins and ends that a part of the changed one comes from. */
function originOf({ starts, ends }, start, end) {
  return starts === undefined ? [start, end] : [starts[start], ends[end - 1]];
}

/** Returns where the part of the changed text begins and ends that comes from a part of the original one. */
export function placesOf({ text, starts, ends }, start, end) {
  if (starts === undefined || start >= end) return [start, end];
  const first = ends.findIndex((place) => place > start);
  const last = starts.findLastIndex((place) => place < end);
  return first < 0 ? [text.length, text.length] : [first, last + 1];
}

/** Returns where each character starts, and where the last one ends. */
function unitsOfCharacters(text) {
  const units = [];
  let at = 0;
  for (const character of text) {
    units.push(at);
    at += character.length;
  }
  units.push(at);
  return units;
}

function spansInPrepared(tokenizer, { text, pieces }) {
  const spans = [];
  let unit = 0;
  let character = 0;
  for (const { start, end, ids, isAdded } of pieces) {
    character += characterCount(text, unit, start);
    const ends = byteEndsOfCharacters(text.slice(start, end));
    if (isAdded) {
      spans.push([character, character + ends.length]);
      character += ends.length;
      unit = end;
      continue;
    }
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

/** Returns where the characters that a token of a piece has a part of begin and end in the original text. */
export function rangeOf(tokenizer, encoded, piece, place) {
  const { text } = encoded;
  if (piece.isAdded) return originOf(encoded, piece.start, piece.end);
  const ends = byteEndsOfTokens(tokenizer, piece);
  const [first, last] = [ends[place - 1] ?? 0, ends[place]];
  let [at, byte, start] = [piece.start, 0, piece.start];
  while (at < piece.end && byte < last) {
    const codePoint = text.codePointAt(at);
    if (byte <= first) start = at;
    byte += byteLength(codePoint);
    at += codePoint > 0xffff ? 2 : 1;
  }
  return originOf(encoded, start, at);
}

/** Returns which tokens of a pretoken have a part of the text from `start` to `end`. */
export function placesIn(tokenizer, text, piece, start, end) {
  if (piece.isAdded) return [0];
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
