"""Faster ways to compute some equations of the models, and one switch for all of them.

switch               use the kernels (the default), or compute every equation as its model's file writes it
convolution          W x + b at many positions, on a CPU
lstm_through_time    all steps of an LSTM, with the backward pass written out
recurrence_on_gpu    all steps of an RNN, LSTM or GRU by PyTorch's own layers, on a GPU
one_product          query, key and value by one product, on a GPU

    with without_kernels():
        history = train(model, batches, config)
"""

from course.kernels.switch import faster_by, without_kernels

__all__ = ["faster_by", "without_kernels"]
