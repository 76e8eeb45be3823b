"""Evidence on disk: found again for the very same protocol and claim only."""

import json

import pytest

from exactdp import PureDP
from exactdp.bandit import evidence as module
from exactdp.bandit.algorithms import DIST_DP_SE
from exactdp.bandit.evidence import Demand, audited, cached_evidence, evidence
from exactdp.bandit.setting import Setting

SETTING = Setting(2, 200, "0.5")
PROTOCOL = DIST_DP_SE.release(SETTING, 16).protocol
DEMAND = Demand(PureDP("0.5"))


@pytest.mark.parametrize("make", [evidence, audited])
def test_what_is_kept_is_found_again(tmp_path, monkeypatch, make):
    monkeypatch.setattr(module, "evidence", make)
    first = cached_evidence(tmp_path / "new")(PROTOCOL, DEMAND)

    def never(*_):
        raise AssertionError("was kept")

    monkeypatch.setattr(module, "evidence", never)
    prove = cached_evidence(tmp_path / "new")
    again = prove(PROTOCOL, DEMAND)
    assert type(again) is type(first)
    assert again.measured == first.measured
    with pytest.raises(AssertionError):
        prove(DIST_DP_SE.release(SETTING, 17).protocol, DEMAND)
    with pytest.raises(AssertionError):
        prove(PROTOCOL, Demand(PureDP("0.6")))
    with pytest.raises(AssertionError):
        prove(PROTOCOL, Demand(PureDP("0.5"), "0.1"))


def test_files_that_say_something_else_are_not_believed(tmp_path):
    prove = cached_evidence(tmp_path)
    good = prove(PROTOCOL, DEMAND)
    other = prove(DIST_DP_SE.release(Setting(2, 200, "0.4"), 16).protocol, Demand(PureDP("0.4")))
    ours, theirs = sorted(
        tmp_path.iterdir(), key=lambda path: '"0.5"' not in json.loads(path.read_text())["id"]
    )
    texts = {path: path.read_text() for path in (ours, theirs)}
    for path in texts:
        for text in ("", "{}", "[]", '{"certificate": {}}', *texts.values()):
            path.write_text(text)
            assert prove(PROTOCOL, DEMAND).content == good.content
    assert other.content != good.content
