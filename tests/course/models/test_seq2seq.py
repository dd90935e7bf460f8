"""The recurrent encoder-decoder: against torch's GRU run by hand; padding and the future change nothing."""

import pytest
import torch
from model_equality import assert_equal
from torch import nn

from course.models import Seq2Seq, Seq2SeqConfig

PAD, BOS, EOS = 0, 1, 2
V_SOURCE, V_TARGET, B, S, T = 9, 11, 3, 7, 5
KINDS = ["none", "dot", "bilinear", "additive"]


def model(**options):
    return Seq2Seq(Seq2SeqConfig(V_SOURCE, V_TARGET, d_embedding=4, d_hidden=6, **options)).eval()


def batch():
    source = torch.randint(3, V_SOURCE, (B, S))
    source[1, 4:] = PAD
    source[2, 1:] = PAD
    target = torch.cat([torch.full((B, 1), BOS), torch.randint(3, V_TARGET, (B, T - 1))], dim=1)
    return source, target


@pytest.mark.parametrize("attention", ["none", "bilinear"])
@pytest.mark.parametrize("summary", ["first_step", "every_step"])
def test_logits_equal_the_equations_run_step_by_step_with_torch(precision, attention, summary):
    ours = model(is_bidirectional=False, attention=attention, summary=summary)
    encoder, decoder = ours.encoder, ours.decoder
    reader = nn.GRU(4, 6, batch_first=True)
    writer = nn.GRUCell(4 + 6 * (summary == "every_step"), 6)
    for theirs, cell, suffix in (
        (reader, encoder.network.cells[0], "_l0"),
        (writer, decoder.network.cells[0], ""),
    ):
        weights = (
            getattr(theirs, name + suffix) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        cell.copy_from_torch(*weights)
    source, target = batch()
    log_probs = ours(source, target)
    for row in range(B):
        length = int((source[row] != PAD).sum())
        h, c = reader(encoder.embedding(source[row : row + 1, :length]))
        c = s = c[0]
        for t in range(T):
            x = decoder.embedding(target[row, t])[None]
            s = writer(torch.cat([x, c], dim=-1) if summary == "every_step" else x, s)
            features = s[0]
            if attention == "bilinear":
                alpha = torch.stack([s[0] @ decoder.scores.W @ state for state in h[0]]).softmax(dim=0)
                features = torch.cat([s[0], sum(a * state for a, state in zip(alpha, h[0], strict=True))])
            assert_equal(log_probs[row, t], decoder.output(features).log_softmax(dim=-1))


@pytest.mark.parametrize("attention", KINDS)
@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("is_bidirectional", [False, True])
@pytest.mark.parametrize("summary", ["first_step", "every_step"])
def test_padding_of_the_source_changes_nothing(attention, cell, is_bidirectional, summary):
    ours = model(
        attention=attention, cell=cell, is_bidirectional=is_bidirectional, summary=summary, n_layers=2
    )
    source, target = batch()
    alone = ours(source[1:2, :4], target[1:2])
    assert_equal(ours(source, target)[1:2], alone)


@pytest.mark.parametrize("attention", KINDS)
def test_future_words_do_not_change_the_past(attention):
    ours = model(attention=attention)
    source, target = batch()
    changed = target.clone()
    changed[:, 3:] = (target[:, 3:] + 1) % V_TARGET
    assert_equal(ours(source, changed)[:, :3], ours(source, target)[:, :3])


@pytest.mark.parametrize("attention", KINDS[1:])
def test_each_step_s_weights_sum_to_one_and_skip_padding(attention):
    source, target = batch()
    weights = model(attention=attention).alignment(source, target)
    assert weights.shape == (B, T, S)
    assert_equal(weights.sum(dim=-1), torch.ones(B, T))
    assert weights.transpose(1, 2)[source == PAD].max() == 0


def test_the_decoder_starts_from_the_end_of_both_directions(precision):
    """Forwards that is the last real token, backwards the first; layers stay apart."""
    ours = model(n_layers=2)
    source, _ = batch()
    encoded = ours.encoder(source)
    for row, length in enumerate((source != PAD).sum(dim=1)):
        ends = torch.cat([encoded.memory[row, length - 1, :6], encoded.memory[row, 0, 6:]])
        assert_equal(encoded.summary[row], torch.tanh(ours.encoder.bridge(ends)))


def test_without_attention_only_the_last_state_reaches_the_decoder():
    ours = model(attention="none", is_bidirectional=False)
    source, target = batch()
    encoded = ours.encoder(source)
    wiped = type(encoded)(torch.zeros_like(encoded.memory), encoded.mask, encoded.state)
    assert ours.decoder(target, wiped)[0].equal(ours.decoder(target, encoded)[0])


@pytest.mark.parametrize("attention", ["none", "additive"])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_free_running_reads_its_own_words(attention, cell):
    ours = model(attention=attention, cell=cell)
    source, _ = batch()
    written = ours.translate(source, BOS, EOS, max_length=8)
    fed = torch.cat([torch.full((B, 1), BOS), written[:, :-1]], dim=1)
    best = ours(source, fed).argmax(dim=-1)
    for row in range(B):
        ends = (written[row] == EOS).nonzero()
        until = int(ends[0]) + 1 if len(ends) else written.shape[1]
        assert written[row, :until].tolist() == best[row, :until].tolist()
        assert set(written[row, until:].tolist()) <= {EOS}


def test_a_sentence_that_ends_early_does_not_stop_the_others():
    class Scripted(torch.nn.Module):
        """Writes 5 until its row's time has come, then EOS, then 7."""

        def forward(self, tokens, encoded, state):
            step = state[0][0, 0, 0]
            wanted = torch.where(step < torch.tensor([0.0, 2.0, 9.0]), 5, torch.where(step == 0, EOS, 7))
            wanted[1] = EOS if step == 2 else wanted[1]
            return nn.functional.one_hot(wanted, V_TARGET)[:, None].float(), (state[0] + 1,), None

    ours = model()
    ours.decoder = Scripted()
    ours.encoder.bridge.weight.data.zero_()
    ours.encoder.bridge.bias.data.zero_()
    source, _ = batch()
    assert ours.translate(source, BOS, EOS, max_length=4).tolist() == [
        [2, 2, 2, 2],
        [5, 5, 2, 2],
        [5, 5, 5, 5],
    ]


def test_alignment_of_a_model_without_attention_is_refused():
    with pytest.raises(ValueError, match="expected a model with attention, got attention='none'"):
        model(attention="none").alignment(*batch())


def test_a_source_of_nothing_but_padding_is_refused():
    source, target = batch()
    source[2] = PAD
    with pytest.raises(ValueError, match="at least one real token per sentence, got only padding in row 2"):
        model()(source, target)


def test_unknown_choices_are_refused_with_the_known_ones(as_students_run_it):
    with pytest.raises(
        ValueError, match="attention: expected one of none, dot, bilinear, additive, got 'cosine'"
    ):
        model(attention="cosine")
    with pytest.raises(ValueError, match="cell: expected one of gru, lstm, got 'rnn'"):
        model(cell="rnn")
    with pytest.raises(ValueError, match="summary: expected first_step or every_step, got 'never'"):
        model(summary="never")


def test_a_translation_of_no_length_is_refused():
    with pytest.raises(ValueError, match="max_length: expected at least 1 token, got 0"):
        model().translate(batch()[0], BOS, EOS, max_length=0)
