"""What goes wrong in the search for a broken mask (homework 7, part C)."""

from autograder.catalogue import misconception

# 22. name_the_broken_mask


@misconception(of="name_the_broken_mask")
def said_causal_mask_left_out():
    """The missing triangle of the decoder is named, but later target words change nothing (probe B).

    Which probe exchanges a later word of the target? What does the table say about it?
    """
    return "causal_mask_left_out"


@misconception(of="name_the_broken_mask")
def said_cross_attention_reads_the_target():
    """A decoder that reads itself is named, but the prediction depends on the source (probe A).

    If keys and values came from the decoder, could a source word reach the prediction at all?
    """
    return "cross_attention_reads_the_target"


@misconception(of="name_the_broken_mask")
def said_encoder_left_to_right():
    """A causal encoder is named, but the first place of the memory knows the last word (probe E).

    Which places could know the last source word if the encoder were causal?
    """
    return "encoder_left_to_right"


@misconception(of="name_the_broken_mask")
def said_padding_not_masked():
    """Padding that is read is named, but padding behind the source changes nothing (probe C).

    What does probe C put behind the source, and what happens?
    """
    return "padding_not_masked"


@misconception(of="name_the_broken_mask")
def said_memory_skips_the_encoder():
    """A memory without an encoder is named, but its places know other words (probes D and E).

    If each place of the memory were one embedded word, which of the probes D and E could show a change?
    """
    return "memory_skips_the_encoder"
