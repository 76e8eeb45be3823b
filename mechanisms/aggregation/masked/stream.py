"""The mask stream: a 256-bit key stretched into integers mod m, without bias, for any m.

The keystream of ChaCha20 (RFC 8439) from block 0 is cut into numbers of as many bits as m - 1 has
(whole bytes, little-endian, the spare top bits dropped), and those that are not below m are
skipped. Reducing them mod m instead would favour small residues; a power of two for m need not be
forced. A key serves one mask of one round, so that a fixed nonce is right.
"""

from __future__ import annotations

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

__all__ = ["mask"]

_NONCE = bytes(16)
_BLOCK = 64


def mask(key: bytes, modulus: int, length: int = 1) -> tuple[int, ...]:
    """`length` integers in 0, ..., modulus - 1 that the 32-byte key determines.

    Uniform and independent if the keystream is uniform: a number that is kept is uniform below m.
    """
    width = (modulus - 1).bit_length()
    if width == 0:
        return (0,) * length
    size, kept = (width + 7) // 8, (1 << width) - 1
    stream = Cipher(algorithms.ChaCha20(key, _NONCE), None).encryptor()
    found: list[int] = []
    rest = b""
    while len(found) < length:
        wanted = 2 * size * (length - len(found))  # at least every other number is kept
        block = rest + stream.update(bytes(-(-wanted // _BLOCK) * _BLOCK))
        used = len(block) - len(block) % size
        for start in range(0, used, size):
            drawn = int.from_bytes(block[start : start + size], "little") & kept
            if drawn < modulus:
                found.append(drawn)
                if len(found) == length:
                    break
        rest = block[used:]
    return tuple(found)
