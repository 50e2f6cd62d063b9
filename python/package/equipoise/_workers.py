"""Runs a function on every block; whatever fails becomes no vote, without a word: a message may quote rows."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from multiprocessing import get_context
from threading import Thread
from queue import SimpleQueue
from typing import Any


def votes_of(
    f: Callable[[Any], Any], blocks: Any, *, n_jobs: int | None, time_limit: float | None, progress: bool
) -> list[Any]:
    """One vote for each block, in their order; nothing where the function failed, crashed or was late."""
    if time_limit is not None:
        return _in_processes(f, blocks, _workers(n_jobs), time_limit, progress)
    try:
        from joblib import Parallel, delayed
    except ImportError:
        if n_jobs in (None, 1):
            return [_vote(f, block) for block in _shown(blocks, progress)]
        return _in_processes(f, blocks, _workers(n_jobs), None, progress)
    try:
        found: list[Any] = list(Parallel(n_jobs=n_jobs)(delayed(_vote)(f, block) for block in _shown(blocks, progress)))
        return found
    except Exception:
        # A worker that dies takes its pool with it: each block again, where only its own vote is lost.
        return _in_processes(f, blocks, _workers(n_jobs), None, False)


def _vote(f: Callable[[Any], Any], block: Any) -> Any:
    try:
        return f(block)
    except Exception:
        return None


def _shown(blocks: Any, progress: bool) -> Any:
    """The blocks behind a progress bar, where one is wanted and there is one."""
    if progress:
        try:
            from tqdm.auto import tqdm

            return tqdm(blocks, total=len(blocks), desc="blocks", leave=False)
        except ImportError:
            pass
        try:
            from rich.progress import track

            return track(blocks, total=len(blocks), description="blocks")
        except ImportError:
            pass
    return blocks


def _workers(n_jobs: int | None) -> int:
    cores = os.cpu_count() or 1
    if n_jobs is None or n_jobs == 0:
        return 1
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else n_jobs


def _pickled(f: Callable[[Any], Any]) -> bytes:
    try:
        from joblib.externals.cloudpickle import dumps
    except ImportError:
        try:
            from cloudpickle import dumps
        except ImportError:
            dumps = pickle.dumps
    written: bytes = dumps(f)
    return written


def _serve(pipe: Any, function: bytes) -> None:
    """A worker: blocks in, votes out."""
    import sys

    sys.stdout = sys.stderr = open(os.devnull, "w")
    f = pickle.loads(function)
    pipe.send(_READY)
    while True:
        block = pipe.recv()
        vote = _vote(f, block)
        try:
            pipe.send(vote)
        except (pickle.PicklingError, TypeError, AttributeError):
            pipe.send(None)


_READY = "ready"
_START_SECONDS = 300


class _Worker:
    """A process of its own, replaced when it dies or is late."""

    def __init__(self, function: bytes) -> None:
        self._function = function
        self._process: Any = None
        self._pipe: Any = None

    def vote(self, block: Any, time_limit: float | None) -> Any:
        if self._process is None:
            context = get_context("spawn")
            self._pipe, other = context.Pipe()
            self._process = context.Process(target=_serve, args=(other, self._function), daemon=True)
            self._process.start()
            other.close()
            starting = True
        else:
            starting = False
        try:
            # The clock of a block begins when its worker is there, so that no block pays for another's.
            if starting and not (self._pipe.poll(_START_SECONDS) and self._pipe.recv() == _READY):
                raise EOFError
            self._pipe.send(block)
            if self._pipe.poll(time_limit):
                return self._pipe.recv()
        except (EOFError, OSError, pickle.PicklingError, TypeError, AttributeError):
            pass
        self.stop()
        return None

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def _in_processes(
    f: Callable[[Any], Any], blocks: Any, workers: int, time_limit: float | None, progress: bool
) -> list[Any]:
    function = _pickled(f)
    votes: list[Any] = [None] * len(blocks)
    waiting: SimpleQueue[tuple[int, Any] | None] = SimpleQueue()
    for place, block in enumerate(_shown(blocks, progress)):
        waiting.put((place, block))
    for _ in range(workers):
        waiting.put(None)

    def work() -> None:
        worker = _Worker(function)
        while (task := waiting.get()) is not None:
            votes[task[0]] = worker.vote(task[1], time_limit)
        worker.stop()

    threads = [Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return votes
