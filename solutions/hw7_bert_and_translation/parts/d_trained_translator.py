# %% [markdown]
# ## A translator of your own
#
# The last exercise trains. The pair of languages is generated: an English-like source and a French-like target,
# in which words change places, agree and turn into several; each source has exactly one translation. Lengths
# here are 4 to 7 words (`COURSE_SCALE=full`: 4 to 30). A sentence is **held out** when a checksum of its words
# is a multiple of four; the others are for training, and no sentence is both.

# %% provided="translation_data"
IS_FULL = os.environ.get("COURSE_SCALE", "small") == "full"
SENTENCES = TranslationConfig(min_length=4, max_length=30 if IS_FULL else 7)
SOURCE_WORDS, TARGET_WORDS = translation_vocabularies(SENTENCES.lexicon)
PAD = SOURCE_WORDS.pad  # the same in both


def is_held_out(pair):
    """Whether a sentence is kept for the examination, by a checksum of its words."""
    return zlib.crc32(" ".join(pair.source).encode()) % 4 == 0


def some_pairs(n_pairs, seed, held_out=False):
    """Sentence pairs for training, or held out, drawn with a seed of your choice."""
    rng, pairs = Random(seed), []
    while len(pairs) < n_pairs:
        drawn = translation_pairs(SENTENCES, n_pairs, rng)
        pairs += [pair for pair in drawn if is_held_out(pair) == held_out]
    return pairs[:n_pairs]


def as_tensors(pairs):
    """Sources (B, S) without special tokens, targets (B, T) between <s> and </s>, both padded with PAD."""
    sources = pad_sequences([SOURCE_WORDS.encode(pair.source) for pair in pairs], PAD)
    targets = [TARGET_WORDS.encode(pair.target, bos=True, eos=True) for pair in pairs]
    return sources.tokens, pad_sequences(targets, PAD).tokens


def memory_in_use():
    """The most memory so far, in gigabytes, of the GPU if there is one and else of this process."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated() / 1e9
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


# %%
for pair in some_pairs(3, seed=3):
    print(" ".join(pair.source), "→", " ".join(pair.target))

# %% [markdown] exercise="translate" difficulty=3 minutes=45 allows="course.models.translator,course.training"
# ### 23. Train it
#
# Train a translator, and let it be examined. Two functions:
#
# - `trained_translator()` returns your trained model, whatever you need for translating. `@cache` above it sees
#   to it that it trains once, when it is first called. `some_pairs(n_pairs, seed)` draws sentences for training;
#   on two cores, 300 to 500 batches of 48 pairs and a model of D = 48 to 64 with one or two layers are enough,
#   and take **less than a minute**. Your `EncoderDecoder` and `translation_loss` may be used, in float32
#   (`.float()` is twice as fast), and so may `Translator` of `course.models.translator`.
# - `translate(sentences)` takes a list of sentences, each a list of words, and returns their translations in the
#   same form, without special tokens. It is never told what is right.
#
# `SOURCE_WORDS.encode(words)` gives the numbers of words. `TARGET_WORDS.decode(numbers)` gives words back and leaves
# special tokens out; `TARGET_WORDS.bos` and `TARGET_WORDS.eos` are the numbers of `<s>` and `</s>`.
#
# The examination: of 150 held-out sentences, **at least 75 % exactly right** in every word. A model of this size
# reaches about 95 %. The checks compare the words themselves.
#
# **Example.** `translate([["the", "cat", "sleeps", "."]])` should be `[["le", "chat", "dort", "."]]`.
#
# <details><summary>Hint 1</summary>
#
# One step: draw rows, cut off the columns in which all rows are padded, `model(source, target[:, :-1])`, loss,
# `zero_grad`, `backward`, `step`. Print the loss every fifty steps: it should be below 0.1 in the end.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Draw the embeddings with a deviation of 1/√D, so that √D times an embedding is as large as a position. Let the
# learning rate rise over the first tenth of the steps and fall afterwards: `torch.optim.lr_scheduler.OneCycleLR`.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# If the loss is small and the translations are wrong: does your decoder read `<s>` first, as in training? Does it
# stop at `</s>`? Is padding masked, so that a sentence alone is translated as in a batch?
#
# </details>


# %% solution="translate"
@cache
def trained_translator():
    """Your model after training, which happens when this is called for the first time."""
    ### BEGIN SOLUTION
    device = best_device()
    width, n_layers, n_steps, batch_size = (256, 4, 4000, 256) if IS_FULL else (48, 1, 350, 48)
    source, target = (part.to(device) for part in as_tensors(some_pairs(30_000 if IS_FULL else 4000, seed=7)))
    torch.manual_seed(0)
    model = EncoderDecoder(len(SOURCE_WORDS), len(TARGET_WORDS), width, 4, 2 * width, n_layers, PAD)
    model = model.float().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3 if IS_FULL else 6e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, optimizer.defaults["lr"], total_steps=n_steps, pct_start=0.1
    )
    for _ in range(n_steps):
        rows = torch.randint(len(source), (batch_size,), device=device)
        x, y = (part[rows][:, : (part[rows] != PAD).any(0).sum()] for part in (source, target))
        with torch.autocast(device.type, torch.bfloat16, enabled=IS_FULL and device.type == "cuda"):
            logits = model(x, y[:, :-1])
        loss = translation_loss(logits.float(), y, PAD)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model.eval()
    ### END SOLUTION


def translate(sentences: list[list[str]]) -> list[list[str]]:
    """The translation of each sentence, by the trained model alone."""
    ### BEGIN SOLUTION
    model = trained_translator()
    device = next(model.parameters()).device
    source = pad_sequences([SOURCE_WORDS.encode(words) for words in sentences], PAD).tokens.to(device)
    with torch.no_grad():
        memory, mask = model.encode(source)
        tokens = torch.full_like(source[:, :1], TARGET_WORDS.bos)
        has_ended = torch.zeros(len(source), dtype=torch.bool, device=device)
        while tokens.shape[1] < 60 and not has_ended.all():
            words = model.decode(tokens, memory, mask)[:, -1].argmax(dim=-1)
            words = torch.where(has_ended, PAD, words)
            tokens = torch.cat([tokens, words[:, None]], dim=1)
            has_ended = has_ended | (words == TARGET_WORDS.eos)
    return [TARGET_WORDS.decode(row) for row in tokens.tolist()]
    ### END SOLUTION


# %%
began, examples = time.perf_counter(), some_pairs(4, seed=2, held_out=True)
try:
    translations = translate([list(pair.source) for pair in examples])
except NotImplementedError:
    print("○ Your translations appear here once `translate` and what it uses are written.")
else:
    print(f"trained in {time.perf_counter() - began:.0f} s, {memory_in_use():.1f} GB at most")
    for pair, words in zip(examples, translations, strict=True):
        print(" ".join(pair.source), "→", " ".join(words))


# %% provided="examination" helper
def fraction_translated(translate, pairs):
    """The fraction of pairs whose source is translated exactly."""
    answers = translate([list(pair.source) for pair in pairs])
    assert_equal(len(answers), len(pairs), what="the number of translations")
    return sum(list(answer) == list(pair.target) for answer, pair in zip(answers, pairs, strict=True)) / len(
        pairs
    )


# %% check="the_example_is_translated" points=1
def the_example_is_translated(translate):
    """`the cat sleeps .` becomes `le chat dort .`, and `the old queen sleeps .` `la vieille reine dort .`"""
    answers = translate([["the", "cat", "sleeps", "."], ["the", "old", "queen", "sleeps", "."]])
    expected = [["le", "chat", "dort", "."], ["la", "vieille", "reine", "dort", "."]]
    assert_equal([list(answer) for answer in answers], expected)


# %% check="company_changes_no_translation" points=1
def company_changes_no_translation(translate):
    """A sentence has the same translation alone as in a batch, and no special tokens are in it."""
    sentences = [list(pair.source) for pair in some_pairs(6, seed=3, held_out=True)]
    together = translate(sentences)
    for sentence, answer in zip(sentences, together, strict=True):
        assert_equal(translate([sentence])[0], answer, what=" ".join(sentence))
    special = {word for answer in together for word in answer} - set(TARGET_WORDS.words[4:])
    assert_equal(special, set(), what="words that are no words of the target")
    n_words = sum(len(answer) for answer in together)
    assert_true(n_words >= 18, f"Six translations have {n_words} words together.")


# %% check="three_quarters_are_exactly_right" points=4
def three_quarters_are_exactly_right(translate):
    """Of 150 held-out sentences at least 75 % are translated exactly right."""
    fraction = fraction_translated(translate, some_pairs(150, seed=4, held_out=True))
    assert_true(fraction >= 0.75, f"{fraction:.0%} are exactly right; 75 % are asked for.")


# %% check="other_sentences_are_translated" points=4 hidden
def other_sentences_are_translated(translate, draw):
    """Of 150 other held-out sentences at least 75 % are translated exactly right."""
    fraction = fraction_translated(translate, some_pairs(150, seed=draw.integers(10, 10**6), held_out=True))
    assert_true(fraction >= 0.75, f"{fraction:.0%} are exactly right; 75 % are asked for.")


# %% [markdown]
# ## It fills a gap, and it translates
#
# A small BERT of your parts: the encoder that you wrote in homework 5 reads stories in which your `masked_batch`
# (exercise 3) has hidden words, your `encoder_mask` (5) keeps it from looking at padding, and your `mlm_loss` (4)
# teaches it. The cell looks for your homework 5 beside this one and tries its checks; where it lies elsewhere, say so
# in `HOMEWORK_5`. Then a translator is built of your blocks: it reads with your encoder, and writes with a list of your
# `DecoderBlock`s (16), in which your `CrossAttention` (14) looks at the source under your three masks (15); your
# `translation_loss` (18) trains it. Nothing here is graded: change it as you like.
#
# *What to see:* click a word of the story to hide it. Where the words around it leave no choice, your BERT is sure and
# right; of what the hero had, it knows the kind of word. The translator writes most sentences as they should be, word
# for word. A part whose checks do not hold yet is replaced by a ready-made one, and the first lines say which. What is
# never yours here: the attention in which a block looks at its own words, layer norms, linear layers, and the training loop.

# %% alive="your_bert_fills_a_gap"
from course.figures import fill_in
from course.ladder import SCALES, Corpus
from course.mine import answers_in, parts
from course.training import TrainingConfig, train

HOMEWORK_5 = "../hw5_transformer/hw5_transformer.ipynb"
USED = "TransformerInput", "sinusoidal_positions", "TransformerEncoder"
check_5, answers_5 = answers_in(HOMEWORK_5, USED)
built_of = parts(check_5, **{name: answers_5.get(name) for name in USED})
mine = parts(
    check,
    masked_batch=masked_batch,
    mlm_loss=mlm_loss,
    encoder_mask=encoder_mask,
    CrossAttention=CrossAttention,
    DecoderBlock=DecoderBlock,
    translation_masks=translation_masks,
    translation_loss=translation_loss,
)

corpus = Corpus(SCALES["default"], seed=0)
vocabulary = corpus.language.vocabulary
MASK, FILLING = len(vocabulary), len(vocabulary) + 1  # two words more: for a hidden one, and behind a story
is_special = torch.ones(MASK + 2, dtype=torch.bool)
is_special[torch.tensor(vocabulary.encode(word for word in vocabulary.words if not word.startswith("<")))] = (
    False
)


class SmallBERT(nn.Module):
    """Logits (B, T, V + 2) of the word at each place for tokens (B, T), some of them hidden."""

    def __init__(self, d_model=64, n_heads=4, d_ff=256, n_layers=2):
        super().__init__()
        table = built_of.sinusoidal_positions(corpus.language.longest_story, d_model)
        self.input = built_of.TransformerInput(MASK + 2, table)
        nn.init.normal_(self.input.embedding.weight, std=d_model**-0.5)
        self.encoder = built_of.TransformerEncoder(n_layers, d_model, n_heads, d_ff)

    def forward(self, tokens):
        x = self.encoder(self.input(tokens), mine.encoder_mask(tokens, FILLING))
        return x @ self.input.embedding.weight.T


def gap_loss(model, example):
    """Your loss on a batch in which words were hidden."""
    inputs, targets = example
    return mine.mlm_loss(model(inputs), targets)


def hidden_batch(step):
    """32 stories, in which your `masked_batch` hides words that differ from step to step."""
    rows = torch.randint(len(corpus.train), (32,), generator=torch.Generator().manual_seed(step))
    tokens, is_real = corpus.train.tokens[rows], corpus.train.mask[rows]
    tokens = torch.where(is_real, tokens, FILLING)[:, : int(is_real.sum(dim=1).max())]
    return mine.masked_batch(tokens, is_special, MASK, torch.Generator().manual_seed(step))


torch.manual_seed(1)
bert = SmallBERT().float()
history = train(
    bert, hidden_batch, TrainingConfig(n_steps=800, learning_rate=3e-3), loss=gap_loss, device="cpu"
)
story = corpus.test.tokens[3][:30]
places = range(1, len(story))
gaps = story.repeat(len(story), 1)
gaps[range(len(story)), range(len(story))] = MASK  # row t hides the word at t
with torch.inference_mode():
    probs = bert(gaps)[range(len(story)), range(len(story)), :MASK].softmax(dim=-1)  # (T, V)
n_right = int((probs.argmax(dim=-1) == story)[1:].sum())
print(f"Of {len(story) - 1} hidden words, your BERT's first guess is right {n_right} times.")
words = [vocabulary.word(token) for token in story.tolist()]
fill_in(words[1:], {"my BERT": probs[1:]}, vocabulary.words, start=15)


# %% alive="your_translator_translates"
class LooksAtTheSource(nn.Module):
    """Your `CrossAttention` where a block calls attention with queries, keys, values and a mask."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.across = mine.CrossAttention(d_model, n_heads)

    def forward(self, query, key, value, mask):
        return self.across(query, key, mask)  # keys and values come from the same memory


class MyTranslator(nn.Module):
    """Logits (B, T, V) of the next word after each word of a target (B, T), for a source (B, S)."""

    def __init__(self, d_model=64, n_heads=4, d_ff=128, n_layers=2):
        super().__init__()
        table = built_of.sinusoidal_positions(64, d_model)
        self.source, self.target = (
            built_of.TransformerInput(len(words), table) for words in (SOURCE_WORDS, TARGET_WORDS)
        )
        for part in (self.source, self.target):
            nn.init.normal_(part.embedding.weight, std=d_model**-0.5)
        self.encoder = built_of.TransformerEncoder(n_layers, d_model, n_heads, d_ff)
        self.blocks = nn.ModuleList(mine.DecoderBlock(d_model, n_heads, d_ff) for _ in range(n_layers))
        for block in self.blocks:
            block.cross_attention = LooksAtTheSource(d_model, n_heads)
        self.output = nn.Linear(d_model, len(TARGET_WORDS))

    def forward(self, source, target):
        to_read, to_write, across = mine.translation_masks(source, target, PAD, PAD)
        memory, x = self.encoder(self.source(source), to_read), self.target(target)
        for block in self.blocks:
            x = block(x, memory, to_write, across)
        return self.output(x)


def loss_of_a_batch(model, example):
    """Your loss under teacher forcing."""
    source, target = example
    return mine.translation_loss(model(source, target[:, :-1]), target, PAD)


def pairs_of_a_batch(step):
    """48 of the sentences for training, without the columns that are all padding."""
    rows = torch.randint(len(SOURCES), (48,), generator=torch.Generator().manual_seed(step))
    return tuple(part[rows][:, : (part[rows] != PAD).any(0).sum()] for part in (SOURCES, TARGETS))


SOURCES, TARGETS = as_tensors(some_pairs(4000, seed=7))
torch.manual_seed(1)
translator = MyTranslator().float()
train(
    translator, pairs_of_a_batch, TrainingConfig(500, learning_rate=4e-3), loss=loss_of_a_batch, device="cpu"
)
pairs = some_pairs(100, seed=22, held_out=True)
sources, _ = as_tensors(pairs)
said = torch.full((len(pairs), 1), TARGET_WORDS.bos)
with torch.inference_mode():
    for _ in range(20):  # greedily, as in exercise 19
        said = torch.cat([said, translator(sources, said)[:, -1:].argmax(dim=-1)], dim=1)
ends = [row.index(TARGET_WORDS.eos) if TARGET_WORDS.eos in row else len(row) for row in said.tolist()]
translations = [TARGET_WORDS.decode(row[:end]) for row, end in zip(said.tolist(), ends, strict=True)]
is_right = [list(words) == list(pair.target) for words, pair in zip(translations, pairs, strict=True)]
for pair, words, right in [*zip(pairs, translations, is_right, strict=True)][:6]:
    print(f"{'✓' if right else '✗'} {' '.join(pair.source)}\n  {' '.join(words)}")
print(f"Of {len(pairs)} sentences that it has never seen, {sum(is_right)} are translated without a mistake.")
