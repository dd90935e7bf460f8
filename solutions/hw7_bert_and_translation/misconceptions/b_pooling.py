"""What goes wrong with one vector for a whole text, and with the head on top (homework 7, part B)."""

import torch
from torch import nn
from torch.nn import functional

from autograder.catalogue import misconception

# 6. first_token


@misconception(of="first_token", seen="https://github.com/StarlightSearch/EmbedAnything/issues/213")
def position_0_taken(hidden, mask):
    """Position 0 is taken, which is padding where the padding is on the left.

    In the first sequence of the example, is position 0 a token of the text? What does the mask say about it?
    """
    return hidden[:, 0]


@misconception(of="first_token")
def last_token_taken(hidden, mask):
    """The last real token is taken instead of the first.

    Where does BERT put `<cls>`, in front of the text or behind it?
    """
    places = mask.shape[1] - 1 - mask.flip(1).int().argmax(1)
    return hidden[torch.arange(len(hidden)), places]


@misconception(of="first_token")
def padding_assumed_on_the_left(hidden, mask):
    """The place is taken to be the number of padded positions, which is right on the left side only.

    With three padded positions behind the text, where is its first token?
    """
    return hidden[torch.arange(len(hidden)), (~mask).sum(1)]


@misconception(of="first_token")
def one_place_for_the_whole_batch(hidden, mask):
    """One place is used for all sequences: the first at which all of them have a token.

    What shape is the position of the first token in your code: one number, or one for each sequence?
    """
    return hidden[:, int(mask.all(0).int().argmax())]


@misconception(of="first_token")
def all_places_for_all_sequences(hidden, mask):
    """Every sequence is read at the places of all, so that there are B times B vectors.

    What shape is your answer? With which rows must the positions be paired?
    """
    return hidden[:, mask.int().argmax(1)]


@misconception(of="first_token")
def first_padding_taken(hidden, mask):
    """The first padded position is taken where there is one, and not the first real token.

    Is a real token True or False in the mask? Which of `argmin` and `argmax` finds the first True?
    """
    return hidden[torch.arange(len(hidden)), mask.int().argmin(1)]


# 7. mean_of_tokens


@misconception(of="mean_of_tokens")
def mean_over_padding_too(hidden, mask):
    """The mean runs over all positions, padded ones included.

    In the example the third position holds 100. Has it left a trace in your answer?
    """
    return hidden.mean(1)


@misconception(of="mean_of_tokens")
def divided_by_the_longest(hidden, mask):
    """The real tokens are summed up rightly and divided by the length of the padded sequence.

    A sequence of one token among five positions: by which number must its vector be divided?
    """
    return hidden.masked_fill(~mask[..., None], 0.0).sum(1) / hidden.shape[1]


@misconception(of="mean_of_tokens")
def multiplied_by_the_mask(hidden, mask):
    """Padding is multiplied by 0, and 0 times infinity is NaN.

    Evaluate `torch.tensor(0.0) * torch.tensor(torch.inf)`. Which function of torch replaces numbers without
    arithmetic?
    """
    return (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


@misconception(of="mean_of_tokens")
def divided_by_the_average_length(hidden, mask):
    """All sums are divided by one number, the average number of real tokens in the batch.

    Two sequences of 1 and of 5 tokens: by which number does each have to be divided?
    """
    return hidden.masked_fill(~mask[..., None], 0.0).sum(1) / mask.sum(1).double().mean()


@misconception(of="mean_of_tokens")
def summed_without_dividing(hidden, mask):
    """The vectors are added and nothing is divided, so longer texts have longer vectors.

    Where all tokens have the same vector, is that your answer?
    """
    return hidden.masked_fill(~mask[..., None], 0.0).sum(1)


@misconception(of="mean_of_tokens")
def divided_by_all_tokens_of_the_batch(hidden, mask):
    """Every sum is divided by the number of real tokens in the whole batch.

    Along which axis do you count the True of the mask? How many numbers should that give?
    """
    return hidden.masked_fill(~mask[..., None], 0.0).sum(1) / mask.sum()


@misconception(of="mean_of_tokens")
def padding_summed(hidden, mask):
    """The real tokens are erased and the padding is summed: the mask is used the wrong way round.

    Which positions does `masked_fill` fill, those where its mask is True or False?
    """
    return hidden.masked_fill(mask[..., None], 0.0).sum(1) / mask.sum(1, keepdim=True)


@misconception(of="mean_of_tokens")
def padding_erased_in_place(hidden, mask):
    """The mean is right, and the padding in the `hidden` that was handed in is overwritten.

    Print `hidden` after a call. Which function makes a new tensor instead?
    """
    hidden[~mask] = 0.0
    return hidden.sum(1) / mask.sum(1, keepdim=True)


# 8. ClassifierHead


class _Head(nn.Module):
    def __init__(self, d_model, n_classes):
        super().__init__()
        shapes = {
            "W_pool": (d_model, d_model),
            "b_pool": (d_model,),
            "W": (n_classes, d_model),
            "b": (n_classes,),
        }
        for name, shape in shapes.items():
            setattr(self, name, nn.Parameter(torch.randn(shape, dtype=torch.float64)))

    def pool(self, h):
        return torch.tanh(functional.linear(h, self.W_pool, self.b_pool))

    def forward(self, h):
        return functional.linear(self.pool(h), self.W, self.b)


@misconception(of="ClassifierHead", seen="https://github.com/gabeur/mmt/issues/3")
class PoolingUnderAnotherName(_Head):
    """The pooling is left out: the logits are made of h itself, and not of what the first layer makes of it.

    Which parameters get no gradient? Search `forward` for the name under which `__init__` keeps them: is what
    they compute used, or is the name misspelt?
    """

    def forward(self, h):
        pool = getattr(self, "pooler", None)
        return functional.linear(h if pool is None else pool(h), self.W, self.b)


@misconception(of="ClassifierHead")
class PoolingWithoutTanh(_Head):
    """Two linear layers follow each other with nothing between, which is one linear layer.

    How large can an entry of $p$ become in the formula, and how large in yours?
    """

    def pool(self, h):
        return functional.linear(h, self.W_pool, self.b_pool)


@misconception(of="ClassifierHead")
class TanhOfTheLogits(_Head):
    """The tanh is taken of the logits, so no class can be more than e² times as probable as another.

    Between which bounds lie your logits? In the example the logit is 4.98.
    """

    def forward(self, h):
        pooled = functional.linear(h, self.W_pool, self.b_pool)
        return torch.tanh(functional.linear(pooled, self.W, self.b))


@misconception(of="ClassifierHead")
class HeadWithSoftmax(_Head):
    """A softmax is taken, so probabilities come out where logits are asked for.

    What does the loss do with what you return? Which of the two takes the softmax?
    """

    def forward(self, h):
        return super().forward(h).softmax(dim=-1)


@misconception(of="ClassifierHead")
class PoolingTransposed(_Head):
    """The pooling matrix is used transposed, `h @ W_pool`; being square, it does not complain.

    For one vector, row i of W_pool gives entry i of $p$. Which row or column meets h in your product?
    """

    def pool(self, h):
        return torch.tanh(h @ self.W_pool + self.b_pool)


@misconception(of="ClassifierHead")
class ReluForTanh(_Head):
    """The nonlinearity is a relu; the formula has tanh.

    Can an entry of your $p$ be negative? Can it be 100?
    """

    def pool(self, h):
        return functional.linear(h, self.W_pool, self.b_pool).relu()


@misconception(of="ClassifierHead")
class SigmoidForTanh(_Head):
    """The nonlinearity is a sigmoid; the formula has tanh.

    Between which numbers lie the entries of your $p$, and between which those of the formula?
    """

    def pool(self, h):
        return functional.linear(h, self.W_pool, self.b_pool).sigmoid()


@misconception(of="ClassifierHead")
class BiasOutsideTheTanh(_Head):
    """`b_pool` is added after the tanh, where it belongs inside.

    What does the formula put into the tanh? Can an entry of $p$ be larger than 1?
    """

    def pool(self, h):
        return torch.tanh(functional.linear(h, self.W_pool)) + self.b_pool


@misconception(of="ClassifierHead")
class LastBiasForgotten(_Head):
    """The last bias is a parameter that the forward pass never uses.

    Which parameter gets no gradient?
    """

    def forward(self, h):
        return functional.linear(self.pool(h), self.W)
