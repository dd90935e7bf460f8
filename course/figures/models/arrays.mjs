// The few operations on vectors that the models are made of. A matrix is { rows, columns, values }, row after row.

/** W x + b; without b, W x. */
export function affine(W, x, b = null) {
  const y = new Float64Array(W.rows), { columns, values } = W;
  for (let i = 0, k = 0; i < W.rows; i++) {
    let sum = b ? b[i] : 0;
    for (let j = 0; j < columns; j++) sum += values[k++] * x[j];
    y[i] = sum;
  }
  return y;
}

/** Row `index` of a matrix: the embedding of a token. */
export const row = (W, index) => W.values.subarray(index * W.columns, (index + 1) * W.columns);

export const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** Log-probabilities in nats. */
export function logSoftmax(logits) {
  let largest = -Infinity, total = 0;
  for (const z of logits) if (z > largest) largest = z;
  for (const z of logits) total += Math.exp(z - largest);
  const shift = largest + Math.log(total);
  return Float64Array.from(logits, (z) => z - shift);
}
