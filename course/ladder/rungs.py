"""The rungs of the ladder: one line per model, all trained on the same stories by the same loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from torch import Tensor

from course.data.story_language import StoryLanguage
from course.data.story_rules import StoryConfig
from course.data.vocabulary import Batch
from course.evaluation import Score, token_nll
from course.models import (
    GPT,
    FeedForwardConfig,
    FeedForwardLanguageModel,
    GPTConfig,
    KneserNey,
    NGramCounts,
    RecurrentConfig,
    RecurrentLanguageModel,
    SelfAttentionConfig,
    SelfAttentionLanguageModel,
    Uniform,
)
from course.models.recurrent_language_model import Cell
from course.training import TrainingConfig


@dataclass(frozen=True)
class Scale:
    """The size of a run: stories, steps and widths."""

    n_train_stories: int = 20_000
    n_test_stories: int = 1_000
    share_of_steps: float = 1.0
    width: float = 1.0  # of every network
    stories: StoryConfig = field(default_factory=StoryConfig)


SCALES = {
    "tiny": Scale(n_train_stories=300, n_test_stories=100, share_of_steps=0.01, width=0.25),
    "default": Scale(),
    "full": Scale(n_train_stories=200_000, n_test_stories=5_000, share_of_steps=8.0, width=2.0),  # for a GPU
}


class Corpus:
    """The language, training stories (different for every seed) and test stories (always the same)."""

    def __init__(self, scale: Scale, seed: int) -> None:
        self.language = StoryLanguage(scale.stories)
        self.train: Batch = self.language.sample(
            scale.n_train_stories, torch.Generator().manual_seed(1 + seed)
        )
        self.test: Batch = self.language.sample(scale.n_test_stories, torch.Generator().manual_seed(0))

    @property
    def sequences(self) -> list[Tensor]:
        """The training stories without padding, for the counting models."""
        return [tokens[mask] for tokens, mask in zip(self.train.tokens, self.train.mask, strict=True)]

    @cached_property
    def floor_by_token(self) -> Tensor:
        """−log P of each token of the test stories under the true model, in nats; 0 for padding."""
        return token_nll(self.language, self.test)

    @property
    def floor_by_story(self) -> Tensor:
        """−log P of each test story under the true model, in nats."""
        return self.floor_by_token.sum(dim=1)

    @property
    def floor(self) -> Score:
        """The score of the true model on all test stories."""
        return Score(float(self.floor_by_story.sum()), int(self.test.mask[:, 1:].sum()))


Model = (
    Uniform | KneserNey | FeedForwardLanguageModel | RecurrentLanguageModel | SelfAttentionLanguageModel | GPT
)
Build = Callable[[Corpus, float], Model]


@dataclass(frozen=True)
class Rung:
    """One model: how it is built and, unless it only counts, how it is trained."""

    name: str
    title: str
    build: Build  # the corpus, and the width relative to the default
    training: TrainingConfig | None = None
    batch_size: int = 32

    def at(self, scale: Scale, seed: int) -> TrainingConfig | None:
        """How this rung is trained at a scale; None if it only counts."""
        if self.training is None:
            return None
        n_steps = max(2, round(self.training.n_steps * scale.share_of_steps))
        n_warmup_steps = min(self.training.n_warmup_steps, n_steps // 4)
        return replace(self.training, n_steps=n_steps, n_warmup_steps=n_warmup_steps, seed=seed)


def uniform(corpus: Corpus, width: float) -> Uniform:
    """Every word equally likely."""
    return Uniform(corpus.language.vocab_size)


def n_gram(order: int) -> Build:
    """Modified Kneser-Ney of this order, which, unlike raw counts, gives every word some probability."""

    def build(corpus: Corpus, width: float) -> KneserNey:
        language = corpus.language
        return KneserNey(NGramCounts(corpus.sequences, order, language.vocab_size, language.vocabulary.bos))

    return build


def feed_forward(corpus: Corpus, width: float) -> FeedForwardLanguageModel:
    """Bengio's model with a window of four words, the context of a 5-gram."""
    language = corpus.language
    return FeedForwardLanguageModel(
        FeedForwardConfig(
            language.vocab_size,
            n_window=4,
            d_embedding=round(32 * width),
            d_hidden=round(128 * width),
            fill=language.vocabulary.bos,
        )
    )


def recurrent(cell: Cell) -> Build:
    """One recurrent layer of this kind."""

    def build(corpus: Corpus, width: float) -> RecurrentLanguageModel:
        return RecurrentLanguageModel(
            RecurrentConfig(
                corpus.language.vocab_size,
                cell,
                d_embedding=round(64 * width),
                d_hidden=round(128 * width),
            )
        )

    return build


def self_attention(corpus: Corpus, width: float) -> SelfAttentionLanguageModel:
    """One self-attention over the whole story, with four heads."""
    return SelfAttentionLanguageModel(
        SelfAttentionConfig(corpus.language.vocab_size, d_model=8 * round(16 * width), n_heads=4)
    )


def gpt(corpus: Corpus, width: float) -> GPT:
    """Two Transformer blocks that see the whole story."""
    return GPT(
        GPTConfig(
            corpus.language.vocab_size,
            context_length=corpus.language.longest_story,
            d_model=round(64 * width),
            n_heads=4,
            n_layers=2,
            positions="rotary",
            initial_deviation=0.1,
        )
    )


RUNGS = {
    rung.name: rung
    for rung in (
        Rung("uniform", "uniform", uniform),
        Rung("unigram", "unigram", n_gram(1)),
        Rung("bigram", "bigram", n_gram(2)),
        Rung("trigram", "trigram", n_gram(3)),
        Rung("fourgram", "4-gram", n_gram(4)),
        Rung("feedforward", "feed-forward", feed_forward, TrainingConfig(n_steps=1000, learning_rate=5e-3)),
        Rung("rnn", "RNN", recurrent("rnn"), TrainingConfig(n_steps=2400, learning_rate=2e-3)),
        Rung("gru", "GRU", recurrent("gru"), TrainingConfig(n_steps=1500, learning_rate=5e-3)),
        Rung("lstm", "LSTM", recurrent("lstm"), TrainingConfig(n_steps=2000, learning_rate=5e-3)),
        Rung("attention", "self-attention", self_attention, TrainingConfig(n_steps=1600, learning_rate=5e-3)),
        Rung("gpt", "Transformer", gpt, TrainingConfig(n_steps=1600, learning_rate=3e-3, weight_decay=0.1)),
    )
}
