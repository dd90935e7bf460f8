"""Right losses, accuracies and labels, written another way."""

import torch
from torch.nn import functional

from autograder.catalogue import alternative


@alternative(of="labelling_loss")
def by_cross_entropy(logits, labels, pad_label):
    return functional.cross_entropy(logits.transpose(1, 2), labels, ignore_index=pad_label)


@alternative(of="labelling_loss")
def by_a_weighted_sum(logits, labels, pad_label):
    weights = (labels != pad_label).double()
    right = functional.one_hot(torch.where(labels == pad_label, 0, labels), logits.shape[-1])
    nats = logits.logsumexp(-1) - (logits * right).sum(-1)
    return torch.where(weights > 0, nats, 0.0).sum() / weights.sum()


@alternative(of="labelling_accuracy")
def by_counting(logits, labels, pad_label):
    right = counted = 0
    for says, label in zip(logits.argmax(-1).flatten().tolist(), labels.flatten().tolist(), strict=True):
        if label != pad_label:
            right, counted = right + (says == label), counted + 1
    return right / counted


@alternative(of="labels_of_pieces")
def by_first_places(word_labels, word_of_piece, pad_label):
    labels = torch.full((len(word_of_piece),), pad_label)
    for word in range(len(word_labels)):
        if word in word_of_piece:
            labels[word_of_piece.index(word)] = word_labels[word]
    return labels
