"""Saving arrays to files and loading them, without ever running what a file contains."""

from __future__ import annotations

import os
import secrets
import zipfile
from collections.abc import Callable, Mapping
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from clumsygrad.core import Tensor, TensorLike

State = dict[str, npt.NDArray[Any]]


_SAFETENSORS_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1", "U64": "<u8",
    "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip


class SavedStateError(ValueError):
    """A file can't be read as a state_dict: it is damaged, of another kind, or holds what would have to be run."""


def save(state_dict: Mapping[str, TensorLike], path: str | os.PathLike[str]) -> None:
    """Write a state_dict, or any arrays by name, to a file.

    The file is complete or not there at all: it is written under another name in the same folder, and renamed when it
    is on the disk. What bore the name before stays until then.

    Args:
        state_dict: arrays or Tensors by name, such as ``module.state_dict()`` returns.
        path: where to; ``.npz`` for NumPy's format, or ``.safetensors`` for one that PyTorch reads, too, for which
            the extra ``clumsygrad-nn[safetensors]`` has to be installed.

    Raises:
        ValueError: for another suffix, and for a name that the format can't hold.
        TypeError: for values that aren't arrays of numbers or bools.
        ImportError: when ``safetensors`` is not installed.

    Example:
        >>> import tempfile
        >>> from clumsygrad.nn import Linear, load, save
        >>> layer = Linear(2, 3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save(layer.state_dict(), f"{folder}/layer.npz")
        ...     sorted(load(f"{folder}/layer.npz"))
        ['bias', 'weight']
    """
    target = Path(path)
    write = {".npz": _write_npz, ".safetensors": _write_safetensors}[_suffix(target)]
    arrays = {_checked_name(name): _checked_array(name, value) for name, value in state_dict.items()}
    _write_whole(target, lambda file: write(arrays, file))


def load(path: str | os.PathLike[str]) -> State:
    """Read what :func:`save` wrote, or another program in the same format: arrays by name.

    A file is data to this function, never a program: nothing in it is run.

    Args:
        path: the file, ``.npz`` or ``.safetensors``. Bfloat16 arrays in it become float32.

    Raises:
        SavedStateError: for a file that is cut off, damaged or of another kind.
        FileNotFoundError: when there is none.
        ValueError: for another suffix.
        ImportError: when ``safetensors`` is needed and not installed.
    """
    source = Path(path)
    read = {".npz": _read_npz, ".safetensors": _read_safetensors}[_suffix(source)]
    content = source.read_bytes()
    try:
        return read(content)
    except SavedStateError as error:
        error.add_note(f"while loading {source}")
        raise


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in {".npz", ".safetensors"}:
        raise ValueError(f"a state_dict is saved as .npz or .safetensors; received {path.name!r}")
    return suffix


def _checked_name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the names in a state_dict are strings; received {name!r}")
    if not name or "\0" in name or "\\" in name:
        raise ValueError(f"a saved array's name is not empty and holds no backslash; received {name!r}")
    return name


def _checked_array(name: str, value: TensorLike) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = value.data if isinstance(value, Tensor) else np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"a state_dict holds arrays of numbers; {name!r} is of dtype {array.dtype}")
    return array


def _write_whole(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """Write a file under a temporary name, and rename it once it is complete."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _write_npz(arrays: State, file: IO[bytes]) -> None:
    # As np.savez does, which can't take "file" for a name.
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def _read_npz(content: bytes) -> State:
    state: State = {}
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            for entry in archive.infolist():
                if not entry.filename.endswith(".npy"):
                    raise SavedStateError(f"an .npz file holds .npy files; this one holds {entry.filename!r}")
                with archive.open(entry) as file:
                    array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
                    # The checksum is compared at the end.
                    if file.read(1):
                        raise SavedStateError(f"{entry.filename!r} is longer than its array")
                name = entry.filename.removesuffix(".npy")
                if array.dtype.kind not in "fiub":
                    raise SavedStateError(f"a state_dict holds arrays of numbers; {name!r} is of dtype {array.dtype}")
                state[name] = array
    except SavedStateError:
        raise
    # What zipfile and NumPy raise for damaged files is not one class; a MemoryError comes from a wrong length.
    except (zipfile.BadZipFile, ValueError, EOFError, KeyError, OSError, NotImplementedError, RuntimeError) as error:
        raise _unreadable("an .npz file of plain arrays", error) from error
    except MemoryError as error:
        raise _unreadable("an .npz file of plain arrays", error) from error
    return state


def _unreadable(kind: str, error: BaseException) -> SavedStateError:
    return SavedStateError(
        f"this is not {kind}, or it is damaged: {type(error).__name__}: {error}. Files with pickled objects are "
        "refused, since unpickling runs code"
    )


def _safetensors(module: str) -> Any:
    """Return a module of the package safetensors, an extra that is imported for its format alone."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            "the .safetensors format needs the package safetensors: pip install 'clumsygrad-nn[safetensors]'"
        ) from error


def _write_safetensors(arrays: State, file: IO[bytes]) -> None:
    # It writes memory as it lies there: what is transposed would be read back in another order.
    contiguous = {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()}
    file.write(_safetensors("safetensors.numpy").save(contiguous))


def _read_safetensors(content: bytes) -> State:
    deserialize = _safetensors("safetensors").deserialize
    try:
        entries: list[tuple[str, dict[str, Any]]] = deserialize(content)
    # The library's own error is derived from Exception alone.
    except Exception as error:
        raise _unreadable("a .safetensors file", error) from error
    return {name: _decoded(name, entry["dtype"], entry["shape"], entry["data"]) for name, entry in entries}


def _decoded(name: str, dtype: str, shape: list[int], data: bytes | bytearray) -> npt.NDArray[Any]:
    if dtype == "BF16":
        # The upper half of a float32, which NumPy has no type for.
        upper = np.frombuffer(data, "<u2").astype(np.uint32)
        return (upper << 16).view(np.float32).reshape(shape)
    if dtype not in _SAFETENSORS_TYPES:
        raise SavedStateError(f"{name!r} is of dtype {dtype}, which NumPy doesn't have")
    values = np.frombuffer(data, _SAFETENSORS_TYPES[dtype]).reshape(shape)
    # A copy, in the machine's own byte order.
    return values.astype(values.dtype.newbyteorder("="))
