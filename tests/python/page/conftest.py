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


@pytest.fixture
def show(browser, tmp_path):
    """show(profile[, after], fragment="#op=1", ...): the page of it, open. At the end nothing may have complained.
    `change(report)` may alter what the page holds."""
    pages = []

    def opened(profile, after=None, change=None, **options):
        path = pathlib.Path(tmp_path) / f"page{len(pages)}.html"
        text = core.profile_page(json.dumps(profile), after and json.dumps(after))
        if change:
            head, data, tail = re.fullmatch(r'(.*id="data">)(.*?)(</script>.*)', text, re.S).groups()
            held = json.loads(data)
            change(held[-1])
            text = head + json.dumps(held) + tail
        path.write_text(text, encoding="utf-8")
        pages.append(browser.page(path, **options))
        return pages[-1]

    yield opened
    for page in pages:
        assert page.complaints() == []
        page.close()
