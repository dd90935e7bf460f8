"""BERT and its heads against `transformers` from the same checkpoint, padding and segments included."""

import pytest
import torch
from model_equality import assert_equal, assert_equal_gradients
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)

from course.models import (
    BERT,
    BERTConfig,
    MaskedLanguageModel,
    SequenceClassifier,
    SpanFinder,
    Tagger,
    bert_config,
    load_weights,
)

V, T, B, N_LABELS = 31, 11, 3, 4

HEADS = {
    "masked tokens": (BertForMaskedLM, MaskedLanguageModel, lambda answer: answer.logits),
    "masked tokens, pre-trained": (
        BertForPreTraining,
        MaskedLanguageModel,
        lambda answer: answer.prediction_logits,
    ),
    "sequence": (
        BertForSequenceClassification,
        lambda config: SequenceClassifier(config, N_LABELS),
        lambda answer: answer.logits,
    ),
    "tokens": (
        BertForTokenClassification,
        lambda config: Tagger(config, N_LABELS),
        lambda answer: answer.logits,
    ),
    "span": (
        BertForQuestionAnswering,
        SpanFinder,
        lambda answer: torch.stack([answer.start_logits, answer.end_logits]),
    ),
    "none": (BertModel, BERT, lambda answer: answer.last_hidden_state),
}


def sizes(n_labels):
    return BertConfig(
        vocab_size=V,
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=20,
        max_position_embeddings=16,
        num_labels=n_labels,
    )


def batch():
    tokens = torch.randint(1, V, (B, T))  # without 0, whose embedding they exclude from training
    mask = torch.arange(T) < torch.tensor([T, 4, 7])[:, None]
    return tokens, mask, torch.randint(2, (B, T))


@pytest.mark.parametrize("head", HEADS)
def test_every_head_equals_transformers_in_value_and_gradient(precision, tmp_path, head):
    their_kind, our_kind, answer_of = HEADS[head]
    theirs = their_kind(sizes(2 if head == "span" else N_LABELS)).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    theirs.save_pretrained(tmp_path)
    ours = load_weights(our_kind(bert_config(tmp_path)), tmp_path).eval()
    tokens, mask, segments = batch()
    output = ours(tokens, mask, segments)
    output = torch.stack(output) if isinstance(output, tuple) else output
    expected = answer_of(theirs(tokens, attention_mask=mask.long(), token_type_ids=segments))
    assert_equal(output, expected)
    own_bert = ours if head == "none" else ours.bert
    their_bert = theirs if head == "none" else theirs.bert
    assert_equal_gradients(
        output,
        [own_bert.embedding.weight, own_bert.encoder.layers[0].attention.W_key.weight],
        expected,
        [their_bert.embeddings.word_embeddings.weight, their_bert.encoder.layer[0].attention.self.key.weight],
    )


def small(is_fused=True):
    return BERTConfig(V, 16, d_model=24, n_heads=3, n_layers=2, d_ff=20, is_fused=is_fused)


@pytest.mark.parametrize("is_fused", [False, True])
def test_padding_does_not_change_real_tokens(is_fused):
    model = BERT(small(is_fused))
    tokens, mask, segments = batch()
    changed = torch.where(mask, tokens, (tokens + 1) % V)
    assert_equal(model(changed, mask, segments)[mask], model(tokens, mask, segments)[mask])
    alone = model(tokens[1:2, :4], None, segments[1:2, :4])
    assert_equal(model(tokens, mask, segments)[1:2, :4], alone)


def test_both_sides_of_a_token_matter():
    model = BERT(small())
    tokens, _, _ = batch()
    for position in (2, 8):
        changed = tokens.clone()
        changed[:, position] = (tokens[:, position] + 1) % V
        assert (model(changed) - model(tokens))[:, 5].abs().max() > 1e-4


def test_segments_and_positions_matter():
    model = BERT(small())
    tokens, _, _ = batch()
    assert not model(tokens, segments=torch.ones_like(tokens)).equal(model(tokens))
    assert (model(tokens.flip(1)).flip(1) - model(tokens)).abs().max() > 1e-3


def test_fine_tuning_may_start_with_a_fresh_head_but_must_say_so(tmp_path):
    pretrained = BertForMaskedLM(sizes(N_LABELS))
    pretrained.save_pretrained(tmp_path)
    tagger = load_weights(Tagger(bert_config(tmp_path), N_LABELS), tmp_path, fresh=("output",))
    assert tagger.bert.embedding.weight.equal(pretrained.bert.embeddings.word_embeddings.weight)
    with pytest.raises(ValueError, match=r"expected weights for output.weight, output.bias, got none"):
        load_weights(Tagger(bert_config(tmp_path), N_LABELS), tmp_path)


def test_a_mask_or_segments_of_a_wrong_shape_are_refused(as_students_run_it):
    tokens, mask, segments = batch()
    with pytest.raises(ValueError, match=r"mask: expected \(3, 11\) \(B, T\), got \(3, 10\)"):
        BERT(small())(tokens, mask[:, 1:])
    with pytest.raises(ValueError, match=r"segments: expected \(3, 11\) \(B, T\), got \(2, 11\)"):
        BERT(small())(tokens, mask, segments[1:])


def test_a_sequence_of_nothing_but_padding_is_refused():
    tokens, mask, _ = batch()
    mask[1] = False
    with pytest.raises(ValueError, match="expected at least one True per query, got a row without any"):
        BERT(small())(tokens, mask)


def test_segments_and_lengths_outside_the_sizes_are_refused():
    tokens, _, _ = batch()
    with pytest.raises(ValueError, match="segments: expected values in 0 … 1, got 2"):
        BERT(small())(tokens, segments=torch.full_like(tokens, 2))
    with pytest.raises(ValueError, match="expected at most 16 positions, got T = 17"):
        BERT(small())(torch.zeros(1, 17, dtype=torch.int64))
