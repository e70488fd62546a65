// What a token looks like: characters that stand for themselves, and marks for all that cannot be seen. Nothing that
// stands in a token can change how the page is drawn.

/** Characters without a glyph, or that change how their neighbours are drawn: controls, formats, unassigned, spaces. */
const UNSEEN = /^[\p{C}\p{Z}]$/u;
/** Others that no font draws: fillers, the empty Braille, selectors of variants. */
const ALSO_UNSEEN =
  /^[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]$/u;
const COMBINING = /^\p{M}$/u;
const ESCAPES = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\\", "\\\\"],
]);

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Returns the characters of bytes, in order: each a string, or the number of a byte that is no part of a whole
 * character.
 */
export function charactersOf(bytes) {
  const found = [];
  for (let at = 0; at < bytes.length; ) {
    const length = [1, 2, 3, 4].find((length) => textOf(bytes.subarray(at, at + length)) !== null);
    found.push(length === undefined ? bytes[at] : textOf(bytes.subarray(at, at + length)));
    at += length ?? 1;
  }
  return found;
}

/** Returns the text of bytes; null if they are not UTF-8. */
function textOf(bytes) {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Returns a token in parts: [text, kind]. The kind is "text" for what stands for itself, "space" for spaces, "mark" for
 * an escape, and "line" for one behind which the line ends.
 */
export function markedParts(bytes) {
  const parts = [];
  charactersOf(bytes).forEach((character, place) => {
    const [text, kind] = markOf(character, place);
    const last = parts.at(-1);
    if (last !== undefined && last[1] === kind && kind !== "line") last[0] += text;
    else parts.push([text, kind]);
  });
  return parts;
}

function markOf(character, place) {
  if (typeof character === "number") return [`\\x${hex(character, 2)}`, "mark"];
  if (character === " ") return [" ", "space"];
  if (ESCAPES.has(character)) return [ESCAPES.get(character), character === "\n" ? "line" : "mark"];
  const codePoint = character.codePointAt(0);
  if (UNSEEN.test(character) || ALSO_UNSEEN.test(character)) {
    return [codePoint < 0x80 ? `\\x${hex(codePoint, 2)}` : `\\u{${hex(codePoint, 1)}}`, "mark"];
  }
  // Alone it would be drawn on the token before it.
  if (place === 0 && COMBINING.test(character)) return [`◌${character}`, "mark"];
  return [character, "text"];
}

/** Returns a token as one visible word, in which spaces are `␣`. */
export function shown(bytes) {
  return markedParts(bytes).map(([text, kind]) => (kind === "space" ? text.replaceAll(" ", "␣") : text)).join("");
}

export function hex(number, digits) {
  return number.toString(16).padStart(digits, "0");
}

/** Adds the parts of a token to an element. With `breaksLines`, a line ends behind each newline that is not the last. */
export function appendMarked(element, bytes, breaksLines) {
  const parts = markedParts(bytes);
  parts.forEach(([text, kind], i) => {
    if (kind === "text") {
      element.append(text);
      return;
    }
    const mark = document.createElement("i");
    mark.className = kind === "space" ? "space" : "mark";
    mark.textContent = text;
    element.append(mark);
    if (kind === "line" && breaksLines && i + 1 < parts.length) element.append("\n");
  });
}
