"""Right translations and tables that look nothing like the reference."""

from collections import Counter, defaultdict

import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import alternative


class _TableDecoder(nn.Module):
    def __init__(self, jumps, logits):
        super().__init__()
        self.jumps, self.logits = jumps, nn.Parameter(logits.clone())

    def forward(self, state, tokens):
        state = self.jumps[state, tokens]
        kept = 2.0 * (torch.arange(self.logits.shape[1]) % 2 == 1)
        return state, self.logits[state] * kept if self.training else self.logits[state]


@alternative(of="greedy_decode")
@torch.inference_mode()
def row_by_row(jumps, logits, state, bos, eos, max_length):
    decoder = _TableDecoder(jumps, logits)
    decoder.train(False)
    rows, totals = [], []
    for place in state.split(1):
        said, total = [bos], 0.0
        while len(said) <= max_length and (said[-1] != eos or len(said) == 1):
            place, scores = decoder(place, torch.tensor(said[-1:]))
            said.append(int(scores.argmax()))
            total += float(scores[0, said[-1]] - scores.logsumexp(-1))
        rows.append(said[1:])
        totals.append(total)
    longest = max(map(len, rows))
    filled = torch.tensor([row + [eos] * (longest - len(row)) for row in rows])
    return filled, torch.tensor(totals, dtype=torch.float64)


@alternative(of="exact_match")
def by_masks(free, forced, targets, eos):
    width = max(free.shape[1], targets.shape[1])
    own, right = (functional.pad(table, (0, width - table.shape[1]), value=-1) for table in (free, targets))
    up_to_end = ((right == eos).cumsum(1) - (right == eos).long()) == 0
    return ((own == right) | ~up_to_end).all(1).double().mean().item()


@alternative(of="bottleneck_table")
def by_sums(runs, trained_lengths):
    ordered = sorted(run["n_parameters"] for run in runs)
    if ordered[-1] / ordered[0] > 1.05:
        raise ValueError
    sums, counts = defaultdict(float), Counter()
    for run in runs:
        cell = run["model"], run["length"]
        sums[cell] += run["exact_match"]
        counts[cell] += 1
    return {c: sums[c] / n for c, n in counts.items() if n > 1 and c[1] not in set(trained_lengths)}
