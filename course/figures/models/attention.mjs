// Multi-head causal self-attention with rotary positions (Vaswani and others 2017, section 3.2; Su and others 2021, equation 34).

import { affine, logSoftmax } from "./arrays.mjs";

/** Rotate each adjacent pair of every head by its position times the pair's frequency, base^(−2i/K), in place. */
function rotate(x, position, frequencies) {
  const K = 2 * frequencies.length;
  for (let start = 0; start < x.length; start += K) {
    for (let i = 0; i < K; i += 2) {
      const angle = position * frequencies[i / 2], cos = Math.cos(angle), sin = Math.sin(angle);
      const even = x[start + i], odd = x[start + i + 1];
      x[start + i] = even * cos - odd * sin;
      x[start + i + 1] = even * sin + odd * cos;
    }
  }
  return x;
}

/** What one query makes of the keys, by head: { scores, weights }, each [head][key]; −∞ and 0 for what it may not see. */
function looks(query, keys, sees, nHeads) {
  const K = query.length / nHeads, heads = Array.from({ length: nHeads }, (_, head) => head * K);
  const scores = heads.map((start) => Float64Array.from(keys, (key, s) => {
    if (!sees(s)) return -Infinity;
    let score = 0;
    for (let i = start; i < start + K; i++) score += query[i] * key[i];
    return score / Math.sqrt(K);
  }));
  return { scores, weights: scores.map((each) => logSoftmax(each).map(Math.exp)) };
}

export const UNBROKEN = { place: (t) => t, sees: (t, s) => s <= t, isCut: () => false };

/**
 * One layer of attention that remembers the `keys` (turned) and `values` of all it has read. `attend(xs)` reads new
 * positions at once and returns what each of them found; `attend.steps[t]` is how: { query, turned, scores, weights,
 * found }, where `scores` and `weights` are [head][s]. `broken` changes where a word is told it stands, what it may see,
 * or which heads are cut out.
 */
export function selfAttention(weights, prefix, nHeads, broken = UNBROKEN) {
  const matrix = (name) => weights[`${prefix}.W_${name}.weight`], bias = (name) => weights[`${prefix}.W_${name}.bias`].values;
  const project = (name, x) => affine(matrix(name), x, bias(name)), keys = [], values = [];
  const K = matrix("query").rows / nHeads, frequencies = Array.from({ length: K / 2 }, (_, i) => 10_000 ** (-2 * i / K));
  const attend = (xs) => {
    const first = keys.length;
    for (const [i, x] of xs.entries()) {
      keys.push(rotate(project("key", x), broken.place(first + i), frequencies));
      values.push(project("value", x));
    }
    return xs.map((x, i) => {
      const query = project("query", x), turned = rotate(query.slice(), broken.place(first + i), frequencies);
      const seen = looks(turned, keys, (s) => broken.sees(first + i, s), nHeads), found = new Float64Array(query.length);
      seen.weights.forEach((map, head) => {
        if (broken.isCut(head)) return;
        for (let s = 0; s < keys.length; s++)
          if (map[s]) for (let j = head * K; j < (head + 1) * K; j++) found[j] += map[s] * values[s][j];
      });
      attend.steps.push({ query, turned, ...seen, found });
      return project("output", found);
    });
  };
  return Object.assign(attend, { keys, values, steps: [] });
}
