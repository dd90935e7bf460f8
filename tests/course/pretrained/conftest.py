"""One loaded SmolLM2 for all tests that need its weights, and the same file read by other libraries."""

import pytest
import tokenizers
import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from benchmarks.llama_in_transformers import sizes_in_transformers
from course.pretrained.gguf import read_gguf
from course.pretrained.predictions import loaded
from course.pretrained.smollm2 import INSTALL, is_installed, weights_path


@pytest.fixture(scope="session")
def smollm2():
    if not is_installed():
        pytest.skip(f"needs the weights of SmolLM2: {INSTALL}")
    return loaded()


@pytest.fixture(scope="session")
def fields(smollm2):
    """The fields of its file."""
    return read_gguf(weights_path()).fields


@pytest.fixture(scope="session")
def in_transformers(smollm2):
    """The model as transformers reads it from the same file, with the library gguf."""
    sizes = sizes_in_transformers(smollm2.model.config)
    with torch.device("meta"):
        empty = LlamaForCausalLM(LlamaConfig(**sizes))
    read = load_gguf_checkpoint(str(weights_path()), return_tensors=True, model_to_load=empty)
    assert {key: read["config"][key] for key in sizes} == sizes
    model = LlamaForCausalLM(LlamaConfig(**sizes))
    weights = {name: torch.as_tensor(weight) for name, weight in read["tensors"].items()}
    absent = model.load_state_dict(weights, strict=False)
    assert absent.missing_keys == ["lm_head.weight"]  # the embedding again
    assert absent.unexpected_keys == []
    return model.eval()


@pytest.fixture(scope="session")
def in_tokenizers(fields):
    """The tokenizer as the library builds it from the file's tokens and merges."""
    words = fields["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in fields["tokenizer.ggml.merges"]]
    model = tokenizers.models.BPE({word: token for token, word in enumerate(words)}, merges)
    theirs = tokenizers.Tokenizer(model)
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Digits(individual_digits=True),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    theirs.decoder = tokenizers.decoders.ByteLevel()
    kinds = fields["tokenizer.ggml.token_type"]
    special = [word for word, kind in zip(words, kinds, strict=True) if kind == 3]
    theirs.add_special_tokens([tokenizers.AddedToken(word, special=True) for word in special])
    return PreTrainedTokenizerFast(
        tokenizer_object=theirs, chat_template=fields["tokenizer.chat_template"], eos_token="<|im_end|>"
    )
