// The text in the fragment of the page's address. A fragment is not sent to any server.

/** Characters of a text that stands in a link as it is; a longer one is compressed. */
const MAX_PLAIN = 300;
/** Characters of the longest link that is made, and of the longest text that is read from one. */
const MAX_LINK = 100_000;
const MAX_TEXT = 4_000_000;

/** Returns the fragment for a text and a switch; null if it would be too long. */
export async function fragmentOf(text, readsSpecial) {
  const plain = encodeURIComponent(text);
  const content = plain.length <= MAX_PLAIN ? `text=${plain}` : `packed=${await deflated(text)}`;
  return content.length > MAX_LINK ? null : `#${content}${readsSpecial ? "" : "&special=text"}`;
}

/** Returns what a fragment holds: { text, readsSpecial }; null if there is no text that can be read. */
export async function readFragment(fragment) {
  const fields = new URLSearchParams(fragment.slice(1).replaceAll("+", "%2B"));
  try {
    const text = fields.has("packed") ? await inflated(fields.get("packed")) : fields.get("text");
    return text === null ? null : { text, readsSpecial: fields.get("special") !== "text" };
  } catch {
    return null;
  }
}

async function deflated(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Returns the text again. Of a link that was made to fill the memory, no more than `MAX_TEXT` is read. */
async function inflated(packed) {
  const letters = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > MAX_TEXT) throw new RangeError("the text in the link is too long");
  }
}
