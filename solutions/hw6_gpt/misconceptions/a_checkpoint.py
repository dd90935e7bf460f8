"""What goes wrong in homework 6, exercise 4: the weights of GPT-2."""

from autograder.catalogue import misconception

TURNED = ("attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight")
LEFT_OUT = (".attn.bias", ".attn.masked_bias", "lm_head.weight")


def _weights(checkpoint, turned=TURNED, left_out=LEFT_OUT, prefix="transformer."):
    return {
        name.removeprefix(prefix): weight.T if name.endswith(turned) else weight
        for name, weight in checkpoint.items()
        if not name.endswith(left_out)
    }


@misconception(of="gpt2_weights")
def nothing_transposed(checkpoint):
    """The matrices stay (inputs, outputs), although the layers of your GPT are (outputs, inputs).

    What shape does `h.0.attn.c_attn.weight` have in the checkpoint, and what shape in your `state_dict()`?
    """
    return _weights(checkpoint, turned=("nothing",))


@misconception(of="gpt2_weights")
def square_matrix_forgotten(checkpoint):
    """Only matrices whose shape does not fit are transposed; the square `attn.c_proj.weight` is not.

    How can you see whether a square matrix is (inputs, outputs) or (outputs, inputs)? What does the
    checkpoint say about the layer that it belonged to?
    """
    return _weights(checkpoint, turned=("attn.c_attn.weight", "mlp.c_fc.weight", "mlp.c_proj.weight"))


@misconception(of="gpt2_weights")
def embeddings_transposed_too(checkpoint):
    """Every matrix is transposed, the embeddings too, although these are stored as in your GPT.

    How many rows has `wte.weight` in the checkpoint: as many as there are words, or as there are numbers per
    word?
    """
    return _weights(checkpoint, turned=(*TURNED, "wte.weight", "wpe.weight"))


@misconception(of="gpt2_weights")
def reshaped_instead_of_transposed(checkpoint):
    """The matrices get their new shape by a reshape, which keeps the order of the numbers and mixes rows up.

    Write a matrix of 2 rows and 3 columns, its transpose, and its reshape to 3 rows and 2 columns. Which of
    the two still has the first row as its first column?
    """
    return {
        name: weight.T.reshape(weight.shape) if name.endswith(TURNED) else weight
        for name, weight in _weights(checkpoint).items()
    } | {
        name.removeprefix("transformer."): weight.reshape(weight.T.shape)
        for name, weight in checkpoint.items()
        if name.endswith(TURNED)
    }


@misconception(of="gpt2_weights")
def output_matrix_kept(checkpoint):
    """`lm_head.weight` comes out as well, for which your GPT has no parameter.

    What does `load_state_dict` say about a name that the model does not have? Which of your parameters does
    the work of `lm_head`?
    """
    return _weights(checkpoint, left_out=LEFT_OUT[:2])


@misconception(of="gpt2_weights")
def triangles_kept(checkpoint):
    """The result also contains the causal masks `attn.bias` and the numbers `attn.masked_bias`.

    What shape is `h.0.attn.bias`? Is that a bias, and does your block have a place for it?
    """
    return _weights(checkpoint, left_out=LEFT_OUT[2:])


@misconception(of="gpt2_weights")
def biases_lost_with_the_triangles(checkpoint):
    """Everything of the attention that ends in "bias" is left out, the biases of c_attn and c_proj too.

    Which three names of a block end in "bias" and contain "attn"? Which of them does your GPT need?
    """
    return {name: w for name, w in _weights(checkpoint).items() if not ("attn" in name and "bias" in name)}


@misconception(of="gpt2_weights")
def names_cut_at_their_first_dot(checkpoint):
    """The first part of every name is cut off, whether it is "transformer." or not.

    Some checkpoints have no prefix. What becomes of `h.0.ln_1.weight` then?
    """
    return {name.partition(".")[2]: w for name, w in _weights(checkpoint, prefix="nothing").items()}


@misconception(of="gpt2_weights")
def turned_by_their_shape(checkpoint):
    """Every matrix that is not square is transposed, the embeddings too, and no square one is.

    Which of its matrices does the checkpoint store as yours are? Does a shape tell, or a name?
    """
    return {
        name: weight.T if weight.ndim == 2 and weight.shape[0] != weight.shape[1] else weight
        for name, weight in _weights(checkpoint, turned=("nothing",)).items()
    }


@misconception(of="gpt2_weights")
def prefix_cut_from_every_name(checkpoint):
    """As many characters as `transformer.` has are cut off every name, also where it does not begin so.

    Which name does `h.0.ln_1.weight` get in your dict? What does `removeprefix` do with it?
    """
    stored = {name: weight for name, weight in checkpoint.items() if not name.endswith(LEFT_OUT)}
    return {
        name[len("transformer.") :]: weight.T if name.endswith(TURNED) else weight
        for name, weight in stored.items()
    }
