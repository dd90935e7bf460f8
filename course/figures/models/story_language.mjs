// The truth: the exact distribution of the next word of a story, by the forward recursion over the grammar (Rabiner 1989, equation 20).

const NOTHING = -1;

/** What a story has stated so far: its hero, the last action, and the thing of each action. */
function remember(memory, word, roles) {
  const doing = roles.actionOfVerb[word] ?? NOTHING, done = roles.actionOfThing[word] ?? NOTHING;
  const things = [...memory.things];
  if (done !== NOTHING && things[done] === NOTHING) things[done] = word;
  return {
    hero: memory.hero === NOTHING && word in roles.pronounOf ? word : memory.hero,
    action: doing === NOTHING ? memory.action : doing,
    things,
  };
}

/** P(word | source, memory) as pairs [word, probability], by the kind of source; none if the memory holds no such word. */
const sources = {
  Words: ({ tokens, weights }) => tokens.map((token, i) => [token, weights[i]]),
  FreshThing({ weights }, memory, roles) {
    const left = roles.things.filter((_, action) => memory.things[action] === NOTHING);
    return left.flatMap((things) => things.map((thing, i) => [thing, weights[i] / left.length]));
  },
  KnownVerb: (_, memory, roles) => verbs((action) => memory.things[action] !== NOTHING, roles),
  OtherVerb: (_, memory, roles) => verbs((action) => memory.things[action] !== NOTHING && action !== memory.action, roles),
  RecalledThing: (_, memory) => certain(memory.action === NOTHING ? NOTHING : memory.things[memory.action]),
  HeroName: (_, memory) => certain(memory.hero),
  HeroPronoun: (_, memory, roles) => certain(roles.pronounOf[memory.hero] ?? NOTHING),
};
const certain = (word) => (word === NOTHING ? [] : [[word, 1]]);
const verbs = (isAllowed, roles) => {
  const allowed = roles.verbs.filter((_, action) => isAllowed(action));
  return allowed.map((verb) => [verb, 1 / allowed.length]);
};

/**
 * `storyLanguage(grammar)()` begins a story; its reader takes a word and gives the log-probabilities of the next one.
 * After a word that could not come, `reader.isLost` is true and every word is equally likely.
 */
export function storyLanguage({ vocabulary, nodes, kinds, roles: given }) {
  const inverted = (lists) => Object.fromEntries(lists.flatMap((list, i) => list.map((word) => [word, i])));
  const roles = { ...given, actionOfVerb: inverted(given.verbs.map((verb) => [verb])), actionOfThing: inverted(given.things) };
  return () => {
    let belief = new Map([[0, 1]]), memory = { hero: NOTHING, action: NOTHING, things: given.verbs.map(() => NOTHING) };
    const distribution = () => {
      const found = kinds.map(() => null);
      return (node) => (found[nodes[node].source] ??= sources[kinds[nodes[node].source].kind](kinds[nodes[node].source], memory, roles));
    };
    const reader = (word) => {
      const of = distribution(), next = new Map();
      let total = 0;
      for (const [node, share] of belief) {
        const p = share * (of(node).find(([token]) => token === word)?.[1] ?? 0);
        if (!p) continue;
        total += p;
        for (const [to, q] of nodes[node].next) next.set(to, (next.get(to) ?? 0) + p * q);
      }
      memory = remember(memory, word, roles);
      reader.isLost ||= total === 0;
      if (reader.isLost) return new Float64Array(vocabulary).fill(-Math.log(vocabulary));
      belief = new Map([...next].map(([node, p]) => [node, p / total]));
      const probs = new Float64Array(vocabulary), after = distribution();
      for (const [node, share] of belief) for (const [token, p] of after(node)) probs[token] += share * p;
      return probs.map(Math.log);
    };
    reader.isLost = false;
    return reader;
  };
}
