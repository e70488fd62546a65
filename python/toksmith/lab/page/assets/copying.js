// Copying into the clipboard, with a note at the button.

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
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
  };
  addEventListener("copy", put, { capture: true });
  const isCopied = document.execCommand("copy");
  removeEventListener("copy", put, { capture: true });
  return isCopied;
}
