"""What goes wrong in a post-norm block: where is added, where is normalised."""

from autograder.catalogue import misconception

from ..notebook import PostNormBlock as RightBlock

# 26. PostNormBlock

NORMS = "https://github.com/harvardnlp/annotated-transformer/issues/13"


@misconception(of="PostNormBlock", seen=NORMS)
class PreNormInThePostNormBlock(RightBlock):
    """What goes into each part is normalised, and the sum is not: this is the pre-norm block.

    Is (1, 3) normalised when it leaves your block with silent parts? What does each norm of the formula
    enclose?
    """

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_attention(x), mask)
        return x + self.feed_forward(self.norm_feed_forward(x))


@misconception(of="PostNormBlock", seen="https://github.com/harvardnlp/harvardnlp.github.io/issues/6")
class NormedBeforeAdding(RightBlock):
    """What a part gives is normalised and then added; the norm belongs around the sum.

    Follow x through the first line. Is it ever normalised itself?
    """

    def forward(self, x, mask=None):
        x = x + self.norm_attention(self.attention(x, mask))
        return x + self.norm_feed_forward(self.feed_forward(x))


@misconception(of="PostNormBlock")
class AttentionLeftOut(RightBlock):
    """The attention is made and never used: no token learns of another.

    Change one token. Does any other output of your block change?
    """

    def forward(self, x, mask=None):
        x = self.norm_attention(x)
        return self.norm_feed_forward(x + self.feed_forward(x))


@misconception(of="PostNormBlock")
class FeedForwardLeftOut(RightBlock):
    """The feed-forward layer is made and never used.

    Look at the gradient of `feed_forward.expand.weight`. Why is there none?
    """

    def forward(self, x, mask=None):
        return self.norm_feed_forward(self.norm_attention(x + self.attention(x, mask)))


@misconception(of="PostNormBlock")
class ResidualAroundAttentionMissing(RightBlock):
    """The attention's output replaces x instead of being added to it.

    With a silent attention, what is left of a token in your block?
    """

    def forward(self, x, mask=None):
        x = self.norm_attention(self.attention(x, mask))
        return self.norm_feed_forward(x + self.feed_forward(x))


@misconception(of="PostNormBlock")
class ResidualAroundFeedForwardMissing(RightBlock):
    """The feed-forward layer's output replaces what was there instead of being added to it.

    With a silent feed-forward layer, what is left of what attention found?
    """

    def forward(self, x, mask=None):
        x = self.norm_attention(x + self.attention(x, mask))
        return self.norm_feed_forward(self.feed_forward(x))


@misconception(of="PostNormBlock")
class SecondResidualFromTheInput(RightBlock):
    """The second sum adds the block's input x, where it should add y, which knows what attention found.

    To what does the second formula add FF(y)? Is your variable still the input?
    """

    def forward(self, x, mask=None):
        y = self.norm_attention(x + self.attention(x, mask))
        return self.norm_feed_forward(x + self.feed_forward(y))


@misconception(of="PostNormBlock")
class OneNormForBoth(RightBlock):
    """The first norm is used in both places, and the second never.

    Look at the gradient of `norm_feed_forward.weight`. Why is there none?
    """

    def forward(self, x, mask=None):
        x = self.norm_attention(x + self.attention(x, mask))
        return self.norm_attention(x + self.feed_forward(x))


@misconception(of="PostNormBlock")
class MaskNotPassedOn(RightBlock):
    """The block takes the mask and does not hand it to its attention.

    Follow the mask from your `forward` to the softmax. Where does it end?
    """

    def forward(self, x, mask=None):
        x = self.norm_attention(x + self.attention(x))
        return self.norm_feed_forward(x + self.feed_forward(x))


@misconception(of="PostNormBlock")
class NothingIsAdded(RightBlock):
    """Nothing is added: each part's output replaces what was there.

    With silent parts, what is left of a token in your block? Where is the + of the two formulas?
    """

    def forward(self, x, mask=None):
        x = self.norm_attention(self.attention(x, mask))
        return self.norm_feed_forward(self.feed_forward(x))


@misconception(of="PostNormBlock")
class FeedForwardReadsTheInput(RightBlock):
    """The feed-forward layer reads the block's input x, where it should read y.

    Of which letter is the FF in the second formula? Is that what your line hands over?
    """

    def forward(self, x, mask=None):
        y = self.norm_attention(x + self.attention(x, mask))
        return self.norm_feed_forward(y + self.feed_forward(x))


@misconception(of="PostNormBlock")
class NormsInEachOthersPlace(RightBlock):
    """The two norms have changed places.

    Which of the two does the formula put around the sum with the attention?
    """

    def forward(self, x, mask=None):
        x = self.norm_feed_forward(x + self.attention(x, mask))
        return self.norm_attention(x + self.feed_forward(x))


@misconception(of="PostNormBlock")
class FirstSumNotNormalised(RightBlock):
    """The sum with the attention goes on as it is; only the second sum is normalised.

    How many norms does the formula have, and how many does your forward pass call?
    """

    def forward(self, x, mask=None):
        x = x + self.attention(x, mask)
        return self.norm_feed_forward(x + self.feed_forward(x))


@misconception(of="PostNormBlock")
class SecondSumNotNormalised(RightBlock):
    """The block's output is the second sum as it is; only the first sum is normalised.

    What are mean and variance of your output, with gains of 1 and biases of 0?
    """

    def forward(self, x, mask=None):
        x = self.norm_attention(x + self.attention(x, mask))
        return x + self.feed_forward(x)


@misconception(of="PostNormBlock")
class FeedForwardComesFirst(RightBlock):
    """The feed-forward layer comes first and the attention second.

    Which of the two makes y from x?
    """

    def forward(self, x, mask=None):
        x = self.norm_feed_forward(x + self.feed_forward(x))
        return self.norm_attention(x + self.attention(x, mask))


@misconception(of="PostNormBlock")
class InputAddedAroundTheNorms(RightBlock):
    """Each sum is normalised and then added to what was there once more.

    Count how often x is in your first line, and how often in the formula. What is outside of the norm there?
    """

    def forward(self, x, mask=None):
        y = x + self.norm_attention(x + self.attention(x, mask))
        return y + self.norm_feed_forward(y + self.feed_forward(y))
