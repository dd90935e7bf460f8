"""Every model of the course, in the order in which it is taught."""

from course.models.counts import InterpolatedNGram, NGram, NGramCounts, Uniform
from course.models.feedforward import FeedForwardConfig, FeedForwardLanguageModel
from course.models.gpt import GPT, GPTConfig, KeyValueCache
from course.models.kneser_ney import KneserNey
from course.models.layer_norm import LayerNorm, RMSNorm
from course.models.multi_head_attention import MultiHeadAttention
from course.models.positions import LearnedPositions, RelativeBias, SinusoidalPositions
from course.models.recurrent import GRU, LSTM, RNN
from course.models.recurrent_language_model import RecurrentConfig, RecurrentLanguageModel
from course.models.transformer import Decoder, DecoderLayer, Encoder, EncoderLayer, TransformerConfig

__all__ = [
    "GPT",
    "GRU",
    "LSTM",
    "RNN",
    "Decoder",
    "DecoderLayer",
    "Encoder",
    "EncoderLayer",
    "FeedForwardConfig",
    "FeedForwardLanguageModel",
    "GPTConfig",
    "InterpolatedNGram",
    "KeyValueCache",
    "KneserNey",
    "LayerNorm",
    "LearnedPositions",
    "MultiHeadAttention",
    "NGram",
    "NGramCounts",
    "RMSNorm",
    "RecurrentConfig",
    "RecurrentLanguageModel",
    "RelativeBias",
    "SinusoidalPositions",
    "TransformerConfig",
    "Uniform",
]
