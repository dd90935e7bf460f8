"""Right loops of homework 6 that look nothing like the reference."""

import torch

from autograder.catalogue import alternative


@alternative(of="generate")
def each_row_drawn_alone(table, prompt, n_tokens, generator):
    text = prompt
    for _ in range(n_tokens):
        window = text[:, -len(table) :]
        probs = table[torch.arange(window.shape[1]), window].sum(1).softmax(-1)
        drawn = [torch.multinomial(row, num_samples=1, generator=generator) for row in probs]
        text = torch.cat([text, torch.stack(drawn)], dim=1)
    return text


@alternative(of="generate")
def into_a_table_made_beforehand(table, prompt, n_tokens, generator):
    B, T = prompt.shape
    text = torch.zeros(B, T + n_tokens, dtype=torch.int64)
    text[:, :T] = prompt
    for end in range(T, T + n_tokens):
        begin = max(0, end - len(table))
        z = sum(table[t - begin, text[:, t]] for t in range(begin, end))
        z = z - z.max(dim=-1, keepdim=True).values
        text[:, end] = torch.multinomial(z.exp() / z.exp().sum(-1, keepdim=True), 1, generator=generator)[
            :, 0
        ]
    return text
