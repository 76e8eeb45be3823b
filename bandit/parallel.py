"""Tasks on this machine's processes, or on a cluster: joblib, by its dask backend there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from ..exact.number import ParameterError

__all__ = ["each"]

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


def each(
    do: Callable[[_Task], _Result],
    tasks: Sequence[_Task],
    workers: int = 1,
    cluster: str | None = None,
) -> Iterator[_Result]:
    """What `do` makes of every task, as they finish, in any order.

    workers: processes on this machine. cluster: the address of a dask scheduler, or "local" for
    one that is started here with so many workers. Raises ParameterError where joblib, or dask, is
    not installed, and where no scheduler answers.
    """
    if cluster is None and (workers == 1 or len(tasks) < 2):
        yield from map(do, tasks)
        return
    joblib = _needs("joblib", "workers above 1", "parallel")
    with _backend(workers, cluster) as options:
        jobs = (joblib.delayed(do)(task) for task in tasks)
        yield from joblib.Parallel(return_as="generator_unordered", **options)(jobs)


@contextlib.contextmanager
def _backend(workers: int, cluster: str | None) -> Iterator[dict[str, Any]]:
    if cluster is None:
        yield {"n_jobs": workers}
        return
    joblib = _needs("joblib", "cluster", "cluster")
    distributed = _needs("distributed", "cluster", "cluster")
    with contextlib.ExitStack() as stack:
        address: Any = cluster
        if cluster == "local":
            address = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, dashboard_address=None
                )
            )
        try:
            stack.enter_context(distributed.Client(address, timeout="20s"))
        except (OSError, ValueError) as error:
            raise ParameterError(f"cluster: no scheduler at {cluster}: {error}") from error
        stack.enter_context(joblib.parallel_config(backend="dask"))
        yield {}


def _needs(module: str, option: str, extra: str) -> Any:
    try:
        return __import__(module)
    except ImportError as error:
        raise ParameterError(f'{option} needs {module}: pip install "exactdp[{extra}]"') from error
