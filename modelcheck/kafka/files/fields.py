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
    """Whether a text is a number from 0 on as Kafka writes one."""
    return text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS


class ShortError(Exception):
    """The bytes end early, or hold a value that no field can have."""


class FieldReader:
    """Bytes that are read field by field; raises `ShortError` where they do not suffice."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        """How many bytes have not been read."""
        return len(self._data) - self._at

    def take(self, size: int) -> bytes:
        """The next bytes as they are."""
        if not 0 <= size <= self.left:
            raise ShortError(f"{size} bytes are wanted, and {self.left} are left")
        self._at += size
        return self._data[self._at - size : self._at]

    def _number(self, form: str, size: int) -> int:
        return int(struct.unpack(form, self.take(size))[0])

    def int8(self) -> int:
        """A number of one byte."""
        return self._number(">b", 1)

    def int16(self) -> int:
        """A number of two bytes."""
        return self._number(">h", 2)

    def int32(self) -> int:
        """A number of four bytes."""
        return self._number(">i", 4)

    def int64(self) -> int:
        """A number of eight bytes."""
        return self._number(">q", 8)

    def bool(self) -> bool:
        """A byte that is zero or not."""
        return self.int8() != 0

    def uvarint(self) -> int:
        """A number without a sign, seven bits a byte, the lowest first; ten bytes at most."""
        value = 0
        for shift in range(0, 70, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ShortError("a number that does not end")

    def varint(self) -> int:
        """A number with a sign, the sign in the lowest bit."""
        value = self.uvarint()
        return value >> 1 ^ -(value & 1)

    def uuid(self) -> uuid.UUID:
        """A UUID."""
        return uuid.UUID(bytes=self.take(16))

    def nullable_text(self) -> str | None:
        """A text after its length plus one; None where that is 0."""
        size = self.uvarint()
        try:
            return None if size == 0 else self.take(size - 1).decode()
        except UnicodeDecodeError as error:
            raise ShortError("a text that is not UTF-8") from error

    def text(self) -> str:
        """A text that must be there."""
        text = self.nullable_text()
        if text is None:
            raise ShortError("a text is missing")
        return text

    def nullable_list(self, item: Callable[[], T]) -> tuple[T, ...] | None:
        """A list after its length plus one; None where that is 0."""
        size = self.uvarint()
        if size - 1 > self.left:
            raise ShortError(f"{size - 1} items in {self.left} bytes")
        return None if size == 0 else tuple(item() for _ in range(size - 1))

    def list(self, item: Callable[[], T]) -> tuple[T, ...]:
        """Items that must be there, maybe none."""
        return self.nullable_list(item) or ()

    def tagged(self) -> Mapping[int, FieldReader]:
        """The tagged fields at the end of a structure, by their tags."""
        found = {}
        for _ in range(self.uvarint()):
            tag = self.uvarint()
            found[tag] = FieldReader(self.take(self.uvarint()))
        return found


def topic_id(text: str) -> uuid.UUID | None:
    """A topic's id in base 64, as Kafka writes it in texts; None where it is none."""
    try:
        return uuid.UUID(bytes=base64.urlsafe_b64decode(f"{text}=="))
    except ValueError:
        return None
