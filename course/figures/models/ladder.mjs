// Every rung of the ladder from its parcel: title → begin(), whose reader takes a word and predicts the next.

import { kneserNey, tables } from "./counts.mjs";
import { feedForward } from "./feedforward.mjs";
import { ngrams, tensors } from "./parcel.mjs";
import { recurrent } from "./recurrent.mjs";
import { oneLook } from "./self_attention.mjs";
import { transformer } from "./transformer.mjs";

const networks = {
  feedforward: (weights, _, { bos }) => feedForward(weights, bos),
  rnn: (weights) => recurrent("rnn", weights),
  gru: (weights) => recurrent("gru", weights),
  lstm: (weights) => recurrent("lstm", weights),
  attention: (weights, { nHeads }) => oneLook(weights, nHeads),
  gpt: (weights, sizes) => transformer(weights, sizes),
};

/** The rungs by title, in order: those that count share one table of n-grams, each network brings its weights. */
export async function rungs({ counted, networks: parcels, vocabulary, bos }) {
  const found = {}, sizes = { vocabulary, bos };
  if (counted) {
    const table = tables(await ngrams(counted), vocabulary);
    for (const [title, discounts] of counted.models) found[title] = kneserNey(table, discounts, sizes);
  }
  for (const parcel of parcels) found[parcel.title] = networks[parcel.kind](await tensors(parcel), parcel.sizes, sizes);
  return found;
}
