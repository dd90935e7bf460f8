"""Load GPT-2 and BERT checkpoints in the Hugging Face layout into the course's models.

A checkpoint is a folder with `config.json` and `model.safetensors` (or several such files and an index).
Its names occur only here: each table maps one of their modules to one of ours, or to none.

    model = load_weights(GPT(gpt_config(folder)), folder)
    model = load_weights(SequenceClassifier(bert_config(folder), n_classes=2), folder, fresh=("output",))
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TypeVar

from safetensors.torch import load_file
from torch import Tensor, nn

from course.models.bert import BERT, BERTConfig, MaskedLanguageModel, SequenceClassifier, SpanFinder, Tagger
from course.models.gpt import GPT, GPTConfig

Model = TypeVar("Model", bound=nn.Module)

GPT_MODULES = {
    "wte": "embedding",
    "wpe": "positions.embedding",
    "h.{}.ln_1": "blocks.{}.norm_attention",
    "h.{}.attn.c_attn": "blocks.{}.attention.W_query blocks.{}.attention.W_key blocks.{}.attention.W_value",
    "h.{}.attn.c_proj": "blocks.{}.attention.W_output",
    "h.{}.ln_2": "blocks.{}.norm_feed_forward",
    "h.{}.mlp.c_fc": "blocks.{}.feed_forward.expand",
    "h.{}.mlp.c_proj": "blocks.{}.feed_forward.contract",
    "ln_f": "norm",
    "h.{}.attn": None,  # the causal mask, which used to be a buffer named "bias"
    "lm_head": None,  # the embedding again
}

BERT_MODULES = {
    "embeddings.word_embeddings": "embedding",
    "embeddings.position_embeddings": "positions",
    "embeddings.token_type_embeddings": "segments",
    "embeddings.LayerNorm": "norm",
    "encoder.layer.{}.attention.self.query": "encoder.layers.{}.attention.W_query",
    "encoder.layer.{}.attention.self.key": "encoder.layers.{}.attention.W_key",
    "encoder.layer.{}.attention.self.value": "encoder.layers.{}.attention.W_value",
    "encoder.layer.{}.attention.output.dense": "encoder.layers.{}.attention.W_output",
    "encoder.layer.{}.attention.output.LayerNorm": "encoder.layers.{}.norm_attention",
    "encoder.layer.{}.intermediate.dense": "encoder.layers.{}.feed_forward.expand",
    "encoder.layer.{}.output.dense": "encoder.layers.{}.feed_forward.contract",
    "encoder.layer.{}.output.LayerNorm": "encoder.layers.{}.norm_feed_forward",
}

BERT_WITHOUT_HEAD = {
    "embeddings": None,  # position_ids, which used to be a buffer
    "pooler.dense": None,
    "cls.predictions": None,
    "cls.predictions.transform.dense": None,
    "cls.predictions.transform.LayerNorm": None,
    "cls.predictions.decoder": None,  # the embedding again
    "cls.seq_relationship": None,  # next-sentence prediction, which the course omits
    "classifier": None,
    "qa_outputs": None,
}

BERT_HEADS = {
    MaskedLanguageModel: {
        "cls.predictions": "",
        "cls.predictions.transform.dense": "transform",
        "cls.predictions.transform.LayerNorm": "norm",
    },
    SequenceClassifier: {"pooler.dense": "pooler.linear", "classifier": "output"},
    Tagger: {"classifier": "output"},
    SpanFinder: {"qa_outputs": "output"},
}


class CheckpointError(ValueError):
    """The folder holds no checkpoint, or one that does not fit the model."""


def load_weights(model: Model, folder: Path | str, fresh: tuple[str, ...] = ()) -> Model:
    """Copy a checkpoint's weights into a model of the same sizes and return it.

    `fresh` names modules that may be missing because fine-tuning will train them from random weights, e.g.
    ("output",). Raises CheckpointError, naming them, for weights that are missing, unknown or of a wrong
    shape.
    """
    folder = Path(folder)
    own = model.state_dict()
    found: dict[str, Tensor] = {}
    for their_name, weight in read_weights(folder).items():
        found |= translate(their_name, weight, module_names(model))
    missing = [name for name in own if name not in found and not name.startswith(fresh)]
    if missing:
        raise CheckpointError(f"{folder}: expected weights for {', '.join(missing)}, got none")
    surplus = [name for name in found if name not in own]
    if surplus:
        raise CheckpointError(f"{folder}: expected no weights for {', '.join(surplus)}, got some")
    for name, weight in found.items():
        if own[name].shape != weight.shape:
            raise CheckpointError(
                f"{folder}: expected shape {tuple(own[name].shape)} for {name}, got {tuple(weight.shape)}"
            )
    model.load_state_dict(found, strict=False)
    return model


def module_names(model: nn.Module) -> dict[str, str | None]:
    """The table for this kind of model: their modules → ours."""
    if isinstance(model, GPT):
        return GPT_MODULES
    if isinstance(model, BERT):
        return BERT_MODULES | BERT_WITHOUT_HEAD
    if type(model) in BERT_HEADS:
        inside = {theirs: f"bert.{ours}" for theirs, ours in BERT_MODULES.items()}
        return inside | BERT_WITHOUT_HEAD | BERT_HEADS[type(model)]
    raise TypeError(f"model: expected a GPT or a BERT with or without a head, got a {type(model).__name__}")


def translate(their_name: str, weight: Tensor, modules: dict[str, str | None]) -> dict[str, Tensor]:
    """One of their tensors under our names: none, one, or three where they store three matrices as one."""
    name = their_name.removeprefix("transformer.").removeprefix("bert.")
    name = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
    module, _, part = name.rpartition(".")
    layer = "".join(re.findall(r"\.(\d+)\.", module))
    pattern = re.sub(r"\.\d+\.", ".{}.", module)
    if pattern not in modules:
        raise CheckpointError(f"expected the names of a checkpoint of this kind, got {their_name!r}")
    ours = modules[pattern]
    if ours is None:
        return {}
    if ".c_" in module:  # GPT-2 stores its matrices as (inputs, outputs)
        weight = weight.mT if weight.ndim == 2 else weight
    own_modules = ours.replace("{}", layer).split(" ")
    pieces = zip(own_modules, weight.chunk(len(own_modules)), strict=True)
    return {own_name(module, part): piece for module, piece in pieces}


def own_name(module: str, part: str) -> str:
    """`part` (weight or bias) of one of our modules; a norm's weight is called gain."""
    is_norm = module.rpartition(".")[2].startswith("norm")
    own_part = "gain" if is_norm and part == "weight" else part
    return f"{module}.{own_part}" if module else own_part


def read_weights(folder: Path) -> dict[str, Tensor]:
    """All tensors of a checkpoint, under their own names."""
    index = folder / "model.safetensors.index.json"
    names = sorted(set(json.loads(index.read_text())["weight_map"].values())) if index.exists() else []
    weights: dict[str, Tensor] = {}
    for path in [folder / name for name in names] or [folder / "model.safetensors"]:
        if not path.exists():
            raise CheckpointError(
                f"expected the file {path}, got none: fetch the checkpoint's folder as a whole"
            )
        weights |= load_file(path)
    return weights


def read_config(folder: Path | str, model_type: str, required: dict[str, object]) -> dict:
    """Their `config.json`; raises CheckpointError for a different kind of model or an unknown variant."""
    path = Path(folder) / "config.json"
    if not path.exists():
        raise CheckpointError(f"expected the file {path}, got none: fetch the checkpoint's folder as a whole")
    config = json.loads(path.read_text())
    for key, value in ({"model_type": model_type} | required).items():
        if config.get(key, value) != value:
            raise CheckpointError(f"{path}: expected {key} = {value!r}, got {config[key]!r}")
    return config


def gpt_config(folder: Path | str, dropout: float = 0.0) -> GPTConfig:
    """The sizes of a GPT-2 checkpoint."""
    plain: dict[str, object] = {
        "activation_function": "gelu_new",
        "scale_attn_by_inverse_layer_idx": False,
        "scale_attn_weights": True,
        "tie_word_embeddings": True,
    }
    config = read_config(folder, "gpt2", plain)
    return GPTConfig(
        vocab_size=config["vocab_size"],
        context_length=config.get("n_positions") or config["n_ctx"],
        d_model=config["n_embd"],
        n_heads=config["n_head"],
        n_layers=config["n_layer"],
        d_ff=config.get("n_inner"),
        epsilon=config.get("layer_norm_epsilon", 1e-5),
        dropout=dropout,
    )


def bert_config(folder: Path | str, dropout: float = 0.0) -> BERTConfig:
    """The sizes of a BERT checkpoint."""
    config = read_config(folder, "bert", {"hidden_act": "gelu", "position_embedding_type": "absolute"})
    return BERTConfig(
        vocab_size=config["vocab_size"],
        context_length=config["max_position_embeddings"],
        d_model=config["hidden_size"],
        n_heads=config["num_attention_heads"],
        n_layers=config["num_hidden_layers"],
        d_ff=config["intermediate_size"],
        n_segments=config["type_vocab_size"],
        epsilon=config["layer_norm_eps"],
        dropout=dropout,
    )
