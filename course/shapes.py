"""The glossary: one word and one letter for every axis and every size of the course.

A shape in a signature is written with the words, `Float[Tensor, "batch heads queries keys"]`; a comment
at the end of a line is written with the letters, `# (B, H, T, d_k)`. The words are jaxtyping's notation: the
tests check them, and without jaxtyping (as on Colab) they only document.

Each name is listed with its counterparts in three dialects you will meet elsewhere: GPT-2's code, Hugging
Face's configurations, and the keyword arguments of torch.nn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int
else:
    try:
        from jaxtyping import Bool, Float, Int
    except ImportError:  # the shapes remain as documentation; nothing checks them

        class Float:
            """A floating-point tensor whose axes are named in the string."""

            def __class_getitem__(cls, tensor_and_axes: tuple[type, str]) -> type:
                return tensor_and_axes[0]

        class Int(Float):
            """An integer tensor whose axes are named in the string."""

        class Bool(Float):
            """A tensor of True and False whose axes are named in the string."""


@dataclass(frozen=True)
class Name:
    """One entry of the glossary: the name in code, its letter, its meaning, and what others call it."""

    code: str
    letter: str
    meaning: str
    gpt2: str = ""  # in the code published with GPT-2
    hugging_face: str = ""  # in the configurations of `transformers`
    torch: str = ""  # in the keyword arguments of `torch.nn`


AXES = (
    Name("batch", "B", "sequences at once", "batch", "batch_size", "N"),
    Name("time", "T", "positions of these sequences; t = 1 … T", "sequence", "sequence_length", "L"),
    Name("source", "S", "positions of the sequence that is translated"),
    Name("queries", "T", "positions of the queries, in attention", torch="L"),
    Name(
        "keys",
        "S",
        "positions that are attended to: the source's in cross-attention; T in self-attention",
        torch="S",
    ),
    Name("heads", "H", "attention heads", "heads", "num_attention_heads", "num_heads"),
    Name("vocab", "V", "the words the model chooses between"),
    Name(
        "d_model",
        "D",
        "width of the residual stream; d_model in papers",
        "n_embd",
        "hidden_size",
        "d_model, embed_dim",
    ),
    Name("d_embedding", "d", "width of a word's vector, where it is not D", torch="embedding_dim"),
    Name("d_hidden", "D", "width of a recurrent state or of a hidden layer", torch="hidden_size"),
    Name("d_memory", "D_h", "width of the encoder's states, the memory of a decoder that attends"),
    Name(
        "d_head",
        "d_k",
        "width of one attention head, D / H; width of queries and keys",
        hugging_face="head_dim",
        torch="head_dim",
    ),
    Name("d_value", "d_v", "width of the values, where it is not that of the keys", torch="vdim"),
    Name("groups", "G", "heads of keys and values, each shared by H / G heads of queries"),
    Name(
        "d_ff",
        "F",
        "width inside the feed-forward layer of a block",
        "n_inner",
        "intermediate_size",
        "dim_feedforward",
    ),
)

SIZES = (
    Name("batch_size", "B", "how many sequences at once"),
    Name(
        "context_length",
        "C",
        "most positions a model can see; None: no limit",
        "n_ctx",
        "max_position_embeddings",
    ),
    Name(
        "vocab_size",
        "V",
        "how many different tokens; they are 0 … V − 1",
        "n_vocab",
        "vocab_size",
        "num_embeddings",
    ),
    Name("n_heads", "H", "how many attention heads", "n_head", "num_attention_heads", "nhead, num_heads"),
    Name("n_layers", "L", "how many layers or blocks", "n_layer", "num_hidden_layers", "num_layers"),
    Name("n_tokens", "N", "how many tokens a text has that is one sequence; perplexity is a mean over them"),
    Name("n_window", "N", "how many words a window has, in a feed-forward model"),
    Name("radius", "R", "the largest distance between two positions that has a number of its own"),
    Name("beam_width", "W", "how many beginnings a beam search keeps", hugging_face="num_beams"),
)

VALUES = (
    Name("tokens", "x", "integers that stand for words", "X", "input_ids", "input"),
    Name("targets", "y", "the integers that should come next", "labels", "labels", "target"),
    Name("context", "x_<t", "what precedes", "context", "input_ids"),
    Name("logits", "z", "numbers before the softmax over words", "logits", "logits", "input"),
    Name("log_probs", "log P", "natural logarithms of probabilities, after that softmax"),
    Name("scores", "QKᵀ/√d_k", "numbers before the softmax over keys", "w", "attn_weights"),
    Name(
        "weights",
        "α",
        "the softmax of the scores; each query's weights sum to one",
        "w",
        "attentions",
        "attn_output_weights",
    ),
)

__all__ = ["AXES", "SIZES", "VALUES", "Bool", "Float", "Int", "Name", "Tensor"]
