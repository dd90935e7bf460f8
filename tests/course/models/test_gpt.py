"""GPT against `transformers` GPT-2 from the same checkpoint, with padding and with a cache."""

import pytest
import torch
from model_equality import assert_equal, gradients
from transformers import GPT2Config, GPT2LMHeadModel

from course.models import GPT, GPTConfig, gpt_config, load_weights

V, T, B = 31, 11, 3


@pytest.fixture(params=[True, False], ids=["fused", "own lines"])
def pair(request, precision, tmp_path):
    """Ours and theirs, with biases that are not zero, from one checkpoint."""
    sizes = GPT2Config(
        vocab_size=V,
        n_positions=16,
        n_embd=24,
        n_head=3,
        n_layer=2,
        n_inner=40,
        bos_token_id=0,
        eos_token_id=0,
    )
    theirs = GPT2LMHeadModel(sizes).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    theirs.save_pretrained(tmp_path)
    config = gpt_config(tmp_path)
    ours = GPT(GPTConfig(**{**vars(config), "is_fused": request.param}))
    return load_weights(ours, tmp_path).eval(), theirs


def test_logits_and_gradients_equal_transformers(pair):
    ours, theirs = pair
    tokens = torch.randint(V, (B, T))
    logits, expected = ours.logits(tokens), theirs(tokens).logits
    assert_equal(logits, expected)
    assert_equal(ours(tokens), expected.log_softmax(dim=-1))
    block, their_block = ours.blocks[0], theirs.transformer.h[0]
    received = gradients(
        logits, ours.embedding.weight, ours.positions.embedding.weight, block.feed_forward.expand.weight
    )
    wanted = gradients(
        expected, theirs.transformer.wte.weight, theirs.transformer.wpe.weight, their_block.mlp.c_fc.weight
    )
    assert_equal(received[0], wanted[0])
    assert_equal(received[1], wanted[1])
    assert_equal(received[2], wanted[2].T)  # they keep matrices as (inputs, outputs)


def test_right_padding_equals_transformers_at_real_tokens(pair):
    ours, theirs = pair
    tokens = torch.randint(V, (B, T))
    mask = torch.arange(T) < torch.tensor([T, 4, 7])[:, None]
    expected = theirs(tokens, attention_mask=mask.long()).logits
    assert_equal(ours.logits(tokens, mask=mask)[mask], expected[mask])


def test_left_padding_equals_transformers_at_real_tokens(pair):
    ours, theirs = pair
    tokens = torch.randint(V, (B, T))
    mask = torch.arange(T) >= torch.tensor([0, 4, 7])[:, None]
    positions = torch.arange(T).expand(B, T)
    expected = theirs(tokens, attention_mask=mask.long(), position_ids=positions).logits
    assert_equal(ours.logits(tokens, mask=mask)[mask], expected[mask])


def test_decoding_with_a_cache_equals_transformers_with_its_cache(pair):
    ours, theirs = pair
    tokens = torch.randint(V, (B, T))
    cache, their_cache = ours.new_cache(), None
    for piece in tokens.split([4, 1, 1, 3, 2], dim=1):
        answer = theirs(piece, past_key_values=their_cache, use_cache=True)
        their_cache = answer.past_key_values
        assert_equal(ours.logits(piece, cache), answer.logits)
    assert cache.length == T


def test_decoding_with_a_cache_and_padding_equals_decoding_at_once(pair):
    ours, _ = pair
    tokens = torch.randint(V, (B, T))
    mask = torch.arange(T) >= torch.tensor([0, 4, 2])[:, None]
    cache = ours.new_cache()
    pieces = [ours.logits(tokens[:, a:b], cache, mask[:, :b]) for a, b in ((0, 6), (6, 7), (7, T))]
    assert_equal(torch.cat(pieces, dim=1)[mask], ours.logits(tokens, mask=mask)[mask])


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary", "relative", "none"])
@pytest.mark.parametrize("is_fused", [False, True])
def test_with_every_kind_of_positions_cached_equals_uncached(precision, positions, is_fused):
    model = GPT(GPTConfig(V, 16, d_model=12, n_heads=3, n_layers=2, positions=positions, is_fused=is_fused))
    torch.nn.init.normal_(model.embedding.weight)
    if positions == "relative":
        torch.nn.init.normal_(model.blocks[0].attention.position_bias.bias)
    tokens = torch.randint(V, (B, T))
    cache = model.new_cache()
    steps = [model.logits(tokens[:, t : t + 1], cache) for t in range(T)]
    assert_equal(torch.cat(steps, dim=1), model.logits(tokens))


def test_beams_continue_from_a_cache_of_their_own():
    model = GPT(GPTConfig(V, 16, d_model=12, n_heads=3, n_layers=2))
    tokens = torch.randint(V, (2, 5))
    cache = model.new_cache()
    model(tokens, cache)
    beams = cache.select(torch.tensor([1, 1, 0]))
    continuations = torch.tensor([[3], [4], [5]])
    expected = model(torch.cat([tokens[[1, 1, 0]], continuations], dim=1))[:, -1:]
    assert_equal(model(continuations, beams), expected)
    assert cache.length == 5


def test_the_output_matrix_is_the_embedding_not_a_copy():
    model = GPT(GPTConfig(V, 16, d_model=12, n_heads=3, n_layers=2))
    tokens = torch.randint(V, (2, 5))
    before = model.logits(tokens)
    with torch.no_grad():
        model.norm.bias.fill_(1.0)
        model.embedding.weight[7] += 100.0
    changed = model.logits(torch.where(tokens == 7, 8, tokens))
    assert (changed[..., 7] - before[..., 7]).abs().min() > 10
    assert (
        len([name for name, _ in model.named_parameters() if "embedding" in name]) == 2
    )  # tokens, positions


def test_what_joins_the_residual_stream_starts_smaller():
    model = GPT(GPTConfig(V, 16, d_model=64, n_heads=4, n_layers=8))
    block = model.blocks[3]
    assert block.attention.W_query.weight.std().item() == pytest.approx(0.02, rel=0.1)
    assert block.attention.W_output.weight.std().item() == pytest.approx(0.02 / 4, rel=0.1)
    assert block.feed_forward.contract.weight.std().item() == pytest.approx(0.02 / 4, rel=0.1)
    assert block.feed_forward.expand.bias.abs().max() == 0


def test_the_initial_deviation_is_that_of_the_configuration():
    sizes = {"vocab_size": 500, "context_length": 20, "d_model": 60, "n_heads": 3, "n_layers": 2}
    for deviation in (0.02, 0.125):
        gpt = GPT(GPTConfig(**sizes, initial_deviation=deviation))
        assert gpt.embedding.weight.std().item() == pytest.approx(deviation, rel=0.02)
        residual = gpt.blocks[1].feed_forward.contract.weight
        assert residual.std().item() == pytest.approx(deviation / 2, rel=0.05)  # √(2 · 2 layers)


def test_more_tokens_than_the_context_length_are_refused():
    model = GPT(GPTConfig(V, 8, d_model=12, n_heads=3, n_layers=1))
    with pytest.raises(ValueError, match="tokens: expected at most 8 positions, got T = 9"):
        model(torch.zeros(1, 9, dtype=torch.int64))


def test_remembered_tokens_count_towards_the_context_length():
    model = GPT(GPTConfig(V, 8, d_model=12, n_heads=3, n_layers=1))
    cache = model.new_cache()
    model(torch.zeros(1, 7, dtype=torch.int64), cache)
    with pytest.raises(ValueError, match="at most 8 positions, got T = 2 after 7 cached ones"):
        model(torch.zeros(1, 2, dtype=torch.int64), cache)


def test_a_mask_that_forgets_the_remembered_tokens_is_refused():
    model = GPT(GPTConfig(V, 8, d_model=12, n_heads=3, n_layers=1))
    cache, tokens = model.new_cache(), torch.zeros(1, 3, dtype=torch.int64)
    model(tokens, cache)
    with pytest.raises(ValueError, match=r"mask: expected 6 keys \(cached and new\), got 3"):
        model(tokens, cache, torch.ones(1, 3, dtype=torch.bool))


def test_a_sequence_of_nothing_but_padding_is_refused():
    model = GPT(GPTConfig(V, 8, d_model=12, n_heads=3, n_layers=1))
    mask = torch.tensor([[True, True], [False, False]])
    with pytest.raises(ValueError, match="at least one real token per sequence, got only padding in row 1"):
        model(torch.zeros(2, 2, dtype=torch.int64), mask=mask)


def test_unknown_positions_are_refused_with_the_known_ones(as_students_run_it):
    with pytest.raises(
        ValueError, match="expected one of learned, sinusoidal, rotary, relative, none, got 'alibi'"
    ):
        GPTConfig(positions="alibi")
