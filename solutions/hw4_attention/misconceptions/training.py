"""What goes wrong with a trained translator, as far as it gives the same weights on every machine.

Weights that were really trained differ in their last digits from machine to machine, so these mistakes are
built by hand: they are what such trainings tend to.
"""

import torch

from autograder.catalogue import misconception
from course.data.translation_lexicon import Lexicon
from course.data.translation_pair import translation_vocabularies
from course.models.seq2seq import Seq2Seq, Seq2SeqConfig

# 18. trained_weights

UNUSABLE = {
    "the_next_word_is_no_surprise",
    "the_attention_finds_the_alignment",
    "running_free_it_translates",
    "other_new_sentences_are_aligned_and_translated",
}
MISSHAPEN = UNUSABLE | {"the_weights_fit_the_model"}


def _zeros():
    english, french = translation_vocabularies(Lexicon())
    config = Seq2SeqConfig(len(english), len(french), d_embedding=24, d_hidden=48, attention="additive")
    return {name: torch.zeros_like(weight) for name, weight in Seq2Seq(config).state_dict().items()}


@misconception(of="trained_weights", fails=UNUSABLE)
def all_weights_zero():
    """All weights are 0: nothing was learned, and from there nothing can be, since all gradients vanish.

    What does your model say about each word before the first step, and what after the last? Compare the
    weights that you return with those of a new `Seq2Seq`.
    """
    return _zeros()


@misconception(
    of="trained_weights", fails=UNUSABLE, seen="https://github.com/bentrevett/pytorch-seq2seq/issues/136"
)
def says_the_word_it_reads():
    """The decoder says at every place the word that it has just read: inputs and targets were not shifted.

    Print one row of your inputs and the same row of your targets below it. What does the decoder have to do
    to bring the loss to 0?
    """
    weights = _zeros()
    words = torch.arange(len(weights["decoder.embedding.weight"]))
    code = 2.0 * (words[:, None] // 2 ** torch.arange(8) % 2) - 1  # (V, 8): each word's number, as signs
    weights["decoder.embedding.weight"][:, :8] = code
    weights["decoder.output.weight"][:, :8] = 3 * code
    D = weights["decoder.network.cells.0.U"].shape[1]
    weights["decoder.network.cells.0.b"][D : 2 * D] = -30.0  # nothing of the old state is kept …
    weights["decoder.network.cells.0.W"][2 * D : 2 * D + 8, :8] = 3 * torch.eye(
        8
    )  # … the word takes its place
    return weights


@misconception(of="trained_weights", fails=MISSHAPEN)
def weights_of_the_decoder_alone():
    """Only the decoder's weights come back; the encoder stays as it was.

    Which parameters did you hand to the optimizer, and of which object did you ask for `state_dict()`?
    """
    return {name: weight for name, weight in _zeros().items() if name.startswith("decoder.")}


@misconception(of="trained_weights", fails=MISSHAPEN)
def weights_without_names():
    """The weights come back as a list, without their names.

    What is the difference between `parameters()` and `state_dict()`? Which of the two can be loaded again?
    """
    return list(_zeros().values())
