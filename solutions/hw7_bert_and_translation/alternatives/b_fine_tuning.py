"""Right solutions of part B of homework 7 that look nothing like the reference."""

import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import alternative
from course.models.bert import BERTConfig, SequenceClassifier


@alternative(of="first_token")
def by_going_back_from_the_end(hidden, mask):
    vectors = hidden[:, -1]
    for t in reversed(range(hidden.shape[1])):
        vectors = torch.where(mask[:, t, None], hidden[:, t], vectors)
    return vectors


@alternative(of="mean_of_tokens")
def sequence_by_sequence(hidden, mask):
    return torch.stack([row[real].mean(dim=0) for row, real in zip(hidden, mask, strict=True)])


@alternative(of="ClassifierHead")
class FromLayersOfTorch(nn.Module):
    def __init__(self, d_model, n_classes):
        super().__init__()
        pool, output = (nn.Linear(d_model, n, dtype=torch.float64) for n in (d_model, n_classes))
        self.W_pool, self.b_pool = pool.weight, pool.bias
        self.W, self.b = output.weight, output.bias

    def forward(self, h):
        pooled = functional.linear(h, self.W_pool, self.b_pool).tanh()
        return torch.einsum("cd,bd->bc", self.W, pooled) + self.b


@alternative(of="tags_of_words")
def by_a_dictionary(logits, word_of_piece):
    tags = {}
    for row, word in zip(logits.tolist(), word_of_piece.tolist(), strict=True):
        if word >= 0:
            tags.setdefault(word, row.index(max(row)))
    return torch.tensor([tags[word] for word in sorted(tags)])


@alternative(of="span_logits")
def row_by_row(hidden, W, b, in_passage):
    outside = torch.zeros(in_passage.shape, dtype=hidden.dtype).masked_fill(~in_passage, -torch.inf)
    return tuple(hidden @ W[k] + b[k] + outside for k in range(2))


@alternative(of="best_span")
def by_a_loop(first_logits, last_logits, longest):
    best, found = -float("inf"), (0, 0)
    for first, beginning in enumerate(first_logits.tolist()):
        for last, end in enumerate(last_logits.tolist()[first : first + longest], start=first):
            if beginning + end > best:
                best, found = beginning + end, (first, last)
    return found


@alternative(of="fine_tune")
def with_an_optimiser_of_torch(encoder, head, tokens, mask, labels, learning_rate, n_steps):
    config = BERTConfig(vocab_size=11, context_length=9, d_model=6, n_heads=2, n_layers=1, d_ff=5)
    model = SequenceClassifier(config, 3).double()
    model.load_state_dict({**head, **encoder})
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    for _ in range(n_steps):
        optimizer.zero_grad()
        log_probs = model(tokens, mask).log_softmax(-1)
        (-log_probs.gather(1, labels[:, None])).mean().backward()
        optimizer.step()
    return {name: weight.clone() for name, weight in model.named_parameters()}
