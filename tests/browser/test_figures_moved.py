"""Every figure of every page is moved by the keyboard and by the mouse, and no button is idle."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LECTURES = sorted(path.stem for path in (ROOT / "lectures").glob("*.ipynb"))
PAGES = ["index", "break_it", *(f"lectures/{name}" for name in LECTURES)]
PATIENCE = 2_000  # milliseconds: some figures run a model after a change

CONTROLS = ":is(.lmf-row, .story) :is(input, select, button), .picture [tabindex='0']"
# What a figure shows, without where the focus is.
SHOWN = """figure => [figure.querySelector('.picture > svg')?.outerHTML, figure.innerText,
  ...[...figure.querySelectorAll('input, select')].map(({ value, checked }) => value + checked)].join('|')"""
IS_OTHER = f"([figure, before]) => ({SHOWN})(figure) !== before"
KIND = "control => control.type ?? control.getAttribute('role') ?? 'part'"
KEYS = {
    "range": ("ArrowRight", "ArrowLeft"),
    "select-one": ("ArrowDown", "ArrowUp"),
    "checkbox": ("Space",),
    "button": ("Enter",),
    "submit": ("Enter",),
}
IN_A_PICTURE = ("ArrowRight", "ArrowUp", "Enter", "ArrowLeft")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("page", ["light"], indirect=True)
def test_every_figure_obeys_keys_and_mouse_and_every_button_does_something(page, address, name):
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{address}/{name}.html", wait_until="load")
    page.wait_for_selector(".lmf .picture > svg > *", state="attached", timeout=60_000)
    page.wait_for_function("!document.querySelector('.lmf')?.innerText.includes('Unpacking')", timeout=60_000)
    still = [(title(figure), "keys") for figure in figures(page) if not obeys(figure, by_key)]
    page.set_viewport_size({"width": 400, "height": 900})
    page.emulate_media(color_scheme="dark")
    still += [(title(figure), "mouse") for figure in figures(page) if not obeys(figure, by_mouse)]
    still += [(title(figure), label) for figure in figures(page) for label in idle_buttons(figure)]
    assert still == []
    assert page.faults == []


def obeys(figure, way):
    """Whether some control of the figure moves it in this way."""
    return any(way(figure, control) for control in controls(figure))


def idle_buttons(figure):
    """The buttons that do nothing when pressed, not even in a second round; a word that is gone is none."""
    buttons = figure.locator(".lmf-row button:visible:enabled")
    waiting = buttons.all_inner_texts()
    for _ in range(2):
        for label in [*waiting]:
            button = buttons.filter(has_text=re.compile(f"^{re.escape(label)}$")).first
            if not button.count() or changes(figure, button.click):
                waiting.remove(label)
        if waiting:  # "Back to the start" does nothing at the start
            for slider in figure.locator(".lmf-row input[type=range]:visible:enabled").all():
                by_key(figure, slider)
    return waiting


def figures(page):
    """The figures of a page that are alive; there is at least one."""
    found = page.locator(".live[data-alive] .lmf")
    assert found.count() >= 1
    return found.all()


def title(figure):
    return figure.locator(".picture > svg").first.get_attribute("aria-label")


def controls(figure):
    """Each control that can be used; the menu of numbers is not one."""
    for control in figure.locator(CONTROLS).all():
        is_in_menu = control.evaluate("control => Boolean(control.closest('.more'))")
        if not is_in_menu and control.is_visible() and control.is_enabled():
            yield control


def changes(figure, act):
    """Whether a figure shows something else after an act."""
    before = figure.evaluate(SHOWN)
    act()
    try:
        figure.page.wait_for_function(
            IS_OTHER, arg=[figure.element_handle(), before], timeout=PATIENCE, polling=50
        )
    except Exception as error:
        if "Timeout" not in str(error):
            raise
        return False
    return True


def by_key(figure, control):
    """Whether the figure obeys a key that such a control knows."""
    kind = control.evaluate(KIND)
    if kind == "text":
        return False
    return any(changes(figure, lambda key=key: control.press(key)) for key in KEYS.get(kind, IN_A_PICTURE))


def by_mouse(figure, control):
    """Whether the figure obeys a press; a menu's list is not the page's, so menus are left out."""
    kind = control.evaluate(KIND)
    if kind in ("text", "select-one"):
        return False
    control.scroll_into_view_if_needed()
    if kind != "range":
        return changes(figure, control.click)
    box = control.bounding_box()
    is_left = control.evaluate("range => range.value - range.min < (range.max - range.min) / 2")
    at = {"x": box["width"] * (0.9 if is_left else 0.1), "y": box["height"] / 2}
    return changes(figure, lambda: control.click(position=at))
