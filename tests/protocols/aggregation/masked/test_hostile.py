"""Whatever a server or a user sends: a typed error, or a right sum; never anything else."""

import json
import random
from contextlib import suppress
from functools import partial

import pytest
from rounds import _STEPS, Played

from exactdp.protocols.aggregation import AggregationError
from exactdp.protocols.aggregation.masked import RefusedError, Stage
from exactdp.protocols.aggregation.masked.messages import Present, from_json, to_json

STAGES = [stage for stage in Stage if stage is not Stage.DONE]
ODD = [
    *(
        None,
        True,
        1.5,
        "",
        "0",
        "7",
        "-1",
        "1e9",
        "9" * 5000,
        str(2**64),
        [],
        [["1"]],
        [["1", "2"]],
    ),
    *({"hex": ""}, {"hex": "0"}, {"hex": "00" * 16}, {"hex": "ff" * 32}, {}, {"kind": "Present"}),
]


def spoilt(data, draw):
    """The message with one part of it replaced, dropped, doubled or turned around."""
    data = json.loads(json.dumps(data))
    place = data
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = draw.choice(list(keys))
        if isinstance(place[key], (dict, list)) and place[key] and draw.random() < 0.7:
            place = place[key]
            continue
        what = draw.randrange(4)
        if what == 0 or not isinstance(place, list):
            place[key] = draw.choice(ODD)
        elif what == 1:
            del place[key]
        elif what == 2:
            place.append(place[key])
        else:
            place.reverse()
        return data


def taken(data, take):
    """Was this taken as a message? Refusals are of two types, and of no other."""
    try:
        take(from_json(data))
    except (RefusedError, AggregationError):
        return False
    return True


def round_of(seed):
    return Played({user: (user,) for user in range(8)}, 101, seed=seed, neighbours=6, threshold=4)


@pytest.mark.parametrize("stage", STAGES[1:])
@pytest.mark.parametrize("seed", range(8))
def test_what_a_server_spoils_is_refused_or_taken(stage, seed):
    draw, played = random.Random(seed), round_of(seed)
    letters, step = played.until(stage), _STEPS[stage.value - 1][2]
    for user, letter in letters.items():
        one = played.users[user]
        while not taken(spoilt(to_json(letter), draw), partial(step, one)) and draw.random() < 0.9:
            assert one.stage is stage


class Spoiling(Played):
    """Users 2 and 5 send one message of one stage spoilt."""

    def deliver(self, message):
        if self.server.stage is self.when and message.sender in (2, 5):
            taken(spoilt(to_json(message), self.draw), self.server.receive)
        else:
            super().deliver(message)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("seed", range(8))
def test_what_a_user_spoils_is_refused_or_taken(stage, seed):
    messages = {user: (user,) for user in range(8)}
    played = Spoiling(messages, 101, seed=seed, neighbours=6, threshold=4)
    played.when, played.draw = stage, random.Random(seed)
    if stage in (Stage.KEYS, Stage.INPUT):  # with other keys or inputs sums are others
        with suppress(AggregationError):
            played.until(Stage.DONE)
        return
    # two wrong ones, of six at least, do not matter
    assert played.until(Stage.DONE) == (sum(played.server.heard(Stage.INPUT)) % 101,)


def test_a_server_that_drops_users_in_parts():
    # It shows each half of the users a list without some of the other half: each list is at the
    # floor, and together they would leave fewer than the floor.
    messages = dict.fromkeys(range(24), (1,))
    played = Played(messages, 101, neighbours=8, threshold=6, dropout=2)
    played.until(Stage.CONFIRMATION)
    order = played.terms.circle.order
    lists = (set(order) - {order[3], order[6]}, set(order) - {order[15], order[18]})
    tags = {}
    for place, user in enumerate(order):
        present = lists[place >= 12]
        if user in present:
            shown = Present(played.terms.round_id, user, played.terms.packed(present))
            tags[user] = dict(played.users[user].confirm(shown).tags)
    answers = {}
    for user in tags:
        near = [o for o in played.terms.near[user] if o in tags and user in tags[o]
                and o in played.users[user]._present]  # fmt: skip
        letter = from_json({
            "kind": "Confirmations", "round_id": {"hex": played.terms.round_id.hex()},
            "recipient": str(user),
            "tags": [[str(o), {"hex": tags[o][user].hex()}] for o in near],
        })  # fmt: skip
        try:
            answers[user] = played.users[user].unmask(letter)
        except AggregationError as refused:
            assert "confirmed the same list" in str(refused)
    shares = dict.fromkeys(order, 0)
    for answer in answers.values():
        for owner, _ in (*answer.self_masks, *answer.keys):
            shares[owner] += 1
    # Some user unmasks, but between the halves there is one whose secrets stay closed on each side.
    assert answers
    closed = {order.index(user) for user, count in shares.items() if count < played.terms.threshold}
    assert any(place in closed for place in (*range(8, 16),))
    assert any(place in closed for place in (*range(20, 24), *range(4)))


def test_a_server_cannot_say_of_a_list_that_others_confirmed_it():
    played = Played(dict.fromkeys(range(8), (1,)), 101, neighbours=6, threshold=4)
    letters = played.until(Stage.UNMASKING)
    other = Played(dict.fromkeys(range(8), (1,)), 101, seed=2, neighbours=6, threshold=4)
    for user, letter in other.until(Stage.UNMASKING).items():
        with pytest.raises(RefusedError, match="another round"):
            played.users[user].unmask(letter)
    # tags of one pair of users, sent on to another
    (_, tag), *rest = letters[0].tags
    moved = tuple((user, tag) for user, _ in rest)
    message = type(letters[0])(played.terms.round_id, 0, moved)
    with pytest.raises(AggregationError, match="0 of the 6 neighbours of user 0 confirmed"):
        played.users[0].unmask(message)
