"""Real captions: Multi30k English-French by three small translators of about one size, judged by BLEU.

Text is lower-cased and split into words; l', d' and the like are words of their own. Rare words are <unk> on
both sides, and an <unk> in a translation counts as a wrong word. BLEU is sacrebleu's, on lower-cased lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import torch

from course.data.corpora import multi30k
from course.data.vocabulary import Vocabulary
from course.evaluation import bleu
from course.models.seq2seq import Seq2Seq, Seq2SeqConfig
from course.models.translator import Translator, TranslatorConfig
from course.tokenizers.words import join_words
from course.training import TrainingConfig, train
from course.translation_experiment.parallel_text import (
    ParallelText,
    ShuffledPairs,
    parallel_text,
    teacher_forcing_loss,
)
from course.translation_experiment.quality import translations
from course.translation_experiment.records import Record, checkpoint_path, training_summary
from course.translation_experiment.translator_sizes import (
    KINDS,
    WIDTHS,
    Kind,
    config_of,
    n_parameters,
    widened_to,
)

CaptionKind = Literal["RNNenc", "RNNsearch", "Transformer"]
CAPTION_KINDS: tuple[CaptionKind, ...] = (*KINDS, "Transformer")
TRANSFORMER_LEARNING_RATE, TRANSFORMER_WARM_UP = 2e-3, 1 / 6  # not tuned; the warm-up of lecture 18

LinePair = tuple[str, str]
ELIDED_OR_WORD_OR_MARK = re.compile(r"\w+['’](?=\w)|\w+(?:-\w+)*|[^\w\s]")
SPACE_AFTER_APOSTROPHE = re.compile(r"(?<=\w['’]) ")


@dataclass(frozen=True)
class CaptionsConfig:
    """Sizes of the data and of the model with attention; the other is widened to as many parameters."""

    n_pairs: int = 29_000
    vocab_size: int = 3000  # on each side: 96.5 % of the words
    longest: int = 23  # words on either side; 95 % of the captions
    d_embedding: int = 96
    d_hidden: int = 96
    dropout: float = 0.1
    batch_size: int = 32
    n_steps: int = 3464  # four epochs
    learning_rate: float = 4e-3


CAPTION_SCALES = {
    "small": CaptionsConfig(),
    "full": CaptionsConfig(
        vocab_size=8000,
        longest=40,
        d_embedding=256,
        d_hidden=256,
        dropout=0.3,
        batch_size=64,
        n_steps=9000,
        learning_rate=1e-3,
    ),
}


def split_caption(line: str) -> list[str]:
    """ "L'homme à vélo." → ["l'", "homme", "à", "vélo", "."]"""
    return ELIDED_OR_WORD_OR_MARK.findall(line.lower())


def join_caption(words: Sequence[str]) -> str:
    """["l'", "homme", "à", "vélo", "."] → "l'homme à vélo." """
    return SPACE_AFTER_APOSTROPHE.sub("", join_words(words))


@dataclass(frozen=True)
class Captions:
    """Training pairs as tokens, their vocabularies, and the lines kept for testing."""

    training: ParallelText
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    test: Sequence[LinePair]


def captions(config: CaptionsConfig, training: Sequence[LinePair], test: Sequence[LinePair]) -> Captions:
    """Split and encode the captions; the vocabularies come from the training captions alone."""
    pairs = [(split_caption(source), split_caption(target)) for source, target in training[: config.n_pairs]]
    source_vocabulary, target_vocabulary = (
        Vocabulary.from_sentences(side, max_size=config.vocab_size) for side in zip(*pairs, strict=True)
    )
    short = [pair for pair in pairs if max(map(len, pair)) <= config.longest]
    return Captions(
        parallel_text(short, source_vocabulary, target_vocabulary), source_vocabulary, target_vocabulary, test
    )


def caption_model(kind: Kind, config: CaptionsConfig, data: Captions) -> Seq2SeqConfig:
    """RNNsearch as configured, or RNNenc widened to as many parameters."""
    common = Seq2SeqConfig(
        source_vocab_size=len(data.source_vocabulary),
        target_vocab_size=len(data.target_vocabulary),
        d_embedding=config.d_embedding,
        d_hidden=config.d_hidden,
        dropout=config.dropout,
    )
    search = config_of("RNNsearch", common)
    if kind == "RNNsearch":
        return search
    return widened_to(n_parameters(Seq2Seq(search)), config_of(kind, common))


def caption_translator(kind: CaptionKind, config: CaptionsConfig, data: Captions) -> Seq2Seq | Translator:
    """A new model; the Transformer gets the width whose number of parameters is nearest RNNsearch's."""
    if kind != "Transformer":
        return Seq2Seq(caption_model(kind, config, data))
    budget = n_parameters(Seq2Seq(caption_model("RNNsearch", config, data)))
    return min(
        (transformer_of(width, config, data) for width in WIDTHS if width <= 4 * config.d_hidden),
        key=lambda model: abs(n_parameters(model) - budget),
    )


def transformer_of(width: int, config: CaptionsConfig, data: Captions) -> Translator:
    """Two layers on each side, four heads, and a feed-forward network of four times the width."""
    vocabularies = len(data.source_vocabulary), len(data.target_vocabulary)
    return Translator(TranslatorConfig(*vocabularies, d_model=width, d_ff=4 * width, dropout=config.dropout))


def caption_bleu(model: Seq2Seq | Translator, data: Captions) -> tuple[float, list[str]]:
    """BLEU on the test captions, and the translations."""
    pairs = [(split_caption(source), split_caption(target)) for source, target in data.test]
    text = parallel_text(pairs, data.source_vocabulary, data.target_vocabulary)
    written = [join_caption(words) for words in translations(model, text, data.target_vocabulary)]
    return bleu(written, [target.lower() for _, target in data.test]), written


def run_captions(
    config: CaptionsConfig,
    kinds: Sequence[CaptionKind],
    seeds: Sequence[int],
    device: torch.device,
    checkpoints: Path,
    record: Callable[[Record], None],
) -> None:
    """Train each kind of model on Multi30k, and call `record` with the results of each."""
    data = captions(config, multi30k("train"), multi30k("test_2016_flickr"))
    for seed in seeds:
        for kind in kinds:
            record(train_on_captions(kind, config, data, seed, device, checkpoints))


def train_on_captions(
    kind: CaptionKind,
    config: CaptionsConfig,
    data: Captions,
    seed: int,
    device: torch.device,
    checkpoints: Path,
) -> Record:
    """Train one model; return its results, its size and its seconds."""
    torch.manual_seed(seed)
    model = caption_translator(kind, config, data)
    batches = ShuffledPairs(data.training, config.batch_size, seed)
    training = TrainingConfig(
        n_steps=config.n_steps,
        learning_rate=config.learning_rate,
        seed=seed,
        n_steps_between_checkpoints=100,
    )
    if kind == "Transformer":
        n_warmup_steps = round(TRANSFORMER_WARM_UP * config.n_steps)
        training = replace(training, learning_rate=TRANSFORMER_LEARNING_RATE, n_warmup_steps=n_warmup_steps)
    path = checkpoint_path(checkpoints, f"captions_{kind}", seed, config)
    history = train(model, batches, training, loss=teacher_forcing_loss, device=device,
                    checkpoint=path, has_progress_bar=True)  # fmt: skip
    score, written = caption_bleu(model, data)
    examples = [
        {"source": source.lower(), "reference": target.lower(), "written": translation}
        for (source, target), translation in list(zip(data.test, written, strict=True))[:5]
    ]
    return {
        "model": kind,
        "kind": kind,
        "seed": seed,
        "bleu": score,
        "n_parameters": n_parameters(model),
        "width": model.config.d_hidden if isinstance(model, Seq2Seq) else model.config.d_model,
        **training_summary(history),
        "examples": examples,
    }
