"""Silence while a function of somebody's looks at rows: what it says may quote them.

Standard output and error are closed off at their file descriptors, so that C code and child processes are silent too, and
so are Python's streams, warnings, logging, and what a notebook displays. All of these belong to the process: while one
thread keeps silence, all threads do. The first that comes closes them, and the last that goes opens them again.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import signal
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TextIO

from ._errors import Interrupted, LostError

_lock = threading.Lock()
#: How often each thread has asked for silence.
_holders: Counter[int] = Counter()
#: What opens again what was closed, the last first.
_undo: list[Callable[[], Any]] = []
#: Never closed: a handler that is made in silence may keep it.
_nowhere: TextIO | None = None


@contextlib.contextmanager
def silence(wanted: bool = True) -> Iterator[None]:
    """Nothing is shown while this is open."""
    if not wanted:
        yield
        return
    try:
        unbroken(_enter)
        yield
    finally:
        unbroken(_leave)


@contextlib.contextmanager
def hush(wanted: bool = True) -> Iterator[None]:
    """The same around all that somebody's code does with rows, with an eye on Ctrl-C. What it left behind as garbage speaks before
    the silence ends, and not whenever that is collected."""
    with silence(wanted), watching():
        try:
            yield
        finally:
            if wanted:
                gc.collect()


def settle() -> None:
    """End whatever silence this thread still keeps, where an interrupt came before its end."""
    if threading.get_ident() in _holders:
        unbroken(lambda: _leave(wholly=True))


def _enter() -> None:
    with _lock:
        if not _holders:
            _close()
        _holders[threading.get_ident()] += 1


def _leave(wholly: bool = False) -> None:
    with _lock:
        thread = threading.get_ident()
        if thread not in _holders:  # interrupted before it began
            return
        _holders[thread] -= 1
        if wholly or not _holders[thread]:
            del _holders[thread]
        if not _holders:
            _open()


def unbroken(action: Callable[[], Any]) -> None:
    """Do something as a whole: what Ctrl-C raises waits until it is done."""
    came: list[BaseException] = []
    with _held(came):
        action()
    if came:
        raise came[0]


@contextlib.contextmanager
def _held(came: list[BaseException]) -> Iterator[None]:
    """What the handler of Ctrl-C raises is put into a list. A handler that raises nothing works as ever."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return

    def hold(number: int, frame: Any) -> None:
        try:
            handler(number, frame)
        except BaseException as raised:  # noqa: BLE001
            came.append(raised)

    signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


#: What the handler of Ctrl-C has raised since somebody began to watch; nothing where nobody does.
_raised: list[BaseException] | None = None


@contextlib.contextmanager
def watching() -> Iterator[None]:
    """While this is open, :func:`is_interrupt` knows. Handlers belong to the main thread, and so does this."""
    global _raised
    if _raised is not None or threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: Any) -> None:
        assert callable(handler)
        try:
            handler(number, frame)
        except BaseException as raised:
            if _raised is not None:
                _raised.append(raised)
            raise

    _raised = []
    try:
        if callable(handler):
            signal.signal(signal.SIGINT, note)
        yield
    finally:
        # An interrupt here leaves a handler that does what the other did.
        _raised = None
        if signal.getsignal(signal.SIGINT) is note:
            signal.signal(signal.SIGINT, handler)


def is_interrupt(error: BaseException) -> bool:
    """Is this from Ctrl-C? Code that looks at rows, and a cell that is asked what it is, can raise the same by what they hold; to pass
    that on would tell."""
    if threading.current_thread() is not threading.main_thread():
        return False
    if _raised is None:
        return isinstance(error, KeyboardInterrupt)
    return bool(_raised) and (isinstance(error, KeyboardInterrupt) or any(error is one for one in _raised))


def recorded(
    answer: Callable[[list[BaseException]], str], *, charged: bool = False, release: Callable[[str], str] = str
) -> str:
    """An answer that is recorded on the way: where Ctrl-C comes meanwhile, the exception carries it.

    ``answer`` is given the list in which what signals raise is held back, to end soon once something is in it. ``charged`` says
    that it was paid for before, so that it is lost where it does not come to an answer; ``release`` finds the release in it.
    """
    came: list[BaseException] = []
    found: list[str] = []
    try:
        with _held(came):
            found.append(answer(came))
    except LostError:
        charged = True
        if not came:
            raise
    except BaseException:
        if not came:
            raise
    if not came:
        return found[0]
    if (found or charged) and isinstance(came[0], KeyboardInterrupt):
        raise Interrupted(*map(release, found)) from None
    raise came[0]


def _close() -> None:
    global _nowhere
    if _nowhere is None:
        _nowhere = open(os.devnull, "w", encoding="utf-8", errors="replace")  # noqa: SIM115
    _flush(sys.stdout, sys.stderr)
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):  # a service may have closed its own
            _redirect(descriptor)
    # Before the descriptors are opened again, what waits in buffers goes where the rest went.
    _undo.append(partial(_flush, sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__))
    caught = warnings.catch_warnings()
    caught.__enter__()
    _undo.append(partial(caught.__exit__, None, None, None))
    warnings.simplefilter("ignore")
    _undo.append(partial(logging.disable, logging.root.manager.disable))
    logging.disable(sys.maxsize)
    _replace(sys, "stdout", _nowhere)
    _replace(sys, "stderr", _nowhere)
    _replace(warnings, "showwarning", _nothing)
    _replace(sys, "unraisablehook", _nothing)
    _replace(threading, "excepthook", _nothing)
    notebook = _notebook()
    if notebook is not None:
        _replace(notebook, "display_pub", _Display())


def _open() -> None:
    while _undo:
        with contextlib.suppress(Exception):
            _undo.pop()()


def _replace(owner: Any, name: str, value: Any) -> None:
    _undo.append(partial(setattr, owner, name, getattr(owner, name)))
    setattr(owner, name, value)


def _redirect(descriptor: int) -> None:
    assert _nowhere is not None
    saved = os.dup(descriptor)

    def back() -> None:
        os.dup2(saved, descriptor)
        os.close(saved)

    _undo.append(back)
    os.dup2(_nowhere.fileno(), descriptor)


def _flush(*streams: Any) -> None:
    for stream in streams:
        with contextlib.suppress(Exception):
            stream.flush()
    with contextlib.suppress(Exception):  # buffers of C's
        import ctypes

        ctypes.CDLL(None).fflush(None)


def _nothing(*_: Any, **__: Any) -> None:
    """Say nothing."""


class _Display:
    """What a notebook displays, displayed nowhere."""

    is_publishing = False
    publish = clear_output = set_parent = staticmethod(_nothing)


def _notebook() -> Any:
    module = sys.modules.get("IPython.core.interactiveshell")
    with contextlib.suppress(Exception):
        shell = getattr(module, "InteractiveShell", None)
        if shell is not None and shell.initialized():
            return shell.instance()
    return None


def _in_child() -> None:
    """After a fork: a child that a function made stays silent, one that another thread made is not struck dumb."""
    global _lock
    _lock = threading.Lock()
    for thread in [thread for thread in _holders if thread != threading.get_ident()]:
        del _holders[thread]
    if not _holders:
        _open()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
