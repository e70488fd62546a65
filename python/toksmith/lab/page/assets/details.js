// What is known of one token: its id, its bytes and characters, and how the bytes of its pretoken merge.

import { tintOf } from "./blocks.js";
import { appendMarked, hex } from "./marks.js";
import { counted, shownCount } from "./panel.js";
import { byteLength, characterCount, rangeOf } from "./places.js";
import { Pieces } from "./tokenizer.js";

/** Merges of one pretoken that are shown: of more, the first and the last ones. */
const MAX_MERGES = 100;
/** Pieces of a pretoken that are shown after each merge. */
const MAX_PIECES = 60;
/** Bytes and characters of a token, and bytes of a part, that are shown. */
const MAX_SHOWN = 64;

export class Details {
  constructor(element, onClose) {
    this.element = element;
    this.facts = element.querySelector(".facts");
    this.merges = element.querySelector(".merges");
    this.hint = element.querySelector(".hint");
    this.dock = 0;
    element.querySelector("button").addEventListener("click", onClose);
  }

  /** Shows nothing but how to come to a token. */
  clear() {
    if (!this.hint.hidden) return;
    this.element.classList.remove("open");
    this.facts.replaceChildren();
    this.merges.replaceChildren();
    this.hint.hidden = false;
    this.dock = 0;
    this.#measure();
  }

  /** Shows the facts of a token, and with `withMerges` the merges of its pretoken. */
  show(panel, index, text, withMerges) {
    const { piece, place } = panel.pieceAt(index);
    this.hint.hidden = true;
    this.element.classList.toggle("open", withMerges);
    this.facts.replaceChildren(...factsOf(panel, index, piece, place, text));
    if (withMerges) this.merges.replaceChildren(...mergesOf(panel.tokenizer, piece, panel.encoded.text));
    else this.merges.replaceChildren();
    this.#measure();
  }

  /** What is shown of the merges, in words. */
  get summary() {
    return this.merges.querySelector("caption, p")?.textContent ?? "";
  }

  /** Tells the style how high the details are: nothing of the page ends behind them. Until they close, it only grows. */
  #measure() {
    this.dock = Math.max(this.dock, this.element.offsetHeight);
    document.documentElement.style.setProperty("--dock", `${this.dock}px`);
  }
}

/** Returns an element with a class and content. */
function made(name, className, ...content) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...content);
  return element;
}

function markedElement(name, className, bytes) {
  const element = made(name, className);
  appendMarked(element, bytes, false);
  return element;
}

/** Returns a token, or the beginning of a long one, in a frame. */
function chipOf(bytes, isSpecial = false) {
  const chip = markedElement("span", `chip ${tintOf(bytes, isSpecial)}`, bytes.subarray(0, MAX_SHOWN));
  if (bytes.length > MAX_SHOWN) chip.append("…");
  return chip;
}

function factsOf(panel, index, piece, place, text) {
  const id = piece.ids[place];
  const bytes = panel.tokenizer.bytesOf(id);
  const characters = touchedCharacters(panel.tokenizer, piece, place, panel.encoded.text);
  const fact = (name, ...content) => made("div", "", made("dt", "", name), made("dd", "", ...content));
  const first = characterCount(text, 0, rangeOf(panel.tokenizer, panel.encoded, piece, place)[0]);
  const which = `${shownCount(index + 1)} of ${shownCount(panel.count)} in ${panel.tokenizer.name}`;
  return [
    fact("Token", chipOf(bytes, panel.tokenizer.specialIds.has(id))),
    fact("Id", made("b", "", String(id))),
    fact("Bytes", made("code", "", shownBytes(bytes))),
    fact("Characters", ...characters),
    fact("Place", `${which}, from character ${shownCount(first)}`),
  ];
}

function shownBytes(bytes) {
  const shownOnes = Array.from(bytes.subarray(0, MAX_SHOWN), (byte) => hex(byte, 2)).join(" ");
  return bytes.length > MAX_SHOWN ? `${shownOnes} … ${counted(bytes.length, "byte")}` : shownOnes;
}

/** Returns the characters that a token has a part of, as elements. */
function touchedCharacters(tokenizer, piece, place, text) {
  const lengths = piece.ids.map((id) => tokenizer.bytesOf(id).length);
  const start = lengths.slice(0, place).reduce((sum, length) => sum + length, 0);
  const end = start + lengths[place];
  const elements = [];
  let [at, touched] = [0, 0];
  for (const character of text.slice(piece.start, piece.end)) {
    const size = byteLength(character.codePointAt(0));
    if (at + size > start && at < end && ++touched <= MAX_SHOWN) {
      const [first, last] = [Math.max(start, at) - at, Math.min(end, at + size) - at];
      elements.push(characterElement(character, first, last, size));
    }
    at += size;
  }
  if (touched > MAX_SHOWN) elements.push(`… ${counted(touched, "character")}`);
  return elements;
}

function characterElement(character, first, last, size) {
  const codePoint = character.codePointAt(0);
  const name = made("code", "", `U+${hex(codePoint, 4).toUpperCase()}`);
  const bytes = new TextEncoder().encode(character);
  const element = made("span", "character", markedElement("span", "glyph", bytes), " ", name);
  if (last - first < size) {
    const part = last - first === 1 ? `byte ${first + 1}` : `bytes ${first + 1} to ${last}`;
    element.append(made("span", "part", ` ${part} of ${size}`));
  }
  return element;
}

/** Returns the merges of a pretoken as elements. */
function mergesOf(tokenizer, piece, text) {
  const { bytes, isWhole, merges } = tokenizer.explain(text.slice(piece.start, piece.end));
  const heading = made("h3", "", "How ", chipOf(bytes), " becomes tokens");
  const kind = tokenizer.specialIds.has(piece.ids[0]) ? "a special token" : "an added token";
  const why = piece.isAdded ? whyAdded(kind) : isWhole ? whyWhole(merges, bytes) : whyUnmerged(merges, bytes);
  const notes = why === null ? [] : [made("p", "", why)];
  if (piece.isAdded || merges.length === 0) return [heading, ...notes];
  const table = made("table", "", captionOf(bytes, merges), headOf("Rank", "Pair", "Pieces after the merge"));
  const [body, pieces] = [made("tbody", ""), new Pieces(bytes, merges)];
  merges.forEach((merge, i) => {
    if (merges.length > MAX_MERGES && i === MAX_MERGES / 2) {
      const cell = made("td", "", `… ${counted(merges.length - MAX_MERGES, "more merge")} …`);
      cell.colSpan = 3;
      body.append(made("tr", "", cell));
    }
    if (i < MAX_MERGES / 2 || i >= merges.length - MAX_MERGES / 2) body.append(rowOf(pieces, merges[i], i + 1));
  });
  table.append(body);
  const scroll = made("div", "scroll", table);
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", "Merges");
  return [heading, ...notes, scroll];
}

function whyAdded(kind) {
  return `It is ${kind}: it is found before the text is cut, and never merged.`;
}

function whyWhole(merges, bytes) {
  if (bytes.length === 1) return "It is a token as it stands, so nothing is merged.";
  const same = merges.length === bytes.length - 1 ? "Merging its bytes makes the same" : "Merging does not make it";
  return `It is a token as it stands, so nothing is merged. ${same}.`;
}

function whyUnmerged(merges, bytes) {
  if (merges.length > 0) return null;
  if (bytes.length === 1) return "It is one byte, and every byte is a token.";
  return "No pair in it merges: its bytes are its tokens.";
}

function captionOf(bytes, merges) {
  const sizes = `${counted(merges.length, "merge")} of ${counted(bytes.length, "byte")}`;
  return made("caption", "", `${sizes}, the lowest rank first.`);
}

function headOf(...names) {
  const cells = names.map((name) => {
    const cell = made("th", "", name);
    cell.scope = "col";
    return cell;
  });
  return made("thead", "", made("tr", "", ...cells));
}

/** Returns the row of a merge, the one of this number. */
function rowOf(pieces, { start, middle, end, rank }, number) {
  const { bytes } = pieces;
  const pair = made("td", "", chipOf(bytes.subarray(start, middle)), " + ", chipOf(bytes.subarray(middle, end)));
  const after = made("td", "pieces", ...pieces.after(number, MAX_PIECES).map((one) => chipOf(one)));
  const more = bytes.length - number - MAX_PIECES;
  if (more > 0) after.append(`… ${counted(more, "more piece")}`);
  return made("tr", "", made("td", "rank", shownCount(rank)), pair, after);
}
