"""What the pages name exists."""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if not {"_build", "api"} & set(path.relative_to(DOCS).parts))
# The modules of 0.2, which the page on coming from it maps to today's.
FORMER = {"tensor", "math", "activation", "loss", "optimizer", "random", "grad"}


def names_on(page: Path) -> set[str]:
    found = re.findall(r"[`~<](clumsygrad(?:\.\w+)+)", page.read_text(encoding="utf-8"))
    return {name for name in found if name.split(".")[1] not in FORMER}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_every_name_on_a_page_exists(page: Path) -> None:
    for name in names_on(page):
        assert pkgutil.resolve_name(name) is not None


def test_the_pages_do_name_things() -> None:
    assert len(set().union(*map(names_on, PAGES))) > 30
