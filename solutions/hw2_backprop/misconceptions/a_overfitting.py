"""What goes wrong when a single batch is learned by heart."""

import torch
from torch.nn import functional

from autograder.catalogue import misconception

from ..notebook import DroppingLayer

# 8. overfit_one_batch


def _losses(arguments, *, is_zeroed=True, is_training=True, is_measured_in_training=False, sign=1):
    weight, features, targets, learning_rate, n_steps = arguments
    model = DroppingLayer(weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, maximize=sign < 0)

    def measured():
        return functional.cross_entropy(model.train(is_measured_in_training)(features), targets).detach()

    losses = [measured()]
    for _ in range(n_steps):
        model.train(is_training)
        if is_zeroed:
            optimizer.zero_grad()
        functional.cross_entropy(model(features), targets).backward()
        optimizer.step()
        losses.append(measured())
    return torch.stack(losses)


@misconception(
    of="overfit_one_batch",
    seen="https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/guide3/Debugging_PyTorch.html",
)
def gradients_never_zeroed(weight, features, targets, learning_rate, n_steps):
    """The gradients are never set back, so each step adds those of all steps before.

    Print `.grad` after the first and after the second `backward()` with a learning rate of 0. Why did it
    double?
    """
    return _losses((weight, features, targets, learning_rate, n_steps), is_zeroed=False)


@misconception(
    of="overfit_one_batch",
    seen="https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/guide3/Debugging_PyTorch.html",
)
def evaluation_mode_left_on(weight, features, targets, learning_rate, n_steps):
    """After the first measurement the model stays in evaluation mode, so no feature is ever dropped.

    Print `model.training` right before your `backward()`, in every round. Who puts the model back into
    training mode?
    """
    return _losses((weight, features, targets, learning_rate, n_steps), is_training=False)


@misconception(of="overfit_one_batch")
def training_mode_set_once(weight, features, targets, learning_rate, n_steps):
    """Only the first step is taken in training mode: the measurement after it leaves evaluation mode on.

    Print `model.training` right before your `backward()`, in the first and in the second round. Which line
    changed it in between?
    """
    model = DroppingLayer(weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    losses = []
    for step in range(n_steps + 1):
        losses.append(functional.cross_entropy(model.eval()(features), targets).detach())
        if step < n_steps:
            optimizer.zero_grad()
            functional.cross_entropy(model.train(step == 0)(features), targets).backward()
            optimizer.step()
    return torch.stack(losses)


@misconception(of="overfit_one_batch")
def measured_in_training_mode(weight, features, targets, learning_rate, n_steps):
    """The losses are measured in training mode, with every second feature dropped.

    Which features does the model see while you measure? Which would it see at inference?
    """
    return _losses((weight, features, targets, learning_rate, n_steps), is_measured_in_training=True)


@misconception(of="overfit_one_batch")
def uphill(weight, features, targets, learning_rate, n_steps):
    """The steps go up the gradient, so the loss grows.

    In which direction does the gradient point, and which sign stands before it in the formula of the step?
    """
    return _losses((weight, features, targets, learning_rate, n_steps), sign=-1)


@misconception(of="overfit_one_batch")
def loss_before_any_step_left_out(weight, features, targets, learning_rate, n_steps):
    """The loss before the first step is missing: there are as many losses as steps.

    With no step at all, how many losses does the statement want, and how many do you return?
    """
    return _losses((weight, features, targets, learning_rate, n_steps))[1:]


@misconception(of="overfit_one_batch")
def steps_down_the_summed_loss(weight, features, targets, learning_rate, n_steps):
    """The steps go down the sum of the losses, so they are B times as long.

    What happens to your first step when every row of the batch is there twice?
    """
    return _losses((weight, features, targets, learning_rate * len(features), n_steps))


@misconception(of="overfit_one_batch")
def nothing_learned(weight, features, targets, learning_rate, n_steps):
    """All losses are the same, as when no step moves the weights.

    Print the weights and `.grad` right after the step. In which order do `zero_grad`, `backward` and the step
    come, and which weights do you measure?
    """
    return _losses((weight, features, targets, 0.0, n_steps))


@misconception(of="overfit_one_batch")
def loss_after_the_last_step_left_out(weight, features, targets, learning_rate, n_steps):
    """The loss after the last step is missing: there are as many losses as steps.

    With no step at all, how many losses does the statement want, and how many do you return?
    """
    return _losses((weight, features, targets, learning_rate, n_steps))[:-1]
