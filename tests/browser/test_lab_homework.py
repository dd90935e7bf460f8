"""A homework from its stub to a successful validation, in JupyterLab with the network cut."""

import json

import pytest
from course_in_lab import EXERCISE, HOMEWORK, MISTAKE, mistake, solved, stub

from autograder.source.loading import load
from autograder.source.sample_submissions import reference_answers

ONLY_THE_BADGE = {"https://colab.research.google.com/assets/colab-badge.svg"}
# The lowest contrast of any words in a message with the ground they stand on, as WCAG computes it.
CONTRAST = r"""message => {
  const numbers = colour => colour.match(/[\d.]+/g).map(Number);
  const linear = c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const shares = [0.2126, 0.7152, 0.0722];
  const luminance = rgb => rgb.reduce((sum, c, i) => sum + shares[i] * linear(c / 255), 0);
  let ground = message;
  while (numbers(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
  const behind = numbers(getComputedStyle(ground).backgroundColor).slice(0, 3);
  const written = [...message.querySelectorAll('*')].filter(element =>
    [...element.childNodes].some(child => child.nodeType === 3 && /\w/.test(child.textContent)));
  return Math.min(...written.map(element => {
    const style = getComputedStyle(element), [r, g, b, a = 1] = numbers(style.color);
    const share = a * style.opacity, seen = [r, g, b].map((c, i) => share * c + (1 - share) * behind[i]);
    const [dark, light] = [luminance(seen), luminance(behind)].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  }));
}"""
MESSAGE = ".jp-RenderedHTMLCommon:has-text('known mistake')"


@pytest.fixture(scope="module")
def notebook(lab_course):
    """The released notebook in which one exercise is left to be written; its path in the course."""
    path = f"{HOMEWORK}.ipynb"
    (lab_course / path).write_text(json.dumps(solved(lab_course, **{EXERCISE: stub(lab_course)})))
    return path


@pytest.fixture(scope="module")
def homework(lab_course):
    return load(lab_course / "solutions" / HOMEWORK)


def test_the_homework_from_a_stub_to_validation(lab, notebook, homework):
    first = next(check for check in homework.checks if check.exercise == EXERCISE)
    known = next(entry for entry in homework.misconceptions if entry.name == MISTAKE)
    lab.open(notebook)
    assert lab.page.locator(".jp-MarkdownCell mjx-container").count() > 10

    lab.run_all()
    assert f"{EXERCISE} is not written yet" in outputs(lab, first)
    assert "Partial credit" in lab.validate()

    answer = lab.cell(f"def {EXERCISE}(")
    lab.write(answer, mistake(lab.course))
    lab.run_all()
    said = outputs(lab, first)
    assert said.index(first.claim) < said.index("received") < said.index(plain(known.diagnosis))
    assert said.index(plain(known.diagnosis)) < said.index(plain(known.question)) < said.index(" points")
    assert "Partial credit" in lab.validate()

    lab.write(answer, reference_answers(homework)[EXERCISE])
    lab.run_all()
    cells = {check.cell for check in homework.checks if not check.hidden}
    assert lab.page.locator(".jp-OutputArea-output", has_text="✓").count() == len(cells)
    assert lab.page.locator(".jp-OutputArea-output", has_text="✗").count() == 0
    assert "passes all the tests" in lab.validate()
    assert set(lab.page.asked) <= ONLY_THE_BADGE
    assert lab.page.faults == []


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_a_diagnosis_is_legible(lab, notebook, theme):
    lab.open(notebook)
    lab.choose("Settings", "Theme", theme)
    lab.write(lab.cell(f"def {EXERCISE}("), mistake(lab.course))
    lab.run_all()
    message = lab.page.locator(MESSAGE).first
    message.scroll_into_view_if_needed()
    assert lab.page.locator(f"body[data-jp-theme-name='{theme}']").count() == 1
    assert message.evaluate(CONTRAST) >= 4.5


def outputs(lab, check):
    return lab.cell(f"Checks of {check.exercise} ").locator(".jp-OutputArea").text_content()


def plain(text):
    """A text as it is read: without the marks of code, on one line."""
    return " ".join(text.replace("`", "").split())
