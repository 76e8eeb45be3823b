"""Tasks in any order, on any number of processes; what is missing is named."""

import os
import sys
import time

import pytest

from exactdp import ParameterError
from exactdp.common import parallel
from exactdp.common.parallel import each


def square(number):
    return number * number


@pytest.mark.slow_cases("2")
@pytest.mark.parametrize("workers", [1, 2])
def test_every_task_is_done_once(workers):
    if workers > 1:
        pytest.importorskip("joblib")
    assert sorted(each(square, range(9), workers)) == [number**2 for number in range(9)]


def test_one_process_does_one_task_after_the_other():
    asked = []
    found = each(lambda task: asked.append(task) or task, [1, 2, 3])
    assert next(found) == 1
    assert asked == [1]


@pytest.mark.parametrize(
    ("missing", "given", "named"),
    [
        ("joblib", {"workers": 2}, r'joblib is not installed: pip install "exactdp\[parallel'),
        ("distributed", {"cluster": "local"}, r"distributed is not installed: pip install"),
    ],
)
def test_what_is_not_installed_is_named(monkeypatch, missing, given, named):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=named):
        list(each(square, [1, 2], **given))


def place(_):
    return os.getpid()


def dies(_):
    os._exit(1)


@pytest.mark.slow
def test_a_cluster_of_one_thread_is_used():
    pytest.importorskip("distributed")
    assert os.getpid() not in set(each(place, range(3), cluster="local"))


@pytest.mark.slow
def test_a_cluster_without_workers_is_named(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(parallel, "_PATIENCE", 2.0)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        pytest.raises(ParameterError, match="cluster: no worker at"),
    ):
        list(each(square, range(3), cluster=cluster.scheduler_address))


@pytest.mark.slow
def test_tasks_that_end_their_workers_are_named():
    pytest.importorskip("distributed")
    with pytest.raises(ParameterError, match="its workers die of a task"):
        list(each(dies, [1], cluster="local"))


@pytest.mark.slow
def test_a_scheduler_that_dies_is_named():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as one:
        results = each(square, range(3), cluster=one.scheduler_address)
        tasks = each(time.sleep, [0, 1000], cluster=one.scheduler_address)
        assert sorted(results) == [0, 1, 4]
        assert next(tasks) is None
        one.close()
        with pytest.raises(ParameterError, match="cluster: "):
            next(tasks)
