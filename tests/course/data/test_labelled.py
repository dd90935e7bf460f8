"""Sentiment, named entities and answer spans: the stated best accuracy, against enumerating every draw."""

import itertools
import math
from collections import defaultdict
from random import Random

import pytest

from course.data import answer_spans, labelled, named_entities, sentiment
from course.data.answer_spans import SpanConfig, SpanQuestion, draw_questions, possible_answers
from course.data.named_entities import TAGS, EntityConfig, VerbPattern, best_tags, draw_tagged_sentences
from course.data.sentiment import SentimentConfig, draw_reviews, positive_probability

N_DRAWS = 8_000
# A mean of N_DRAWS numbers from 0 to 1 misses its expectation by more once in 10⁷ seeds (Hoeffding).
SAMPLING_ERROR = math.sqrt(math.log(2e7) / (2 * N_DRAWS))

SMALL_REVIEWS = SentimentConfig(
    max_opinions=3,
    reliability=0.8,
    p_negation=0.25,
    subjects=("plot",),
    positive=("good", "fine"),
    negative=("bad",),
)
SMALL_ENTITIES = EntityConfig(
    max_clauses=1,
    people=("ada", "paris"),
    places=("paris", "new york"),
    organisations=("new york times", "ada"),
    verbs=(
        VerbPattern("likes", (1.0, 0.0, 0.0), (0.2, 0.5, 0.3)),
        VerbPattern("works for", (0.6, 0.0, 0.4), (0.0, 0.0, 1.0)),
    ),
)
SMALL_SPANS = SpanConfig(
    min_facts=1,
    max_facts=3,
    p_colour=0.3,
    people=("ada",),
    verbs=("put",),
    colours=("red", "blue"),
    things=("ball", "key"),
    places=("here",),
)


def every_review(config: SentimentConfig) -> dict[str, list[float]]:
    """P(words, label) of every review, by trying each label, polarity, negation and word."""
    joint: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for label in (0, 1):
        opinions = []
        for polarity, is_negated, subject in itertools.product((0, 1), (False, True), config.subjects):
            p = config.reliability if polarity == label else 1 - config.reliability
            p *= config.p_negation if is_negated else 1 - config.p_negation
            adjectives = (config.negative, config.positive)[polarity ^ is_negated]
            for adjective in adjectives:
                text = f"the {subject} is {'not ' * is_negated}{adjective}"
                opinions.append((text, p / len(config.subjects) / len(adjectives)))
        for m in range(1, config.max_opinions + 1):
            for chosen in itertools.product(opinions, repeat=m):
                p = math.prod(p for _, p in chosen) / 2 / config.max_opinions
                joint[" and ".join(text for text, _ in chosen) + " ."][label] += p
    return joint


def test_the_best_accuracy_on_reviews_is_that_of_trying_every_review():
    joint = every_review(SMALL_REVIEWS)
    assert sum(map(sum, joint.values())) == pytest.approx(1)
    assert sentiment.best_accuracy(SMALL_REVIEWS) == pytest.approx(sum(map(max, joint.values())))


def test_the_probability_of_a_label_is_that_of_trying_every_review():
    for text, (negative, positive) in every_review(SMALL_REVIEWS).items():
        assert positive_probability(SMALL_REVIEWS, text.split()) == pytest.approx(
            positive / (positive + negative)
        )


def test_drawn_reviews_have_the_probabilities_of_the_enumeration():
    joint = every_review(SMALL_REVIEWS)
    drawn = [
        (" ".join(review.words).replace(" but ", " and "), review.label)
        for review in draw_reviews(SMALL_REVIEWS, N_DRAWS, Random(0))
    ]
    for text in sorted(joint, key=lambda text: -sum(joint[text]))[:12]:
        for label in (0, 1):
            assert abs(drawn.count((text, label)) / N_DRAWS - joint[text][label]) < SAMPLING_ERROR


def test_going_with_the_majority_reaches_the_best_accuracy_on_drawn_reviews():
    config = SentimentConfig()
    right = 0.0
    for review in draw_reviews(config, N_DRAWS, Random(1)):
        p = positive_probability(config, review.words)
        right += 0.5 if p == 0.5 else (p > 0.5) == review.label
    assert abs(right / N_DRAWS - sentiment.best_accuracy(config)) < SAMPLING_ERROR


def test_words_without_their_negation_are_a_worse_guide():
    config = SentimentConfig(max_opinions=1)
    reviews = draw_reviews(config, N_DRAWS, Random(2))
    by_words = sum((review.words[-2] in config.positive) == review.label for review in reviews) / N_DRAWS
    assert sentiment.best_accuracy(config) == pytest.approx(config.reliability)
    assert by_words < config.reliability - 2 * SAMPLING_ERROR


def every_tagged_clause(config: EntityConfig) -> dict[str, dict[tuple[str, ...], float]]:
    """P(words, tags) of every sentence of one clause."""
    joint: dict[str, dict[tuple[str, ...], float]] = defaultdict(lambda: defaultdict(float))
    kinds = list(zip(("PER", "LOC", "ORG"), config.names, strict=True))
    for pattern in config.verbs:
        sides = []
        for probabilities in (pattern.before, pattern.after):
            side = []
            for p, (kind, names) in zip(probabilities, kinds, strict=True):
                for name in names:
                    inside = (f"I-{kind}",) * name.count(" ")
                    side.append((name, (f"B-{kind}", *inside), p / len(names)))
            sides.append(side)
        outside = ("O",) * len(pattern.verb.split())
        for (first, first_tags, p), (second, second_tags, q) in itertools.product(*sides):
            tags = (*first_tags, *outside, *second_tags, "O")
            joint[f"{first} {pattern.verb} {second} ."][tags] += p * q / len(config.verbs)
    return joint


def test_the_best_tagging_accuracy_is_that_of_trying_every_sentence():
    right = words = right_names = names = 0.0
    for text, taggings in every_tagged_clause(SMALL_ENTITIES).items():
        for place in range(len(text.split())):
            votes: dict[str, float] = defaultdict(float)
            for tags, p in taggings.items():
                votes[tags[place]] += p
            right += max(votes.values())
            words += sum(votes.values())
            if any(tag.startswith("B") for tag in votes):
                right_names += max(votes.values())
                names += sum(votes.values())
    best = named_entities.best_accuracy(SMALL_ENTITIES)
    assert best.words == pytest.approx(right / words)
    assert best.names == pytest.approx(right_names / names)


def test_the_best_tags_are_the_most_probable_ones_of_every_sentence():
    for text, taggings in every_tagged_clause(SMALL_ENTITIES).items():
        chosen = tuple(best_tags(SMALL_ENTITIES, text.split()))
        assert taggings[chosen] == pytest.approx(max(taggings.values()))


def test_drawn_sentences_have_the_probabilities_of_the_enumeration():
    drawn = draw_tagged_sentences(SMALL_ENTITIES, N_DRAWS, Random(3))
    for text, taggings in every_tagged_clause(SMALL_ENTITIES).items():
        for tags, p in taggings.items():
            count = sum(one.tags == tags and " ".join(one.words) == text for one in drawn)
            assert abs(count / N_DRAWS - p) < SAMPLING_ERROR


def test_the_best_tagger_reaches_the_best_accuracy_on_drawn_sentences():
    config = EntityConfig()
    drawn = draw_tagged_sentences(config, N_DRAWS, Random(4))
    right = sum(
        tag == best
        for sentence in drawn
        for tag, best in zip(sentence.tags, best_tags(config, sentence.words), strict=True)
    )
    n_words = sum(len(sentence.words) for sentence in drawn)
    assert abs(right / n_words - named_entities.best_accuracy(config).words) < SAMPLING_ERROR


def test_tags_are_in_bio_form_and_fit_their_words():
    for sentence in draw_tagged_sentences(EntityConfig(), 300, Random(5)):
        assert len(sentence.tags) == len(sentence.words)
        assert set(sentence.tags) <= set(TAGS)
        for before, tag in itertools.pairwise(sentence.tags):
            assert not tag.startswith("I-") or before[2:] == tag[2:]


def test_a_name_needs_the_words_on_both_sides():
    def tags(text: str) -> list[str]:
        return best_tags(EntityConfig(), text.split())

    assert tags("washington bought washington post .")[0] == "B-PER"
    assert tags("ada visited washington .")[2] == "B-LOC"
    assert tags("ada bought new york times .")[2:] == ["B-ORG", "I-ORG", "I-ORG", "O"]


def every_question(config: SpanConfig) -> dict[tuple[str, str], dict[int, float]]:
    """P(passage, question, index of the statement that is meant)."""
    joint: dict[tuple[str, str], dict[int, float]] = defaultdict(lambda: defaultdict(float))
    statements = list(itertools.product(config.colours, config.things))
    counts = range(config.min_facts, config.max_facts + 1)
    for n in counts:
        for facts in itertools.product(statements, repeat=n):
            passage = " ".join(f"ada put the {colour} {thing} here ." for colour, thing in facts)
            for i, (colour, thing) in enumerate(facts):
                p = 1 / len(counts) / len(statements) ** n / n
                joint[passage, f"where is the {thing} ?"][i] += p * (1 - config.p_colour)
                joint[passage, f"where is the {colour} {thing} ?"][i] += p * config.p_colour
    return joint


def test_the_best_accuracy_on_spans_is_that_of_trying_every_question():
    joint = every_question(SMALL_SPANS)
    assert sum(sum(meant.values()) for meant in joint.values()) == pytest.approx(1)
    best = sum(max(meant.values()) for meant in joint.values())
    assert answer_spans.best_accuracy(SMALL_SPANS) == pytest.approx(best)


def test_the_possible_answers_are_those_of_the_enumeration_and_equally_likely():
    for (passage, question), meant in every_question(SMALL_SPANS).items():
        asked = SpanQuestion(tuple(question.split()), tuple(passage.split()), 0, 0)
        assert possible_answers(SMALL_SPANS, asked) == [(7 * i + 5, 7 * i + 5) for i in sorted(meant)]
        assert max(meant.values()) == pytest.approx(min(meant.values()))


def test_guessing_among_the_possible_answers_reaches_the_best_accuracy():
    config, rng = SpanConfig(), Random(6)
    questions = draw_questions(config, N_DRAWS, Random(7))
    right = sum(rng.choice(possible_answers(config, one)) == (one.first, one.last) for one in questions)
    assert abs(right / N_DRAWS - answer_spans.best_accuracy(config)) < SAMPLING_ERROR


def test_the_answer_is_a_place_of_the_passage():
    config = SpanConfig()
    for question in draw_questions(config, 200, Random(8)):
        assert " ".join(question.answer) in config.places


@pytest.mark.parametrize("draw", [draw_reviews, draw_tagged_sentences, draw_questions])
def test_the_same_seed_draws_the_same_data(draw):
    config = {
        draw_reviews: SentimentConfig,
        draw_tagged_sentences: EntityConfig,
        draw_questions: SpanConfig,
    }[draw]()
    first, again, other = (draw(config, 20, Random(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_the_contents_of_the_module_are_those_it_lists():
    assert all(hasattr(labelled, name) for name in labelled.__all__)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SentimentConfig(reliability=0.5), "reliability: expected a number between"),
        (lambda: SentimentConfig(max_opinions=0), "max_opinions: expected at least 1, got 0"),
        (lambda: SentimentConfig(positive=("fine",), negative=("fine",)), "positive and negative at once"),
        (lambda: EntityConfig(verbs=(VerbPattern("sees", (1, 1, 0), (1, 0, 0)),)), "sees: expected shares"),
        (lambda: EntityConfig(max_clauses=0), "max_clauses: expected at least 1"),
        (lambda: SpanConfig(min_facts=3, max_facts=2), "got 3 and 2"),
        (lambda: SpanConfig(p_colour=2), "p_colour: expected a probability"),
        (lambda: draw_reviews(SentimentConfig(), 0, Random()), "n_reviews: expected at least 1"),
        (lambda: draw_tagged_sentences(EntityConfig(), 0, Random()), "n_sentences: expected at least 1"),
        (lambda: draw_questions(SpanConfig(), 0, Random()), "n_questions: expected at least 1"),
    ],
)
def test_bad_settings_are_explained(call, message):
    with pytest.raises(ValueError, match=message):
        call()
