// The page: what is typed goes to all tokenizers, and their tokens to the panels.

import { copyText, Note } from "./copying.js";
import { Details } from "./details.js";
import { fragmentOf, readFragment } from "./link.js";
import { counted, Panel, shownCount } from "./panel.js";
import { Picker } from "./picker.js";
import { ComputedTokenizer, LiveTokenizer } from "./tokenizer.js";

/** Milliseconds without typing after which the counts are read out. */
const PAUSE = 1000;

const byId = (id) => document.getElementById(id);

class Page {
  /** `texts` are those of the page, each { group, name, text }. */
  constructor(tokenizers, texts) {
    const point = (panel, index) => this.#show(panel, index);
    const copy = (panel, button) => this.#copyIds(panel, button);
    this.panels = tokenizers.map((tokenizer, number) => new Panel(tokenizer, number, point, copy));
    this.note = new Note(byId("message"));
    this.details = new Details(byId("details"));
    this.input = byId("text");
    this.special = byId("special");
    this.picker = new Picker(byId("sample"), this.input, texts, (text) => this.#fill(text));
    this.isWaiting = false;
    byId("panels").append(...this.panels.map((panel) => panel.element));
    this.#listen();
  }

  #listen() {
    this.input.addEventListener("input", () => {
      this.picker.clear();
      this.#updateSoon();
    });
    this.special.addEventListener("change", () => this.update());
    byId("ids").addEventListener("change", () => {
      for (const panel of this.panels) panel.showIds(byId("ids").checked);
    });
    byId("link").addEventListener("click", (event) => this.#copyLink(event.target));
    byId("clear").addEventListener("click", () => {
      this.setText("");
      this.input.focus();
    });
    addEventListener("hashchange", () => this.readLink());
  }

  /** Puts a text into the text box, as one's own. */
  setText(text) {
    this.picker.clear();
    this.#fill(text);
  }

  #fill(text) {
    this.input.value = text;
    this.update();
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
    this.details.clear();
    this.text = this.input.value.toWellFormed();
    const bytes = new TextEncoder().encode(this.text).length;
    for (const panel of this.panels) panel.update(panel.tokenizer.encode(this.text, !this.special.checked));
    const highest = Math.max(...this.panels.map((panel) => panel.tokens.length));
    for (const panel of this.panels) panel.showCount(highest, bytes);
    const characters = Array.from(this.text).length;
    byId("characters").textContent = shownCount(characters);
    byId("bytes").textContent = shownCount(bytes);
    this.#readOutSoon(characters);
  }

  #readOutSoon(characters) {
    clearTimeout(this.readOut);
    this.readOut = setTimeout(() => {
      const each = this.panels
        .filter((panel) => panel.isKnown)
        .map((panel) => `${panel.tokenizer.name}: ${counted(panel.tokens.length, "token")}`);
      byId("status").textContent = `${[counted(characters, "character"), ...each].join(". ")}.`;
    }, PAUSE);
  }

  /** Shows the details of a token, and marks what other tokenizers make of its characters. */
  #show(panel, index) {
    const { start, end } = panel.tokens[index];
    this.details.show(panel, index, this.text);
    const element = panel.elements[index];
    if (element === document.activeElement) element.scrollIntoView({ block: "nearest" });
    for (const other of this.panels) {
      if (other !== panel) other.markSame(start, end);
      else other.markSame(0, 0);
    }
  }

  // Copies and links

  async #copyIds(panel, button) {
    const isCopied = await copyText(panel.tokens.map(({ id }) => id).join(", "));
    const refused = "The browser blocks copying: turn on Show ids, then select them.";
    this.note.show(button, isCopied ? `${counted(panel.tokens.length, "id")} copied.` : refused);
  }

  async #copyLink(button) {
    const fragment = fragmentOf(this.text, !this.special.checked);
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
  readLink() {
    if (location.hash === this.linked) return true;
    const found = readFragment(location.hash);
    if (found === null) return false;
    this.special.checked = !found.readsSpecial;
    this.setText(found.text);
    return true;
  }
}

/** Unpacks the tokenizers and starts the page. */
async function start() {
  const { texts, hasSpecial, tokenizers: described } = JSON.parse(byId("data").textContent);
  const blocks = new Map();
  const load = (one) => ("vocabulary" in one ? LiveTokenizer.load(one, blocks) : new ComputedTokenizer(one, texts));
  const tokenizers = await Promise.all(described.map(load));
  const page = new Page(tokenizers, texts);
  byId("special-switch").hidden = !hasSpecial;
  byId("loading").hidden = true;
  byId("main").hidden = false;
  if (!page.readLink()) page.setText(texts[0].text);
  performance.mark("ready");
  /** For programs: the tokens of a text, null where the page cannot encode it. */
  globalThis.toksmith = {
    encode: (name, text, readsSpecial = true) =>
      tokenizers.find((one) => one.name === name).encode(text.toWellFormed(), readsSpecial),
  };
}

start().catch((error) => {
  byId("loading").textContent = `This page could not start: ${error.message}`;
});
