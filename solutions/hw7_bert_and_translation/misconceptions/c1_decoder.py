"""What goes wrong in a block of the decoder (homework 7, part C)."""

import torch
from torch.nn import functional

from autograder.catalogue import misconception

from ..notebook import DecoderBlock as RightBlock

# 16. DecoderBlock


class _Block(RightBlock):
    def cross(self, x, memory, self_mask, cross_mask):
        return self.cross_attention(x, memory, memory, cross_mask)

    def feed_forward(self, x):
        return self.contract(functional.relu(self.expand(x)))

    def forward(self, x, memory, self_mask, cross_mask):
        x = self.norm_self(x + self.self_attention(x, x, x, self_mask))
        x = self.norm_cross(x + self.cross(x, memory, self_mask, cross_mask))
        return self.norm_feed_forward(x + self.feed_forward(x))


@misconception(of="DecoderBlock", seen="https://github.com/rexrex9/nlp_torchtext/pull/2")
class BlockThatTalksToItself(_Block):
    """The second attention takes its keys and values from x, so the memory is never used.

    Change the memory: does the block's result change? Which three vectors does your cross-attention get?
    """

    def cross(self, x, memory, self_mask, cross_mask):
        return self.cross_attention(x, x, x, self_mask)


@misconception(of="DecoderBlock", seen="https://github.com/humza909/LLM_Survey/issues/2")
class BlockInWhichTheMemoryAsks(_Block):
    """The queries of the cross-attention come from the memory: its result has a row for each source word.

    What shape is your cross-attention's result, (B, T, D) or (B, S, D)? Can it be added to x?
    """

    def cross(self, x, memory, self_mask, cross_mask):
        return self.cross_attention(memory, x, x, None)


@misconception(of="DecoderBlock")
class BlockWithACausalCrossAttention(_Block):
    """The cross-attention is causal, too: target word t sees the first t + 1 source words only.

    Which mask says who may look where in the source? Does a triangle between two languages mean anything?
    """

    def cross(self, x, memory, self_mask, cross_mask):
        staircase = torch.ones(x.shape[1], memory.shape[1], dtype=torch.bool).tril()
        return self.cross_attention(x, memory, memory, cross_mask & staircase)


@misconception(of="DecoderBlock")
class BlockThatReadsSourcePadding(_Block):
    """The cross-attention gets no mask, so the padding of the source is read.

    Two masks come into `forward`. Where does each of them go?
    """

    def cross(self, x, memory, self_mask, cross_mask):
        return self.cross_attention(x, memory, memory)


@misconception(of="DecoderBlock")
class BlockThatSeesTheFuture(_Block):
    """The self-attention gets no mask, so each word sees those behind it.

    Change a later vector of x: do earlier results change? What would training then reward?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        return super().forward(x, memory, None, cross_mask)

    def cross(self, x, memory, self_mask, cross_mask):
        return self.cross_attention(x, memory, memory, cross_mask)


@misconception(of="DecoderBlock")
class BlockWithNormsInFront(_Block):
    """The norms stand in front of the steps (pre-norm), and the sums are not normalised.

    In the example nothing is found, and (1, 3) should become (−1, 1). What does your block make of it?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        y = self.norm_self(x)
        x = x + self.self_attention(y, y, y, self_mask)
        x = x + self.cross(self.norm_cross(x), memory, self_mask, cross_mask)
        return x + self.feed_forward(self.norm_feed_forward(x))


@misconception(of="DecoderBlock")
class BlockWithoutTheSecondSum(_Block):
    """What the cross-attention finds replaces x instead of being added to it.

    When nothing is found in the memory, what is left of x in your block? How does the target's own word get
    through?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        x = self.norm_self(x + self.self_attention(x, x, x, self_mask))
        x = self.norm_cross(self.cross(x, memory, self_mask, cross_mask))
        return self.norm_feed_forward(x + self.feed_forward(x))


@misconception(of="DecoderBlock")
class BlockThatAsksTheMemoryFirst(_Block):
    """Cross-attention comes before self-attention.

    Read the three lines of the statement. What does x know when it asks the memory?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        x = self.norm_cross(x + self.cross(x, memory, self_mask, cross_mask))
        x = self.norm_self(x + self.self_attention(x, x, x, self_mask))
        return self.norm_feed_forward(x + self.feed_forward(x))


@misconception(of="DecoderBlock")
class BlockWithAMaskThatDoesNotFit(_Block):
    """An attention gets vectors and a mask that do not belong together: the mask has no column for each key.

    Which of the two attentions complains? How many keys does it have, and how many columns its mask?
    """

    def cross(self, x, memory, self_mask, cross_mask):
        return self.cross_attention(memory, x, x, cross_mask)


@misconception(of="DecoderBlock")
class BlockThatFetchesItsOwnWords(_Block):
    """The values of the cross-attention are those of x: the memory is weighed, and the target fetched.

    A `MultiHeadAttention` is called with (query, key, value, mask). Which two of these are the memory?
    """

    def cross(self, x, memory, self_mask, cross_mask):
        return self.cross_attention(x, memory, x, cross_mask)


@misconception(of="DecoderBlock")
class BlockWithoutTheFirstSum(_Block):
    """What the self-attention finds replaces x instead of being added to it.

    When nothing is found in the target, what is left of x in your block?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        x = self.norm_self(self.self_attention(x, x, x, self_mask))
        x = self.norm_cross(x + self.cross(x, memory, self_mask, cross_mask))
        return self.norm_feed_forward(x + self.feed_forward(x))


@misconception(of="DecoderBlock")
class BlockWithoutTheThirdSum(_Block):
    """The feed-forward layer's result replaces x instead of being added to it.

    When the feed-forward layer gives 0, what is left of x in your block?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        x = self.norm_self(x + self.self_attention(x, x, x, self_mask))
        x = self.norm_cross(x + self.cross(x, memory, self_mask, cross_mask))
        return self.norm_feed_forward(self.feed_forward(x))


@misconception(of="DecoderBlock")
class BlockWithoutAnySum(_Block):
    """What each step finds replaces x instead of being added to it: there is no residual.

    In the example nothing is found. What is left of (1, 3) in your block, and what should be?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        x = self.norm_self(self.self_attention(x, x, x, self_mask))
        x = self.norm_cross(self.cross(x, memory, self_mask, cross_mask))
        return self.norm_feed_forward(self.feed_forward(x))


@misconception(of="DecoderBlock")
class BlockThatNormalisesTheSteps(_Block):
    """What a step finds is normalised and then added; the norm belongs around the sum.

    Follow x through the first line. Is it ever normalised itself?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        x = x + self.norm_self(self.self_attention(x, x, x, self_mask))
        x = x + self.norm_cross(self.cross(x, memory, self_mask, cross_mask))
        return x + self.norm_feed_forward(self.feed_forward(x))


@misconception(of="DecoderBlock")
class BlockWithoutARelu(_Block):
    """There is no relu, so the two linear layers are one linear map.

    What should the hidden layer make of -1?
    """

    def feed_forward(self, x):
        return self.contract(self.expand(x))


@misconception(of="DecoderBlock")
class BlockWithAGelu(_Block):
    """The nonlinearity is gelu, as in later models; the statement has relu.

    What should the hidden layer make of -1, exactly?
    """

    def feed_forward(self, x):
        return self.contract(functional.gelu(self.expand(x)))


@misconception(of="DecoderBlock")
class BlockWithOneNormTwice(_Block):
    """The first norm is used for the second sum as well, and norm_cross never.

    Look at the gradient of `norm_cross.gain`. Why is there none?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        x = self.norm_self(x + self.self_attention(x, x, x, self_mask))
        x = self.norm_self(x + self.cross(x, memory, self_mask, cross_mask))
        return self.norm_feed_forward(x + self.feed_forward(x))


@misconception(of="DecoderBlock")
class BlockWithOneNormForAll(_Block):
    """The first norm is used for all three sums, and the other two never.

    Look at the gradients of `norm_cross.gain` and `norm_feed_forward.gain`. Why are there none?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        x = self.norm_self(x + self.self_attention(x, x, x, self_mask))
        x = self.norm_self(x + self.cross(x, memory, self_mask, cross_mask))
        return self.norm_self(x + self.feed_forward(x))


@misconception(of="DecoderBlock")
class BlockWithOneAttentionTwice(_Block):
    """The matrices of the self-attention ask the memory too, and those of the cross-attention are never used.

    Look at the gradient of `cross_attention.W_query.weight`. Why is there none?
    """

    def cross(self, x, memory, self_mask, cross_mask):
        return self.self_attention(x, memory, memory, cross_mask)


@misconception(of="DecoderBlock")
class BlockThatAsksWithItsInput(_Block):
    """The memory is asked with the block's input, not with what the self-attention made of it.

    Which x stands inside the cross-attention of the second formula: the first one, or the new one?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        y = self.norm_self(x + self.self_attention(x, x, x, self_mask))
        y = self.norm_cross(y + self.cross(x, memory, self_mask, cross_mask))
        return self.norm_feed_forward(y + self.feed_forward(y))


@misconception(of="DecoderBlock")
class BlockWithoutASecondAttention(_Block):
    """The cross-attention is made but never called, so the output does not depend on the source.

    How many attentions does your `forward` call? Where does `memory` enter?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        x = self.norm_self(x + self.self_attention(x, x, x, self_mask))
        return self.norm_feed_forward(x + self.feed_forward(x))
