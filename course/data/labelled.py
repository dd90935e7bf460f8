"""Three small generated data sets with labels, whose best possible (Bayes-optimal) accuracy is known exactly.

    sentiment        a review → positive or negative                     one label per text
    named_entities   a sentence → BIO tags                               one label per word
    answer_spans     a passage and a question → first and last word      two positions

A model below the best accuracy can still improve; one that exceeds it by more than chance has seen the test
set.
"""

from course.data.answer_spans import SpanConfig, SpanQuestion, draw_questions
from course.data.named_entities import TAGS, EntityConfig, TaggedSentence, draw_tagged_sentences
from course.data.sentiment import Review, SentimentConfig, draw_reviews

__all__ = [
    "TAGS",
    "EntityConfig",
    "Review",
    "SentimentConfig",
    "SpanConfig",
    "SpanQuestion",
    "TaggedSentence",
    "draw_questions",
    "draw_reviews",
    "draw_tagged_sentences",
]
