"""Links between the pages of the project lead somewhere, and the index names pages that exist."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT

FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?^ {0,3}\1[`~]*\s*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
INLINE = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'][^)]*)?\)")
REFERENCE = re.compile(r"^ {0,3}\[[^]]+\]:\s*<?(\S+?)>?\s*$", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
PAGE_NAME = re.compile(r"`(?:docs/)?([a-z0-9-]+\.md)`")


def pages() -> list[Path]:
    """The README and every page of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def prose(text: str) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", text)


def links(text: str) -> Iterator[str]:
    """Each target that stands in a page, of inline links and of reference definitions."""
    plain = CODE.sub("", prose(text))
    for pattern in (INLINE, REFERENCE):
        yield from (match[1] for match in pattern.finditer(plain))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the usual renderers make them."""
    found: set[str] = set()
    for heading in HEADING.findall(prose(page.read_text(encoding="utf-8"))):
        words = re.sub(r"[^\w\- ]", "", re.sub(r"\]\([^)]*\)", "", heading)).strip().lower()
        anchor, repeated = words.replace(" ", "-"), 0
        while anchor in found:
            repeated += 1
            anchor = f"{words.replace(' ', '-')}-{repeated}"
        found.add(anchor)
    return found


def broken(page: Path) -> list[str]:
    """The relative links of a page that lead to nothing."""
    wrong: list[str] = []
    for link in links(page.read_text(encoding="utf-8")):
        if ELSEWHERE.match(link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        missing = not target.exists() or not target.is_relative_to(ROOT)
        if missing or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    """To a file or folder of this checkout, and to a heading where one is named."""
    assert broken(page) == []


def test_every_page_that_the_index_names_exists() -> None:
    """By a link or by its name alone; a tree without an index names none."""
    index = ROOT / "docs" / "index.md"
    text = index.read_text(encoding="utf-8") if index.exists() else ""
    named = {match[1] for match in PAGE_NAME.finditer(prose(text))}
    linked = {link.partition("#")[0] for link in links(text) if not ELSEWHERE.match(link)}
    missing = {name for name in named | linked if name and not (ROOT / "docs" / name).exists()}

    assert missing == set()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[a](missing.md)", ["missing.md"]),
        ("[a](here.md#no-such-part)", ["here.md#no-such-part"]),
        ("[a](here.md#a-part-of-it)", []),
        ("[a](#nowhere)", ["#nowhere"]),
        ('[a](missing.md "a title")', ["missing.md"]),
        ("[a][b]\n\n[b]: missing.md\n", ["missing.md"]),
        ("`[a](missing.md)` and\n\n```\n[a](missing.md)\n```\n", []),
        ("[a](https://example.com/missing.md)", []),
    ],
)
def test_a_link_that_leads_nowhere_is_seen(
    text: str, wrong: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check is seen to fail, and what is no link of the tree passes."""
    monkeypatch.setattr("tests.architecture.test_links.ROOT", tmp_path.resolve())
    page = tmp_path.resolve() / "page.md"
    page.write_text(text, encoding="utf-8")
    (tmp_path / "here.md").write_text("# Here\n\n## A part of it\n", encoding="utf-8")

    assert broken(page) == wrong
