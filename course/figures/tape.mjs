// A computation graph on a tape: forwards one node at a time, then backwards; each edge carries local × upstream.

import { arrange, choose, frame, printed, shape, slider, stepper, toggle } from "./frame.mjs";

// Each operation: its value, and its derivative by each of its inputs.
const OPERATIONS = {
  add: [(a, b) => a + b, () => [1, 1]],
  mul: [(a, b) => a * b, (a, b) => [b, a]],
  div: [(a, b) => a / b, (a, b) => [1 / b, -a / (b * b)]],
  exp: [(a) => Math.exp(a), (a) => [Math.exp(a)]],
  tanh: [(a) => Math.tanh(a), (a) => [1 - Math.tanh(a) ** 2]],
  nlog: [(a) => -Math.log(a), (a) => [-1 / a]],
};
const SIGNS = { add: "a + b", mul: "a · b", div: "a / b", exp: "exp a", tanh: "tanh a", nlog: "−ln a" };

/** All values, final gradients, and the edges in the order in which they send something back. */
function run(nodes, { overwrite = false, kept = null } = {}) {
  const values = [];
  for (const { op, inputs, value } of nodes)
    values.push(op === "input" ? value : OPERATIONS[op][0](...inputs.map((i) => values[i])));
  const last = nodes.length - 1, sent = [];
  const grads = nodes.map(({ op }, i) => (kept && op === "input" ? kept[i] : 0));
  grads[last] = 1;
  for (let i = last; i >= 0; i--) {
    if (nodes[i].op === "input") continue;
    const locals = OPERATIONS[nodes[i].op][1](...nodes[i].inputs.map((j) => values[j]));
    nodes[i].inputs.forEach((j, k) => {
      const part = locals[k] * grads[i];
      grads[j] = overwrite ? part : grads[j] + part;
      sent.push({ from: i, to: j, local: locals[k], upstream: grads[i], part, total: grads[j] });
    });
  }
  return { values, grads, sent };
}

/** The same graph with one input put in the place of another, so that it is used twice. */
function tied(nodes, [gone, kept]) {
  return nodes.map((node) => ({ ...node, inputs: node.inputs.map((i) => (i === gone ? kept : i)) }));
}

/** What a node computes, in the names of its inputs. */
function formula(nodes, i) {
  const { op, inputs } = nodes[i], [a, b] = inputs.map((j) => nodes[j].name);
  return op === "input" ? "" : SIGNS[op].replace(/\b[ab]\b/g, (letter) => (letter === "a" ? a : b));
}

export default {
  run, tied, formula,
  render({ model, el }) {
    const { nodes, twice, claims } = model.get("data");
    const depth = [];
    for (const { inputs } of nodes) depth.push(inputs.length ? 1 + Math.max(...inputs.map((i) => depth[i])) : 0);
    const columns = Math.max(...depth) + 1, boxWide = 82, boxTall = 54;
    const inColumn = (column) => depth.flatMap((d, i) => (d === column ? [i] : []));
    const most = Math.max(...Array.from({ length: columns }, (_, c) => inColumn(c).length));
    const layouts = { // values go to the right, or down, where a row's nodes share the width
      wide: { isDown: false, step: 122, beside: 74, width: columns * 122 - 30, height: most * 74 + 6 },
      narrow: { isDown: true, step: 100, width: Math.max(340, most * 86), height: columns * 100 - 38 },
    };
    const view = frame(el, { ...layouts.wide,
      title: "Values go forward, gradients come back",
      label: "A computation graph with the value and the gradient of each node", name: "tape" });
    let isDown = false, places = [];
    function place({ step, beside, width }, i) {
      const same = inColumn(depth[i]), along = depth[i] * step + 4, rank = same.indexOf(i) + 0.5;
      return isDown ? [rank * width / same.length - boxWide / 2, along] : [along, (rank + (most - same.length) / 2) * beside - 28];
    }
    const state = { step: 0, isTied: false, overwrite: false, forgot: false };
    const inner = nodes.flatMap(({ op }, i) => (op === "input" ? [] : [i]));
    const steps = 2 * inner.length + 1;
    stepper(view.controls, { label: "Step", min: 0, max: steps, step: 1, value: 0 }, (step) => { state.step = step; draw(); });
    const inputs = nodes.flatMap(({ op }, i) => (op === "input" ? [i] : []));
    let edited = inputs[0];
    choose(view.controls, { label: "Change", options: inputs.map((i) => nodes[i].name), value: 0 },
      (k) => {
        edited = inputs[k];
        amount.value = nodes[edited].value;
        amount.nextElementSibling.textContent = printed(String(nodes[edited].value));
      });
    const amount = slider(view.controls, { label: "to", min: -3, max: 3, step: 0.1, value: nodes[edited].value },
      (value) => { nodes[edited].value = value; draw(); });
    if (twice) toggle(view.controls, { label: `use ${nodes[twice[1]].name} twice (for ${nodes[twice[0]].name} too)` },
      (on) => { state.isTied = on; draw(); });
    toggle(view.controls, { label: "mistake: = instead of +=" }, (on) => { state.overwrite = on; draw(); });
    toggle(view.controls, { label: "mistake: second pass, forgot zero_grad" }, (on) => { state.forgot = on; draw(); });

    const number = (value) => (Object.is(value, -0) ? 0 : value).toFixed(3);

    /** Where an edge leaves the node `to` and where it reaches the node `from`. */
    function ends(from, to) {
      const [[x1, y1], [x2, y2]] = [places[to], places[from]], middle = boxWide / 2;
      return isDown ? [x1 + middle, y1 + boxTall, x2 + middle, y2] : [x1 + boxWide, y1 + 26, x2, y2 + 26];
    }

    function edge(from, to, isLive) {
      const [x1, y1, x2, y2] = ends(from, to);
      view.picture.append(shape("line",
        { x1, y1, x2, y2, stroke: isLive ? "var(--orange)" : "var(--line)", "stroke-width": isLive ? 2.5 : 1 }));
    }

    function message({ from, to, part }) {
      const [x1, y1, x2, y2] = ends(from, to);
      view.picture.append(shape("text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2 + 4, "text-anchor": "middle",
        style: "font-size:12px;paint-order:stroke;stroke:var(--paper);stroke-width:4px" }, number(part)));
    }

    function box(graph, i, value, gradient, isLive) {
      const [x, y] = places[i];
      view.picture.append(shape("rect",
        { x, y, width: boxWide, height: boxTall, rx: 5, fill: "var(--panel)", stroke: isLive ? "var(--orange)" : "var(--line)",
          "stroke-width": isLive ? 2.5 : 1 }));
      view.picture.append(shape("text", { x: x + 5, y: y + 15, style: "font-weight:600" }, graph[i].name));
      view.picture.append(shape("text", { x: x + boxWide - 5, y: y + 15, "text-anchor": "end", class: "quiet", style: "font-size:11px" },
        formula(graph, i)));
      if (value !== null) view.picture.append(shape("text", { x: x + 5, y: y + 32 }, number(value)));
      if (gradient !== null)
        view.picture.append(shape("text", { x: x + 5, y: y + 49, style: "fill:var(--blue)" }, `∂ ${number(gradient)}`));
    }

    function draw() {
      const graph = state.isTied ? tied(nodes, twice) : nodes;
      const kept = state.forgot ? run(graph, state).grads : null;
      const { values, grads, sent } = run(graph, { ...state, kept });
      const forward = Math.min(state.step, inner.length), backward = state.step - inner.length - 1; // −1: nothing sent yet
      const live = state.step === 0 ? -1 : backward < 0 ? inner[forward - 1] : backward === 0 ? nodes.length - 1
        : inner[inner.length - backward];
      const done = new Set(inner.slice(inner.length - Math.max(0, backward)));
      const arrived = sent.filter(({ from }) => done.has(from)), now = arrived.filter(({ from }) => from === live);
      const shown = graph.map(({ op }, i) => (backward < 0 ? (op === "input" && kept ? kept[i] : null) : i === nodes.length - 1 ? 1
        : arrived.filter(({ to }) => to === i).at(-1)?.total ?? (op === "input" && kept ? kept[i] : 0)));
      view.picture.replaceChildren();
      graph.forEach(({ inputs: from }, i) => from.forEach((j) => edge(i, j, now.some((one) => one.from === i && one.to === j))));
      graph.forEach(({ op }, i) => box(graph, i, op === "input" || inner.indexOf(i) < forward ? values[i] : null, shown[i], i === live));
      now.forEach(message);
      view.say(sentence(graph, values, grads, backward, live, now));
      view.numbers(["node", "value", "gradient at the end"], graph.map(({ name }, i) => [name, number(values[i]), number(grads[i])]));
    }

    function sentence(graph, values, grads, backward, live, now) {
      const name = (i) => graph[i].name;
      if (state.step === 0) return "The inputs are given. Step forwards.";
      if (backward < 0) return `Forwards: ${name(live)} = ${number(values[live])}.`;
      if (backward === 0) return `Backwards begins: ∂${name(live)}/∂${name(live)} = 1.`;
      const messages = now.map(({ to, local, upstream, part }) =>
        `to ${name(to)}: local ${number(local)} × upstream ${number(upstream)} = ${number(part)}`);
      const ending = state.step < steps ? "" : " Done. "
        + claims.map(([z, p, y]) => `∂/∂${name(z)} = ${number(grads[z])}, and ${name(p)} − ${y} = ${number(values[p] - y)}`).join("; ");
      return `${name(live)} sends ${messages.join("; ")}.${ending}`;
    }
    arrange(view, layouts, (layout) => {
      ({ isDown } = layout);
      places = nodes.map((_, i) => place(layout, i));
      draw();
    });
  },
};
