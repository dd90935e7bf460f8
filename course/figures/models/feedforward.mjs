// A window of words through one hidden layer (Bengio and others 2003, equation 1).

import { affine, logSoftmax, row } from "./arrays.mjs";

/** `feedForward(weights, bos)()` begins a text; the reader it returns takes a token and gives the next one's log-probabilities. */
export const feedForward = (weights, bos) => () => {
  const embedding = weights["embedding.weight"], hidden = weights["hidden.weight"], output = weights["output.weight"];
  const nWindow = hidden.columns / embedding.columns, window = new Array(nWindow).fill(bos);
  return (token) => {
    window.push(token);
    window.shift();
    const read = new Float64Array(hidden.columns);
    window.forEach((word, place) => read.set(row(embedding, word), place * embedding.columns));
    const h = affine(hidden, read, weights["hidden.bias"].values).map(Math.tanh);
    return logSoftmax(affine(output, h, weights["output.bias"].values));
  };
};
