"""Arrays under masks: the same round, message by message, for a million integers mod 2^bits.

Only what a message is differs from `User` and `Server`: keys, shares, lists and the order of things
are theirs. Masks are stretched one after the other, and the server adds an array to its sum when it
comes, so that neither holds more than a few arrays, however many users there are. Sums are taken
mod 2^64, which 2^bits divides, and reduced at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ....exact.number import ParameterError
from .keys import Mask, mask_array, word_of
from .messages import FromUser, MaskedInput, MaskedVector, refuse
from .server import Server
from .terms import Terms
from .user import User

_MOST_BITS = 64
_Words: TypeAlias = NDArray[np.uint64]


class VectorUser(User):
    """A user whose message is what a function returns, called once, when it is to be sent.

    message: returns an array of dtype uint64, of `terms.length` integers in 0, ..., m - 1.
    """

    def _read(self, message: Any) -> Any:
        _bits_of(self.terms)
        if not callable(message):
            raise ParameterError(f"the message of user {self.identity} must be a function")
        return message

    def _under(self, masks: Sequence[Mask]) -> MaskedVector:
        terms, values = self.terms, self._message()
        if values.shape != (terms.length,) or values.dtype != np.uint64:
            raise ParameterError(
                f"the message of user {self.identity} must be an array of {terms.length} integers "
                f"of 64 bits without sign, got {values.dtype} of the shape {values.shape}"
            )
        if int(values.max()) >= terms.modulus:
            raise ParameterError(
                f"the message of user {self.identity} must be between 0 and "
                f"m - 1 = {terms.modulus - 1}, got {int(values.max())}"
            )
        total = values.copy()
        _add(total, masks, terms)
        packed = pack(total, _bits_of(terms))
        return MaskedVector(terms.round_id, self.identity, terms.modulus, packed)


class VectorServer(Server):
    """A server that adds up arrays as they come."""

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._bits = _bits_of(terms)
        self._total = np.zeros(terms.length, dtype=np.uint64)

    def _check_input(self, message: MaskedInput | MaskedVector) -> None:
        if not isinstance(message, MaskedVector):
            refuse(message, "a MaskedVector is expected")
        size = (self.terms.length * self._bits + 7) // 8
        if len(message.packed) != size:
            refuse(message, f"it must hold {size} bytes")

    def _kept(self, message: FromUser) -> Any:
        """Who is received at this stage is in the sum: nobody can leave it afterwards."""
        if not isinstance(message, MaskedVector):
            return message
        self._total += unpack(message.packed, self._bits, self.terms.length)
        return None

    def _unmasked(self, masks: Sequence[Mask]) -> _Words:
        total = self._total.copy()
        _add(total, masks, self.terms)
        return total & np.uint64(self.terms.modulus - 1)


def pack(values: _Words, bits: int) -> bytes:
    """The last `bits` binary digits of each, lowest first, with no gap but at the end."""
    octets = values.astype("<u8").view(np.uint8).reshape(-1, 8)[:, : (bits + 7) // 8]
    if bits % 8 == 0:
        return octets.tobytes()
    digits = np.unpackbits(octets, axis=1, bitorder="little")[:, :bits]
    return np.packbits(digits, bitorder="little").tobytes()


def unpack(packed: bytes, bits: int, length: int) -> _Words:
    """What `pack` has packed."""
    octets = np.frombuffer(packed, dtype=np.uint8)
    if bits % 8:
        digits = np.unpackbits(octets, bitorder="little", count=length * bits)
        octets = np.packbits(digits.reshape(length, bits), axis=1, bitorder="little")
    wide = np.zeros((length, 8), dtype=np.uint8)
    wide[:, : (bits + 7) // 8] = octets.reshape(length, -1)
    return wide.view("<u8").ravel().astype(np.uint64)


def _add(total: _Words, masks: Sequence[Mask], terms: Terms) -> None:
    """Add the masks, or subtract them, mod 2^bits: in the type that they have, and then once."""
    bits = _bits_of(terms)
    added = np.zeros(terms.length, dtype=word_of(bits))
    for key, sign in masks:
        drawn = mask_array(key, bits, terms.length)
        if sign > 0:
            added += drawn
        else:
            added -= drawn
    total += added
    total &= np.uint64(terms.modulus - 1)


def _bits_of(terms: Terms) -> int:
    bits = terms.modulus.bit_length() - 1
    if terms.modulus != 1 << bits or not 1 <= bits <= _MOST_BITS:
        raise ParameterError(
            f"modulus must be a power of two, 2 to 2^{_MOST_BITS}, for arrays, got {terms.modulus}"
        )
    return bits
