# %% [markdown]
# ## Part C. Is it looking at the right word?
#
# Attention weights invite a picture: a row for each word of the target, a column for each word of the source.
# Before anybody reads such a picture, its rows and columns must be the right ones; and where the right
# alignment is known, the picture can be given a mark.

# %% [markdown] exercise="alignment_map" difficulty=1 minutes=10 exempt="gradient"
# ### 15. One map out of a batch
#
# Under teacher forcing a decoder gave the weights of a whole batch, (B, T, S). Its inputs were BOS, then the
# words, so `weights[b, 0]` says where it looked **while it chose** the first word of sentence b, and so on;
# one more row belongs to EOS, and further rows and columns to padding.
#
# Write `alignment_map(weights, sentence, n_target, n_source)`, the map of one sentence: a row for each of its
# `n_target` words (without EOS) and a column for each of its `n_source` source words, and nothing else.
#
# **Example.** The map of the French sentence *le chat dort .* and its source *the cat sleeps .* has four rows
# and four columns, however wide the batch is. Its first row belongs to *le*, which was chosen after reading
# BOS.
#
# <details><summary>Hint 1</summary>
#
# Write the inputs in one column and the words chosen next to them. Which of the two columns labels the rows?
#
# </details>


# %% solution="alignment_map"
def alignment_map(weights: Tensor, sentence: int, n_target: int, n_source: int) -> Tensor:
    """The weights (n_target, n_source) with which one sentence's words were chosen, from those of its batch."""
    ### BEGIN SOLUTION
    return weights[sentence, :n_target, :n_source]
    ### END SOLUTION


# %% check="targets_are_rows_and_sources_columns" points=1
def targets_are_rows_and_sources_columns(alignment_map, draw):
    """The map of 3 target words and 5 source words has 3 rows and 5 columns, whatever the batch."""
    weights = draw.probabilities(2, 6, 8)
    assert_equal(list(alignment_map(weights, 1, 3, 5).shape), [3, 5])


# %% check="the_first_row_is_of_the_first_word" points=1
def the_first_row_is_of_the_first_word(alignment_map):
    """Where step t looked at source word t alone, the map of a sentence has its ones on the diagonal."""
    weights = torch.eye(6, dtype=torch.float64).expand(3, 6, 6)
    expected = torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], dtype=torch.float64)
    assert_close(alignment_map(weights, 2, 3, 4), expected)


# %% check="the_map_is_of_one_sentence" points=1
def the_map_is_of_one_sentence(alignment_map, draw):
    """The maps of two sentences hold the weights of these two, as the batch has them."""
    weights = draw.probabilities(3, 6, 5)
    first, third = alignment_map(weights, 0, 5, 4), alignment_map(weights, 2, 5, 4)
    assert_close(first, weights[0, :-1, :-1], what="the first sentence")
    assert_close(third, weights[2, :-1, :-1], what="the third sentence")
    other = alignment_map(weights.flip(0), 0, 5, 4)
    assert_close(other, weights[2, :-1, :-1], what="the first sentence of the batch in the other order")


# %% check="other_sentences_have_their_maps" points=1 hidden
def other_sentences_have_their_maps(alignment_map, draw):
    """Other sentences, longer or shorter than their sources, have their maps."""
    for batch_size, T, S in ((3, 7, 5), (2, 4, 8)):
        weights = draw.probabilities(batch_size, T, S)
        for sentence, n_target, n_source in ((0, T - 1, S - 2), (batch_size - 1, 2, S), (1, T - 2, 3)):
            rows = [[float(weights[sentence, t, s]) for s in range(n_source)] for t in range(n_target)]
            answer = alignment_map(weights, sentence, n_target, n_source)
            assert_close(answer, torch.tensor(rows, dtype=torch.float64))


# %% [markdown] exercise="alignment_links" difficulty=2 minutes=10
# ### 16. From weights to links
#
# An **alignment** is a list of links (source word, target word), both counted from 0. To read one from a map,
# take for each target word the source word with the largest weight.
#
# Many translators read EOS at the end of the source. It is no word, and decoders like to look at it when they
# need nothing from the source, as for a word that follows from the last ones. A target word whose largest
# weight lies on EOS translates nothing, and gets no link.
#
# Write `alignment_links(weights)` for a map (T, S + 1) whose **last column is EOS**. It returns the links, a
# list of tuples `(s, t)` of ints, in the order of the target words. No row has two largest weights.
#
# **Example.** The map `[[0.3, 0.4, 0.3], [0.05, 0.45, 0.5], [0.8, 0.1, 0.1]]` has the links
# `[(1, 0), (0, 2)]`: the target word 1 looks at EOS.
#
# <details><summary>Hint 1</summary>
#
# Over which axis do you look for the largest weight, if every target word is to choose?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Should EOS take part in the search, or be taken out before it? Try both on the second row of the example.
#
# </details>


# %% solution="alignment_links"
def alignment_links(weights: Tensor) -> list[tuple[int, int]]:
    """Links (source, target) at the largest weight of each row of (T, S + 1), none to EOS, the last column."""
    ### BEGIN SOLUTION
    eos = weights.shape[1] - 1
    return [(source, target) for target, source in enumerate(weights.argmax(dim=1).tolist()) if source != eos]
    ### END SOLUTION


# %% check="the_example_has_two_links" points=1
def the_example_has_two_links(alignment_links):
    """The map of the example has the links (1, 0) and (0, 2)."""
    weights = torch.tensor([[0.3, 0.4, 0.3], [0.05, 0.45, 0.5], [0.8, 0.1, 0.1]])
    assert_equal(alignment_links(weights), [(1, 0), (0, 2)])


# %% check="every_target_word_chooses" points=1
def every_target_word_chooses(alignment_links):
    """Two target words may look at one source word, which then has two links; a set finds each link again."""
    weights = torch.tensor([[0.4, 0.1, 0.5, 0.0], [0.1, 0.6, 0.2, 0.1], [0.2, 0.7, 0.1, 0.0]])
    links = alignment_links(weights)
    assert_equal(links, [(2, 0), (1, 1), (1, 2)])
    found_again = set(links) & {(2, 0), (1, 1), (1, 2)}  # as exercise 17 counts them
    assert_true(len(found_again) == 3, "A set does not find the links again. Of what type are their numbers?")


# %% check="a_look_at_eos_is_no_link" points=1
def a_look_at_eos_is_no_link(alignment_links):
    """Two words that look at EOS have no link, and the third has its own."""
    weights = torch.tensor([[0.2, 0.3, 0.5], [0.05, 0.05, 0.9], [0.3, 0.6, 0.1]])
    assert_equal(alignment_links(weights), [(1, 2)])


# %% check="a_faint_look_is_a_link_too" points=1
def a_faint_look_is_a_link_too(alignment_links):
    """The largest of many small weights makes a link, and the second largest never does."""
    weights = torch.tensor([[0.18, 0.16, 0.17, 0.22, 0.15, 0.12], [0.02, 0.45, 0.47, 0.02, 0.02, 0.02]])
    assert_equal(alignment_links(weights), [(3, 0), (2, 1)])


# %% check="other_maps_have_their_links" points=2 hidden
def other_maps_have_their_links(alignment_links, draw):
    """Other maps, with more rows than columns or fewer, have their links."""
    for T, S in ((7, 4), (3, 6)):
        weights = draw.probabilities(T, S + 1)
        weights[3:] = (weights[3:] + 1) / (S + 2)  # nowhere a half
        weights[0, S - 1] = weights[1, S] = weights[2, 0] = weights[-1, 0] = 2.0  # EOS; the first word, twice
        expected = []
        for target, row in enumerate(weights.tolist()):
            source = max(range(S + 1), key=row.__getitem__)
            expected += [(source, target)] if source < S else []
        assert_equal(alignment_links(weights), expected)


# %% [markdown] exercise="alignment_error_rate" difficulty=2 minutes=15 forbids="course.evaluation"
# ### 17. A mark for an alignment
#
# For the sentences of our small languages the right links are known. Some are **sure**: this word translates
# that one. Others are only **possible**: for *danseront* nobody can say which of the two English
# words in *will dance* it translates, so either counts as right and none is demanded. The sure links are possible too. The
# **alignment error rate** (Och and Ney, 2003) of the links A that were found is, with the sure links
# $S_\text{sure}$ and the possible links P,
#
# $$\text{AER} = 1 - \frac{|A \cap S_\text{sure}| + |A \cap P|}{|A| + |S_\text{sure}|}$$
#
# Over many sentences, the four numbers are counted over all of them together before anything is divided.
#
# Write `alignment_error_rate(found, sure, possible)`. Each argument is a list with one entry per sentence, a
# list of links `(s, t)`. At least one link is found or sure.
#
# **Example.** One sentence with the four sure links (0, 0), (1, 1), (2, 3) and (3, 4), which also has the
# possible link (2, 2). Found are six: (0, 0), (1, 1), (2, 2), (2, 3), (4, 4) and (3, 5). Three of them are
# sure and four are possible, so the rate is $1 - (3 + 4) / (6 + 4) = 0.3$.
#
# <details><summary>Hint 1</summary>
#
# With sets of tuples, `&` is the intersection. In how many of the two intersections of the example is
# `(1, 1)`, which is sure, and in how many `(2, 2)`, which is only possible?
#
# </details>


# %% solution="alignment_error_rate"
def alignment_error_rate(
    found: list[list[tuple[int, int]]],
    sure: list[list[tuple[int, int]]],
    possible: list[list[tuple[int, int]]],
) -> float:
    """1 − (|found ∩ sure| + |found ∩ possible|) / (|found| + |sure|), counted over all sentences together."""
    ### BEGIN SOLUTION
    right, asked = 0, 0
    for a, s, p in zip(found, sure, possible, strict=True):
        right += len(set(a) & set(s)) + len(set(a) & set(p))
        asked += len(set(a)) + len(set(s))
    return 1 - right / asked
    ### END SOLUTION


# %% check="the_example_has_the_rate_0_3" points=1
def the_example_has_the_rate_0_3(alignment_error_rate):
    """The links of the example have the alignment error rate 0.3."""
    sure = [(0, 0), (1, 1), (2, 3), (3, 4)]
    found = [(0, 0), (1, 1), (2, 2), (2, 3), (4, 4), (3, 5)]
    assert_close(alignment_error_rate([found], [sure], [[*sure, (2, 2)]]), 0.3)


# %% check="sure_links_alone_are_no_error" points=1
def sure_links_alone_are_no_error(alignment_error_rate):
    """Finding exactly the sure links gives an error rate of 0; finding none of the possible ones gives 1."""
    sure, possible = [[(0, 1), (2, 0)]], [[(0, 1), (1, 1), (2, 0), (2, 2)]]
    assert_close(alignment_error_rate(sure, sure, possible), 0.0, what="the sure links")
    assert_close(alignment_error_rate([[(3, 3), (0, 0)]], sure, possible), 1.0, what="wrong links")


# %% check="missing_links_are_errors" points=1
def missing_links_are_errors(alignment_error_rate):
    """One right link where four are sure: nothing found is wrong, and the rate is 3/5."""
    sure = [[(n, n) for n in range(4)]]
    assert_close(alignment_error_rate([[(2, 2)]], sure, sure), 0.6)


# %% check="wrong_links_are_errors" points=1
def wrong_links_are_errors(alignment_error_rate):
    """All four sure links and two wrong ones: nothing is missing, and the rate is 1/5."""
    sure = [[(n, n) for n in range(4)]]
    assert_close(alignment_error_rate([[*sure[0], (0, 1), (3, 2)]], sure, sure), 0.2)


# %% check="a_long_sentence_weighs_more" points=1
def a_long_sentence_weighs_more(alignment_error_rate):
    """A sentence of nine right links and one of one wrong link: 1 of 10 is wrong, so the rate is 1/10."""
    long = [(n, n) for n in range(9)]
    assert_close(alignment_error_rate([long, [(0, 1)]], [long, [(0, 0)]], [long, [(0, 0)]]), 0.1)


# %% check="other_alignments_have_their_rate" points=2 hidden
def other_alignments_have_their_rate(alignment_error_rate, draw):
    """Other alignments, with missing, wrong and possible links, have their rate."""
    for lengths in ((5, 9), (7, 4, 6)):
        found, sure, possible, right, asked = [], [], [], 0, 0
        for n in lengths:
            sure.append([(place, target) for target, place in enumerate(draw.permutation(n))])
            doubtful = [(20 + k, k) for k in range(3)]
            possible.append(sure[-1] + doubtful)
            found.append(sure[-1][: n - 2] + doubtful[:1] + [(30, 0), (31, 1), (32, 2)][: n - 3])
            right += 2 * (n - 2) + 1
            asked += len(found[-1]) + n
        assert_close(alignment_error_rate(found, sure, possible), 1 - right / asked)
