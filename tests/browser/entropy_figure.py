"""The figure of cross-entropy, entropy and divergence on a page: what it says, and what torch says."""

import torch

TITLE = "True and guessed probabilities"


def find(page):
    """The figure; it is the same in a notebook and on a page of the site."""
    figure = page.locator(f".lmf:has(svg[aria-label^='{TITLE}'])")
    figure.scroll_into_view_if_needed()
    figure.locator("summary").click()
    return figure


def said(figure):
    """Entropy, divergence and cross-entropy in bits, as written into the picture."""
    texts = figure.locator("svg text").all_text_contents()
    labels = ("entropy of p", "KL divergence of q from p", "cross-entropy")
    return torch.tensor([float(texts[texts.index(label) + 1]) for label in labels])


def guess(figure):
    """What the sliders stand at, as probabilities."""
    values = figure.locator("input[type=range]").evaluate_all(
        "sliders => sliders.map(slider => +slider.value)"
    )
    return torch.tensor(values) / sum(values)


def computed(figure):
    """The same three numbers from the true probabilities in the table of numbers and the sliders."""
    rows = [row.split("\t") for row in figure.locator("tbody tr").all_inner_texts()]
    truth = torch.tensor([float(row[1]) for row in rows])
    p, q = torch.distributions.Categorical(truth), torch.distributions.Categorical(guess(figure))
    divergence = torch.distributions.kl_divergence(p, q)
    return torch.stack([p.entropy(), divergence, p.entropy() + divergence]) / torch.tensor(2.0).log()


def agree(figure):
    """Fail unless the figure says what torch says, to the three digits it shows."""
    torch.testing.assert_close(said(figure), computed(figure), atol=0.0011, rtol=0)


def move(figure):
    """Move two sliders, one by mouse and one by keyboard, and compare after each; what it said in between."""
    sliders = figure.locator("input[type=range]")
    states = [said(figure)]
    agree(figure)
    sliders.nth(0).scroll_into_view_if_needed()
    box = sliders.nth(0).bounding_box()
    figure.page.mouse.move(box["x"] + 0.98 * box["width"], box["y"] + box["height"] / 2)
    figure.page.mouse.down()
    figure.page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + box["height"] / 2, steps=5)
    figure.page.mouse.up()
    agree(figure)
    states.append(said(figure))
    for _ in range(30):
        sliders.nth(1).press("ArrowLeft")
    agree(figure)
    return [*states, said(figure)]
