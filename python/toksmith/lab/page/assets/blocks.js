// Tokens as elements, in blocks of some hundred: a block far from what the reader sees is plain text, and one that did
// not change stays as it is. So a long text costs little more than what is on the screen.

import { appendMarked, charactersOf, shown } from "./marks.js";
import { hashOf } from "./vocabulary.js";

/** A block ends behind a newline once it has so many tokens, and at the latest when it has `MAX_TOKENS`. */
const MIN_TOKENS = 120;
const MAX_TOKENS = 600;
const NEWLINE = 10;
/** Tints in the style. */
const TINTS = 8;

/** Returns the class of the tint of a token: that of its bytes, so that equal tokens of all tokenizers have one tint. */
export function tintOf(bytes, isSpecial) {
  return isSpecial ? "special" : `tint-${hashOf(bytes, 0, bytes.length) & (TINTS - 1)}`;
}

/** What each token of a tokenizer looks like; made once for each id. */
export class Looks {
  constructor(tokenizer) {
    this.tokenizer = tokenizer;
    this.known = new Map();
  }

  of(id) {
    let look = this.known.get(id);
    if (look === undefined) {
      look = new Look(id, this.tokenizer.bytesOf(id), this.tokenizer.specialIds.has(id));
      this.known.set(id, look);
    }
    return look;
  }
}

class Look {
  constructor(id, bytes, isSpecial) {
    this.id = id;
    this.bytes = bytes;
    this.isSpecial = isSpecial;
    this.tint = tintOf(bytes, isSpecial);
    this.isPartial = charactersOf(bytes).some((character) => typeof character === "number");
    this.endsLine = bytes.at(-1) === NEWLINE;
  }

  /** The token as plain text. */
  get plain() {
    return shown(this.bytes) + (this.endsLine ? "\n" : "");
  }

  /** Returns what is put into a block for the token: a new element, and the newline that it ends in. */
  nodes(asId) {
    this.models ??= [this.#model(false), this.#model(true)];
    const element = this.models[Number(asId)].cloneNode(true);
    return this.endsLine ? [element, "\n"] : [element];
  }

  #model(asId) {
    const element = document.createElement("span");
    element.className = `token ${this.tint}`;
    element.setAttribute("role", "option");
    element.tabIndex = -1;
    if (this.isPartial) element.classList.add("partial");
    if (asId) element.append(String(this.id));
    else appendMarked(element, this.bytes, true);
    if (element.textContent.includes("\n")) element.classList.add("lines");
    element.setAttribute("aria-label", this.#spoken());
    return element;
  }

  #spoken() {
    const kind = this.isSpecial ? "special token " : this.isPartial ? "part of a character, " : "";
    return `${kind}${shown(this.bytes).replaceAll("␣", "space ")}, id ${this.id}`;
  }
}

/** Some tokens that stand one behind the other, and their element. */
export class Block {
  constructor(ids) {
    this.ids = ids;
    this.element = null;
    this.isDrawn = false;
  }

  /** Makes the element: plain text as long as it is far from what is seen. */
  make(looks, asIds) {
    this.element = document.createElement("div");
    this.element.className = "block";
    this.element.setAttribute("role", "presentation");
    this.element.block = this;
    const plain = (id) => (asIds ? `${id} ` : looks.of(id).plain);
    this.element.textContent = this.ids.map(plain).join("");
  }

  /** Puts the elements of the tokens in place of the plain text. */
  draw(looks, asIds) {
    if (this.isDrawn) return;
    this.isDrawn = true;
    let [tint, isTurned] = ["", false];
    const nodesOf = (look) => {
      const nodes = look.nodes(asIds);
      // Of neighbours of one tint every other one has its edge above, so that they are told apart.
      isTurned = look.tint === tint && !isTurned;
      nodes[0].classList.toggle("turned", isTurned);
      tint = look.tint;
      return nodes;
    };
    this.element.replaceChildren(...this.ids.flatMap((id) => nodesOf(looks.of(id))));
  }

  hasIdsOf(other) {
    return this.ids.length === other.ids.length && this.ids.every((id, i) => id === other.ids[i]);
  }
}

/** Cuts the tokens of pretokens into blocks. */
export function blocksOf(pieces, looks) {
  const blocks = [];
  let ids = [];
  const end = () => {
    blocks.push(new Block(ids));
    ids = [];
  };
  for (const piece of pieces) {
    for (const id of piece.ids) {
      ids.push(id);
      if (ids.length >= MAX_TOKENS || (ids.length >= MIN_TOKENS && looks.of(id).endsLine)) end();
    }
  }
  if (ids.length > 0) end();
  return blocks;
}
