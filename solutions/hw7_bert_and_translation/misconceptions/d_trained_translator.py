"""What goes wrong in a trained translator (homework 7, part D)."""

import zlib
from collections import Counter, defaultdict
from functools import cache
from random import Random

import torch

from autograder.catalogue import misconception
from course.data.translation_pair import TranslationConfig, translation_pairs, translation_vocabularies
from course.data.vocabulary import pad_sequences
from course.models.translator import Translator, TranslatorConfig

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
