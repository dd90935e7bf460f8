"""What goes wrong when long gradients are clipped."""

import math

from autograder.catalogue import misconception

# 9. clipped


def _length(gradients):
    return math.sqrt(sum(float((gradient**2).sum()) for gradient in gradients.values()))


def _scaled(gradients, factor):
    return {name: gradient * factor for name, gradient in gradients.items()}


@misconception(of="clipped")
def each_tensor_by_itself(gradients, threshold):
    """Each tensor is clipped by its own length, so the direction of the whole changes.

    In the example your W and b are both 1 long. How long are they together, and does the step still point
    where (3, 4) pointed?
    """
    return {
        name: gradient * (threshold / max(float(gradient.norm()), threshold))
        for name, gradient in gradients.items()
    }


@misconception(of="clipped")
def entries_cut_off(gradients, threshold):
    """Each entry is cut off at the threshold, which turns long gradients towards a corner.

    Where does (3, 4) point, and where does what you make of it point?
    """
    return {name: gradient.clamp(-threshold, threshold) for name, gradient in gradients.items()}


@misconception(of="clipped")
def short_ones_stretched(gradients, threshold):
    """The factor is used below the threshold too, which makes short gradients longer.

    What does your function make of a gradient that is almost zero, at the end of training? And of zeros?
    """
    return _scaled(gradients, threshold / _length(gradients) if _length(gradients) else math.nan)


@misconception(of="clipped")
def lengths_added_up(gradients, threshold):
    """The lengths of the tensors are added up, which is more than the length of all together.

    How long is the vector (3, 4): 5 or 7?
    """
    size = sum(float(gradient.norm()) for gradient in gradients.values())
    return _scaled(gradients, min(1.0, threshold / size) if size else 1.0)


@misconception(of="clipped")
def root_forgotten(gradients, threshold):
    """The threshold is divided by the square of the length.

    In the example, is 25 the length of (3, 4)?
    """
    size = _length(gradients)
    return _scaled(gradients, min(1.0, threshold / size**2) if size > threshold else 1.0)


@misconception(of="clipped")
def multiplied_in_place(gradients, threshold):
    """What was handed in is itself changed: its tensors are shortened, or others put in their place.

    Print the gradients you were given, before and after the call. What does an underscore at the end of a
    method's name, or `*=`, do to a tensor that others hold as well?
    """
    size = _length(gradients)
    for gradient in gradients.values():
        gradient *= min(1.0, threshold / size) if size else 1.0
    return dict(gradients)


@misconception(of="clipped")
def largest_entry_for_the_length(gradients, threshold):
    """The gradients are measured by their largest entry, not by the length of all of them together.

    How long is the vector (3, 4)? How long is it after your clipping?
    """
    size = max(float(gradient.abs().max()) for gradient in gradients.values())
    return _scaled(gradients, min(1.0, threshold / size) if size else 1.0)


@misconception(of="clipped")
def sizes_of_all_entries_added_up(gradients, threshold):
    """The sizes of all entries are added up, which is more than the length.

    How long is the vector (3, 4): 5 or 7? What happens to an entry before the sum of a length?
    """
    size = sum(float(gradient.abs().sum()) for gradient in gradients.values())
    return _scaled(gradients, min(1.0, threshold / size) if size else 1.0)


@misconception(of="clipped")
def divided_by_a_length_of_zero(gradients, threshold):
    """Where all gradients are zero, the threshold is divided by zero.

    What is the length of a gradient at a minimum? What does Python make of c / 0.0?
    """
    return _scaled(gradients, min(1.0, threshold / _length(gradients)))


@misconception(of="clipped")
def larger_factor_taken(gradients, threshold):
    """The larger of 1 and c / ‖g‖ is taken, so long gradients stay long and short ones grow.

    Which factor does a gradient of length 5 get at the threshold 1? May it be above 1?
    """
    size = _length(gradients)
    return _scaled(gradients, max(1.0, threshold / size) if size else 1.0)


@misconception(of="clipped")
def means_of_squares_added_up(gradients, threshold):
    """The squares are averaged in each tensor before they are added up, so large tensors count too little.

    How many squares are there in the length of a (4, 2) tensor? By what are they divided?
    """
    size = math.sqrt(sum(float((gradient**2).mean()) for gradient in gradients.values()))
    return _scaled(gradients, min(1.0, threshold / size) if size else 1.0)


# 10. clipped_step


def _clipped(gradients, threshold):
    return _scaled(gradients, min(1.0, threshold / _length(gradients)))


def _step(parameters, gradients, size):
    return {name: parameter - size * gradients[name] for name, parameter in parameters.items()}


@misconception(of="clipped_step")
def clipped_after_the_step(parameters, gradients, learning_rate, threshold):
    """The step is made with the whole gradient: it is clipped too late, or not at all.

    Which line of yours moves the parameters, and which limits the gradients? Which gradients does the first
    one read?
    """
    moved = _step(parameters, gradients, learning_rate)
    _clipped(gradients, threshold)
    return moved


@misconception(of="clipped_step")
def parameters_clipped(parameters, gradients, learning_rate, threshold):
    """The parameters after the step are clipped instead of the gradients before it.

    Should the weights of a good model be no longer than the threshold? Which of the two dicts can explode?
    """
    return _clipped(_step(parameters, gradients, learning_rate), threshold)


@misconception(of="clipped_step")
def step_clipped_instead_of_gradient(parameters, gradients, learning_rate, threshold):
    """The learning rate is multiplied in first, and the product is clipped, so the rate no longer counts.

    How far do your parameters move if the gradient is enormous and the rate is halved?
    """
    return _step(parameters, _clipped(_scaled(gradients, learning_rate), threshold), 1.0)


@misconception(of="clipped_step")
def uphill(parameters, gradients, learning_rate, threshold):
    """The gradient is added, so the step goes uphill.

    In which direction does the loss grow: along the gradient or against it?
    """
    return _step(parameters, _clipped(gradients, threshold), -learning_rate)


@misconception(of="clipped_step")
def every_gradient_made_as_long_as_the_threshold(parameters, gradients, learning_rate, threshold):
    """The factor is used for short gradients too, so every step is equally long.

    What happens near a minimum, where gradients are small, if no step can be small?
    """
    return _step(parameters, _scaled(gradients, threshold / _length(gradients)), learning_rate)


@misconception(of="clipped_step")
def each_gradient_clipped_by_itself(parameters, gradients, learning_rate, threshold):
    """Each gradient is clipped by its own length, so all together may be longer than the threshold.

    In the example, how long are your two clipped gradients together?
    """
    by_itself = {name: _clipped({name: each}, threshold)[name] for name, each in gradients.items()}
    return _step(parameters, by_itself, learning_rate)


@misconception(of="clipped_step")
def measured_by_the_parameters(parameters, gradients, learning_rate, threshold):
    """The factor is found from the length of the parameters, but the gradients are what is too long.

    How far do your parameters move if they are small and the gradient is enormous?
    """
    factor = min(1.0, threshold / _length(parameters))
    return _step(parameters, _scaled(gradients, factor), learning_rate)


@misconception(of="clipped_step")
def rate_in_the_threshold(parameters, gradients, learning_rate, threshold):
    """The learning rate shortens the threshold and not the step, so short gradients are followed in full.

    How far do your parameters move if the gradient is 0.05 long, the rate 0.1 and the threshold 2?
    """
    return _step(parameters, _clipped(gradients, learning_rate * threshold), 1.0)


@misconception(of="clipped_step")
def rate_left_out(parameters, gradients, learning_rate, threshold):
    """The clipped gradient is subtracted as it is; the learning rate does not enter.

    Where in your function does `learning_rate` occur? In the example, is 0.6 the step or the gradient?
    """
    return _step(parameters, _clipped(gradients, threshold), 1.0)
