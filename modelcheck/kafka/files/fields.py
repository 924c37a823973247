"""The pieces that records are made of: numbers of varying length, compact texts and lists, tagged fields."""

from __future__ import annotations

import base64
import struct
import uuid
from collections.abc import Callable, Mapping
from typing import TypeVar

T = TypeVar("T")
MOST_DIGITS = 19  # of a number of 64 bits


def is_number(text: str) -> bool:
    """Whether a text is a non-negative decimal number as Kafka writes one."""
    return text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS


class ShortError(Exception):
    """Raised where bytes end early, or encode a value that the field cannot have."""


class FieldReader:
    """Decodes bytes field by field; raises `ShortError` where too few are left."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        """The number of bytes not read yet."""
        return len(self._data) - self._at

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        if not 0 <= size <= self.left:
            raise ShortError(f"{size} bytes are wanted, and {self.left} are left")
        self._at += size
        return self._data[self._at - size : self._at]

    def _number(self, form: str, size: int) -> int:
        """The next number of `size` bytes, in a format of `struct`."""
        return int(struct.unpack(form, self.take(size))[0])

    def int8(self) -> int:
        """The next signed 8-bit number."""
        return self._number(">b", 1)

    def int16(self) -> int:
        """The next signed 16-bit number."""
        return self._number(">h", 2)

    def int32(self) -> int:
        """The next signed 32-bit number."""
        return self._number(">i", 4)

    def int64(self) -> int:
        """The next signed 64-bit number."""
        return self._number(">q", 8)

    def bool(self) -> bool:
        """The next byte as a Boolean."""
        return self.int8() != 0

    def uvarint(self) -> int:
        """The next unsigned variable-length number (seven bits a byte, the lowest first)."""
        value = 0
        for shift in range(0, 70, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ShortError("a number that does not end")

    def varint(self) -> int:
        """The next signed variable-length number (zigzag)."""
        value = self.uvarint()
        return value >> 1 ^ -(value & 1)

    def uuid(self) -> uuid.UUID:
        """The next UUID."""
        return uuid.UUID(bytes=self.take(16))

    def nullable_text(self) -> str | None:
        """The next compact nullable string, preceded by its length + 1; None for 0."""
        size = self.uvarint()
        try:
            return None if size == 0 else self.take(size - 1).decode()
        except UnicodeDecodeError as error:
            raise ShortError("a text that is not UTF-8") from error

    def text(self) -> str:
        """The next compact string."""
        text = self.nullable_text()
        if text is None:
            raise ShortError("a text is missing")
        return text

    def nullable_list(self, item: Callable[[], T]) -> tuple[T, ...] | None:
        """The next compact nullable array, preceded by its length + 1; None for 0."""
        size = self.uvarint()
        if size - 1 > self.left:
            raise ShortError(f"{size - 1} items in {self.left} bytes")
        return None if size == 0 else tuple(item() for _ in range(size - 1))

    def list(self, item: Callable[[], T]) -> tuple[T, ...]:
        """The next compact array."""
        return self.nullable_list(item) or ()

    def tagged(self) -> Mapping[int, FieldReader]:
        """The tagged fields at the end of a structure, by tag."""
        found = {}
        for _ in range(self.uvarint()):
            tag = self.uvarint()
            found[tag] = FieldReader(self.take(self.uvarint()))
        return found


def uuid_of(text: str) -> uuid.UUID | None:
    """The UUID in the base-64 text that Kafka writes for one; None if it is no such text."""
    try:
        return uuid.UUID(bytes=base64.urlsafe_b64decode(f"{text}=="))
    except ValueError:
        return None


def uuid_text(found: uuid.UUID) -> str:
    """The base-64 text that Kafka writes for a UUID."""
    return base64.urlsafe_b64encode(found.bytes).decode().rstrip("=")
