"""The figures that belong to the site's own pages, made from the recorded ladder."""

from __future__ import annotations

from typing import cast

import torch

from course.data.story_language import StoryLanguage
from course.figures import Figure, break_it, every_rung, walk
from course.ladder import RUNGS, read_recorded, recorded_models
from course.ladder.weights import SEED
from course.models import GPT

N_STORIES = 12  # read again after every change: enough for a tenth of a bit, few enough to be quick


def site_figures() -> dict[str, Figure]:
    """By name: every rung beside the true model, and the Transformer to break and to walk through."""
    language, models = StoryLanguage(), recorded_models()
    results = {result.title: result for result in read_recorded() if result.seed == SEED}
    bits = {title: results[title].bits_per_token for title in models}
    transformer = cast(GPT, models[RUNGS["gpt"].title])
    unseen = language.sample(N_STORIES, torch.Generator().manual_seed(0))
    return {
        "every_rung": every_rung(models, language, bits, results[RUNGS["gpt"].title].floor),
        "break_it": break_it(transformer, language, unseen),
        "walk": walk(transformer, language),
    }
