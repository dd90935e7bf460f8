import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from story_enumeration import all_stories

from course.data.story_filter import next_word_probs
from course.data.story_language import StoryLanguage
from course.data.story_memory import Memory
from course.data.story_rules import StoryConfig
from course.data.story_sampling import draw, draw_nodes, sample_derivations
from course.data.story_words import Lexicon
from course.data.vocabulary import BOS
from course.evaluation import score, target_nll
from course.language_model import LanguageModel

ACTIONS = (("ate", "apples", "nuts"), ("lit", "lamps", "stoves"))
TINY = StoryConfig(
    n_bindings=2,
    n_recalls=1,
    recall_distance=0,
    agreement_distance=0,
    nesting_depth=2,
    lexicon=replace(Lexicon().first(1), actions=ACTIONS),
)
SCENIC = replace(TINY, n_bindings=1, recall_distance=1, agreement_distance=3, nesting_depth=0)


@pytest.fixture(scope="module")
def language():
    return StoryLanguage()


@pytest.fixture(scope="module")
def stories(language):
    return language.sample(600, torch.Generator().manual_seed(0))


@pytest.fixture(scope="module", params=[TINY, SCENIC], ids=["asides and two bindings", "scenes"])
def enumerated(request):
    language = StoryLanguage(request.param)
    return language, all_stories(language)


def test_enumerated_stories_have_probability_one_together(enumerated):
    _, stories = enumerated
    assert len(stories) > 100
    assert sum(stories.values()) == pytest.approx(1, abs=1e-12)


def test_next_word_distribution_is_that_of_the_enumerated_stories(enumerated):
    language, stories = enumerated
    mass = Counter()
    for story, probability in stories.items():
        for length in range(1, len(story) + 1):
            mass[story[:length]] += probability
    for story in list(stories)[:: max(1, len(stories) // 60)]:
        tokens = torch.tensor(language.vocabulary.encode(story))
        probs = next_word_probs(language.automaton, language.roles, tokens[None])[0]
        for t in range(len(story) - 1):
            expected = [
                mass[(*story[: t + 1], word)] / mass[story[: t + 1]] for word in language.vocabulary.words
            ]
            torch.testing.assert_close(
                probs[t], torch.tensor(expected, dtype=torch.float64), atol=1e-12, rtol=0
            )


def test_entropy_and_length_are_those_of_the_enumerated_stories(enumerated):
    language, stories = enumerated
    entropy = -sum(p * math.log2(p) for p in stories.values())
    mean_length = sum(p * (len(story) - 1) for story, p in stories.items())
    assert language.entropy_per_story == pytest.approx(entropy, rel=1e-12)
    assert language.mean_length == pytest.approx(mean_length, rel=1e-12)
    assert language.entropy_rate == pytest.approx(entropy / mean_length, rel=1e-12)
    assert language.longest_story == max(map(len, stories))


def test_samples_follow_the_enumerated_probabilities():
    language = StoryLanguage(SCENIC)
    stories = all_stories(language)
    n_samples = 20_000
    sampled = language.sample(n_samples, torch.Generator().manual_seed(0))
    counts = Counter(
        tuple(language.vocabulary.decode(row[mask].tolist(), keep_special=True))
        for row, mask in zip(sampled.tokens, sampled.mask, strict=True)
    )
    assert set(counts) <= set(stories)
    expected = {story: n_samples * p for story, p in stories.items() if n_samples * p >= 5}
    observed = [*(counts[story] for story in expected), n_samples - sum(counts[story] for story in expected)]
    wanted = [*expected.values(), n_samples - sum(expected.values())]
    chi_squared = sum((o - w) ** 2 / w for o, w in zip(observed, wanted, strict=True))
    assert chi_squared < len(expected) + 5 * math.sqrt(2 * len(expected))


def test_a_row_for_each_node_draws_what_a_row_for_each_story_draws():
    numbers = torch.Generator().manual_seed(0)
    follow = torch.rand(5, 5, generator=numbers, dtype=torch.float64)  # whose rows need not sum to one
    node = torch.randint(5, (200,), generator=numbers)
    one, other = (torch.Generator().manual_seed(1) for _ in range(2))
    assert torch.equal(draw_nodes(follow.cumsum(-1), node, one), draw(follow[node], other))


def test_no_text_has_two_derivations(language):
    # the entropy is exact only then; the derivation's probability would be a part of the text's
    automaton = language.automaton
    words, nodes = sample_derivations(automaton, language.roles, 200, torch.Generator().manual_seed(1))
    moves = automaton.follow[nodes[:, :-1], nodes[:, 1:]].log().sum(-1)
    emission = torch.stack([source_nll(language, words, nodes, t) for t in range(1, words.shape[1])]).sum(0)
    text = -target_nll(language(words[:, :-1]).double(), words[:, 1:]).sum(-1)
    torch.testing.assert_close(moves - emission, text, atol=1e-3, rtol=0)


def source_nll(language, words, nodes, t):
    """−log P(word | node, memory) at step t, by replaying the memory."""
    memory = Memory.empty(language.roles, len(words))
    for earlier in range(t):
        memory = memory.after(words[:, earlier])
    sources = [language.automaton.sources[i] for i in language.automaton.source_of[nodes[:, t]]]
    return torch.stack(
        [
            -source.probs(memory.rows(torch.tensor([row])))[0, words[row, t]].log()
            for row, source in enumerate(sources)
        ]
    )


def test_every_distribution_sums_to_one(language, stories):
    probs = next_word_probs(language.automaton, language.roles, stories.tokens[:50])
    torch.testing.assert_close(probs.sum(-1), torch.ones(probs.shape[:2], dtype=torch.float64))


def test_entropy_agrees_with_a_monte_carlo_estimate(language, stories):
    losses = target_nll(language(stories.tokens[:, :-1]), stories.tokens[:, 1:]) / math.log(2)
    per_story = losses.sum(-1)  # what follows the end is certain and costs nothing
    error = per_story.std().item() / math.sqrt(len(per_story))
    assert abs(per_story.mean().item() - language.entropy_per_story) < 4 * error
    assert error < 0.02 * language.entropy_per_story
    assert score(language, stories).bits_per_token == pytest.approx(language.entropy_rate, rel=0.03)


def test_the_true_model_is_a_language_model(language):
    assert isinstance(language, LanguageModel)
    with pytest.raises(ValueError, match=r"expected values in 0 … \d+, got 9999"):
        language(torch.tensor([[0, 9999]]))


def test_future_tokens_do_not_change_the_past(language, stories):
    tokens = stories.tokens[:4, :30]
    torch.testing.assert_close(language(tokens)[:, :12], language(tokens[:, :12]))


def test_sampling_repeats_with_its_seed_and_only_then(language):
    first, again, other = (language.sample(20, torch.Generator().manual_seed(s)) for s in (3, 3, 4))
    assert torch.equal(first.tokens, again.tokens)
    assert first.tokens.shape != other.tokens.shape or not torch.equal(first.tokens, other.tokens)


def test_stories_begin_with_bos_end_with_eos_and_fit(language, stories):
    vocabulary = language.vocabulary
    assert (stories.tokens[:, 0] == vocabulary.bos).all()
    last = stories.lengths - 1
    assert (stories.tokens.gather(1, last[:, None]) == vocabulary.eos).all()
    assert ((stories.tokens == vocabulary.eos) & stories.mask).sum() == len(stories)
    assert stories.lengths.max() <= language.longest_story


def test_what_a_hero_has_comes_back_under_its_own_verb(language, stories):
    action_of = {thing: verb for verb, *things in language.config.lexicon.actions for thing in things}
    for row in stories.tokens[:50]:
        words = language.read(row).split()
        has = [word for word in words[: words.index(".")] if word in action_of]
        assert len({action_of[thing] for thing in has}) == language.config.n_bindings
        for verb, thing in pairwise(words):
            if thing in action_of and verb in action_of.values():
                assert thing in has
                assert action_of[thing] == verb


def test_recall_is_certain_and_the_choice_of_what_to_recall_is_not(language):
    text = f"{BOS} nora had apples , lamps , tickets , drums and cats . nora ate".split()
    last = language(torch.tensor([language.vocabulary.encode(text)]))[0, -1].exp()
    assert last[language.vocabulary.token("apples")] == pytest.approx(1)
    before = language(torch.tensor([language.vocabulary.encode(text[:-1])]))[0, -1].exp()
    assert before[language.vocabulary.token("ate")] == pytest.approx(1 / 5)


@pytest.mark.parametrize(
    ("said", "possible", "impossible"),
    [
        ("the girls near the mill who know the king", "sing", "sings"),
        ("the girl near the mills who knows the kings", "sings", "sing"),
        ("nora ate apples [ they were old ( they were old", ")", "]"),
        ("nora ate apples [ they were old ( they were old )", "]", ")"),
        ('" i ate apples and lit lamps .', '"', "the"),
        ("nora ate apples and lit lamps .", "the", "sing"),
        ("nora ate apples and lit lamps . ", "she", "he"),
    ],
)
def test_agreement_and_closing_need_what_was_said_before(language, said, possible, impossible):
    text = f"{BOS} nora had apples , lamps , tickets , drums and cats . {said}".split()
    probs = language(torch.tensor([language.vocabulary.encode(text)]))[0, -1].exp()
    assert probs[language.vocabulary.token(possible)] > 0.05
    assert probs[language.vocabulary.token(impossible)] == 0


def test_after_an_impossible_prefix_every_word_is_equally_likely(language):
    tokens = torch.tensor([language.vocabulary.encode(f"{BOS} the the nora".split())])
    log_probs = language(tokens)
    assert log_probs[0, 0, language.vocabulary.token("the")] == -math.inf
    torch.testing.assert_close(
        log_probs[0, 1:].exp(), torch.full((3, len(language.vocabulary)), 1 / language.vocab_size)
    )


@pytest.mark.parametrize(
    ("knob", "low", "high"),
    [
        ("agreement_distance", 1, 4),
        ("nesting_depth", 1, 3),
        ("recall_distance", 0, 3),
        ("n_recalls", 1, 4),
        ("n_bindings", 1, 4),
    ],
)
def test_each_knob_makes_stories_longer_and_keeps_the_entropy_exact(knob, low, high):
    small, large = (StoryLanguage(StoryConfig(**{"n_recalls": 2} | {knob: value})) for value in (low, high))
    assert small.longest_story < large.longest_story
    assert small.mean_length < large.mean_length
    sampled = large.sample(300, torch.Generator().manual_seed(0))
    per_story = target_nll(large(sampled.tokens[:, :-1]), sampled.tokens[:, 1:]).sum(-1) / math.log(2)
    assert abs(per_story.mean() - large.entropy_per_story) < 4 * per_story.std() / math.sqrt(300)


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"n_bindings": 13}, "n_bindings: expected 1 … 12, one action each, got 13"),
        ({"n_bindings": 0}, "n_bindings"),
        ({"nesting_depth": -1}, "nesting_depth: expected 0 or more, got -1"),
    ],
)
def test_impossible_knobs_are_refused(knobs, message):
    with pytest.raises(ValueError, match=message):
        StoryConfig(**knobs)


def test_paired_classes_must_be_equally_long():
    with pytest.raises(ValueError, match="person, persons: expected equally many words"):
        Lexicon(person=("girl",))


def test_no_story_is_refused(language):
    with pytest.raises(ValueError, match="n_stories: expected at least 1, got 0"):
        language.sample(0, torch.Generator())
