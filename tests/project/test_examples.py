"""Every example runs to its end without a warning, and draws its picture."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PACKAGES = [str(path) for path in sorted(ROOT.glob("packages/*/src"))]
SCRIPTS = sorted(
    path.relative_to(EXAMPLES).as_posix()
    for path in (*EXAMPLES.glob("*.py"), *EXAMPLES.glob("downstream/*.py"))
    if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
)


def test_there_are_examples() -> None:
    assert len(SCRIPTS) >= 7


@pytest.mark.parametrize("script", SCRIPTS)
def test_example_draws_its_picture(script: str, tmp_path: Path) -> None:
    source = (EXAMPLES / script).read_text(encoding="utf-8")
    assert "tqdm" in source
    quick = ["--quick"] if "--quick" in source else ["--epochs", "1"]
    paths = [*PACKAGES, str(EXAMPLES / "downstream" / "src")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / script), *quick, "--output", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=tmp_path,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    pictures = list(tmp_path.glob("*.png"))
    assert pictures
    assert all(picture.stat().st_size > 5_000 for picture in pictures)


def test_the_downstream_package_depends_on_two_packages_only() -> None:
    used: set[str] = set()
    for path in (EXAMPLES / "downstream" / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("clumsygrad"):
                used.add(node.module)
    assert used == {"clumsygrad.core", "clumsygrad.optim"}


def test_the_downstream_package_passes_its_tests_and_strict_types(tmp_path: Path) -> None:
    source = EXAMPLES / "downstream" / "src"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*PACKAGES, str(source)])}
    tests = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        str(tmp_path),
    ]
    done = subprocess.run(
        [*tests, str(source.parent / "tests")], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout
    environment["MYPYPATH"] = os.pathsep.join([*PACKAGES, str(source)])
    checker = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--explicit-package-bases"]
    done = subprocess.run(
        [*checker, "--cache-dir", str(tmp_path), "-p", "gradfit"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout
