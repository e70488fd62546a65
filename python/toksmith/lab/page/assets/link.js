// The text in the fragment of the page's address. A fragment is not sent to any server.

/** Characters of the longest link that is made. */
const MAX_LINK = 30_000;

/** Returns the fragment for a text and a switch; null if it would be too long. */
export function fragmentOf(text, readsSpecial) {
  const fragment = `#text=${encodeURIComponent(text)}${readsSpecial ? "" : "&special=text"}`;
  return fragment.length > MAX_LINK ? null : fragment;
}

/** Returns what a fragment holds: { text, readsSpecial }; null if it holds no text. */
export function readFragment(fragment) {
  const fields = new URLSearchParams(fragment.slice(1).replaceAll("+", "%2B"));
  const text = fields.get("text");
  return text === null ? null : { text, readsSpecial: fields.get("special") !== "text" };
}
