"""Keep freed memory in the process: fresh pages from the system cost more than the arithmetic on them.

glibc hands every array above 128 KiB back to the system as soon as it is freed, and asks for fresh pages for the next
one, which the kernel has to clear and map one by one. A training step frees and allocates the same sizes again and
again, so that this can take longer than the computation itself: a chain of 512 × 512 products is 4 times as fast
without it.
"""

from __future__ import annotations

import os

# The names and numbers of glibc's malloc.h.
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3

_MIB = 1 << 20

# Arrays up to this size are carved out of memory that is kept; a larger one is mapped, and unmapped when it is freed.
_KEPT_ARRAY = 256 * _MIB
# As much free memory as this may lie at the end of the heap before it goes back to the system.
_KEPT_HEAP = 1024 * _MIB
# What glibc starts with, for both.
_GLIBC_DEFAULT = 128 * 1024


def keep_freed_memory(enabled: bool = True) -> bool:
    """Choose whether freed arrays stay with the process, ready for the next ones, or go back to the system.

    It is on from the import of ``clumsygrad.core`` on, unless the environment has ``CLUMSYGRAD_KEEP_MEMORY=0``. It is a
    setting of the whole process, through glibc's ``mallopt``: arrays of up to 256 MiB are reused, and as much as
    1 GiB may be held free at the end of the heap. The peak of what a program needs stays what it was; what changes is
    that the process does not shrink after it. Elsewhere than on glibc (musl, macOS, Windows, Pyodide) nothing is
    set.

    Args:
        enabled: False gives back what is free now, and from then on whatever is freed above 128 KiB, as glibc does
            at the start of a process.

    Returns:
        Whether the allocator took the setting: True on glibc, else False.

    References:
        ``mallopt(3)``, on M_MMAP_THRESHOLD and M_TRIM_THRESHOLD.

    Example:
        >>> from clumsygrad.core import keep_freed_memory
        >>> on_glibc = keep_freed_memory(False)
        >>> keep_freed_memory(True) == on_glibc
        True
    """
    if not _on_glibc():
        return False
    # Imported here: not every Python has it, and only glibc's needs it.
    import ctypes

    libc = ctypes.CDLL(None)
    array, heap = (_KEPT_ARRAY, _KEPT_HEAP) if enabled else (_GLIBC_DEFAULT, _GLIBC_DEFAULT)
    taken = bool(libc.mallopt(_M_MMAP_THRESHOLD, array)) and bool(libc.mallopt(_M_TRIM_THRESHOLD, heap))
    if not enabled:
        libc.malloc_trim(0)
    return taken


def _on_glibc() -> bool:
    """Tell whether this process runs on glibc, which alone answers this question with a version."""
    try:
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc")
    except (AttributeError, OSError, ValueError):
        return False


if os.environ.get("CLUMSYGRAD_KEEP_MEMORY", "1") != "0":
    keep_freed_memory(True)
