"""What goes wrong in a pre-norm block: what is added, and what was normalised before."""

from torch import Tensor, nn
from torch.nn import functional

from autograder.catalogue import misconception
from course.models.multi_head_attention import MultiHeadAttention


class _Attention(MultiHeadAttention):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().forward(x, x, x, mask)


class _FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.expand, self.contract = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.contract(functional.relu(self.expand(x)))


class _Block(nn.Module):
    """The parts of a block under short names, for `forward` to put together in wrong ways."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.attention = _Attention(d_model, n_heads)
        self.norm_attention = nn.LayerNorm(d_model)
        self.feed_forward = _FeedForward(d_model, d_ff)
        self.norm_feed_forward = nn.LayerNorm(d_model)


NORMS = "https://github.com/harvardnlp/annotated-transformer/issues/13"

# 27. PreNormBlock


@misconception(
    of="PreNormBlock",
    fails={
        "silent_parts_leave_the_input_as_it_is",
        "a_modern_block_is_that_of_torch",
        "what_is_added_does_not_grow_with_the_input",
        "the_feed_forward_reads_what_attention_found",
        "other_pre_norm_blocks_are_those_of_torch",
    },
    seen=NORMS,
)
class PostNormInThePreNormBlock(_Block):
    """The sums are normalised, as in the paper: this is the post-norm block.

    With silent parts, does (1, 3) leave your block as it was?
    """

    def forward(self, x, mask=None):
        x = self.norm_attention(x + self.attention(x, mask))
        return self.norm_feed_forward(x + self.feed_forward(x))


@misconception(
    of="PreNormBlock",
    fails={
        "silent_parts_leave_the_input_as_it_is",
        "a_modern_block_is_that_of_torch",
        "what_is_added_does_not_grow_with_the_input",
        "the_feed_forward_reads_what_attention_found",
        "other_pre_norm_blocks_are_those_of_torch",
    },
)
class ResidualOfTheNormalised(_Block):
    """The residual adds the normalised x, so the stream itself is normalised on the way.

    After `x = norm(x)` your old x is gone. Which of the two does the formula add?
    """

    def forward(self, x, mask=None):
        x = self.norm_attention(x)
        x = x + self.attention(x, mask)
        x = self.norm_feed_forward(x)
        return x + self.feed_forward(x)


@misconception(
    of="PreNormBlock",
    fails={
        "a_modern_block_is_that_of_torch",
        "the_feed_forward_reads_what_attention_found",
        "other_pre_norm_blocks_are_those_of_torch",
    },
)
class PartsSideBySide(_Block):
    """Both parts read x at the same time; the second should read what the first has made of it.

    What does the second formula normalise: x or y?
    """

    def forward(self, x, mask=None):
        found = self.attention(self.norm_attention(x), mask)
        return x + found + self.feed_forward(self.norm_feed_forward(x))


@misconception(
    of="PreNormBlock",
    fails={
        "a_modern_block_is_that_of_torch",
        "what_is_added_does_not_grow_with_the_input",
        "other_pre_norm_blocks_are_those_of_torch",
    },
)
class FeedForwardNotNormalised(_Block):
    """The feed-forward layer reads the sum as it is, without the second norm.

    Make x a thousand times as large. What should happen to what the feed-forward layer adds?
    """

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_attention(x), mask)
        return x + self.feed_forward(x)


@misconception(
    of="PreNormBlock",
    fails={
        "silent_parts_leave_the_input_as_it_is",
        "a_modern_block_is_that_of_torch",
        "what_is_added_does_not_grow_with_the_input",
        "the_feed_forward_reads_what_attention_found",
        "other_pre_norm_blocks_are_those_of_torch",
    },
)
class ResidualsLeftOut(_Block):
    """Nothing is added: each part's output replaces what was there.

    With silent parts, what leaves your block?
    """

    def forward(self, x, mask=None):
        x = self.attention(self.norm_attention(x), mask)
        return self.feed_forward(self.norm_feed_forward(x))


@misconception(
    of="PreNormBlock", fails={"a_modern_block_is_that_of_torch", "other_pre_norm_blocks_are_those_of_torch"}
)
class NormsExchanged(_Block):
    """The two norms have changed places.

    Which of the two does the formula put before the attention?
    """

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_feed_forward(x), mask)
        return x + self.feed_forward(self.norm_attention(x))


@misconception(
    of="PreNormBlock",
    fails={
        "a_modern_block_is_that_of_torch",
        "what_is_added_does_not_grow_with_the_input",
        "other_pre_norm_blocks_are_those_of_torch",
    },
)
class AttentionSkipped(_Block):
    """The attention is made and never used: no token learns of another.

    Change one token. Does any other output of your block change?
    """

    def forward(self, x, mask=None):
        return x + self.feed_forward(self.norm_feed_forward(x))


@misconception(
    of="PreNormBlock",
    fails={
        "a_modern_block_is_that_of_torch",
        "what_is_added_does_not_grow_with_the_input",
        "the_feed_forward_reads_what_attention_found",
        "other_pre_norm_blocks_are_those_of_torch",
    },
)
class FeedForwardSkipped(_Block):
    """The feed-forward layer is made and never used.

    Silence the attention. What is still added to x in your block?
    """

    def forward(self, x, mask=None):
        return x + self.attention(self.norm_attention(x), mask)


@misconception(
    of="PreNormBlock", fails={"hidden_tokens_do_not_matter", "other_pre_norm_blocks_are_those_of_torch"}
)
class MaskLostOnTheWay(_Block):
    """The block takes the mask and does not hand it to its attention.

    Follow the mask from your `forward` to the softmax. Where does it end?
    """

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_attention(x))
        return x + self.feed_forward(self.norm_feed_forward(x))
