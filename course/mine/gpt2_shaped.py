"""A small trained GPT in GPT-2's own layout, for the student's GPT to load.

The stories of the ladder taught it; its names, shapes and transposed matrices are those in which Hugging
Face's `transformers` stores GPT-2, the mask and the tied output matrix included.

    python -m course.mine.gpt2_shaped               trains it again, a minute on a CPU
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from course.data.shuffling import ShuffledStories
from course.ladder.rungs import RUNGS, SCALES, Corpus
from course.ladder.weights import SEED
from course.models.gpt import GPT, GPTConfig
from course.training import train

FILE = Path(__file__).with_name("gpt2_shaped.safetensors")
SIZES = {"d_model": 64, "n_heads": 4, "n_layers": 2}

# Modules in GPT-2's blocks → ours; matrices of a Conv1D are stored (inputs, outputs).
NORMS = {"ln_1": "norm_attention", "ln_2": "norm_feed_forward"}
CONV1D = {
    "attn.c_attn": ("attention.W_query", "attention.W_key", "attention.W_value"),
    "attn.c_proj": ("attention.W_output",),
    "mlp.c_fc": ("feed_forward.expand",),
    "mlp.c_proj": ("feed_forward.contract",),
}


def gpt2_shaped(path: Path = FILE) -> dict[str, Tensor]:
    """The checkpoint: name in GPT-2 → tensor in float32, for a GPT of the sizes `SIZES`."""
    return {name: tensor.float() for name, tensor in load_file(path).items()}


def in_gpt2s_layout(model: GPT) -> Iterator[tuple[str, Tensor]]:
    """The weights of a GPT with learned positions under GPT-2's names."""
    own = {name: tensor.detach() for name, tensor in model.state_dict().items()}
    yield "transformer.wte.weight", own["embedding.weight"]
    yield "transformer.wpe.weight", own["positions.embedding.weight"]
    for index in range(model.config.n_layers):
        ours, theirs = f"blocks.{index}.", f"transformer.h.{index}."
        for name, norm in NORMS.items():
            yield f"{theirs}{name}.weight", own[f"{ours}{norm}.gain"]
            yield f"{theirs}{name}.bias", own[f"{ours}{norm}.bias"]
        for name, layers in CONV1D.items():
            yield f"{theirs}{name}.weight", torch.cat([own[f"{ours}{layer}.weight"] for layer in layers]).T
            yield f"{theirs}{name}.bias", torch.cat([own[f"{ours}{layer}.bias"] for layer in layers])
        triangle = torch.ones(model.config.context_length, model.config.context_length).tril()
        yield f"{theirs}attn.bias", triangle[None, None]
        yield f"{theirs}attn.masked_bias", torch.tensor(-1e4)
    yield "transformer.ln_f.weight", own["norm.gain"]
    yield "transformer.ln_f.bias", own["norm.bias"]
    yield "lm_head.weight", own["embedding.weight"]


def trained(corpus: Corpus) -> GPT:
    """A GPT with learned positions, trained as the ladder trains its Transformer."""
    rung, language = RUNGS["gpt"], corpus.language
    torch.manual_seed(SEED)
    sizes = GPTConfig(
        language.vocab_size, language.longest_story, SIZES["d_model"], SIZES["n_heads"], SIZES["n_layers"]
    )
    model = GPT(replace(sizes, initial_deviation=0.1))
    training = rung.at(SCALES["default"], SEED)
    assert training is not None
    train(model, ShuffledStories(corpus.train, rung.batch_size, SEED), training, has_progress_bar=True)
    return model


def main() -> None:
    """Train the model and keep its weights in half precision."""
    model = trained(Corpus(SCALES["default"], SEED))
    save_file({name: tensor.half().contiguous().clone() for name, tensor in in_gpt2s_layout(model)}, FILE)


if __name__ == "__main__":
    main()
