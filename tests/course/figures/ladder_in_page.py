"""The ladder's models as a page has them, and what torch says of the same stories, in files for modules."""

import json
from dataclasses import replace

import torch

from course.figures.parcels import grammar, parcels, rounded
from course.ladder import RUNGS, SCALES, Corpus, recorded_model
from course.ladder.weights import kept

TITLES = ["truth", *(rung.title for rung in RUNGS.values() if rung.name != "uniform")]
CLOSE = 1e-4  # nats


def hundred_stories():
    return Corpus(replace(SCALES["default"], n_test_stories=100), seed=0)


def a_model(name, corpus):
    """The recorded model, or an untrained one where no weights are kept."""
    if name in kept():
        return recorded_model(name, corpus)
    torch.manual_seed(0)
    return RUNGS[name].build(corpus, 1.0).eval()


def all_models(corpus):
    """The models by title."""
    return {RUNGS[name].title: a_model(name, corpus) for name in RUNGS if name != "uniform"}


def as_rounded(recorded, corpus):
    """The models with the weights that a page has."""
    found = {}
    for name, rung in RUNGS.items():
        if rung.training is not None:
            found[rung.title] = a_model(name, corpus)
            found[rung.title].load_state_dict(rounded(recorded[rung.title].state_dict()))
        elif rung.title in recorded:
            found[rung.title] = recorded[rung.title]
    return found


def write(folder, corpus, recorded):
    """Write given.json, stories.json and, for each model and the truth, NAME.f32."""
    language = corpus.language
    given = parcels(recorded, language.vocabulary.bos) | {"grammar": grammar(language)}
    stories = [row[mask][:-1] for row, mask in zip(corpus.test.tokens, corpus.test.mask, strict=True)]
    (folder / "given.json").write_text(json.dumps(given))
    (folder / "stories.json").write_text(json.dumps([story.tolist() for story in stories]))
    for title, model in {"truth": language, **as_rounded(recorded, corpus)}.items():
        with torch.no_grad():
            expected = torch.cat([model(story[None])[0] for story in stories])
        expected.float().numpy().tofile(folder / f"{title}.f32")


def check(compared, capsys):
    """Print the table; every model must have read every story and say what torch says."""
    with capsys.disabled():
        for title, told in compared.items():
            print(f"\n{title:14} {told['largest']:.1e} nats {told['milliseconds']:.2f} ms a token", end="")
    assert list(compared) == TITLES
    for told in compared.values():
        assert told["finished"]
        assert told["largest"] < CLOSE
