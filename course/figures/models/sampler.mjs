// The next word, drawn: temperature, then top-p.

/** A token drawn from log-probabilities: the likeliest words that together have `topP`, after dividing by the temperature. */
export function pick(logProbs, { temperature = 1, topP = 1 }, random = Math.random) {
  const largest = Math.max(...logProbs), powers = [...logProbs].map((z) => Math.exp((z - largest) / temperature));
  const order = powers.map((_, token) => token).sort((a, b) => powers[b] - powers[a] || a - b);
  const limit = topP * powers.reduce((sum, power) => sum + power, 0), kept = [];
  let total = 0;
  for (const token of order) {
    if (total >= limit) break;
    kept.push(token);
    total += powers[token];
  }
  let rest = random() * total;
  return kept.find((token) => (rest -= powers[token]) < 0) ?? kept[0];
}
