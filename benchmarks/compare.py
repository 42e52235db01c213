"""Compare this project with NumPy by hand, PyTorch, HIPS autograd and MyGrad: ``hatch run bench:compare``."""

from __future__ import annotations

import argparse
import platform
import sys
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from chart import draw
from harness import REFERENCE, SYSTEMS, Measurement, Workload, disagreement, measure
from imports import import_times
from workloads import WORKLOADS

RESULTS = Path(__file__).parent / "results"

Row = tuple[Workload, dict[str, Measurement]]


def main() -> int:
    options = _options()
    workloads = [
        workload
        for workload in WORKLOADS.values()
        if all(word in workload.name for word in options.only) and not (options.quick and workload.rounds)
    ]
    if options.list or not workloads:
        print("\n".join(workload.name for workload in workloads) or f"no workload is named like {options.only}")
        return 0 if workloads else 2
    options.output.mkdir(parents=True, exist_ok=True)
    rounds, budget = (5, 0.01) if options.quick else (15, 0.05)
    wrong: list[str] = []
    pages: list[str] = [_heading(options.clock)]
    for threads in [1] if options.quick else options.threads:
        print(f"\n{threads} thread{'s' * (threads > 1)}; times of one step, ratios to {REFERENCE}\n{_line(None)}")
        # The processor's time of two threads is that of both together, and says nothing of how long a step took.
        clock = options.clock if threads == 1 else "wall"
        rows: list[Row] = []
        for workload in workloads:
            rows.append((workload, measure(workload, options.systems, threads, rounds, budget, clock)))
            print(_line(rows[-1]), flush=True)
            wrong += [problem] if (problem := disagreement(*rows[-1])) else []
        pages += [f"\n## {threads} thread{'s' * (threads > 1)}\n", *_table(rows)]
        draw(rows, threads, options.output / f"compare-{threads}.png")
    if not options.only:
        times = import_times([system for system in options.systems if system != "numpy"])
        pages += ["\n## Importing, beyond importing NumPy\n", "| package | ms |\n|---|---|"]
        pages += [f"| {name} | {milliseconds:.0f} |" for name, milliseconds in times.items()]
        print("\nimport, beyond NumPy's: " + ", ".join(f"{name} {value:.0f} ms" for name, value in times.items()))
    pages += [f"\n**{problem}**" for problem in wrong]
    (options.output / "compare.md").write_text("\n".join(pages) + "\n", encoding="utf-8")
    print(f"\nThe table and the charts are in {options.output}", *wrong, sep="\n")
    return 1 if wrong else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one thread, few turns, no workload that takes minutes")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="workloads with TEXT in the name")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS), help="the systems to run")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2], help="1 2 by default")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the folder for the table and the charts")
    parser.add_argument(
        "--clock",
        choices=["wall", "cpu"],
        default="wall",
        help="cpu: count only the time that a process was running, for a machine that is busy with other things",
    )
    parser.add_argument("--list", action="store_true", help="print the names of the workloads, and stop")
    return parser.parse_args()


def _line(row: Row | None) -> str:
    if row is None:
        return f"{'':26}" + "".join(f"{system:>21}" for system in SYSTEMS) + "     result   peak MiB (ratio)"
    workload, measured = row
    cells = [f"{workload.name:26}"]
    for system in SYSTEMS:
        if system not in measured:
            cells.append(f"{'–':>21}")
            continue
        ratio = f"{measured[system].ratio(measured[REFERENCE]):.2f}" if REFERENCE in measured else "–"
        cells.append(f"{_time(measured[system].median):>13} {ratio:>7}")
    first = next(iter(measured.values()))
    return "".join(cells) + f"{first.result:11.5g}   {_memory(measured)}"


def _table(rows: list[Row]) -> list[str]:
    """Return the lines of the Markdown table: each system's time and ratio, and what this project aims at."""
    lines = [
        "| workload | goal | " + " | ".join(SYSTEMS) + " | result | peak memory, MiB |",
        "|---" * (len(SYSTEMS) + 4) + "|",
    ]
    for workload, measured in rows:
        cells = [workload.name, f"{workload.target:.2f}" if workload.target else ""]
        for system in SYSTEMS:
            if system not in measured:
                cells.append("")
            elif REFERENCE in measured:
                ratio = measured[system].ratio(measured[REFERENCE])
                cells.append(f"{_time(measured[system].median)} ({ratio:.2f})")
            else:
                cells.append(_time(measured[system].median))
        cells += [f"{next(iter(measured.values())).result:.5g}", _memory(measured)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _memory(measured: dict[str, Measurement]) -> str:
    """Return the peaks of this project and of the reference, and their ratio where they are more than noise."""
    mine, reference = measured.get("clumsygrad"), measured.get(REFERENCE)
    if mine is None or reference is None or not mine.peak or not reference.peak:
        return ""
    ratio = f" ({mine.peak / reference.peak:.2f})" if reference.peak >= 32 else ""
    return f"{mine.peak:.0f} / {reference.peak:.0f}{ratio}"


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def _heading(clock: str) -> str:
    versions: list[str] = []
    for name in SYSTEMS:
        try:
            versions.append(f"{name} {version('clumsygrad-core' if name == 'clumsygrad' else name)}")
        except PackageNotFoundError:
            versions.append(name)
    return (
        f"# Results of {date.today():%d %B %Y}\n\n"
        f"Python {platform.python_version()}, {', '.join(versions)}; {platform.machine()}, {platform.system()}.\n"
        "Median time of one step, and in brackets the median of its ratios to PyTorch's time in the same turn; "
        f"{'processor time' if clock == 'cpu' else 'wall-clock time'} for one thread, wall-clock time for more."
    )


if __name__ == "__main__":
    sys.exit(main())
