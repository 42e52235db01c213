"""Every workload by its name."""

from __future__ import annotations

from harness import Workload

from . import chain, cnn, embedding, functions, inference, lstm, mlp, optimizer, transformer

WORKLOADS: dict[str, Workload] = {
    workload.name: workload
    for module in (chain, mlp, cnn, transformer, lstm, optimizer, embedding, inference, functions)
    for workload in module.WORKLOADS
}
