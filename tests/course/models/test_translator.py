"""The Transformer that translates: three masks, lengths that differ, free running."""

import pytest
import torch
from model_equality import assert_equal
from torch import nn

from course.models import Translator, TranslatorConfig, causal_mask, sinusoidal_positions
from course.models.torch_weights import copy_from_torch

PAD, BOS, EOS = 0, 1, 2
V_SOURCE, V_TARGET, B, S = 9, 11, 3, 7


def model(**options):
    sizes = {"context_length": 12, "d_model": 12, "n_heads": 3, "n_layers": 2, "d_ff": 20}
    return Translator(TranslatorConfig(V_SOURCE, V_TARGET, **sizes, **options)).eval()


def batch(n_target=5):
    source = torch.randint(3, V_SOURCE, (B, S))
    source[1, 4:] = PAD
    source[2, 1:] = PAD
    target = torch.cat([torch.full((B, 1), BOS), torch.randint(3, V_TARGET, (B, n_target - 1))], dim=1)
    return source, target


@pytest.mark.parametrize("is_pre_norm", [False, True])
@pytest.mark.parametrize("n_target", [3, 10])
def test_log_probs_equal_those_of_torch_s_stacks(precision, is_pre_norm, n_target):
    ours = model(is_pre_norm=is_pre_norm)
    sizes = {"d_model": 12, "nhead": 3, "dim_feedforward": 20, "dropout": 0.0, "batch_first": True}
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(**sizes, norm_first=is_pre_norm),
        2,
        norm=nn.LayerNorm(12) if is_pre_norm else None,
        enable_nested_tensor=False,
    )
    decoder = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(**sizes, norm_first=is_pre_norm),
        2,
        norm=nn.LayerNorm(12) if is_pre_norm else None,
    )
    copy_from_torch(ours.encoder, encoder)
    copy_from_torch(ours.decoder, decoder)
    source, target = batch(n_target)
    x, y = (
        embedding.weight[tokens] * 12**0.5 + sinusoidal_positions(tokens.shape[1], 12)
        for embedding, tokens in ((ours.source_embedding, source), (ours.target_embedding, target))
    )
    padding = source == PAD
    memory = encoder(x, src_key_padding_mask=padding)
    hidden = decoder(y, memory, tgt_mask=~causal_mask(n_target), memory_key_padding_mask=padding)
    expected = (hidden @ ours.target_embedding.weight.T).log_softmax(dim=-1)
    assert_equal(ours(source, target), expected)


@pytest.mark.parametrize("is_fused", [False, True])
def test_padding_of_the_source_changes_nothing(is_fused):
    ours = model(is_fused=is_fused)
    source, target = batch()
    assert_equal(ours(source, target)[1:2], ours(source[1:2, :4], target[1:2]))


def test_future_words_do_not_change_the_past():
    ours = model()
    source, target = batch()
    changed = target.clone()
    changed[:, 3:] = (target[:, 3:] + 1) % V_TARGET
    assert_equal(ours(source, changed)[:, :3], ours(source, target)[:, :3])


def test_every_source_word_reaches_every_target_position():
    ours = model()
    source, target = batch()
    changed = source.clone()
    changed[0, -1] = 3 + (source[0, -1] - 2) % (V_SOURCE - 3)
    difference = (ours(changed, target) - ours(source, target))[0].abs().amax(dim=-1)
    assert difference.min() > 1e-6


@pytest.mark.parametrize("layer", [0, 1])
def test_the_alignment_is_the_cross_attention_averaged_over_heads(layer):
    ours = model(is_fused=False)
    source, target = batch()
    weights = ours.alignment(source, target, layer)
    assert weights.shape == (B, 5, S)
    assert_equal(weights.sum(dim=-1), torch.ones(B, 5))
    assert weights.transpose(1, 2)[source == PAD].max() == 0


def test_free_running_reads_its_own_words():
    ours = model()
    source, _ = batch()
    written = ours.translate(source, BOS, EOS, max_length=8)
    fed = torch.cat([torch.full((B, 1), BOS), written[:, :-1]], dim=1)
    best = ours(source, fed).argmax(dim=-1)
    for row in range(B):
        ends = (written[row] == EOS).nonzero()
        until = int(ends[0]) + 1 if len(ends) else written.shape[1]
        assert written[row, :until].tolist() == best[row, :until].tolist()
        assert set(written[row, until:].tolist()) <= {EOS}


@pytest.mark.parametrize("is_fused", [False, True])
@pytest.mark.parametrize("options", [{"is_pre_norm": False}, {"positions": "rotary"}, {}])
def test_words_read_with_a_cache_get_the_logits_that_they_get_together(precision, options, is_fused):
    ours = model(is_fused=is_fused, **options)
    source, target = batch(n_target=8)
    memory, mask = ours.encode(source)
    caches = ours.decoder.new_caches()
    parts = [ours.decode(part, memory, mask, caches) for part in target.split([1, 1, 3, 1, 2], dim=1)]
    assert_equal(torch.cat(parts, dim=1), ours.decode(target, memory, mask))


def test_a_translation_reads_each_of_its_words_and_the_source_once():
    ours = model()
    attention, cross_attention = ours.decoder.layers[0].attention, ours.decoder.layers[0].cross_attention
    read = {attention: 0, cross_attention: 0}
    for each in read:
        each.W_key.register_forward_pre_hook(
            lambda _, arguments, each=each: read.update({each: read[each] + arguments[0].shape[1]})
        )
    written = ours.translate(batch()[0], BOS, EOS, max_length=8)
    assert read == {attention: written.shape[1], cross_attention: S}


def test_cached_words_count_as_positions():
    ours = model()
    source, target = batch(n_target=12)
    memory, mask = ours.encode(source)
    caches = ours.decoder.new_caches()
    ours.decode(target, memory, mask, caches)
    with pytest.raises(ValueError, match="expected at most 12 positions, got T = 1 after 12 cached ones"):
        ours.decode(target[:, -1:], memory, mask, caches)


def test_longer_sentences_than_the_context_length_are_refused():
    source, target = batch(n_target=13)
    with pytest.raises(ValueError, match="tokens: expected at most 12 positions, got T = 13"):
        model()(source, target)


def test_a_source_of_nothing_but_padding_is_refused():
    source, target = batch()
    source[2] = PAD
    with pytest.raises(ValueError, match="at least one True per query"):
        model()(source, target)


def test_a_translation_of_no_length_is_refused():
    with pytest.raises(ValueError, match="max_length: expected at least 1 token, got 0"):
        model().translate(batch()[0], BOS, EOS, max_length=0)


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
def test_the_order_of_the_source_counts(positions):
    ours = model(positions=positions)
    source, target = batch()
    source, target = source[:1], target[:1]
    assert (ours(source, target) - ours(source.flip(1), target)).abs().max() > 1e-6


def test_positions_that_there_are_not_are_refused(as_students_run_it):
    with pytest.raises(ValueError, match="positions: expected one of sinusoidal, rotary, got 'learned'"):
        model(positions="learned")
