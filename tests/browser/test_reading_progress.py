"""What a reader has read is kept in the browser alone; the pages work where nothing can be kept."""

KEEPS_NOTHING = """Object.defineProperty(window, 'localStorage', {
  get() { throw new DOMException('storage is switched off', 'SecurityError'); } })"""


def read(page, address):
    """The lectures with a tick on the first page."""
    page.goto(f"{address}/index.html")
    return page.locator("[data-lecture].is-read").evaluate_all(
        "cards => cards.map(card => card.dataset.lecture)"
    )


def mark(page, address, lecture):
    page.goto(f"{address}/lectures/{lecture}.html")
    return page.get_by_label("I have read this lecture")


def test_a_lecture_that_was_read_has_a_tick_until_the_reader_takes_it_back(page, address):
    assert read(page, address) == []
    for lecture in ("03_perplexity", "01_chain_rule"):
        box = mark(page, address, lecture)
        assert not box.is_checked()
        box.check()
    assert read(page, address) == ["01_chain_rule", "03_perplexity"]
    box = mark(page, address, "03_perplexity")
    assert box.is_checked()
    box.uncheck()
    assert read(page, address) == ["01_chain_rule"]


def test_a_browser_that_keeps_nothing_shows_the_same_pages(page, address):
    page.add_init_script(KEEPS_NOTHING)
    mark(page, address, "01_chain_rule").check()
    assert read(page, address) == []
    assert page.locator("[data-lecture]").count() > 10
