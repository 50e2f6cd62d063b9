"""Runs a function on every block; whatever fails becomes no vote, without a word: a message may quote rows."""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any

from ._errors import RequestError


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


def portable(f: Callable[[Any], Any], n_jobs: int | None, time_limit: float | None) -> None:
    """Refuse, before anything is paid for, a function that processes of our own cannot be given."""
    if time_limit is None and (n_jobs in (None, 1) or _has_joblib()):
        return
    try:
        written = _pickled(f)
    except Exception:
        written = b""
    if not written or (_dumps() is pickle.dumps and getattr(f, "__module__", None) == "__main__"):
        raise RequestError("f cannot be handed to another process; define it in a module, or install joblib")


def _has_joblib() -> bool:
    from importlib.util import find_spec

    return find_spec("joblib") is not None


def _vote(f: Callable[[Any], Any], block: Any) -> Any:
    try:
        return f(block)
    except KeyboardInterrupt:
        raise
    except BaseException:  # sys.exit() too: its message may quote rows
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


def _dumps() -> Callable[[Any], bytes]:
    try:
        from joblib.externals.cloudpickle import dumps
    except ImportError:
        try:
            from cloudpickle import dumps
        except ImportError:
            dumps = pickle.dumps
    found: Callable[[Any], bytes] = dumps
    return found


def _pickled(f: Callable[[Any], Any]) -> bytes:
    return _dumps()(f)


def serve(handle: int) -> None:
    """A worker: where to find modules and the function, then blocks in, votes out."""
    from multiprocessing.connection import Connection

    pipe: Connection = Connection(handle)
    sys.path[:], function = pipe.recv()
    f = pickle.loads(function)
    pipe.send(_READY)
    while True:
        vote = _vote(f, pipe.recv())
        try:
            pipe.send(vote)
        except (pickle.PicklingError, TypeError, AttributeError):
            pipe.send(None)


_READY = "ready"
_START_SECONDS = 300


class _Worker:
    """A process of its own, replaced when it dies or is late.

    Not one of multiprocessing's: those run the caller's script again where it has no guard, questions included.
    """

    def __init__(self, function: bytes) -> None:
        self._function = function
        self._process: Any = None
        self._pipe: Any = None

    def _start(self) -> None:
        import socket
        import subprocess
        from multiprocessing.connection import Connection

        ours, other = socket.socketpair()
        self._pipe = Connection(ours.detach())
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"from equipoise._workers import serve; serve({other.fileno()})"],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            )
        self._pipe.send((sys.path, self._function))
        # The clock of a block begins when its worker is there, so that no block pays for another's.
        if not (self._pipe.poll(_START_SECONDS) and self._pipe.recv() == _READY):
            raise EOFError

    def vote(self, block: Any, time_limit: float | None) -> Any:
        with contextlib.suppress(Exception):
            if self._process is None:
                self._start()
            self._pipe.send(block)
            if self._pipe.poll(time_limit):
                return self._pipe.recv()
        self.stop()
        return None

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
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
