"""Right solutions of homework 6 that look nothing like the reference: no check may take a point from them."""

import math
from functools import cache

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import alternative
from course.data.story_language import StoryLanguage
from course.data.story_rules import StoryConfig
from course.training import TrainingConfig, train


@alternative(of="next_token_loss")
def row_by_row(logits, tokens, mask=None):
    is_real = torch.ones_like(tokens, dtype=torch.bool) if mask is None else mask
    losses = []
    for row, text, real in zip(logits, tokens, is_real, strict=True):
        places = real[1:].nonzero()[:, 0]  # whose next token is real
        losses.append(-row[places].log_softmax(-1)[torch.arange(len(places)), text[places + 1]])
    return torch.cat(losses).mean()


class _Attention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.c_attn, self.c_proj = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)

    def forward(self, x):
        query, key, value = (
            torch.stack(part.chunk(self.n_heads, dim=-1), dim=1) for part in self.c_attn(x).chunk(3, dim=-1)
        )
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.c_proj(torch.cat(mixed.unbind(dim=1), dim=-1))


class _Mlp(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)

    def forward(self, x):
        return self.c_proj(nn.GELU(approximate="tanh")(self.c_fc(x)))


@alternative(of="CausalBlock")
class WithModulesOfItsOwn(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm(d_model)
        self.add_module("attn", _Attention(d_model, n_heads))
        self.ln_2, self.mlp = nn.LayerNorm(d_model), _Mlp(d_model)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


@alternative(of="GPT")
class WithSequentialBlocks(nn.Module):
    def __init__(self, vocab_size, context_length, d_model, n_heads, n_layers):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab_size, d_model), nn.Embedding(context_length, d_model)
        self.h = nn.Sequential(*(WithModulesOfItsOwn(d_model, n_heads) for _ in range(n_layers)))
        self.ln_f = nn.LayerNorm(d_model)
        self.wte.weight.data *= 0.06
        self.wpe.weight.data *= 0.06

    def forward(self, tokens):
        x = functional.embedding(tokens, self.wte.weight) + self.wpe.weight[: tokens.shape[1]]
        return functional.linear(self.ln_f(self.h(x)), self.wte.weight)


@alternative(of="gpt2_weights")
def name_by_name(checkpoint):
    weights = {}
    for name, weight in checkpoint.items():
        parts = [part for part in name.split(".") if part != "transformer"]
        if parts[0] == "lm_head" or parts[-2:] in (["attn", "bias"], ["attn", "masked_bias"]):
            continue
        is_turned = parts[-2].startswith("c_") and parts[-1] == "weight"
        weights[".".join(parts)] = torch.from_numpy(weight.numpy().T.copy()) if is_turned else weight.clone()
    return weights


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


@alternative(of="generate")
def each_row_drawn_alone(table, prompt, n_tokens, generator):
    text = prompt
    for _ in range(n_tokens):
        window = text[:, -len(table) :]
        probs = table[torch.arange(window.shape[1]), window].sum(1).softmax(-1)
        drawn = [torch.multinomial(row, num_samples=1, generator=generator) for row in probs]
        text = torch.cat([text, torch.stack(drawn)], dim=1)
    return text


@alternative(of="generate")
def into_a_table_made_beforehand(table, prompt, n_tokens, generator):
    B, T = prompt.shape
    text = torch.zeros(B, T + n_tokens, dtype=torch.int64)
    text[:, :T] = prompt
    for end in range(T, T + n_tokens):
        begin = max(0, end - len(table))
        z = sum(table[t - begin, text[:, t]] for t in range(begin, end))
        z = z - z.max(dim=-1, keepdim=True).values
        text[:, end] = torch.multinomial(z.exp() / z.exp().sum(-1, keepdim=True), 1, generator=generator)[
            :, 0
        ]
    return text


@alternative(of="temperature")
def temperature_in_float32(logits, t):
    if t == 0:
        best = functional.one_hot(logits.argmax(-1), logits.shape[-1]).bool()
        return torch.where(best, 0.0, -torch.inf)
    return logits.float() / t


@alternative(of="temperature")
def by_powers_of_probabilities(logits, t):
    if t == 0:
        best = torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).bool()
        return logits.masked_fill(~best, -math.inf)
    return logits.log_softmax(-1) / t


@alternative(of="top_k")
def in_numpy(logits, k):
    values = logits.numpy().copy()
    threshold = np.sort(values, axis=-1)[..., -k, None]
    values[values < threshold] = -np.inf
    return torch.from_numpy(values)


@alternative(of="top_p")
def token_after_token(logits, p):
    flat = logits.reshape(-1, logits.shape[-1]).clone()
    for row in flat:
        probs, mass = row.softmax(-1), 0.0
        order = sorted(range(len(row)), key=lambda v, probs=probs: (-float(probs[v]), v))
        for token in order:
            if mass >= p:
                row[token] = -math.inf
            mass += float(probs[token])
    return flat.reshape(logits.shape)


@alternative(of="min_p")
def by_ratios(logits, p):
    probs = logits.softmax(-1)
    return torch.where(probs / probs.amax(-1, keepdim=True) >= p, logits, torch.full_like(logits, -math.inf))


@alternative(of="combined_filters")
def by_joining_filters(logits, t, k, p, least):
    kept = in_numpy(logits, k).isfinite() & token_after_token(logits, p).isfinite()
    return by_powers_of_probabilities(logits.where(kept & by_ratios(logits, least).isfinite(), -math.inf), t)


@alternative(of="repetition_penalty")
def token_by_token(logits, history, penalty):
    penalised = logits.clone()
    for row, tokens in enumerate(history.tolist()):
        for token in set(tokens):
            z = logits[row, token]
            penalised[row, token] = z / penalty if z > 0 else z * penalty
    return penalised


@alternative(of="mirostat")
def in_nats_throughout(logits, target, learning_rate, generator):
    mu, tokens, mus = 2 * target * math.log(2), [], [2 * target]
    for log_probs in logits.log_softmax(-1):
        left = log_probs.where(-log_probs <= max(mu, float(-log_probs.max())), -math.inf).exp()
        tokens += torch.multinomial(left / left.sum(), 1, generator=generator).tolist()
        mu -= learning_rate * (-float(log_probs[tokens[-1]]) - target * math.log(2))
        mus.append(mu / math.log(2))
    return torch.tensor(tokens), torch.tensor(mus, dtype=torch.float64)


@alternative(of="extend_beams")
def by_sorting_a_list(totals, logits, beam_width):
    found = [
        (total + log_prob, row, token)
        for row, (total, log_probs) in enumerate(
            zip(totals.tolist(), logits.log_softmax(-1).tolist(), strict=True)
        )
        for token, log_prob in enumerate(log_probs)
    ]
    best, rows, tokens = zip(*sorted(found, key=lambda one: -one[0])[:beam_width], strict=True)
    return torch.tensor(best, dtype=torch.float64), torch.tensor(rows), torch.tensor(tokens)


@alternative(of="beam_search")
def with_tensors(table, prompt, eos, n_tokens, beam_width, length_penalty):
    log_probs = table.log_softmax(-1)
    texts, totals = torch.tensor([prompt]), torch.zeros(1, dtype=torch.float64)
    best = ([], -math.inf)
    for n in range(1, n_tokens + 1):
        candidates = (totals[:, None] + log_probs[texts[:, -1]]).flatten()
        totals, places = candidates.topk(min(beam_width, len(candidates)))
        texts = torch.cat([texts[places // len(table)], (places % len(table))[:, None]], dim=1)
        ends = texts[:, -1] == eos
        competes = ends | (n == n_tokens)
        for text, total in zip(texts[competes].tolist(), totals[competes].tolist(), strict=True):
            if total / n**length_penalty > best[1]:
                best = (text[len(prompt) :], total / n**length_penalty)
        texts, totals = texts[~ends], totals[~ends]
        if len(texts) == 0:
            break
    return best


@alternative(of="read_with_cache")
def row_after_row(weights, tokens, cache):
    B, D = tokens.shape[0], weights["wte"].shape[1]
    empty = torch.zeros(B, 0, D, dtype=weights["wte"].dtype)
    keys, values = (empty, empty) if cache is None else (cache["keys"], cache["values"])
    logits = []
    for column in tokens.unbind(dim=1):
        x = weights["wte"][column] + weights["wpe"][keys.shape[1]]  # (B, D)
        query, key, value = (
            torch.einsum("bd,kd->bk", x, weights[f"W_{name}"]) for name in ("query", "key", "value")
        )
        keys, values = torch.cat([keys, key[:, None]], 1), torch.cat([values, value[:, None]], 1)
        shares = (keys @ query[:, :, None] / D**0.5).softmax(1)  # (B, S, 1)
        logits.append((x + (shares * values).sum(1)) @ weights["wte"].T)
    return torch.stack(logits, dim=1), {"keys": keys, "values": values}


@alternative(of="gated")
def hidden_number_after_hidden_number(x, W_gate, W_expand, W_contract):
    answer = torch.zeros_like(x)
    for gate, expand, contract in zip(W_gate, W_expand, W_contract.T, strict=True):
        opened = x @ gate
        answer = answer + (opened * torch.sigmoid(opened) * (x @ expand))[..., None] * contract
    return answer


@alternative(of="gated")
def both_layers_by_one_matrix(x, W_gate, W_expand, W_contract):
    gate, wide = functional.linear(x, torch.cat([W_gate, W_expand])).chunk(2, dim=-1)
    return functional.linear(wide * functional.silu(gate), W_contract)
