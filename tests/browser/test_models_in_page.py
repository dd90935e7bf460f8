"""In the browser, too, every rung of the ladder says of 100 stories what torch says."""

import shutil
from pathlib import Path

import ladder_in_page
import pytest

ROOT = Path(__file__).parents[2]
MODULES = ("course/figures/models", "tests/course/figures")  # which import from each other
COMPARED = """async () => {
  const { compared } = await import('/tests/course/figures/compared_models.mjs');
  const json = async (name) => (await fetch(`/${name}.json`)).json();
  const expected = async (name) => new Float32Array(await (await fetch(`/${name}.f32`)).arrayBuffer());
  return compared(await json('given'), await json('stories'), expected);
}"""


@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_every_model_says_what_torch_says(page, serve, tmp_path, capsys):
    for folder in MODULES:
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.py*"))
    corpus = ladder_in_page.hundred_stories()
    ladder_in_page.write(tmp_path, corpus, ladder_in_page.all_models(corpus))
    (tmp_path / "index.html").write_text("<!doctype html><title>Models</title>")
    page.goto(f"{serve(tmp_path)}/index.html")
    ladder_in_page.check(page.evaluate(COMPARED), capsys)
    assert page.faults == []
