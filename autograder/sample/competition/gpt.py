"""A small Transformer, trained for about half of the budget."""

import time

import torch

from course.data.shuffling import ShuffledStories
from course.data.vocabulary import Batch
from course.models import GPT, GPTConfig
from course.training import TrainingConfig
from course.training import train as train_steps

VOCAB_SIZE, N_TRIED = 160, 5


def new_model():
    return GPT(
        GPTConfig(
            VOCAB_SIZE, 160, d_model=64, n_heads=4, n_layers=2, positions="rotary", initial_deviation=0.1
        )
    )


def train(tokens, mask, seconds):
    torch.manual_seed(0)
    model, batches = new_model(), ShuffledStories(Batch(tokens, mask), 32)
    begun = time.process_time()
    train_steps(model, batches, TrainingConfig(n_steps=N_TRIED), device="cpu")
    n_steps = int(0.5 * seconds / (time.process_time() - begun) * N_TRIED)
    train_steps(model, batches, TrainingConfig(n_steps=n_steps, learning_rate=3e-3), device="cpu")
    return {name: weight.detach() for name, weight in model.named_parameters()}


def log_probs(weights, tokens):
    model = new_model().eval()
    model.load_state_dict(weights)
    with torch.no_grad():
        return model(tokens)
