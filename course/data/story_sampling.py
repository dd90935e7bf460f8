"""Draw stories from the grammar, word by word, all stories in parallel."""

from __future__ import annotations

import torch

from course.data.story_grammar import Automaton
from course.data.story_memory import Memory
from course.data.story_words import Roles
from course.shapes import Float, Int, Tensor


def draw(probs: Float[Tensor, "batch choices"], generator: torch.Generator) -> Int[Tensor, " batch"]:
    """One index per row of probabilities, by inverting the cumulative distribution."""
    cumulative = probs.cumsum(-1)
    uniform = torch.rand(len(probs), 1, generator=generator, dtype=torch.float64) * cumulative[:, -1:]
    drawn = torch.searchsorted(cumulative, uniform, right=True)[:, 0]
    return drawn.clamp(max=probs.shape[1] - 1)


def draw_nodes(
    cumulative: Float[Tensor, "nodes nodes"], node: Int[Tensor, " batch"], generator: torch.Generator
) -> Int[Tensor, " batch"]:
    """The node after each of these; a row of `cumulative` sums up the probabilities of what comes next."""
    uniform = torch.rand(len(node), generator=generator, dtype=torch.float64) * cumulative[node, -1]
    after = torch.empty_like(node)
    for index in node.unique().tolist():  # a row for each story would be larger by far than the stories
        stories = (node == index).nonzero()[:, 0]
        after[stories] = torch.searchsorted(cumulative[index], uniform[stories], right=True)
    return after.clamp(max=len(cumulative) - 1)


def draw_words(
    automaton: Automaton, node: Int[Tensor, " batch"], memory: Memory, generator: torch.Generator
) -> Int[Tensor, " batch"]:
    """One word for each prefix, drawn from the source of its node."""
    source_of_prefix = automaton.source_of[node]
    words = torch.empty_like(node)
    for index in source_of_prefix.unique().tolist():
        prefixes = (source_of_prefix == index).nonzero()[:, 0]
        words[prefixes] = draw(automaton.sources[index].probs(memory.rows(prefixes)), generator)
    return words


def sample_derivations(
    automaton: Automaton, roles: Roles, n_stories: int, generator: torch.Generator
) -> tuple[Int[Tensor, "stories longest"], Int[Tensor, "stories longest"]]:
    """Words and nodes of whole stories; after its end, a story repeats the end node."""
    node = torch.zeros(n_stories, dtype=torch.int64)
    memory = Memory.empty(roles, n_stories)
    words, nodes, cumulative = [], [], automaton.follow.cumsum(-1)
    for _ in range(automaton.longest_text()):
        word = draw_words(automaton, node, memory, generator)
        words.append(word)
        nodes.append(node)
        memory = memory.after(word)
        node = draw_nodes(cumulative, node, generator)
    return torch.stack(words, dim=1), torch.stack(nodes, dim=1)
