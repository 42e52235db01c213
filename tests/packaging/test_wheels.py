"""The built distributions: what is in them, and that each works alone for a strictly typed consumer."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
MEMBERS = ("core", "nn", "optim", "gradcheck")
MODULES = {
    "core": ("core", "core.math", "core.grad", "core.linalg", "core.functional", "core.random"),
    "nn": ("nn", "nn.functional", "nn.init"),
    "optim": ("optim", "optim.schedule"),
    "gradcheck": ("gradcheck",),
}


def run(*command: str, cwd: Path | None = None) -> str:
    # The environment of the tests must not leak into those that they make.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("dist")
    for member in MEMBERS:
        run(
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            "-o",
            str(target),
            str(ROOT / f"packages/clumsygrad-{member}"),
        )
    return target


@pytest.mark.parametrize("member", MEMBERS)
def test_archives_hold_the_package_and_nothing_else(distributions: Path, member: str) -> None:
    sources = {
        f"clumsygrad/{path.relative_to(base)}"
        for base in [ROOT / f"packages/clumsygrad-{member}/src/clumsygrad"]
        for path in base.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    (wheel,) = distributions.glob(f"clumsygrad_{member}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())
    assert names == sources
    assert f"clumsygrad/{member}/py.typed" in names
    (sdist,) = distributions.glob(f"clumsygrad_{member}-*.tar.gz")
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in sources} <= inside
    assert inside - {f"src/{name}" for name in sources} <= {
        "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore",
    }  # fmt: skip
    if member == "core":
        # The aim is 100 kB; with every operation, transform and picture in it the wheel is at 107 kB and must not grow.
        assert wheel.stat().st_size < 110_000


def source_of(module: ModuleType) -> str:
    assert module.__file__ is not None
    return Path(module.__file__).read_text()


def consumer(member: str) -> str:
    """Return a module that imports every public name of a member, one by one."""
    lines: list[str] = []
    for name in MODULES[member]:
        module = importlib.import_module(f"clumsygrad.{name}")
        # A package root and a module of functions list their names; the others re-export one name a line.
        names: list[str] = getattr(module, "__all__", None) or re.findall(
            r"^from \S+ import (\w+) as \1$", source_of(module), re.MULTILINE
        )
        public = [attribute for attribute in names if not inspect.ismodule(getattr(module, attribute))]
        assert public
        alias = name.replace(".", "_")
        lines += [f"from clumsygrad.{name} import {attribute} as {alias}_{attribute}" for attribute in public]
    imported = [line.rsplit(" ", 1)[1] for line in lines]
    return "\n".join([*lines, "", "everything: list[object] = [", *(f"    {name}," for name in imported), "]", ""])


@pytest.mark.parametrize("member", MEMBERS)
def test_installed_alone_it_serves_a_strict_consumer(distributions: Path, member: str, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    python = environment / "bin" / "python"
    run(sys.executable, "-m", "uv", "venv", "-q", "--python", sys.executable, str(environment))
    wanted = dict.fromkeys(("core", member))
    wheels = [str(next(distributions.glob(f"clumsygrad_{name}-*.whl"))) for name in wanted]
    run(sys.executable, "-m", "uv", "pip", "install", "-q", "--python", str(python), *wheels)

    others = [name for name in MEMBERS if name not in wanted]
    script = (
        "import importlib.util as u, clumsygrad\n"
        f"assert u.find_spec('clumsygrad.{member}')\n"
        f"assert not any(u.find_spec('clumsygrad.' + name) for name in {others!r})\n"
        "assert clumsygrad.__spec__.origin is None\n"
        f"import clumsygrad.{member}\n"
    )
    run(str(python), "-W", "error", "-c", script, cwd=tmp_path)

    file = tmp_path / "consumer.py"
    file.write_text(consumer(member))
    run(str(python), "-W", "error", str(file), cwd=tmp_path)
    cache = tmp_path / "mypy-cache"
    run(
        sys.executable, "-m", "mypy", "--strict", "--config-file=", "--python-executable", str(python),
        "--cache-dir", str(cache), str(file), cwd=tmp_path,
    )  # fmt: skip
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict", "include": ["consumer.py"]}')
    run(sys.executable, "-m", "pyright", "--pythonpath", str(python), cwd=tmp_path)


def test_importing_core_brings_nothing_but_numpy() -> None:
    script = (
        "import sys, numpy\n"
        "before = set(sys.modules)\n"
        "import clumsygrad.core\n"
        "print(*sorted(name for name in set(sys.modules) - before if not name.startswith('clumsygrad')))\n"
    )
    allowed = {"numpy", "_heapq", "heapq", "array", "html"}
    brought = {name.partition(".")[0] for name in run(sys.executable, "-c", script).split()}
    assert brought <= allowed | set(sys.stdlib_module_names)
    assert not brought & {"asyncio", "unittest", "pydoc", "tkinter", "multiprocessing", "logging"}
