"""The tree is what the packages promise: one namespace, four distributions, one version."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MEMBERS = ("core", "nn", "optim", "gradcheck")


def source(member: str) -> Path:
    return ROOT / "packages" / f"clumsygrad-{member}" / "src" / "clumsygrad"


@pytest.mark.parametrize("member", MEMBERS)
def test_a_member_ships_its_own_folder_and_nothing_else(member: str) -> None:
    assert [path.name for path in source(member).iterdir() if path.name != "__pycache__"] == [member]
    assert (source(member) / member / "py.typed").read_bytes() == b""
    assert not (source(member) / "__init__.py").exists()


@pytest.mark.parametrize("member", MEMBERS)
def test_a_member_has_its_papers(member: str) -> None:
    folder = ROOT / "packages" / f"clumsygrad-{member}"
    assert not (folder / "LICENSE").is_symlink()
    assert (folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert "pip install" in (folder / "README.md").read_text()
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["name"] == f"clumsygrad-{member}"
    assert project["license"] == "MIT"
    assert project["requires-python"] == ">=3.11"
    assert "Typing :: Typed" in project["classifiers"]
    version = version_of(member)
    assert f"## {version}" in (folder / "CHANGELOG.md").read_text()


def version_of(member: str) -> str:
    found = re.search(r'^__version__ = "(.+)"$', (source(member) / member / "__init__.py").read_text(), re.MULTILINE)
    assert found is not None
    return found.group(1)


def test_versions_and_pins_agree() -> None:
    versions = {version_of(member) for member in MEMBERS}
    assert len(versions) == 1
    major, minor, _ = versions.pop().split(".")
    for member in MEMBERS[1:]:
        folder = ROOT / "packages" / f"clumsygrad-{member}"
        requirements = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["dependencies"]
        names = {re.split(r"[>=<]", requirement)[0] for requirement in requirements}
        assert names == {"clumsygrad-core", "numpy"}
        assert any(
            requirement.startswith(f"clumsygrad-core>={major}.{minor}.")
            and requirement.endswith(f"<{major}.{int(minor) + 1}")
            for requirement in requirements
        )
    core = tomllib.loads((ROOT / "packages/clumsygrad-core/pyproject.toml").read_text())["project"]["dependencies"]
    assert core == ["numpy>=2.0"]
