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

  /**
   * Calls `onStretch(start, end, token)` for each token of a part of a text, and for the text between, with `undefined`.
   * A token that `accepts(token, start, end)` refuses is text.
   */
  segments(text, [first, last], accepts, onStretch) {
    const { anyFirst } = this;
    let at = first;
    anyFirst.lastIndex = first;
    for (let match = anyFirst.exec(text); match !== null && match.index < last; match = anyFirst.exec(text)) {
      const start = match.index;
      const isHere = ({ foundBy }) => start + foundBy.length <= last && text.startsWith(foundBy, start);
      const token = this.byFirst.get(match[0]).find(isHere);
      if (token === undefined) continue;
      const end = start + token.foundBy.length;
      anyFirst.lastIndex = end;
      // One that is read as text hides those that overlap it all the same.
      if (!accepts(token, start, end)) continue;
      if (start > at) onStretch(at, start, undefined);
      onStretch(start, end, token);
      at = end;
    }
    if (at < last) onStretch(at, last, undefined);
  }
}

/** Where special tokens count: in `ranges` of a text, each [start, end]. Added tokens of these `names` are special, too. */
export class Trust {
  constructor(ranges, names = []) {
    this.ranges = ranges;
    this.names = new Set(names);
  }

  /** Returns the trust in all of a text, or in none of it. */
  static ofWhole(text, readsSpecial) {
    return new Trust(readsSpecial ? [[0, text.length]] : []);
  }

  isSpecial(token) {
    return token.isSpecial || this.names.has(token.content);
  }

  covers(start, end) {
    return this.ranges.some(([first, last]) => first <= start && end <= last);
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
  prepare(text, trust) {
    const stretches = [];
    if (this.keepsText) {
      this.#segments(text, trust, (first, last, token) => {
        if (token !== undefined) stretches.push({ start: first, end: last, token });
        else this.#find(text.slice(first, last), trust, first, stretches);
      });
      return { text, stretches };
    }
    const made = { text: "", stretches, starts: [], ends: [] };
    this.#segments(text, trust, (first, last, token) => {
      const characters = Characters.of(text, first, last);
      if (token !== undefined) addStretch(made, characters, token);
      else this.#change(characters, trust, made);
    });
    return made.text === text ? { text, stretches } : made;
  }

  /** Finds added tokens as the text stands. */
  #segments(text, trust, onStretch) {
    const isWhole = trust.covers(0, text.length);
    const accepts = (token) => isWhole || !trust.isSpecial(token);
    let at = 0;
    for (const [start, end, token] of isWhole ? [] : this.#trusted(text, trust)) {
      this.raw.segments(text, [at, start], accepts, onStretch);
      onStretch(start, end, token);
      at = end;
    }
    this.raw.segments(text, [at, text.length], accepts, onStretch);
  }

  /** Returns the special tokens in the trusted ranges. Each is searched alone: text behind it makes no token longer. */
  #trusted(text, trust) {
    const trusted = [];
    const add = (start, end, token) => {
      if (token !== undefined && trust.isSpecial(token)) trusted.push([start, end, token]);
    };
    for (const range of trust.ranges) this.raw.segments(text, range, () => true, add);
    return trusted;
  }

  #find(text, trust, shift, stretches) {
    const accepts = (token, start, end) => !trust.isSpecial(token) || trust.covers(start + shift, end + shift);
    this.after.segments(text, [0, text.length], accepts, (start, end, token) => {
      stretches.push({ start: start + shift, end: end + shift, token });
    });
  }

  #change(original, trust, made) {
    const characters = this.steps.reduce((before, step) => step.apply(before), original);
    const placeAt = characters.placesInText();
    const text = characters.text();
    const accepts = (token, start, end) =>
      !trust.isSpecial(token) || trust.covers(characters.starts[placeAt[start]], characters.ends[placeAt[end] - 1]);
    this.after.segments(text, [0, text.length], accepts, (start, end, token) => {
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
