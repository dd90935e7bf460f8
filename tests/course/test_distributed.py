"""Two processes that share every batch train the model that one process trains alone."""

import json
import os
import socket
import subprocess
import sys

import pytest
import torch

from course.distributed import Share, WeightedLoss, is_first, is_joined, join
from course.training import TrainingConfig, train

PROGRAM = """
import json, sys, torch
from course.distributed import is_first, join, leave
from course.training import TrainingConfig, train
from tests.course.test_distributed import make_batch, make_model

torch.set_num_threads(1)
device = join() or "cpu"
model = make_model()
history = train(model, make_batch, TrainingConfig(n_steps=6, learning_rate=1e-2), device=device)
if is_first():
    weights = {name: parameter.tolist() for name, parameter in model.named_parameters()}
    print(json.dumps([history.losses, history.gradient_norms, weights]))
leave()
"""


class Bigram(torch.nn.Module):
    """Log-probabilities of the next token after each token."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(7, 5)
        self.output = torch.nn.Linear(5, 7)

    def forward(self, tokens):
        return self.output(self.embedding(tokens)).log_softmax(-1)


def make_model():
    torch.manual_seed(0)
    return Bigram().double()


def make_batch(step):
    """Six rows of nine tokens with as many real ones as the row says, so that shares count differently."""
    generator = torch.Generator().manual_seed(step)
    tokens = torch.randint(7, (6, 10), generator=generator)
    lengths = torch.randint(1, 10, (6, 1), generator=generator)
    return tokens[:, :-1], tokens[:, 1:], torch.arange(9) < lengths


def in_processes(count):
    """What the program prints when torchrun starts it `count` times; 1 starts it without."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launch = [
        "-m",
        "torch.distributed.run",
        f"--nproc-per-node={count}",
        f"--master-port={port}",
        "--no-python",
    ]
    start = [] if count == 1 else [*launch, sys.executable]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.getcwd()}
    done = subprocess.run(
        [sys.executable, *start, "-c", PROGRAM], capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_two_processes_train_what_one_trains():
    alone, together = in_processes(1), in_processes(2)
    for one, two in zip(alone[:2], together[:2], strict=True):
        torch.testing.assert_close(torch.tensor(two), torch.tensor(one), rtol=1e-6, atol=1e-9)
    for name, weights in alone[2].items():
        torch.testing.assert_close(
            torch.tensor(together[2][name]), torch.tensor(weights), rtol=1e-5, atol=1e-7
        )


def test_shares_hold_every_row_once_and_their_weights_average_to_one():
    shares = [Share(make_batch, rank, 4)(0) for rank in range(4)]
    whole = make_batch(0)
    assert sorted(len(share[0]) for share in shares) == [1, 1, 2, 2]
    rows = torch.cat([share[0] for share in shares])
    assert sorted(rows.tolist()) == sorted(whole[0].tolist())
    assert sum(share[-1].item() for share in shares) == pytest.approx(4)


def test_the_mean_of_the_weighted_losses_is_the_loss_of_the_batch():
    from course.training import next_token_loss

    model = make_model()
    losses = [WeightedLoss(next_token_loss)(model, Share(make_batch, rank, 2)(3)) for rank in range(2)]
    assert sum(losses).item() / 2 == pytest.approx(next_token_loss(model, make_batch(3)).item(), rel=1e-6)


def test_a_batch_with_too_few_rows_is_refused():
    with pytest.raises(ValueError, match="a row for each of 8 processes, got 6"):
        Share(make_batch, 0, 8)(0)


def test_alone_nothing_is_joined(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    assert join() is None
    assert not is_joined()
    assert is_first()


def test_a_compiled_model_trains_as_the_model_itself():
    plain, compiled = make_model(), make_model()
    first = train(plain, make_batch, TrainingConfig(n_steps=3), device="cpu")
    again = train(compiled, make_batch, TrainingConfig(n_steps=3, is_compiled=True), device="cpu")
    torch.testing.assert_close(torch.tensor(first.losses), torch.tensor(again.losses))
