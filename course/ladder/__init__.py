"""The ladder: every model of the course on the same stories, in bits per token, against the exact floor.

rungs      the models on the ladder, and how long each is trained
climb      train a rung and measure it
kinds      the distance from the floor for each kind of word
records    results as a table, as JSON and as a page of the documentation
weights    the recorded models: their weights on disk
own        any model among the recorded ones

    python -m course.ladder                         every rung, a table and a picture
    python -m course.ladder --rungs lstm gpt        some of them
    python -m course.ladder --seeds 0 1 2 --record docs
"""

from course.ladder.climb import Result, climb, climb_all
from course.ladder.own import NoLanguageModel, Standing, on_the_ladder
from course.ladder.records import as_table, read_recorded, summaries
from course.ladder.rungs import RUNGS, SCALES, Corpus, Rung, Scale
from course.ladder.weights import recorded_model, recorded_models

__all__ = [
    "RUNGS",
    "SCALES",
    "Corpus",
    "NoLanguageModel",
    "Result",
    "Rung",
    "Scale",
    "Standing",
    "as_table",
    "climb",
    "climb_all",
    "on_the_ladder",
    "read_recorded",
    "recorded_model",
    "recorded_models",
    "summaries",
]
