// What is known of one token: its id, its bytes and characters, and where it is.

import { appendMarked, hex } from "./marks.js";
import { counted, shownCount, tint } from "./panel.js";

/** Bytes and characters of a token that are shown. */
const MAX_SHOWN = 64;

export class Details {
  constructor(element) {
    this.element = element;
    this.facts = element.querySelector(".facts");
    this.hint = element.querySelector(".hint");
  }

  /** Shows nothing but how to come to a token. */
  clear() {
    this.facts.replaceChildren();
    this.hint.hidden = false;
  }

  /** Shows the facts of a token, and tells the style how high they are: no token is scrolled behind them. */
  show(panel, index, text) {
    this.hint.hidden = true;
    this.facts.replaceChildren(...factsOf(panel, index, text));
    document.documentElement.style.setProperty("--dock", `${this.element.offsetHeight}px`);
  }
}

/** Returns an element with a class and content. */
function made(name, className, ...content) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...content);
  return element;
}

function markedElement(className, bytes) {
  const element = made("span", className);
  appendMarked(element, bytes, false);
  return element;
}

function factsOf({ tokenizer, tokens }, index, text) {
  const { id, start, end } = tokens[index];
  const bytes = tokenizer.bytesOf(id);
  const before = Array.from(text.slice(0, start)).length;
  const place = `${shownCount(index + 1)} of ${shownCount(tokens.length)} in ${tokenizer.name}`;
  const fact = (name, ...content) => made("div", "", made("dt", "", name), made("dd", "", ...content));
  const chip = markedElement("chip", bytes.subarray(0, MAX_SHOWN));
  tint(chip, bytes, tokenizer.isSpecial(id));
  return [
    fact("Token", chip),
    fact("Id", made("b", "", String(id))),
    fact("Bytes", made("code", "", shownBytes(bytes))),
    fact("Characters", ...characterElements(text.slice(start, end), bytes)),
    fact("Place", `${place}, from character ${shownCount(before)}`),
  ];
}

function shownBytes(bytes) {
  const beginning = Array.from(bytes.subarray(0, MAX_SHOWN), (byte) => hex(byte, 2)).join(" ");
  return bytes.length > MAX_SHOWN ? `${beginning} … ${counted(bytes.length, "byte")}` : beginning;
}

/** Returns the characters that a token has a part of, as elements. */
function characterElements(text, bytes) {
  const encoder = new TextEncoder();
  const characters = Array.from(text);
  const elements = characters.slice(0, MAX_SHOWN).map((character) => {
    const name = made("code", "soft", `U+${hex(character.codePointAt(0), 4).toUpperCase()}`);
    return made("span", "", markedElement("glyph", encoder.encode(character)), " ", name);
  });
  if (characters.length > MAX_SHOWN) elements.push(`… ${counted(characters.length, "character")}`);
  const size = encoder.encode(text).length;
  if (size > bytes.length) elements.push(made("span", "soft", ` ${bytes.length} of ${counted(size, "byte")}`));
  return elements;
}
