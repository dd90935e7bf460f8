// The next word, drawn: the methods of `course.sampling`, of which each takes logits and gives −∞ to what it removes.

/** Probabilities, of which the logits need only be right up to a constant. */
export function softmax(logits) {
  const largest = Math.max(...logits), powers = Array.from(logits, (z) => Math.exp(z - largest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

/** −Σ P log P, in nats. */
export const entropy = (probs) => -probs.reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0);

const best = (logits) => logits.indexOf(Math.max(...logits));
const largestFirst = (values) => Array.from(values, (_, i) => i).sort((a, b) => values[b] - values[a] || a - b);

/** The logits of those that are kept; the likeliest word always is. */
const keepOnly = (logits, isKept) => {
  const likeliest = best(logits);
  return Array.from(logits, (z, i) => (i === likeliest || isKept(i) ? z : -Infinity));
};
const atLeast = (logits, limitOf) => {
  const probs = softmax(logits), limit = limitOf(probs);
  return keepOnly(logits, (i) => probs[i] >= limit);
};

/** z / t. */
export const heated = (logits, t) => Array.from(logits, (z) => z / t);

/** The likeliest word alone. */
export const greedy = (logits) => keepOnly(logits, () => false);

/** The k likeliest, and what ties with the last of them (Fan and others 2018). */
export function topK(logits, k) {
  const limit = [...logits].sort((a, b) => b - a)[Math.min(k, logits.length) - 1];
  return keepOnly(logits, (i) => logits[i] >= limit);
}

/** The smallest set of likeliest words that together have p (Holtzman and others 2020). */
export function topP(logits, p) {
  if (p >= 1) return Array.from(logits);
  const probs = softmax(logits), kept = new Set();
  let before = 0;
  for (const i of largestFirst(logits)) {
    if (before >= p - 1e-9) break;
    kept.add(i);
    before += probs[i];
  }
  return keepOnly(logits, (i) => kept.has(i));
}

/** P ≥ p · max P (Nguyen and others 2024). */
export const minP = (logits, p) => atLeast(logits, (probs) => p * Math.max(...probs));

/** P ≥ a · (max P)² (BlinkDL 2022). */
export const topA = (logits, a) => atLeast(logits, (probs) => a * Math.max(...probs) ** 2);

/** P ≥ ε (Hewitt and others 2022). */
export const epsilonCutoff = (logits, epsilon) => atLeast(logits, () => epsilon);

/** P ≥ min(ε, √ε · e^(−H)) (Hewitt and others 2022). */
export const etaCutoff = (logits, epsilon) =>
  atLeast(logits, (probs) => Math.min(epsilon, Math.sqrt(epsilon) * Math.exp(-entropy(probs))));

/** The words whose surprise is closest to the entropy, until they have this mass; ties stay (Meister and others 2023). */
export function typical(logits, mass) {
  if (mass >= 1) return Array.from(logits);
  const probs = softmax(logits), expected = entropy(probs), away = probs.map((p) => Math.abs(-Math.log(p) - expected));
  let reached = 0, last = 0;
  for (const i of largestFirst(away.map((distance) => -distance))) {
    last = away[i];
    reached += probs[i];
    if (reached >= mass) break;
  }
  return keepOnly(logits, (i) => away[i] <= last);
}

/** z ≥ max z − n σ(z), over the words that are possible (Tang and others 2024). */
export function topNSigma(logits, n) {
  const possible = Array.from(logits).filter(Number.isFinite), mean = possible.reduce((sum, z) => sum + z, 0) / possible.length;
  const squares = possible.reduce((sum, z) => sum + (z - mean) ** 2, 0);
  const limit = Math.max(...logits) - n * Math.sqrt(squares / Math.max(1, possible.length - 1));
  return keepOnly(logits, (i) => logits[i] >= limit);
}

/** z / r where z > 0, z · r where z < 0, for every word that has been (Keskar and others 2019). */
export function repetitionPenalty(logits, r, history) {
  const been = new Set(history);
  return Array.from(logits, (z, i) => (!been.has(i) ? z : z > 0 ? z / r : z * r));
}

/** −log₂ P of each word. */
const surprises = (logits) => softmax(logits).map((p) => -Math.log2(p));

/** What surprises by at most μ bits: Mirostat, version 2 (Basu and others 2021). */
export function atMostSurprise(logits, mu) {
  const bits = surprises(logits);
  return keepOnly(logits, (i) => bits[i] <= mu);
}

/** Mirostat's μ after a word: lower if it surprised by more than the target, by the model's own logits. */
export const nextMu = (mu, logits, token, target, learningRate = 0.1) => mu - learningRate * (surprises(logits)[token] - target);

/** The first word at which the probabilities, added up, exceed a number in [0, 1). */
export function pick(logits, random = Math.random) {
  const probs = softmax(logits);
  let rest = random();
  const found = probs.findIndex((p) => p > 0 && (rest -= p) < 0);
  return found < 0 ? best(logits) : found; // the sum may be a little below 1
}

const filtered = (filter) => (value) => (logits, history, random) => pick(filter(logits, value, history), random);

/**
 * Every method by its name: `begin(value)` begins a text, and what it returns draws a word from logits, the words so
 * far, and a source of numbers in [0, 1). `knob`: the name and the range of its value; null without one.
 */
export const samplers = [
  { name: "from all words", knob: null, begin: filtered((logits) => logits) },
  { name: "greedy", knob: null, begin: filtered(greedy) },
  { name: "top-k", knob: { label: "k", min: 1, max: 40, step: 1, value: 5 }, begin: filtered(topK) },
  { name: "top-p", knob: { label: "p", min: 0.5, max: 1, step: 0.01, value: 0.9 }, begin: filtered(topP) },
  { name: "min-p", knob: { label: "p", min: 0, max: 0.5, step: 0.01, value: 0.1 }, begin: filtered(minP) },
  { name: "locally typical", knob: { label: "mass", min: 0.2, max: 1, step: 0.01, value: 0.9 }, begin: filtered(typical) },
  { name: "top-a", knob: { label: "a", min: 0, max: 1, step: 0.01, value: 0.2 }, begin: filtered(topA) },
  { name: "epsilon cutoff", knob: { label: "ε", min: 0, max: 0.1, step: 0.001, value: 0.01 }, begin: filtered(epsilonCutoff) },
  { name: "eta cutoff", knob: { label: "ε", min: 0, max: 0.1, step: 0.001, value: 0.01 }, begin: filtered(etaCutoff) },
  { name: "top-n-sigma", knob: { label: "n", min: 0.1, max: 4, step: 0.1, value: 1 }, begin: filtered(topNSigma) },
  { name: "Mirostat", knob: { label: "bits", min: 0.2, max: 5, step: 0.1, value: 1.5 }, begin: (target) => {
    let mu = 2 * target;
    return (logits, _, random) => {
      const token = pick(atMostSurprise(logits, mu), random);
      mu = nextMu(mu, logits, token, target);
      return token;
    };
  } },
  { name: "repetition penalty", knob: { label: "r", min: 1, max: 2, step: 0.05, value: 1.2 }, begin: filtered(repetitionPenalty) },
];
