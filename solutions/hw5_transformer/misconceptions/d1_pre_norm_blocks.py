"""What goes wrong in a pre-norm block: what is added, and what was normalised before."""

from autograder.catalogue import misconception

from ..notebook import PreNormBlock as RightBlock

NORMS = "https://github.com/harvardnlp/annotated-transformer/issues/13"

# 27. PreNormBlock


@misconception(of="PreNormBlock", seen=NORMS)
class PostNormInThePreNormBlock(RightBlock):
    """The sums are normalised, as in the paper: this is the post-norm block.

    With silent parts, does (1, 3) leave your block as it was?
    """

    def forward(self, x, mask=None):
        x = self.norm_attention(x + self.attention(x, mask))
        return self.norm_feed_forward(x + self.feed_forward(x))


@misconception(of="PreNormBlock")
class ResidualOfTheNormalised(RightBlock):
    """The residual adds the normalised x, so the stream itself is normalised on the way.

    After `x = norm(x)` your old x is gone. Which of the two does the formula add?
    """

    def forward(self, x, mask=None):
        x = self.norm_attention(x)
        x = x + self.attention(x, mask)
        x = self.norm_feed_forward(x)
        return x + self.feed_forward(x)


@misconception(of="PreNormBlock")
class PartsSideBySide(RightBlock):
    """Both parts read x at the same time; the second should read what the first has made of it.

    What does the second formula normalise: x or y?
    """

    def forward(self, x, mask=None):
        found = self.attention(self.norm_attention(x), mask)
        return x + found + self.feed_forward(self.norm_feed_forward(x))


@misconception(of="PreNormBlock")
class FeedForwardNotNormalised(RightBlock):
    """The feed-forward layer reads the sum as it is, without the second norm.

    Make x a thousand times as large. What should happen to what the feed-forward layer adds?
    """

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_attention(x), mask)
        return x + self.feed_forward(x)


@misconception(of="PreNormBlock")
class ResidualsLeftOut(RightBlock):
    """Nothing is added: each part's output replaces what was there.

    With silent parts, what leaves your block?
    """

    def forward(self, x, mask=None):
        x = self.attention(self.norm_attention(x), mask)
        return self.feed_forward(self.norm_feed_forward(x))


@misconception(of="PreNormBlock")
class NormsExchanged(RightBlock):
    """The two norms have changed places.

    Which of the two does the formula put before the attention?
    """

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_feed_forward(x), mask)
        return x + self.feed_forward(self.norm_attention(x))


@misconception(of="PreNormBlock")
class AttentionSkipped(RightBlock):
    """The attention is made and never used: no token learns of another.

    Change one token. Does any other output of your block change?
    """

    def forward(self, x, mask=None):
        return x + self.feed_forward(self.norm_feed_forward(x))


@misconception(of="PreNormBlock")
class FeedForwardSkipped(RightBlock):
    """The feed-forward layer is made and never used.

    Silence the attention. What is still added to x in your block?
    """

    def forward(self, x, mask=None):
        return x + self.attention(self.norm_attention(x), mask)


@misconception(of="PreNormBlock")
class MaskLostOnTheWay(RightBlock):
    """The block takes the mask and does not hand it to its attention.

    Follow the mask from your `forward` to the softmax. Where does it end?
    """

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_attention(x))
        return x + self.feed_forward(self.norm_feed_forward(x))


@misconception(of="PreNormBlock")
class ResidualOfTheAttentionMissing(RightBlock):
    """The attention's output replaces x instead of being added to it.

    With a silent attention, what is left of a token before the feed-forward layer?
    """

    def forward(self, x, mask=None):
        x = self.attention(self.norm_attention(x), mask)
        return x + self.feed_forward(self.norm_feed_forward(x))


@misconception(of="PreNormBlock")
class ResidualOfTheFeedForwardMissing(RightBlock):
    """The feed-forward layer's output replaces what was there instead of being added to it.

    With a silent feed-forward layer, what is left of what attention found?
    """

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_attention(x), mask)
        return self.feed_forward(self.norm_feed_forward(x))


@misconception(of="PreNormBlock")
class SecondSumFromTheInput(RightBlock):
    """The second sum adds the block's input x, where it should add y, which knows what attention found.

    To what does the second formula add FF(LN(y))? Silence the feed-forward layer: what has the attention
    changed?
    """

    def forward(self, x, mask=None):
        y = x + self.attention(self.norm_attention(x), mask)
        return x + self.feed_forward(self.norm_feed_forward(y))


@misconception(of="PreNormBlock")
class NormsAfterTheParts(RightBlock):
    """What a part gives is normalised and then added; the norm belongs to what goes in.

    With a silent attention, what does your norm add to x? What does the formula put inside Attention(·)?
    """

    def forward(self, x, mask=None):
        x = x + self.norm_attention(self.attention(x, mask))
        return x + self.norm_feed_forward(self.feed_forward(x))


@misconception(of="PreNormBlock")
class FirstNormUsedTwice(RightBlock):
    """The first norm is used in both places, and the second never.

    Look at the gradient of `norm_feed_forward.weight`. Why is there none?
    """

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_attention(x), mask)
        return x + self.feed_forward(self.norm_attention(x))


@misconception(of="PreNormBlock")
class NothingNormalised(RightBlock):
    """Both parts read the stream as it is; the norms are made and never used.

    Make x a thousand times as large. What should happen to what the parts add?
    """

    def forward(self, x, mask=None):
        x = x + self.attention(x, mask)
        return x + self.feed_forward(x)


@misconception(of="PreNormBlock")
class OutputNormalisedAsWell(RightBlock):
    """The block's output is normalised, so the sum that runs through all blocks does not stay as it is.

    With silent parts, does (1, 3) leave your block as it was?
    """

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_attention(x), mask)
        return self.norm_feed_forward(x + self.feed_forward(self.norm_feed_forward(x)))


@misconception(of="PreNormBlock")
class AttentionNotNormalised(RightBlock):
    """The attention reads x as it is, without the first norm.

    Make x a thousand times as large. What should happen to what the attention adds?
    """

    def forward(self, x, mask=None):
        x = x + self.attention(x, mask)
        return x + self.feed_forward(self.norm_feed_forward(x))


@misconception(of="PreNormBlock")
class FirstResidualOfTheNormalised(RightBlock):
    """The first sum adds the normalised x, so x itself is lost before the feed-forward layer.

    After `x = norm(x)` your old x is gone. Which of the two does the first formula add?
    """

    def forward(self, x, mask=None):
        x = self.norm_attention(x)
        x = x + self.attention(x, mask)
        return x + self.feed_forward(self.norm_feed_forward(x))


@misconception(of="PreNormBlock")
class SecondResidualOfTheNormalised(RightBlock):
    """The second sum adds the normalised y, so the stream leaves the block normalised.

    After `y = norm(y)` your old y is gone. Which of the two does the second formula add?
    """

    def forward(self, x, mask=None):
        x = x + self.attention(self.norm_attention(x), mask)
        x = self.norm_feed_forward(x)
        return x + self.feed_forward(x)
