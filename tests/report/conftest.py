"""The browser on the path, driven by Playwright."""

from __future__ import annotations

import shutil

import pytest

#: No network, no graphics card, no first-run pages; the sandbox does not work for root.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser():
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if path is None:
        pytest.skip(
            "NO BROWSER: the report is NOT TESTED. Install chromium (`make programs`, or your "
            "system's packages) to run these tests."
        )
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a selection's report; the console must stay empty and nothing be fetched."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(120_000)  # ms; a busy machine is slow, not wrong
    complaints, requests = [], []

    def open_it(selection, **arguments):
        path = tmp_path / "report.html"
        selection.to_html(path, **arguments)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-pictures=true]")
        return page

    yield open_it
    context.close()
    assert complaints == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in requests), requests
