"""CRC-32C (Castagnoli), the checksum of record batches since version 2 (RFC 3720, appendix B.4)."""

from __future__ import annotations

from functools import cache

REFLECTED = 0x82F63B78  # the polynomial 0x1EDC6F41, lowest bit first
STEPS = 256


@cache
def _table() -> tuple[int, ...]:
    entries = []
    for byte in range(STEPS):
        entry = byte
        for _ in range(8):
            entry = entry >> 1 ^ (REFLECTED if entry & 1 else 0)
        entries.append(entry)
    return tuple(entries)


def crc32c(data: bytes, before: int = 0) -> int:
    """The checksum of some bytes, behind others whose checksum is `before`; some ten megabytes a second."""
    table = _table()
    crc = before ^ 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF
