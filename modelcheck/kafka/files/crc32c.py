"""CRC-32C (Castagnoli), the checksum of record batches since version 2 (RFC 3720, appendix B.4).

Python has no instruction for it, so long data are made short first.  The polynomial divides
x^209 + x^144 + x^54 + x^39 + x^14 + 1, and with it the same with all powers times 2^k, since
squaring over two elements only doubles the powers.  So the highest bits of the data, as a
polynomial, may be added to lower ones at five places instead, which whole numbers do fast.
"""

from __future__ import annotations

from functools import cache

REFLECTED = 0x82F63B78  # the polynomial 0x1EDC6F41, lowest bit first
HIGHEST, OTHERS = 209, (144, 54, 39, 14, 0)  # powers of a multiple of it with few terms
FOLDED = HIGHEST - OTHERS[0]  # how many bits one round can clear, times 2^k
LEAST = 3  # the smallest k, for which whole bytes are left


@cache
def _table() -> tuple[int, ...]:
    """The CRC-32C of each byte value."""
    entries = []
    for byte in range(256):
        entry = byte
        for _ in range(8):
            entry = entry >> 1 ^ (REFLECTED if entry & 1 else 0)
        entries.append(entry)
    return tuple(entries)


def crc32c(data: bytes, before: int = 0) -> int:
    """The CRC-32C of `data` appended to bytes whose checksum is `before`.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    >>> crc32c(b"56789", crc32c(b"1234")) == crc32c(b"123456789")
    True
    """
    crc = before ^ 0xFFFFFFFF
    if len(data) * 8 >= (HIGHEST + FOLDED) << LEAST:
        data, crc = _shortened(data, crc), 0
    table = _table()
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _shortened(data: bytes, crc: int) -> bytes:
    """A short text with the same CRC remainder as `data`, after `crc` is added to its first four bytes.

    The first bit of the data, the lowest of the number, is the highest power.
    """
    number = int.from_bytes(data, "little") ^ crc
    bits = len(data) * 8
    for k in range(bits.bit_length(), LEAST - 1, -1):
        clear, shift = FOLDED << k, HIGHEST << k
        while bits >= clear + shift:
            high = number & (1 << clear) - 1
            number >>= clear
            for power in OTHERS:
                number ^= high << shift - (power << k) - clear
            bits -= clear
    return number.to_bytes(bits // 8, "little")
