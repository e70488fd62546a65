// The page: what is typed goes to all tokenizers, and what they make of it to their panels.

import { Chat } from "./chat.js";
import { copySelection, copyText, Note } from "./copying.js";
import { Details } from "./details.js";
import { fragmentOf, readFragment } from "./link.js";
import { counted, Panel, shownCount } from "./panel.js";
import { Picker } from "./picker.js";
import { characterCount, lostBytes, rangeOf, spansOf } from "./places.js";
import { Trust } from "./preparing.js";
import { Tokenizer, wellFormed } from "./tokenizer.js";

/** Milliseconds without typing after which the counts are read out. */
const PAUSE = 1000;
const THEMES = ["light", "dark"];

const byId = (id) => document.getElementById(id);

class Page {
  /** Of `templates`, each { name, chat }, one lays out a conversation. */
  constructor(tokenizers, templates) {
    const point = (panel, index) => this.picked === null && this.#show(panel, index, false);
    const pick = (panel, index) => this.#pick(panel, index);
    const copy = (panel, button) => this.#copyIds(panel, button);
    this.panels = tokenizers.map((tokenizer, number) => new Panel(tokenizer, number, point, pick, copy));
    this.note = new Note(byId("message"));
    this.details = new Details(byId("details"), () => this.#closeAndReturn());
    this.input = byId("text");
    this.special = byId("special");
    const fill = (text) => this.#fill(text);
    const chat = new Chat(byId("chat"), (text, trust) => {
      this.special.checked = false;
      this.#fill(text, trust);
    });
    this.picker = new Picker(byId("sample"), this.input, fill, chat, templates);
    /** The token whose details stay until another one is picked: { panel, index }. */
    this.picked = null;
    this.isWaiting = false;
    byId("panels").append(...this.panels.map((panel) => panel.element));
    byId("special-switch").hidden = tokenizers.every((tokenizer) => tokenizer.specialIds.size === 0);
    this.#listen();
  }

  #listen() {
    this.input.addEventListener("input", () => {
      this.picker.clear();
      this.trust = null;
      this.#updateSoon();
    });
    this.input.addEventListener("paste", (event) => this.#notePaste(event));
    this.special.addEventListener("change", () => this.update());
    byId("ids").addEventListener("change", () => {
      for (const panel of this.panels) panel.showIds(byId("ids").checked);
      if (this.picked !== null) this.picked.panel.mark(this.picked.index);
    });
    byId("link").addEventListener("click", (event) => this.#copyLink(event.target));
    document.addEventListener("copy", (event) => copySelection(event, this.panels));
    byId("clear").addEventListener("click", () => {
      this.setText("");
      this.input.focus();
    });
    addEventListener("hashchange", () => this.readLink());
    addEventListener("keydown", (event) => event.key === "Escape" && this.picked !== null && this.#closeAndReturn());
  }

  /** Puts a text into the text box, as one's own. */
  setText(text) {
    this.picker.clear();
    this.#fill(text);
  }

  /** `trust` says where special tokens count in a conversation; in other texts they count everywhere. */
  #fill(text, trust = null) {
    this.trust = trust;
    this.input.value = text;
    if (text.includes("\r")) this.#noteReturns();
    this.update();
  }

  #notePaste(event) {
    if (event.clipboardData?.getData("text/plain").includes("\r")) this.#noteReturns();
  }

  #noteReturns() {
    this.note.show(this.input, "A text box holds no carriage returns: they have become newlines.");
  }

  /** Several changes before the next frame are one. */
  #updateSoon() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      this.update();
    });
  }

  /** Shows the tokens of the text box. */
  update() {
    this.text = wellFormed(this.input.value);
    const bytes = new TextEncoder().encode(this.text).length;
    const readsSpecial = !this.special.checked;
    const trust = readsSpecial && this.trust !== null ? this.trust : Trust.ofWhole(this.text, readsSpecial);
    for (const panel of this.panels) panel.update(panel.tokenizer.encode(this.text, trust));
    const highest = Math.max(...this.panels.map((panel) => panel.count));
    for (const panel of this.panels) panel.showCount(highest, bytes, lostBytes(panel.encoded.text, panel.pieces));
    const characters = characterCount(this.text, 0, this.text.length);
    byId("characters").textContent = shownCount(characters);
    byId("bytes").textContent = shownCount(bytes);
    this.#close();
    this.#readOutSoon(characters);
  }

  #readOutSoon(characters) {
    clearTimeout(this.readOut);
    this.readOut = setTimeout(() => {
      const each = this.panels.map((panel) => `${panel.tokenizer.name}: ${counted(panel.count, "token")}`);
      byId("status").textContent = `${counted(characters, "character")}. ${each.join(". ")}.`;
    }, PAUSE);
  }

  // Details

  /** Shows a token, and marks what other tokenizers make of its characters. */
  #show(panel, index, withMerges) {
    this.details.show(panel, index, this.text, withMerges);
    const { piece, place } = panel.pieceAt(index);
    const [start, end] = rangeOf(panel.tokenizer, panel.encoded, piece, place);
    for (const other of this.panels) {
      if (other !== panel) other.markSame(start, end);
      else other.markSame(0, 0);
    }
  }

  #pick(panel, index) {
    this.picked?.panel.mark(-1);
    if (this.picked?.panel === panel && this.picked.index === index) {
      this.#close();
      if (!matchMedia("(pointer: coarse)").matches) this.#show(panel, index, false);
      return;
    }
    this.picked = { panel, index };
    panel.mark(index);
    this.#show(panel, index, true);
    panel.elementAt(index).scrollIntoView({ block: "nearest" });
    byId("status").textContent = `${this.details.summary} It is in the details at the end of the page.`;
  }

  /** Closes the details and goes back to their token: where the focus was is not to be seen any more. */
  #closeAndReturn() {
    const { panel, index } = this.picked;
    this.#close();
    panel.elementAt(index)?.focus();
  }

  #close() {
    this.picked?.panel.mark(-1);
    this.picked = null;
    for (const panel of this.panels) panel.markSame(0, 0);
    this.details.clear();
  }

  // Copies and links

  async #copyIds(panel, button) {
    const isCopied = await copyText(panel.ids.join(", "));
    const refused = "The browser blocks copying: turn on Show ids, then select them.";
    this.note.show(button, isCopied ? `${counted(panel.count, "id")} copied.` : refused);
  }

  async #copyLink(button) {
    const fragment = await fragmentOf(this.text, !this.special.checked);
    if (fragment === null) {
      this.note.show(button, "This text is too long for a link.");
      return;
    }
    this.linked = fragment;
    location.hash = fragment;
    const where = (await copyText(location.href)) ? "Link copied." : "The link is in the address bar.";
    const isLocal = location.protocol === "file:";
    this.note.show(button, isLocal ? `${where} It leads to this file, so it opens on this device only.` : where);
  }

  /** Shows the text of the page's address; returns whether there is one. */
  async readLink() {
    if (location.hash === this.linked) return true;
    const found = await readFragment(location.hash);
    if (found === null) return false;
    this.special.checked = !found.readsSpecial;
    this.setText(found.text);
    return true;
  }
}

/** The button that swaps the light and the dark theme. The theme of the system is not kept: the page follows it. */
function startThemes() {
  const button = byId("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const system = () => (dark.matches ? "dark" : "light");
  let kept = "auto";
  try {
    kept = localStorage.getItem("toksmith-theme");
  } catch {} // a page may have no storage
  const isKept = () => THEMES.includes(kept);
  const other = () => THEMES.find((theme) => theme !== (isKept() ? kept : system()));
  const show = () => {
    document.documentElement.dataset.theme = isKept() ? kept : "auto";
    button.textContent = `${other() === "dark" ? "Dark" : "Light"} theme`;
  };
  show();
  dark.addEventListener("change", show);
  button.addEventListener("click", () => {
    kept = other() === system() ? "auto" : other();
    show();
    try {
      localStorage.setItem("toksmith-theme", kept);
    } catch {}
  });
}

/** Unpacks the tokenizers and starts the page. */
async function start() {
  startThemes();
  const data = JSON.parse(byId("data").textContent);
  const blocks = new Map();
  const tokenizers = await Promise.all(data.tokenizers.map((one) => Tokenizer.load(one, blocks)));
  const page = new Page(tokenizers, data.tokenizers.filter((one) => one.chat !== null));
  byId("loading").hidden = true;
  byId("main").hidden = false;
  if (!(await page.readLink())) page.setText(data.text);
  performance.mark("ready");
  const byName = (name) => tokenizers.find((one) => one.name === name);
  /** For programs: ids and spans in characters, as `encode_with_offsets` of Python. */
  globalThis.toksmith = {
    names: tokenizers.map((tokenizer) => tokenizer.name),
    /** The text that a tokenizer cuts: what its normalizer makes of it. */
    prepared(name, text) {
      const whole = wellFormed(text);
      return byName(name).preparation.prepare(whole, Trust.ofWhole(whole, true)).text;
    },
    encode(name, text, special = true) {
      const tokenizer = byName(name);
      const whole = wellFormed(text);
      const encoded = tokenizer.encode(whole, Trust.ofWhole(whole, special));
      return { ids: encoded.pieces.flatMap((piece) => piece.ids), spans: spansOf(tokenizer, whole, encoded) };
    },
  };
}

start().catch((error) => {
  byId("loading").textContent = `This page could not start: ${error.message}`;
});
