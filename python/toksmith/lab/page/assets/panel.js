// One tokenizer on the page: its count, and its tokens, through which one goes with the pointer or the arrow keys.

import { appendMarked, charactersOf, shown } from "./marks.js";

/** Tokens that are drawn; of more, the first ones. */
const MAX_DRAWN = 5000;
const NEWLINE = 10;
/** Different hues of tokens. */
const TINTS = 8;
const counts = new Intl.NumberFormat("en");

/** Returns a number with commas between thousands. */
export function shownCount(number) {
  return counts.format(number);
}

/** Returns "1 token", "2 tokens". */
export function counted(number, noun) {
  return `${shownCount(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** Gives an element the tint of a token's bytes: equal tokens of all tokenizers have one. */
export function tint(element, bytes, isSpecial) {
  const hash = bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5);
  element.classList.toggle("special", isSpecial);
  element.style.setProperty("--hue", ((hash ^ (hash >>> 15)) & (TINTS - 1)) * (360 / TINTS));
}

export class Panel {
  /** `onPoint(panel, index)` is called for the token of this place, and `onCopy(panel, button)` to copy the ids. */
  constructor(tokenizer, number, onPoint, onCopy) {
    this.tokenizer = tokenizer;
    /** The tokens of the text, and the elements of those that are drawn. */
    this.tokens = [];
    this.elements = [];
    this.asIds = false;
    this.models = new Map();
    this.element = document.getElementById("panel").content.firstElementChild.cloneNode(true);
    this.list = this.element.querySelector(".tokens");
    this.copyButton = this.element.querySelector(".copy");
    this.copyButton.addEventListener("click", () => onCopy(this, this.copyButton));
    this.#name(number);
    this.#listen(onPoint);
  }

  #name(number) {
    const heading = this.element.querySelector("h2");
    heading.textContent = this.tokenizer.name;
    heading.id = `panel-${number}`;
    this.element.setAttribute("aria-labelledby", heading.id);
    this.list.setAttribute("aria-label", `Tokens of ${this.tokenizer.name}`);
    this.copyButton.setAttribute("aria-label", `Copy ids of ${this.tokenizer.name}`);
    this.element.querySelector(".note").hidden = this.tokenizer.isLive;
  }

  #listen(onPoint) {
    const point = (event) => {
      const index = this.elements.indexOf(event.target.closest(".token"));
      if (index >= 0) onPoint(this, index);
    };
    this.list.addEventListener("pointerover", (event) => event.pointerType !== "touch" && point(event));
    this.list.addEventListener("focusin", (event) => {
      this.#enter(event.target);
      point(event);
    });
    this.list.addEventListener("keydown", (event) => this.#move(event) && event.preventDefault());
  }

  // Content

  /** Shows the tokens of a text; null for a text that the tokenizer cannot encode here. */
  update(tokens) {
    this.isKnown = tokens !== null;
    this.#draw(tokens ?? []);
  }

  /** Shows ids in place of texts, or texts again. */
  showIds(asIds) {
    if (asIds === this.asIds) return;
    const { tokens } = this;
    this.asIds = asIds;
    this.models.clear();
    this.list.classList.toggle("ids", asIds);
    this.#draw([]);
    this.#draw(tokens);
  }

  /** Draws tokens. Elements at the beginning and at the end whose tokens did not change stay. */
  #draw(tokens) {
    const [old, next] = [this.tokens.slice(0, MAX_DRAWN), tokens.slice(0, MAX_DRAWN)];
    const most = Math.min(old.length, next.length);
    let [same, sameBehind] = [0, 0];
    while (same < most && old[same].id === next[same].id) same++;
    while (sameBehind < most - same && old.at(-1 - sameBehind).id === next.at(-1 - sameBehind).id) sameBehind++;
    const changed = next.slice(same, next.length - sameBehind).map(({ id }) => this.#elementOf(id));
    const gone = this.elements.splice(same, old.length - same - sameBehind, ...changed);
    for (const element of gone) {
      if (element.nextSibling?.nodeName === "BR") element.nextSibling.remove();
      element.remove();
    }
    const behind = this.elements[same + changed.length] ?? null;
    for (const element of changed) {
      this.list.insertBefore(element, behind);
      if (element.dataset.endsLine) this.list.insertBefore(document.createElement("br"), behind);
    }
    this.tokens = tokens;
    const more = tokens.length - MAX_DRAWN;
    this.element.querySelector(".more").textContent = more > 0 ? `… and ${counted(more, "more token")}` : "";
    if (!this.elements.includes(this.entry)) this.#enter(this.elements[0]);
  }

  /** Returns a new element for a token. */
  #elementOf(id) {
    let model = this.models.get(id);
    if (model === undefined) {
      model = this.#modelOf(id);
      this.models.set(id, model);
    }
    return model.cloneNode(true);
  }

  #modelOf(id) {
    const [bytes, isSpecial] = [this.tokenizer.bytesOf(id), this.tokenizer.isSpecial(id)];
    const isPartial = charactersOf(bytes).some((character) => typeof character === "number");
    const element = document.createElement("span");
    element.className = "token";
    tint(element, bytes, isSpecial);
    element.setAttribute("role", "option");
    element.tabIndex = -1;
    if (isPartial) element.classList.add("partial");
    if (this.asIds) element.append(String(id));
    else appendMarked(element, bytes, true);
    if (element.textContent.includes("\n")) element.classList.add("lines");
    if (bytes.at(-1) === NEWLINE) element.dataset.endsLine = "true";
    const kind = isSpecial ? "special token " : isPartial ? "part of a character, " : "";
    element.setAttribute("aria-label", `${kind}${shown(bytes).replaceAll("␣", "space ")}, id ${id}`);
    return element;
  }

  /** Shows the count, beside the `highest` of all panels, and how many of the text's `bytes` there are for a token. */
  showCount(highest, bytes) {
    const count = this.tokens.length;
    this.element.querySelector(".count").textContent = this.isKnown ? shownCount(count) : "–";
    this.element.querySelector(".unit").textContent = count === 1 ? "token" : "tokens";
    this.copyButton.disabled = count === 0;
    const rate = count === 0 ? "" : `${(bytes / count).toFixed(2)} bytes per token`;
    const lost = this.tokenizer.drops ? bytes - this.#bytesInTokens() : 0;
    const missing = lost === 0 ? "" : `${counted(lost, "byte")} in no token: the pattern drops them`;
    this.element.querySelector(".rate").textContent = [rate, missing].filter(Boolean).join("; ");
    this.element.querySelector(".bar").style.setProperty("--share", highest === 0 ? 0 : count / highest);
  }

  #bytesInTokens() {
    return this.tokens.reduce((sum, { id }) => sum + this.tokenizer.bytesOf(id).length, 0);
  }

  /** Marks the tokens that have a part of the text from `start` to `end`. */
  markSame(start, end) {
    this.elements.forEach((element, i) => {
      element.classList.toggle("same", this.tokens[i].start < end && this.tokens[i].end > start);
    });
  }

  // Keys

  /** Makes a token the one that the Tab key leads to. */
  #enter(token) {
    if (this.entry !== undefined) this.entry.tabIndex = -1;
    this.entry = token;
    if (token !== undefined) token.tabIndex = 0;
  }

  /** Moves the focus as a key says; returns whether it is such a key. */
  #move(event) {
    const index = this.elements.indexOf(event.target.closest(".token"));
    if (index < 0 || event.ctrlKey || event.metaKey || event.altKey) return false;
    const places = {
      ArrowLeft: () => index - 1,
      ArrowRight: () => index + 1,
      ArrowUp: () => this.#indexOfLine(index, -1),
      ArrowDown: () => this.#indexOfLine(index, 1),
      Home: () => 0,
      End: () => this.elements.length - 1,
    };
    if (!(event.key in places)) return false;
    this.elements[places[event.key]()]?.focus();
    return true;
  }

  /** Returns the token above (-1) or below (1) another one; that one itself if there is none. */
  #indexOfLine(index, direction) {
    const middle = (box) => box.left + box.width / 2;
    const start = this.elements[index].getClientRects()[0];
    let [best, line, distance] = [index, null, Infinity];
    for (let at = index + direction; at >= 0 && at < this.elements.length; at += direction) {
      const box = this.elements[at].getClientRects()[0];
      if (Math.abs(box.top - start.top) < start.height / 2) continue;
      if (line !== null && Math.abs(box.top - line) > start.height / 2) break;
      line = box.top;
      const away = Math.abs(middle(box) - middle(start));
      if (away < distance) [best, distance] = [at, away];
    }
    return best;
  }
}
