"""Saving and loading: round trips, damaged files, and files that would run code."""

from __future__ import annotations

import os
import pickle
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clumsygrad.core import tensor
from clumsygrad.nn import Linear, SavedStateError, Sequential, load, save

STATE: dict[str, Any] = {
    "weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "0.bias": np.zeros(0, np.float32),
    "file": np.array(2.5, np.float32),
    "double": np.array([1.0, np.nan, np.inf]),
    "count": np.array(3),
    "mask": np.array([True, False]),
    "half": np.ones(2, np.float16),
    "transposed": np.arange(6.0).reshape(2, 3).T,
    "strided": np.arange(10.0)[::3],
    "a/b.npy": np.ones(1),
    "größe": np.ones(1),
}


# The second format is an extra.
FORMATS = [".npz", ".safetensors"] if find_spec("safetensors") else [".npz"]


@pytest.fixture(params=FORMATS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"state{request.param}"


def test_round_trip(path: Path) -> None:
    save(STATE, path)
    loaded = load(path)
    assert set(loaded) == set(STATE)
    for name, value in STATE.items():
        assert loaded[name].dtype == value.dtype
        assert loaded[name].shape == value.shape
        np.testing.assert_array_equal(loaded[name], value)
        assert loaded[name].flags.writeable


def test_a_module_goes_there_and_back(path: Path) -> None:
    source, target = (Sequential(Linear(3, 4), Linear(4, 2)) for _ in range(2))
    save(source.state_dict(), str(path))
    target.load_state_dict(load(str(path)))
    x = np.ones((2, 3))
    np.testing.assert_array_equal(source(x).data, target(x).data)


def test_tensors_and_nothing_are_saved_too(path: Path) -> None:
    save({"x": tensor([1.0, 2.0])}, path)
    assert load(path)["x"].tolist() == [1.0, 2.0]
    save({}, path)
    assert load(path) == {}


def test_numpy_reads_it(tmp_path: Path) -> None:
    save(STATE, tmp_path / "state.npz")
    with np.load(tmp_path / "state.npz", allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["weight"], STATE["weight"])


@pytest.mark.parametrize("function", [np.savez, np.savez_compressed])
def test_what_numpy_writes_is_read(function: Any, tmp_path: Path) -> None:
    function(tmp_path / "other.npz", weight=STATE["weight"])
    np.testing.assert_array_equal(load(tmp_path / "other.npz")["weight"], STATE["weight"])


def test_saving_replaces_and_leaves_nothing_else(path: Path) -> None:
    save({"x": np.zeros(3)}, path)
    save({"x": np.ones(3)}, path)
    assert load(path)["x"].tolist() == [1.0, 1.0, 1.0]
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("state", [{"a": np.array(["text"])}, {"a": np.array([object()])}, {"a": np.array(1j)}])
def test_what_can_not_be_saved_leaves_the_old_file(state: dict[str, Any], path: Path) -> None:
    save({"x": np.zeros(3)}, path)
    with pytest.raises(TypeError, match="numbers"):
        save(state, path)
    assert list(load(path)) == ["x"]
    assert list(path.parent.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save({"x": np.zeros(3)}, path)

    def full(descriptor: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        save({"y": np.zeros(3)}, path)
    assert list(load(path)) == ["x"]
    assert list(path.parent.iterdir()) == [path]


def test_every_truncation_is_an_error(path: Path) -> None:
    save({"weight": np.arange(50, dtype=np.float32), "bias": np.ones(2, np.float32)}, path)
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(SavedStateError):
            load(path)


def test_flipped_bits_never_raise_anything_else(path: Path) -> None:
    save({"weight": np.arange(20, dtype=np.float32)}, path)
    content = path.read_bytes()
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 0x5A
        path.write_bytes(changed)
        try:
            load(path)
        except SavedStateError:
            continue


def test_a_flipped_bit_in_an_npz_array_is_found(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    values = np.arange(100, dtype=np.float32)
    save({"weight": values}, path)
    content = bytearray(path.read_bytes())
    position = content.index(values.tobytes()) + 200
    content[position] ^= 1
    path.write_bytes(content)
    with pytest.raises(SavedStateError):
        load(path)


@pytest.mark.parametrize("content", [b"", b"text", pickle.dumps({"a": 1}), b"PK\x05\x06" + bytes(3), bytes(1000)])
def test_foreign_files(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    with pytest.raises(SavedStateError, match="damaged") as caught:
        load(path)
    assert path.name in "".join(caught.value.__notes__)
    assert path.read_bytes() == content


class Trap:
    sprung = False

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return setattr, (Trap, "sprung", True)


def test_pickled_objects_are_refused_and_not_run(tmp_path: Path) -> None:
    np.savez(tmp_path / "trap.npz", weight=np.array([Trap()], dtype=object))
    with pytest.raises(SavedStateError, match="pickled"):
        load(tmp_path / "trap.npz")
    assert not Trap.sprung


def test_text_arrays_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "text.npz", weight=np.array(["a"]))
    with pytest.raises(SavedStateError, match="numbers"):
        load(tmp_path / "text.npz")


def test_archives_of_other_things_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(SavedStateError, match=r"readme\.txt"):
        load(tmp_path / "other.npz")


def test_an_entry_that_is_longer_than_its_array_is_refused(tmp_path: Path) -> None:
    save({"x": np.ones(3)}, tmp_path / "good.npz")
    with zipfile.ZipFile(tmp_path / "good.npz") as good, zipfile.ZipFile(tmp_path / "long.npz", "w") as long:
        long.writestr("x.npy", good.read("x.npy") + b"more")
    with pytest.raises(SavedStateError, match="longer"):
        load(tmp_path / "long.npz")


@pytest.mark.parametrize("name", ["state.pt", "state", "state.npy"])
def test_suffixes(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.npz"):
        save(STATE, tmp_path / name)
    with pytest.raises(ValueError, match=r"\.npz"):
        load(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "error"), [("", ValueError), ("a\0b", ValueError), ("a\\b", ValueError), (3, TypeError)]
)
def test_names(name: Any, error: type[Exception], path: Path) -> None:
    with pytest.raises(error, match="name"):
        save({name: np.ones(1)}, path)


def test_no_file(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(path)


def test_safetensors_has_to_be_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ImportError, match=r"clumsygrad-nn\[safetensors\]"):
        save(STATE, tmp_path / "state.safetensors")
    assert list(tmp_path.iterdir()) == []
