"""Encoder and decoder layers and stacks against torch.nn, and what masks must keep apart."""

import pytest
import torch
from model_equality import assert_equal, assert_equal_gradients
from torch import nn

from course.models import Decoder, Encoder, TransformerConfig, causal_mask
from course.models.torch_weights import copy_from_torch

B, T, S, D, H, D_FF, N_LAYERS = 2, 5, 7, 12, 3, 20, 2


def config(is_pre_norm=False, activation="relu", is_fused=True):
    return TransformerConfig(
        D, H, N_LAYERS, D_FF, activation=activation, is_pre_norm=is_pre_norm, is_fused=is_fused
    )


def their_layer(kind, is_pre_norm, activation):
    layer = kind(D, H, D_FF, dropout=0.0, activation=activation, batch_first=True, norm_first=is_pre_norm)
    for name, parameter in layer.named_parameters():
        if "bias" in name or "norm" in name:
            nn.init.normal_(parameter, mean=1.0 if name.endswith("weight") else 0.0, std=0.5)
    return layer


def encoders(is_pre_norm, activation, is_fused=True):
    theirs = nn.TransformerEncoder(
        their_layer(nn.TransformerEncoderLayer, is_pre_norm, activation),
        N_LAYERS,
        norm=nn.LayerNorm(D) if is_pre_norm else None,
        enable_nested_tensor=False,
    )
    differ_between_layers(theirs)
    ours = Encoder(config(is_pre_norm, activation, is_fused))
    copy_from_torch(ours, theirs)
    return ours, theirs


def decoders(is_pre_norm, activation, is_fused=True):
    theirs = nn.TransformerDecoder(
        their_layer(nn.TransformerDecoderLayer, is_pre_norm, activation),
        N_LAYERS,
        norm=nn.LayerNorm(D) if is_pre_norm else None,
    )
    differ_between_layers(theirs)
    ours = Decoder(config(is_pre_norm, activation, is_fused))
    copy_from_torch(ours, theirs)
    return ours, theirs


def differ_between_layers(stack):
    """torch copies one layer n times; give every copy weights of its own."""
    with torch.no_grad():
        for parameter in stack.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))


def real(n_positions):
    return torch.arange(n_positions) < torch.tensor([n_positions, 3])[:, None]


@pytest.mark.parametrize("is_pre_norm", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("is_fused", [False, True])
@pytest.mark.parametrize("is_causal", [False, True])
def test_an_encoder_equals_torch(precision, is_pre_norm, activation, is_fused, is_causal):
    ours, theirs = encoders(is_pre_norm, activation, is_fused)
    x = torch.randn(B, T, D, requires_grad=True)
    mask = real(T)
    expected = theirs(x, mask=~causal_mask(T) if is_causal else None, src_key_padding_mask=~mask)
    output = ours(x, mask[:, None, None, :], is_causal)
    assert_equal(output, expected)
    assert_equal_gradients(
        output,
        [x, ours.layers[0].feed_forward.expand.weight, ours.layers[1].attention.W_output.weight],
        expected,
        [x, theirs.layers[0].linear1.weight, theirs.layers[1].self_attn.out_proj.weight],
    )


@pytest.mark.parametrize("is_pre_norm", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("is_fused", [False, True])
@pytest.mark.parametrize("n_target", [3, 9])
def test_a_decoder_equals_torch_for_shorter_and_longer_targets(
    precision, is_pre_norm, activation, is_fused, n_target
):
    ours, theirs = decoders(is_pre_norm, activation, is_fused)
    x, memory = torch.randn(B, n_target, D, requires_grad=True), torch.randn(B, S, D, requires_grad=True)
    target_mask, memory_mask = real(n_target), real(S)
    expected = theirs(
        x,
        memory,
        tgt_mask=~causal_mask(n_target),
        tgt_key_padding_mask=~target_mask,
        memory_key_padding_mask=~memory_mask,
    )
    output = ours(x, memory, target_mask[:, None, None, :], memory_mask[:, None, None, :])
    assert_equal(output, expected)
    assert_equal_gradients(
        output,
        [x, memory, ours.layers[0].cross_attention.W_output.weight],
        expected,
        [x, memory, theirs.layers[0].multihead_attn.out_proj.weight],
    )


@pytest.mark.parametrize("is_pre_norm", [False, True])
def test_padding_does_not_change_real_tokens(is_pre_norm):
    encoder = Encoder(config(is_pre_norm))
    x, mask = torch.randn(B, T, D), real(T)
    changed = torch.where(mask[:, :, None], x, 100 * torch.randn(B, T, D))
    difference = encoder(changed, mask[:, None, None, :]) - encoder(x, mask[:, None, None, :])
    assert difference[mask].abs().max() == 0


@pytest.mark.parametrize("is_pre_norm", [False, True])
def test_future_tokens_do_not_change_the_past_of_a_decoder(is_pre_norm):
    decoder = Decoder(config(is_pre_norm))
    x, memory = torch.randn(B, T, D), torch.randn(B, S, D)
    changed = x.clone()
    changed[:, 3:] = torch.randn(B, T - 3, D)
    assert_equal(decoder(changed, memory)[:, :3], decoder(x, memory)[:, :3])
    assert (decoder(changed, memory) - decoder(x, memory))[:, 3:].abs().max() > 1e-2


def test_without_positions_an_encoder_is_permutation_equivariant():
    encoder = Encoder(config())
    x, order = torch.randn(B, T, D), torch.tensor([4, 2, 0, 1, 3])
    assert_equal(encoder(x[:, order]), encoder(x)[:, order])


def test_layers_have_weights_of_their_own():
    encoder = Encoder(config())
    first, second = (layer.feed_forward.expand.weight for layer in encoder.layers)
    assert first.data_ptr() != second.data_ptr()
    assert not first.equal(second)


def test_dropout_acts_in_training_only():
    encoder = Encoder(TransformerConfig(D, H, N_LAYERS, D_FF, dropout=0.5))
    x = torch.randn(B, T, D)
    assert not encoder(x).equal(encoder(x))
    encoder.eval()
    assert encoder(x).equal(encoder(x))


def test_an_unknown_activation_is_refused_with_the_known_ones(as_students_run_it):
    with pytest.raises(ValueError, match="expected one of relu, gelu, gelu_tanh, got 'swish'"):
        TransformerConfig(activation="swish")


def test_a_width_that_the_heads_do_not_divide_is_refused():
    with pytest.raises(ValueError, match="expected a multiple of n_heads = 5, got 12"):
        TransformerConfig(d_model=12, n_heads=5)
