"""Training steps a second of the ladder's networks: `python benchmarks/training_steps.py`.

On a GPU each network is trained in two ways, its steps replayed from a CUDA graph and run as they are written
(see course/captured.py), and the two take turns. On a CPU there is only the second way.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace

import torch

from course.data.shuffling import ShuffledStories
from course.ladder import RUNGS, SCALES, Corpus
from course.training import Batches, Training, best_device, next_token_loss, ready

TRAINED = [name for name, rung in RUNGS.items() if rung.training is not None]
Trainee = tuple[Training, Batches]


def trainee(name: str, corpus: Corpus, device: torch.device, is_captured: bool) -> Trainee:
    """A network of the ladder at the default scale, ready to train, and its batches."""
    rung = RUNGS[name]
    torch.manual_seed(0)
    config = replace(rung.training, is_captured=is_captured)
    training = Training(rung.build(corpus, 1.0), config, next_token_loss, device)
    return training, ready(ShuffledStories(corpus.train, rung.batch_size), training)


def steps_per_second(who: Trainee, n_steps: int) -> float:
    """The speed of the next steps, until their losses are read."""
    training, batches = who
    first, began = training.n_steps_taken, time.perf_counter()
    for step in range(first, first + n_steps):
        training.take_step(batches(step))
    training.read()
    return n_steps / (time.perf_counter() - began)


def main() -> None:
    device = best_device()
    on_cuda = device.type == "cuda"
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rungs", nargs="+", choices=TRAINED, default=TRAINED, metavar="RUNG")
    parser.add_argument("--steps", type=int, default=200 if on_cuda else 20, help="in each round")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    card = torch.cuda.get_device_name() if on_cuda else f"CPU, {torch.get_num_threads()} thread(s)"
    print(f"{card}, PyTorch {torch.__version__}; steps a second, median of {options.rounds} rounds")
    print(f"{'':<16}{'as written':>12}{'replayed':>12}{'ratio':>8}")
    corpus = Corpus(replace(SCALES["default"], n_train_stories=5000), seed=0)
    for name in options.rungs:
        ways = (False, True) if on_cuda else (False,)
        trainees = [trainee(name, corpus, device, is_captured) for is_captured in ways]
        for who in trainees:
            steps_per_second(who, options.steps)  # shapes are recorded, libraries set themselves up
        rounds = [[steps_per_second(who, options.steps) for who in trainees] for _ in range(options.rounds)]
        medians = [statistics.median(speeds) for speeds in zip(*rounds, strict=True)]
        others = f"{medians[1]:>12.1f}{medians[1] / medians[0]:>8.2f}" if on_cuda else f"{'–':>12}{'–':>8}"
        print(f"{RUNGS[name].title:<16}{medians[0]:>12.1f}{others}", flush=True)
    if not on_cuda:
        print("On a GPU: not measured.")


if __name__ == "__main__":
    main()
