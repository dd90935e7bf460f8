"""Quality against the length of the sentence: RNNenc and RNNsearch on the generated pair of languages.

Each is trained twice, on short sentences only and on longer ones too, and measured up to lengths beyond both
(figure 2 of Bahdanau et al. 2015, with a pair whose right translations and alignment are known).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Literal

import torch

from course.data.translation_pair import (
    SentencePair,
    TranslationConfig,
    translation_pairs,
    translation_vocabularies,
)
from course.data.vocabulary import Vocabulary
from course.evaluation import Link
from course.models.seq2seq import Seq2Seq, Seq2SeqConfig
from course.models.translator import Translator
from course.training import TrainingConfig, train
from course.translation_experiment.parallel_text import (
    ParallelText,
    ShuffledPairs,
    parallel_text,
    teacher_forcing_loss,
)
from course.translation_experiment.quality import attention_links, error_rate, quality, translations
from course.translation_experiment.records import Record, checkpoint_path, training_summary
from course.translation_experiment.translator_sizes import Kind, config_of, n_parameters

SHORTEST = 4  # words, including the full stop
READABLE = 15  # most words in a picture


@dataclass(frozen=True)
class LengthsConfig:
    """The models and measurements; lengths count the source's words, including the full stop."""

    trained_up_to: tuple[int, ...] = (15, 25)
    measured: tuple[int, ...] = (5, 10, 15, 20, 25, 30, 35, 40)
    n_pairs: int = 20_000  # different training sentences for each limit
    n_test_pairs: int = 100  # of each length
    n_steps: int = 1600
    batch_size: int = 32
    learning_rate: float = 8e-3
    d_embedding: int = 48
    d_hidden: int = 96
    attention: Literal["dot", "bilinear", "additive"] = "additive"  # finds the alignment in the fewest steps


SCALES = {
    "small": LengthsConfig(),
    "learnt": LengthsConfig(trained_up_to=(15,), n_steps=16_000),  # until RNNenc knows its training sentences
    "full": LengthsConfig(
        trained_up_to=(30, 50),
        measured=(5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60),
    ),
    "paper": LengthsConfig(  # trained until the long sentences are learnt, too; for a GPU
        trained_up_to=(30, 50),
        measured=(5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60),
        n_pairs=100_000,
        n_steps=20_000,
        batch_size=80,  # as in the paper
        learning_rate=2e-3,
        d_embedding=224,
        d_hidden=448,
    ),
}


@dataclass(frozen=True)
class LengthsData:
    """Training pairs for one limit, test pairs by length, and the vocabularies of both languages."""

    training: Sequence[SentencePair]
    test: dict[int, list[SentencePair]]
    limit: int

    @cached_property
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """The vocabularies of the source and of the target."""
        return translation_vocabularies(TranslationConfig().lexicon)

    def encode(self, pairs: Sequence[SentencePair]) -> ParallelText:
        """Pairs as tokens."""
        return parallel_text([(pair.source, pair.target) for pair in pairs], *self.vocabularies)

    @property
    def longest_of_training(self) -> list[SentencePair]:
        """Training pairs of the greatest length, as many as there are test pairs of a length."""
        n_pairs = max(map(len, self.test.values()))
        return [pair for pair in self.training if len(pair.source) == self.limit][:n_pairs]

    @property
    def test_within_limit(self) -> list[SentencePair]:
        """Test pairs no longer than those that were trained on."""
        return [pair for length, pairs in self.test.items() if length <= self.limit for pair in pairs]


def lengths_data(config: LengthsConfig, limit: int, seed: int) -> LengthsData:
    """Draw the training and test pairs of one model; no test source is a training source."""
    rng = Random(f"{seed} {limit}")
    training = translation_pairs(
        TranslationConfig(min_length=SHORTEST, max_length=limit), config.n_pairs, rng
    )
    known = {pair.source for pair in training}
    test = {
        length: translation_pairs(
            TranslationConfig(min_length=length, max_length=length), config.n_test_pairs, rng, exclude=known
        )
        for length in config.measured
    }
    return LengthsData(training, test, limit)


def lengths_model(kind: Kind, config: LengthsConfig, data: LengthsData) -> Seq2SeqConfig:
    """The sizes of one model; both kinds have the same bidirectional encoder."""
    source_vocabulary, target_vocabulary = data.vocabularies
    common = Seq2SeqConfig(
        source_vocab_size=len(source_vocabulary),
        target_vocab_size=len(target_vocabulary),
        d_embedding=config.d_embedding,
        d_hidden=config.d_hidden,
        attention=config.attention,
        pad=source_vocabulary.pad,
    )
    return config_of(kind, common)


def run_lengths(
    config: LengthsConfig,
    kinds: Sequence[Kind],
    seeds: Sequence[int],
    device: torch.device,
    checkpoints: Path,
    record: Callable[[Record], None],
) -> None:
    """Train and measure every model, and call `record` with the results of each as soon as they are known."""
    for seed in seeds:
        for limit in config.trained_up_to:
            data = lengths_data(config, limit, seed)
            for kind in kinds:
                record(train_and_measure(kind, config, data, seed, device, checkpoints))


def train_and_measure(
    kind: Kind, config: LengthsConfig, data: LengthsData, seed: int, device: torch.device, checkpoints: Path
) -> Record:
    """Train one model; return size, seconds, quality by length and, with attention, its alignment error."""
    name = f"{kind}-{data.limit}"
    torch.manual_seed(seed)
    model = Seq2Seq(lengths_model(kind, config, data))
    training = TrainingConfig(
        n_steps=config.n_steps,
        learning_rate=config.learning_rate,
        seed=seed,
        n_steps_between_checkpoints=100,
    )
    batches = ShuffledPairs(data.encode(data.training), config.batch_size, seed)
    path = checkpoint_path(checkpoints, name, seed, config)
    history = train(model, batches, training, loss=teacher_forcing_loss, device=device,
                    checkpoint=path, has_progress_bar=True)  # fmt: skip
    return {
        "model": name,
        "kind": kind,
        "trained_up_to": data.limit,
        "seed": seed,
        "n_parameters": n_parameters(model),
        **training_summary(history),
        "of_training": {"length": data.limit, **quality_of(model, data.longest_of_training, data)},
        **measured(model, data),
    }


def measured(model: Seq2Seq | Translator, data: LengthsData) -> Record:
    """Quality by length; with attention also its error by length and within the trained ones, and one map."""
    by_length = [{"length": length, **quality_of(model, pairs, data)} for length, pairs in data.test.items()]
    if not aligns(model):
        return {"by_length": by_length}
    within = data.test_within_limit
    return {
        "by_length": by_length,
        "alignment_error_rate": error_rate(links_of(model, within, data), within),
        "example": example_map(model, data),
    }


def quality_of(model: Seq2Seq | Translator, pairs: Sequence[SentencePair], data: LengthsData) -> Record:
    """How well some sentences are translated and, with attention, how exactly they are aligned."""
    written = translations(model, data.encode(pairs), data.vocabularies[1])
    result = asdict(quality(written, [pair.target for pair in pairs]))
    if aligns(model):
        result["alignment_error_rate"] = error_rate(links_of(model, pairs, data), pairs)
    return result


def aligns(model: Seq2Seq | Translator) -> bool:
    """Whether the model has attention, so that its map can be right or wrong."""
    return isinstance(model, Translator) or model.config.attention != "none"


def links_of(
    model: Seq2Seq | Translator, pairs: Sequence[SentencePair], data: LengthsData
) -> list[list[Link]]:
    """The links that the model's attention makes."""
    return attention_links(model, pairs, *data.vocabularies)


@torch.no_grad()
def example_map(model: Seq2Seq | Translator, data: LengthsData) -> Record:
    """The attention map of the short test sentence whose word order changes most."""
    short = [pair for pair in data.test_within_limit if len(pair.source) <= READABLE]
    pair = max(short or data.test_within_limit, key=n_crossings)
    text = data.encode([pair])
    device = next(model.parameters()).device
    weights = model.alignment(text.source.tokens.to(device), text.target.tokens[:, :-1].to(device))[0]
    return {
        "source": list(pair.source),
        "target": list(pair.target),
        "gold": [list(link) for link in pair.alignment],
        "weights": [[round(weight, 4) for weight in row] for row in weights[: len(pair.target)].tolist()],
    }


def n_crossings(pair: SentencePair) -> int:
    """How many pairs of links cross: 0 for a word-by-word translation."""
    return sum((s - u) * (t - v) < 0 for (s, t), (u, v) in combinations(pair.alignment, 2))
