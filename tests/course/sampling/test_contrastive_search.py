"""Contrastive search, against its definition candidate by candidate."""

import pytest
import torch
from table_model import TableModel

from course.sampling import contrastive_search, greedy

PROMPT = torch.tensor([1, 2, 0])


class ModelWithVectors(TableModel):
    """The vector at a position depends on the last two tokens."""

    def __init__(self, vocab_size: int, seed: int) -> None:
        super().__init__(vocab_size, seed, sharpness=1.0)
        self.vectors = torch.randn(vocab_size, vocab_size, 4, generator=torch.Generator().manual_seed(seed))

    def hidden(self, tokens):
        previous = torch.nn.functional.pad(tokens, (1, 0))[:, :-1]
        return self.vectors[previous, tokens]


def one_step(model: ModelWithVectors, text: list[int], k: int, alpha: float) -> int:
    probs = model.table[text[-2], text[-1]].exp().tolist()
    vectors = [model.vectors[a, b] for a, b in zip([0, *text], text, strict=False)]
    best, best_score = -1, -float("inf")
    for token in sorted(range(model.vocab_size), key=lambda token: -probs[token])[:k]:
        vector = model.vectors[text[-1], token]
        similar = max(float(vector @ other / (vector.norm() * other.norm())) for other in vectors)
        score = (1 - alpha) * probs[token] - alpha * similar
        if score > best_score:
            best, best_score = token, score
    return best


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("k", "alpha"), [(3, 0.6), (6, 0.3), (2, 1.0)])
def test_each_token_is_the_best_candidate_of_the_definition(seed, k, alpha):
    model = ModelWithVectors(6, seed)
    expected = PROMPT.tolist()
    for _ in range(8):
        expected.append(one_step(model, expected, k, alpha))
    assert contrastive_search(model, PROMPT, 8, k=k, alpha=alpha).tolist() == expected


def test_without_the_penalty_it_is_greedy_decoding():
    model = ModelWithVectors(6, seed=0)
    text = contrastive_search(model, PROMPT, 8, k=4, alpha=0.0)
    assert torch.equal(text, greedy(model, PROMPT[None], 8)[0])


def test_it_stops_at_the_ending_and_keeps_it():
    model = ModelWithVectors(6, seed=1)
    text = contrastive_search(model, PROMPT, 8, k=3, alpha=0.6).tolist()
    eos = text[5]
    expected = text[: text.index(eos, 3) + 1]
    assert contrastive_search(model, PROMPT, 8, k=3, alpha=0.6, eos=eos).tolist() == expected


def test_a_short_context_is_enough_room_for_the_candidate():
    class ShortSighted(ModelWithVectors):
        context_length = 4

        def hidden(self, tokens):
            assert tokens.shape[1] <= 4
            return super().hidden(tokens)

    assert len(contrastive_search(ShortSighted(6, seed=0), PROMPT, 9, k=3, alpha=0.5)) == 12


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"k": 7, "alpha": 0.5}, "k: expected 1 to 6"), ({"k": 2, "alpha": 1.5}, "alpha: expected")],
)
def test_bad_settings_are_explained(settings, message):
    with pytest.raises(ValueError, match=message):
        contrastive_search(ModelWithVectors(6, seed=0), PROMPT, 2, **settings)
