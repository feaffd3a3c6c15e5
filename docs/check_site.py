"""Check the built site: internal links, examples that ran, and the search in a real browser.

`make docs` runs this after the build. Without chromium the search is not checked, and that is said.
"""

from __future__ import annotations

import shutil
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

DOCS = Path(__file__).parent
SITE = DOCS / "_build" / "html"
#: What a reader may search for, and a page that must be among the answers.
SEARCHES = {
    "false discovery rate": "choose.html",
    "Boruta": "boruta.html",
    "NIfTI": "neuroimaging.html",
}


class Links(HTMLParser):
    """Addresses and anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what the tag refers to, and its name."""
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.targets.add(value)
            elif value and name in ("id", "name"):
                self.anchors.add(value)


@cache
def links(path: Path) -> Links:
    """Addresses and anchors of one file."""
    found = Links()
    found.feed(path.read_text("utf-8"))
    return found


def broken_links() -> list[str]:
    """Internal links that lead nowhere, as page: address."""
    found = []
    for page in sorted(SITE.rglob("*.html")):
        for target in sorted(links(page).targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or target == "#":
                continue
            path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            path = path / "index.html" if path.is_dir() else path
            anchor = unquote(parts.fragment)
            if not path.exists() or (
                anchor and path.suffix == ".html" and anchor not in links(path).anchors
            ):
                found.append(f"{page.relative_to(SITE)}: {target}")
    return found


def examples_that_did_not_run() -> list[str]:
    """Examples without a page that shows their output or their time."""
    pages = {path: SITE / "gallery" / f"{path.stem}.html" for path in DOCS.glob("../examples/*.py")}
    return [
        path.name
        for path, page in pages.items()
        if not page.exists() or "Total running time" not in page.read_text("utf-8")
    ]


def failed_searches() -> list[str]:
    """Searches without the page that they should find, in a browser."""
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser_path is None:
        print("NOT HERE: chromium; the search was NOT CHECKED.", file=sys.stderr)
        return []
    from playwright.sync_api import sync_playwright

    failed = []
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--allow-file-access-from-files"]
        browser = playwright.chromium.launch(executable_path=browser_path, args=arguments)
        for words, expected in SEARCHES.items():
            page = browser.new_page()
            page.goto(f"{(SITE / 'search.html').as_uri()}?q={quote(words)}")
            page.wait_for_selector("#search-results .search-summary:not(:empty)", timeout=30_000)
            found = page.eval_on_selector_all("#search-results li a", "a => a.map(x => x.href)")
            print(f"search for {words!r}: {len(found)} results")
            if not any(urlsplit(address).path.endswith(f"/{expected}") for address in found):
                failed.append(f"{words!r} does not find {expected}")
            page.close()
        browser.close()
    return failed


def main() -> None:
    """Print what is wrong, and fail if anything is."""
    pages = len(list(SITE.rglob("*.html")))
    wrong = [f"broken link: {link}" for link in broken_links()]
    wrong += [f"did not run: {name}" for name in examples_that_did_not_run()]
    wrong += [f"search: {words}" for words in failed_searches()]
    print("\n".join([*wrong, f"{pages} pages checked, {len(wrong)} things wrong"]))
    if wrong or not pages:
        sys.exit(1)


if __name__ == "__main__":
    main()
