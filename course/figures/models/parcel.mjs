// Numbers as they travel in a page: bytes, deflated, in base64; a tensor of weights is whole numbers times a step.

/** The bytes of a parcel. */
export async function opened(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Int8Array(await new Response(stream).arrayBuffer());
}

/** Tensors by name, each { rows, columns, values }, from the parcel { text, tensors: [name, shape, step] }. */
export async function tensors(parcel) {
  const bytes = await opened(parcel.text), found = {};
  let start = 0;
  for (const [name, shape, step] of parcel.tensors) {
    const size = shape.reduce((product, n) => product * n, 1);
    const values = Float32Array.from(bytes.subarray(start, start + size), (whole) => whole * step);
    found[name] = { rows: shape[0], columns: size / shape[0], values };
    start += size;
  }
  return found;
}

/** The table of n-grams { columns: [oldest … newest], counts } from a parcel of columns of bytes. */
export async function ngrams({ text, order, size }) {
  const bytes = new Uint8Array((await opened(text)).buffer), column = (i) => bytes.subarray(i * size, (i + 1) * size);
  const high = column(order + 1);
  return {
    columns: Array.from({ length: order }, (_, i) => column(i)),
    counts: Array.from(column(order), (low, i) => low + 256 * high[i]),
  };
}
