// The models of a page against what torch says of the same stories, wherever this runs.

import { rungs } from "../../../course/figures/models/ladder.mjs";
import { storyLanguage } from "../../../course/figures/models/story_language.mjs";

/** For each model the largest difference of a log-probability, in nats, and milliseconds per token; `expected(name)`: torch's. */
export async function compared(given, stories, expected) {
  const found = {}, begins = { truth: storyLanguage(given.grammar), ...(await rungs(given)) };
  for (const [name, begin] of Object.entries(begins)) {
    const wantedValues = await expected(name);
    let largest = 0, i = 0, spent = 0, n = 0;
    for (const story of stories) {
      const read = begin();
      for (const token of story) {
        const began = performance.now(), logProbs = read(token);
        spent += performance.now() - began;
        n++;
        for (const value of logProbs) {
          const wanted = wantedValues[i++];
          if (wanted !== value) largest = Math.max(largest, Number.isFinite(wanted) ? Math.abs(wanted - value) : Infinity);
        }
      }
    }
    found[name] = { largest, milliseconds: spent / n, finished: i === wantedValues.length };
  }
  return found;
}
