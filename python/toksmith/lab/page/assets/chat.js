// A conversation that is typed, laid out by a tokenizer's chat template: see `chat.py` for the layouts.

import { Trust } from "./preparing.js";

const SYSTEM = "Answer in one sentence.";
const TURNS = ["What is a token?", "A piece of text that has a number.", "How many are in this question?"];
const ROLES = ["user", "assistant"];
const MAX_TURNS = 6;
/** White space of Python's `str.strip`. */
const BLANK = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/;
/** What is stripped of a message, by the numbers of a layout. */
const STRIPPED = [() => false, (character) => character === "\n", (character) => BLANK.test(character)];

function stripped(text, before, behind) {
  let [start, end] = [0, text.length];
  while (start < end && STRIPPED[before](text[start])) start++;
  while (start < end && STRIPPED[behind](text[end - 1])) end--;
  return text.slice(start, end);
}

/** Returns the text that a text box holds: it has no carriage returns. */
const boxed = (text) => text.replace(/\r\n?/g, "\n");

/**
 * Returns the text of a conversation of messages, each [role, content], with the ranges [start, end] that the template
 * wrote, as they are in a text box: { text, written }; or why there is none: { reason }.
 */
export function laidOut({ layouts, read }, messages) {
  if (messages.some(([, content]) => stripped(content, 2, 2) === "")) return { reason: "Each turn needs a message." };
  const looked = read.find((string) => messages.some(([, content]) => content.includes(string)));
  if (looked !== undefined) return { reason: `The chat template looks for ${looked} in messages; this page cannot.` };
  const layout = layouts[messages.map(([role]) => role).join(" ")];
  if (typeof layout === "string") return { reason: layout };
  let text = "";
  const written = [];
  for (const part of layout) {
    const start = boxed(text).length;
    const isWritten = typeof part === "string";
    text += isWritten ? part : stripped(messages[part[0]][1], part[1], part[2]);
    if (isWritten) written.push([start, boxed(text).length]);
  }
  return { text, written };
}

export class Chat {
  /**
   * `onText(text, trust)` is called with the conversation whenever it changes. As in `encode_messages` of Python, special
   * tokens count only where the template wrote them.
   */
  constructor(element, onText) {
    this.element = element;
    this.onText = onText;
    this.fields = element.querySelector(".fields");
    this.note = element.querySelector(".reason");
    this.#addField("system", SYSTEM);
    TURNS.forEach((text) => this.addTurn(text));
    this.fields.addEventListener("input", () => this.#layOut());
    element.querySelector(".add").addEventListener("click", () => {
      this.addTurn("").focus();
      this.#layOut();
    });
    element.querySelector(".remove").addEventListener("click", () => {
      this.fields.lastElementChild.remove();
      this.#layOut();
    });
  }

  addTurn(text) {
    return this.#addField(ROLES[(this.fields.children.length + 1) % 2], text);
  }

  #addField(role, text) {
    const [field, label, box] = ["div", "label", "textarea"].map((name) => document.createElement(name));
    const optional = role === "system" ? " (may be empty)" : "";
    label.textContent = `${role[0].toUpperCase()}${role.slice(1)}${optional}`;
    label.htmlFor = box.id = `message-${this.fields.children.length}`;
    [box.name, box.rows, box.dir, box.spellcheck, box.value] = [role, 1, "auto", false, text];
    field.append(label, box);
    this.fields.append(field);
    return box;
  }

  /** Shows the fields, and lays their conversation out by a template. */
  open(template) {
    this.template = template;
    this.element.hidden = false;
    this.#layOut();
  }

  close() {
    this.element.hidden = true;
  }

  #layOut() {
    const boxes = [...this.fields.querySelectorAll("textarea")];
    this.element.querySelector(".add").disabled = boxes.length > MAX_TURNS;
    this.element.querySelector(".remove").disabled = boxes.length < 3;
    const messages = boxes.map((box) => [box.name, box.value]);
    if (stripped(messages[0][1], 2, 2) === "") messages.shift();
    const { text = "", written = [], reason = "" } = laidOut(this.template, messages);
    this.note.textContent = reason;
    this.onText(text, new Trust(written, this.template.writes));
  }
}
