"""A Llama of the course as a model of transformers, with the same sizes and weights, to compare the two."""

from __future__ import annotations

from typing import Any

import transformers
from torch import Tensor

from course.models import Llama, LlamaConfig

# What one layer holds, by its name there and its name here.
WEIGHTS = {
    "self_attn.v_proj": "attention.W_value.weight",
    "self_attn.o_proj": "attention.W_output.weight",
    "mlp.gate_proj": "feed_forward.gate.weight",
    "mlp.up_proj": "feed_forward.expand.weight",
    "mlp.down_proj": "feed_forward.contract.weight",
    "input_layernorm": "norm_attention.gain",
    "post_attention_layernorm": "norm_feed_forward.gain",
}


def sizes_in_transformers(config: LlamaConfig) -> dict[str, Any]:
    """The names and values of the same sizes there."""
    return {
        "vocab_size": config.vocab_size,
        "hidden_size": config.d_model,
        "intermediate_size": config.d_ff,
        "num_hidden_layers": config.n_layers,
        "num_attention_heads": config.n_heads,
        "num_key_value_heads": config.n_groups,
        "max_position_embeddings": config.context_length,
        "rms_norm_eps": config.epsilon,
        "rope_theta": config.rotation_base,
        "tie_word_embeddings": True,
    }


def weights_in_transformers(model: Llama) -> dict[str, Tensor]:
    """The names and values of the same weights there, except the output matrix, which is the embedding."""
    own, sizes = model.state_dict(), model.config
    weights = {"model.embed_tokens.weight": own["embedding.weight"], "model.norm.weight": own["norm.gain"]}
    for i in range(sizes.n_layers):
        layer, block = f"model.layers.{i}", f"blocks.{i}"
        weights |= {f"{layer}.{there}.weight": own[f"{block}.{here}"] for there, here in WEIGHTS.items()}
        for there, here, n in (("q_proj", "W_query", sizes.n_heads), ("k_proj", "W_key", sizes.n_groups)):
            W = own[f"{block}.attention.{here}.weight"]
            weights[f"{layer}.self_attn.{there}.weight"] = even_rows_first(W, n)
    return weights


def even_rows_first(W: Tensor, n_heads: int) -> Tensor:
    """A matrix (H · K, D) with the even rows of each head before the odd ones.

    Where we rotate an even and an odd dimension as a pair, transformers takes one from each half of a head.
    """
    return W.view(n_heads, -1, 2, W.shape[1]).transpose(1, 2).reshape(W.shape)


def in_transformers(model: Llama) -> transformers.LlamaForCausalLM:
    """The same model there, in evaluation mode; it has no token that ends a text."""
    sizes = sizes_in_transformers(model.config)
    config = transformers.LlamaConfig(**sizes, eos_token_id=None, pad_token_id=0)
    theirs = transformers.LlamaForCausalLM(config)
    absent = theirs.load_state_dict(weights_in_transformers(model), strict=False)
    assert (absent.missing_keys, absent.unexpected_keys) == (["lm_head.weight"], [])
    return theirs.eval()
