// The choice of what is in the text box: one's own text, or one of the page's texts. One's own is kept meanwhile.

export class Picker {
  /** `texts` are those of the page, each { group, name, text }. `onPick(text)` puts a text into the `input`. */
  constructor(element, input, texts, onPick) {
    this.element = element;
    let own = "";
    let last = "";
    for (const [place, { group, name }] of texts.entries()) {
      if (name !== null) this.#groupOf(group).append(new Option(name, String(place)));
    }
    element.addEventListener("change", () => {
      if (last === "") own = input.value;
      last = element.value;
      onPick(last === "" ? own : texts[Number(last)].text);
    });
    /** To be called when the text is no text of the page any more. */
    this.clear = () => {
      last = element.value = "";
    };
  }

  #groupOf(label) {
    const found = [...this.element.querySelectorAll("optgroup")].find((group) => group.label === label);
    if (found !== undefined) return found;
    const group = document.createElement("optgroup");
    group.label = label;
    this.element.append(group);
    return group;
  }
}
