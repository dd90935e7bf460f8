// A GPT: pre-norm blocks of causal attention and a feed-forward layer, tied embeddings (Radford and others 2019).

import { affine, logSoftmax, row } from "./arrays.mjs";
import { selfAttention } from "./attention.mjs";

const add = (x, y) => x.map((value, j) => value + y[j]);

/** GELU in its tanh form. */
const gelu = (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

function norm(x, weights, name, epsilon = 1e-5) {
  const gain = weights[`${name}.gain`].values, bias = weights[`${name}.bias`].values;
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const scale = 1 / Math.sqrt(x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length + epsilon);
  return x.map((value, j) => gain[j] * (value - mean) * scale + bias[j]);
}

function block(weights, layer, nHeads, broken) {
  const name = `blocks.${layer}`, dense = (part, x) =>
    affine(weights[`${name}.feed_forward.${part}.weight`], x, weights[`${name}.feed_forward.${part}.bias`].values);
  const attend = selfAttention(weights, `${name}.attention`, nHeads, broken && { ...broken, isCut: (head) => broken.isCut(layer, head) });
  const read = (xs) => {
    const found = attend(xs.map((x) => norm(x, weights, `${name}.norm_attention`)));
    return xs.map((x, i) => {
      const seen = add(x, found[i]);
      return add(seen, dense("contract", dense("expand", norm(seen, weights, `${name}.norm_feed_forward`)).map(gelu)));
    });
  };
  read.maps = attend.maps;
  return read;
}

/**
 * `transformer(weights, sizes)()` begins a text. Its reader takes a token, or several at once as an array, and gives the
 * log-probabilities of the next one, or an array of them; `reader.maps[layer][t][head][s]` are its attention weights.
 * `broken`, see selfAttention, is { place(t), sees(t, s), isCut(layer, head) }.
 */
export const transformer = (weights, { nHeads, nLayers }, broken = undefined) => () => {
  const embedding = weights["embedding.weight"];
  const blocks = Array.from({ length: nLayers }, (_, layer) => block(weights, layer, nHeads, broken));
  const readAll = (tokens) => {
    const start = tokens.map((token) => Float64Array.from(row(embedding, token)));
    return blocks.reduce((xs, read) => read(xs), start).map((x) => logSoftmax(affine(embedding, norm(x, weights, "norm"))));
  };
  const reader = (tokens) => (Array.isArray(tokens) ? readAll(tokens) : readAll([tokens])[0]);
  reader.maps = blocks.map(({ maps }) => maps);
  return reader;
};
