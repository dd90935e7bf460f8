// node compare_models.mjs FOLDER: prints, as JSON, what given.json, stories.json and NAME.f32 of a folder show.

import { readFileSync } from "node:fs";
import { compared } from "./compared_models.mjs";

const folder = process.argv[2], json = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));
const expected = (name) => {
  const bytes = readFileSync(`${folder}/${name}.f32`);
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
};
console.log(JSON.stringify(await compared(json("given"), json("stories"), expected)));
