// RNN (Elman 1990), GRU (Cho and others 2014, as in cuDNN) and LSTM (Hochreiter and Schmidhuber 1997): one step each.

import { affine, logSoftmax, row, sigmoid } from "./arrays.mjs";

const steps = {
  /** h = tanh(W x + b + U h). */
  rnn({ h }, given, U) {
    const held = affine(U, h);
    return { h: held.map((value, j) => Math.tanh(given[j] + value)) };
  },
  /** r and z, then the candidate n; r acts after the product U_n h. */
  gru({ h }, given, U, candidate) {
    const held = affine(U, h), D = h.length;
    return {
      h: h.map((old, j) => {
        const r = sigmoid(given[j] + held[j]), z = sigmoid(given[D + j] + held[D + j]);
        const n = Math.tanh(given[2 * D + j] + r * (held[2 * D + j] + candidate[j]));
        return n + z * (old - n);
      }),
    };
  },
  /** i, f, g, o; c = f c + i g, h = o tanh c. */
  lstm({ h, c }, given, U) {
    const held = affine(U, h), D = h.length, part = (gate, j) => given[gate * D + j] + held[gate * D + j];
    const kept = c.map((old, j) => sigmoid(part(1, j)) * old + sigmoid(part(0, j)) * Math.tanh(part(2, j)));
    return { h: kept.map((value, j) => sigmoid(part(3, j)) * Math.tanh(value)), c: kept };
  },
};

/** A network of one layer of these cells: `recurrent("gru", weights)()` begins a text. */
export const recurrent = (cell, weights) => () => {
  const [W, U, b] = ["W", "U", "b"].map((name) => weights[`network.cells.0.${name}`]);
  const candidate = weights["network.cells.0.b_candidate"]?.values;
  let state = { h: new Float64Array(U.columns), c: new Float64Array(U.columns) };
  return (token) => {
    state = steps[cell](state, affine(W, row(weights["embedding.weight"], token), b.values), U, candidate);
    return logSoftmax(affine(weights["output.weight"], state.h, weights["output.bias"].values));
  };
};
