// Normalizes text with the tables of toksmith's core, and keeps where in the text each character comes from.

import { CODE_POINTS } from "./automaton.js";
import { sumSteps } from "./unpack.js";

export const SPACE = 0x20;
/** Characters that become a string at a time: arguments of one call. */
const AT_ONCE = 8192;
const [SYLLABLES, LEADS, VOWELS, FINALS] = [0xac00, 0x1100, 0x1161, 0x11a7];
const [LEAD_COUNT, VOWEL_COUNT, FINAL_COUNT] = [19, 21, 28];
const SYLLABLE_COUNT = LEAD_COUNT * VOWEL_COUNT * FINAL_COUNT;

/** Characters, each with where the part of the text that it comes from starts and ends. */
export class Characters {
  constructor(codes, starts, ends) {
    this.codes = codes;
    this.starts = starts;
    this.ends = ends;
  }

  static of(text, start, end) {
    const [codes, starts, ends] = [[], [], []];
    for (let at = start; at < end; ) {
      const code = text.codePointAt(at);
      codes.push(code);
      starts.push(at);
      at += code > 0xffff ? 2 : 1;
      ends.push(at);
    }
    return new Characters(codes, starts, ends);
  }

  text() {
    const parts = [];
    for (let at = 0; at < this.codes.length; at += AT_ONCE) {
      parts.push(String.fromCodePoint(...this.codes.slice(at, at + AT_ONCE)));
    }
    return parts.join("");
  }

  /** Returns, for each place in the text where a character starts, and for its end, the number of that character. */
  placesInText() {
    const places = [];
    let at = 0;
    this.codes.forEach((code, i) => {
      places[at] = i;
      at += code > 0xffff ? 2 : 1;
    });
    places[at] = this.codes.length;
    return places;
  }

  slice(start, end) {
    return new Characters(this.codes.slice(start, end), this.starts.slice(start, end), this.ends.slice(start, end));
  }

  /** The space comes from where the first character does. */
  putSpaceInFront() {
    this.codes.unshift(SPACE);
    this.starts.unshift(this.starts[0]);
    this.ends.unshift(this.ends[0]);
  }

  /**
   * Returns other characters in place of these. Each has a number that says what it replaces: 0 the next character,
   * -n the next one and n more, 1 none.
   */
  replaced(codes, changes) {
    const [starts, ends] = [[], []];
    const last = this.codes.length - 1;
    let at = 0;
    for (const change of changes) {
      const from = Math.min(change > 0 ? at - 1 : at, last);
      starts.push(from < 0 ? 0 : this.starts[from]);
      ends.push(from < 0 ? 0 : this.ends[from]);
      if (change <= 0) at = Math.min(at + 1 - change, last + 1);
    }
    return new Characters(codes, starts, ends);
  }
}

/** One step of a normalizer: `normalization.py` says what its columns are. */
export class Step {
  constructor(columns, { sorts, composes }) {
    const [touched, apart, lengths, spelled, marks, classes, lefts, rights, composed] = columns;
    this.sorts = sorts;
    this.composes = composes;
    this.isTouched = new Uint8Array(CODE_POINTS);
    for (const code of sumSteps(touched)) this.isTouched[code] = 1;
    this.apart = new Map();
    let at = 0;
    sumSteps(apart).forEach((code, i) => this.apart.set(code, spelled.subarray(at, (at += lengths[i]))));
    this.classes = new Map([...sumSteps(marks)].map((code, i) => [code, classes[i]]));
    this.pairs = new Map([...lefts].map((left, i) => [left * CODE_POINTS + rights[i], composed[i]]));
  }

  apply(characters) {
    if (!characters.codes.some((code) => this.isTouched[code])) return characters;
    let [codes, changes] = this.#takeApart(characters.codes);
    if (this.sorts) [codes, changes] = this.#sort(codes, changes);
    if (this.composes) [codes, changes] = this.#compose(codes, changes);
    return characters.replaced(codes, changes);
  }

  #takeApart(old) {
    const [codes, changes] = [[], []];
    for (const code of old) {
      const parts = this.sorts && isSyllable(code) ? partsOfSyllable(code) : this.apart.get(code);
      if (parts === undefined) {
        codes.push(code);
        changes.push(0);
        continue;
      }
      parts.forEach((part, i) => {
        codes.push(part);
        changes.push(i > 0 ? 1 : 0);
      });
    }
    return [codes, changes];
  }

  #classOf(code) {
    return this.classes.get(code) ?? 0;
  }

  /** Sorts each run of marks by class; marks of one class keep their order. */
  #sort(codes, changes) {
    const order = [...codes.keys()];
    for (let start = 0; start < codes.length; ) {
      let end = start;
      while (end < codes.length && this.#classOf(codes[end]) > 0) end++;
      if (end - start > 1) {
        const sorted = order.slice(start, end).sort((one, two) => this.#classOf(codes[one]) - this.#classOf(codes[two]));
        sorted.forEach((place, i) => (order[start + i] = place));
      }
      start = end + 1;
    }
    return [order.map((place) => codes[place]), order.map((place) => changes[place])];
  }

  /** Composes each character that is no mark with what follows it and is not blocked by a mark between. */
  #compose(codes, changes) {
    const found = [[], []];
    const emit = (code, change) => {
      found[0].push(code);
      found[1].push(change);
    };
    let [base, change, lastClass, marks] = [-1, 0, 0, []];
    const end = () => {
      if (base >= 0) emit(base, change);
      for (const place of marks) emit(codes[place], changes[place]);
      marks = [];
      lastClass = 0;
    };
    codes.forEach((code, place) => {
      const markClass = this.#classOf(code);
      if (base < 0 && markClass > 0) {
        emit(code, changes[place]);
        return;
      }
      const isBlocked = lastClass > 0 && lastClass >= markClass;
      const composed = base < 0 || isBlocked ? undefined : this.#pair(base, code);
      if (composed !== undefined) {
        base = composed;
        change += changes[place] - 1;
      } else if (markClass === 0) {
        end();
        [base, change] = [code, changes[place]];
      } else {
        marks.push(place);
        lastClass = markClass;
      }
    });
    end();
    return found;
  }

  #pair(left, right) {
    const [lead, vowel] = [left - LEADS, right - VOWELS];
    if (lead >= 0 && lead < LEAD_COUNT && vowel >= 0 && vowel < VOWEL_COUNT) {
      return SYLLABLES + (lead * VOWEL_COUNT + vowel) * FINAL_COUNT;
    }
    const final = right - FINALS;
    if (isSyllable(left) && (left - SYLLABLES) % FINAL_COUNT === 0 && final > 0 && final < FINAL_COUNT) {
      return left + final;
    }
    return this.pairs.get(left * CODE_POINTS + right);
  }
}

function isSyllable(code) {
  return code >= SYLLABLES && code < SYLLABLES + SYLLABLE_COUNT;
}

function partsOfSyllable(code) {
  const number = code - SYLLABLES;
  const final = number % FINAL_COUNT;
  const vowel = Math.floor(number / FINAL_COUNT) % VOWEL_COUNT;
  const parts = [LEADS + Math.floor(number / (VOWEL_COUNT * FINAL_COUNT)), VOWELS + vowel];
  return final === 0 ? parts : [...parts, FINALS + final];
}
