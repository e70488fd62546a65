// Reads the blocks of the page: JSON, compressed, as `document.py` writes them.

/** Returns the content of block `number`. */
export async function unpackBlock(number) {
  const data = bytesOf(atob(document.getElementById(`block-${number}`).textContent));
  return new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

/** Returns the bytes of a binary string, one of characters below U+0100. */
export function bytesOf(binary) {
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
