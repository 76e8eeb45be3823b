from pathlib import Path

import pytest

from exactdp import ParameterError
from exactdp.bandit.environments.files import write_json
from exactdp.bandit.environments.instance import instance, read_instance

CSV = "arm,reward\na,1\nb,0\n"
LETOR = "\n# made up\n" + "1 qid:1 1:5\n0 qid:1 1:2\n0 qid:2 1:2\n"


def test_files_are_told_apart_by_suffix_and_by_content(tmp_path: Path) -> None:
    kinds = {"x.csv": CSV, "y.txt": CSV, "z": LETOR, "u.txt": LETOR, "v.SVM": LETOR}
    for name, text in kinds.items():
        (tmp_path / name).write_text(text)
        found = read_instance(tmp_path / name, 2)
        assert sorted(arm.mean for arm in found.arms) == [0, 1], name
    write_json(tmp_path / "w.json", "w", [{0: 1}, {1: 1}])
    (tmp_path / "w").write_text((tmp_path / "w.json").read_text())
    assert instance(str(tmp_path / "w")) == instance(tmp_path / "w.json")


def test_other_files_and_names_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    for text in ("", "some words\n", "1,2\n"):
        path.write_text(text)
        with pytest.raises(ParameterError, match=r"notes\.txt: neither a CSV of arm,reward"):
            instance(str(path))
    with pytest.raises(ParameterError, match="must be easy, hard, fair or a file, got 'medium'"):
        instance("medium")
    with pytest.raises(ParameterError, match=r"mean of a coin must be .* at most 1, got '2'"):
        instance("coins:2,1")
    with pytest.raises(ParameterError, match="must be easy, hard, fair or a file"):
        instance("x" * 5000)
    with pytest.raises(ParameterError, match="No such file"):
        read_instance(tmp_path / "none")
    with pytest.raises(ParameterError, match="Is a directory"):
        instance(str(tmp_path))


def test_a_file_has_the_arms_that_it_has(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(CSV)
    assert len(instance(str(path), arms="2").arms) == 2
    with pytest.raises(ParameterError, match=r"arms must be 2, as in .*x\.csv, got 10"):
        instance(str(path), arms=10)
