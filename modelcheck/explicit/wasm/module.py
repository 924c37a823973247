"""An object file of LLVM's as a module that can be loaded as it is: its functions exported, without a linker.

A single object needs no linking: LLVM has numbered its functions, and laid its data
out from address 0 on, as they stay.  What it leaves open are the memory and the
pointer of the stack, which the loader of the module gives; and it exports nothing.
See https://github.com/WebAssembly/tool-conventions/blob/main/Linking.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from spec.frozen import frozen

HEAD = b"\0asm\1\0\0\0"
CUSTOM, GLOBAL, EXPORT, DATA = 0, 6, 7, 11
SYMBOLS = 8  # the part of the section `linking` that names the symbols
FUNCTION, DATUM, SECTION = 0, 1, 3  # kinds of symbols
UNDEFINED, NAMED = 0x10, 0x40  # flags of symbols


@frozen
class Module:
    """A WebAssembly module, and the first free address after its data."""

    code: bytes
    end: int


def module(made: bytes, exported: Collection[str]) -> Module:
    """The WebAssembly module of an object file, with these functions exported."""
    assert made[:8] == HEAD, "LLVM makes no such object files"
    sections = list(_sections(made))
    names = next(_functions(body) for kind, body in sections if kind == CUSTOM and _is_linking(body))
    entries = [_name(name) + b"\0" + _number(index) for name, index in names.items() if name in exported]
    missing = set(exported) - set(names)
    assert not missing, f"not in the object file: {missing}"
    parts = [(kind, body) for kind, body in sections if kind != CUSTOM]
    at = next((i for i, (kind, _) in enumerate(parts) if kind > GLOBAL and kind != 13), len(parts))
    parts.insert(at, (EXPORT, _number(len(entries)) + b"".join(entries)))
    code = HEAD + b"".join(bytes([kind]) + _number(len(body)) + body for kind, body in parts)
    return Module(code, max((_end(body) for kind, body in sections if kind == DATA), default=0))


def _sections(made: bytes) -> Iterator[tuple[int, bytes]]:
    """The sections of an object file: id and content."""
    reader = _BinaryReader(made, len(HEAD))
    while reader.at < len(made):
        kind = reader.byte()
        yield kind, reader.bytes(reader.number())


def _is_linking(body: bytes) -> bool:
    """Whether a custom section, given by its bytes, is of use only to a linker."""
    return _BinaryReader(body).text() == "linking"


def _functions(body: bytes) -> dict[str, int]:
    """The index of each defined function, by name."""
    reader = _BinaryReader(body)
    reader.text()
    reader.number()  # the version
    while reader.at < len(body):
        kind, part = reader.byte(), reader.bytes(reader.number())
        if kind == SYMBOLS:
            return dict(_symbols(_BinaryReader(part)))
    return {}


def _symbols(reader: _BinaryReader) -> Iterator[tuple[str, int]]:
    """The function symbols in a linking section: name and index."""
    for _ in range(reader.number()):
        kind, flags = reader.byte(), reader.number()
        if kind == DATUM:
            reader.text()
            if not flags & UNDEFINED:
                reader.number(), reader.number(), reader.number()
            continue
        index = reader.number()
        if kind != SECTION and (not flags & UNDEFINED or flags & NAMED):
            name = reader.text()
            if kind == FUNCTION and not flags & UNDEFINED:
                yield name, index


def _end(body: bytes) -> int:
    """The first address after the data segments."""
    reader, end = _BinaryReader(body), 0
    for _ in range(reader.number()):
        assert reader.byte() == 0, "data without a place"
        assert reader.byte() == 0x41, "data at an unknown place"  # i32.const
        start = reader.signed()
        assert reader.byte() == 0x0B, "data at a place that is computed"  # end
        end = max(end, start + len(reader.bytes(reader.number())))
    return end


def _number(value: int) -> bytes:
    """An unsigned number in LEB128."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _name(text: str) -> bytes:
    """A name with its length."""
    data = text.encode()
    return _number(len(data)) + data


class _BinaryReader:
    """Reads the elements of WebAssembly's binary format."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def bytes(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self) -> int:
        start = self.at
        value = self.number()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> bits - 1 else value

    def text(self) -> str:
        return self.bytes(self.number()).decode()
