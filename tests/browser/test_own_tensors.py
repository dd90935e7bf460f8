"""A figure shows the reader's own numbers: what the page says is what torch says."""

import re

import pytest
import torch

from course import figures


@pytest.fixture
def weights():
    return torch.randn(2, 3, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64).softmax(-1)


def test_the_attention_figure_shows_the_readers_own_weights(weights, page, serve, tmp_path):
    figure = figures.attention(weights, ["a", "b", "c"])
    (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8><body>{figure.html()}")
    page.goto(f"{serve(tmp_path)}/page.html")
    page.locator(".lmf summary").click()
    rows = page.locator(".lmf .numbers tbody tr").all_inner_texts()
    shown = [[float(number) for number in re.findall(r"\d\.\d+", row)] for row in rows]
    torch.testing.assert_close(torch.tensor(shown, dtype=torch.float64), weights[0], atol=0.006, rtol=0)
    assert page.faults == []
