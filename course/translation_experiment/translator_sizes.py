"""Two encoder-decoders that differ only in attention, like RNNenc and RNNsearch (Bahdanau et al. 2015)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import Literal

from torch import nn

from course.models.seq2seq import Seq2Seq, Seq2SeqConfig

Kind = Literal["RNNenc", "RNNsearch"]
KINDS: tuple[Kind, ...] = ("RNNenc", "RNNsearch")
WIDTHS = range(8, 1025, 8)  # that a model can be widened to


def config_of(kind: Kind, common: Seq2SeqConfig) -> Seq2SeqConfig:
    """RNNenc gives c = h_S to every step of the decoder; RNNsearch lets every step attend to h_1 … h_S."""
    if kind == "RNNenc":
        return replace(common, attention="none", summary="every_step")
    attention = "bilinear" if common.attention == "none" else common.attention
    return replace(common, attention=attention, summary="first_step")


def n_parameters(model: nn.Module) -> int:
    """The number of trained parameters."""
    return sum(parameter.numel() for parameter in model.parameters())


def widened_to(budget: int, config: Seq2SeqConfig) -> Seq2SeqConfig:
    """The same model with the largest d_hidden (a multiple of 8) that fits a budget of parameters."""
    n_fitting = bisect_right(
        WIDTHS, budget, key=lambda width: n_parameters(Seq2Seq(replace(config, d_hidden=width)))
    )
    if n_fitting == 0:
        raise ValueError(f"budget: {budget:,} parameters are too few for d_hidden = 8")
    return replace(config, d_hidden=WIDTHS[n_fitting - 1])
