"""Right trainings that look nothing like the reference, and the fault found otherwise."""

from functools import cache
from random import Random

import torch
from torch.nn import functional

from autograder.catalogue import alternative
from course.data.translation_pair import TranslationConfig, translation_pairs, translation_vocabularies
from course.models.seq2seq import Seq2Seq, Seq2SeqConfig
from course.training import TrainingConfig, train
from course.translation_experiment.parallel_text import ShuffledPairs, parallel_text, teacher_forcing_loss


@alternative(of="trained_weights")
@cache
def with_the_course_s_trainer():
    task_config = TranslationConfig(min_length=5, max_length=9)
    pairs = translation_pairs(task_config, 8_000, Random(0))
    english, french = translation_vocabularies(task_config.lexicon)
    text = parallel_text([(pair.source, pair.target) for pair in pairs], english, french)
    config = Seq2SeqConfig(
        len(english), len(french), d_embedding=24, d_hidden=48, attention="additive", pad=english.pad
    )
    torch.manual_seed(5)
    model = Seq2Seq(config)
    training = TrainingConfig(n_steps=400, learning_rate=8e-3)
    train(model, ShuffledPairs(text, 64), training, loss=teacher_forcing_loss)
    return {name: weight.detach() for name, weight in model.state_dict().items()}


@alternative(of="name_the_fault")
def in_two_parts():
    return "_".join(["query_of", "the_old_state"])


def _small(weights):
    config = Seq2SeqConfig(
        6, 7, d_embedding=1, d_hidden=2, is_bidirectional=False, attention="additive", pad=0
    )
    model = Seq2Seq(config).double()
    model.load_state_dict(weights)
    return model


@alternative(of="weights_after")
def with_functional_gradients(weights, batches, learning_rate):
    for source, target in batches:
        model = _small(weights)
        log_probs = model(source, target[:, :-1])
        targets = torch.where(target[:, 1:] == 0, -100, target[:, 1:])
        loss = functional.nll_loss(log_probs.flatten(0, 1), targets.flatten())
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        length = torch.cat([gradient.flatten() for gradient in gradients]).norm()
        steps = learning_rate / length.clamp(min=1)
        names = [name for name, _ in model.named_parameters()]
        weights = {
            name: weights[name] - steps * gradient for name, gradient in zip(names, gradients, strict=True)
        }
    return weights
