"""What goes wrong in the search for a broken mask and in a trained translator (homework 7, part C)."""

import zlib
from collections import Counter, defaultdict
from functools import cache
from random import Random

import torch

from autograder.catalogue import misconception
from course.data.translation_pair import TranslationConfig, translation_pairs, translation_vocabularies
from course.data.vocabulary import pad_sequences
from course.models.translator import Translator, TranslatorConfig

# 22. name_the_broken_mask


@misconception(of="name_the_broken_mask")
def said_causal_mask_left_out():
    """The missing triangle of the decoder is named, but later target words change nothing (probe B).

    Which probe exchanges a later word of the target? What does the table say about it?
    """
    return "causal_mask_left_out"


@misconception(of="name_the_broken_mask")
def said_cross_attention_reads_the_target():
    """A decoder that reads itself is named, but the prediction depends on the source (probe A).

    If keys and values came from the decoder, could a source word reach the prediction at all?
    """
    return "cross_attention_reads_the_target"


@misconception(of="name_the_broken_mask")
def said_encoder_left_to_right():
    """A causal encoder is named, but the first place of the memory knows the last word (probe E).

    Which places could know the last source word if the encoder were causal?
    """
    return "encoder_left_to_right"


@misconception(of="name_the_broken_mask")
def said_padding_not_masked():
    """Padding that is read is named, but padding behind the source changes nothing (probe C).

    What does probe C put behind the source, and what happens?
    """
    return "padding_not_masked"


@misconception(of="name_the_broken_mask")
def said_memory_skips_the_encoder():
    """A memory without an encoder is named, but its places know other words (probes D and E).

    If each place of the memory were one embedded word, which of the probes D and E could show a change?
    """
    return "memory_skips_the_encoder"


# 23. translate

SENTENCES = TranslationConfig(min_length=4, max_length=7)


def _draw_pairs(n_pairs):
    drawn = translation_pairs(SENTENCES, n_pairs, Random(3))
    return [pair for pair in drawn if zlib.crc32(" ".join(pair.source).encode()) % 4]


_training_pairs = cache(_draw_pairs)


def _make_untrained():
    source_words, target_words = translation_vocabularies(SENTENCES.lexicon)
    config = TranslatorConfig(
        len(source_words), len(target_words), d_model=16, n_heads=2, n_layers=1, d_ff=16
    )
    torch.manual_seed(0)
    return Translator(config).eval(), source_words, target_words


_untrained = cache(_make_untrained)


@misconception(of="translate")
def translated_without_training(sentences):
    """The model has not been trained: its words are drawn by chance.

    What was the loss of your last step? A model that knows nothing pays ln V nats per word.
    """
    model, source_words, target_words = _untrained()
    source = pad_sequences([source_words.encode(words) for words in sentences], 0).tokens
    tokens = model.translate(source, target_words.bos, target_words.eos, 8)
    return [target_words.decode(row) for row in tokens.tolist()]


def _look_words_up():
    counts = defaultdict(Counter)
    for pair in _training_pairs(600):
        for s, t in pair.alignment:
            counts[pair.source[s]][pair.target[t]] += 1
    return {word: found.most_common(1)[0][0] for word, found in counts.items()}


_dictionary = cache(_look_words_up)


@misconception(of="translate")
def translated_word_by_word(sentences):
    """Each word is replaced by one word: nothing changes its place, agrees, or becomes two words.

    Compare "the green cat" with its translation. Where does the adjective stand, and what does it agree with?
    """
    known = _dictionary()
    return [[known.get(word, ".") for word in words] for words in sentences]


@misconception(of="translate")
def special_tokens_left_in(sentences):
    """The end of a sentence and the padding behind it are returned as words.

    Print a translation of a short sentence that stood beside a long one. Which of its entries are no words?
    """
    known, longest = _dictionary(), max(map(len, sentences))
    translations = [[known.get(word, ".") for word in words] + ["</s>"] for words in sentences]
    return [words + ["<pad>"] * (longest + 1 - len(words)) for words in translations]


@misconception(of="translate")
def most_similar_training_sentence(sentences):
    """The translation of the most similar training sentence is returned, as by a model that has overfitted.

    Measure exact match on training sentences and on held-out ones. How far are they apart?
    """
    pairs = _training_pairs(600)
    nearest = [max(pairs, key=lambda pair: len(set(pair.source) & set(words))) for words in sentences]
    return [list(pair.target) for pair in nearest]
