"""Choosing the next token: every method of the course, `logits (…, V), history (…, T) → logits (…, V)`.

temperatures: temperature, dynamic temperature, quadratic (smooth) sampling
filters: top-k, top-p, min-p, top-a, top-n-sigma, epsilon cutoff, XTC
entropy_filters: eta cutoff, locally typical, tail-free, top-h
penalties: presence, frequency, repetition, DRY, no repeated n-grams
pipeline: several samplers in a stated order, and a report of what each one removed
mirostat: a controller with a state, versions 1 and 2
generation: greedy decoding and sampling
padded_prompts: prompts of unequal lengths in one batch
beam_search and contrastive_search: search instead of random draws
"""

from course.sampling.beam_search import Hypothesis, beam_search
from course.sampling.contrastive_search import contrastive_search
from course.sampling.distribution import entropy
from course.sampling.entropy_filters import eta_cutoff, locally_typical, tail_free, top_h
from course.sampling.filters import epsilon_cutoff, min_p, top_a, top_k, top_n_sigma, top_p, xtc
from course.sampling.generation import generate, greedy, stream, without_ending
from course.sampling.mirostat import Mirostat, at_most_surprise, first_mu, next_mu, zipf_top_k
from course.sampling.next_token import most_probable, sample_next_token
from course.sampling.padded_prompts import IgnorePadding, pad_prompts
from course.sampling.penalties import (
    dry,
    frequency_penalty,
    no_repeat_ngram,
    presence_penalty,
    repetition_penalty,
)
from course.sampling.pipeline import Pipeline, Sampler, StepReport
from course.sampling.temperatures import dynamic_temperature, quadratic, temperature

__all__ = [
    "Hypothesis",
    "IgnorePadding",
    "Mirostat",
    "Pipeline",
    "Sampler",
    "StepReport",
    "at_most_surprise",
    "beam_search",
    "contrastive_search",
    "dry",
    "dynamic_temperature",
    "entropy",
    "epsilon_cutoff",
    "eta_cutoff",
    "first_mu",
    "frequency_penalty",
    "generate",
    "greedy",
    "locally_typical",
    "min_p",
    "most_probable",
    "next_mu",
    "no_repeat_ngram",
    "pad_prompts",
    "presence_penalty",
    "quadratic",
    "repetition_penalty",
    "sample_next_token",
    "stream",
    "tail_free",
    "temperature",
    "top_a",
    "top_h",
    "top_k",
    "top_n_sigma",
    "top_p",
    "without_ending",
    "xtc",
    "zipf_top_k",
]
