"""What goes wrong in the whole translator (homework 7, part C)."""

import math

import torch

from autograder.catalogue import misconception
from course.models.positions import sinusoidal_positions
from course.models.transformer import Decoder, Encoder, TransformerConfig

from ..notebook import EncoderDecoder as RightTranslator

# 17. EncoderDecoder


class _Translator(RightTranslator):
    def embedded(self, tokens, embedding):
        return math.sqrt(self.d_model) * embedding(tokens) + self.places(tokens)

    def places(self, tokens):
        return sinusoidal_positions(tokens.shape[1], self.d_model).double()


@misconception(of="EncoderDecoder", seen="https://github.com/keitakurita/Practical_NLP_in_PyTorch/issues/1")
class TranslatorWithoutASource(_Translator):
    """The decoder gets its own vectors as memory, so no translation depends on its source.

    Exchange the source: do the logits change? What does `decode` hand to the decoder as `memory`?
    """

    def decode(self, target, memory, mask):
        y = self.embedded(target, self.target_embedding)
        return self.output(self.decoder(y, y, None, None))


@misconception(of="EncoderDecoder", seen="https://github.com/Kamichanw/SeekDeeper/issues/3")
class TranslatorWithTheTargetsMask(_Translator):
    """The cross-attention gets the mask of the target's padding, which fits by chance or not at all.

    Try a target longer than its source. How many columns does the mask have, and how many rows the memory?
    """

    def decode(self, target, memory, mask):
        y = self.embedded(target, self.target_embedding)
        return self.output(self.decoder(y, memory, None, (target != self.pad)[:, None, None]))


@misconception(of="EncoderDecoder")
class TranslatorThatReadsPadding(_Translator):
    """The cross-attention gets no mask: the words behind a short source are padding, and are read.

    Put more padding behind a source. Do its logits change? Where does the mask from `encode` end up?
    """

    def decode(self, target, memory, mask):
        return super().decode(target, memory, None)


@misconception(of="EncoderDecoder")
class EncoderThatReadsPadding(_Translator):
    """The encoder gets no mask, so padding flows into the memory of the real words.

    The mask is used in the cross-attention. Is that the only place where somebody looks at the source?
    """

    def encode(self, source):
        x = self.embedded(source, self.source_embedding)
        return self.encoder(x), (source != self.pad)[:, None, None]


@misconception(of="EncoderDecoder")
class EncoderFromLeftToRight(_Translator):
    """The encoder is causal, so the memory of the first word knows nothing of the rest.

    The source is all there before the first word is written. What would be given away if its words saw each
    other?
    """

    def encode(self, source):
        mask = (source != self.pad)[:, None, None]
        return self.encoder(self.embedded(source, self.source_embedding), mask, True), mask


@misconception(of="EncoderDecoder")
class DecoderThatSeesTheFuture(_Translator):
    """The decoder has no causal triangle: while it is trained, it may read the word it must predict.

    Change the last word of the target. Which logits may change, and which do?
    """

    def decode(self, target, memory, mask):
        y = self.embedded(target, self.target_embedding)
        return self.output(self.decoder(y, memory, None, mask, is_causal=False))


@misconception(of="EncoderDecoder")
class TranslatorWithASoftmax(_Translator):
    """Probabilities come out instead of logits; a loss that takes a softmax itself flattens them once more.

    With zero output weights the logits should be the bias, 1, 2 and 3. What do your three numbers sum to?
    """

    def forward(self, source, target):
        return super().forward(source, target).softmax(dim=-1)


@misconception(of="EncoderDecoder")
class TranslatorWithoutPositions(_Translator):
    """The embeddings get no positions, so the encoder sees a bag of words.

    Exchange two words of the source: does the memory do more than exchange two rows? (The decoder notices an
    order all the same, through its triangle.)
    """

    def places(self, tokens):
        return torch.zeros(tokens.shape[1], self.d_model, dtype=torch.float64)


@misconception(of="EncoderDecoder")
class TargetWithoutPositions(_Translator):
    """The words of the source get positions, and those of the target none.

    Which lines of your class call `sinusoidal_positions`, and for which of the two languages?
    """

    def decode(self, target, memory, mask):
        y = math.sqrt(self.d_model) * self.target_embedding(target)
        return self.output(self.decoder(y, memory, None, mask))


@misconception(of="EncoderDecoder")
class EmbeddingsTimesD(_Translator):
    """The embeddings are multiplied by D instead of its root.

    For D = 64, by which number do you multiply an embedding?
    """

    def embedded(self, tokens, embedding):
        return self.d_model * embedding(tokens) + self.places(tokens)


@misconception(of="EncoderDecoder")
class EmbeddingsNotScaled(_Translator):
    """The embeddings are not multiplied by the root of D, so the positions drown them.

    How large is an entry of an embedding drawn with deviation 1/√D, and how large an entry of a position?
    """

    def embedded(self, tokens, embedding):
        return embedding(tokens) + self.places(tokens)


@misconception(of="EncoderDecoder")
class PositionsScaledAsWell(_Translator):
    """The sum of embedding and position is multiplied by the root of D; only the embedding should be.

    If all embeddings were 0, which vector would the encoder get at a position?
    """

    def embedded(self, tokens, embedding):
        return math.sqrt(self.d_model) * (embedding(tokens) + self.places(tokens))


@misconception(of="EncoderDecoder")
class PaddingTakenForWord0(_Translator):
    """The padding is looked for as word 0, whatever `pad` says.

    Which line of your class reads `pad`?
    """

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.pad = 0


@misconception(of="EncoderDecoder")
class TargetInTheSourcesEmbedding(_Translator):
    """The target is embedded with the source's table; the target's own is never used.

    Look at the gradient of `target_embedding.weight`. Why is there none?
    """

    def decode(self, target, memory, mask):
        y = self.embedded(target, self.source_embedding)
        return self.output(self.decoder(y, memory, None, mask))


@misconception(of="EncoderDecoder")
class NobodyKnowsOfThePadding(_Translator):
    """Neither the encoder nor the cross-attention gets the mask, so padding is read like words.

    Put more padding behind a source. Do its logits change? Where does your mask end up?
    """

    def encode(self, source):
        return self.encoder(self.embedded(source, self.source_embedding)), (source != self.pad)[:, None, None]

    def decode(self, target, memory, mask):
        return super().decode(target, memory, None)


@misconception(of="EncoderDecoder")
class TranslatorThatHidesTheWords(_Translator):
    """The mask is True at the padding: the words are hidden, and where there is no padding nothing is left.

    What does True mean in this homework? Is `source != pad` or `source == pad` True at a word?
    """

    def encode(self, source):
        mask = (source == self.pad)[:, None, None]
        return self.encoder(self.embedded(source, self.source_embedding), mask), mask


@misconception(of="EncoderDecoder")
class MaskForTheOtherAttention(_Translator):
    """The source's mask is handed to the decoder's self-attention, whose keys are the target.

    In which order does `Decoder` take its two masks? Which of them is about the memory?
    """

    def decode(self, target, memory, mask):
        y = self.embedded(target, self.target_embedding)
        return self.output(self.decoder(y, memory, mask, None))


@misconception(of="EncoderDecoder")
class MemoryWithoutAnEncoder(_Translator):
    """The memory is the embedded source itself; the encoder is made and never called.

    Exchange one word of the source. At how many places does your memory change?
    """

    def encode(self, source):
        return self.embedded(source, self.source_embedding), (source != self.pad)[:, None, None]


@misconception(of="EncoderDecoder")
class TranslatorWithLogProbs(_Translator):
    """The log-softmax is taken already, so log-probabilities are returned instead of logits.

    With the weights of `output` zero and its bias (1, 2, 3), which numbers should come out?
    """

    def decode(self, target, memory, mask):
        return super().decode(target, memory, mask).log_softmax(dim=-1)


@misconception(of="EncoderDecoder")
class TranslatorWithNormsBehind(_Translator):
    """The stacks have their norms behind the steps (post-norm), and no norm at the end of a stack.

    Which four arguments does your `TransformerConfig` get, and which fifth does the table give it?
    """

    def __init__(self, source_vocab_size, target_vocab_size, d_model, n_heads, d_ff, n_layers, pad):
        super().__init__(source_vocab_size, target_vocab_size, d_model, n_heads, d_ff, n_layers, pad)
        config = TransformerConfig(d_model=d_model, n_heads=n_heads, n_layers=n_layers, d_ff=d_ff)
        self.encoder, self.decoder = Encoder(config).double(), Decoder(config).double()
