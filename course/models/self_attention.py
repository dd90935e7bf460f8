"""A language model of one self-attention and nothing else: no state, no feed-forward layer, no norm.

Vaswani et al. 2017, section 3.2, on its own:

    x = E tokens                       each word's embedding
    y = x + attention(x, x, x)         what the word is, and what it found among the words before it
    P(x_{t+1} | x_1 … x_t) = softmax(U y_t + c)

Queries and keys are rotated by their positions, so the order of the words counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from course.language_model import check_tokens
from course.models.linear import Linear
from course.models.multi_head_attention import MultiHeadAttention
from course.shapes import Float, Int, Tensor


@dataclass(frozen=True)
class SelfAttentionConfig:
    """Sizes of a language model of one self-attention."""

    vocab_size: int
    d_model: int = 128
    n_heads: int = 4
    is_fused: bool = True  # PyTorch's kernel; False: the course's own lines


class SelfAttentionLanguageModel(nn.Module):
    """Each word attends once to itself and the words before it; the result predicts the next word."""

    context_length = None

    def __init__(self, config: SelfAttentionConfig) -> None:
        super().__init__()
        self.config = config
        self.vocab_size = config.vocab_size
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.attention = MultiHeadAttention(
            config.d_model, config.n_heads, is_fused=config.is_fused, has_rotation=True
        )
        self.output = Linear(config.d_model, config.vocab_size)

    def logits(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time vocab"]:
        """Logits of the next token at every position."""
        check_tokens(tokens, self.vocab_size)
        x = self.embedding(tokens)  # (B, T, D)
        return self.output(x + self.attention(x, x, x, is_causal=True))  # (B, T, V)

    def forward(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time vocab"]:
        """Log-probabilities of the next token at every position."""
        return self.logits(tokens).log_softmax(dim=-1)
