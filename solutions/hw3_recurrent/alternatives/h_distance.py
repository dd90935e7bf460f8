"""Right models for the distance experiment, and the riddle's answer found otherwise."""

import torch
from torch import nn

from autograder.catalogue import alternative
from course.recall import recall_texts


class WithGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Parameter(torch.randn(20, 16))
        self.network = nn.GRU(16, 32)
        self.W, self.b = nn.Parameter(torch.randn(32, 20) / 6), nn.Parameter(torch.zeros(20))

    def forward(self, tokens):
        states, _ = self.network(self.words[tokens.T])  # (T, B, 32)
        logits = states @ self.W + self.b
        return (logits - logits.logsumexp(-1, keepdim=True)).transpose(0, 1)


@alternative(of="recaller")
def with_a_gru_in_batches_of_48(distance, n_steps, generator, device="cpu"):
    model = WithGRU().to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    for _ in range(n_steps):
        tokens = recall_texts(distance, 48, generator).to(device)
        nn.functional.nll_loss(model(tokens)[:, -1], tokens[:, 0]).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return model.eval()


@alternative(of="name_the_fault")
def by_exclusion():
    faults = {"state_detached_every_four_words": 3, "state_detached_at_every_word": 1}
    faults["gradient_stopped_four_words_back"] = 4
    [answer] = [fault for fault, words_reached_by_h_7 in faults.items() if words_reached_by_h_7 == 3]
    return answer
