// Multi-head causal self-attention with rotary positions (Vaswani and others 2017, section 3.2; Su and others 2021, equation 34).

import { affine } from "./arrays.mjs";

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

/** The weights of one query over the keys that it may see, one head after another: [head][key], 0 for what it may not. */
function looks(query, keys, sees, nHeads) {
  const K = query.length / nHeads;
  return Array.from({ length: nHeads }, (_, head) => {
    const start = head * K, weights = new Float64Array(keys.length);
    let largest = -Infinity, total = 0;
    const scores = keys.map((key, s) => {
      if (!sees(s)) return -Infinity;
      let score = 0;
      for (let i = start; i < start + K; i++) score += query[i] * key[i];
      largest = Math.max(largest, score / Math.sqrt(K));
      return score / Math.sqrt(K);
    });
    scores.forEach((score, s) => { weights[s] = Math.exp(score - largest); total += weights[s]; });
    return weights.map((weight) => weight / total);
  });
}

export const UNBROKEN = { place: (t) => t, sees: (t, s) => s <= t, isCut: () => false };

/**
 * One layer of attention that remembers the keys and values of all it has read. `attend(xs)` reads new positions at
 * once and returns what each of them found; `attend.maps[t][head][s]` are the weights. `broken` changes where a word is
 * told it stands, what it may see, or which heads are cut out.
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
      const query = rotate(project("query", x), broken.place(first + i), frequencies);
      const maps = looks(query, keys, (s) => broken.sees(first + i, s), nHeads), found = new Float64Array(query.length);
      attend.maps.push(maps);
      maps.forEach((map, head) => {
        if (broken.isCut(head)) return;
        for (let s = 0; s < keys.length; s++)
          if (map[s]) for (let j = head * K; j < (head + 1) * K; j++) found[j] += map[s] * values[s][j];
      });
      return project("output", found);
    });
  };
  attend.maps = [];
  return attend;
}
