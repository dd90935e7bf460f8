# %% [markdown]
# # 17 · The encoder: BERT
#
# **You will be able to**
#
# - say what a model gains by reading in both directions, and what it gives up;
# - write masked language modelling, 15 percent and 80/10/10, as a loop and in tensors;
# - pre-train an encoder on text without labels, and fine-tune it for sentiment, named entities and answer spans;
# - measure what pre-training was worth, against the best accuracy that is possible at all.
#
# *30 minutes to read, about a minute to run. Before this: [14 · The Transformer block](14_transformer_block.ipynb) and [15 · The decoder](15_gpt.ipynb).*
#
# **The question of the day:** if a model need not generate text, why should it read in one direction only?

# %% setup

# %%
import math
import os
from collections.abc import Callable
from dataclasses import replace
from random import Random
from textwrap import fill

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F

from course import figures
from course.data import answer_spans, named_entities, sentiment
from course.data.labelled import (
    TAGS,
    EntityConfig,
    SentimentConfig,
    SpanConfig,
    draw_questions,
    draw_reviews,
    draw_tagged_sentences,
)
from course.data.vocabulary import Vocabulary, pad_sequences
from course.models import Encoder, KneserNey, NGramCounts, TransformerConfig
from course.training import TrainingConfig, best_device, train

is_full = os.environ.get("COURSE_SCALE") == "full"  # the real size, for a GPU
if not is_full:
    torch.set_num_threads(1)  # with matrices this small, one core is faster than several
device = best_device()

# %% [markdown]
# ## Both sides
#
# Is "washington …" a person, a place or a newspaper? A decoder must decide before it has read on. Three kinds of small generated text accompany this lecture, each with a question that needs both sides, and each with a *best possible accuracy* that is known exactly:

# %%
review_config = SentimentConfig(
    max_opinions=6,
    reliability=0.95,
    p_negation=0.1,
    subjects=("plot", "music", "ending", "cast"),
    positive=("lovely", "clever", "funny"),
    negative=("boring", "weak", "silly"),
)
name_config = EntityConfig()
passage_config = SpanConfig(
    max_facts=2,
    p_colour=0.0,
    people=("ada", "ben", "clara"),
    verbs=("put",),
    colours=("red", "green"),
    things=("ball", "key", "book", "lamp"),
    places=("in the kitchen", "under the old bed", "on a chair", "near my window"),
)

# %%
reviews = draw_reviews(review_config, 8000, Random(1))
sentences = draw_tagged_sentences(name_config, 8000, Random(2))
questions = draw_questions(passage_config, 8000, Random(3))
print(fill(" ".join(reviews[0].words), 100), "→", ("negative", "positive")[reviews[0].label])
print(" ".join(f"{word}/{tag}" for word, tag in zip(sentences[1].words, sentences[1].tags, strict=True)))
print(" ".join(questions[0].question), "→", " ".join(questions[0].answer))
print(fill(" ".join(questions[0].passage), 100))

# %% [markdown]
# (In the tags, B- begins a name, I- continues it, and O is no name; PER is a person, ORG an organisation, LOC a place.)
#
# An **encoder** is a stack of Transformer layers without the causal mask: every position attends to every other, so its output vector depends on both sides. **BERT**, *Bidirectional Encoder Representations from Transformers* (Devlin and others, 2019), is such a stack. Its input is the sum of three embeddings:
#
# $$x_t = E_\text{token}[\text{token}_t] + E_\text{position}[t] + E_\text{segment}[\text{segment}_t].$$
#
# | symbol | meaning | shape |
# |---|---|---|
# | $B, T, D, V$ | texts at once, positions, width, words | |
# | $E_\text{token}$, $E_\text{position}$, $E_\text{segment}$ | three embeddings: of tokens, of positions, of segments | $(V, D)$, $(T, D)$, $(2, D)$ |
# | $h_t$ | the encoder's vector at position $t$ | $(D)$; for all of a batch $(B, T, D)$ |
# | `<cls>` | a token in front of every text; its vector will stand for the whole | |
# | `<sep>` | ends each text; two texts are told apart by their segment, 0 or 1 | |
# | `<mask>` | here a word is hidden | |
# | `<pad>` | fills up short texts; no position may attend to it | |


# %%
def statements(passage: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The sentences of a passage, each with its full stop."""
    text = " ".join(passage)
    return [tuple(f"{part.strip()} .".split()) for part in text.split(".") if part.strip()]


pairs = [(Random(i).choice(statements(x.passage)), x.passage) for i, x in enumerate(questions)]
texts = [(x.words, ()) for x in reviews] + [(x.words, ()) for x in sentences] + pairs
vocabulary = Vocabulary.from_sentences(
    [first + second for first, second in texts] + [x.question for x in questions],
    special_tokens=("<pad>", "<cls>", "<sep>", "<mask>"),
)
PAD, CLS, SEP, MASK = (vocabulary.token(name) for name in ("<pad>", "<cls>", "<sep>", "<mask>"))
V = len(vocabulary)


def with_specials(first: tuple[str, ...], second: tuple[str, ...] = ()) -> list[int]:
    """<cls> first <sep>, and second <sep> if there is a second text."""
    tail = [*vocabulary.encode(second), SEP] if second else []
    return [CLS, *vocabulary.encode(first), SEP, *tail]


encoded = [with_specials(*text) for text in texts]
print(V, "words")
print(fill(" ".join(vocabulary.decode(encoded[-1], keep_special=True)), 100))

# %% [markdown]
# ## The training objective: masked words
#
# A decoder is trained to predict the next word. An encoder sees the next word, and the word itself: trained to predict the word *at* position $t$, it would copy it, like the model without a mask in lecture 15. So the word must be hidden: **masked language modelling**. Choose 15 % of the words as targets, at the positions $M$. The loss is their cross-entropy, given all the other words:
#
# $$L = -\frac{1}{|M|} \sum_{t \in M} \ln P(x_t \mid \text{the text with the positions in } M \text{ hidden}),$$
#
# where $x_t$ is the word itself.
#
# There is a catch: after pre-training, the input contains no `<mask>`, and a model that computes something useful only at masks would fail. Hence 80/10/10: of the targets, 80 % become `<mask>`, 10 % another word at random, and 10 % stay as they are. So any word may be a target, and no word of the input can be trusted blindly.
#
# In the code, `inputs` is the text as the model reads it, and `targets` has the words to be predicted: position → the word that stood there. As a loop:


# %%
def hide_one_by_one(tokens: list[int], rng: Random) -> tuple[list[int], dict[int, int]]:
    """The text as the model reads it, and the targets by their positions."""
    inputs, targets = list(tokens), {}
    for t, token in enumerate(tokens):
        if token > MASK and rng.random() < 0.15:  # special tokens are never targets
            targets[t] = token
            kind = rng.random()
            inputs[t] = MASK if kind < 0.8 else rng.randrange(MASK + 1, V) if kind < 0.9 else token
    return inputs, targets


inputs, targets = hide_one_by_one(encoded[1], Random(7))
print(fill(" ".join(vocabulary.decode(inputs, keep_special=True)), 100))
print({t: vocabulary.word(token) for t, token in targets.items()})

# %% [markdown]
# In tensors, a whole batch is masked at once. Where there is no target, the entry is −100, which PyTorch's cross-entropy ignores.


# %%
def hide(
    tokens: torch.Tensor, generator: torch.Generator, share: float = 0.15
) -> tuple[torch.Tensor, torch.Tensor]:
    """Masked inputs and targets, both (B, T)."""
    draw, kind = torch.rand(2, *tokens.shape, generator=generator)
    is_target = (tokens > MASK) & (draw < share)
    others = torch.randint(V - MASK - 1, tokens.shape, generator=generator) + MASK + 1
    inputs = torch.where(is_target & (kind < 0.8), MASK, tokens)
    inputs = torch.where(is_target & (kind >= 0.9), others, inputs)
    return inputs, torch.where(is_target, tokens, -100)


# %% [markdown]
# **Predict, then run:** of all words, what fraction are targets, what fraction becomes `<mask>`, and what fraction are targets that look untouched?

# %%
many = torch.tensor([encoded[1]] * 20_000)
inputs, targets = hide(many, torch.Generator().manual_seed(0))
is_word, is_target = many > MASK, targets != -100
chosen = {"targets": is_target, "<mask>": inputs == MASK, "untouched": is_target & (inputs == many)}
fractions = {name: ((which & is_word).sum() / is_word.sum()).item() for name, which in chosen.items()}
figures.prediction(
    "What fraction of all words becomes <mask>?", fractions["<mask>"], between=(0, 0.3), unit="%"
)

# %%
for name, fraction in fractions.items():
    print(f"{name:10} {fraction:.3f}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# The fractions are 15 %, 12 %, and a little over 1.5 %: sometimes the word drawn at random is the word itself.
#
# </details>
#
# ## The encoder
#
# The encoder is lecture 14's stack; its class is called `Reader`, because it reads and does not write. On top of it comes an output head that says which word stood at each position. The last matrix of this head is the embedding again. BERT had days on many machines and we have half a minute, so three things differ from BERT:
#
# - positions are rotations (lecture 13);
# - norms stand before the sublayers (lecture 14);
# - attention begins with some structure: half of the heads begin with the same matrix for queries and keys, so that a word first looks at words like itself, the other half with queries of zero, so that it looks at all words equally. Trained attention often ends up like the first kind, so it may as well begin there (Trockman and Kolter, 2023).
#
# The drawing shows the original of 2019, with the output head of pre-training and two output heads of fine-tuning.

# %%
figures.machine("bert")

# %% [markdown]
# **A question:** of the three vectors that are added, which one is the same for every text of a batch?
#
# <details><summary>Answer</summary>
#
# The one for the place. Its shape is $(T, D)$, without $B$: position 3 is position 3 in every text. (The texts' segments differ: in each the second begins elsewhere.)
#
# </details>


# %%
class Reader(nn.Module):
    """Tokens (B, T) → vectors (B, T, D), each aware of all the others (or, if causal, of those to its left)."""

    def __init__(
        self, d_model: int = 64, n_layers: int = 2, is_causal: bool = False, is_original: bool = False
    ) -> None:
        super().__init__()
        D = d_model
        sizes = TransformerConfig(D, n_heads=4, n_layers=n_layers, d_ff=4 * D, activation="gelu")
        sizes = replace(sizes, has_rotation=not is_original, is_pre_norm=not is_original)
        self.embedding, self.segments, self.norm = nn.Embedding(V, D), nn.Embedding(2, D), nn.LayerNorm(D)
        self.positions = nn.Embedding(64, D) if is_original else None
        self.encoder, self.is_causal = Encoder(sizes), is_causal
        nn.init.normal_(self.embedding.weight, std=0.1)  # BERT, twelve times as wide, takes 0.02
        nn.init.normal_(self.segments.weight, std=0.02)
        for layer in self.encoder.layers:
            W_query, W_key = layer.attention.W_query.weight, layer.attention.W_key.weight
            nn.init.normal_(W_query, std=1 / math.sqrt(D))
            W_key.data.copy_(W_query.data)  # at first a word looks at words like itself,
            W_query.data[D // 2 :] = 0  # and, in the other half of the heads, at all words alike

    def forward(self, tokens, mask, segments):
        x = self.embedding(tokens) + self.segments(segments)
        if self.positions is not None:
            x = x + self.positions.weight[: tokens.shape[1]]
        return self.encoder(self.norm(x), mask[:, None, None, :], is_causal=self.is_causal)


# %%
class WordAtEachPosition(nn.Module):
    """Logits (B, T, V) for the word at each position, not after it."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        D = reader.embedding.embedding_dim
        self.reader, self.transform, self.norm = reader, nn.Linear(D, D), nn.LayerNorm(D)
        self.bias = nn.Parameter(torch.zeros(V))

    def forward(self, tokens, mask, segments):
        h = self.norm(F.gelu(self.transform(self.reader(tokens, mask, segments))))
        return h @ self.reader.embedding.weight.T + self.bias


# %%
def batch_of(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Tokens, mask and segments (B, T): the second segment begins after the first <sep>."""
    batch = pad_sequences(rows, PAD)
    is_end = batch.tokens == SEP
    segments = ((is_end.cumsum(1) - is_end.long()) > 0) & batch.mask
    return batch.tokens, batch.mask, segments.long()


tokens, mask, segments = batch_of([encoded[1], encoded[-1]])
torch.manual_seed(0)
reader = Reader(d_model=128 if is_full else 64, n_layers=4 if is_full else 2)
print(reader(tokens, mask, segments).shape, f"{sum(p.numel() for p in reader.parameters()):,} parameters")

# %% [markdown]
# Without a causal mask, every word influences every other. Test it for the words of one text:

# %%
influence = []
for t in range(6):
    changed = tokens[:1, :6].clone()
    changed[0, t] = 4 + (changed[0, t] - 3) % (V - 4)  # another word at position t
    both = [reader(x, mask[:1, :6], segments[:1, :6]) for x in (tokens[:1, :6], changed)]
    influence.append(((both[0] - both[1]).abs().amax(-1) > 0)[0].int())
print(torch.stack(influence, dim=1))
assert torch.stack(influence).all()

# %% [markdown]
# ## Pre-training
#
# The encoder is pre-trained on 24,000 texts of all three kinds, *without their labels*. That is the point: such text is available everywhere. Each step takes 32 texts of one kind and chooses new targets, 30 % of the words instead of 15: with little time, a higher fraction of masked words trains faster and does no harm (Wettig and others, 2023).
#
# Instead of a question and its passage, the model gets one sentence of the passage and the whole passage. Repetition of this kind is common in texts, so this needs no label either. In these texts a **span** is masked instead of single words: two to five neighbouring words of the single sentence, as in SpanBERT (Joshi and others, 2020). A single masked word can be filled from its neighbours;
# to fill a span, the model must find the sentence in the passage by the words that are left.


# %%
def hide_spans(tokens: torch.Tensor, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs with a masked span of two to five words in each first text, and targets, both (B, T)."""
    inputs, targets = tokens.clone(), torch.full_like(tokens, -100)
    for row, text in enumerate(tokens):
        n_words = int((text == SEP).nonzero()[0]) - 2  # without <cls>, the full stop and <sep>
        width = int(torch.randint(2, 6, (), generator=generator))
        first = 1 + int(torch.randint(n_words - width + 1, (), generator=generator))
        targets[row, first : first + width] = text[first : first + width]
        inputs[row, first : first + width] = MASK
    return inputs, targets


# %%
def masked_texts(step: int) -> tuple[torch.Tensor, ...]:
    """Masked inputs, mask, segments, targets: a function of the step and nothing else."""
    generator = torch.Generator().manual_seed(step)
    kind = (0, 1, 0, 2, 0)[step % 5]  # reviews more often: which adjectives are praise is learned slowly
    chosen = torch.randint(8000, (32,), generator=generator) + 8000 * kind
    tokens, mask, segments = batch_of([encoded[i] for i in chosen])
    inputs, targets = hide_spans(tokens, generator) if kind == 2 else hide(tokens, generator, share=0.3)
    return inputs, mask, segments, targets


def masked_loss(model: nn.Module, example: tuple[torch.Tensor, ...]) -> torch.Tensor:
    inputs, mask, segments, targets = example
    return F.cross_entropy(model(inputs, mask, segments).flatten(0, 1), targets.flatten(), ignore_index=-100)


# %% trained
bert = WordAtEachPosition(reader)
history = train(
    bert,
    masked_texts,
    TrainingConfig(15_000 if is_full else 1500, learning_rate=1.5e-3),
    loss=masked_loss,
    device=device,
)
smooth = torch.tensor(history.losses).unfold(0, 100, 100).mean(-1)
print("loss in nats, means of 100 steps:", *(f"{value:.2f}" for value in smooth.tolist()))

# %% [markdown]
# What has it learned? Mask one word after the other in a review, and in a sentence with names. For comparison, a 4-gram model of the same texts (lecture 02) reads the left side only.

# %%
counted = KneserNey(NGramCounts([torch.tensor(row) for row in encoded], 4, V, bos=CLS))
bert.to("cpu")


def both_readers(text: str) -> dict[str, torch.Tensor]:
    """P(word at t | the rest) and P(word at t | what precedes), each (T, V)."""
    row = torch.tensor(with_specials(tuple(text.split())))
    n_words = len(row) - 2
    one_hidden = row.repeat(n_words, 1)
    one_hidden[torch.arange(n_words), torch.arange(1, n_words + 1)] = MASK
    with torch.no_grad():
        probs = bert(
            one_hidden, torch.ones_like(one_hidden, dtype=torch.bool), torch.zeros_like(one_hidden)
        ).softmax(-1)
    here = torch.arange(n_words)
    return {
        "both sides (BERT)": probs[here, here + 1],
        "left side only (4-gram)": counted(row[None, :-2])[0].exp(),
    }


review = "the plot is lovely and the music is clever and the cast is funny ."
figures.fill_in(review.split(), both_readers(review), vocabulary.words, start=13)

# %% [markdown]
# Now a sentence with names. **Before you look:** which word of *cape town* is easier with the right side, which with the left?

# %%
sentence = "clara works for washington post and ford lives in cape town ."
figures.fill_in(sentence.split(), both_readers(sentence), vocabulary.words, start=9)

# %% [markdown]
# <details><summary>Answer</summary>
#
# *cape* is the clear favourite once *town* can be seen; from the left, *lives in* leaves nine places open. *town* is certain from the left alone, after *cape*; the encoder, which has read so little, still hesitates.
#
# </details>
#
# In these sentences only a person lives somewhere, and those who buy or are bought are often firms. **Predict, then run:** how much probability does each model give, in place of *ford*, to words that can only begin the name of an organisation, and how does that depend on the verb that follows?

# %%
kinds = (name_config.people, name_config.places, name_config.organisations)
people, places, firms = ({vocabulary.token(name.split()[0]) for name in kind} for kind in kinds)
only_firms = sorted(firms - people - places)
for ending in ("lives in cape town .", "thanked ben .", "bought amazon ."):
    probs = both_readers(f"clara works for washington post and ford {ending}")
    told = ", ".join(f"{name} {each[6, only_firms].sum():.0%}" for name, each in probs.items())
    print(f"▁ {ending:21} {told}")

# %% [markdown]
# <details><summary>Answer</summary>
#
# The 4-gram model cannot see the verb; the encoder uses it.
#
# </details>
#
# ## Fine-tuning: one layer more
#
# Now the encoder is adapted to a task. **One linear layer**, new and random, goes on top of its vectors; then the whole network is trained for some more steps on labelled examples. For sentiment, a **pooler** stands between: a linear layer with tanh on the vector of `<cls>`.
#
# | task | reads | one layer | loss |
# |---|---|---|---|
# | sentiment | $\tanh(W h_{\text{<cls>}} + b)$, one vector per text | $D \to 2$ | cross-entropy of the class |
# | named entities (NER) | every $h_t$ | $D \to 7$ tags: O, B-PER, I-PER, … | cross-entropy of each word's tag |
# | answer span | every $h_t$ of the passage | $D \to 2$: does the answer begin here, end here? | cross-entropy of two positions |


# %%
class WithHead(nn.Module):
    """A reader with one linear layer, on `<cls>` alone or on every position."""

    def __init__(self, reader: Reader, n_outputs: int, is_on_cls: bool = False) -> None:
        super().__init__()
        D = reader.embedding.embedding_dim
        self.reader, self.output = reader, nn.Linear(D, n_outputs)
        self.pooler = nn.Linear(D, D) if is_on_cls else None

    def forward(self, tokens, mask, segments):
        h = self.reader(tokens, mask, segments)  # (B, T, D)
        return self.output(h if self.pooler is None else self.pooler(h[:, 0]).tanh())


def class_loss(model, example):
    *text, labels = example
    return F.cross_entropy(model(*text), labels)


def tag_loss(model, example):
    *text, tags = example
    return F.cross_entropy(model(*text).flatten(0, 1), tags.flatten(), ignore_index=-100)


def span_loss(model, example):
    *text, first, last = example
    begins, ends = model(*text).masked_fill(~text[1][..., None], -torch.inf).unbind(-1)  # (B, T) each
    return F.cross_entropy(begins, first) + F.cross_entropy(ends, last)


# %% [markdown]
# Turn the labels into tensors. The position of an answer is counted from the start of the passage, so the length of `<cls>`, the question and `<sep>` is added:


# %%
def review_examples(items) -> tuple[torch.Tensor, ...]:
    return *batch_of([with_specials(x.words) for x in items]), torch.tensor([x.label for x in items])


def entity_examples(items) -> tuple[torch.Tensor, ...]:
    tags = pad_sequences([[-100, *(TAGS.index(tag) for tag in x.tags), -100] for x in items], -100).tokens
    return *batch_of([with_specials(x.words) for x in items]), tags


def span_examples(items) -> tuple[torch.Tensor, ...]:
    offset = torch.tensor([len(x.question) + 2 for x in items])
    first, last = torch.tensor([[x.first, x.last] for x in items]).T + offset
    return *batch_of([with_specials(x.question, x.passage) for x in items]), first, last


# %% [markdown]
# Each task is judged on a thousand new examples: by the fraction of right classes, of right tags of words, and of spans that are right at both ends.


# %%
def class_accuracy(model, text, labels) -> float:
    return (model(*text).argmax(-1) == labels[0]).float().mean().item()


def tag_accuracy(model, text, labels) -> float:
    is_tagged = labels[0] != -100
    return (model(*text).argmax(-1) == labels[0])[is_tagged].float().mean().item()


def span_accuracy(model, text, labels) -> float:
    begins, ends = model(*text).masked_fill(~text[1][..., None], -torch.inf).argmax(1).T  # (B) each
    return ((begins == labels[0]) & (ends == labels[1])).float().mean().item()


tests = {
    "sentiment": review_examples(draw_reviews(review_config, 1000, Random(11))),
    "entities": entity_examples(draw_tagged_sentences(name_config, 1000, Random(12))),
    "spans": span_examples(draw_questions(passage_config, 1000, Random(13))),
}
best = {
    "sentiment": sentiment.best_accuracy(review_config),
    "entities": named_entities.best_accuracy(name_config).words,
    "spans": answer_spans.best_accuracy(passage_config),
}
print("best possible:", {name: round(value, 3) for name, value in best.items()})

# %% [markdown]
# Labels are expensive, so there are few: 20 reviews, 60 sentences, 300 questions. The same head is trained for the same steps, once on the pre-trained encoder and once on a fresh one. **Predict, then run:** for which of the three is pre-training worth most?


# %%
def fresh_reader() -> Reader:
    torch.manual_seed(1)
    return Reader(reader.embedding.embedding_dim, len(reader.encoder.layers))


def pretrained_reader() -> Reader:
    copy = fresh_reader()
    copy.load_state_dict(reader.state_dict())
    return copy


def fine_tune(
    model: nn.Module, examples: tuple, loss: Callable, n_steps: int, learning_rate: float
) -> nn.Module:
    """Train all of the model on batches of 32, drawn from the labelled examples."""

    def batch(step: int) -> tuple[torch.Tensor, ...]:
        chosen = torch.randint(len(examples[0]), (32,), generator=torch.Generator().manual_seed(step))
        width = int(examples[1][chosen].sum(1).max())
        return tuple(part[chosen, :width] if part.ndim == 2 else part[chosen] for part in examples)

    config = TrainingConfig(3 * n_steps if is_full else n_steps, learning_rate)
    train(model, batch, config, loss=loss, device=device)
    return model.to("cpu")


# %%
jobs = {
    "sentiment": (review_examples(reviews[:20]), 2, True, class_loss, class_accuracy, 120, 1e-3),
    "entities": (entity_examples(sentences[:60]), len(TAGS), False, tag_loss, tag_accuracy, 90, 1e-3),
    "spans": (span_examples(questions[:300]), 2, False, span_loss, span_accuracy, 300, 3e-3),
}
accuracy, tuned = {}, {}
for name, (examples, n_outputs, is_on_cls, loss, judge, n_steps, learning_rate) in jobs.items():
    for start, make in {"from scratch": fresh_reader, "pre-trained": pretrained_reader}.items():
        model = fine_tune(WithHead(make(), n_outputs, is_on_cls), examples, loss, n_steps, learning_rate)
        with torch.no_grad():
            accuracy[name, start] = judge(model, tests[name][:3], tests[name][3:])
        tuned[name] = model

# %%
gained = {name: accuracy[name, "pre-trained"] - accuracy[name, "from scratch"] for name in jobs}
figures.prediction("For which task does pre-training raise the accuracy most?", gained, unit="%")

# %%
for name in jobs:
    scratch, pretrained = accuracy[name, "from scratch"], accuracy[name, "pre-trained"]
    print(
        f"{name:10} from scratch {scratch:.1%}, pre-trained {pretrained:.1%}, best possible {best[name]:.1%}"
    )
    assert pretrained > scratch

# %% [markdown]
# All three tasks gain, each for a clear reason. To fill "▁ lives in" and "▁ bought", a model must know who lives somewhere and who buys; the sixty labelled sentences only had to name the two kinds. To fill in a masked word among opinions, it must know which adjectives occur together; the twenty reviews only had to say which group is praise. To fill in a span, it must find a sentence again from the words that are left; the three hundred questions only had to say where to point.
#
# Here are three experiments for you. First, change the seed in `fresh_reader`. The results change, most of all for the spans from scratch, where it is luck whether 300 steps find the look-up. Second, add a few dozen labelled reviews. The fresh encoder catches up, because pre-training helps most while labels are few. Third, replace `hide_spans` by `hide`, and see what happens to the spans: pre-training helps only if its objective needs what the task needs. (With `COURSE_SCALE=full` pre-training is ten times as long.)
#
# ## The new ladder
#
# BERT cannot stand on the course's ladder. The numbers $P(x_t \mid \text{all the others})$ of a text are not factors of its probability. The smallest example is a language of two texts, "a b" and "b a", equally likely. Each text carries one bit. But if the other word is given, each word is certain, and the product of the two probabilities is 1 for both texts.

# %%
from_left = [0.5, 1.0]  # P(first), P(second | first)
from_both_sides = [1.0, 1.0]  # P(first | second), P(second | first)
for name, factors in (("from the left", from_left), ("from both sides", from_both_sides)):
    print(f"{name:15} {sum(math.log2(1 / p) for p in factors):.0f} bits per text")

# %% [markdown]
# Zero bits for a text that carries one is below the floor: these numbers are not a language model in the sense of lecture 01. So BERT gets a ladder of its own:

# %%
drawing, axes = plt.subplots(figsize=(6, 3))
guessing = {
    "sentiment": 0.5,
    "entities": (tests["entities"][3] == TAGS.index("O")).sum() / (tests["entities"][3] != -100).sum(),
    "spans": 0.0,
}
for place, name in enumerate(jobs):
    rungs = (accuracy[name, "from scratch"], accuracy[name, "pre-trained"])
    axes.bar([place - 0.2, place + 0.2], rungs, 0.36, color=["#56B4E9", "#E69F00"], hatch=None)
    axes.plot([place - 0.42, place + 0.42], [best[name]] * 2, "--", color="#D55E00")
    axes.plot([place - 0.42, place + 0.42], [guessing[name]] * 2, ":", color="black")
    for shift, value in zip((-0.2, 0.2), rungs, strict=True):
        axes.text(place + shift, value - 0.09, f"{value:.0%}", ha="center", fontsize=9)
axes.set_xticks(range(3), jobs)
axes.set(ylabel="accuracy", ylim=(0, 1.1))
figures.still(
    drawing,
    alt="Accuracy from scratch, pre-trained, and best possible: "
    + "; ".join(
        f"{name} {accuracy[name, 'from scratch']:.0%}, {accuracy[name, 'pre-trained']:.0%}, {best[name]:.0%}"
        for name in jobs
    )
    + ".",
    caption="Left bars: from scratch; right bars: pre-trained. Dashed: the best possible. Dotted: always the most frequent answer (for a span, next to never right).",
)

# %% [markdown]
# BERT changes nothing on the course's ladder, which stays as lecture 15 left it:

# %%
figures.rungs("Transformer")

# %% [markdown]
# ## Where the answer is found
#
# How does the span finder know which of two places is meant? Take the question *where is the book ?* about *ben put the red lamp near my window . ben put the green book on a chair .* The first word of a place must find two things: what is asked for, and what was put here, which is the word right before it. For each of the two, the cell looks for the head that gives it most weight, seen from the first word of the answer, on average over 200 new questions. Heads 1 to 4 are those of the first layer, 5 to 8 those of the second:

# %%
from course.models import attention_maps

asked = draw_questions(passage_config, 200, Random(21))
tokens, mask, segments = batch_of([with_specials(each.question, each.passage) for each in asked])
with torch.no_grad(), attention_maps(tuned["spans"]) as maps:
    begins, ends = tuned["spans"](tokens, mask, segments).argmax(1).T
heads = torch.cat(list(maps.values()), 1)  # (B, heads of both layers, T, T)
first = torch.tensor([len(each.question) + 2 + each.first for each in asked])  # where the answers begin
thing = torch.tensor([len(each.question) - 1 for each in asked])  # where the questions name it
looking = []
for name, target in {"the thing asked for": thing, "the word before": first - 1}.items():
    given = heads[range(200), :, first, target].mean(0)  # by each head
    looking.append(int(given.argmax()))
    print(f"{name:20} gets {given.max():.0%} of the weight in head {looking[-1] + 1}")

# %% [markdown]
# Two heads look just where an answer has to look. **Predict, then run:** ablate the heads one at a time, as in lecture 13. How many answers are lost without these two?

# %%
from copy import deepcopy


@torch.no_grad()
def accuracy_without(head: int) -> float:
    """The span finder's accuracy with one of its eight heads ablated."""
    model, d_head = deepcopy(tuned["spans"]), 16
    W_output = model.reader.encoder.layers[head // 4].attention.W_output.weight
    W_output[:, d_head * (head % 4) : d_head * (head % 4 + 1)] = 0
    return span_accuracy(model, tests["spans"][:3], tests["spans"][3:])


lost = [accuracy["spans", "pre-trained"] - accuracy_without(head) for head in range(8)]
print("lost without each head:", "  ".join(f"{head}: {loss:.0%}" for head, loss in enumerate(lost, 1)))
if not is_full:
    assert max(lost) > 3 * max(lost[head] for head in looking), "with this seed, these two are needed"

# %% [markdown]
# Next to none. The model has other heads that it cannot do without. Here are the two that it needs most:

# %%
needed = sorted(sorted(range(8), key=lost.__getitem__)[-2:])
found = heads[range(200), needed[0], first - 1, thing].mean()
print(f"head {needed[0] + 1}: the thing in the passage gives {found:.0%} of its weight to the question's")
n_words = int(mask[4].sum())
shown = vocabulary.decode(tokens[4], keep_special=True)[:n_words]
print("answer:", " ".join(shown[begins[4] : ends[4] + 1]), "  right:", " ".join(asked[4].answer))
figures.attention(
    heads[4, needed, :n_words, :n_words],
    shown,
    start=(0, int(first[4]) - 1),
    caption="The two heads that the span finder needs most, in the order of their layers.",
)

# %% [markdown]
# In the first of them most words look at the same word elsewhere, and so it is the *thing* that finds the question, not the place. The second is in the next layer, and reads vectors into which the first layer has already written: its map shows positions, and not what they have come to stand for. So a map tells where a head looks, and only ablation what it is needed for. Another seed in `fresh_reader` divides the work in another way: there the heads that look at the right words may be the ones that are needed.
#
# ## Encoder against decoder
#
# Does the gain come from reading in both directions, or just from the training? Train the same network with lecture 15's causal mask and without it, both from scratch, on plenty of labelled sentences:

# %%
plenty = entity_examples(sentences[:4000])
for is_causal in (True, False):
    torch.manual_seed(1)
    model = fine_tune(WithHead(Reader(is_causal=is_causal), len(TAGS)), plenty, tag_loss, 240, 3e-3)
    with torch.no_grad():
        accuracy["entities", is_causal] = tag_accuracy(model, tests["entities"][:3], tests["entities"][3:])
    print(
        f"{'left side only' if is_causal else 'both sides':15} {accuracy['entities', is_causal]:.1%} of {best['entities']:.1%}"
    )
assert accuracy["entities", False] > accuracy["entities", True]

# %% [markdown]
# Training cannot give the left-only model information that it does not see: it must label "washington" before it reads the verb. Here are BERT and GPT-3 in numbers, quoted from their papers; the cell below counts their parameters by lecture 14's ledger.
#
# | | BERT large (2019) | GPT-3 (2020) |
# |---|---|---|
# | architecture | encoder | decoder |
# | trained to predict | masked words | the next word |
# | width $D$ | 1024 | 12,288 |
# | layers | 24 | 96 |
# | heads, width of each | 16 × 64 | 96 × 128 |
# | inside the MLP | 4096 | 49,152 |
# | vocabulary | 30,000 WordPieces | 50,257 byte pairs |
# | longest text | 512 | 2048 |
# | trained on | 3.3 billion words (BooksCorpus 0.8, Wikipedia 2.5) | 300 billion tokens |
# | parameters | 340 million | 175 billion |
# | used by | fine-tuning, one layer more | a prompt |

# %%
from course.models.ledger import BERT_LARGE, GPT3, bert_ledger, gpt_ledger

counted_sizes = {"BERT large": bert_ledger(BERT_LARGE).n_parameters, "GPT-3": gpt_ledger(GPT3).n_parameters}
print(
    {name: f"{n / 1e6:,.0f} million" for name, n in counted_sizes.items()},
    f"ratio {counted_sizes['GPT-3'] / counted_sizes['BERT large']:.0f}",
)
assert abs(counted_sizes["BERT large"] / 340e6 - 1) < 0.03

# %% [markdown]
# ## Where it breaks
#
# **It cannot write.** Mask three words in a row, and BERT predicts each by itself: $P(x_1)\,P(x_2)\,P(x_3)$ instead of $P(x_1)\,P(x_2 \mid x_1)\,P(x_3 \mid x_1, x_2)$. With three words a thing may be "in the kitchen", "on a chair" or "near my window". **Predict, then run:** if the three are filled independently, how often is the result a real place?

# %%
known = ("ada put the red ball <mask> <mask> <mask> .", "ben put the green key under the old bed .")
row, mask, segments = batch_of([with_specials(*(tuple(text.split()) for text in known))])
with torch.no_grad():
    at_masks = bert(row, mask, segments).softmax(-1)[row == MASK]  # (3, V)
three_words = [place.split() for place in passage_config.places if len(place.split()) == 3]
shares = {
    " ".join(place): at_masks[range(3), vocabulary.encode(place)].prod().item() for place in three_words
}
figures.prediction("How often is the result a real place?", sum(shares.values()), unit="%")

# %%
print({place: round(share, 3) for place, share in shares.items()}, f"together {sum(shares.values()):.2f}")
print("the most probable word at each mask:", " ".join(vocabulary.word(int(i)) for i in at_masks.argmax(-1)))

# %% [markdown]
# The rest are mixtures of words from different places. You could fill in one word at a time, but that is a chain rule again, with a model that was not trained for it. **It learns from 15 % of the words**; a decoder learns from all of them in every step. **`<mask>` never occurs** in any task after pre-training, so pre-training and fine-tuning do not match. And the paper's second training objective, to
# guess whether two sentences follow each other, turned out not to help (Liu and others, 2019, "RoBERTa"), so it is left out here.
#
# ## The same in the library
#
# `course.models.BERT` with our random weights gives the same logits, and the same random numbers give the same masked positions.

# %%
from course.models import BERT, BERTConfig, MaskedLanguageModel, hide_tokens

ours = WordAtEachPosition(Reader(is_original=True))  # learned positions, post-norm
library = MaskedLanguageModel(BERTConfig(V, 64, 64, n_heads=4, n_layers=2, d_ff=256, epsilon=1e-5))
state = {name.replace("reader.", "bert."): value for name, value in ours.state_dict().items()}
state["bert.norm.gain"], state["norm.gain"] = state.pop("bert.norm.weight"), state.pop("norm.weight")
library.load_state_dict(state)
tokens, mask, segments = batch_of([encoded[5], encoded[-5]])
with torch.no_grad():
    assert torch.allclose(
        library(tokens, mask, segments)[mask], ours(tokens, mask, segments)[mask], atol=1e-4
    )

# %%
is_ordinary = torch.arange(V) > MASK
theirs = hide_tokens(many[:50], is_ordinary, MASK, torch.Generator().manual_seed(4))
for one, other in zip(theirs, hide(many[:50], torch.Generator().manual_seed(4)), strict=True):
    assert one.equal(other)
assert isinstance(library.bert, BERT)
print("we have just built course.models.BERT")

# %% [markdown]
# A published BERT fits into the same module; then fine-tune as above:
#
# ```python
# classifier = SequenceClassifier(bert_config(folder), n_classes=2)
# load_weights(classifier, folder, fresh=("output",))
# ```
#
# ## Recap
#
# - An encoder attends to both sides. It is trained to predict hidden words: 15 % are targets; of these 80 % are masked, 10 % exchanged, 10 % left.
# - Fine-tuning adds one linear layer: on `<cls>` for a text, on every position for tags, two scores per position for spans.
# - Pre-training helps where labels are few and the unlabelled text teaches what the task needs. How much it helps must be measured.
# - Two sides beat one wherever the text is already there.
# - Its numbers do not make the probability of a text: it has no place on the ladder and cannot write.
#
# **In the homework:** [hw7 · BERT and translation](../homeworks/hw7_bert_and_translation/hw7_bert_and_translation.ipynb), masking, the masked loss, and the heads.
#
# ## Exercises
#
# **1.** A text has 200 words. How many become targets on average? Of these, how many become `<mask>`, how many another word, and how many stay?
#
# <details><summary>Answer</summary>
#
# 30, of which 24, 3 and 3.
#
# </details>
#
# **2.** Two neighbouring masked words are *new york* or *los angeles*, equally often. Each is filled in by itself. How often is the result a real city?
#
# <details><summary>Answer</summary>
#
# Half of the time: the second word does not depend on what was put in for the first.
#
# </details>
#
# **3.** How many parameters does a head for two classes add to an encoder of width 1024, if it reads `<cls>` directly?
#
# <details><summary>Answer</summary>
#
# $2 \cdot 1024 + 2 = 2050$, compared with 335 million.
#
# </details>
#
# **4.** *(long)* A language consists of the four texts *aaa*, *bbb*, *ccc* and *ddd*, all equally likely. How many bits does a text carry? What does the product of $P(x_t \mid \text{all the others})$ give? And what does the chain rule give, in whichever order it takes the letters?
#
# <details><summary>Answer</summary>
#
# Two bits, since there are four texts. Given the other letters, each letter is certain, so the product claims zero bits. The chain rule needs its two bits at the first letter it predicts, whichever that is.
#
# ```python
# import math
# from itertools import permutations
#
# texts = [letter * 3 for letter in "abcd"]
#
#
# def prob(letter: str, place: int, known: dict[int, str]) -> float:
#     fitting = [text for text in texts if all(text[t] == seen for t, seen in known.items())]
#     return sum(text[place] == letter for text in fitting) / len(fitting)
#
#
# text = "bbb"
# product = math.prod(prob(text[t], t, {s: text[s] for s in range(3) if s != t}) for t in range(3))
# assert -math.log2(product) == 0
# for order in permutations(range(3)):
#     chain = math.prod(prob(text[t], t, {s: text[s] for s in order[:i]}) for i, t in enumerate(order))
#     assert -math.log2(chain) == 2
# ```
#
# </details>
#
# ## Further reading
#
# - Jacob Devlin, Ming-Wei Chang, Kenton Lee and Kristina Toutanova, ["BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding"](https://aclanthology.org/N19-1423), NAACL 2019.
# - Yinhan Liu, Myle Ott, Naman Goyal, Jingfei Du, Mandar Joshi, Danqi Chen, Omer Levy, Mike Lewis, Luke Zettlemoyer and Veselin Stoyanov, ["RoBERTa: A Robustly Optimized BERT Pretraining Approach"](https://arxiv.org/abs/1907.11692), arXiv 1907.11692 (2019).
# - Pranav Rajpurkar, Jian Zhang, Konstantin Lopyrev and Percy Liang, ["SQuAD: 100,000+ Questions for Machine Comprehension of Text"](https://aclanthology.org/D16-1264), EMNLP 2016.
# - Erik F. Tjong Kim Sang and Fien De Meulder, ["Introduction to the CoNLL-2003 Shared Task: Language-Independent Named Entity Recognition"](https://aclanthology.org/W03-0419), CoNLL 2003.
# - Mandar Joshi, Danqi Chen, Yinhan Liu, Daniel S. Weld, Luke Zettlemoyer and Omer Levy, ["SpanBERT: Improving Pre-training by Representing and Predicting Spans"](https://aclanthology.org/2020.tacl-1.5), *Transactions of the ACL* 8 (2020), 64–77.
# - Alexander Wettig, Tianyu Gao, Zexuan Zhong and Danqi Chen, ["Should You Mask 15% in Masked Language Modeling?"](https://aclanthology.org/2023.eacl-main.217), EACL 2023.
# - Asher Trockman and J. Zico Kolter, ["Mimetic Initialization of Self-Attention Layers"](https://arxiv.org/abs/2305.09828), ICML 2023.
# - Wilson L. Taylor, ["'Cloze Procedure': A New Tool for Measuring Readability"](https://doi.org/10.1177/107769905303000401), *Journalism Quarterly* 30 (1953), 415–433.
# - Alex Wang and Kyunghyun Cho, ["BERT has a Mouth, and It Must Speak: BERT as a Markov Random Field Language Model"](https://aclanthology.org/W19-2304), NeuralGen 2019.
# - Jay Alammar, ["The Illustrated BERT, ELMo, and co."](https://jalammar.github.io/illustrated-bert/), 2018.
# - The questions and passages of SQuAD, to leaf through: [SQuAD explorer](https://rajpurkar.github.io/SQuAD-explorer/).
