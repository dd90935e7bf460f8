"""Our reader against the library gguf, which writes the files here and dequantises them itself."""

import gguf
import numpy as np
import pytest
import torch

from course.pretrained.gguf import GGUFError, read_gguf

KINDS = {
    "Q8_0": gguf.GGMLQuantizationType.Q8_0,
    "Q4_1": gguf.GGMLQuantizationType.Q4_1,
    "F32": gguf.GGMLQuantizationType.F32,
    "F16": gguf.GGMLQuantizationType.F16,
}


def weights_of_many_sizes():
    return np.random.default_rng(0).normal(size=(5, 96)).astype(np.float32) * np.logspace(-6, 3, 5)[:, None]


def written(path, tensors, alignment=None):
    writer = gguf.GGUFWriter(path, "llama")
    if alignment:
        writer.add_custom_alignment(alignment)
    writer.add_block_count(3)
    writer.add_rope_freq_base(1e5)
    writer.add_bool("is_true", True)
    writer.add_token_list(["a", "Ġé", "🙂"])
    writer.add_token_types([1, 3, 1])
    for name, (data, kind) in tensors.items():
        writer.add_tensor(name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def quantised():
    weights = weights_of_many_sizes().astype(np.float32)
    return {name: (gguf.quants.quantize(weights, kind), kind) for name, kind in KINDS.items()}


@pytest.mark.parametrize("alignment", [None, 256])
def test_tensors_of_every_format_are_bit_for_bit_those_of_the_library(tmp_path, quantised, alignment):
    file = read_gguf(written(tmp_path / "model.gguf", quantised, alignment))
    assert set(file.entries) == set(KINDS)
    for name, (data, kind) in quantised.items():
        theirs = torch.from_numpy(np.array(gguf.quants.dequantize(data, kind)))
        assert file.tensor(name).equal(theirs), name


def test_a_quantised_weight_is_at_most_half_a_step_from_its_own(tmp_path):
    """In a block of Q4_1, 16 levels lie between the smallest and the largest weight."""
    weights = np.random.default_rng(1).uniform(-1, 1, size=(4, 32)).astype(np.float32)
    kind = KINDS["Q4_1"]
    file = read_gguf(written(tmp_path / "m.gguf", {"w": (gguf.quants.quantize(weights, kind), kind)}))
    steps = (weights.max(axis=1) - weights.min(axis=1)) / 15
    error = np.abs(file.tensor("w").numpy() - weights).max(axis=1)
    assert (error <= steps / 2 + 2e-3).all()  # scale and minimum are themselves rounded to half precision


def test_fields_of_every_type_are_read(tmp_path, quantised):
    fields = read_gguf(written(tmp_path / "model.gguf", quantised)).fields
    assert fields["general.architecture"] == "llama"
    assert fields["llama.block_count"] == 3
    assert fields["llama.rope.freq_base"] == 1e5
    assert fields["is_true"] is True
    assert fields["tokenizer.ggml.tokens"] == ["a", "Ġé", "🙂"]
    assert fields["tokenizer.ggml.token_type"] == [1, 3, 1]


def test_a_file_that_is_not_gguf_is_refused(tmp_path):
    (tmp_path / "x").write_bytes(b"PK\x03\x04" + bytes(40))
    with pytest.raises(GGUFError, match="expected the beginning of GGUF version 3"):
        read_gguf(tmp_path / "x")


def test_a_file_that_ends_within_its_tables_is_refused(tmp_path, quantised):
    whole = written(tmp_path / "model.gguf", quantised).read_bytes()
    (tmp_path / "half").write_bytes(whole[:100])
    with pytest.raises(GGUFError, match="got a file of 100"):
        read_gguf(tmp_path / "half")


def test_a_quantisation_that_is_not_known_is_named_when_its_tensor_is_asked_for(tmp_path):
    kind = gguf.GGMLQuantizationType.Q5_0
    data = gguf.quants.quantize(np.ones((1, 32), dtype=np.float32), kind)
    file = read_gguf(written(tmp_path / "model.gguf", {"w": (data, kind)}))
    with pytest.raises(GGUFError, match=f"w: expected a quantisation among 0, 1, 3, 8, got number {kind}"):
        file.tensor("w")
