"""What a coalition of users and the server sees of honest users is uniform where it must be.

The coalition takes part honestly and then tells all: its keys, and so every pairwise mask between
it and an honest user. What then remains of a masked input is tested: G-tests at 1e-6 over many
rounds; and the same tests fail where one kind of mask is left out.
"""

import math
from collections import Counter

import pytest
from rounds import Played
from scipy.stats import chi2

from exactdp.protocols.aggregation.masked import Stage, user
from exactdp.protocols.aggregation.masked.keys import pair_mask, self_mask, under

SIGNIFICANCE = 1e-6
ROUNDS = 300
MODULUS = 6


def is_uniform(seen):
    total, cells = len(seen), MODULUS
    g = 2 * sum(n * math.log(n * cells / total) for n in Counter(seen).values())
    return g <= chi2.isf(SIGNIFICANCE, cells - 1)


def stripped(played, honest, coalition):
    """The honest user's masked input without what the coalition knows to be in it."""
    (value,) = played.sent[Stage.INPUT][honest].values
    public = played.sent[Stage.KEYS][honest].masking_key
    for other in coalition:
        # the coalition's side of the same mask, its own secret key and the honest public one
        key = played.users[other]._masking
        (value,) = under((value,), [pair_mask(played.terms, other, key, honest, public)], MODULUS)
    return value


def before_unmasking(users):
    """Of user 0's message 2, all others colluding: once for each round."""
    for seed in range(ROUNDS):
        played = Played(dict.fromkeys(range(users), (2,)), MODULUS, seed=seed)
        played.until(Stage.CONFIRMATION)
        yield stripped(played, 0, range(1, users))


def after_unmasking():
    """Of users 0 and 1 with messages 2 and 5, user 2 colluding, their self-masks opened."""
    for seed in range(ROUNDS):
        played = Played({0: (2,), 1: (5,), 2: (0,)}, MODULUS, seed=seed)
        played.until(Stage.DONE)
        views = []
        for honest in (0, 1):
            seed_of_mask = played.users[honest]._seed
            (own,) = under((0,), [self_mask(played.terms, honest, seed_of_mask)], MODULUS)
            views.append((stripped(played, honest, [2]) - own) % MODULUS)
        yield tuple(views)


@pytest.mark.slow_cases("3")
@pytest.mark.parametrize("users", [2, 3])
def test_all_others_and_the_server_see_nothing_before_unmasking(users):
    # So it stays if user 0 is said to have vanished, whose pairwise masks are then open anyway.
    # (Once they open its self-mask they have its message; so they have by the sum.)
    assert is_uniform([*before_unmasking(users)])


@pytest.mark.slow
def test_without_its_self_mask_they_would(monkeypatch):
    monkeypatch.setattr(user, "self_mask", lambda *_: (bytes(32), 0))
    assert set(before_unmasking(3)) == {2}


@pytest.mark.slow
def test_two_honest_users_show_their_sum_and_nothing_else():
    views = [*after_unmasking()]
    assert {sum(pair) % MODULUS for pair in views} == {(2 + 5) % MODULUS}
    assert is_uniform([first for first, _ in views])
    assert is_uniform([second for _, second in views])


@pytest.mark.slow
def test_without_pairwise_masks_they_would_show_more(monkeypatch):
    monkeypatch.setattr(user, "pair_mask", lambda *_: (bytes(32), 0))
    with monkeypatch.context() as patched:
        patched.setitem(globals(), "pair_mask", lambda *_: (bytes(32), 0))
        assert set(after_unmasking()) == {(2, 5)}


def test_the_message_does_not_move_what_is_seen():
    # Under the same randomness the view of one message is the view of another, shifted: masks
    # that are uniform for one are uniform for all.
    for seed in range(5):
        seen = []
        for message in (0, 4):
            played = Played({0: (message,), 1: (1,), 2: (1,)}, MODULUS, seed=seed)
            played.until(Stage.CONFIRMATION)
            seen.append(played.sent[Stage.INPUT])
        assert (seen[1][0].values[0] - seen[0][0].values[0]) % MODULUS == 4
        assert seen[0][1] == seen[1][1]


@pytest.mark.slow
def test_shares_held_by_a_coalition_below_the_threshold_are_uniform():
    # One share of user 0's seed, in the field: its place among six equal parts, over many rounds.
    seen = []
    for seed in range(ROUNDS):
        played = Played(dict.fromkeys(range(3), (0,)), MODULUS, seed=seed)
        played.until(Stage.CONFIRMATION)
        share = played.users[1]._held[0][0]
        seen.append(share * MODULUS >> 257)
    assert is_uniform(seen)
