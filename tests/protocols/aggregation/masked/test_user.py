"""A user refuses whatever is not the one message that it expects, and changes nothing by it."""

import pytest
from attrs import evolve
from rounds import Played

from exactdp.mechanisms.samplers.bits import SeededBits
from exactdp.protocols.aggregation import AggregationError
from exactdp.protocols.aggregation.masked import RefusedError, Stage, User
from exactdp.protocols.aggregation.masked.messages import Confirmations, Present

STEPS = {
    Stage.SHARES: User.share_keys,
    Stage.INPUT: User.mask,
    Stage.CONFIRMATION: User.confirm,
    Stage.UNMASKING: User.unmask,
}
stages = pytest.mark.parametrize("stage", STEPS)


def round_of(users=9, neighbours=4, threshold=3, seed=1, modulus=11, vanish=None):
    messages = {user: (user % modulus,) for user in range(users)}
    shape = {"neighbours": neighbours, "threshold": threshold}
    return Played(messages, modulus, seed=seed, vanish=vanish, **shape)


def refused(stage, played, message, why, user=0):
    """The user refuses the message for this reason, and accepts the right one afterwards."""
    step, one = STEPS[stage], played.users[user]
    with pytest.raises(RefusedError, match=why):
        step(one, message)
    step(one, played.mail[stage][user])


@stages
def test_repeated(stage):
    played = round_of()
    letter = played.until(stage)[0]
    STEPS[stage](played.users[0], letter)
    with pytest.raises(RefusedError, match=f"{type(letter).__name__} to user 0 .*repeated"):
        STEPS[stage](played.users[0], letter)


@stages
def test_replayed_from_another_round(stage):
    other = round_of(seed=2)
    letter = other.until(stage)[0]
    played = round_of()
    played.until(stage)
    refused(stage, played, letter, f"{type(letter).__name__} to user 0 .*another round")


@stages
def test_out_of_order(stage):
    played = round_of()
    played.until(Stage.UNMASKING)
    late = User(0, 0, played.terms, SeededBits(1))
    with pytest.raises(RefusedError, match="out of order"):
        STEPS[stage](late, played.mail[stage][0])


@stages
@pytest.mark.parametrize("message", [None, "hello", 7, {}])
def test_wrongly_typed(stage, message):
    played = round_of()
    played.until(stage)
    refused(stage, played, message, f"user 0 refused a {type(message).__name__}")


@stages
def test_another_stage_s_message(stage):
    played = round_of()
    played.until(stage)
    other = Present(played.terms.round_id, 0, b"\0\0")
    if stage is Stage.CONFIRMATION:
        other = played.mail[Stage.INPUT][0]
    refused(stage, played, other, f"refused a {type(other).__name__}: .* is expected")


@stages
def test_to_another_user(stage):
    played = round_of()
    played.until(stage)
    refused(stage, played, played.mail[stage][1], "to user 1 refused: it came to user 0")


def test_keys_are_advertised_once():
    played = round_of()
    played.until(Stage.SHARES)
    with pytest.raises(RefusedError, match="user 0 has advertised"):
        played.users[0].advertise()


# -- keys -------------------------------------------------------------------------------------


def with_key(letter, **changed):
    return evolve(letter, keys=(evolve(letter.keys[0], **changed), *letter.keys[1:]))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"modulus": 13}, "its modulus is 13, agreed is 11"),
        ({"terms": bytes(32)}, "other terms"),
        ({"round_id": bytes(16)}, "another round"),
        ({"sender": None}, "of user . .*no such neigh"),  # of one that is far
        ({"sender": 0}, "no such neighbour"),
        ({"sealing_key": bytes(32)}, "small order"),
    ],
)
def test_keys_that_are_not_a_neighbours_for_this_round(changed, why):
    played = round_of()
    letter = played.until(Stage.SHARES)[0]
    if changed.get("sender", 0) is None:
        changed = {"sender": next(u for u in range(1, 9) if u not in played.terms.near[0])}
    refused(Stage.SHARES, played, with_key(letter, **changed), why)


def test_masking_keys_of_small_order():
    played = round_of()
    wrong = with_key(played.until(Stage.SHARES)[0], masking_key=bytes(32))
    played.mail[Stage.SHARES] |= {0: wrong}
    played.until(Stage.INPUT)
    with pytest.raises(RefusedError, match="small order"):
        played.users[0].mask(played.mail[Stage.INPUT][0])


@pytest.mark.parametrize(
    ("stage", "field"),
    [(Stage.SHARES, "keys"), (Stage.INPUT, "shares"), (Stage.UNMASKING, "tags")],
)
def test_fewer_than_the_threshold(stage, field):
    played = round_of()
    letter = played.until(stage)[0]
    why = "2 of the 4 neighbours of user 0 .*(3 are needed|confirmed)"
    with pytest.raises(AggregationError, match=why):
        STEPS[stage](played.users[0], evolve(letter, **{field: getattr(letter, field)[:2]}))


@pytest.mark.parametrize(("stage", "field"), [(Stage.INPUT, "shares"), (Stage.UNMASKING, "tags")])
def test_what_is_of_no_neighbour(stage, field):
    played = round_of()
    letter = played.until(stage)[0]
    (_, value), *rest = getattr(letter, field)
    wrong = evolve(letter, **{field: ((99, value), *rest)})
    refused(stage, played, wrong, "user 99 is no neighbour")


# -- shares -----------------------------------------------------------------------------------


def assert_kept_without(wrong, owners):
    """User 0 goes on with the other shares, if they are enough, and the sum is right."""
    played = round_of()
    played.mail[Stage.INPUT] = played.until(Stage.INPUT) | {0: wrong}
    if len(wrong.shares) - len(owners) < played.terms.threshold:
        with pytest.raises(AggregationError, match="neighbours of user 0 shared their keys"):
            played.users[0].mask(wrong)
        return
    assert played.until(Stage.DONE) == (sum(range(9)) % 11,)
    opened = dict(played.sent[Stage.UNMASKING][0].self_masks)
    assert opened.keys() == played.terms.near[0].keys() - owners


def test_tampered_shares():
    played = round_of()
    letter = played.until(Stage.INPUT)[0]
    (owner, sealed), *rest = letter.shares
    for place in (0, 40, len(sealed) - 1):
        changed = sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :]
        wrong = evolve(letter, shares=((owner, changed), *rest))
        assert_kept_without(wrong, {owner})


def test_swapped_shares():
    played = round_of()
    letter = played.until(Stage.INPUT)[0]
    (one, first), (two, second), *rest = letter.shares
    wrong = evolve(letter, shares=((one, second), (two, first), *rest))
    assert_kept_without(wrong, {one, two})


def test_other_terms_give_other_keys():
    # Each user is told another modulus, in messages that agree with what it was told.
    first = round_of()
    first.until(Stage.SHARES)
    other = evolve(first.terms, modulus=13)
    user = User(0, 0, other, SeededBits(5))
    user.advertise()
    keys = first.mail[Stage.SHARES][0].keys
    keys = tuple(evolve(each, modulus=13, terms=other.digest) for each in keys)
    user.share_keys(evolve(first.mail[Stage.SHARES][0], keys=keys))
    first.until(Stage.INPUT)
    with pytest.raises(AggregationError, match="0 of the 4 neighbours of user 0 shared"):
        user.mask(first.mail[Stage.INPUT][0])


# -- a server that lies about who has vanished --------------------------------------------------


def listing(played, gone):
    present = [user for user in played.users if user not in gone]
    return Present(played.terms.round_id, 0, played.terms.packed(present))


def test_a_list_without_oneself():
    played = round_of()
    played.until(Stage.CONFIRMATION)
    refused(Stage.CONFIRMATION, played, listing(played, {0}), "says that this user has vanished")


@pytest.mark.parametrize("listed", [b"", b"\xff", b"\xff\xff", b"\xff\x80\x00"])
def test_what_is_no_list(listed):
    played = round_of()
    played.until(Stage.CONFIRMATION)
    wrong = Present(played.terms.round_id, 0, listed)
    refused(Stage.CONFIRMATION, played, wrong, "no list of the round's users")


def test_a_list_that_isolates_someone():
    played = round_of(users=15)
    played.until(Stage.CONFIRMATION)
    gone = set([*played.terms.near[7]][:2]) - {0}
    if len(gone) < 2:
        gone = set([*played.terms.near[7]][2:]) - {0}
    with pytest.raises(AggregationError, match=r"[12] of the 4 neighbours of user \d+ are present"):
        played.users[0].confirm(listing(played, gone))


def test_a_list_below_the_floor():
    played = Played(dict.fromkeys(range(9), (1,)), 11, neighbours=8, threshold=5, dropout=2)
    played.until(Stage.CONFIRMATION)
    with pytest.raises(AggregationError, match=r"6 of 9 .* user 0 unmasks no sum .* 7 needed"):
        played.users[0].confirm(listing(played, {1, 2, 3}))
    played.users[0].confirm(listing(played, {1, 2}))  # the refusal has changed nothing


def test_a_list_with_a_neighbour_whose_shares_were_held_back():
    played = round_of()
    letter = played.until(Stage.INPUT)[0]
    held_back = letter.shares[0][0]
    played.mail[Stage.INPUT] |= {0: evolve(letter, shares=letter.shares[1:])}
    played.until(Stage.CONFIRMATION)
    with pytest.raises(RefusedError, match=f"user {held_back} is in it, whose shares never came"):
        played.users[0].confirm(played.mail[Stage.CONFIRMATION][0])


def test_different_lists_for_different_users():
    played = round_of()
    played.until(Stage.CONFIRMATION)
    liar = next(iter(played.terms.near[0]))
    far = next(u for u in range(1, 9) if u not in played.terms.near[0])
    played.users[0].confirm(listing(played, {far}))
    tag = played.users[liar].confirm(played.mail[Stage.CONFIRMATION][liar])
    tags = ((liar, dict(tag.tags)[0]),)
    played.mail[Stage.CONFIRMATION] = {
        user: letter
        for user, letter in played.mail[Stage.CONFIRMATION].items()
        if user not in (0, liar)
    }
    played.vanish |= {0: Stage.CONFIRMATION, liar: Stage.CONFIRMATION}
    played.until(Stage.UNMASKING)
    with pytest.raises(
        AggregationError, match="0 of the 4 neighbours of user 0 confirmed the same"
    ):
        letter = next(iter(played.mail[Stage.UNMASKING].values()))
        played.users[0].unmask(evolve(letter, recipient=0, tags=tags))


def test_tampered_confirmations():
    played = round_of()
    letter = played.until(Stage.UNMASKING)[0]
    (other, _), *rest = letter.tags
    user = played.users[0]
    wrong = evolve(letter, tags=((other, bytes(16)), (rest[0][0], bytes(16)), *rest[1:]))
    with pytest.raises(AggregationError, match="2 of the 4 neighbours of user 0 confirmed"):
        user.unmask(wrong)
    # one that is wrong is as good as missing
    assert user.unmask(evolve(letter, tags=((other, bytes(16)), *rest))).sender == 0


def test_one_kind_of_share_for_each_neighbour():
    gone = {3: Stage.INPUT, 5: Stage.INPUT}
    played = round_of(users=12, neighbours=10, threshold=6, vanish=gone)
    played.until(Stage.DONE)
    for answer in played.sent[Stage.UNMASKING].values():
        present, vanished = set(dict(answer.self_masks)), set(dict(answer.keys))
        assert vanished == gone.keys() & played.terms.near[answer.sender].keys()
        assert not present & vanished
        assert present | vanished == played.terms.near[answer.sender].keys()


@pytest.mark.parametrize("victim", range(8))
def test_no_split_of_the_neighbours_opens_both_secrets(victim):
    # The server tells half of the victim's neighbours that it vanished, the others that it did
    # not. Even if nobody asked for confirmations: each opens one share, and 2t > k.
    played = round_of(users=8, neighbours=6, threshold=4)
    played.until(Stage.CONFIRMATION)
    opened = {"seed": 0, "key": 0}
    for number, holder in enumerate(played.terms.near[victim]):
        listed = listing(played, {victim} if number % 2 else set()).listed
        shown = Present(played.terms.round_id, holder, listed)
        none = Confirmations(played.terms.round_id, holder, ())
        user = played.users[holder]
        user.confirm(shown)
        with pytest.raises(AggregationError, match="0 of the 6 neighbours"):
            user.unmask(none)
        user._enough = lambda *_: None  # as if nobody asked
        answer = user.unmask(none)
        opened["seed"] += victim in dict(answer.self_masks)
        opened["key"] += victim in dict(answer.keys)
        for again in (lambda: user.confirm(shown), lambda: user.unmask(none)):  # noqa: B023
            with pytest.raises(RefusedError, match="repeated"):
                again()
    assert opened == {"seed": 3, "key": 3}
    assert max(opened.values()) < played.terms.threshold
