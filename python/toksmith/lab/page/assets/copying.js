// Copying: into the clipboard, with a note at the button, and the tokens of a selection.

/** Milliseconds for which a note is shown. */
const NOTE_TIME = 6000;
/** Pixels between a note and its button, and between a note and the edges of the window. */
const GAP = 8;

/** A message below an element, for some seconds. */
export class Note {
  constructor(element) {
    this.element = element;
  }

  show(anchor, message) {
    const { element } = this;
    element.textContent = message;
    const box = anchor.getBoundingClientRect();
    const rightmost = document.documentElement.clientWidth - element.offsetWidth - GAP;
    element.style.left = `${scrollX + Math.max(GAP, Math.min(box.left, rightmost))}px`;
    element.style.top = `${scrollY + box.bottom + GAP}px`;
    clearTimeout(this.end);
    this.end = setTimeout(() => (element.textContent = ""), NOTE_TIME);
  }
}

/** Puts a text into the clipboard; returns whether the browser allows it. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text); // a page from a server without TLS has no `navigator.clipboard`
  }
}

function copyByCommand(text) {
  const put = (event) => {
    setCopied(event, text);
    event.stopImmediatePropagation();
  };
  addEventListener("copy", put, { capture: true });
  const isCopied = document.execCommand("copy");
  removeEventListener("copy", put, { capture: true });
  return isCopied;
}

function setCopied(event, text) {
  event.clipboardData.setData("text/plain", text);
  event.preventDefault();
}

/**
 * Copies selected tokens as the text that they stand for, or as ids with commas; tokens of several panels in lines.
 * A selection inside one token is left to the browser.
 */
export function copySelection(event, panels) {
  const selection = getSelection();
  if (selection.rangeCount !== 1 || event.target instanceof HTMLTextAreaElement) return;
  const range = selection.getRangeAt(0);
  const selected = panels.map((panel) => [panel, panel.idsIn(range)]).filter(([, ids]) => ids.length > 0);
  if (selected.length === 0 || (selected.length === 1 && selected[0][1].length === 1)) return;
  setCopied(event, selected.map(([panel, ids]) => panel.copied(ids)).join("\n"));
}

/** Returns whether some of the text of an element is in a range. */
export function hasTextIn(range, element) {
  if (!range.intersectsNode(element)) return false;
  const [shared, whole] = [range.cloneRange(), document.createRange()];
  whole.selectNodeContents(element);
  if (shared.compareBoundaryPoints(Range.START_TO_START, whole) < 0) shared.setStart(element, 0);
  if (shared.compareBoundaryPoints(Range.END_TO_END, whole) > 0) shared.setEnd(element, element.childNodes.length);
  return shared.toString() !== "";
}
