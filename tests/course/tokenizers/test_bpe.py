"""Byte-pair encoding, compared with the `tokenizers` library and with recounting everything each time."""

import json
from collections import Counter
from itertools import pairwise

import pytest
from tokenizers import Tokenizer as LibraryTokenizer
from tokenizers import decoders, models, pre_tokenizers, trainers

from course.tokenizers import Tokenizer
from course.tokenizers.bpe import BytePairTokenizer, encode_word
from course.tokenizers.bpe_training import learn_merges, merge_pair
from course.tokenizers.byte_symbols import byte_tokens, from_visible, visible
from course.tokenizers.pre_tokens import split_pre_tokens


def library_tokenizer(text: str, vocab_size: int) -> LibraryTokenizer:
    tokenizer = LibraryTokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer


def library_merges(tokenizer: LibraryTokenizer) -> list[tuple[bytes, bytes]]:
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [(from_visible(left), from_visible(right)) for left, right in merges]


@pytest.fixture(scope="module")
def trained(documentation) -> BytePairTokenizer:
    return BytePairTokenizer.train(documentation, 900)


@pytest.fixture(scope="module")
def library(documentation) -> LibraryTokenizer:
    return library_tokenizer(documentation, 900)


def test_merges_learned_on_real_text_are_those_of_the_library(trained, library):
    assert list(trained.merges) == library_merges(library)
    assert trained.vocab_size == 900


def test_tokens_of_real_text_are_those_of_the_library(trained, library, documentation):
    assert trained.encode(documentation) == library.encode(documentation).ids
    assert {visible(spelling) for spelling in trained.spellings} == set(library.get_vocab())


def test_tokens_of_hard_texts_are_those_of_the_library(trained, library, hard_texts):
    for text in hard_texts:
        assert trained.encode(text) == library.encode(text).ids
        assert trained.decode(trained.encode(text)) == text


def test_merges_learned_on_hard_texts_are_those_of_the_library(hard_texts):
    for text in hard_texts:
        assert list(BytePairTokenizer.train(text, 290).merges) == library_merges(library_tokenizer(text, 290))


def test_keeping_counts_up_to_date_equals_counting_again_after_each_merge(documentation):
    word_counts = Counter(split_pre_tokens(documentation[:6_000]))
    words = {tuple(bytes([byte]) for byte in word.encode()): count for word, count in word_counts.items()}
    order = {spelling: i for i, spelling in enumerate(BytePairTokenizer(()).spellings)}
    expected = []
    while len(order) < 340:
        pairs = Counter()
        for word, count in words.items():
            for pair in pairwise(word):
                pairs[pair] += count
        best = min(pairs, key=lambda pair: (-pairs[pair], order[pair[0]], order[pair[1]]))
        expected.append(best)
        order.setdefault(best[0] + best[1], len(order))
        words = {tuple(merge_pair(word, best, best[0] + best[1])): count for word, count in words.items()}
    assert learn_merges(word_counts, 340) == expected


def test_frequent_words_count_as_often_as_they_occur():
    assert learn_merges({"xy": 3, "ab": 2, "abab": 1}, 257) == [(b"a", b"b")]
    assert learn_merges({"xy": 9, "ab": 2, "abab": 1}, 257) == [(b"x", b"y")]


def test_between_equal_counts_the_smaller_tokens_win():
    assert learn_merges({"zy": 4, "ab": 4, "ba": 4}, 257) == [(b"a", b"b")]


def test_training_ends_when_no_pair_is_left():
    assert learn_merges({"abc": 1}, 999) == [(b"a", b"b"), (b"ab", b"c")]


def test_no_merge_crosses_a_border_between_pre_tokens():
    spellings = BytePairTokenizer.train("a b " * 50, 300).spellings
    assert b" b" in spellings
    assert not any(b" " in spelling[1:] for spelling in spellings)


def test_merges_apply_in_the_order_learned_not_in_the_order_of_the_text():
    tokenizer = BytePairTokenizer(((b"b", b"c"), (b"a", b"b")))
    assert [tokenizer.spelling(token) for token in tokenizer.encode("abc")] == [b"a", b"bc"]


def test_a_pair_is_replaced_from_the_left_without_overlap():
    assert merge_pair([1, 1, 1], (1, 1), 9) == [9, 1]
    assert merge_pair([1, 2, 1, 2, 3], (1, 2), 9) == [9, 9, 3]


def test_encoding_goes_on_until_no_merge_fits():
    tokenizer = BytePairTokenizer(((b"a", b"a"), (b"aa", b"aa")))
    assert len(encode_word(byte_tokens("a" * 9), tokenizer.ranks)) == 3


def test_every_byte_can_be_encoded_without_any_merge():
    tokenizer = BytePairTokenizer(())
    assert tokenizer.encode("é") == byte_tokens("é")
    assert tokenizer.decode(tokenizer.encode("naïve 🙂\x00")) == "naïve 🙂\x00"


def test_half_a_character_is_shown_as_a_replacement_mark():
    tokenizer = BytePairTokenizer(())
    first, second = tokenizer.encode("é")
    assert tokenizer.decode([first]) == "\ufffd"
    assert tokenizer.decode([first, second]) == "é"


def test_special_tokens_are_never_cut_and_come_last(documentation):
    tokenizer = BytePairTokenizer.train(documentation, 300, special_tokens=["<end>", "<end>!"])
    tokens = tokenizer.encode("to be<end>or<end>!not")
    assert [token for token in tokens if token >= 298] == [298, 299]
    assert tokenizer.decode(tokens) == "to be<end>or<end>!not"
    assert tokenizer.vocab_size == 300


def test_special_tokens_teach_no_merges():
    tokenizer = BytePairTokenizer.train("<end>" * 99 + "ab", 258, special_tokens=["<end>"])
    assert tokenizer.merges == ((b"a", b"b"),)


def test_a_special_token_wins_over_a_merge_of_the_same_spelling():
    tokenizer = BytePairTokenizer(((b"a", b"b"),), special_tokens=("ab",))
    assert tokenizer.encode("ab") == [257]


def test_two_merges_that_spell_the_same_share_a_token():
    merges = ((b"a", b"b"), (b"b", b"c"), (b"ab", b"c"), (b"a", b"bc"))
    tokenizer = BytePairTokenizer(merges)
    assert tokenizer.vocab_size == 259
    assert [tokenizer.spelling(token) for token in tokenizer.encode("abc")] == [b"abc"]


def test_it_is_a_tokenizer(trained):
    assert isinstance(trained, Tokenizer)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BytePairTokenizer.train("", 300), "the corpus is empty"),
        (lambda: BytePairTokenizer.train("ab", 255), "at least 256, one per byte; received 255"),
        (lambda: BytePairTokenizer(((b"ab", b"c"),)), "merge 0 joins b'ab' and b'c'"),
        (lambda: BytePairTokenizer((), ("x", "x")), "different, non-empty special tokens"),
    ],
)
def test_bad_input_is_explained(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_token_outside_the_vocabulary_is_an_error():
    with pytest.raises(IndexError, match="from 0 to 255, received 256"):
        BytePairTokenizer(()).decode([256])


def test_a_vocabulary_gives_every_token_its_number_and_leaves_out_bytes_without_one():
    vocabulary = (b"<end>", b"ab", b"b", b"a")
    tokenizer = BytePairTokenizer(((b"a", b"b"),), special_tokens=("<end>",), vocabulary=vocabulary)
    assert tokenizer.encode("abcba<end>") == [1, 2, 3, 0]
    assert tokenizer.decode([1, 2, 3, 0]) == "abba<end>"
    assert tokenizer.vocab_size == 4
    assert tokenizer.encode("acb") == [1]  # as in the library: what is left out does not stand between others
