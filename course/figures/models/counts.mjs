// Modified Kneser-Ney (Chen and Goodman 1999, section 3) from a table of n-grams: { words: [oldest … newest], counts }.

/** For contexts of k = 0 … n − 1 tokens: a Map from the context's key to a Map from word to count. */
export function tables({ columns, counts }, vocabulary) {
  const n = columns.length, found = columns.map(() => new Map());
  for (let i = 0; i < counts.length; i++) {
    let key = 0;
    for (let k = 0; k < n; k++) { // the context grows from its newest token to its oldest
      if (k > 0) key = key * vocabulary + columns[n - 1 - k][i] + 1;
      if (!found[k].has(key)) found[k].set(key, new Map());
      const words = found[k].get(key), word = columns[n - 1][i];
      words.set(word, (words.get(word) ?? 0) + counts[i]);
    }
  }
  return found;
}

const oldest = (key, vocabulary) => (key - 1) % vocabulary;
const shorter = (key, vocabulary) => Math.floor((key - 1) / vocabulary);

/** After how many different older tokens each word appears in each context. */
function continuations(longer, vocabulary) {
  const found = new Map();
  for (const [key, words] of longer) {
    const context = shorter(key, vocabulary);
    if (!found.has(context)) found.set(context, new Map());
    const seen = found.get(context);
    for (const word of words.keys()) seen.set(word, (seen.get(word) ?? 0) + 1);
  }
  return found;
}

/** One order: what each context gives its words, and the share γ that it leaves to the shorter context. */
function discounted(counted, longer, k, discounts, { vocabulary, bos }) {
  const different = longer && continuations(longer, vocabulary), found = new Map();
  for (const [key, words] of counted) {
    const begins = k > 0 && oldest(key, vocabulary) === bos;
    if (k > 1 && begins && oldest(shorter(key, vocabulary), vocabulary) === bos) continue; // the shorter one says as much
    const values = longer && !begins ? different.get(key) : words;
    let total = 0, freed = 0;
    for (const value of values.values()) { total += value; freed += discounts[Math.min(value, 3) - 1]; }
    const shares = [...values].map(([word, value]) => [word, (value - discounts[Math.min(value, 3) - 1]) / total]);
    found.set(key, { shares, gamma: freed / total });
  }
  return found;
}

/** The model whose order is the number of its discounts: `kneserNey(…)()` begins a text; its reader takes a token at a time. */
export function kneserNey(counted, discounts, { vocabulary, bos }) {
  const order = discounts.length, levels = discounts.map((discount, k) =>
    discounted(counted[k], k + 1 < order ? counted[k + 1] : null, k, discount, { vocabulary, bos }));
  return () => {
    let context = new Array(order - 1).fill(bos); // newest first
    return (token) => {
      context = token === bos ? context.fill(bos) : [token, ...context].slice(0, order - 1);
      let probs = new Float64Array(vocabulary).fill(1 / vocabulary), key = 0;
      for (let k = 0; k < order; k++) {
        if (k > 0) key = key * vocabulary + context[k - 1] + 1;
        const seen = levels[k].get(key);
        if (!seen) continue;
        probs = probs.map((p) => p * seen.gamma);
        for (const [word, share] of seen.shares) probs[word] += share;
      }
      return probs.map(Math.log);
    };
  };
}
