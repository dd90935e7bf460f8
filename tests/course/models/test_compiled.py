"""torch.compile sees a network whole: a break in its graph would stop every training step on a GPU."""

import subprocess
import sys

# In a process of its own, as the tests let every call's shapes be checked, which is no part of the graph.
PROGRAM = """
import torch
from torch import _dynamo

from course.models import GPT, GPTConfig
from course.training import next_token_loss

model = GPT(GPTConfig(vocab_size=11, context_length=7, d_model=12, n_heads=3, n_layers=2))
tokens = torch.randint(11, (2, 7))
loss = lambda inputs, targets: next_token_loss(model, (inputs, targets))
explained = _dynamo.explain(loss)(tokens[:, :-1], tokens[:, 1:])
print(explained.graph_count, explained.graph_break_count)
"""


def test_a_gpt_and_its_loss_are_one_graph():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "0"]
