"""Interactive figures for notebooks and static pages; each accepts the reader's own tensors."""

from course.figures.alignment import alignment
from course.figures.attention import attention
from course.figures.bottleneck import bottleneck
from course.figures.bpe import bpe
from course.figures.break_it import break_it
from course.figures.chain_rule import chain_rule
from course.figures.coding import coding
from course.figures.count_matrix import count_matrix
from course.figures.embedding import embedding
from course.figures.every_rung import every_rung
from course.figures.figure import Figure
from course.figures.fill_in import fill_in
from course.figures.gates import gates
from course.figures.gradient_strip import gradient_strip
from course.figures.guessing import guessing
from course.figures.imitation import imitation
from course.figures.kv_cache import kv_cache
from course.figures.ladder import ladder
from course.figures.ledger import ledger
from course.figures.machine import machine
from course.figures.microscope import microscope
from course.figures.myst import as_directive
from course.figures.optimizer_race import optimizer_race
from course.figures.position_dial import position_dial
from course.figures.prediction import prediction
from course.figures.rungs import rungs
from course.figures.sampling_bench import sampling_bench
from course.figures.still import Still, still
from course.figures.tape import tape
from course.figures.three_masks import three_masks
from course.figures.training_run import training_run
from course.figures.unrolled import unrolled
from course.figures.walk import walk
from course.figures.widget import as_widget

__all__ = [
    "Figure",
    "Still",
    "alignment",
    "as_directive",
    "as_widget",
    "attention",
    "bottleneck",
    "bpe",
    "break_it",
    "chain_rule",
    "coding",
    "count_matrix",
    "embedding",
    "every_rung",
    "fill_in",
    "gates",
    "gradient_strip",
    "guessing",
    "imitation",
    "kv_cache",
    "ladder",
    "ledger",
    "machine",
    "microscope",
    "optimizer_race",
    "position_dial",
    "prediction",
    "rungs",
    "sampling_bench",
    "still",
    "tape",
    "three_masks",
    "training_run",
    "unrolled",
    "walk",
]
