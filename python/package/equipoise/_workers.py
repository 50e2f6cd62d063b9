"""Runs a function on every block; whatever fails becomes no vote, without a word: a message may quote rows."""

from __future__ import annotations

import contextlib
import gc
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

from ._blocks import Unmade, leaves_categories
from ._errors import RequestError
from ._quiet import hush, is_interrupt, settle, silence, watching


def votes_of(
    f: Callable[[Any], Any],
    blocks: Any,
    *,
    n_jobs: int | None,
    time_limit: float | None,
    progress: bool,
    read: Callable[[Any], Any] | None = None,
    show_output: bool = False,
    apart: bool = False,
) -> list[Any]:
    """One vote for each block, in their order; nothing where the function failed, crashed or was late.

    ``read`` makes a vote of what the function gives, where the function ran: that may be code of the caller's too. ``apart`` says
    that it must not run in this process.
    """
    answer = _Answer(f, read, show_output)
    if apart or time_limit is not None or jobs(n_jobs) > 1:
        answer.pack()
    try:
        with clock(progress), hush(not show_output):
            return _votes(answer, blocks, n_jobs, time_limit, apart)
    finally:
        settle()


def _votes(answer: _Answer, blocks: Any, n_jobs: int | None, time_limit: float | None, apart: bool) -> list[Any]:
    if time_limit is not None or apart:
        return _in_processes(answer, blocks, jobs(n_jobs) if apart else _workers(n_jobs), time_limit)
    try:
        from joblib import Parallel, delayed
    except ImportError:
        if n_jobs in (None, 1):
            return [answer(block) for block in blocks]
        return _in_processes(answer, blocks, _workers(n_jobs), None)
    try:
        # Blocks are used once: a file of theirs, from which large ones would be read, has no place on a disk.
        pool = Parallel(n_jobs=n_jobs, max_nbytes=None)
        with warnings.catch_warnings():
            # A worker that dies is no vote; that one died is nobody's business.
            warnings.filterwarnings("ignore", module="joblib")
            found: list[Any] = list(pool(delayed(answer)(block) for block in blocks))
        return found
    except BaseException as error:
        if is_interrupt(error):
            raise
    # A worker that dies takes its pool with it: each block again, where only its own vote is lost.
    return _in_processes(answer, blocks, _workers(n_jobs), None)


def portable(f: Any, n_jobs: int | None, time_limit: float | None, apart: bool = False, what: str = "f") -> None:
    """Refuse, before anything is paid for, a function that other processes cannot be given, where it runs in some."""
    if not apart and time_limit is None and (n_jobs in (None, 1) if not _has_joblib() else _runs_here(n_jobs)):
        return
    try:
        written = _dumps()(f)
    except Exception:
        written = b""
    if not written or (_dumps() is pickle.dumps and getattr(f, "__module__", None) == "__main__"):
        why = "categories of Polars are shared by all of a process, so f runs in another, and " if apart else ""
        how = "let it hold nothing that cannot be pickled" if _has_joblib() else "define it in a module, or install joblib"
        raise RequestError(f"{why}{what} cannot be handed to another process; {how}")


def _runs_here(n_jobs: int | None) -> bool:
    """Whether joblib would run blocks in this process: one after another, or on threads."""
    from joblib.parallel import get_active_backend

    return jobs(n_jobs) == 1 or getattr(get_active_backend()[0], "uses_threads", False)


def jobs(n_jobs: int | None) -> int:
    """How many blocks may run at once; without a word what joblib was told elsewhere."""
    try:
        from joblib import effective_n_jobs
    except ImportError:
        return _workers(n_jobs)
    return int(effective_n_jobs(n_jobs))


def _has_joblib() -> bool:
    from importlib.util import find_spec

    return find_spec("joblib") is not None


class _Answer:
    """A function as it is run on a block: in silence, and without an error."""

    def __init__(self, f: Callable[[Any], Any], read: Callable[[Any], Any] | None, show_output: bool) -> None:
        self.f, self.read, self.show_output = f, read, show_output
        self.home, self.had_categories = os.getpid(), leaves_categories()
        self.packed: bytes | None = None

    def pack(self) -> None:
        """Write it down for other processes. Before the silence: a function may name the streams that are closed off then."""
        with contextlib.suppress(Exception):
            self.packed = _dumps()(self)

    def __reduce__(self) -> Any:
        if self.packed is not None:
            return pickle.loads, (self.packed,)
        return _unpacked, (self.f, self.read, self.show_output, self.home)

    def __call__(self, block: Any) -> Any:
        if isinstance(block, Unmade):
            return None
        with silence(not self.show_output), watching():
            if self.home == os.getpid():
                vote = self._vote(block)
                if not self.had_categories:
                    leaves_categories()  # those of garbage go, so that no later block sees them
                return vote
            # Another process lives on, and its garbage is collected whenever. Only what is new is looked through.
            gc.freeze()
            try:
                return self._vote(block)
            finally:
                gc.collect()
                gc.unfreeze()

    def _vote(self, block: Any) -> Any:
        try:
            found = self.f(block)
            return found if self.read is None else self.read(found)
        except BaseException as error:  # sys.exit() too: its message may quote rows
            if is_interrupt(error):
                raise KeyboardInterrupt from None
            return None


def _unpacked(f: Any, read: Any, show_output: bool, home: int) -> _Answer:
    answer = _Answer(f, read, show_output)
    answer.home = home
    return answer


@contextlib.contextmanager
def clock(wanted: bool, what: str = "blocks") -> Iterator[None]:
    """How long it takes, told by the clock alone: when blocks are done tells of their rows. A bar of tqdm's where that is installed,
    otherwise the seconds on a terminal."""
    if not wanted:
        yield
        return
    over = Event()
    with _terminal() as where, _hand(what, where) as move:

        def tick() -> None:
            while not over.wait(_TICK_SECONDS):
                move()

        ticking = Thread(target=tick, daemon=True)
        ticking.start()
        try:
            yield
        finally:
            over.set()
            ticking.join()


@contextlib.contextmanager
def _hand(what: str, where: dict[str, Any]) -> Iterator[Callable[[], Any]]:
    """What shows the time each time that it is called."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        stream = where.get("file")
        if stream is None or not stream.isatty():
            yield lambda: None
            return
        began = time.monotonic()

        def show() -> None:
            stream.write(f"\r{what}: {time.monotonic() - began:.0f} s")
            stream.flush()

        yield show
        stream.write("\r\x1b[K")
        return
    with tqdm(total=None, desc=what, bar_format="{desc}: {elapsed}", leave=False, **where) as bar:
        yield bar.refresh


_TICK_SECONDS = 0.5


@contextlib.contextmanager
def _terminal() -> Iterator[dict[str, Any]]:
    """Where the time is shown: standard error by another number, since its own is closed off; nothing where it has none."""
    try:
        number = os.dup(2) if sys.stderr.fileno() == 2 else None
    except (AttributeError, OSError, ValueError):
        number = None
    if number is None:
        yield {}
        return
    with open(number, "w", encoding="utf-8", errors="replace") as stream:
        yield {"file": stream}


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
        # Where the function left something that a later block could see, that block gets another process.
        again = not leaves_categories()
        try:
            pipe.send((vote, again))
        except (pickle.PicklingError, TypeError, AttributeError):
            pipe.send((None, again))


_READY = "ready"
_START_SECONDS = 300
_END_SECONDS = 10


class _Worker:
    """A process of its own, replaced when it dies or is late.

    Not one of multiprocessing's: those run the caller's script again where it has no guard, questions included.
    """

    def __init__(self, answer: _Answer) -> None:
        self._function = answer.packed or _dumps()(answer)
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
        with contextlib.suppress(BaseException):
            if self._process is None:
                self._start()
            self._pipe.send(block)
            if self._pipe.poll(time_limit):
                found, again = self._pipe.recv()
                if not again:
                    self.stop()
                return found
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


def _in_processes(answer: _Answer, blocks: Any, count: int, time_limit: float | None) -> list[Any]:
    votes: list[Any] = [None] * len(blocks)
    if answer.packed is None:  # nothing that another process can be given
        return votes
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
