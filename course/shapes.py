"""The glossary: one word and one letter for every axis and every size of the course.

A shape in a signature is written with the words, `Float[Tensor, "batch heads queries keys"]`; a comment
at the end of a line is written with the letters, `# (B, H, T, K)`. The words are jaxtyping's notation: a test
run checks them, and where jaxtyping is missing (as on Colab) they are simply read.

Two dialects you will meet elsewhere: GPT-2 says n_embd, n_head, n_layer, n_ctx and n_vocab for d_model,
n_heads, n_layers, context_length and vocab_size; Hugging Face says hidden_size, num_attention_heads,
num_hidden_layers, max_position_embeddings and intermediate_size for d_model, n_heads, n_layers,
context_length and d_ff.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

try:
    from jaxtyping import Bool, Float, Int
except ImportError:  # the shapes stay readable; nothing checks them

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
    """One entry of the glossary: the name in code, its letter in shapes and formulas, its meaning."""

    code: str
    letter: str
    meaning: str


AXES = (
    Name("batch", "B", "sequences at once"),
    Name("time", "T", "positions of these sequences; t = 1 … T"),
    Name("source", "S", "positions of the sequence that is translated"),
    Name("queries", "T", "positions that ask, in attention"),
    Name("keys", "S", "positions that are looked at, in attention (T in self-attention)"),
    Name("heads", "H", "attention heads"),
    Name("vocab", "V", "the words the model chooses between"),
    Name("d_model", "D", "width of the residual stream"),
    Name("d_hidden", "D", "width of a recurrent state or of a hidden layer"),
    Name("d_head", "K", "width of one attention head"),
    Name("d_ff", "F", "width inside the feed-forward layer of a block"),
)

SIZES = (
    Name("batch_size", "B", "how many sequences at once"),
    Name("context_length", "", "most positions a model can see; None where there is no limit"),
    Name("vocab_size", "V", "how many different tokens; they are 0 … V − 1"),
    Name("n_heads", "H", "how many attention heads"),
    Name("n_layers", "L", "how many layers or blocks"),
)

VALUES = (
    Name("tokens", "x", "integers that stand for words"),
    Name("targets", "y", "the integers that should come next"),
    Name("context", "x_<t", "what precedes"),
    Name("logits", "z", "numbers before the softmax over words"),
    Name("log_probs", "log P", "natural logarithms of probabilities, after it"),
    Name("scores", "QKᵀ/√K", "numbers before the softmax over keys"),
    Name("weights", "α", "shares after it; each query's weights sum to one"),
)

__all__ = ["AXES", "SIZES", "VALUES", "Bool", "Float", "Int", "Name", "Tensor"]
