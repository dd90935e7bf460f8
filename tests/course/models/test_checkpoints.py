"""Checkpoints as they lie on disk: several files, old names, and everything that may be wrong with them."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from course.models import (
    BERT,
    GPT,
    LSTM,
    CheckpointError,
    GPTConfig,
    bert_config,
    gpt_config,
    load_weights,
)

GPT_SIZES = {"n_embd": 12, "n_head": 3, "n_layer": 2, "n_positions": 9, "vocab_size": 7, "model_type": "gpt2"}


def gpt_weights(prefix=""):
    """The tensors of a GPT-2 checkpoint, written down from its published layout."""
    shapes = {"wte.weight": (7, 12), "wpe.weight": (9, 12), "ln_f.weight": (12,), "ln_f.bias": (12,)}
    for layer in range(2):
        shapes |= {f"h.{layer}.ln_{i}.{part}": (12,) for i in (1, 2) for part in ("weight", "bias")}
        for name, (n_in, n_out) in {
            "attn.c_attn": (12, 36),
            "attn.c_proj": (12, 12),
            "mlp.c_fc": (12, 48),
            "mlp.c_proj": (48, 12),
        }.items():
            shapes |= {f"h.{layer}.{name}.weight": (n_in, n_out), f"h.{layer}.{name}.bias": (n_out,)}
    return {prefix + name: torch.randn(shape) for name, shape in shapes.items()}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(GPT_SIZES | {"activation_function": "gelu_new"}))
    save_file(gpt_weights(), tmp_path / "model.safetensors")
    return tmp_path


def test_sizes_come_from_the_configuration(folder):
    assert gpt_config(folder) == GPTConfig(7, 9, 12, 3, 2)


def test_the_joint_matrix_comes_apart_into_query_key_and_value(folder):
    model = load_weights(GPT(gpt_config(folder)), folder)
    joint = load_file(folder / "model.safetensors")["h.1.attn.c_attn.weight"]
    attention = model.blocks[1].attention
    for part, columns in ((attention.W_query, joint[:, :12]), (attention.W_value, joint[:, 24:])):
        assert part.weight.equal(columns.T)


def test_buffers_prefixes_and_the_tied_output_are_understood(folder):
    plain = load_weights(GPT(gpt_config(folder)), folder).state_dict()
    weights = {f"transformer.{name}": w for name, w in load_file(folder / "model.safetensors").items()}
    weights["transformer.h.0.attn.bias"] = torch.ones(1, 1, 9, 9)
    weights["transformer.h.0.attn.masked_bias"] = torch.tensor(-1e4)
    weights["lm_head.weight"] = weights["transformer.wte.weight"].clone()
    save_file(weights, folder / "model.safetensors")
    again = load_weights(GPT(gpt_config(folder)), folder).state_dict()
    assert all(again[name].equal(plain[name]) for name in plain)


def test_several_files_with_an_index_are_read_as_one(folder):
    plain = load_weights(GPT(gpt_config(folder)), folder).state_dict()
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(weights)
    parts = {"model-1.safetensors": names[:9], "model-2.safetensors": names[9:]}
    for file, part in parts.items():
        save_file({name: weights[name] for name in part}, folder / file)
    index = {"weight_map": {name: file for file, part in parts.items() for name in part}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    again = load_weights(GPT(gpt_config(folder)), folder).state_dict()
    assert all(again[name].equal(plain[name]) for name in plain)


def test_old_names_of_norms_are_understood(tmp_path):
    from transformers import BertConfig, BertModel

    theirs = BertModel(
        BertConfig(
            vocab_size=7,
            hidden_size=12,
            num_hidden_layers=1,
            num_attention_heads=3,
            intermediate_size=8,
            max_position_embeddings=9,
        )
    )
    torch.nn.init.normal_(theirs.embeddings.LayerNorm.weight)
    theirs.save_pretrained(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    old = {
        "bert."
        + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): weight
        for name, weight in weights.items()
    }
    save_file(old, tmp_path / "model.safetensors")
    ours = load_weights(BERT(bert_config(tmp_path)), tmp_path)
    assert ours.norm.gain.equal(theirs.embeddings.LayerNorm.weight)


def test_a_missing_weight_is_named(folder):
    weights = load_file(folder / "model.safetensors")
    del weights["h.1.ln_2.bias"]
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(
        CheckpointError, match=r"expected weights for blocks.1.norm_feed_forward.bias, got none"
    ):
        load_weights(GPT(gpt_config(folder)), folder)


def test_an_unknown_weight_is_named(folder):
    weights = load_file(folder / "model.safetensors") | {"h.0.rotary.scale": torch.ones(3)}
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"names of a checkpoint of this kind, got 'h.0.rotary.scale'"):
        load_weights(GPT(gpt_config(folder)), folder)


def test_a_model_with_more_layers_or_other_widths_is_refused(folder):
    with pytest.raises(CheckpointError, match=r"expected weights for blocks\.2"):
        load_weights(GPT(GPTConfig(7, 9, 12, 3, 3)), folder)
    with pytest.raises(
        CheckpointError, match=r"expected shape \(8, 12\) for embedding.weight, got \(7, 12\)"
    ):
        load_weights(GPT(GPTConfig(8, 9, 12, 3, 2)), folder)


def test_a_model_with_fewer_layers_is_refused(folder):
    with pytest.raises(CheckpointError, match=r"expected no weights for blocks\.1\."):
        load_weights(GPT(GPTConfig(7, 9, 12, 3, 1)), folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model_type", "llama"),
        ("activation_function", "relu"),
        ("tie_word_embeddings", False),
        ("scale_attn_by_inverse_layer_idx", True),
    ],
)
def test_a_variant_that_the_course_has_not_is_refused(folder, key, value):
    (folder / "config.json").write_text(
        json.dumps(GPT_SIZES | {"activation_function": "gelu_new", key: value})
    )
    with pytest.raises(CheckpointError, match=rf"expected {key} = .*, got {value!r}"):
        gpt_config(folder)


def test_an_empty_folder_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(
        CheckpointError, match=r"config.json, got none: fetch the checkpoint's folder as a whole"
    ):
        gpt_config(tmp_path)
    with pytest.raises(CheckpointError, match=r"model.safetensors, got none"):
        load_weights(GPT(GPTConfig(7, 9, 12, 3, 2)), tmp_path)


def test_a_model_of_another_kind_is_refused(folder):
    with pytest.raises(TypeError, match="expected a GPT or a BERT with or without a head, got a LSTM"):
        load_weights(LSTM(3, 4), folder)
