"""One Chromium for all tests of the page; without it they are skipped."""
import json
import pathlib
import re

import pytest

import page_browser
from baton._load import core


@pytest.fixture(scope="session")
def browser():
    if not page_browser.program():
        pytest.skip("Chromium is not installed: apt-get install chromium-headless-shell, or name one in BATON_CHROMIUM")
    with page_browser.Browser() as found:
        yield found


def changed(text, change):
    """The page with other data: `change` gets what it holds."""
    head, data, tail = re.fullmatch(r'(.*id="data">)(.*?)(</script>.*)', text, re.S).groups()
    held = json.loads(data)
    change(held)
    return head + json.dumps(held).replace("<", "\\u003c") + tail


@pytest.fixture
def open_page(browser, tmp_path):
    """open_page(text, change=None, fragment="#op=1", ...): a page, perhaps with other data. At the end nothing may have complained."""
    pages = []

    def opened(text, change=None, **options):
        path = pathlib.Path(tmp_path) / f"page{len(pages)}.html"
        path.write_text(changed(text, change) if change else text, encoding="utf-8")
        pages.append(browser.page(path, **options))
        return pages[-1]

    yield opened
    for page in pages:
        assert page.complaints() == []
        page.close()


@pytest.fixture
def show(open_page):
    """show(profile[, after], fragment="#op=1", ...): the page of it, open. `change(report)` may alter what the page holds."""
    def opened(profile, after=None, change=None, **options):
        text = core.profile_page(json.dumps(profile), after and json.dumps(after))
        return open_page(text, change and (lambda held: change(held[-1])), **options)

    return opened
