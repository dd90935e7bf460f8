"""Copy weights from PyTorch's layers into the course's, to show that both compute the same.

    copy_from_torch(Encoder(config), torch.nn.TransformerEncoder(…))

PyTorch stores the query, key and value matrices as one, numbers its norms, and says num_heads where we say
n_heads.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from course.models.layer_norm import LayerNorm
from course.models.multi_head_attention import MultiHeadAttention
from course.models.recurrent import RecurrentNetwork
from course.models.transformer import Decoder, DecoderLayer, Encoder, EncoderLayer

NAMES_IN_ENCODER = {
    "self_attn": "attention",
    "linear1": "feed_forward.expand",
    "linear2": "feed_forward.contract",
    "norm1": "norm_attention",
    "norm2": "norm_feed_forward",
}
NAMES_IN_DECODER = NAMES_IN_ENCODER | {
    "multihead_attn": "cross_attention",
    "norm2": "norm_cross_attention",
    "norm3": "norm_feed_forward",
}
Ours = LayerNorm | MultiHeadAttention | EncoderLayer | DecoderLayer | Encoder | Decoder | RecurrentNetwork


@torch.no_grad()
def copy_from_torch(ours: Ours, theirs: nn.Module) -> None:
    """Overwrite our weights with those of the torch.nn layer of the same sizes.

    Raises RuntimeError, naming them, for weights that one of the two lacks or whose shapes differ.
    """
    if isinstance(ours, RecurrentNetwork):
        ours.copy_from_torch(theirs)
        return
    names = NAMES_IN_DECODER if isinstance(ours, Decoder | DecoderLayer) else NAMES_IN_ENCODER
    found: dict[str, Tensor] = {}
    for name, weight in theirs.state_dict().items():
        found |= translate(name, weight, names, is_norm=isinstance(ours, LayerNorm))
    ours.load_state_dict(found)


def translate(their_name: str, weight: Tensor, names: dict[str, str], is_norm: bool) -> dict[str, Tensor]:
    """One of their tensors under our names; the stacked query, key and value matrices are split."""
    *path, part = their_name.split(".")
    path = [names.get(piece, piece) for piece in path]
    if part.startswith("in_proj_"):
        kind = part.removeprefix("in_proj_")
        pieces = zip(("W_query", "W_key", "W_value"), weight.chunk(3), strict=True)
        return {".".join([*path, own, kind]): piece for own, piece in pieces}
    path = [piece.replace("out_proj", "W_output") for piece in path]
    is_gain = part == "weight" and (is_norm or (bool(path) and path[-1].startswith("norm")))
    return {".".join([*path, "gain" if is_gain else part]): weight}
