# %% [markdown]
# # Homework 7: BERT and translation
#
# You build what lectures 17 and 18 are about: mask words and predict them, fine-tune a pre-trained encoder, and build
# the Transformer that translates, with cross-attention, three masks, teacher forcing and free running. In the end
# your own translator is measured on sentences that it has not seen.
#
# | part | about | minutes | points | bonus |
# |---|---|---|---|---|
# | A | masked language modelling | 60 | 30 |  |
# | B | fine-tuning: pooling, heads, spans | 70 | 25 | 30 minutes, 12 points |
# | C | encoder and decoder, and a translator | 235 | 69 |  |
# |  | together | 365 | 124 | 30 minutes, 12 points |
#
# That is about six hours, and half an hour of bonus. A *bonus* is marked in its heading: its points come on
# top of the homework's maximum, and nothing else needs it, so leave out what you like.
#
# Each exercise is a statement, a function or a class for you to write, and its checks. Some checks are kept
# back for grading: they make the same claims about other sizes and other numbers. Take the exercises in
# any order. You may use your answer to one exercise in any other: grading runs all your cells first.
#
# Words used throughout: B sequences at once, S positions of a source, T positions of a target (or of the only
# sequence there is), D numbers per position (`d_model`), H heads of $d_k = D / H$ numbers, V words. A **mask** is
# boolean, and True means *may be attended to*. Numbers are float64, tokens int64, losses in nats.
#
# With all of them solved the exercises run in about 20 seconds on two CPU cores and need 0.4 GB; most of it is the
# training of the last one, the translator. `COURSE_SCALE=full` trains the translator on longer sentences and at a
# real size, which is meant for a GPU. At the end of the notebook a small BERT of
# your parts learns for another minute, and a translator of your blocks for twenty seconds.

# %% [markdown] rules

# %% setup

# %% provided="imports"
import math
import os
import time
import zlib
from functools import cache
from random import Random

import torch
from torch import Tensor, nn
from torch.nn import functional

from course.checks import (
    assert_close,
    assert_depends,
    assert_differentiable,
    assert_dtype,
    assert_equal,
    assert_true,
    with_weights,
)
from course.data.translation_pair import TranslationConfig, translation_pairs, translation_vocabularies
from course.data.vocabulary import pad_sequences
from course.mine import look
from course.models.bert import BERTConfig, SequenceClassifier
from course.models.layer_norm import LayerNorm
from course.models.multi_head_attention import MultiHeadAttention
from course.models.positions import sinusoidal_positions
from course.models.torch_weights import NAMES_IN_DECODER, NAMES_IN_ENCODER
from course.models.torch_weights import translate as translate_weight
from course.models.transformer import Decoder, DecoderLayer, Encoder, EncoderLayer, TransformerConfig
from course.training import best_device

IGNORED = -100  # the target of a position that is not asked for; torch's losses skip it
