"""One Chromium for all tests of the page; without it they are skipped."""
import json
import pathlib

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
    """show(profile[, after], fragment="#op=1", ...): the page of it, open. At the end nothing may have complained."""
    pages = []

    def opened(profile, after=None, **options):
        path = pathlib.Path(tmp_path) / f"page{len(pages)}.html"
        path.write_text(core.profile_page(json.dumps(profile), after and json.dumps(after)), encoding="utf-8")
        pages.append(browser.page(path, **options))
        return pages[-1]

    yield opened
    for page in pages:
        assert page.complaints() == []
        page.close()
