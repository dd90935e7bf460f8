"""What goes wrong in a block of the decoder and in the whole translator (homework 7, part C)."""

import math

import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import misconception
from course.models.layer_norm import LayerNorm
from course.models.multi_head_attention import MultiHeadAttention
from course.models.positions import sinusoidal_positions
from course.models.transformer import Decoder, Encoder, TransformerConfig

# 16. DecoderBlock

BLOCK = {"other_blocks_compute_what_torch_computes"}
FUTURE = {"the_future_does_not_change_the_past"}
WHOLE_SOURCE = {"the_first_word_reads_the_end_of_the_source"}
BLOCK_PADDING = {"the_source_s_padding_is_not_read"}
THREE_NORMS = {"with_nothing_found_three_norms_are_left"}


class _Block(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.expand, self.contract = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm_self, self.norm_cross = LayerNorm(d_model), LayerNorm(d_model)
        self.norm_feed_forward = LayerNorm(d_model)
        self.double()

    def cross(self, x, memory, self_mask, cross_mask):
        return self.cross_attention(x, memory, memory, cross_mask)

    def feed_forward(self, x):
        return self.contract(functional.relu(self.expand(x)))

    def forward(self, x, memory, self_mask, cross_mask):
        x = self.norm_self(x + self.self_attention(x, x, x, self_mask))
        x = self.norm_cross(x + self.cross(x, memory, self_mask, cross_mask))
        return self.norm_feed_forward(x + self.feed_forward(x))


@misconception(
    of="DecoderBlock",
    fails=BLOCK | WHOLE_SOURCE | BLOCK_PADDING,
    seen="https://github.com/rexrex9/nlp_torchtext/pull/2",
)
class BlockThatTalksToItself(_Block):
    """The second attention takes its keys and values from x, so the memory is never used.

    Change the memory: does the block's result change? Which three vectors does your cross-attention get?
    """

    def cross(self, x, memory, self_mask, cross_mask):
        return self.cross_attention(x, x, x, self_mask)


@misconception(
    of="DecoderBlock",
    fails=BLOCK | FUTURE | WHOLE_SOURCE | BLOCK_PADDING | THREE_NORMS,
    seen="https://github.com/humza909/LLM_Survey/issues/2",
)
class BlockInWhichTheMemoryAsks(_Block):
    """The memory asks and x answers: the result has a row per source word and cannot be added to x.

    Which shape has your cross-attention's result, (B, T, D) or (B, S, D)? What does it run into?
    """

    def cross(self, x, memory, self_mask, cross_mask):
        return self.cross_attention(memory, x, x, None)


@misconception(of="DecoderBlock", fails=BLOCK | WHOLE_SOURCE)
class BlockWithACausalCrossAttention(_Block):
    """The cross-attention is causal, too: target word t sees the first t + 1 source words only.

    Which mask says who may look where in the source? Does a triangle between two languages mean anything?
    """

    def cross(self, x, memory, self_mask, cross_mask):
        staircase = torch.ones(x.shape[1], memory.shape[1], dtype=torch.bool).tril()
        return self.cross_attention(x, memory, memory, cross_mask & staircase)


@misconception(of="DecoderBlock", fails=BLOCK | BLOCK_PADDING)
class BlockThatReadsSourcePadding(_Block):
    """The cross-attention gets no mask, so the padding of the source is read.

    Two masks come into `forward`. Where does each of them go?
    """

    def cross(self, x, memory, self_mask, cross_mask):
        return self.cross_attention(x, memory, memory)


@misconception(of="DecoderBlock", fails=BLOCK | FUTURE)
class BlockThatSeesTheFuture(_Block):
    """The self-attention gets no mask, so each word sees those behind it.

    Change a later vector of x: do earlier results change? What would training then reward?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        return super().forward(x, memory, None, cross_mask)

    def cross(self, x, memory, self_mask, cross_mask):
        return self.cross_attention(x, memory, memory, cross_mask)


@misconception(of="DecoderBlock", fails=BLOCK | THREE_NORMS)
class BlockWithNormsInFront(_Block):
    """The norms stand in front of the steps (pre-norm), and the sums are not normalised.

    In the example nothing is found, and (1, 3) should become (−1, 1). What does your block make of it?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        y = self.norm_self(x)
        x = x + self.self_attention(y, y, y, self_mask)
        x = x + self.cross(self.norm_cross(x), memory, self_mask, cross_mask)
        return x + self.feed_forward(self.norm_feed_forward(x))


@misconception(of="DecoderBlock", fails=BLOCK | THREE_NORMS)
class BlockWithoutTheSecondSum(_Block):
    """What the cross-attention finds replaces x instead of being added to it.

    When nothing is found in the memory, what is left of x in your block? How does the target's own word get
    through?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        x = self.norm_self(x + self.self_attention(x, x, x, self_mask))
        x = self.norm_cross(self.cross(x, memory, self_mask, cross_mask))
        return self.norm_feed_forward(x + self.feed_forward(x))


@misconception(of="DecoderBlock", fails=BLOCK)
class BlockThatAsksTheMemoryFirst(_Block):
    """Cross-attention comes before self-attention.

    Read the three lines of the statement. What does x know when it asks the memory?
    """

    def forward(self, x, memory, self_mask, cross_mask):
        x = self.norm_cross(x + self.cross(x, memory, self_mask, cross_mask))
        x = self.norm_self(x + self.self_attention(x, x, x, self_mask))
        return self.norm_feed_forward(x + self.feed_forward(x))


# 17. EncoderDecoder

WHOLE = {"other_translators_compute_what_torch_computes"}
BIAS_LEFT = {"without_output_weights_the_bias_is_left"}
LATER = {"later_words_do_not_change_earlier_logits"}
EVERY_WORD = {"every_source_word_reaches_the_first_prediction"}
MORE_PADDING = {"more_padding_changes_no_logits"}
EXCHANGED = {"exchanged_sentences_have_exchanged_logits"}


class _Translator(nn.Module):
    def __init__(self, source_vocab_size, target_vocab_size, d_model, n_heads, d_ff, n_layers, pad):
        super().__init__()
        self.d_model, self.pad = d_model, pad
        config = TransformerConfig(
            d_model=d_model, n_heads=n_heads, n_layers=n_layers, d_ff=d_ff, is_pre_norm=True
        )
        self.source_embedding = nn.Embedding(source_vocab_size, d_model)
        self.target_embedding = nn.Embedding(target_vocab_size, d_model)
        self.encoder, self.decoder = Encoder(config), Decoder(config)
        self.output = nn.Linear(d_model, target_vocab_size)
        self.double()

    def embedded(self, tokens, embedding):
        return math.sqrt(self.d_model) * embedding(tokens) + self.places(tokens)

    def places(self, tokens):
        return sinusoidal_positions(tokens.shape[1], self.d_model).double()

    def encode(self, source):
        mask = (source != self.pad)[:, None, None]
        return self.encoder(self.embedded(source, self.source_embedding), mask), mask

    def decode(self, target, memory, mask):
        return self.output(self.decoder(self.embedded(target, self.target_embedding), memory, None, mask))

    def forward(self, source, target):
        return self.decode(target, *self.encode(source))


@misconception(
    of="EncoderDecoder",
    fails=WHOLE | LATER | EVERY_WORD | MORE_PADDING | EXCHANGED,
    seen="https://github.com/keitakurita/Practical_NLP_in_PyTorch/issues/1",
)
class TranslatorWithoutASource(_Translator):
    """The decoder gets its own vectors as memory, so no translation depends on its source.

    Exchange the source: do the logits change? What does `decode` hand to the decoder as `memory`?
    """

    def decode(self, target, memory, mask):
        y = self.embedded(target, self.target_embedding)
        return self.output(self.decoder(y, y, None, None))


@misconception(
    of="EncoderDecoder",
    fails=WHOLE | BIAS_LEFT | LATER | EVERY_WORD | MORE_PADDING | EXCHANGED,
    seen="https://github.com/Kamichanw/SeekDeeper/issues/3",
)
class TranslatorWithTheTargetsMask(_Translator):
    """The cross-attention gets the mask of the target's padding, which fits by chance or not at all.

    Try a target that is longer than its source. How many columns has the mask, and how many the memory?
    """

    def decode(self, target, memory, mask):
        y = self.embedded(target, self.target_embedding)
        return self.output(self.decoder(y, memory, None, (target != self.pad)[:, None, None]))


@misconception(of="EncoderDecoder", fails=WHOLE | MORE_PADDING)
class TranslatorThatReadsPadding(_Translator):
    """The cross-attention gets no mask: the words behind a short source are padding, and are read.

    Put more padding behind a source. Do its logits change? Where does the mask from `encode` end up?
    """

    def decode(self, target, memory, mask):
        return super().decode(target, memory, None)


@misconception(of="EncoderDecoder", fails=WHOLE | MORE_PADDING)
class EncoderThatReadsPadding(_Translator):
    """The encoder gets no mask, so padding flows into the memory of the real words.

    The mask is used in the cross-attention. Is that the only place where somebody looks at the source?
    """

    def encode(self, source):
        x = self.embedded(source, self.source_embedding)
        return self.encoder(x), (source != self.pad)[:, None, None]


@misconception(of="EncoderDecoder", fails=WHOLE | EVERY_WORD)
class EncoderFromLeftToRight(_Translator):
    """The encoder is causal, so the memory of the first word knows nothing of the rest.

    The source is all there before the first word is written. What would be given away if its words saw each
    other?
    """

    def encode(self, source):
        mask = (source != self.pad)[:, None, None]
        return self.encoder(self.embedded(source, self.source_embedding), mask, True), mask


@misconception(of="EncoderDecoder", fails=WHOLE | LATER | MORE_PADDING)
class DecoderThatSeesTheFuture(_Translator):
    """The decoder has no causal triangle: while it is trained, it may read the word it must predict.

    Change the last word of the target. Which logits may change, and which do?
    """

    def decode(self, target, memory, mask):
        y = self.embedded(target, self.target_embedding)
        return self.output(self.decoder(y, memory, None, mask, is_causal=False))


@misconception(of="EncoderDecoder", fails=WHOLE | BIAS_LEFT)
class TranslatorWithASoftmax(_Translator):
    """Probabilities come out instead of logits; a loss that takes a softmax itself flattens them once more.

    With zero output weights the logits should be the bias, 1, 2 and 3. What do your three numbers sum to?
    """

    def forward(self, source, target):
        return super().forward(source, target).softmax(dim=-1)


@misconception(of="EncoderDecoder", fails=WHOLE | EXCHANGED)
class TranslatorWithoutPositions(_Translator):
    """The embeddings get no positions, so the encoder sees a bag of words.

    Exchange two words of the source: does the memory do more than exchange two rows? (The decoder notices an
    order all the same, through its triangle.)
    """

    def places(self, tokens):
        return torch.zeros(tokens.shape[1], self.d_model, dtype=torch.float64)


@misconception(of="EncoderDecoder", fails=WHOLE)
class EmbeddingsNotScaled(_Translator):
    """The embeddings are not multiplied by the root of D, so the positions drown them.

    How large is an entry of an embedding drawn with deviation 1/√D, and how large an entry of a position?
    """

    def embedded(self, tokens, embedding):
        return embedding(tokens) + self.places(tokens)
