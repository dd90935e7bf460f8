"""What is broken in a page is broken as in torch: heads, the mask, positions, a weight."""

import json

import pytest
import torch
from in_node import evaluate, needs_node

from course import figures
from course.evaluation import token_nll
from course.figures.break_it import FINENESS
from course.figures.parcels import rounded
from course.models import GPT, GPTConfig, multi_head_attention

WHOLE = {"cut": [], "mask": 0, "word": 7, "by": 0, "isRest": False}
MASKS = [  # in the order of the page's menu: may query t see key s?
    lambda t, s: s <= t,
    lambda t, s: s <= t + 1,
    lambda t, s: s == s,
    lambda t, s: (s <= t) & (s >= t - 1),
    lambda t, s: (s < t) | (t == 0),
]
PAGE = """await (async () => {{
  const state = {{ ...{state}, cut: new Set({cut}) }};
  const weights = await figure.tensors(data.parcel);
  const changed = {edit} ? figure.edited(weights, {edit}) : weights;
  const read = figure.transformer(changed, data.parcel.sizes, figure.damage(state))();
  return {result};
}})()"""
LOG_PROBS = "read(data.stories[0]).map((row) => [...row])"
COSTS = """data.stories.map((story, i) => figure.above(
  figure.transformer(changed, data.parcel.sizes, figure.damage(state))(), story, data.floors[i]))"""


@pytest.fixture(scope="module")
def model(language):
    """A small GPT whose attention is sharp enough for its parts to matter, with the weights of the page."""
    torch.manual_seed(0)
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 2, "positions": "rotary", "initial_deviation": 0.6}
    model = GPT(GPTConfig(language.vocab_size, language.longest_story, **sizes, is_fused=False)).eval()
    return model


@pytest.fixture(scope="module")
def figure(model, language):
    return figures.break_it(model, language, language.sample(3, torch.Generator().manual_seed(5)))


def in_the_page(figure, folder, edit=None, result=LOG_PROBS, **changes):
    state = WHOLE | changes
    expression = PAGE.format(
        state=json.dumps(state), cut=json.dumps(state["cut"]), edit=json.dumps(edit), result=result
    )
    return evaluate(figure, expression, folder)


@pytest.fixture
def twin(model, language):
    """The same model in torch, to be broken by other means."""
    twin = GPT(model.config)
    twin.load_state_dict(rounded(model.state_dict(), FINENESS))
    return twin.eval()


def assert_same(figure, twin, found):
    with torch.no_grad():
        expected = twin(torch.tensor(figure.data["stories"][:1]))[0]
    torch.testing.assert_close(torch.tensor(found), expected, atol=1e-4, rtol=0)


def turned(places):
    """`rotate`, with a place of our own for each position, as multiplication of complex numbers."""

    def rotate(x, first=0):
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())  # (B, H, T, K/2)
        K = x.shape[-1]
        frequencies = 10_000.0 ** (-torch.arange(0, K, 2) / K)
        angles = torch.tensor(places, dtype=torch.float)[:, None] * frequencies
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)

    return rotate


@needs_node
def test_a_whole_model_is_that_of_torch(figure, twin, tmp_path):
    assert_same(figure, twin, in_the_page(figure, tmp_path))


@needs_node
def test_a_head_that_is_cut_adds_nothing(figure, twin, tmp_path):
    whole = in_the_page(figure, tmp_path)
    with torch.no_grad():
        twin.blocks[1].attention.W_output.weight[:, 8:16] = 0  # the columns that read head 2 of layer 2
    found = in_the_page(figure, tmp_path, cut=["1.1"])
    assert_same(figure, twin, found)
    assert (torch.tensor(found) - torch.tensor(whole)).abs().max() > 0.1


@needs_node
@pytest.mark.parametrize("mask", range(1, len(MASKS)))
def test_a_broken_mask_lets_the_same_words_be_seen(mask, figure, twin, tmp_path, monkeypatch):
    t = torch.arange(len(figure.data["stories"][0]))
    allowed = MASKS[mask](t[:, None], t).expand(len(t), -1)
    monkeypatch.setattr(multi_head_attention.MultiHeadAttention, "_whole_mask", lambda *_: allowed)
    assert_same(figure, twin, in_the_page(figure, tmp_path, mask=mask))


@needs_node
@pytest.mark.parametrize("is_rest", [False, True])
def test_a_word_that_is_told_another_place_is_turned_by_it(is_rest, figure, twin, tmp_path, monkeypatch):
    T = len(figure.data["stories"][0])
    places = [t + 5 if t == 7 or (is_rest and t > 7) else t for t in range(T)]
    monkeypatch.setattr(multi_head_attention, "rotate", turned(places))
    assert_same(figure, twin, in_the_page(figure, tmp_path, by=5, isRest=is_rest))


@needs_node
def test_moving_all_words_together_changes_nothing(figure, tmp_path):
    moved = in_the_page(figure, tmp_path, word=0, by=9, isRest=True)
    torch.testing.assert_close(torch.tensor(moved), torch.tensor(in_the_page(figure, tmp_path)))


@needs_node
def test_a_weight_that_is_edited_is_that_weight_alone(figure, twin, tmp_path):
    name = "blocks.0.feed_forward.expand.weight"
    with torch.no_grad():
        twin.get_parameter(name)[3, 5] += 2.5
    edit = {"name": name, "place": 3 * 16 + 5, "plus": 2.5}
    assert_same(figure, twin, in_the_page(figure, tmp_path, edit))


@needs_node
def test_the_cost_is_counted_above_the_exact_floor(figure, twin, language, tmp_path):
    found = in_the_page(figure, tmp_path, result=COSTS)
    stories = language.sample(3, torch.Generator().manual_seed(5))
    expected = (token_nll(twin, stories) - token_nll(language, stories)) / torch.tensor(2.0).log()
    for row, costs, mask in zip(expected, found, stories.mask[:, 1:], strict=True):
        torch.testing.assert_close(torch.tensor(costs), row[mask].float(), atol=2e-4, rtol=1e-4)


def test_a_story_that_is_too_short_is_refused(model, language):
    stories = language.sample(3, torch.Generator().manual_seed(5))
    with pytest.raises(ValueError, match="at least 26 words"):
        figures.break_it(model, language, type(stories)(stories.tokens[:, :9], stories.mask[:, :9]))


@needs_node
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("blocks.0.attention.W_query.weight", "layer 1: W_query"),
        ("blocks.1.feed_forward.expand.weight", "layer 2: W_expand"),
        ("embedding.weight", "embedding"),
    ],
)
def test_a_matrix_has_the_name_that_the_maps_and_the_walk_give_it(figure, tmp_path, name, expected):
    assert evaluate(figure, f"figure.title({name!r})", tmp_path) == expected
