"""The attention weights inside a model: those of every multi-head attention, for one call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from course.models.multi_head_attention import MultiHeadAttention


@contextmanager
def attention_maps(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Collect the weights (B, H, queries, keys) of every multi-head attention while the model is called.

    `with attention_maps(gpt) as maps: gpt(tokens)` → {"blocks.0.attention": …, "blocks.1.attention": …}
    The weights are computed in addition to the model's own output, so the model may use a fused kernel. A
    call that continues from a cache raises ValueError, because its queries do not cover the whole text.
    """
    maps: dict[str, Tensor] = {}

    def watch(name: str, attention: MultiHeadAttention) -> nn.modules.module.RemovableHandle:
        def remember(module: MultiHeadAttention, arguments: tuple, keywords: dict) -> None:
            if len(arguments) == 6:
                *inputs, cache = arguments
            else:
                inputs, cache = [*arguments], keywords.pop("cache", None)
            if cache is not None:
                raise ValueError("attention_maps: expected a call without a cache, got one with a cache")
            maps[name] = module.weights(*inputs, **keywords)

        return attention.register_forward_pre_hook(remember, with_kwargs=True)

    handles = [
        watch(name, module)
        for name, module in model.named_modules()
        if isinstance(module, MultiHeadAttention)
    ]
    try:
        yield maps
    finally:
        for handle in handles:
            handle.remove()
