"""Stories in a small English whose true next-word distribution is known at every position.

> nora had apples , lamps , tickets and drums . the girls near the mill sing .
> she lit lamps and played drums . " who ate apples and printed tickets ? " said nora .

To predict a story well, a model needs to know about:

- word order: after "near" comes "the", after "ate" comes food (counts of short n-grams)
- agreement: the girls near the mill sing (a state)
- quotes and brackets: each closes, in the right order (a stack)
- hero and pronoun: nora … she, a whole story later (a lasting memory)
- bindings: which food, and which instrument, recalled in any order (several memories, or attention)

`story_words` holds the lexicon, `story_rules` the grammar, `story_filter` the exact P(next word | prefix).
"""

from __future__ import annotations

import math
from functools import cached_property

import torch

from course.data.story_filter import next_word_probs
from course.data.story_grammar import Automaton, compile_grammar
from course.data.story_rules import StoryConfig, StoryRules
from course.data.story_sampling import sample_derivations
from course.data.story_words import Roles
from course.data.vocabulary import Batch, Vocabulary
from course.language_model import check_tokens
from course.shapes import Float, Int, Tensor


class StoryLanguage:
    """The language and its own true model: a `LanguageModel` that no other can beat.

    After a prefix that the grammar cannot produce, its distribution is uniform.
    """

    context_length = None

    def __init__(self, config: StoryConfig | None = None) -> None:
        self.config = StoryConfig() if config is None else config
        self.vocabulary: Vocabulary = self.config.lexicon.vocabulary()
        self.roles = Roles.of(self.config.lexicon, self.vocabulary)
        self.automaton: Automaton = compile_grammar(StoryRules(self.config, self.vocabulary).story())

    @property
    def vocab_size(self) -> int:
        return len(self.vocabulary)

    def __call__(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time vocab"]:
        """Exact log-probabilities of the next word; −∞ for a word that cannot come next."""
        check_tokens(tokens, self.vocab_size)
        probs = next_word_probs(self.automaton, self.roles, tokens.cpu())
        impossible = probs.sum(-1, keepdim=True) == 0
        probs = torch.where(impossible, 1 / self.vocab_size, probs)
        return probs.log().to(tokens.device, torch.get_default_dtype())

    def sample(self, n_stories: int, generator: torch.Generator) -> Batch:
        """Stories from <s> to </s>, one per row, padded after </s>."""
        if n_stories < 1:
            raise ValueError(f"n_stories: expected at least 1, got {n_stories}")
        words, nodes = sample_derivations(self.automaton, self.roles, n_stories, generator)
        is_end = nodes == self.automaton.n_nodes - 1
        mask = is_end.cumsum(-1) <= 1
        longest = int(mask.sum(-1).max())
        return Batch(words[:, :longest], mask[:, :longest])

    def read(self, story: Int[Tensor, " time"]) -> str:
        """A row of tokens as text, up to its end."""
        return " ".join(self.vocabulary.decode(story.tolist()))

    @property
    def longest_story(self) -> int:
        """Most tokens of a story, <s> and </s> included."""
        return self.automaton.longest_text()

    @cached_property
    def mean_length(self) -> float:
        """Predicted tokens per story on average: </s> counts, <s> does not, because it is given."""
        return float(self.automaton.expected_visits().sum()) - 1

    @cached_property
    def entropy_per_story(self) -> float:
        """The entropy of a story in bits, by exact summation."""
        return self.automaton.entropy() / math.log(2)

    @property
    def entropy_rate(self) -> float:
        """Bits per token: the floor that cross-entropy approaches on more and more stories."""
        return self.entropy_per_story / self.mean_length
