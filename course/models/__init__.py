"""Every model of the course, in the order in which it is taught.

counts, kneser_ney          n-gram models
cross_entropy, linear       from logits to a loss; the product behind every layer
feedforward                 a window of words through a hidden layer
recurrent                   RNN, LSTM and GRU: one step, one layer, a stack
recurrent_language_model    a language model from these networks
seq2seq                     recurrent encoder-decoder, with and without attention
masks                       what may not be seen: the future, padding
attention                   scores and weights, as functions
multi_head_attention        H attentions side by side, and their cache
self_attention              a language model of one of these and nothing else
positions, layer_norm       the other parts of a Transformer
transformer                 encoder and decoder layers and their stacks
cached_decoder              the cache, and all else that GPT and Llama share
gpt, bert, translator       decoder, encoder, encoder-decoder
grouped_query_attention     heads that share keys and values
llama                       the architecture of today's open language models
mixture_of_experts          a feed-forward of which each token runs a part
masked_tokens               the training objective of BERT
attention_maps              the attention weights inside a model
checkpoints, torch_weights  weights from Hugging Face's layout and from torch.nn
ledger                      parameters, operations and memory, computed from sizes
"""

from course.models.attention import (
    additive_scores,
    attention_weights,
    bilinear_scores,
    dot_scores,
    scaled_dot_product_attention,
)
from course.models.attention_maps import attention_maps
from course.models.bert import BERT, BERTConfig, MaskedLanguageModel, SequenceClassifier, SpanFinder, Tagger
from course.models.cached_decoder import KeyValueCache
from course.models.checkpoints import CheckpointError, bert_config, gpt_config, load_weights
from course.models.counts import InterpolatedNGram, NGram, NGramCounts, Uniform, fit_shares
from course.models.cross_entropy import cross_entropy, log_softmax
from course.models.feedforward import FeedForwardConfig, FeedForwardLanguageModel
from course.models.gpt import GPT, GPTConfig
from course.models.grouped_query_attention import GroupedQueryAttention
from course.models.kneser_ney import KneserNey
from course.models.layer_norm import LayerNorm, RMSNorm, layer_norm, rms_norm
from course.models.ledger import Ledger, bert_ledger, gpt_ledger
from course.models.linear import Linear, linear
from course.models.llama import Llama, LlamaConfig, SwiGLU
from course.models.masked_tokens import hide_tokens
from course.models.masks import causal_mask, padding_mask
from course.models.mixture_of_experts import MixtureOfExperts
from course.models.multi_head_attention import MultiHeadAttention
from course.models.positions import (
    LearnedPositions,
    RelativeBias,
    SinusoidalPositions,
    rotate,
    sinusoidal_positions,
)
from course.models.recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell
from course.models.recurrent_language_model import RecurrentConfig, RecurrentLanguageModel
from course.models.self_attention import SelfAttentionConfig, SelfAttentionLanguageModel
from course.models.seq2seq import Seq2Seq, Seq2SeqConfig
from course.models.torch_weights import copy_from_torch
from course.models.transformer import (
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    FeedForward,
    TransformerConfig,
)
from course.models.translator import Translator, TranslatorConfig

__all__ = [
    "BERT",
    "GPT",
    "GRU",
    "LSTM",
    "RNN",
    "BERTConfig",
    "CheckpointError",
    "Decoder",
    "DecoderLayer",
    "Encoder",
    "EncoderLayer",
    "FeedForward",
    "FeedForwardConfig",
    "FeedForwardLanguageModel",
    "GPTConfig",
    "GRUCell",
    "GroupedQueryAttention",
    "InterpolatedNGram",
    "KeyValueCache",
    "KneserNey",
    "LSTMCell",
    "LayerNorm",
    "LearnedPositions",
    "Ledger",
    "Linear",
    "Llama",
    "LlamaConfig",
    "MaskedLanguageModel",
    "MixtureOfExperts",
    "MultiHeadAttention",
    "NGram",
    "NGramCounts",
    "RMSNorm",
    "RNNCell",
    "RecurrentConfig",
    "RecurrentLanguageModel",
    "RelativeBias",
    "SelfAttentionConfig",
    "SelfAttentionLanguageModel",
    "Seq2Seq",
    "Seq2SeqConfig",
    "SequenceClassifier",
    "SinusoidalPositions",
    "SpanFinder",
    "SwiGLU",
    "Tagger",
    "TransformerConfig",
    "Translator",
    "TranslatorConfig",
    "Uniform",
    "additive_scores",
    "attention_maps",
    "attention_weights",
    "bert_config",
    "bert_ledger",
    "bilinear_scores",
    "causal_mask",
    "copy_from_torch",
    "cross_entropy",
    "dot_scores",
    "fit_shares",
    "gpt_config",
    "gpt_ledger",
    "hide_tokens",
    "layer_norm",
    "linear",
    "load_weights",
    "log_softmax",
    "padding_mask",
    "rms_norm",
    "rotate",
    "scaled_dot_product_attention",
    "sinusoidal_positions",
]
