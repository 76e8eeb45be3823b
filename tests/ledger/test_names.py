"""Which names are the same: nobody has two budgets under names that look alike."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import Ledger, ParameterError
from exactdp.ledger import Limit, RefusedError
from exactdp.ledger.names import is_plain, new_name, spellings

ONE = "discrete-gaussian:sigma2=100,sensitivity=1"  # 1/200-zCDP
COMPOSED, DECOMPOSED = "Zo\u00eb", "Zoe\u0308"
UNSEEN = {
    "space before": " ada",
    "space after": "ada ",
    "two spaces": "ada  b",
    "zero width": "a\u200bda",
    "joiner": "a\u200dda",
    "soft hyphen": "a\u00adda",
    "no-break space": "ada\u00a0b",
    "bidi mark": "ada\u200e",
    "bidi override": "\u202eada",
    "isolate": "\u2066ada\u2069",
    "byte order mark": "\ufeffada",
    "tag": "ada\U000e0061",
    "variation": "ada\ufe0f",
    "more variations": "ada\U000e0100",
    "grapheme joiner": "a\u034fda",
    "Hangul filler": "ada\u3164",
    "half-width filler": "ada\uffa0",
    "Mongolian variation": "ada\u180b",
    "Braille blank": "ada\u2800",
    "control": "ada\x00",
    "line": "ada\n",
    "tab": "ada\t",
    "line separator": "ada\u2028",
    "surrogate": "ada\ud800",
    "private": "ada\ue000",
    "dot above i": "i\u0307da",
    "stroke": "ad\u0336a",
    "accent twice": "\u00e1\u0301da",
    "enclosed": "ada\u20dd",
    "accent after a space": "ada \u0301b",
    "mark of another script": "ada\u094d",
    "virama twice": "\u0939\u094d\u094d",
    "Khmer inherent vowel": "\u1780\u17b4",
    "choseong filler": "ada\u115f",
    "Khitan filler": "ada\U00016fe4",
    "ligature": "\ufb01n",
    "full width": "\uff41da",
    "superscript": "ada\u00b2",
}


@pytest.mark.parametrize("name", UNSEEN.values(), ids=UNSEEN)
def test_what_differs_invisibly_is_refused(name, tmp_path) -> None:
    with Ledger.create(str(tmp_path / "a.db"), "zcdp:0.1") as ledger:
        with pytest.raises(ParameterError, match="user must"):
            ledger.charge(ONE, ["bob", name], "1")
        with pytest.raises(ParameterError, match="project must"):
            ledger.charge(ONE, "bob", "1", project=name)
        assert ledger.balances() == []
    with pytest.raises(ParameterError, match="project must"):
        Ledger.create(str(tmp_path / "b.db"), Limit.of("zcdp:1", project=name))


@pytest.mark.contract
def test_what_is_seen_makes_another_name(url: str) -> None:
    names = ["ada", "ADA", "Ada", "\u0430da", "ada b", "\u00e1da", "\U0001f98a", "\u0939\u093f"]
    names += [
        "\u0939\u093f\u0928\u094d\u0926\u0940",
        "\u0e17\u0e35\u0e48",
        "\u05d3\u05b8",
        "\u1ea5n",
        "\ud55c",
    ]
    with Ledger.create(url, "zcdp:0.1") as ledger:
        ledger.charge(f"{ONE}*20", names, "1")
        assert {each.user for each in ledger.balances()} == set(names)
        assert ledger.check().valid


@pytest.mark.parametrize("first", [COMPOSED, DECOMPOSED])
def test_composed_and_decomposed_are_one(first, url: str) -> None:
    limits = [Limit.of("zcdp:0.1", "life"), Limit.of("zcdp:0.05", "one", project=COMPOSED)]
    with Ledger.create(url, limits) as ledger:
        ledger.charge(f"{ONE}*10", first, "1", project=first)
        for name in (COMPOSED, DECOMPOSED):
            assert not ledger.charge(f"{ONE}*10", name, "1", project=name).new
            for number, project in ((11, ""), (1, COMPOSED), (1, DECOMPOSED)):
                with pytest.raises(RefusedError):
                    ledger.charge(f"{ONE}*{number}", name, "2", project=project)
            assert str(ledger.balance(name).spent) == "0.05"
            assert [entry.user for entry in ledger.entries(name)] == [COMPOSED]
            assert ledger.summary(name)["users"][0]["user"] == COMPOSED
        with pytest.raises(ParameterError, match="distinct"):
            ledger.charge(ONE, [COMPOSED, DECOMPOSED], "3")
        assert len(ledger.balances()) == 1
        assert ledger.check().valid


def test_names_of_older_versions_are_found_and_go_on(url: str, monkeypatch) -> None:
    old = ["ada ", DECOMPOSED, "a\ufe0f"]
    with Ledger.create(url, "zcdp:0.1") as ledger:
        with monkeypatch.context() as patch:
            patch.setattr("exactdp.ledger.book._written_names", lambda connection, names: names)
            ledger.charge(f"{ONE}*15", sorted(old), "1")
        assert ledger.check().valid
        for name in (*old, COMPOSED):
            assert str(ledger.balance(name).spent) == "0.075"
            assert len(list(ledger.entries(name))) == 1
            with pytest.raises(RefusedError):
                ledger.charge(f"{ONE}*6", name, "2")
        assert not ledger.charge(f"{ONE}*15", old, "1").new
        ledger.charge(f"{ONE}*5", [COMPOSED, "ada "], "3")
        assert sorted(each.user for each in ledger.balances()) == sorted(old)
        assert ledger.check().valid


@given(st.text(max_size=30))
def test_a_new_name_has_one_spelling(name: str) -> None:
    try:
        written = new_name(name, "user")
    except ParameterError:
        return
    assert unicodedata.is_normalized("NFC", written)
    assert written == written.strip()
    assert {new_name(way, "user") for way in spellings(name)} == {written}
    assert written in spellings(name)
    assert not is_plain(name) or spellings(name) == (written,)
