"""The methods by which a page draws a word leave and choose what those of `course.sampling` do."""

import pytest
import torch
from in_node import imported, needs_node

from course import sampling
from course.data.story_language import StoryLanguage
from course.sampling.filters import epsilon_cutoff, min_p, top_a, top_k, top_n_sigma, top_p

MODULE = "models/sampler.mjs"
SIZES = (2, 7, 160)  # of the vocabulary
FILTERS = {  # what a page calls it: the course's, the name of its value, values
    "topK": (top_k, "k", (1, 2)),
    "topP": (top_p, "p", (0.3, 0.8, 1.0)),
    "minP": (min_p, "p", (0.05, 0.5, 1.0)),
    "topA": (top_a, "a", (0.2, 1.0)),
    "epsilonCutoff": (epsilon_cutoff, "epsilon", (0.005, 0.1, 0.9)),
    "etaCutoff": (sampling.eta_cutoff, "epsilon", (0.005, 0.1, 0.9)),
    "typical": (sampling.locally_typical, "mass", (0.2, 0.9, 1.0)),
    "topNSigma": (top_n_sigma, "n", (0.3, 1.0, 2.5)),
    "heated": (sampling.temperature, "t", (0.4, 1.7)),
}
CASES = [(name, value) for name, (_, _, values) in FILTERS.items() for value in values]


@pytest.fixture(scope="module")
def rows():
    """Logits of several sizes and spreads, and two rows in which some words cannot come."""
    generator = torch.Generator().manual_seed(3)
    made = [
        spread * torch.randn(size, generator=generator, dtype=torch.float64)
        for size in SIZES
        for spread in (0.2, 1.0, 3.0)
    ]
    language = StoryLanguage()
    bos = torch.tensor([[language.vocabulary.bos]])
    closed = made[-1].clone()
    closed[::3] = -torch.inf
    return [*made, closed, language(bos)[0, -1].double()]


def in_page(logits):
    """As a page reads them: what is impossible travels as null."""
    return [z if z > -torch.inf else None for z in logits.tolist()]


def asked(expression, **given):
    """The value of an expression in which `rows` are the logits, each a Float64Array."""
    read = "given.rows.map((row) => Float64Array.from(row, (z) => z ?? -Infinity))"
    return imported(MODULE, f"((rows) => {expression})({read})", given)


@needs_node
@pytest.mark.parametrize(("name", "value"), CASES)
def test_a_filter_leaves_what_the_course_leaves(name, value, rows):
    function, argument, _ = FILTERS[name]
    found = asked(f"rows.map((row) => module.{name}(row, {value}))", rows=[*map(in_page, rows)])
    for logits, left in zip(rows, found, strict=True):
        expected = function(logits, **{argument: value})
        assert left == pytest.approx(in_page(expected))


@needs_node
def test_greedy_leaves_the_likeliest(rows):
    found = asked(
        "rows.map((row) => module.pick(module.greedy(row), () => 0.999))", rows=[*map(in_page, rows)]
    )
    assert found == [int(sampling.most_probable(logits)) for logits in rows]


@needs_node
@pytest.mark.parametrize("penalty", [1.0, 1.3, 2.0])
def test_what_has_been_is_penalised_as_in_the_course(penalty, rows):
    history = [0, 1, 1]
    found = asked(
        f"rows.map((row) => module.repetitionPenalty(row, {penalty}, {history}))", rows=[*map(in_page, rows)]
    )
    for logits, left in zip(rows, found, strict=True):
        expected = sampling.repetition_penalty(logits, torch.tensor(history), penalty=penalty)
        assert left == pytest.approx(in_page(expected))


@needs_node
def test_mirostat_truncates_and_learns_as_in_the_course(rows):
    mu = 1.7
    found = asked(
        f"rows.map((row) => [module.atMostSurprise(row, {mu}), module.nextMu({mu}, row, 1, 1.2)])",
        rows=[*map(in_page, rows)],
    )
    for logits, (left, after) in zip(rows, found, strict=True):
        expected = sampling.at_most_surprise(logits, mu=torch.tensor(mu))
        assert left == pytest.approx(in_page(expected))
        if logits[1] > -torch.inf:
            wanted = sampling.next_mu(torch.tensor(mu), logits, torch.tensor(1), target=1.2)
            assert after == pytest.approx(float(wanted))


@needs_node
def test_mirostat_keeps_its_state_from_word_to_word_and_none_from_text_to_text():
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0, -2.0], dtype=torch.float64)
    draws = [0.95, 0.05, 0.6, 0.99, 0.5]
    text = (
        f"(() => {{ const draw = miro.begin(1); return {draws}.map((u) => draw(rows[0], [], () => u)); }})()"
    )
    miro = "(({ begin }) => ({ begin }))(module.samplers.find(({ name }) => name === 'Mirostat'))"
    found = asked(f"((miro) => [{text}, {text}])({miro})", rows=[logits.tolist()])
    assert found[0] == found[1]
    mu, expected = torch.tensor(2.0), []
    for u in draws:
        left = sampling.at_most_surprise(logits, mu=mu).softmax(-1)
        token = torch.tensor(int((left.cumsum(-1) <= u).sum()))
        mu = sampling.next_mu(mu, logits, token, target=1.0)
        expected.append(int(token))
    assert found[0] == expected


@needs_node
def test_draws_follow_the_probabilities():
    probs = [0.5, 0.0, 0.3, 0.2]
    logits = torch.tensor(probs).log()
    grid = "Array.from({length: 1000}, (_, i) => (i + 0.5) / 1000)"
    found = asked(f"{grid}.map((u) => module.pick(rows[0], () => u))", rows=[in_page(logits)])
    assert [found.count(token) / 1000 for token in range(4)] == probs


@needs_node
def test_every_method_of_the_menu_writes_a_possible_word_at_both_ends_of_its_knob(rows):
    tried = """module.samplers.map(({ name, knob, begin }) =>
      [name, (knob ? [knob.min, knob.value, knob.max] : [null]).map((value) =>
        rows.map((row) => [0, 0.5, 0.9999].map((u) => begin(value)(row, [0, 1], () => u))))])"""
    found = dict(asked(tried, rows=[*map(in_page, rows)]))
    assert len(found) == 12
    for name, values in found.items():
        for answers in values:
            for logits, tokens in zip(rows, answers, strict=True):
                assert all(logits[token] > -torch.inf for token in tokens), name
