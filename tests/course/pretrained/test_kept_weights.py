"""Weights kept in the cache are used if whole and made of the same file, and made again otherwise."""

import importlib
import os

import pytest
import torch

from course.pretrained.gguf import GGUFFile
from course.pretrained.kept_weights import keep, kept

module = importlib.import_module("course.pretrained.smollm2")
WEIGHTS = {"gain": torch.arange(3.0), "W": torch.ones(2, 3), "views": torch.ones(4, 2).T}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "folder" / "weights.safetensors"
    keep({name: weight.contiguous() for name, weight in WEIGHTS.items()}, path, "a digest")
    return path


def test_what_is_kept_is_found_again_and_nothing_else_is_left(file):
    found = kept(file, "a digest")
    assert found.keys() == WEIGHTS.keys()
    assert all(found[name].equal(WEIGHTS[name]) for name in WEIGHTS)
    assert os.listdir(file.parent) == [file.name]


def test_weights_of_another_source_are_not_used(file):
    assert kept(file, "another digest") is None


@pytest.mark.parametrize("change", ["a bit", "the end", "everything", "the file"])
def test_damage_is_noticed(file, change):
    content = bytearray(file.read_bytes())
    if change == "a bit":
        content[-1] ^= 1
    changed = {"a bit": content, "the end": content[:-5], "everything": b"no weights", "the file": None}[
        change
    ]
    file.unlink() if changed is None else file.write_bytes(changed)
    assert kept(file, "a digest") is None
    keep({"W": torch.zeros(2)}, file, "a digest")
    assert kept(file, "a digest")["W"].equal(torch.zeros(2))


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path):
    (tmp_path / "a file").write_text("in the place of a folder")
    keep({"W": torch.zeros(2)}, tmp_path / "a file" / "weights.safetensors", "a digest")
    assert (tmp_path / "a file").read_text() == "in the place of a folder"


def test_a_second_load_computes_no_weight_again(smollm2, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    first = module.smollm2().model.state_dict()
    (copy,) = tmp_path.iterdir()
    monkeypatch.setattr(GGUFFile, "tensor", None)
    second = module.smollm2().model.state_dict()
    assert all(second[name].equal(first[name]) for name in first)
    assert second.keys() == first.keys() == smollm2.model.state_dict().keys()
    copy.write_bytes(copy.read_bytes()[:-1])
    with pytest.raises(TypeError):  # it is computed again, which is forbidden here
        module.smollm2()
