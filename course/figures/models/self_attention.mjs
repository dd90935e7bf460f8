// A language model of one self-attention: what the word is, and what it found among the words before it.

import { affine, logSoftmax, row } from "./arrays.mjs";
import { selfAttention } from "./attention.mjs";

/** `oneLook(weights, nHeads)()` begins a text; `reader.steps` is as the Transformer's. */
export const oneLook = (weights, nHeads) => () => {
  const attend = selfAttention(weights, "attention", nHeads);
  const reader = (token) => {
    const x = row(weights["embedding.weight"], token), [found] = attend([x]);
    return logSoftmax(affine(weights["output.weight"], found.map((value, j) => x[j] + value), weights["output.bias"].values));
  };
  reader.steps = [attend.steps];
  return reader;
};
