"""On paper a page shows all that is folded and nothing that is pressed, in dark ink on white."""

import pytest

PAGES = ["index", "lectures/12_self_attention", "lectures/14_transformer_block"]
ARTICLE = ".bd-article"
# Buttons, sliders and menus that would be printed.
PRESSED = f"""() => [...document.querySelectorAll('{ARTICLE} :is(button, input, select)')]
  .filter(each => each.checkVisibility()).map(each => each.outerHTML.slice(0, 80))"""
FOLDED = f"""() => [
  ...[...document.querySelectorAll('{ARTICLE} details:not([open])')],
  ...[...document.querySelectorAll('{ARTICLE} .cell_input .highlight')]
    .filter(code => code.checkVisibility() && code.scrollHeight > code.clientHeight + 1),
].map(each => each.innerText.slice(0, 60))"""
# Words that are lighter than 3 : 1 on white, and grounds behind them that are dark.
PALE = f"""() => {{
  const canvas = document.createElement('canvas').getContext('2d', {{ willReadFrequently: true }});
  const light = (colour) => {{
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    const linear = [r, g, b].map(v => v / 255)
      .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return [0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2], a / 255];
  }};
  const found = new Set();
  for (const each of document.querySelectorAll('{ARTICLE}, {ARTICLE} *')) {{
    if (!each.checkVisibility()) continue;
    const style = getComputedStyle(each), [ground, alpha] = light(style.backgroundColor);
    if (alpha > 0.5 && ground < 0.5) found.add(`dark ground: ${{each.tagName}}.${{each.className}}`);
    const says = [...each.childNodes].some(child => child.nodeType === 3 && child.data.trim());
    const [ink] = light(each instanceof SVGElement ? style.fill : style.color);
    if (says && 1.05 / (ink + 0.05) < 3)
      found.add(`pale: ${{each.tagName}}.${{each.className}} ${{each.textContent.slice(0, 30)}}`);
  }}
  return [...found].slice(0, 12);
}}"""


@pytest.mark.parametrize("name", PAGES)
def test_a_printed_page_is_whole_and_has_no_buttons_and_dark_ink(page, address, name):
    page.goto(f"{address}/{name}.html", wait_until="load")
    page.wait_for_selector(".lmf .picture > svg > *", state="attached", timeout=60_000)
    assert page.pdf().startswith(b"%PDF")
    theme = page.evaluate("document.documentElement.dataset.theme")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # which a reader's browser says, too
    page.emulate_media(media="print")
    page.wait_for_timeout(300)  # colours glide
    assert page.evaluate(PRESSED) == []
    assert page.evaluate(FOLDED) == []
    assert page.evaluate(PALE) == []
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == theme
