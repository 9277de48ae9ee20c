"""Trees of state as bytes: a safetensors container with a checksum, for checkpoints and snapshots.

The tree is JSON; its arrays, bytes and sparse rows are arrays of the container, and the header has their places.
"""

from __future__ import annotations

import functools
import hashlib
import json
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays
from scipy.sparse import csr_array

from thalweg.errors import ModelFileError

#: What a tree is kept under, and the number of its format.
_KEY, PROTOCOL = "thalweg-state", 1
_COMPRESSED = ("data", "indices", "indptr")
_DAMAGED = (SafetensorError, KeyError, ValueError, TypeError, IndexError, AttributeError, RecursionError)


def open_container(content: bytes, key: str) -> tuple[Any, dict[str, NDArray[Any]]]:
    """The JSON that a safetensors container holds under a key, and its arrays."""
    arrays = load_arrays(content)
    length = int.from_bytes(content[:8], "little")
    return json.loads(json.loads(content[8 : 8 + length])["__metadata__"][key]), arrays


def digest(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    content = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        content.update(f"{name} {array.dtype.str} {array.shape}".encode())
        content.update(array.tobytes())
    return content.hexdigest()


def packed(tree: Any) -> bytes:
    """A tree of dicts and lists as bytes.

    Examples
    --------
    >>> tree = {"rows": [1, {"X": np.zeros((2, 1)), "label": np.array(["a"]), "model": b"xyz"}]}
    >>> unpacked(packed(tree))
    {'rows': [1, {'X': array([[0.],
           [0.]]), 'label': array(['a'], dtype='<U1'), 'model': b'xyz'}]}
    """
    leaves: list[list[Any]] = []
    arrays: dict[str, NDArray[Any]] = {}
    header = {"protocol": PROTOCOL, "tree": _without_leaves(tree, [], leaves, arrays), "leaves": leaves}
    header["sha256"] = digest(header, arrays)
    return save_arrays(arrays, metadata={_KEY: json.dumps(header)})


def _without_leaves(tree: Any, place: list[Any], leaves: list[list[Any]], arrays: dict[str, NDArray[Any]]) -> Any:
    if isinstance(tree, dict):
        return {key: _without_leaves(branch, [*place, key], leaves, arrays) for key, branch in tree.items()}
    if isinstance(tree, list | tuple):
        return [_without_leaves(branch, [*place, at], leaves, arrays) for at, branch in enumerate(tree)]
    name = str(len(leaves))
    if isinstance(tree, np.ndarray) and tree.dtype.kind == "U":
        leaves.append(["texts", place])
        return tree.tolist()
    if isinstance(tree, np.ndarray | bytes):
        leaves.append(["array" if isinstance(tree, np.ndarray) else "bytes", place])
        arrays[name] = np.ascontiguousarray(tree) if isinstance(tree, np.ndarray) else np.frombuffer(tree, np.uint8)
        return None
    if isinstance(tree, csr_array):
        leaves.append(["rows", place])
        arrays |= {f"{name} {part}": getattr(tree, part) for part in _COMPRESSED}
        return list(tree.shape)
    return tree


def unpacked(content: bytes) -> Any:
    """Back from `packed`; a `ModelFileError`, the end of a sentence, where it is damaged."""
    try:
        header, arrays = open_container(content, _KEY)
        if header.pop("sha256") != digest(header, arrays) or header["protocol"] != PROTOCOL:
            raise ModelFileError("is damaged, or of another version")
        tree = header["tree"]
        for at, (kind, (*way, last)) in enumerate(header["leaves"]):
            holder = functools.reduce(operator.getitem, way, tree)
            holder[last] = _leaf(kind, holder[last], str(at), arrays)
    except _DAMAGED as error:
        raise ModelFileError("is no saved state") from error
    return tree


def _leaf(kind: str, held: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    if kind == "texts":
        return np.array(held, dtype=np.str_)
    if kind == "rows":
        return csr_array(tuple(arrays[f"{name} {part}"] for part in _COMPRESSED), shape=held)
    return arrays[name].tobytes() if kind == "bytes" else arrays[name]
