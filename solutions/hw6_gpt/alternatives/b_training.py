"""Right solutions of part B of homework 6 that look nothing like the reference."""

import math
from functools import cache

import torch
from torch import nn

from autograder.catalogue import alternative
from course.data.story_language import StoryLanguage
from course.data.story_rules import StoryConfig
from course.training import TrainingConfig, train

from .a_gpt import WithSequentialBlocks


@alternative(of="train_steps")
def with_a_gradient_of_ones_own(table, batches, learning_rate, max_norm):
    losses = []
    for tokens in batches:
        own = table.clone().requires_grad_()
        logits = own[torch.arange(tokens.shape[1]), tokens].cumsum(1)[:, :-1]
        loss = -logits.log_softmax(-1).gather(-1, tokens[:, 1:, None]).mean()
        [gradient] = torch.autograd.grad(loss, own)
        table = table - learning_rate * gradient * min(1.0, max_norm / float(gradient.norm()))
        losses.append(loss.item())
    return torch.tensor(losses, dtype=torch.float64), table


class _ByTheCombinedRate(torch.optim.Optimizer):
    """AdamW that decays first, and puts both corrections into the rate and into ε."""

    def __init__(self, parameters, lr, betas, eps, weight_decay):
        super().__init__(parameters, {"lr": lr, "weight_decay": weight_decay})
        self.betas, self.eps = betas, eps

    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in filter(lambda one: one.grad is not None, group["params"]):
                self._move(parameter, group)

    def _move(self, parameter, group):
        state, rate = self.state[parameter], group["lr"]
        if not state:
            state["n"] = 0
            state["means"] = [torch.zeros_like(parameter.data) for _ in range(2)]
        state["n"] += 1
        for mean, beta, new in zip(
            state["means"], self.betas, (parameter.grad, parameter.grad**2), strict=True
        ):
            mean.mul_(beta).add_(new, alpha=1 - beta)
        rest = [1 - beta ** state["n"] for beta in self.betas]
        root = math.sqrt(rest[1])
        parameter.data.mul_(1 - rate * group["weight_decay"])
        denominator = state["means"][1].sqrt().add_(self.eps * root)
        parameter.data.addcdiv_(state["means"][0], denominator, value=-rate * root / rest[0])


@alternative(of="adamw_weights")
def by_the_combined_rate(weights, gradients, rates, betas, eps, weight_decay):
    parameters = {name: nn.Parameter(weight.clone()) for name, weight in weights.items()}
    optimizer = _ByTheCombinedRate(parameters.values(), 1.0, betas, eps, weight_decay)
    for gradient, rate in zip(gradients, rates, strict=True):
        optimizer.param_groups[0]["lr"] = rate
        for name, parameter in parameters.items():
            parameter.grad = gradient[name]
        optimizer.step()
    return {name: parameter.detach() for name, parameter in parameters.items()}


class _LanguageModel(WithSequentialBlocks):
    """The same GPT, answering with log-probabilities as the course's training loop wants them."""

    def forward(self, tokens):
        return super().forward(tokens).log_softmax(-1)


def _trained_on_the_stories():
    language = StoryLanguage(StoryConfig(n_bindings=2, n_recalls=1, agreement_distance=1, nesting_depth=1))
    stories = language.sample(10_000, torch.Generator().manual_seed(8))
    torch.manual_seed(1)
    model = _LanguageModel(language.vocab_size, language.longest_story, 48, 3, 2)

    def batch(step):
        rows = torch.arange(32 * step, 32 * (step + 1)) % len(stories)
        tokens, mask = stories.tokens[rows], stories.mask[rows]
        return tokens[:, :-1], tokens[:, 1:], mask[:, 1:]

    train(model, batch, TrainingConfig(n_steps=400, learning_rate=1e-2), device="cpu")
    return model


_model_of_the_stories = cache(_trained_on_the_stories)


@alternative(of="story_log_probs")
def with_the_loop_of_the_course(tokens):
    return _model_of_the_stories()(tokens).detach()


@alternative(of="name_the_leak")
def by_elimination():
    below_the_floor = ["not_shifted", "shifted_backwards", "no_causal_mask"]
    blind_somewhere = {"no_causal_mask"}
    rules_out = {"shifted_backwards"}
    return next(fault for fault in below_the_floor if fault not in blind_somewhere | rules_out)
