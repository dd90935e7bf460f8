"""What goes wrong when attention is read as an alignment and marked."""

from autograder.catalogue import misconception

# 15. alignment_map


@misconception(of="alignment_map")
def map_with_axes_swapped(weights, sentence, n_target, n_source):
    """The map lies on its side: source words are rows and target words columns.

    In the example with 3 target and 5 source words, how many rows has your map? What does each row sum to?
    """
    return weights[sentence, :n_target, :n_source].T


@misconception(of="alignment_map")
def padding_in_the_map(weights, sentence, n_target, n_source):
    """The whole page of the batch is shown, with rows and columns of EOS and padding.

    How many words have the sentence and its source, and how many rows and columns has your map?
    """
    return weights[sentence]


@misconception(of="alignment_map")
def rows_of_the_words_read(weights, sentence, n_target, n_source):
    """The row of BOS is left out, so every row shows where the decoder looked for the word after.

    Which word was chosen at step 0, after BOS was read? In which row of your map is that look?
    """
    return weights[sentence, 1 : n_target + 1, :n_source]


@misconception(of="alignment_map")
def eos_has_a_row(weights, sentence, n_target, n_source):
    """The map has one row too many, that in which EOS was chosen.

    `n_target` words need how many rows? Is EOS a word of the translation?
    """
    return weights[sentence, : n_target + 1, :n_source]


@misconception(of="alignment_map")
def mean_map_of_the_batch(weights, sentence, n_target, n_source):
    """The map is the mean over the batch, in which the looks of all sentences are blurred.

    Ask for two sentences of one batch. Are their maps different? Which argument did you not use?
    """
    return weights.mean(0)[:n_target, :n_source]


@misconception(of="alignment_map")
def rows_made_to_sum_to_one(weights, sentence, n_target, n_source):
    """Each row is divided by its sum, which hides how much of the look went elsewhere.

    The first word gave 0.6 of its weight to EOS. What does your row of it sum to, and what should it say?
    """
    rows = weights[sentence, :n_target, :n_source]
    return rows / rows.sum(-1, keepdim=True)


@misconception(of="alignment_map")
def map_of_the_first_sentence(weights, sentence, n_target, n_source):
    """Whichever sentence is asked for, the map is that of the first in the batch.

    Ask for two sentences of one batch. Are their maps different? Which argument did you not use?
    """
    return weights[0, :n_target, :n_source]


@misconception(of="alignment_map")
def rows_and_columns_counted_crosswise(weights, sentence, n_target, n_source):
    """As many rows are taken as the source has words, and as many columns as the target has.

    Which of the two sentences has a row for each of its words? Which of the two numbers counts its words?
    """
    return weights[sentence, :n_source, :n_target]


# 16. alignment_links


@misconception(of="alignment_links", seen="https://github.com/bentrevett/pytorch-seq2seq/issues/90")
def eos_read_as_a_word(weights):
    """A look at EOS is read as a translation of EOS.

    Which source word do your links of the example name for the target word 1? Does it exist?
    """
    return [(source, target) for target, source in enumerate(weights.argmax(1).tolist())]


@misconception(of="alignment_links")
def second_best_after_eos(weights):
    """EOS is taken out before the search, so a word that looks at EOS gets its second best as a link.

    In the second row of the example, is 0.45 the largest weight? What did that word look at?
    """
    return [(source, target) for target, source in enumerate(weights[:, :-1].argmax(1).tolist())]


@misconception(of="alignment_links")
def source_words_choose(weights):
    """For each source word the best target word is searched, not the other way round.

    How many links can your answer have at most, and how many can the statement's? Along which axis do you
    search?
    """
    return [(source, target) for source, target in enumerate(weights[:, :-1].argmax(0).tolist())]


@misconception(of="alignment_links")
def target_before_source(weights):
    """The pairs stand the other way round, target first.

    In the example, which of the two numbers of (1, 0) is the source word?
    """
    eos = weights.shape[1] - 1
    return [(target, source) for target, source in enumerate(weights.argmax(1).tolist()) if source != eos]


@misconception(of="alignment_links")
def only_looks_above_a_half(weights):
    """Only weights above a half make links, so a word that looks at two words has none.

    A row says 0.18, 0.16, 0.17, 0.22, 0.15, 0.12. Which is its largest weight, and where is your link?
    """
    eos = weights.shape[1] - 1
    best = weights.max(1)
    pairs = enumerate(zip(best.indices.tolist(), best.values.tolist(), strict=True))
    return [(source, target) for target, (source, weight) in pairs if source != eos and weight > 0.5]


@misconception(of="alignment_links")
def links_in_the_order_of_the_source(weights):
    """The links are right, but they stand in the order of the source words, not of the target words.

    Which word of the translation does your first link belong to? In which order does the statement want them?
    """
    return sorted(_links(weights))


def _links(weights):
    eos = weights.shape[1] - 1
    return [(source, target) for target, source in enumerate(weights.argmax(1).tolist()) if source != eos]


@misconception(of="alignment_links")
def targets_counted_anew(weights):
    """After a word without a link, the target words are counted on as if it were not there.

    In the example, which target word has the source word 0? What number has it in the map?
    """
    return [(source, place) for place, (source, _) in enumerate(_links(weights))]


@misconception(of="alignment_links")
def one_link_for_each_source_word(weights):
    """A source word keeps only its last link, though two target words may look at it.

    Which words of *bonhomme de neige* belong to *snowman*? How many links can a source word have in yours?
    """
    last = dict(_links(weights))
    return sorted(last.items(), key=lambda link: link[1])


# 17. alignment_error_rate


def _counts(found, sure, possible):
    triples = [(set(a), set(s), set(p)) for a, s, p in zip(found, sure, possible, strict=True)]
    return [(len(a & s), len(a & p), len(a), len(s), len(p)) for a, s, p in triples]


def _total(counts):
    return [sum(column) for column in zip(*counts, strict=True)]


@misconception(of="alignment_error_rate")
def mean_of_the_sentences_rates(found, sure, possible):
    """A rate is computed for each sentence, and their mean is taken: short sentences weigh more.

    One link of ten is wrong in a batch of two sentences. By which numbers did you divide, and how often?
    """
    rates = [1 - (s + p) / (a + n) for s, p, a, n, _ in _counts(found, sure, possible)]
    return sum(rates) / len(rates)


@misconception(of="alignment_error_rate")
def share_of_wrong_links(found, sure, possible):
    """Only the links that were found are judged, so finding one right link and no other counts as no error.

    Four links are sure, and one right link was found. What is missing, and does your rate show it?
    """
    _, p, a, _, _ = _total(_counts(found, sure, possible))
    return 1 - p / a


@misconception(of="alignment_error_rate")
def share_of_missed_links(found, sure, possible):
    """Only the sure links are looked for, so linking everything with everything counts as no error.

    All four sure links were found and two wrong ones besides. What does your rate say about these two?
    """
    s, _, _, n, _ = _total(_counts(found, sure, possible))
    return 1 - s / n


@misconception(of="alignment_error_rate")
def possible_links_demanded(found, sure, possible):
    """The possible links are counted below the fraction line, as if all of them had to be found.

    Found are exactly the sure links. Is anything wrong or missing? What does your rate say?
    """
    s, p, a, _, n = _total(_counts(found, sure, possible))
    return 1 - (s + p) / (a + n)


@misconception(of="alignment_error_rate")
def possible_links_not_allowed(found, sure, possible):
    """A link that is possible but not sure counts as wrong.

    In the example, (2, 2) was found. Who says that it is an error, and in which of the two counts should it
    be?
    """
    s, _, a, n, _ = _total(_counts(found, sure, possible))
    return 1 - 2 * s / (a + n)


@misconception(of="alignment_error_rate")
def only_sure_links_counted(found, sure, possible):
    """Above the fraction line stand the sure links that were found, but not the possible ones.

    In the example, six links were found and four are sure. Which two counts does the formula add above the
    line, and what is the second in yours?
    """
    s, _, a, n, _ = _total(_counts(found, sure, possible))
    return 1 - s / (a + n)


@misconception(of="alignment_error_rate")
def share_of_right_links(found, sure, possible):
    """What comes back is the fraction that is right, not the rate of errors.

    What is your rate for an alignment without any error? What should it be?
    """
    s, p, a, n, _ = _total(_counts(found, sure, possible))
    return (s + p) / (a + n)


@misconception(of="alignment_error_rate")
def sure_links_not_possible(found, sure, possible):
    """The sure links are taken out of the possible ones, so that each right link is counted once.

    Found are exactly the sure links. What is your rate? Does the statement call a sure link possible?
    """
    only = [sorted(set(p) - set(s)) for s, p in zip(sure, possible, strict=True)]
    s, p, a, n, _ = _total(_counts(found, sure, only))
    return 1 - (s + p) / (a + n)


@misconception(of="alignment_error_rate")
def links_of_all_sentences_in_one_set(found, sure, possible):
    """The links of all sentences are thrown into one set, where (0, 0) of two sentences is one link.

    Two sentences have the sure link (0, 0) each, and the first finds it. Is it found in the second?
    """
    a, s, p = ({link for links in sentences for link in links} for sentences in (found, sure, possible))
    return 1 - (len(a & s) + len(a & p)) / (len(a) + len(s))
