// The choice of what is in the text box: one's own text, or a sample. One's own text is kept meanwhile.

import { SAMPLES } from "./samples.js";

export class Picker {
  /** `onPick(text)` puts a text into the `input`. */
  constructor(element, input, onPick) {
    this.element = element;
    this.own = "";
    for (const [group, samples] of Object.entries(SAMPLES)) this.#addGroup(group, Object.keys(samples));
    let last = "";
    element.addEventListener("change", () => {
      if (last === "") this.own = input.value;
      last = element.value;
      const sample = Object.values(SAMPLES).find((samples) => last in samples);
      onPick(last === "" ? this.own : sample[last]);
    });
    /** To be called when the text is no sample any more. */
    this.clear = () => (last = element.value = "");
  }

  #addGroup(label, names) {
    const group = document.createElement("optgroup");
    group.label = label;
    group.append(...names.map((name) => new Option(name)));
    this.element.append(group);
  }
}
