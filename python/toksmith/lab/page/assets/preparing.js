// What happens to a text before it is cut into pretokens: added tokens are found, the rest is normalized, and a space
// may be put in front.

import { Characters, SPACE } from "./normalizing.js";

/** Finds added tokens: of overlapping ones the leftmost, of several at one place the longest. */
class Finder {
  /** `added` are tokens with the text that each is `foundBy`. */
  constructor(added) {
    this.byFirst = new Map();
    const firsts = added.map(({ foundBy }) => foundBy[0].replace(/[\\\]^-]/, "\\$&")).join("");
    this.anyFirst = new RegExp(`[${firsts}]`, "g");
    for (const token of [...added].sort((one, two) => two.foundBy.length - one.foundBy.length)) {
      const known = this.byFirst.get(token.foundBy[0]);
      if (known === undefined) this.byFirst.set(token.foundBy[0], [token]);
      else known.push(token);
    }
  }

  /** Calls `onStretch(start, end, token)` for each token and for the text between, with `undefined`. */
  segments(text, readsSpecial, onStretch) {
    const { anyFirst } = this;
    let at = 0;
    anyFirst.lastIndex = 0;
    for (let found = anyFirst.exec(text); found !== null; found = anyFirst.exec(text)) {
      const start = found.index;
      const token = this.byFirst.get(found[0]).find(({ foundBy }) => text.startsWith(foundBy, start));
      if (token === undefined) continue;
      const end = start + token.foundBy.length;
      anyFirst.lastIndex = end;
      // One that is read as text hides those that overlap it all the same.
      if (token.isSpecial && !readsSpecial) continue;
      if (start > at) onStretch(at, start, undefined);
      onStretch(start, end, token);
      at = end;
    }
    if (at < text.length) onStretch(at, text.length, undefined);
  }
}

export class Preparation {
  /** `added` are the tokens of the page's data; `steps` those of the normalizer. */
  constructor(added, steps, hasPrefix) {
    this.raw = new Finder(added.filter((token) => !token.isNormalized));
    this.after = new Finder(added.filter((token) => token.isNormalized));
    this.steps = steps;
    this.hasPrefix = hasPrefix;
    /** Whether a text is cut and merged as it is. */
    this.keepsText = steps.length === 0 && !hasPrefix;
  }

  /**
   * Returns the text that is cut, and its `stretches`, each with where it starts and ends and its added token, if it is
   * one. Unless it is the same text, `starts` and `ends` say for each place in it where its character is in `text`.
   */
  prepare(text, readsSpecial) {
    const stretches = [];
    if (this.keepsText) {
      this.raw.segments(text, readsSpecial, (first, last, token) => {
        if (token !== undefined) stretches.push({ start: first, end: last, token });
        else this.#find(text.slice(first, last), readsSpecial, first, stretches);
      });
      return { text, stretches };
    }
    const made = { text: "", stretches, starts: [], ends: [] };
    this.raw.segments(text, readsSpecial, (first, last, token) => {
      const characters = Characters.of(text, first, last);
      if (token !== undefined) addStretch(made, characters, token);
      else this.#change(characters, readsSpecial, made);
    });
    return made.text === text ? { text, stretches } : made;
  }

  #find(text, readsSpecial, shift, stretches) {
    this.after.segments(text, readsSpecial, (start, end, token) => {
      stretches.push({ start: start + shift, end: end + shift, token });
    });
  }

  #change(original, readsSpecial, made) {
    const characters = this.steps.reduce((before, step) => step.apply(before), original);
    const placeAt = characters.placesInText();
    this.after.segments(characters.text(), readsSpecial, (start, end, token) => {
      const part = characters.slice(placeAt[start], placeAt[end]);
      if (token === undefined && this.hasPrefix && part.codes[0] !== SPACE) part.putSpaceInFront();
      addStretch(made, part, token);
    });
  }
}

function addStretch(made, characters, token) {
  const start = made.text.length;
  made.text += characters.text();
  made.stretches.push({ start, end: made.text.length, token });
  characters.codes.forEach((code, i) => {
    for (let unit = code > 0xffff ? 2 : 1; unit > 0; unit--) {
      made.starts.push(characters.starts[i]);
      made.ends.push(characters.ends[i]);
    }
  });
}
