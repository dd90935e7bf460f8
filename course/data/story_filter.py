"""Exact filtering: the probability of each node of the grammar after a prefix, and so of each next word.

For a belief b over the automaton's nodes and a memory m,

    P(x | prefix) = Σ_n b(n) P_n(x | m)             b'(n') ∝ Σ_n b(n) P_n(x | m) P(n' | n)

which is the forward recursion of a hidden Markov model (Rabiner 1989, equation 20), normalised at each step.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from course.data.story_grammar import Automaton
from course.data.story_memory import Memory
from course.data.story_sources import Source, Words
from course.data.story_words import Roles
from course.shapes import Float, Int, Tensor


@dataclass(frozen=True)
class Emission:
    """P(word | source, memory) for all sources; distributions that never change are stored in a table."""

    fixed: Tensor  # (S_fixed, V)
    remembering: tuple[Source, ...]
    column_of: Tensor  # (N,) the column of a node's source: the fixed ones first

    @classmethod
    def of(cls, automaton: Automaton, vocab_size: int) -> Emission:
        """The emission of an automaton's sources, sorted into fixed ones and those that use the memory."""
        fixed = [source for source in automaton.sources if isinstance(source, Words)]
        remembering = [source for source in automaton.sources if not isinstance(source, Words)]
        order = fixed + remembering
        column = torch.tensor([order.index(source) for source in automaton.sources])
        table = torch.stack([source.row(vocab_size) for source in fixed])
        return cls(table, tuple(remembering), column[automaton.source_of])

    def of_word(self, words: Int[Tensor, " batch"], memory: Memory) -> Float[Tensor, "batch nodes"]:
        """P(word | node, memory)."""
        columns = [self.fixed[:, words].T]  # (B, S_fixed)
        columns += [source.probs(memory).gather(1, words[:, None]) for source in self.remembering]
        return torch.cat(columns, dim=1)[:, self.column_of]

    def mixture(self, belief: Float[Tensor, "batch nodes"], memory: Memory) -> Float[Tensor, "batch vocab"]:
        """P(word | belief, memory): the nodes' distributions, weighted by the belief."""
        n_fixed = len(self.fixed)
        weights = belief.new_zeros(len(belief), n_fixed + len(self.remembering))
        weights.index_add_(1, self.column_of, belief)  # (B, N) → (B, S)
        probs = weights[:, :n_fixed] @ self.fixed
        for column, source in enumerate(self.remembering, start=n_fixed):
            probs = probs + weights[:, column, None] * source.probs(memory)
        return probs


def next_word_probs(
    automaton: Automaton, roles: Roles, tokens: Int[Tensor, "batch time"]
) -> Float[Tensor, "batch time vocab"]:
    """P(next word | prefix) at every position, float64.

    A prefix that the grammar cannot produce is followed by a row of zeros.
    """
    emission = Emission.of(automaton, roles.vocab_size)
    memory = Memory.empty(roles, len(tokens))
    belief = torch.zeros(len(tokens), automaton.n_nodes, dtype=torch.float64)
    belief[:, 0] = 1.0
    steps = []
    for words in tokens.T:
        joint = belief * emission.of_word(words, memory)
        posterior = joint / joint.sum(-1, keepdim=True).clamp(min=1e-300)  # stays zero where nothing fits
        belief, memory = posterior @ automaton.follow, memory.after(words)
        steps.append(emission.mixture(belief, memory))
    return torch.stack(steps, dim=1)
