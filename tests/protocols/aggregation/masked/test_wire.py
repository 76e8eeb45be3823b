"""Messages survive JSON; what is malformed is no message."""

import json

import pytest
from attrs import evolve, fields
from rounds import Played

from exactdp.protocols.aggregation.masked import RefusedError, Stage, messages
from exactdp.protocols.aggregation.masked.messages import MaskedInput, SealedShares, to_json

BIG = 10**60 + 7


def everything():
    played = Played({u: (u, BIG - 1) for u in range(6)}, BIG, vanish={2: Stage.INPUT})
    played.until(Stage.DONE)
    for stage in Stage:
        if stage is not Stage.DONE:
            yield played.sent[stage][0]
            if stage is not Stage.KEYS:
                yield played.mail[stage][0]


def test_every_message_survives_json():
    kinds = set()
    for message in everything():
        assert messages.from_json(json.loads(json.dumps(to_json(message)))) == message
        kinds.add(type(message))
    assert len(kinds) == 9


def test_every_field_is_checked():
    for message in everything():
        for field in fields(type(message)):
            for wrong in (None, 1.5, "text", True, b"short", -1, (1,), ((1, 2, 3),)):
                if (field.name, wrong) in [("listed", b"short"), ("values", (1,))]:
                    continue  # well-formed as long as the terms are not known
                with pytest.raises(RefusedError, match=type(message).__name__):
                    evolve(message, **{field.name: wrong})


def test_every_missing_or_spoilt_field_is_refused():
    for message in everything():
        data = to_json(message)
        for name in data:
            with pytest.raises(RefusedError):
                messages.from_json({key: value for key, value in data.items() if key != name})
            for wrong in (None, 1.5, "-1", "1_0", "x", {"hex": "zz"}, {"hex": 3}, {}, [["1"]]):
                with pytest.raises(RefusedError):
                    messages.from_json({**data, name: wrong})
        with pytest.raises(RefusedError):
            messages.from_json({**data, "more": "1"})


@pytest.mark.parametrize("data", [None, 3, "text", [], {}, {"kind": "Unknown"}, {"kind": []}])
def test_what_is_no_message(data):
    with pytest.raises(RefusedError, match="no message of the protocol"):
        messages.from_json(data)


def test_users_are_named_once():
    with pytest.raises(RefusedError, match="distinct users"):
        SealedShares(bytes(16), 1, bytes(32), ((2, bytes(82)), (2, bytes(82))), ())
    with pytest.raises(RefusedError, match="MaskedInput refused: values"):
        MaskedInput(bytes(16), 1, 5, (1, -1))
