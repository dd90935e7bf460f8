"""Each number that a walk through a layer shows is the one that torch computes there."""

import json

import pytest
import torch
from in_node import evaluate, needs_node

from course import figures
from course.figures.parcels import rounded
from course.models import GPT, GPTConfig
from course.models.multi_head_attention import split_heads
from course.models.positions import rotate

BEGINNINGS = {
    "Which?": "nora had apples , lamps and hats . she lit",
    "Who?": "ben had plums and cats . the girl",
}
WALKED = """await (async () => {{
  const weights = await figure.tensors(data.parcel), tokens = data.beginnings[{story}].tokens;
  const reader = figure.transformer(weights, data.parcel.sizes)();
  reader(tokens);
  const told = ({{ name, letters, rows, columns, values, rowNames, reads }}) => {{
    const asked = (_, place) => reads(Math.floor(place / columns), place % columns);
    const numbers = [...values];
    const made = reads && numbers.map(asked);
    return {{ name, letters, rows, columns, values: numbers, names: rowNames, reads: made }};
  }};
  return figure.walk(weights, reader, tokens, data.words, {at})
    .map(({{ title, parts }}) => [title, parts.filter((part) => part.name).map(told)]);
}})()"""


@pytest.fixture(scope="module")
def model(language):
    """A small GPT with sharp attention that expects a word it has read."""
    torch.manual_seed(0)
    sizes = {"d_model": 32, "n_heads": 2, "n_layers": 2, "positions": "rotary", "initial_deviation": 0.3}
    model = GPT(GPTConfig(language.vocab_size, language.longest_story, **sizes, is_fused=False)).eval()
    for parameter in model.parameters():
        if parameter.ndim == 1:  # so that no gain is 1 and no bias is 0
            parameter.data += 0.3 * torch.randn(parameter.shape)
    model.embedding.weight.data *= 10  # so that the word itself is the likeliest to come
    return model


@pytest.fixture(scope="module")
def twin(model):
    """The same model with the weights that the page has."""
    twin = GPT(model.config).eval()
    twin.load_state_dict(rounded(model.state_dict()))
    return twin


@pytest.fixture(scope="module")
def figure(model, language):
    return figures.walk(model, language, beginnings=BEGINNINGS)


def walked(figure, folder, *, story=0, **at):
    """The steps by title, each as its tensors by name."""
    found = evaluate(figure, WALKED.format(story=story, at=json.dumps(at)), folder)
    return {title: {part["name"]: part for part in parts} for title, parts in found}


@torch.no_grad()
def computed(model, tokens, *, t, layer, head):
    """By step and tensor what torch computes, module by module."""
    x = model.embedding(torch.tensor([tokens[: t + 1]]))
    for earlier in model.blocks[:layer]:
        x = earlier(x, is_causal=True)
    block = model.blocks[layer]
    attention, mlp, n = block.attention, block.feed_forward, block.norm_attention(x)
    q, k, v = (split_heads(W(n), 2)[0] for W in (attention.W_query, attention.W_key, attention.W_value))
    a = attention.weights(n, n, n, is_causal=True)[0, head, t]
    o = attention(n, n, n, is_causal=True)
    m = block.norm_feed_forward(x + o)
    h, left = mlp.expand(m), block(x, is_causal=True)
    turned, keys = rotate(q)[head, t], rotate(k)[head]
    logits = model.norm(left)[0, t] @ model.embedding.weight.T
    best = logits.sort(descending=True, stable=True).indices[:8]
    stream = {"x": x, "n": n, "o": o, "y": x + o, "m": m, "h": h, "g": mlp.activation(h), "x′": left}
    at_t = {name: each[0, t] for name, each in stream.items()} | {"f": mlp(m)[0, t]}
    scores = keys @ turned / keys.shape[-1] ** 0.5
    shares = {"s": scores, "a": a, "q′": turned, "K": keys, "V": v[head], "a V": a[:, None] * v[head]}
    return {
        "norm": at_t, "query": {"q": q[:, t], "n": at_t["n"], "W_query": attention.W_query.weight},
        "turn": {"q": q[head, t], "q′": turned}, "scores": shares, "weights": shares,
        "values": shares | {"c": a @ v[head]},
        "heads": {"W_output": attention.W_output.weight, "o": at_t["o"],
                  "c": (attention.weights(n, n, n, is_causal=True)[0] @ v)[:, t]},
        "add": at_t, "norm_again": at_t,
        "expand": at_t | {"W_expand": mlp.expand.weight}, "gelu": at_t,
        "contract": at_t | {"W_contract": mlp.contract.weight}, "add_again": at_t,
        "logits": {"E": model.embedding.weight, "LayerNorm(x′)": model.norm(left)[0, t],
                   "z": logits[best], "softmax(z)": logits.softmax(-1)[best]},
    }  # fmt: skip


@needs_node
@pytest.mark.parametrize(
    ("layer", "head", "story", "t"), [(0, 1, 0, 10), (1, 0, 0, 10), (1, 1, 1, 4), (0, 0, 1, 0)]
)
def test_every_number_of_every_step_is_torchs(figure, twin, tmp_path, layer, head, story, t):
    tokens = figure.data["beginnings"][story]["tokens"]
    found = walked(figure, tmp_path, story=story, t=t, layer=layer, head=head)
    expected = computed(twin, tokens, t=t, layer=layer, head=head)
    assert list(found)[1:] == list(expected)
    for title, parts in found.items():
        for name, part in parts.items():
            if title == "enter":
                wanted = {"E": twin.embedding.weight, "x": expected["norm"]["x"]}[name]
            else:
                wanted = expected[title][name]
            numbers = torch.tensor(part["values"], dtype=torch.float)
            torch.testing.assert_close(numbers, wanted.detach().flatten(), atol=1e-4, rtol=1e-4)
            assert part["rows"] * part["columns"] == len(numbers), (title, name)


@needs_node
def test_no_letter_means_two_things(figure, tmp_path):
    sizes = {}
    for parts in walked(figure, tmp_path, t=10, layer=0, head=1).values():
        for name, part in parts.items():
            sizes.setdefault(name, set()).add(part["letters"].removeprefix("H × "))  # of one head, or of all
    assert {name: found for name, found in sizes.items() if len(found) > 1} == {}


@needs_node
def test_the_words_after_the_last_layer_are_what_the_model_says(figure, twin, language, tmp_path):
    tokens = figure.data["beginnings"][0]["tokens"]
    part = walked(figure, tmp_path, t=len(tokens) - 1, layer=1, head=0)["logits"]["softmax(z)"]
    with torch.no_grad():
        probs = twin(torch.tensor([tokens]))[0, -1].exp()
    shown = probs[language.vocabulary.encode(part["names"])]
    torch.testing.assert_close(torch.tensor(part["values"]), shown, atol=1e-4, rtol=1e-4)
    assert part["names"][0] == language.vocabulary.words[int(probs.argmax())]


@needs_node
def test_what_is_outlined_as_the_source_of_a_number_makes_it(figure, tmp_path):
    """Products of a row with a vector, sums, and weighted values, from the outlined numbers alone."""
    steps = walked(figure, tmp_path, t=10, layer=1, head=1)

    def sources(title, result):
        parts = [*steps[title].values()]
        made = torch.tensor(steps[title][result]["values"])
        for number, reads in zip(made, steps[title][result]["reads"], strict=True):
            yield number, [numbers(parts[k], row, line) for k, row, line in reads]

    def numbers(part, row, line):
        table = torch.tensor(part["values"]).view(part["rows"], part["columns"])
        table = table if row is None else table[row : row + 1]
        return (table if line is None else table[:, line : line + 1]).flatten()

    n = torch.tensor(steps["query"]["n"]["values"])
    bias = torch.tensor([number - row @ n for number, (row,) in sources("query", "q")])
    assert bias.std() < 0.5 < torch.tensor(steps["query"]["q"]["values"]).std()
    for number, (key, query) in sources("scores", "s"):
        torch.testing.assert_close(number, key @ query / len(query) ** 0.5)
    for number, (weight, value) in sources("values", "a V"):
        torch.testing.assert_close(number, (weight * value)[0])
    for number, (along,) in sources("values", "c"):
        torch.testing.assert_close(number, along.sum())
    for number, terms in sources("add", "y"):
        torch.testing.assert_close(number, sum(terms)[0])
    for number, (before, after) in sources("turn", "q′"):
        assert abs(number) <= before.hypot(after) + 1e-5
    final = torch.tensor(steps["logits"]["LayerNorm(x′)"]["values"])
    for number, (row,) in sources("logits", "z"):
        torch.testing.assert_close(number, row @ final, atol=1e-4, rtol=1e-4)


def test_it_begins_at_the_head_that_looks_hardest_at_the_expected_word(figure, twin, language):
    tokens = figure.data["beginnings"][0]["tokens"]
    with torch.no_grad():
        probs = twin(torch.tensor([tokens]))[0, -1].exp()
        x = twin.embedding(torch.tensor([tokens]))
        shares = []
        for block in twin.blocks:
            n = block.norm_attention(x)
            shares.append(block.attention.weights(n, n, n, is_causal=True)[0, :, -1])
            x = block(x, is_causal=True)
    word = int(probs.argmax())
    on_word = torch.stack(shares)[:, :, torch.tensor(tokens) == word]  # (layers, heads, places)
    start = figure.data["start"]
    assert float(on_word[start["layer"], start["head"]].max()) == float(on_word.max())
    assert f" {100 * float(on_word.max()):.1f}\xa0% of its weight" in figure.caption
    assert f"“{language.vocabulary.words[word]}”" in figure.caption


def test_a_story_without_the_expected_word_is_refused(model, language):
    contrary = GPT(model.config).eval()
    contrary.load_state_dict(model.state_dict())
    contrary.norm.gain.data *= -1  # what has been is now the least likely
    with pytest.raises(ValueError, match="in the first story"):
        figures.walk(contrary, language, beginnings={"Empty": ""})
