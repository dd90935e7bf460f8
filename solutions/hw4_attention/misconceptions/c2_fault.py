"""What goes wrong when the fault of a trained translator is looked for."""

from autograder.catalogue import misconception

# 20. name_the_fault


@misconception(of="name_the_fault")
def said_padding_not_masked():
    """The missing mask is named, but no row has any weight at the padding.

    What do the last two columns of the map say? What would they say if nothing hid them?
    """
    return "padding_not_masked"


@misconception(of="name_the_fault")
def said_softmax_over_the_targets():
    """The wrong axis of the softmax is named, but it is the rows that sum to one.

    Add up the row of *chat* and the column of *the*. Which sum would this fault make 1?
    """
    return "softmax_over_the_targets"


@misconception(of="name_the_fault")
def said_axes_swapped():
    """Swapped axes are named, but then the columns would sum to one.

    Which sum is 1 in a map of weights that is drawn the right way round? And on its side?
    """
    return "axes_swapped"


@misconception(of="name_the_fault")
def said_rows_labelled_by_inputs():
    """Labels of the words read are named, but then every row would show the look for the *next* word.

    The largest weight of the row of *chat* lies at *the*. Is that where the word before *chat* belongs, or
    the one after it?
    """
    return "rows_labelled_by_inputs"


@misconception(of="name_the_fault")
def said_weights_left_unsharp():
    """Scores that are too small are named, but six rows of the map are as sharp as can be.

    How many rows are unsharp, and which? What would a division of all scores do to the others?
    """
    return "weights_left_unsharp"
