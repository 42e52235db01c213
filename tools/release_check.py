"""Everything that has to hold before a release, and what would be published: ``hatch run release:check``.

It ends with a list of the archives. Nothing is uploaded; ``--member`` restricts it to some of the packages::

    hatch run release:check                          # all packages, Pythons and NumPys
    hatch run release:check --member core --quick    # one package on this Python with the newest NumPy
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import griffe

ROOT: Final = Path(__file__).parents[1]
MEMBERS: Final = ("core", "nn", "optim", "gradcheck")
PYTHONS: Final = ("3.11", "3.12", "3.13")
# The oldest NumPy that is supported and has a wheel for that Python.
OLDEST_NUMPY: Final = {"3.11": "2.0.0", "3.12": "2.0.0", "3.13": "2.1.0"}


class CheckError(Exception):
    """Something that forbids a release; its message says what."""


class Setting(NamedTuple):
    """Where a wheel is tested."""

    python: str
    numpy: str


def run(*command: str | Path, cwd: Path = ROOT, **variables: str) -> str:
    """Run a command and return what it printed; raise with all of it when it fails."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "HATCH"))}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False, env={**kept, **variables}
    )
    if done.returncode:
        shown = " ".join(str(part) for part in command)
        raise CheckError(f"{shown}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def folder(member: str) -> Path:
    """Return where a package lives."""
    return ROOT / "packages" / f"clumsygrad-{member}"


def version_of(member: str) -> str:
    """Return the version that a package's source states."""
    source = (folder(member) / "src" / "clumsygrad" / member / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    if found is None:
        raise CheckError(f"clumsygrad.{member} states no __version__")
    return found.group(1)


def section(path: Path, version: str) -> str:
    """Return what a changelog says about a version."""
    match = re.search(
        rf"^## \[?{re.escape(version)}\]?.*?\n(.*?)(?=^## |\Z)",
        path.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    if match is None or not match.group(1).strip():
        raise CheckError(f"{path.relative_to(ROOT)} says nothing about {version}")
    return match.group(1)


def check_versions() -> str:
    """Compare the versions, the pins and the changelogs."""
    versions = {member: version_of(member) for member in MEMBERS}
    if len(set(versions.values())) != 1:
        raise CheckError(f"the versions move together; found {versions}")
    version = versions["core"]
    major, minor, *_ = version.split(".")
    pin = f"clumsygrad-core>={version},<{major}.{int(minor) + 1}"
    for member in MEMBERS:
        project = tomllib.loads((folder(member) / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        if member != "core" and pin not in project["dependencies"]:
            raise CheckError(f"clumsygrad-{member} has to require {pin!r}; found {project['dependencies']}")
        section(folder(member) / "CHANGELOG.md", version)
    section(ROOT / "CHANGELOG.md", version)
    return f"version {version}, in all sources, pins and changelogs"


def published(package: griffe.Object | griffe.Alias) -> set[str]:
    """Return the names that a package and the packages in it import to publish them."""
    found: set[str] = set()
    for name, member in package.members.items():
        if name.startswith("_"):
            continue
        if member.is_alias:
            if member.target_path.startswith("clumsygrad.") and member.target_path.endswith(f".{name}"):
                found.add(f"{package.path}.{name}")
        elif member.is_module and member.is_init_module:
            found |= published(member)
    return found


def check_interface(members: Sequence[str]) -> str:
    """Compare the public interface with the last tag's: a name that broke has to be in the changelog."""
    tags = run("git", "tag", "--list", "v*", "--sort=-version:refname").split()
    tags = [tag for tag in tags if tag != f"v{version_of('core')}"]
    if not tags:
        return "no earlier tag to compare the public interface with"
    broken: list[str] = []
    for member in members:
        paths = [str((folder(name) / "src").relative_to(ROOT)) for name in MEMBERS]
        before = griffe.load_git(f"clumsygrad.{member}", ref=tags[0], repo=ROOT, search_paths=paths)
        after = griffe.load(f"clumsygrad.{member}", search_paths=[ROOT / path for path in paths])
        named = set(re.findall(r"\w+", section(folder(member) / "CHANGELOG.md", version_of(member))))
        changes = {breakage.obj.path: breakage.kind.value for breakage in griffe.find_breaking_changes(before, after)}
        # griffe doesn't miss a name that a package no longer imports, as in 'from .x import y as y'.
        gone = published(before) - published(after)
        changes |= dict.fromkeys(gone, "Public name was removed")
        broken += [f"{path}: {change}" for path, change in changes.items() if path.rpartition(".")[2] not in named]
    if broken:
        raise CheckError(f"changed since {tags[0]}, and not in the changelog:\n" + "\n".join(broken))
    return f"the public interface changed since {tags[0]} only where the changelogs say so"


def export(target: Path) -> Path:
    """Write what is committed to a folder: a release is made of that, whatever else lies in the working tree."""
    archive = target / "committed.tar"
    run("git", "archive", "-o", archive, "HEAD")
    with tarfile.open(archive) as files:
        files.extractall(target / "committed", filter="data")
    return target / "committed"


def build(source: Path, target: Path, epoch: str) -> list[Path]:
    """Build an sdist of each package, and a wheel from it."""
    builder = (sys.executable, "-m", "build", "--no-isolation", "-o", target)
    for member in MEMBERS:
        run(*builder, source / "packages" / f"clumsygrad-{member}", SOURCE_DATE_EPOCH=epoch)
    return sorted(target.iterdir())


def check_archives(source: Path, target: Path) -> str:
    """Build twice and compare; let twine look at what was built."""
    epoch = run("git", "log", "-1", "--format=%ct").strip()
    first = build(source, target, epoch)
    with tempfile.TemporaryDirectory() as again:
        second = build(source, Path(again), epoch)
        differing = [
            a.name for a, b in zip(first, second, strict=True) if a.name != b.name or a.read_bytes() != b.read_bytes()
        ]
    if differing:
        raise CheckError(f"built twice, these differ: {', '.join(differing)}")
    run(sys.executable, "-m", "twine", "check", "--strict", *first)
    return f"{len(first)} archives, the same when built again, and in order for twine"


def interpreter(minor: str) -> str:
    """Return a Python of that version; bare pyenv shims are passed over."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [sys.executable, shutil.which(f"python{minor}"), *sorted(pyenv.glob(f"{minor}.*/bin/python"))]
    for candidate in candidates:
        if candidate:
            code = "import sys; print(*sys.version_info[:2], sep='.')"
            done = subprocess.run([str(candidate), "-c", code], capture_output=True, text=True, check=False)
            if done.stdout.strip() == minor:
                return str(candidate)
    raise CheckError(f"Python {minor} is needed for this check, and isn't on PATH")


def check_installed(member: str, setting: Setting, source: Path, archives: Path) -> str:
    """Install one package's wheel, and core's, alone in a fresh environment, and run its tests against them."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        python = place / "venv" / "bin" / "python"
        uv = (sys.executable, "-m", "uv")
        run(*uv, "venv", "-q", "--python", interpreter(setting.python), place / "venv")
        wheels = [next(archives.glob(f"clumsygrad_{needed}-*.whl")) for needed in dict.fromkeys(("core", member))]
        numpy = "numpy" if setting.numpy == "newest" else f"numpy=={setting.numpy}"
        extra = ["safetensors>=0.4.3"] if member == "nn" else []
        run(*uv, "pip", "install", "-q", "--python", python, *wheels, numpy, "pytest>=8.3", "hypothesis>=6.130", *extra)
        shutil.copytree(source / "tests" / member, place / "tests" / member)
        # Only pytest's settings: nothing of the repository can be imported from here.
        shutil.copy(source / "pyproject.toml", place)
        where = f"import clumsygrad.{member} as m; print(m.__file__)"
        if not run(python, "-c", where, cwd=place).startswith(str(place / "venv")):
            raise CheckError(f"clumsygrad.{member} was not imported from its wheel")
        last = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/{member}", cwd=place)
    return last.strip().splitlines()[-1]


def check_consumers() -> str:
    """Run the tests of the packaging: contents of the archives, and a strictly typed consumer of each package."""
    return run(sys.executable, "-m", "pytest", "-q", "tests/packaging").strip().splitlines()[-1]


def publish_dry_run(members: Sequence[str], archives: Path) -> Iterator[str]:
    """Return what publishing would upload, in the order in which it has to be done: core first."""
    for member in members:
        chosen = sorted(archives.glob(f"clumsygrad_{member}-*"))
        for archive in chosen:
            digest = hashlib.sha256(archive.read_bytes()).hexdigest()
            yield f"{archive.name:<44} {archive.stat().st_size:>8} bytes  sha256 {digest}"
        yield f"  would run: twine upload {' '.join(archive.name for archive in chosen)}"


def report(name: str, check: Callable[[], str]) -> bool:
    """Run a check, print its outcome, and tell whether it held."""
    try:
        outcome = check()
    except CheckError as error:
        print(f"FAILED  {name}\n{error}", flush=True)
        return False
    print(f"ok      {name}: {outcome}", flush=True)
    return True


def main() -> int:
    """Run the checks; the result is the number of those that failed."""
    parser = argparse.ArgumentParser(description="Check a release, without publishing it.")
    parser.add_argument("--member", action="append", choices=MEMBERS, help="one of the packages; all by default")
    parser.add_argument("--python", action="append", choices=PYTHONS, help="one of the Pythons; all by default")
    parser.add_argument("--quick", action="store_true", help="this Python and the newest NumPy only, without consumers")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="where the archives go")
    options = parser.parse_args()
    members: list[str] = options.member or list(MEMBERS)
    this = f"{sys.version_info.major}.{sys.version_info.minor}"
    pythons: list[str] = [this] if options.quick else options.python or list(PYTHONS)
    settings = [Setting(python, "newest") for python in pythons]
    if not options.quick:
        settings += [Setting(python, OLDEST_NUMPY[python]) for python in pythons]

    archives: Path = options.output.resolve()
    shutil.rmtree(archives, ignore_errors=True)
    archives.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder_name:
        source = export(Path(folder_name))
        held = [
            report("versions", check_versions),
            report("interface", lambda: check_interface(members)),
            report("archives", lambda: check_archives(source, archives)),
        ]
        if held[-1]:
            held += [
                report(
                    f"{member} alone, Python {setting.python}, NumPy {setting.numpy}",
                    lambda member=member, setting=setting: check_installed(member, setting, source, archives),
                )
                for member in members
                for setting in settings
            ]
            if not options.quick:
                held.append(report("contents and strictly typed consumers", check_consumers))
            print("\nPublishing would upload:")
            print("\n".join(publish_dry_run(members, archives)))
    if run("git", "status", "--porcelain"):
        print("\nThe working tree has changes that aren't committed; the archives are made of what is.")
    failed = held.count(False)
    print(f"\n{len(held) - failed} checks held, {failed} failed")
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
