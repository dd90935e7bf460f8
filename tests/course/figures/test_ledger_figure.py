"""The ledger's counts, run in node, against the library's counts and against tensors that autograd keeps."""

import pytest
import torch
from in_node import call, needs_node

from course import figures
from course.models import GPT, GPTConfig, gpt_ledger
from course.models.ledger import GPT2_SMALL, GPT3, cache_bytes, training_bytes, training_flops_per_token
from course.training import next_token_loss

CARD = {"name": "T4", "memory": 16e9, "bandwidth": 300e9, "float32": 8.1e12, "float16": 65e12}


def sizes(config, batch_size=8, generating=False, dtype=0):
    named = {"V": config.vocab_size, "B": batch_size, "T": config.context_length, "D": config.d_model}
    return {**named, "H": config.n_heads, "L": config.n_layers, "generating": generating, "dtype": dtype}


@needs_node
@pytest.mark.parametrize("config", [GPT2_SMALL, GPT3], ids=["GPT-2 small", "GPT-3"])
def test_parameters_operations_and_bytes_are_the_library_s(config):
    training = call("ledger", "count", sizes(config), CARD)
    assert training["parameters"] == gpt_ledger(config).n_parameters
    assert training["flops"] == training_flops_per_token(config) * 8 * config.context_length
    stored = training["bytes"]
    assert stored["weights"] + stored["gradients"] + stored["Adam"] == training_bytes(config)
    generating = call("ledger", "count", sizes(config, generating=True), CARD)
    assert generating["bytes"]["KV cache"] == cache_bytes(config, batch_size=8)
    assert generating["bytes"]["Adam"] == 0


def kept_by_autograd(model, loss):
    """Numbers that are kept for the backward pass, parameters not counted."""
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own and tensor.is_floating_point():
            kept[storage.data_ptr()] = tensor  # kept alive, so that no address is used twice
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss(model)
    return sum(tensor.untyped_storage().nbytes() // 4 for tensor in kept.values())


@needs_node
@pytest.mark.parametrize(("T", "D", "H", "L"), [(16, 24, 3, 2), (32, 16, 2, 3)])
def test_the_activations_are_what_autograd_keeps(T, D, H, L):
    config = GPTConfig(29, T, d_model=D, n_heads=H, n_layers=L)
    tokens = torch.zeros(2, T, dtype=torch.int64)
    kept = kept_by_autograd(GPT(config), lambda model: next_token_loss(model, (tokens, tokens)))
    assert call("ledger", "count", sizes(config, batch_size=2), CARD)["activations"] == kept


@needs_node
def test_the_products_of_a_block_hold_all_its_parameters_but_the_norms():
    config = GPTConfig(29, 16, d_model=24, n_heads=3, n_layers=1)
    rows = call("ledger", "products", sizes(config))
    block = GPT(config).blocks[0]
    everything = sum(parameter.numel() for parameter in block.parameters())
    assert sum(row[3] for row in rows) == everything - 4 * 24


@needs_node
def test_sixteen_bits_halve_the_activations_and_not_what_adam_needs():
    wide, narrow = (
        call("ledger", "count", sizes(GPT2_SMALL, dtype=dtype), CARD)["bytes"] for dtype in (0, 1)
    )
    assert narrow["activations"] == wide["activations"] / 2
    per_parameter = [sum(b[kind] for kind in ("weights", "gradients", "Adam")) for b in (wide, narrow)]
    assert per_parameter[0] == per_parameter[1]


def test_a_context_that_no_slider_can_show_is_refused():
    with pytest.raises(ValueError, match="power of two, got 100"):
        figures.ledger({"mine": GPTConfig(29, 100, d_model=64, n_heads=4, n_layers=2)})
