// Reads the blocks of the page: columns of numbers, compressed, as `packing.py` writes them.

/** Returns the columns of block `number`, each a Uint32Array. */
export async function unpackBlock(number) {
  const text = atob(document.getElementById(`block-${number}`).textContent);
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return readColumns(new Uint8Array(await new Response(stream).arrayBuffer()));
}

/** Returns the bytes of a binary string, one of characters below U+0100. */
export function bytesOf(binary) {
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** Each column is its length, then the lowest byte of all its numbers, then the next ones. */
function readColumns(bytes) {
  const columns = [];
  const view = new DataView(bytes.buffer);
  let at = 0;
  while (at < bytes.length) {
    const length = view.getUint32(at, true);
    const column = new Uint32Array(length);
    at += 4;
    for (let shift = 0; shift < 32; shift += 8) {
      for (let i = 0; i < length; i++) column[i] |= bytes[at + i] << shift;
      at += length;
    }
    columns.push(column);
  }
  return columns;
}

/** Returns the numbers of which `steps` holds how far each is from the number behind the one before it. */
export function sumSteps(steps) {
  const numbers = new Uint32Array(steps.length);
  let last = -1;
  for (let i = 0; i < steps.length; i++) {
    numbers[i] = last + 1 + steps[i];
    last = numbers[i];
  }
  return numbers;
}
