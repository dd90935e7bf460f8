"""A course on language models: data, models, training, sampling, evaluation, figures and checks."""
