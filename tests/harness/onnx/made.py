"""ONNX files of one node, written byte by byte: to export one takes packages of its own.

The numbers of the fields are those of onnx.proto (onnx/onnx on GitHub), version 8 of the format.
"""

from __future__ import annotations

from pathlib import Path

_FLOAT = 1


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _part(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _tensor(name: str) -> bytes:
    """A ValueInfoProto of [1, C, H, W], any C, H and W."""
    sizes = _part(1, _number(1, 1)) + b"".join(_part(1, _part(2, size)) for size in "CHW")
    return _part(1, name) + _part(2, _part(1, _number(1, _FLOAT) + _part(2, sizes)))


def write(path: Path, operator: str = "Neg") -> str:
    """A model whose output is this operator of its input; the path as text."""
    node = _part(1, "x") + _part(2, "y") + _part(4, operator)
    graph = _part(1, node) + _part(2, "g") + _part(11, _tensor("x")) + _part(12, _tensor("y"))
    path.write_bytes(_number(1, 8) + _part(8, _part(1, "") + _number(2, 13)) + _part(7, graph))
    return str(path)
