"""SmolLM2's tokens per second, against transformers on the same weights: `python benchmarks/real_model.py`.

Both generate greedily with a cache of keys and values, and take turns. On a GPU each is also run in bfloat16.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import time
from collections.abc import Callable

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from course.models import Llama
from course.pretrained import smollm2
from course.sampling import greedy
from course.training import best_device


def with_the_same_weights(model: Llama) -> LlamaForCausalLM:
    """The model in transformers, which rotates two halves of a head: our even and odd dimensions."""
    c = model.config
    theirs = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=c.vocab_size,
            hidden_size=c.d_model,
            intermediate_size=c.d_ff,
            num_hidden_layers=c.n_layers,
            num_attention_heads=c.n_heads,
            num_key_value_heads=c.n_groups,
            max_position_embeddings=c.context_length,
            rms_norm_eps=c.epsilon,
            rope_theta=c.rotation_base,
            tie_word_embeddings=True,
            eos_token_id=None,
            pad_token_id=0,
        )
    )
    own = model.state_dict()
    parts = {
        "self_attn.v_proj": "attention.W_value",
        "self_attn.o_proj": "attention.W_output",
        "mlp.gate_proj": "feed_forward.gate",
        "mlp.up_proj": "feed_forward.expand",
        "mlp.down_proj": "feed_forward.contract",
    }
    weights = {"model.embed_tokens.weight": own["embedding.weight"], "model.norm.weight": own["norm.gain"]}
    for i in range(c.n_layers):
        layer, block = f"model.layers.{i}", f"blocks.{i}"
        weights |= {f"{layer}.{a}.weight": own[f"{block}.{b}.weight"] for a, b in parts.items()}
        weights[f"{layer}.input_layernorm.weight"] = own[f"{block}.norm_attention.gain"]
        weights[f"{layer}.post_attention_layernorm.weight"] = own[f"{block}.norm_feed_forward.gain"]
        for theirs_name, ours_name, n in (("q_proj", "W_query", c.n_heads), ("k_proj", "W_key", c.n_groups)):
            W = own[f"{block}.attention.{ours_name}.weight"]
            halves = W.view(n, -1, 2, c.d_model).transpose(1, 2).reshape(W.shape)
            weights[f"{layer}.self_attn.{theirs_name}.weight"] = halves
    theirs.load_state_dict(weights, strict=False)  # without lm_head, which is the embedding
    return theirs.eval()


def seconds_of(run: Callable[[], torch.Tensor], device: torch.device) -> tuple[float, torch.Tensor]:
    """How long a run takes, and what it returns."""
    begun = time.perf_counter()
    result = run()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - begun, result


def compare(
    ours: Llama, theirs: LlamaForCausalLM, shape: tuple[int, int], options: argparse.Namespace
) -> str:
    """One row: tokens per second of both, and the ratio."""
    device = ours.embedding.weight.device
    prompt = torch.randint(17, ours.vocab_size, shape, device=device)
    n = options.tokens

    def run_theirs() -> torch.Tensor:
        mask = torch.ones_like(prompt)
        return theirs.generate(
            prompt, attention_mask=mask, max_new_tokens=n, min_new_tokens=n, do_sample=False
        )

    runs = {"ours": lambda: greedy(ours, prompt, n), "theirs": run_theirs}
    times: dict[str, list[float]] = {name: [] for name in runs}
    results = {}
    for round_number in range(options.rounds + 1):
        for name, run in runs.items():
            took, results[name] = seconds_of(run, device)
            if round_number:
                times[name].append(took)
    a, b = (shape[0] * n / statistics.median(times[name]) for name in runs)
    same = (results["ours"] == results["theirs"]).float().mean().item()
    dtype = str(ours.embedding.weight.dtype).removeprefix("torch.")
    return f"{dtype:<10}{shape[0]:>6}{a:>12.1f}{b:>14.1f}{a / b:>8.2f}{same:>14.1%}"


def main() -> None:
    device = best_device()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--prompt", type=int, default=32, help="tokens of each prompt")
    parser.add_argument("--tokens", type=int, default=32, help="tokens to generate")
    parser.add_argument("--rounds", type=int, default=5)
    on_gpu = device.type == "cuda"
    kinds = ["float32", "bfloat16"] if on_gpu else ["float32"]
    parser.add_argument("--dtypes", nargs="+", choices=["float32", "bfloat16"], default=kinds)
    options = parser.parse_args()
    torch.manual_seed(0)
    card = torch.cuda.get_device_name() if on_gpu else f"CPU, {torch.get_num_threads()} threads"
    print(f"SmolLM2-135M, prompts of {options.prompt} tokens, {options.tokens} more; {card}")
    print(f"{'':<10}{'batch':>6}{'ours, /s':>12}{'transformers':>14}{'ratio':>8}{'same tokens':>14}")
    ours = smollm2().model
    theirs = with_the_same_weights(ours)
    for kind in options.dtypes:
        dtype = getattr(torch, kind)
        pair = [copy.deepcopy(model).to(device, dtype) for model in (ours, theirs)]
        for batch_size in options.batch_sizes:
            print(compare(*pair, (batch_size, options.prompt), options), flush=True)
    if not on_gpu:
        print("On a GPU: not measured.")


if __name__ == "__main__":
    main()
