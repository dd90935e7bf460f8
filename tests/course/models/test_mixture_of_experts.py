"""A mixture of experts against a loop over tokens; only experts that are run learn."""

import pytest
import torch
from model_equality import assert_equal

from course.models import MixtureOfExperts

D, F, E, K = 6, 10, 5, 2


@pytest.fixture
def mixture():
    torch.manual_seed(3)
    made = MixtureOfExperts(D, F, E, K).double()
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter)
    return made


def test_every_token_is_mixed_from_its_best_experts(mixture):
    x = torch.randn(3, 7, D, dtype=torch.float64)
    with torch.no_grad():
        expected = torch.zeros_like(x)
        for place in torch.cartesian_prod(torch.arange(3), torch.arange(7)):
            token = x[tuple(place)]
            best = sorted(range(E), key=lambda e: float(mixture.router.weight[e] @ token), reverse=True)[:K]
            gates = torch.stack([mixture.router.weight[e] @ token for e in best]).softmax(0)
            answers = [mixture.experts[e](token[None, None])[0, 0] for e in best]
            expected[tuple(place)] = sum(g * answer for g, answer in zip(gates, answers, strict=True))
        assert_equal(mixture(x), expected)


def test_only_experts_that_are_run_get_a_gradient(mixture):
    x = torch.randn(1, 1, D, dtype=torch.float64)
    mixture(x).sum().backward()
    chosen = set(mixture.router(x).topk(K).indices.flatten().tolist())
    learns = [bool(expert.contract.weight.grad.any()) for expert in mixture.experts]
    assert learns == [number in chosen for number in range(E)]
    assert mixture.router.weight.grad.any()


def test_a_single_expert_is_a_feed_forward():
    alone = MixtureOfExperts(D, F, n_experts=1, n_chosen=1)
    x = torch.randn(2, 3, D)
    assert_equal(alone(x), alone.experts[0](x))


@pytest.mark.parametrize("n_chosen", [0, 6])
def test_more_experts_than_there_are_cannot_be_chosen(n_chosen):
    with pytest.raises(ValueError, match="from 1 to n_experts = 5"):
        MixtureOfExperts(D, F, E, n_chosen)
