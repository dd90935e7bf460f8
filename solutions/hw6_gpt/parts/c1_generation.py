# %% [markdown]
# ## Part C. From logits to a text
#
# Samplers are functions from logits to logits: what they forbid gets $-\infty$, which the softmax turns into
# a probability of exactly 0. In exercises 11 to 16 the checks take the **softmax of what you return** and
# compare that, so that a constant added to all logits of a row does not matter. Under "received" you
# therefore see probabilities, although your functions return logits.


# %% provided="probabilities"
def drawn_within(tokens, probs, what):
    """Whether tokens (N,) may have been drawn from probs (V,): a false alarm in one of 10 million runs.

    By Hoeffding's inequality a frequency is off by more than ε with a probability below 2 exp(−2Nε²).
    """
    frequencies = torch.bincount(tokens, minlength=len(probs))[: len(probs)].double() / len(tokens)
    allowed = math.sqrt(math.log(2 * len(probs) / 1e-7) / (2 * len(tokens)))
    worst = int((frequencies - probs).abs().argmax())
    assert_true(
        abs(float(frequencies[worst] - probs[worst])) <= allowed,
        f"{what}: token {worst} came in {float(frequencies[worst]):.3f} of {len(tokens)} draws,"
        f" where its probability is {float(probs[worst]):.3f}.",
    )


def counting_table(context_length, vocab_size):
    """A table whose model counts: after token s comes s + 1, after the last one 0, as good as certainly."""
    following = torch.eye(vocab_size, dtype=torch.float64).roll(1, dims=1)
    return torch.stack([40 * 4.0**t * (following - 0.5) for t in range(context_length)])


# %% [markdown] exercise="generate" difficulty=2 minutes=20
# ### 10. The loop
#
# A language model becomes a writer by a loop: read what there is, draw a token, append it, read again.
#
# Write `generate(table, prompt, n_tokens, generator)`, with the model `TableModel(table)` of exercise 5,
# whose table is (C, V, V): it cannot read more than C tokens. `prompt` is (B, T) with T ≥ 1, and T may be
# larger than C. Return (B, T + n_tokens): the prompt, and `n_tokens` more tokens in each row. In each step
#
# - the model reads the **last** C tokens of each row (all of them, while there are fewer);
# - of its logits only those at the last position matter, and their softmax is the distribution to draw from;
# - each row gets its own token, drawn by `torch.multinomial(probs, num_samples=1, generator=generator)`: in
#   one call for all rows, with `probs` (B, V), or row after row from the first, which draws the same tokens.
#
# **Example.** With the model `counting_table(3, 5)`, after which 1 follows 0, 2 follows 1 and so on, the
# prompt `[[2], [0]]` and four tokens more give `[[2, 3, 4, 0, 1], [0, 1, 2, 3, 4]]`.
#
# <details><summary>Hint 1</summary>
#
# Which slice takes the last three entries of a list, and what does it give for a list of two? The same slice
# works along the second axis of a tensor.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `multinomial` returns (B, 1). Along which axis does `torch.cat` append that to (B, T)?
#
# </details>


# %% solution="generate"
def generate(table: Tensor, prompt: Tensor, n_tokens: int, generator: torch.Generator) -> Tensor:
    """The prompt (B, T) and n_tokens more tokens in each row, drawn one after the other."""
    ### BEGIN SOLUTION
    model, tokens = TableModel(table), prompt
    with torch.no_grad():
        for _ in range(n_tokens):
            logits = model(tokens[:, -len(table) :])[:, -1]  # (B, V)
            drawn = torch.multinomial(logits.softmax(dim=-1), num_samples=1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    return tokens
    ### END SOLUTION


# %% check="the_counting_model_counts" points=1
def the_counting_model_counts(generate, draw):
    """The counting model goes on counting in every row, also beyond its context length."""
    tokens = generate(counting_table(3, 5), torch.tensor([[2], [0]]), 4, draw.generator())
    assert_equal(tokens, torch.tensor([[2, 3, 4, 0, 1], [0, 1, 2, 3, 4]]))


# %% check="the_prompt_stays_in_front" points=1
def the_prompt_stays_in_front(generate, draw):
    """The prompt comes back in front of the new tokens, and no tokens more give the prompt alone."""
    prompt, table = draw.integers(0, 5, 3, 2), draw.normal(6, 5, 5)
    assert_equal(generate(table, prompt, 3, draw.generator())[:, :2], prompt, what="the first two columns")
    assert_equal(generate(table, prompt, 0, draw.generator()), prompt, what="without new tokens")


# %% check="a_long_prompt_is_read_from_its_end" points=1
def a_long_prompt_is_read_from_its_end(generate, draw):
    """After a prompt longer than the context length, the counting model goes on from its last token."""
    prompt = torch.tensor([[4, 4, 1, 3, 5, 0], [5, 0, 2, 4, 1, 3]])
    tokens = generate(counting_table(4, 7), prompt, 3, draw.generator())
    assert_equal(tokens[:, 6:], torch.tensor([[1, 2, 3], [4, 5, 6]]))


# %% check="the_whole_context_is_read" points=1
def the_whole_context_is_read(generate, draw):
    """A token C places back still decides what comes next, and one further back does not."""
    table = torch.zeros(3, 5, 5, dtype=torch.float64)
    table[0] = 60 * torch.eye(5, dtype=torch.float64)  # position 0 of the window says: repeat me
    tokens = generate(table, torch.tensor([[4, 1, 2, 3], [0, 3, 1, 2]]), 3, draw.generator())
    assert_equal(tokens[:, 4:], torch.tensor([[1, 2, 3], [3, 1, 2]]))


# %% check="tokens_are_drawn_from_the_softmax" points=1
def tokens_are_drawn_from_the_softmax(generate, draw):
    """In 4000 equal rows the next token is as frequent as the softmax says (false alarms: 1 in 10 million)."""
    probs = torch.tensor([0.5, 0.26, 0.13, 0.08, 0.03], dtype=torch.float64)
    table = probs.log().expand(2, 5, 5) / 2  # two positions add up to the whole
    tokens = generate(table, torch.tensor([[1, 3]]).expand(4000, 2), 1, draw.generator())
    drawn_within(tokens[:, 2], probs, "the next token")


# %% check="the_generator_decides" points=1
def the_generator_decides(generate, draw):
    """Generators in the same state give the same text, others another."""
    table, prompt = draw.normal(3, 5, 5), draw.integers(0, 5, 4, 2)
    generator, other = draw.generator(), draw.generator()
    text = generate(table, prompt, 8, generator)
    assert_equal(generate(table, prompt, 8, generator), text)
    assert_depends(text, generate(table, prompt, 8, other))


# %% check="other_models_write_the_specified_text" points=2 hidden
def other_models_write_the_specified_text(generate, draw):
    """Other models and prompts give the very tokens that the specified draws give."""
    for C, vocab_size, batch_size, T, n_tokens in ((4, 7, 3, 2, 9), (2, 3, 2, 5, 6)):
        table, prompt = (
            3 * draw.normal(C, vocab_size, vocab_size),
            draw.integers(0, vocab_size, batch_size, T),
        )
        generator = draw.generator()
        own = torch.Generator().manual_seed(generator.initial_seed())
        rows = prompt.tolist()
        for _ in range(n_tokens):
            last = [sum(table[t, s] for t, s in enumerate(row[-C:])) for row in rows]
            drawn = torch.multinomial(torch.stack(last).softmax(-1), 1, generator=own)
            rows = [[*row, int(token)] for row, token in zip(rows, drawn, strict=True)]
        assert_equal(generate(table, prompt, n_tokens, generator), torch.tensor(rows))
    counted = generate(counting_table(3, 11), torch.tensor([[8, 1, 9, 4], [0, 5, 2, 7]]), 8, draw.generator())
    expected = torch.tensor([[8, 1, 9, *(range(4, 11)), 0, 1], [0, 5, 2, *(range(7, 11)), 0, 1, 2, 3, 4]])
    assert_equal(counted, expected, what="the counting model")
