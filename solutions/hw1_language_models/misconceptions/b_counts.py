"""What goes wrong when n-grams are counted."""

from collections import Counter, defaultdict
from itertools import chain

from autograder.catalogue import misconception, not_code

BOS, EOS = "<s>", "</s>"

# 7. ngram_counts


def _counted(rows, n, start=None):
    """Counts of the windows of n tokens in rows of tokens, the first one ending at `start`."""
    counts = defaultdict(Counter)
    for row in rows:
        for position in range(n - 1 if start is None else start, len(row)):
            counts[tuple(row[position - n + 1 : position])][row[position]] += 1
    return counts


@misconception(of="ngram_counts")
def windows_reach_into_the_next_sentence(sentences, n):
    """The padded sentences are joined into one text, and windows reach from one into the next.

    Look for `</s>` in the contexts you counted. What follows it in your table, and does anything follow the
    end of a sentence in the statement?
    """
    padded = ([BOS] * (n - 1) + sentence + [EOS] for sentence in sentences)
    return _counted([list(chain.from_iterable(padded))], n)


@misconception(of="ngram_counts")
def sentences_joined_into_one(sentences, n):
    """All sentences are joined into one long sentence, with a single beginning and a single end.

    How many sentences does the example have, and how many `</s>` are there in your counts? Which word does
    yours count after the last word of the first sentence?
    """
    return _counted([[BOS] * (n - 1) + list(chain.from_iterable(sentences)) + [EOS]], n)


@misconception(of="ngram_counts", seen="https://github.com/nltk/nltk/pull/772")
def one_opening_token_for_every_n(sentences, n):
    """Every sentence gets one `<s>` whatever n is, so with n = 3 the first word is never predicted.

    With n = 3, what is the context of the first word? How many `<s>` does it take, and how many for n = 1?
    """
    return _counted([[BOS, *sentence, EOS] for sentence in sentences], n)


@misconception(of="ngram_counts", seen="https://github.com/nltk/nltk/pull/772")
def shorter_contexts_at_the_beginning(sentences, n):
    """With one `<s>` per sentence, the first words are counted after contexts shorter than n - 1.

    Print the lengths of your contexts for n = 4. Which model would ever ask for a context of one token?
    """
    counts = defaultdict(Counter)
    for sentence in sentences:
        row = [BOS] * min(1, n - 1) + sentence + [EOS]
        for position in range(min(1, n - 1), len(row)):
            counts[tuple(row[max(0, position - n + 1) : position])][row[position]] += 1
    return counts


@misconception(of="ngram_counts")
def end_not_counted(sentences, n):
    """The last prediction of every sentence, its `</s>`, is not counted.

    What is the last thing your loop counts in `["b"]`? Is `</s>` not there, or does the loop stop one step
    before it?
    """
    return _counted([[BOS] * (n - 1) + sentence for sentence in sentences], n)


not_code(
    "5e",
    "off by one in the last window",
    why="it loses the </s> of every sentence, just as end_not_counted does, and that one asks about both",
)


@misconception(of="ngram_counts", seen="https://github.com/nltk/nltk/pull/772")
def end_padded_like_the_beginning(sentences, n):
    """Every sentence gets n - 1 `</s>`, so its end is predicted several times, or never.

    How often can a sentence end? With n = 3 and n = 1, how many `</s>` do you count for one sentence?
    """
    return _counted([[BOS] * (n - 1) + sentence + [EOS] * (n - 1) for sentence in sentences], n)


@misconception(of="ngram_counts", seen="https://github.com/nltk/nltk/issues/3065")
def opening_token_counted_as_predicted(sentences, n):
    """Every sentence gets n `<s>`, so the last of them is counted as if it had been predicted.

    Is there a moment at which a model has to guess that a sentence begins? Look for `<s>` among the tokens
    you counted, and for the probability it takes away from the first words.
    """
    return _counted([[BOS] * n + sentence + [EOS] for sentence in sentences], n)


@misconception(of="ngram_counts")
def first_word_not_counted(sentences, n):
    """The first window ends one token late, so the first word of every sentence is not counted.

    At which index of the padded list does the first word stand, for n = 1, 2 and 3? Where does your loop
    start?
    """
    return _counted([[BOS] * (n - 1) + sentence + [EOS] for sentence in sentences], n, start=n)


@misconception(of="ngram_counts")
def one_window_too_many(sentences, n):
    """A last window of only n - 1 tokens is counted too, with a context that is one token short.

    How many windows of length n fit into a list of length m? Print the last window of your loop.
    """
    counts = defaultdict(Counter)
    for sentence in sentences:
        row = [BOS] * (n - 1) + sentence + [EOS]
        for start in range(len(row) - n + 2):
            window = row[start : start + n]
            counts[tuple(window[:-1])][window[-1]] += 1
    return counts


@misconception(of="ngram_counts")
def words_as_contexts(sentences, n):
    """A context of one token is stored as the token itself, not as a tuple of one token.

    What does `type(context)` say for n = 1, 2 and 3? How does Python write a tuple that holds only `"a"`?
    """
    return {
        context[0] if len(context) == 1 else context: followers
        for context, followers in _counted([[BOS] * (n - 1) + s + [EOS] for s in sentences], n).items()
    }


@misconception(of="ngram_counts")
def counted_from_the_second_place_on(sentences, n):
    """Counting begins at the second place of the padded list, whatever n is.

    With n = 4, how many `<s>` stand before the first word? At which place does the first prediction stand?
    """
    return _counted([[BOS] * (n - 1) + sentence + [EOS] for sentence in sentences], n, start=1)


@misconception(of="ngram_counts")
def counted_from_the_first_place_on(sentences, n):
    """Every place of the padded list is counted, the opening tokens too, which nothing predicts.

    Underline in `<s> <s> a b </s>` what a trigram model predicts. Which of it does your loop begin with?
    """
    return _counted([[BOS] * (n - 1) + sentence + [EOS] for sentence in sentences], n, start=0)


@misconception(of="ngram_counts")
def whole_beginning_as_context(sentences, n):
    """The context is the whole sentence so far, not its last n - 1 tokens.

    How many tokens does the longest of your contexts have, and how many should it have for n = 2?
    """
    counts = defaultdict(Counter)
    for sentence in sentences:
        row = [BOS] * (n - 1) + sentence + [EOS]
        for place in range(n - 1, len(row)):
            counts[tuple(row[:place])][row[place]] += 1
    return counts


@misconception(of="ngram_counts")
def context_one_token_too_long(sentences, n):
    """The context holds the n tokens before the predicted one, which is one too many.

    How many tokens has an n-gram together with the one it predicts? How long is your context for n = 2?
    """
    counts = defaultdict(Counter)
    for sentence in sentences:
        row = [BOS] * (n - 1) + sentence + [EOS]
        for place in range(n - 1, len(row)):
            counts[tuple(row[max(0, place - n) : place])][row[place]] += 1
    return counts


@misconception(of="ngram_counts")
def whole_n_grams_counted(sentences, n):
    """Whole n-grams are counted in one dict, where a dict of contexts holds a dict of followers.

    Which tokens follow `("a",)`? How would you find out in your table, and how in that of the example?
    """
    counts = Counter()
    for sentence in sentences:
        row = [BOS] * (n - 1) + sentence + [EOS]
        counts.update(tuple(row[place : place + n]) for place in range(len(row) - n + 1))
    return counts


@misconception(of="ngram_counts")
def each_kind_counted_once(sentences, n):
    """What has been counted before is set to 1 again instead of being counted once more.

    How often does `</s>` follow `b` in the example, and how often in your table?
    """
    counts = _counted([[BOS] * (n - 1) + sentence + [EOS] for sentence in sentences], n)
    return {context: dict.fromkeys(followers, 1) for context, followers in counts.items()}


@misconception(of="ngram_counts")
def contexts_joined_into_strings(sentences, n):
    """The tokens of a context are joined into one string, where the statement has tuples.

    What is the key for n = 1? How would you get the last token of a context out of your key?
    """
    counts = _counted([[BOS] * (n - 1) + sentence + [EOS] for sentence in sentences], n)
    return {" ".join(context): followers for context, followers in counts.items()}


@misconception(of="ngram_counts")
def context_of_n_tokens(sentences, n):
    """The context holds the n tokens before the predicted one, which is one too many.

    How many tokens has an n-gram together with the one it predicts? How long is your context for n = 2?
    """
    return _counted([[BOS] * n + sentence + [EOS] for sentence in sentences], n + 1)


@misconception(of="ngram_counts")
def opening_tokens_counted_with_shorter_contexts(sentences, n):
    """Every place of the padded list is counted, the opening tokens too, which nothing predicts.

    Underline in `<s> <s> a b </s>` what a trigram model predicts. Which of it does your loop begin with?
    """
    counts = defaultdict(Counter)
    for sentence in sentences:
        row = [BOS] * (n - 1) + sentence + [EOS]
        for place in range(len(row)):
            counts[tuple(row[max(0, place - n + 1) : place])][row[place]] += 1
    return counts


@misconception(of="ngram_counts")
def everything_so_far_for_a_unigram(sentences, n):
    """The last n - 1 tokens are cut out with `[-(n - 1):]`, which for n = 1 is everything so far.

    Print `["x", "y"][-2:]`, `[-1:]` and `[-0:]`. Which of the three surprises you?
    """
    counts = defaultdict(Counter)
    for sentence in sentences:
        row = [BOS] * (n - 1)
        for token in [*sentence, EOS]:
            counts[tuple(row[-(n - 1) :])][token] += 1
            row.append(token)
    return counts


@misconception(of="ngram_counts")
def last_sentence_alone(sentences, n):
    """Only the last sentence is counted; what the others gave is lost.

    Where in your code does the table begin to exist: before the first sentence, or anew with each of them?
    """
    return _counted([[BOS] * (n - 1) + sentence + [EOS] for sentence in sentences[-1:]], n)


@misconception(of="ngram_counts")
def last_follower_alone(sentences, n):
    """Each context keeps only the token that followed it last; its earlier followers are overwritten.

    Two words follow `<s>` in the example. What does `counts[context] = …` leave of the first one?
    """
    counts = {}
    for sentence in sentences:
        row = [BOS] * (n - 1) + sentence + [EOS]
        for place in range(n - 1, len(row)):
            counts[tuple(row[place - n + 1 : place])] = {row[place]: 1}
    return counts


@misconception(of="ngram_counts")
def repeats_in_a_sentence_counted_once(sentences, n):
    """What occurs several times in one sentence is counted once for that sentence.

    How often does `b` occur in `b a b`? What does a `set` forget?
    """
    counts = defaultdict(Counter)
    for sentence in sentences:
        for context, followers in _counted([[BOS] * (n - 1) + sentence + [EOS]], n).items():
            counts[context].update(followers.keys())
    return counts


@misconception(of="ngram_counts")
def first_sentence_alone(sentences, n):
    """Only the first sentence is counted.

    Where does your `return` stand, and how often does the loop over the sentences come to its end?
    """
    return _counted([[BOS] * (n - 1) + sentence + [EOS] for sentence in sentences[:1]], n)
