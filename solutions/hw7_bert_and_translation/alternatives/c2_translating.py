"""Right losses, translations and marks (homework 7, part C) that look unlike the reference."""

import torch

from autograder.catalogue import alternative

from ..notebook import ToyTranslator


@alternative(of="translation_loss")
def by_picking_real_words(logits, target, pad):
    is_real = target[:, 1:] != pad
    log_probs = torch.log_softmax(logits[is_real], dim=-1)
    return -log_probs.gather(1, target[:, 1:][is_real][:, None]).mean()


@alternative(of="greedy_translate")
def with_lists(tables, source, bos, eos, max_length):
    model = ToyTranslator(tables)
    memory, written = model.encode(source), [[bos] for _ in source]
    for _ in range(max_length):
        logits = model.decode(torch.tensor(written), memory)
        for row, scores in zip(written, logits[:, -1], strict=True):
            row.append(eos if eos in row[1:] else int(scores.argmax()))
        if all(eos in row[1:] for row in written):
            break
    return torch.tensor([row[1:] for row in written]), model.log


@alternative(of="free_accuracy")
def sentence_by_sentence(tables, source, target):
    n_words = n_sentences = 0
    for table, sentence in zip(tables[source[:, 0]], target.tolist(), strict=True):
        word, hits = sentence[0], []
        for expected in sentence[1:]:
            word = int(table[word].argmax())
            hits.append(word == expected)
        n_words, n_sentences = n_words + sum(hits), n_sentences + all(hits)
    return n_words / (len(target) * (target.shape[1] - 1)), n_sentences / len(target)


@alternative(of="name_the_broken_mask")
def by_its_words():
    return "_".join(["triangle", "on", "the", "cross", "attention"])
