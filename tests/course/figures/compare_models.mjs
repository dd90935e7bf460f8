// node compare_models.mjs FOLDER: the models of a page against what torch says of the same stories.
// Reads given.json, stories.json and NAME.f32; prints, as JSON, the largest difference of each, and milliseconds per token.

import { readFileSync } from "node:fs";
import { rungs } from "../../../course/figures/models/ladder.mjs";
import { storyLanguage } from "../../../course/figures/models/story_language.mjs";

const folder = process.argv[2], json = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));
const given = json("given"), stories = json("stories"), found = {};
const begins = { truth: storyLanguage(given.grammar), ...(await rungs(given)) };
for (const [name, begin] of Object.entries(begins)) {
  const bytes = readFileSync(`${folder}/${name}.f32`), expected = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  let largest = 0, i = 0, spent = 0, n = 0;
  for (const story of stories) {
    const read = begin();
    for (const token of story) {
      const began = performance.now(), logProbs = read(token);
      spent += performance.now() - began;
      n++;
      for (const value of logProbs) {
        const wanted = expected[i++];
        if (wanted !== value) largest = Math.max(largest, Number.isFinite(wanted) ? Math.abs(wanted - value) : Infinity);
      }
    }
  }
  found[name] = { largest, milliseconds: spent / n, finished: i === expected.length };
}
console.log(JSON.stringify(found));
