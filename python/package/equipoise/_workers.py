"""Runs a function on every block; whatever fails becomes no vote, without a word: a message may quote rows."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any

from ._blocks import Unmade
from ._errors import RequestError
from ._quiet import settle, silence


def votes_of(
    f: Callable[[Any], Any],
    blocks: Any,
    *,
    n_jobs: int | None,
    time_limit: float | None,
    progress: bool,
    read: Callable[[Any], Any] | None = None,
    show_output: bool = False,
) -> list[Any]:
    """One vote for each block, in their order; nothing where the function failed, crashed or was late.

    ``read`` makes a vote of what the function gives, where the function ran: that may be code of the caller's too.
    """
    answer = _Answer(f, read, show_output)
    try:
        return _votes(answer, blocks, n_jobs, time_limit, progress)
    finally:
        settle()


def _votes(answer: _Answer, blocks: Any, n_jobs: int | None, time_limit: float | None, progress: bool) -> list[Any]:
    if time_limit is not None:
        return _in_processes(answer, blocks, _workers(n_jobs), time_limit, progress)
    try:
        from joblib import Parallel, delayed
    except ImportError:
        if n_jobs in (None, 1):
            with _clock(progress):
                return [answer(block) for block in blocks]
        return _in_processes(answer, blocks, _workers(n_jobs), None, progress)
    try:
        # Blocks are used once: a file of theirs, from which large ones would be read, has no place on a disk.
        pool = Parallel(n_jobs=n_jobs, max_nbytes=None)
        with warnings.catch_warnings(), _clock(progress):
            # A worker that dies is no vote; that one died is nobody's business.
            warnings.filterwarnings("ignore", module="joblib")
            found: list[Any] = list(pool(delayed(answer)(block) for block in blocks))
        return found
    except Exception:
        # A worker that dies takes its pool with it: each block again, where only its own vote is lost.
        return _in_processes(answer, blocks, _workers(n_jobs), None, False)


def portable(f: Callable[[Any], Any], n_jobs: int | None, time_limit: float | None) -> None:
    """Refuse, before anything is paid for, a function that processes of our own cannot be given."""
    if time_limit is None and (n_jobs in (None, 1) or _has_joblib()):
        return
    try:
        written = _dumps()(f)
    except Exception:
        written = b""
    if not written or (_dumps() is pickle.dumps and getattr(f, "__module__", None) == "__main__"):
        raise RequestError("f cannot be handed to another process; define it in a module, or install joblib")


def _has_joblib() -> bool:
    from importlib.util import find_spec

    return find_spec("joblib") is not None


class _Answer:
    """A function as it is run on a block: in silence, and without an error."""

    def __init__(self, f: Callable[[Any], Any], read: Callable[[Any], Any] | None, show_output: bool) -> None:
        self.f, self.read, self.show_output = f, read, show_output

    def __call__(self, block: Any) -> Any:
        if isinstance(block, Unmade):
            return None
        with silence(not self.show_output):
            try:
                found = self.f(block)
                return found if self.read is None else self.read(found)
            except KeyboardInterrupt:
                raise KeyboardInterrupt from None
            except BaseException:  # sys.exit() too: its message may quote rows
                return None


@contextlib.contextmanager
def _clock(wanted: bool) -> Iterator[None]:
    """How long it takes, told by the clock alone: when blocks are done tells of their rows."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        wanted = False
    if not wanted:
        yield
        return
    over = Event()
    with tqdm(total=None, desc="blocks", bar_format="{desc}: {elapsed}", leave=False) as bar:

        def tick() -> None:
            while not over.wait(_TICK_SECONDS):
                bar.refresh()

        ticking = Thread(target=tick, daemon=True)
        ticking.start()
        try:
            yield
        finally:
            over.set()
            ticking.join()


_TICK_SECONDS = 0.5


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


def serve(handle: int) -> None:
    """A worker: where to find modules and the function, then blocks in, votes out."""
    from multiprocessing.connection import Connection

    pipe: Connection = Connection(handle)
    sys.path[:], function = pipe.recv()
    answer: _Answer = pickle.loads(function)
    pipe.send(_READY)
    while True:
        vote = answer(pipe.recv())
        try:
            pipe.send(vote)
        except (pickle.PicklingError, TypeError, AttributeError):
            pipe.send(None)


_READY = "ready"
_START_SECONDS = 300
_END_SECONDS = 10


class _Worker:
    """A process of its own, replaced when it dies or is late.

    Not one of multiprocessing's: those run the caller's script again where it has no guard, questions included.
    """

    def __init__(self, answer: _Answer) -> None:
        self._function = _dumps()(answer)
        self._output = None if answer.show_output else subprocess.DEVNULL
        self._process: Any = None
        self._pipe: Any = None

    def _start(self) -> None:
        import socket
        from multiprocessing.connection import Connection

        ours, other = socket.socketpair()
        self._pipe = Connection(ours.detach())
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"from equipoise._workers import serve; serve({other.fileno()})"],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                # Ctrl-C in a terminal is for who waits, not for a block.
                start_new_session=True,
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

    def end(self) -> None:
        """From another thread: whatever it is at ends without a vote."""
        process = self._process
        if process is not None:
            process.kill()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._pipe.close()
            self._process = None


def _in_processes(answer: _Answer, blocks: Any, count: int, time_limit: float | None, progress: bool) -> list[Any]:
    votes: list[Any] = [None] * len(blocks)
    waiting: SimpleQueue[tuple[int, Any] | None] = SimpleQueue()
    for task in enumerate(blocks):
        waiting.put(task)
    # Not joined: in Python 3.11 a thread whose join is interrupted counts as ended, and may go on.
    workers, over = [(_Worker(answer), Event()) for _ in range(count)], Event()
    for _ in workers:
        waiting.put(None)

    def work(worker: _Worker, ended: Event) -> None:
        try:
            while (task := waiting.get()) is not None and not over.is_set():
                votes[task[0]] = worker.vote(task[1], time_limit)
        finally:
            worker.stop()
            ended.set()

    with _clock(progress):
        begun: list[tuple[_Worker, Event]] = []
        try:
            for one in workers:
                begun.append(one)
                Thread(target=work, args=one, daemon=True).start()
            for _, ended in workers:
                ended.wait()
        except BaseException:
            over.set()
            # Again and again, because one may just be starting its process; not for ever, because one may not have begun.
            until = time.monotonic() + _END_SECONDS
            while not all(ended.is_set() for _, ended in begun) and time.monotonic() < until:
                for worker, ended in begun:
                    worker.end()
                    ended.wait(0.01)
            raise
    return votes
