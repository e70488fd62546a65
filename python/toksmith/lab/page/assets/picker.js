// The choice of what is in the text box: one's own text, or a sample. One's own text is kept meanwhile.

import { SAMPLES } from "./samples.js";

export class Picker {
  /**
   * `onPick(text)` puts a text into the `input`. Of `templates`, each { name, chat }, one lays out what is typed into
   * the fields of `chat`.
   */
  constructor(element, input, onPick, chat, templates) {
    this.element = element;
    this.own = "";
    for (const [group, samples] of Object.entries(SAMPLES)) this.#addGroup(group, Object.keys(samples));
    const conversations = new Map(templates.map((one) => [`Chat template of ${one.name}`, one.chat]));
    if (templates.length > 0) this.#addGroup("Conversation", [...conversations.keys()]);
    let last = "";
    element.addEventListener("change", () => {
      if (last === "") this.own = input.value;
      last = element.value;
      if (conversations.has(last)) {
        chat.open(conversations.get(last));
        return;
      }
      chat.close();
      const sample = Object.values(SAMPLES).find((samples) => Object.hasOwn(samples, last));
      onPick(last === "" ? this.own : sample[last]);
    });
    /** To be called when the text is no sample any more. */
    this.clear = () => {
      last = element.value = "";
      chat.close();
    };
  }

  #addGroup(label, names) {
    const group = document.createElement("optgroup");
    group.label = label;
    group.append(...names.map((name) => new Option(name)));
    this.element.append(group);
  }
}
