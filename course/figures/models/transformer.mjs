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

/** One block: `read(xs)`; `read.steps[t]` are the values at each of its steps, those of its attention among them. */
function block(weights, layer, nHeads, broken) {
  const name = `blocks.${layer}`, dense = (part, x) =>
    affine(weights[`${name}.feed_forward.${part}.weight`], x, weights[`${name}.feed_forward.${part}.bias`].values);
  const attend = selfAttention(weights, `${name}.attention`, nHeads, broken && { ...broken, isCut: (head) => broken.isCut(layer, head) });
  const steps = [], read = (xs) => {
    const normed = xs.map((x) => norm(x, weights, `${name}.norm_attention`)), attended = attend(normed);
    return xs.map((x, i) => {
      const seen = add(x, attended[i]), normedSeen = norm(seen, weights, `${name}.norm_feed_forward`);
      const expanded = dense("expand", normedSeen), activated = expanded.map(gelu), contracted = dense("contract", activated);
      const left = add(seen, contracted), attention = attend.steps[steps.length];
      steps.push({ x, normed: normed[i], ...attention, attended: attended[i], seen, normedSeen, expanded, activated, contracted, left });
      return left;
    });
  };
  return Object.assign(read, { keys: attend.keys, values: attend.values, steps });
}

/** What the last norm makes of the stream, and how that agrees with each word's embedding: { normed, logits }. */
export function scored(weights, x) {
  const normed = norm(x, weights, "norm");
  return { normed, logits: affine(weights["embedding.weight"], normed) };
}

/**
 * `transformer(weights, sizes)()` begins a text. Its reader takes a token, or several at once as an array, and gives the
 * log-probabilities of the next one, or an array of them. `reader.steps[layer][t]` is what a block did at a position, see
 * `block` and `selfAttention`: its attention weights are `.weights[head][s]`; `reader.keys[layer][s]` and `reader.values`.
 * `broken`, see selfAttention, is { place(t), sees(t, s), isCut(layer, head) }.
 */
export const transformer = (weights, { nHeads, nLayers }, broken = undefined) => () => {
  const embedding = weights["embedding.weight"];
  const blocks = Array.from({ length: nLayers }, (_, layer) => block(weights, layer, nHeads, broken));
  const readAll = (tokens) => {
    const start = tokens.map((token) => Float64Array.from(row(embedding, token)));
    return blocks.reduce((xs, read) => read(xs), start).map((x) => logSoftmax(scored(weights, x).logits));
  };
  const reader = (tokens) => (Array.isArray(tokens) ? readAll(tokens) : readAll([tokens])[0]);
  return Object.assign(reader, Object.fromEntries(["keys", "values", "steps"].map((name) => [name, blocks.map((read) => read[name])])));
};
