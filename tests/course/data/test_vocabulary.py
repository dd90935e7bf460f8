"""Vocabularies and batches."""

import pytest
import torch

from course.data.vocabulary import BOS, EOS, PAD, UNK, UnknownWord, Vocabulary, batches, pad_sequences

SENTENCES = [["b", "a", "c"], ["b", "a"], ["b", "d"]]


def test_words_come_by_falling_frequency_and_ties_in_alphabetical_order():
    assert Vocabulary.from_sentences(SENTENCES).words == (PAD, BOS, EOS, UNK, "b", "a", "c", "d")


def test_the_order_of_sentences_does_not_change_the_vocabulary():
    backwards = [sentence[::-1] for sentence in SENTENCES[::-1]]
    assert Vocabulary.from_sentences(backwards) == Vocabulary.from_sentences(SENTENCES)


def test_rare_words_and_words_beyond_the_size_become_unknown():
    rare = Vocabulary.from_sentences(SENTENCES, min_count=2)
    small = Vocabulary.from_sentences(SENTENCES, max_size=5)
    assert rare.words[4:] == ("b", "a")
    assert small.words[4:] == ("b",)
    assert rare.encode(["d", "a"]) == [rare.unk, 5]


def test_decoding_gives_back_the_words_without_the_frame():
    vocabulary = Vocabulary.from_sentences(SENTENCES)
    tokens = vocabulary.encode(["a", "d"], bos=True, eos=True)
    assert tokens == [vocabulary.bos, 5, 7, vocabulary.eos]
    assert vocabulary.decode(tokens) == ["a", "d"]
    assert vocabulary.decode(tokens, keep_special=True) == [BOS, "a", "d", EOS]


def test_without_a_place_for_unknown_words_an_unknown_word_is_an_error():
    vocabulary = Vocabulary.from_sentences(SENTENCES, special_tokens=[EOS])
    with pytest.raises(UnknownWord, match="'e' is not among the 5 words"):
        vocabulary.encode(["a", "e"])


def test_a_frame_that_the_vocabulary_lacks_is_an_error_even_with_unknown_words():
    vocabulary = Vocabulary.from_sentences(SENTENCES, special_tokens=[UNK])
    with pytest.raises(UnknownWord, match="<s> was asked for, but this vocabulary has none"):
        vocabulary.encode(["a"], bos=True)


@pytest.mark.parametrize(("name", "word"), [("pad", PAD), ("bos", BOS), ("eos", EOS)])
def test_a_special_token_that_the_vocabulary_lacks_is_an_error_and_not_none(name, word):
    vocabulary = Vocabulary.from_sentences(SENTENCES, special_tokens=[UNK])
    with pytest.raises(UnknownWord, match=f"{word} was asked for"):
        getattr(vocabulary, name)
    assert getattr(Vocabulary((word, "a")), name) == 0


@pytest.mark.parametrize("token", [-1, 8])
def test_a_token_outside_the_vocabulary_is_an_error(token):
    with pytest.raises(IndexError, match="from 0 to 7"):
        Vocabulary.from_sentences(SENTENCES).decode([token])


def test_an_empty_corpus_is_an_error():
    with pytest.raises(ValueError, match="the corpus is empty"):
        Vocabulary.from_sentences([[], []])


def test_a_word_twice_is_an_error():
    with pytest.raises(ValueError, match="different words"):
        Vocabulary(("a", "b", "a"))


def test_padding_fills_the_end_and_the_mask_marks_what_is_real():
    batch = pad_sequences([[5, 6, 7], [8]], pad=9)
    assert batch.tokens.tolist() == [[5, 6, 7], [8, 9, 9]]
    assert batch.mask.tolist() == [[True, True, True], [True, False, False]]
    assert batch.lengths.tolist() == [3, 1]


def test_the_mask_keeps_a_real_token_that_looks_like_padding():
    assert pad_sequences([[5, 6, 9], [9]], pad=9).lengths.tolist() == [3, 1]


def test_a_length_may_be_fixed_but_never_cuts():
    assert pad_sequences([[1], [2, 3]], pad=0, length=5).tokens.shape == (2, 5)
    with pytest.raises(ValueError, match="at least 2"):
        pad_sequences([[1], [2, 3]], pad=0, length=1)


def test_an_empty_batch_is_an_error():
    with pytest.raises(ValueError, match="at least one sequence"):
        pad_sequences([], pad=0)


def test_every_sequence_comes_exactly_once_also_in_random_order():
    sequences = [[i] * (i % 3 + 1) for i in range(11)]
    generator = torch.Generator().manual_seed(0)
    drawn = list(batches(sequences, 4, pad=-1, generator=generator))
    rows = [row[mask].tolist() for batch in drawn for row, mask in zip(batch.tokens, batch.mask, strict=True)]
    assert [len(batch) for batch in drawn] == [4, 4, 3]
    assert rows != sequences
    assert sorted(rows) == sequences


def test_without_a_generator_the_order_is_kept():
    sequences = [[1], [2], [3]]
    assert [batch.tokens.tolist() for batch in batches(sequences, 2, pad=0)] == [[[1], [2]], [[3]]]


def test_a_batch_of_none_is_an_error():
    with pytest.raises(ValueError, match="batch_size of at least 1"):
        next(batches([[1]], 0, pad=0))
