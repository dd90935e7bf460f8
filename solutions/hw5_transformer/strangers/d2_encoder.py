"""A model that the checks once took for a known mistake."""

import torch
from torch import nn

from autograder.proving.strangers import stranger


@stranger(of="TiedModel", may_be=["WeightCopied"])
class Untied(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.hidden = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens):
        return self.output(torch.tanh(self.hidden(self.embedding(tokens))))
