"""Print the table of mutants after the tests, also when they ran in several processes."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rows: list[str] = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport) and report.when == "call":
                rows += [str(value) for name, value in report.user_properties if name == "mutants"]
    if rows:
        terminalreporter.section("mutants of backward functions")
        for row in sorted(rows):
            terminalreporter.line(row)
