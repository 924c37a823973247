"""Zstandard: the standard library's, or before Python 3.14 the same module as a package of its own."""

from __future__ import annotations

import sys
from functools import cache
from types import ModuleType

from modelcheck.contract.engine import CannotStart

LEVEL = 3  # a higher one takes longer and saves little


@cache
def _zstd() -> ModuleType:
    """The module, which only states on disk need. Raises CannotStart."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd  # noqa: PLC0415
        else:
            from backports import zstd  # noqa: PLC0415
    except ImportError:
        raise CannotStart("states on disk need Zstandard: pip install backports.zstd") from None
    return zstd


def compressed(data: bytes | memoryview) -> bytes:
    """The data compressed, with a checksum."""
    zstd = _zstd()
    parameters = zstd.CompressionParameter
    options = {parameters.compression_level: LEVEL, parameters.checksum_flag: 1}
    made: bytes = zstd.compress(data, options=options)
    return made


def decompressed(data: bytes | memoryview, most: int) -> bytes:
    """The data that were compressed, which have at most `most` bytes. Raises ValueError."""
    zstd = _zstd()
    try:
        made = zstd.ZstdDecompressor()
        found: bytes = made.decompress(data, most + 1)
    except zstd.ZstdError as error:
        raise ValueError(str(error)) from None
    if len(found) > most or not made.eof:
        raise ValueError("another size")
    return found
