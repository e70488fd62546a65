// One tokenizer on the page: its count, and its tokens, through which one goes with the pointer or the arrow keys.

import { blocksOf, Looks } from "./blocks.js";
import { hasTextIn } from "./copying.js";
import { placesIn, placesOf } from "./places.js";

/** Changed blocks that are drawn at once; what else is on the screen follows in the next frame. */
const DRAWN_AT_ONCE = 3;
const NEAR = "800px";
const counts = new Intl.NumberFormat("en");

/** Returns a number with commas between thousands. */
export function shownCount(number) {
  return counts.format(number);
}

/** Returns "1 token", "2 tokens". */
export function counted(number, noun) {
  return `${shownCount(number)} ${noun}${number === 1 ? "" : "s"}`;
}

export class Panel {
  /**
   * `onPoint(panel, index)` and `onPick(panel, index)` are called for the token of this place in the text, and
   * `onCopy(panel, button)` to copy the ids.
   */
  constructor(tokenizer, number, onPoint, onPick, onCopy) {
    this.tokenizer = tokenizer;
    this.looks = new Looks(tokenizer);
    this.blocks = [];
    /** What the tokenizer makes of the text, and its pieces. */
    this.encoded = { text: "", pieces: [] };
    this.pieces = [];
    this.count = 0;
    this.asIds = false;
    /** The elements of the tokens that have a part of what is pointed at in another panel. */
    this.same = [];
    this.onPoint = onPoint;
    this.onPick = onPick;
    this.element = document.getElementById("panel").content.firstElementChild.cloneNode(true);
    this.#name(number);
    this.list = this.element.querySelector(".tokens");
    this.copyButton = this.element.querySelector(".copy");
    this.copyButton.addEventListener("click", () => onCopy(this, this.copyButton));
    this.#listen();
    const see = (entries) => entries.forEach((entry) => entry.isIntersecting && this.#draw(entry.target.block));
    this.observer = new IntersectionObserver(see, { rootMargin: NEAR });
  }

  #name(number) {
    const heading = this.element.querySelector("h2");
    heading.textContent = this.tokenizer.name;
    heading.id = `panel-${number}`;
    this.element.setAttribute("aria-labelledby", heading.id);
    this.element.querySelector(".tokens").setAttribute("aria-label", `Tokens of ${this.tokenizer.name}`);
    this.element.querySelector(".copy").setAttribute("aria-label", `Copy ids of ${this.tokenizer.name}`);
  }

  #listen() {
    const { list } = this;
    const indexOf = (event) => {
      const token = event.target.closest(".token");
      return token === null ? -1 : this.#indexOf(token);
    };
    const call = (event, callback) => {
      const index = indexOf(event);
      if (index >= 0) callback(this, index);
    };
    // A press moves the focus before its click. If that showed the details, they could grow over the token, and a tap
    // would end on them.
    let isPressed = false;
    list.addEventListener("pointerdown", () => (isPressed = true));
    list.addEventListener("pointerover", (event) => event.pointerType !== "touch" && call(event, this.onPoint));
    list.addEventListener("focusin", (event) => {
      this.#enter(event.target);
      if (!isPressed) call(event, this.onPoint);
    });
    list.addEventListener("click", (event) => call(event, this.onPick));
    list.addEventListener("keydown", (event) => {
      isPressed = false;
      if (event.key === "Enter" || event.key === " ") call(event, this.onPick);
      else if (!this.#move(event)) return;
      event.preventDefault();
    });
  }

  // Content

  /** Shows what the tokenizer makes of a text. Blocks that did not change keep their elements. */
  update(encoded) {
    const { pieces } = encoded;
    this.encoded = encoded;
    this.pieces = pieces;
    this.count = pieces.reduce((sum, piece) => sum + piece.ids.length, 0);
    const next = blocksOf(pieces, this.looks);
    const [old, most] = [this.blocks, Math.min(this.blocks.length, next.length)];
    let [same, sameBehind] = [0, 0];
    while (same < most && old[same].hasIdsOf(next[same])) same++;
    while (sameBehind < most - same && old.at(-1 - sameBehind).hasIdsOf(next.at(-1 - sameBehind))) sameBehind++;
    this.#replace(same, old.length - sameBehind, next.slice(same, next.length - sameBehind));
  }

  /** Shows ids in place of texts, or texts again. */
  showIds(asIds) {
    if (asIds === this.asIds) return;
    this.asIds = asIds;
    this.#replace(0, this.blocks.length, blocksOf(this.pieces, this.looks));
  }

  /** Puts other blocks in place of those from `start` to `end`. */
  #replace(start, end, blocks) {
    const gone = this.blocks.splice(start, end - start, ...blocks);
    const behind = this.blocks[start + blocks.length]?.element ?? null;
    for (const block of gone) {
      this.observer.unobserve(block.element);
      block.element.remove();
    }
    blocks.forEach((block, i) => {
      block.make(this.looks, this.asIds);
      if (i < DRAWN_AT_ONCE) this.#draw(block);
      this.list.insertBefore(block.element, behind);
      this.observer.observe(block.element);
    });
    this.list.classList.toggle("ids", this.asIds);
    if (this.entry === undefined || !this.entry.isConnected) this.#enter(this.list.querySelector(".token"));
  }

  #draw(block) {
    block.draw(this.looks, this.asIds);
  }

  /** Shows the count, beside the highest one of all panels; `bytes` of the text, of which some may be `lost`. */
  showCount(highest, bytes, lost) {
    this.element.querySelector(".count").textContent = shownCount(this.count);
    this.element.querySelector(".unit").textContent = this.count === 1 ? "token" : "tokens";
    this.copyButton.disabled = this.count === 0;
    const rate = this.count === 0 ? "" : `${(bytes / this.count).toFixed(2)} bytes per token`;
    const missing = lost === 0 ? "" : `${counted(lost, "byte")} in no token: the pattern drops them`;
    this.element.querySelector(".rate").textContent = [rate, missing].filter(Boolean).join("; ");
    this.element.querySelector(".bar").style.setProperty("--share", highest === 0 ? 0 : this.count / highest);
  }

  // Copying

  /** The ids of the text. */
  get ids() {
    return this.pieces.flatMap((piece) => piece.ids);
  }

  /** Returns the ids of the tokens of which a part is in a range; a block that is not drawn yet is taken whole. */
  idsIn(range) {
    const touched = this.blocks.filter((block) => hasTextIn(range, block.element));
    const isIn = (block) => (_, i) => !block.isDrawn || hasTextIn(range, block.element.children[i]);
    return touched.flatMap((block) => block.ids.filter(isIn(block)));
  }

  /** Returns ids as they are copied: the text of their tokens, or the ids where they are shown in its place. */
  copied(ids) {
    if (this.asIds) return ids.join(", ");
    const bytes = ids.flatMap((id) => [...this.looks.of(id).bytes]);
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
  }

  // Places

  #indexOf(token) {
    const { block } = token.parentElement;
    let index = 0;
    for (const other of this.blocks) {
      if (other === block) break;
      index += other.ids.length;
    }
    return index + [...token.parentElement.children].indexOf(token);
  }

  /** Returns the element of a token, which is drawn if need be; null if there is no such token. */
  elementAt(index) {
    for (const block of this.blocks) {
      if (index < block.ids.length) {
        this.#draw(block);
        return block.element.children[index] ?? null;
      }
      index -= block.ids.length;
    }
    return null;
  }

  /** Returns the pretoken of a token, and which of its tokens it is: { piece, place }. */
  pieceAt(index) {
    for (const piece of this.pieces) {
      if (index < piece.ids.length) return { piece, place: index };
      index -= piece.ids.length;
    }
    return null;
  }

  /** Marks the token whose details are shown, and the others of its pretoken. */
  mark(index) {
    for (const element of this.list.querySelectorAll(".picked, .beside")) {
      element.classList.remove("picked", "beside");
      element.removeAttribute("aria-selected");
    }
    if (index < 0) return;
    const { piece, place } = this.pieceAt(index);
    for (let i = 0; i < piece.ids.length && i < 1000; i++) {
      this.elementAt(index - place + i)?.classList.add(i === place ? "picked" : "beside");
    }
    this.elementAt(index)?.setAttribute("aria-selected", "true");
  }

  /** Marks the tokens that have a part of the text from `start` to `end`, where they are drawn. */
  markSame(originalStart, originalEnd) {
    for (const element of this.same) element.classList.remove("same");
    this.same = [];
    const { text } = this.encoded;
    const [start, end] = placesOf(this.encoded, originalStart, originalEnd);
    let index = 0;
    for (const piece of this.pieces) {
      if (piece.start >= end) break;
      if (piece.end > start) {
        const found = placesIn(this.tokenizer, text, piece, start, end).map((place) => this.#drawnAt(index + place));
        this.same.push(...found.filter((element) => element !== null));
      }
      index += piece.ids.length;
    }
    for (const element of this.same) element.classList.add("same");
  }

  /** Returns the element of a token; null if it is not drawn. */
  #drawnAt(index) {
    for (const block of this.blocks) {
      if (index < block.ids.length) return block.isDrawn ? block.element.children[index] : null;
      index -= block.ids.length;
    }
    return null;
  }

  // Keys

  /** Makes a token the one that the Tab key leads to. */
  #enter(token) {
    if (this.entry !== undefined && this.entry !== null) this.entry.tabIndex = -1;
    this.entry = token ?? undefined;
    if (this.entry !== undefined) this.entry.tabIndex = 0;
  }

  /** Moves the focus as a key says; returns whether it is such a key. */
  #move(event) {
    const token = event.target.closest(".token");
    if (token === null || event.ctrlKey || event.metaKey || event.altKey) return false;
    const index = this.#indexOf(token);
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -index, End: this.count - 1 - index };
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      this.#focus(this.#indexOfLine(index, event.key === "ArrowUp" ? -1 : 1));
    } else if (event.key in steps) {
      this.#focus(index + steps[event.key]);
    } else {
      return false;
    }
    return true;
  }

  #focus(index) {
    if (index >= 0 && index < this.count) this.elementAt(index)?.focus();
  }

  /** Returns the token above (-1) or below (1) another one; that one itself if there is none. */
  #indexOfLine(index, direction) {
    const middle = (box) => box.left + box.width / 2;
    const start = this.elementAt(index).getClientRects()[0];
    let [best, line, distance] = [index, null, Infinity];
    for (let at = index + direction; at >= 0 && at < this.count; at += direction) {
      const box = this.elementAt(at).getClientRects()[0];
      if (Math.abs(box.top - start.top) < start.height / 2) continue;
      if (line !== null && Math.abs(box.top - line) > start.height / 2) break;
      line = box.top;
      const away = Math.abs(middle(box) - middle(start));
      if (away < distance) [best, distance] = [at, away];
    }
    return best;
  }
}
