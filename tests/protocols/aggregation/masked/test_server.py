"""The server refuses what is not one message of each user at its stage, by name."""

import pytest
from attrs import evolve
from rounds import Played

from exactdp.protocols.aggregation import AggregationError
from exactdp.protocols.aggregation.masked import RefusedError, Server, Stage
from exactdp.protocols.aggregation.masked.keys import PRIME

STAGES = [stage for stage in Stage if stage is not Stage.DONE]
stages = pytest.mark.parametrize("stage", STAGES)


def round_of(seed=1, modulus=11, vanish=None, users=9):
    messages = {user: (user,) for user in range(users)}
    return Played(messages, modulus, seed=seed, vanish=vanish, neighbours=4, threshold=3)


def at(stage, **settings):
    """A server that waits for this stage's messages, and what user 0 would send."""
    full = round_of(**settings)
    full.until(Stage.DONE)
    waiting = round_of(**settings)
    waiting.until(stage)
    return waiting.server, full.sent


def refused(server, message, why):
    before = [server.heard(stage) for stage in STAGES]
    with pytest.raises(RefusedError, match=why):
        server.receive(message)
    assert [server.heard(stage) for stage in STAGES] == before


@stages
def test_repeated(stage):
    server, sent = at(stage)
    server.receive(sent[stage][0])
    name = type(sent[stage][0]).__name__
    refused(server, sent[stage][0], f"{name} of user 0 refused: it is repeated")


@stages
def test_replayed_from_another_round(stage):
    server, _ = at(stage)
    _, other = at(stage, seed=2)
    refused(server, other[stage][0], f"{type(other[stage][0]).__name__} of user 0 .*another round")


@stages
def test_of_another_stage(stage):
    server, sent = at(stage)
    for other in STAGES:
        if other is not stage:
            why = "stage is closed" if other.value < stage.value else "out of order"
            refused(server, sent[other][0], why)


@stages
@pytest.mark.parametrize("message", [None, "hello", 7, {"kind": "MaskedInput"}])
def test_wrongly_typed(stage, message):
    server, _ = at(stage)
    refused(server, message, f"the server refused a {type(message).__name__}")


@stages
def test_the_server_s_own_messages(stage):
    played = round_of()
    if stage is not Stage.KEYS:
        played.until(stage)
        refused(played.server, played.mail[stage][0], "no user's message")


@pytest.mark.parametrize("stage", STAGES[1:])
def test_of_a_user_who_comes_back_late(stage):
    gone = {0: Stage(stage.value - 1)}
    _, sent = at(stage)
    played = round_of(vanish=gone)
    played.until(stage)
    # with the message that it missed, and with the next one
    late, due = sent[Stage(stage.value - 1)][0], sent[stage][0]
    refused(played.server, late, "of user 0 refused: its stage is closed")
    refused(played.server, due, "of user 0 refused: its sender has vanished before")


def test_a_late_input_is_not_in_the_sum():
    played = round_of(vanish={5: Stage.INPUT})
    played.until(Stage.CONFIRMATION)
    late = played.users[5].mask(played.mail[Stage.INPUT][5])
    refused(played.server, late, "stage is closed")
    assert played.until(Stage.DONE) == ((sum(range(9)) - 5) % 11,)


@pytest.mark.parametrize(
    ("stage", "changed", "why"),
    [
        *((stage, {"sender": 77}, "of user 77 .*no such user") for stage in STAGES),
        *(
            (stage, {"modulus": 13}, "its modulus is 13, agreed is 11")
            for stage in (Stage.KEYS, Stage.INPUT)
        ),
        (Stage.KEYS, {"terms": bytes(32)}, "other terms"),
        *((Stage.KEYS, {key: bytes(32)}, "small order") for key in ("masking_key", "sealing_key")),
        *(
            (Stage.INPUT, {"values": values}, "MaskedInput of user 0 refused")
            for values in ((), (1, 2), (11,), (10**9,))
        ),
    ],
)
def test_a_message_that_is_not_of_this_round(stage, changed, why):
    server, sent = at(stage)
    refused(server, evolve(sent[stage][0], **changed), why)


def test_one_number_of_a_vector_that_is_too_large():
    played = Played(dict.fromkeys(range(9), (1, 2)), 11, seed=1, neighbours=4, threshold=3)
    played.until(Stage.CONFIRMATION)
    sent = played.sent[Stage.INPUT][0]
    waiting = Played(dict.fromkeys(range(9), (1, 2)), 11, seed=1, neighbours=4, threshold=3)
    waiting.until(Stage.INPUT)
    refused(waiting.server, evolve(sent, values=(0, 11)), "must be below 11")


@pytest.mark.parametrize(
    ("stage", "field"),
    [
        (Stage.SHARES, "shares"),
        (Stage.CONFIRMATION, "tags"),
        (Stage.UNMASKING, "self_masks"),
        (Stage.UNMASKING, "keys"),
    ],
)
def test_for_other_neighbours_than_there_are(stage, field):
    server, sent = at(stage, vanish={4: Stage.INPUT})
    holder = next(
        user for user, one in sent[stage].items() if getattr(one, field)
    )  # next to the vanished one, so that it opens both kinds
    pairs = getattr(sent[stage][holder], field)
    for wrong in (pairs[1:], (*pairs, (99, pairs[0][1])), ((99, pairs[0][1]), *pairs[1:])):
        if stage is Stage.UNMASKING and wrong == pairs[1:]:
            continue  # a holder opens the shares that it has: see below
        changed = {field: wrong}
        if field == "shares":
            changed["checks"] = tuple((user, bytes(64)) for user, _ in wrong)
        message = evolve(sent[stage][holder], **changed)
        refused(server, message, f"of user {holder} .*neighbours that are there")


@pytest.mark.parametrize("spoilt", ["missing", "wrong"])
@pytest.mark.parametrize(("field", "owners"), [("self_masks", range(9)), ("keys", [4])])
def test_one_bad_share_of_each_secret_does_not_matter(field, owners, spoilt):
    # Of every owner one share is opened wrongly, or not at all: one that is needed if it came
    # first, and the threshold leaves one to spare (nobody's neighbours have vanished but 4's).
    played = round_of(vanish={4: Stage.INPUT} if field == "keys" else {})
    letters = played.until(Stage.UNMASKING)
    left = set(owners)
    for user, letter in letters.items():
        answer = played.users[user].unmask(letter)
        pairs = []
        for owner, share in getattr(answer, field):
            if owner not in left:
                pairs.append((owner, share))
            elif spoilt == "wrong":
                pairs.append((owner, (share + 1) % PRIME))
            left.discard(owner)
        played.server.receive(evolve(answer, **{field: tuple(pairs)}))
    assert not left
    assert played.server.result() == (sum(user for user in letters) % 11,)


def test_a_sum_below_the_floor_is_not_shown():
    played = Played(dict.fromkeys(range(9), (1,)), 11, vanish=dict.fromkeys((1, 2), Stage.INPUT),
                    neighbours=8, threshold=5, dropout=1)  # fmt: skip
    with pytest.raises(AggregationError, match=r"7 of 9 users .* at least 8 are needed"):
        played.until(Stage.CONFIRMATION)


@pytest.mark.parametrize(("field", "what"), [("self_masks", "self-mask"), ("keys", "key")])
@pytest.mark.parametrize("change", [8, 2**200, PRIME - 64])
def test_tampered_shares_give_no_sum(field, what, change):
    # (X25519 ignores the last three bits of a secret key: with others there it is the same key.)
    played = round_of(vanish={4: Stage.INPUT})
    letters = played.until(Stage.UNMASKING)
    for user, letter in letters.items():
        answer = played.users[user].unmask(letter)
        pairs = tuple((owner, (s + change) % PRIME) for owner, s in getattr(answer, field))
        played.server.receive(evolve(answer, **{field: pairs}))
    with pytest.raises(AggregationError, match=rf"shares of the {what} of user \d were tampered"):
        played.server.result()


def test_stages_close_in_order_and_once():
    played = round_of()
    closers = [Server.keys, Server.shares, Server.present, Server.confirmations, Server.result]
    for wrong in closers[1:]:
        with pytest.raises(RefusedError, match="the server is at KEYS"):
            wrong(played.server)
    played.until(Stage.DONE)
    for closer in closers:
        with pytest.raises(RefusedError, match="the server is at DONE"):
            closer(played.server)


@stages
def test_nobody_comes(stage):
    server, _ = at(stage)
    closers = [Server.keys, Server.shares, Server.present, Server.confirmations, Server.result]
    with pytest.raises(AggregationError, match=r"0 of 9 users remained .*at least 4 are needed"):
        closers[stage.value](server)
