"""Tasks on this machine's processes, by joblib, or on a cluster, by dask."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from ..exact.number import ParameterError
from .extra import bring

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")

_PATIENCE = 20.0  # seconds that a cluster may be without a scheduler, or without any worker
_POLL = 1.0
_LOGGERS = ("distributed", "distributed.client", "distributed.core", "tornado.application")


def each(
    do: Callable[[_Task], _Result],
    tasks: Sequence[_Task],
    workers: int = 1,
    cluster: str | None = None,
) -> Iterator[_Result]:
    """What `do` makes of every task, as they finish, in any order.

    workers: processes on this machine. cluster: the address of a dask scheduler, or "local" for
    one that is started here with so many workers. Raises ImportError where joblib, or dask, is
    not installed, ParameterError where no scheduler answers, or it or all its workers are gone.
    """
    if cluster is not None:
        yield from _on_cluster(do, tasks, workers, cluster)
    elif workers == 1 or len(tasks) < 2:
        yield from map(do, tasks)
    else:
        joblib = bring("joblib", "parallel")
        jobs = (joblib.delayed(do)(task) for task in tasks)
        yield from joblib.Parallel(n_jobs=workers, return_as="generator_unordered")(jobs)


def _on_cluster(
    do: Callable[[_Task], _Result], tasks: Sequence[_Task], workers: int, cluster: str
) -> Iterator[_Result]:
    distributed = bring("distributed", "cluster")
    with contextlib.ExitStack() as stack:
        stack.enter_context(_quiet())  # what goes wrong is said in one line, below
        try:
            address: Any = cluster
            if cluster == "local":
                address = stack.enter_context(
                    distributed.LocalCluster(
                        n_workers=workers, threads_per_worker=1, dashboard_address=None
                    )
                )
            client = stack.enter_context(distributed.Client(address, timeout=f"{_PATIENCE:g}s"))
        except (OSError, ValueError, RuntimeError) as error:
            raise ParameterError(f"cluster: no scheduler at {cluster}: {error}") from error
        futures = distributed.as_completed(client.map(do, tasks, pure=False))
        seen = asked = time.monotonic()  # when a worker was seen; asked for
        while not futures.is_empty():
            for future in (ended := futures.next_batch(block=False)):
                yield _result(future, distributed, cluster)
            now = time.monotonic()
            if ended:
                seen = now
                continue
            if now - asked > _POLL:
                seen, asked = (now if _has_workers(client) else seen), now
            if now - seen > _PATIENCE:
                raise ParameterError(f"cluster: no worker at {cluster}, for {_PATIENCE:g} s")
            time.sleep(_POLL / 20)


def _result(future: Any, distributed: Any, cluster: str) -> Any:
    """What the task has given, or raised; ParameterError where the cluster has lost it."""
    lost = (future.status in ("cancelled", "lost"), distributed.scheduler.KilledWorker)
    error = None if lost[0] else future.exception()
    if lost[0] or isinstance(error, lost[1]):
        why = "the scheduler is gone" if lost[0] else "its workers die of a task"
        raise ParameterError(f"cluster: {cluster}: {why}") from error
    return future.result()


def _has_workers(client: Any) -> bool:
    try:
        return bool(client.nthreads())
    except (OSError, ValueError, RuntimeError):  # no scheduler answers
        return False


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Nothing but what is critical, of what dask would write on stderr."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
