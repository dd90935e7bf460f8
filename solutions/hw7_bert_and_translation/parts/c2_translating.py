# %% [markdown] exercise="translation_loss" difficulty=1 minutes=10 forbids="course.models"
# ### 18. What a step of training looks at
#
# A target is `<s> w1 w2 … </s>` and then padding, (B, T) int64. In training the decoder reads
# `target[:, :-1]`, all tokens but the last, and gives logits of the shape (B, T − 1, V): `logits[:, t]` is
# about the token **after** position t. Write `translation_loss(logits, target, pad)`, one number: the mean
# surprise in nats over all real tokens that have to be predicted, `</s>` included, `<s>` and padding not.
# Torch's losses may be used.
#
# **Example.** `target = [[1, 3, 2]]`, where 1 is `<s>` and 2 is `</s>`; after `<s>` the model gives the word 3 the
# probability 1/2, and after 3 it gives `</s>` the probability 1/8: the loss is
# $(\ln 2 + \ln 8) / 2 = 2 \ln 2 \approx 1.386$.
#
# <details><summary>Hint 1</summary>
#
# Write the target `<s> a b </s>` in a row, and under each logit the token that it is about. Which slice of
# `target` is that?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The inputs were already shifted before the decoder was called. How often may the targets be shifted?
#
# </details>


# %% solution="translation_loss"
def translation_loss(logits: Tensor, target: Tensor, pad: int) -> Tensor:
    """The mean surprise, in nats, at target[:, 1:] without padding, under logits (B, T − 1, V)."""
    ### BEGIN SOLUTION
    return functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=pad)
    ### END SOLUTION


# %% check="the_example_costs_2_ln_2" points=1
def the_example_costs_2_ln_2(translation_loss):
    """The example costs the mean of ln 2 and ln 8, and gradients flow back."""
    rows = [[1 / 4, 1 / 16, 1 / 8, 1 / 2, 1 / 16], [1 / 2, 1 / 4, 1 / 8, 1 / 32, 3 / 32]]
    probs = torch.tensor([rows], dtype=torch.float64)
    target = torch.tensor([[1, 3, 2]])
    assert_close(translation_loss(probs.log(), target, 0), 2 * math.log(2))
    assert_differentiable(translation_loss, probs.log(), target, 0)


# %% check="foreseeing_the_next_word_costs_nothing" points=1
def foreseeing_the_next_word_costs_nothing(translation_loss):
    """Logits that name each next word cost nothing; logits that name the word just read cost much."""
    target = torch.tensor([[1, 4, 3, 5, 2], [1, 5, 2, 0, 0]])
    names = 60.0 * torch.eye(6, dtype=torch.float64)
    assert_close(translation_loss(names[target[:, 1:]], target, 0), 0.0, what="the next word is named")
    loss = float(translation_loss(names[target[:, :-1]], target, 0))
    assert_true(loss > 10, f"Naming the word just read costs {loss:.2f} nats only.")


# %% check="padding_costs_and_counts_nothing" points=1
def padding_costs_and_counts_nothing(translation_loss, draw):
    """More padding behind the targets, word 5 here, leaves the loss as it is, with any logits."""
    logits, target = draw.normal(2, 4, 6), torch.tensor([[1, 4, 3, 0, 2], [1, 0, 2, 5, 5]])
    answer = translation_loss(logits, target, 5)
    longer = torch.cat([logits, draw.normal(2, 3, 6)], dim=1)
    assert_close(translation_loss(longer, functional.pad(target, (0, 3), value=5), 5), answer)
    assert_depends(answer, translation_loss(2 * logits, target, 5))


# %% check="every_word_counts_the_same" points=1
def every_word_counts_the_same(translation_loss):
    """Four words of ln 8 in one sentence and a sure </s> in another cost 4/5 ln 8 together."""
    target = torch.tensor([[1, 4, 5, 6, 2], [1, 2, 0, 0, 0]])
    logits = torch.zeros(2, 4, 8, dtype=torch.float64)
    logits[1, 0, 2] = 60.0
    assert_close(translation_loss(logits, target, 0), 0.8 * math.log(8))


# %% check="other_targets_have_their_loss" points=2 hidden
def other_targets_have_their_loss(translation_loss, draw):
    """Other targets, of very different lengths, have the mean surprise over all their tokens together."""
    for batch_size, length, vocab_size, pad in ((3, 7, 8, 0), (4, 5, 6, 5)):
        logits = 3 * draw.normal(batch_size, length - 1, vocab_size)
        target = draw.integers(3, vocab_size - 1, batch_size, length)
        target[:, 0], target[0, -1], target[1, 2], target[1, 3:] = 1, 2, 2, pad
        log_probs = logits - logits.logsumexp(-1, keepdim=True)
        places = [(i, t) for i in range(batch_size) for t in range(length - 1) if target[i, t + 1] != pad]
        total = -sum(log_probs[i, t, target[i, t + 1]] for i, t in places)
        assert_close(translation_loss(logits, target, pad), (total / len(places)).item())


# %% provided="toy_translator"
class ToyTranslator:
    """A translator that only looks at the first source word and the last word written, and keeps a log.

    `tables` is (source words, V, V): tables[s, w] are the logits of the next word when the source begins with word s and
    w has just been written.
    """

    def __init__(self, tables):
        self.tables, self.log = tables, []

    def encode(self, source):
        """The memory of sources (B, S): (B, V, V)."""
        self.log.append("encode")
        return self.tables[source[:, 0]]

    def decode(self, target, memory):
        """Logits (B, T, V) of the word after each position of the target (B, T)."""
        self.log.append("decode")
        return memory[torch.arange(len(target))[:, None], target]


# %% [markdown] exercise="greedy_translate" difficulty=2 minutes=25 forbids="course.models,course.sampling"
# ### 19. Translate
#
# Nobody knows the target now. The decoder starts from `<s>`, and each step takes the likeliest next word and
# reads it in the following step. The source does not change meanwhile, so the encoder runs **once**.
#
# `ToyTranslator(tables)` above has the two methods of a translator, `encode(source)` and
# `decode(target, memory)`, and writes down in `.log` which of them was called. Write
# `greedy_translate(tables, source, bos, eos, max_length)`: make a `ToyTranslator`, translate the sources, (B, S),
# and return the tuple `(tokens, log)` of what was written and the model's log.
#
# - `tokens`, (B, n): what was written, without `<s>`; after the `</s>` of a sentence only further `</s>`.
# - The loop ends when every sentence has ended, and after `max_length` words at the latest: n is the number of
#   steps taken.
#
# **Example.** Two sentences, `eos = 2`; one would write 5, 4, 2, the other 3, 2 and then whatever. The tokens
# are `[[5, 4, 2], [3, 2, 2]]`, and the log is `["encode", "decode", "decode", "decode"]`. With
# `max_length = 2` the tokens are `[[5, 4], [3, 2]]`.
#
# <details><summary>Hint 1</summary>
#
# Keep two things from step to step: the tokens so far, beginning with a column of `bos`, and which sentences
# have ended, (B,) bool. Which position of the logits is about the next word?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `torch.where(has_ended, eos, words)` writes `</s>` for those that have ended. When may the loop stop: when one
# has ended or when all have?
#
# </details>


# %% solution="greedy_translate"
def greedy_translate(
    tables: Tensor, source: Tensor, bos: int, eos: int, max_length: int
) -> tuple[Tensor, list[str]]:
    """The likeliest next word, again and again: tokens (B, n), and which methods were called."""
    ### BEGIN SOLUTION
    model = ToyTranslator(tables)
    memory = model.encode(source)
    tokens = torch.full((len(source), 1), bos)
    has_ended = torch.zeros(len(source), dtype=torch.bool)
    while tokens.shape[1] <= max_length and not has_ended.all():
        words = model.decode(tokens, memory)[:, -1].argmax(dim=-1)  # (B,)
        words = torch.where(has_ended, eos, words)
        tokens, has_ended = torch.cat([tokens, words[:, None]], dim=1), words == eos
    return tokens[:, 1:], model.log
    ### END SOLUTION


# %% provided="spelling_tables" helper
def spelling_tables(draw, sentences, vocab_size, bos=1):
    """Tables of a ToyTranslator that writes sentences[s] when the source begins with word s.

    No sentence holds a word twice, all begin after the word `bos`, and after its last word comes any.
    """
    tables = draw.uniform(len(sentences), vocab_size, vocab_size)
    tables[:, 1, 1] = 2.0  # a sentence begun with word 1 where `bos` is another goes on with 1
    for s, sentence in enumerate(sentences):
        for before, word in zip([bos, *sentence], sentence, strict=False):
            tables[s, before, word] = 3.0
    return tables


# %% check="the_example_writes_5_4_2_and_3_2_2" points=1
def the_example_writes_5_4_2_and_3_2_2(greedy_translate, draw):
    """The sentences of the example become 5, 4, 2 and 3, 2, 2."""
    tables = spelling_tables(draw, [[5, 4, 2, 6], [3, 2, 7]], 8)
    tokens, _ = greedy_translate(tables, torch.tensor([[0, 1], [1, 0]]), 1, 2, 9)
    assert_equal(tokens, torch.tensor([[5, 4, 2], [3, 2, 2]]))


# %% check="the_encoder_runs_once" points=1
def the_encoder_runs_once(greedy_translate, draw):
    """For three words, the log holds one `encode` and then three `decode`."""
    tables = spelling_tables(draw, [[5, 4, 2], [3, 2], [6, 2]], 8)
    _, log = greedy_translate(tables, torch.tensor([[0, 1], [1, 0], [2, 2]]), 1, 2, 9)
    assert_equal(log, ["encode", "decode", "decode", "decode"])


# %% check="no_sentence_waits_for_the_others" points=1
def no_sentence_waits_for_the_others(greedy_translate, draw):
    """Each sentence is translated in a batch as it is alone, </s> behind it."""
    tables = spelling_tables(draw, [[5, 4, 6, 3, 2, 7], [3, 2, 5], [2, 4], [7, 6, 2, 3]], 9)
    source = torch.tensor([[2, 5, 0], [0, 5, 1], [3, 5, 2], [1, 5, 3]])
    tokens, _ = greedy_translate(tables, source, 1, 2, 12)
    assert_equal(list(tokens.shape), [4, 5], what="the shape of all sentences together")
    for row in range(4):
        alone, _ = greedy_translate(tables, source[row : row + 1], 1, 2, 12)
        filled = functional.pad(alone[0], (0, 5 - alone.shape[1]), value=2)
        assert_equal(tokens[row], filled, what=f"sentence {row}")


# %% check="any_word_may_end_a_sentence" points=1
def any_word_may_end_a_sentence(greedy_translate, draw):
    """With </s> = 6, the sentences become 5, 2, 6 and 6, 6, 6."""
    tables = spelling_tables(draw, [[5, 2, 6, 4], [6, 3]], 8)
    tokens, _ = greedy_translate(tables, torch.tensor([[0, 1], [1, 0]]), 1, 6, 9)
    assert_equal(tokens, torch.tensor([[5, 2, 6], [6, 6, 6]]))


# %% check="max_length_is_kept" points=1
def max_length_is_kept(greedy_translate, draw):
    """A sentence that never ends has exactly max_length words; sentences begin after word 8 here."""
    tables = spelling_tables(draw, [[5, 4, 6, 3, 5], [7, 2, 6, 4], [4, 7, 2, 6]], 9, bos=8)
    for max_length in (2, 1, 6):
        tokens, _ = greedy_translate(tables, torch.tensor([[0, 3], [1, 3], [2, 3]]), 8, 2, max_length)
        sentences = [[5, 4, 6, 3, 5, 4], [7, 2, 2, 2, 2, 2], [4, 7, 2, 2, 2, 2]]
        assert_equal(tokens, torch.tensor(sentences)[:, :max_length], what=f"max_length {max_length}")


# %% check="other_sentences_are_written_greedily" points=2 hidden
def other_sentences_are_written_greedily(greedy_translate, draw):
    """Other sentences come out word by word, with the encoder run once."""
    for vocab_size, lengths, max_length, bos in ((14, (3, 9, 5, 1), 11, 1), (12, (6, 2, 4), 4, 2)):
        words = list(range(3, vocab_size))
        sentences = []
        for length in lengths:
            order = [words[place] for place in draw.permutation(len(words))]
            sentences.append([*order[: length - 1], 0, order[length - 1]])
        tables = spelling_tables(draw, sentences, vocab_size, bos)
        source = torch.tensor([[s, 0] for s in draw.permutation(len(lengths))])
        tokens, log = greedy_translate(tables, source, bos, 0, max_length)
        n_steps = min(max_length, max(lengths))
        expected = [(sentences[s][: lengths[s]] + [0] * n_steps)[:n_steps] for s in source[:, 0].tolist()]
        assert_equal(tokens, torch.tensor(expected))
        assert_equal(log, ["encode"] + ["decode"] * n_steps, what="the log")


# %% [markdown] exercise="free_accuracy" difficulty=2 minutes=15 forbids="course.models,course.sampling"
# ### 20. How much of it is right?
#
# Write `free_accuracy(tables, source, target)`, which lets a `ToyTranslator(tables)` translate **freely** and
# returns the tuple `(words, sentences)` of two floats: the fraction of all words that are right at their place,
# and the fraction of sentences that are right in every word. `target`, (B, T), holds the right translations, `<s>`
# first; all of them are T tokens long and none is padded, so T − 1 steps are taken for every sentence. In each
# step the model reads `<s>` and what it has written itself; only the comparison knows the target, and `<s>` is
# not compared.
#
# **Example.** `target = [[1, 5, 4, 3], [1, 3, 6, 7]]`. The model writes 5, 4, 3 for the first source and 7, 6, 3 for
# the second. Four of six words are right at their place and one of two sentences: `(2/3, 1/2)`.
#
# <details><summary>Hint 1</summary>
#
# Which words does your model read in its second step? If you call `decode` only once, it must have read the
# target.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Compare word by word, (B, T − 1) of True and False. `all(dim=…)` says for each sentence whether all are True.
#
# </details>


# %% solution="free_accuracy"
def free_accuracy(tables: Tensor, source: Tensor, target: Tensor) -> tuple[float, float]:
    """The fractions of right words and of right sentences when the model reads its own words."""
    ### BEGIN SOLUTION
    model = ToyTranslator(tables)
    memory = model.encode(source)
    tokens = target[:, :1]
    for _ in range(target.shape[1] - 1):
        words = model.decode(tokens, memory)[:, -1].argmax(dim=-1, keepdim=True)  # (B, 1)
        tokens = torch.cat([tokens, words], dim=1)
    is_right = tokens[:, 1:] == target[:, 1:]  # (B, T − 1)
    return is_right.double().mean().item(), is_right.all(dim=1).double().mean().item()
    ### END SOLUTION


# %% check="the_example_is_right_in_four_words_of_six" points=1
def the_example_is_right_in_four_words_of_six(free_accuracy, draw):
    """In the example 4 of 6 words and 1 of 2 sentences are right."""
    tables = spelling_tables(draw, [[5, 4, 3, 2], [7, 6, 3, 2]], 8)
    target = torch.tensor([[1, 5, 4, 3], [1, 3, 6, 7]])
    assert_close(list(free_accuracy(tables, torch.tensor([[0, 3], [1, 3]]), target)), [2 / 3, 0.5])


# %% check="any_word_may_begin_a_sentence" points=1
def any_word_may_begin_a_sentence(free_accuracy, draw):
    """Where sentences begin with the word 6 and no word ends them, all words and all sentences are right."""
    tables = spelling_tables(draw, [[5, 2, 3], [1, 0, 3]], 8, bos=6)
    target = torch.tensor([[6, 5, 2, 3], [6, 1, 0, 3]])
    assert_close(list(free_accuracy(tables, torch.tensor([[0, 3], [1, 3]]), target)), [1.0, 1.0])


# %% check="a_wrong_word_is_read_again" points=1
def a_wrong_word_is_read_again(free_accuracy, draw):
    """A model that goes wrong in the first word is not led back, though it knows what follows the right one."""
    tables = spelling_tables(draw, [[7, 3, 2, 0], [4, 5, 6, 2]], 8)
    tables[0, 5, 4], tables[0, 4, 6] = 3.0, 3.0
    source, target = torch.tensor([[0, 1], [1, 1]]), torch.tensor([[1, 5, 4, 6], [1, 4, 5, 6]])
    words, sentences = free_accuracy(tables, source, target)
    assert_close(words, 0.5, what="words")
    assert_close(sentences, 0.5, what="sentences")


# %% check="one_wrong_word_spoils_a_sentence" points=1
def one_wrong_word_spoils_a_sentence(free_accuracy, draw):
    """Four sentences that are wrong in their last word only have 2/3 of the words and no sentence right."""
    written = [[5, 4, 3], [3, 5, 7], [6, 7, 4], [4, 6, 5]]
    tables, source = spelling_tables(draw, written, 8), torch.arange(4)[:, None]
    target = torch.tensor([[1, *words[:2], 2] for words in written])
    words, sentences = free_accuracy(tables, source, target)
    assert_close(words, 2 / 3, what="words")
    assert_close(sentences, 0.0, what="sentences")


# %% check="other_translations_are_counted" points=2 hidden
def other_translations_are_counted(free_accuracy, draw):
    """Other batches have the fractions that a walk through the tables finds."""
    for n_sentences, n_wrong, length in ((7, 4, 6), (9, 5, 4)):
        sentences = [[3 + place for place in draw.permutation(9)][:length] for _ in range(n_sentences)]
        tables = spelling_tables(draw, sentences, 13)
        for row in range(n_wrong):
            before = [1, *sentences[row]][row % 3]
            tables[row, before, 12], tables[row, 12, 2] = 5.0, 5.0  # word 12 slips in, word 2 follows,
            tables[row, 2, sentences[row][0]] = 5.0  # and the sentence begins again, too late
        n_words = n_whole = 0
        for table, sentence in zip(tables, sentences, strict=True):
            word, written = 1, []
            for _ in sentence:
                word = int(table[word].argmax())
                written.append(word)
            n_words += sum(a == b for a, b in zip(written, sentence, strict=True))
            n_whole += written == sentence
        order = draw.permutation(n_sentences)
        target = torch.tensor([[1, *sentence] for sentence in sentences])[order]
        words, whole = free_accuracy(tables, torch.tensor(order)[:, None], target)
        assert_close(words, n_words / (n_sentences * length), what="words")
        assert_close(whole, n_whole / n_sentences, what="sentences")


# %% [markdown] written="ninety_seven_percent" points=4 minutes=15
# ### 21. Ninety-seven percent
#
# A paper's code reports "97 % accuracy" for a translator: it feeds the right translation into the decoder, takes
# the likeliest word at each position, and counts how many agree with the right ones. The sentences have 20 words.
#
# a) Why can the fraction of right words be much lower when the model translates freely? Use an example with the
# model's own first word wrong.
#
# b) Somebody replaces the count by *exact matches of whole sentences*, still feeding the right translation.
# Does that inflate the number, too, when each word is the likeliest one? Prove your answer in two or three
# sentences.
#
# c) The 3 % wrong words are spread evenly and independently. Roughly how many sentences are exactly right? Why
# is exact match nevertheless a fair measure for the generated pair of languages of this course and hardly for
# real French?
#
# ### BEGIN SOLUTION
# a) (1 point) Fed with the right words, the model is put back on the right path after every mistake; freely, it
# reads its wrong word and goes on from a place where it may never have been in training. One wrong first word
# (a synonym, another gender) can make all that follows differ, or shift it by one place.
#
# b) (2 points: one for "no", one for the proof.) No. If every word is right under teacher forcing, then the
# model's likeliest first word is the right one, so freely it reads the same word, and by induction the same
# prefix at each step: it writes the same sentence. Conversely, if it writes the right sentence freely, it has read
# just what teacher forcing would have fed. So both agree for greedy decoding; the fraction of words does not.
#
# c) (1 point) 0.97^20 ≈ 0.54. In the generated pair each source has exactly one translation; real sentences have
# many good ones, and a single reference does not list them.
# ### END SOLUTION

# %% provided="probed_translator"
# For the next exercise: what a broken translator did when one thing at a time was changed.
PROBES = {
    "A: last source word exchanged → prediction after <s>": "changes",
    "B: last target word exchanged → prediction after <s>": "stays",
    "C: padding put behind the source → prediction after <s>": "stays",
    "D: first source word exchanged → memory at the last place": "changes",
    "E: last source word exchanged → memory at the first place": "changes",
    "F: memory at the last place exchanged → prediction after <s>": "stays",
}

# %%
for probe, outcome in PROBES.items():
    print(f"{outcome:8} {probe}")

# %% [markdown] exercise="name_the_broken_mask" difficulty=2 minutes=15
# ### 22. Find the fault
#
# Somebody else's translator has one encoder block and one decoder block, runs without an error and translates
# badly. Before training, with random weights, one thing at a time was changed, and the cell above says whether
# something else changed with it. In a right translator, A, D, E and F change, and B and C stay.
#
# Exactly one thing is wrong. Write `name_the_broken_mask()`, which takes nothing and returns the name of the
# fault:
#
# | name | what the program would do |
# |---|---|
# | `"causal_mask_left_out"` | the decoder's self-attention sees the whole target |
# | `"triangle_on_the_cross_attention"` | target position t sees only the memory's places 0 … t |
# | `"cross_attention_reads_the_target"` | keys and values come from the decoder's own vectors |
# | `"encoder_left_to_right"` | the encoder has a causal mask |
# | `"padding_not_masked"` | padding of the source may be attended to |
# | `"memory_skips_the_encoder"` | the memory is the embedded source itself |
#
# **Example of the reasoning.** If the encoder were causal, the first place of the memory could not know the
# last source word, and E would stay.
#
# <details><summary>Hint 1</summary>
#
# Which probe differs from a right translator? Which faults could cause just that?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The prediction after `<s>` depends on the last source word (A) but not on the last place of the memory (F). On
# which way has the last word come?
#
# </details>


# %% solution="name_the_broken_mask"
def name_the_broken_mask() -> str:
    """The name of the one fault behind the six probes."""
    ### BEGIN SOLUTION
    return "triangle_on_the_cross_attention"
    ### END SOLUTION


# %% check="the_fault_leaves_encoder_and_decoder_whole" points=1
def the_fault_leaves_encoder_and_decoder_whole(name_the_broken_mask):
    """The answer is one of the six names, and probes B to E do not show that fault."""
    shown_by = {
        "causal_mask_left_out": "probe B",
        "triangle_on_the_cross_attention": "",
        "cross_attention_reads_the_target": "",
        "encoder_left_to_right": "probe E",
        "padding_not_masked": "probe C",
        "memory_skips_the_encoder": "probes D and E",
    }
    answer = name_the_broken_mask()
    assert_true(answer in shown_by, f"{answer!r} is not one of the six names.")
    assert_true(not shown_by[answer], f"{shown_by[answer]} would show that fault already.")


# %% check="the_fault_answers_every_probe_so" points=3 hidden
def the_fault_answers_every_probe_so(name_the_broken_mask, draw):
    """A translator with the fault you name answers all six probes as the table says."""
    config = TransformerConfig(d_model=6, n_heads=2, n_layers=1, d_ff=5)
    encoder, decoder = EncoderLayer(config).double(), DecoderLayer(config).double()
    for layer in (encoder, decoder):
        layer.load_state_dict({name: draw.normal(*w.shape) / 2 for name, w in layer.state_dict().items()})
    words, target = draw.normal(5, 6), draw.normal(1, 3, 6)
    triangle = torch.ones(3, 5, dtype=torch.bool).tril()
    answer = str(name_the_broken_mask())

    @torch.no_grad()
    def memory_of(source, real):
        if answer == "memory_skips_the_encoder":
            return source
        return encoder(source, real, is_causal=answer == "encoder_left_to_right")

    @torch.no_grad()
    def prediction(target, memory, real):
        if answer == "cross_attention_reads_the_target":
            memory, real = target, None
        if answer == "triangle_on_the_cross_attention":
            real = real & triangle[:, : memory.shape[1]]
        return decoder(target, memory, None, real, is_causal=answer != "causal_mask_left_out")[0, 0]

    def real_places(n_places, n_real):
        hides = answer != "padding_not_masked"
        return ((torch.arange(n_places) < n_real) | (not hides))[None, None, None]

    source, real = words[None, :4], real_places(4, 4)
    first, last = source.clone(), source.clone()
    first[0, 0], last[0, 3] = words[4], words[4]
    memory, longer = memory_of(source, real), words[None, [0, 1, 2, 3, 4]]
    other_target, other_memory = target.clone(), memory.clone()
    other_target[0, 2] += 1 + draw.normal(6)
    other_memory[0, 3] += 1 + draw.normal(6)
    before = prediction(target, memory, real)
    padded = real_places(5, 4)
    differences = [
        prediction(target, memory_of(last, real), real) - before,
        prediction(other_target, memory, real) - before,
        prediction(target, memory_of(longer, padded), padded) - before,
        (memory_of(first, real) - memory)[0, 3],
        (memory_of(last, real) - memory)[0, 0],
        prediction(target, other_memory, real) - before,
    ]
    for (probe, shown), difference in zip(PROBES.items(), differences, strict=True):
        found = "changes" if difference.abs().max() > 1e-9 else "stays"
        assert_equal(found, shown, what=probe)
