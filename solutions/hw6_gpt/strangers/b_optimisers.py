"""Optimisers that the checks once let pass."""

from autograder.proving.strangers import stranger

from ..notebook import adamw_weights, train_steps


@stranger(of="adamw_weights")
def first_of_a_group_alone(weights, gradients, rates, betas, eps, weight_decay):
    after = adamw_weights(weights, gradients, rates, betas, eps, weight_decay)
    return after | {name: weights[name] for name in list(weights)[1:2]}


@stranger(of="train_steps")
def clipped_at_one(table, batches, learning_rate, max_norm):
    return train_steps(table, batches, learning_rate, max_norm=1.0)
