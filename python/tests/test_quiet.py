"""What a function says while it looks at rows is not shown, wherever it runs and however it says it."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import equipoise as eq

HEIGHTS = np.linspace(150.0, 190.0, 2000)

#: Says a row in every way there is; the script runs it in every place there is.
SCRIPT = """
import ctypes, logging, os, subprocess, sys, threading, warnings
import joblib, numpy as np
import equipoise as eq

logging.basicConfig(level=logging.INFO)
kept = sys.stdout  # as a logger keeps it

def talks(block):
    text = f"ROW {block[0]}"
    print(text)
    print(text, file=sys.stderr)
    print(text, file=kept)
    print(text, file=sys.__stderr__)
    os.write(1, text.encode())
    os.write(2, text.encode())
    ctypes.CDLL(None).puts(text.encode())  # waits in a buffer of C's
    warnings.warn(text)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn(text)
    logging.getLogger("f").error(text)
    subprocess.run(["echo", text])
    thread = threading.Thread(target=lambda: 1 / 0, name=text)
    thread.start()
    thread.join()
    raise ValueError(text)

class Vote:
    def __float__(self):
        print("ROW of a vote")
        warnings.warn("ROW of a vote")
        return 1.0

def gives(block):
    return Vote()

words = dict(epsilon=10, blocks=50, default=0.0, **eval(sys.argv[1]))
print("begin", flush=True)
for f in (talks, gives):
    for how in ({}, {"n_jobs": 2}, {"n_jobs": 2, "time_limit": 600}):
        eq.subsample(f, np.ones(200), **words, **how)
    with joblib.parallel_config(backend="threading"):
        eq.subsample(f, np.ones(200), n_jobs=2, **words)
logging.info("logged")
warnings.warn("warned")
print("end", flush=True)
"""


def said(words: str) -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-c", SCRIPT, words], capture_output=True, text=True, timeout=600, check=True)
    return done.stdout, done.stderr


def test_nothing_that_a_function_says_is_shown() -> None:
    out, error = said("{}")
    assert out == "begin\nend\n"
    assert "ROW" not in error and "logged" in error and "warned" in error


#: A thread of a function goes on when its block is over, and says rows to whatever its process still has.
GOES_ON = """
import os, threading, time
import numpy as np
import equipoise as eq

begun = []

def talks(block):
    def on():
        while True:
            os.write(1, b"ROW out ")
            os.write(2, b"ROW error ")
    if not begun:
        begun.append(threading.Thread(target=on, daemon=True))
        begun[0].start()
    time.sleep(0.01)
    return 1.0

eq.subsample(talks, np.ones(200), epsilon=10, blocks=50, default=0.0, n_jobs=2, time_limit=600)
print("end", flush=True)
"""


def test_a_worker_has_nowhere_to_say_what_a_thread_says_between_blocks() -> None:
    done = subprocess.run([sys.executable, "-c", GOES_ON], capture_output=True, text=True, timeout=600, check=True)
    assert (done.stdout, done.stderr) == ("end\n", "")


def test_whoever_may_see_rows_can_ask_for_it() -> None:
    out, error = said("{'show_output': True}")
    # Of 50 blocks of 200 rows some have rows, and each of them says it seven times on either side, in four places.
    assert out.count("ROW 1.0") >= 4 * 4 and error.count("ROW 1.0") >= 4 * 4 and "ROW of a vote" in out


def test_everything_is_put_back(capfd: pytest.CaptureFixture[str]) -> None:
    def state() -> list[Any]:
        ends = [(os.fstat(fd).st_dev, os.fstat(fd).st_ino) for fd in (1, 2)]
        return [sys.stdout, sys.stderr, ends, list(warnings.filters), warnings.showwarning, logging.root.manager.disable]

    def leaves(block: Any) -> float:
        sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
        warnings.simplefilter("error")
        logging.disable(logging.NOTSET)
        raise SystemExit

    before = state()
    eq.subsample(leaves, HEIGHTS, epsilon=10, blocks=50, default=0.0)
    assert state() == before
    print("heard")
    assert capfd.readouterr().out == "heard\n"


GARBAGE = """
import gc, sys, threading
import numpy as np
import equipoise as eq

gc.disable()  # it speaks when it is collected, which may be any time

def leaves(block):
    class Prints:
        def __init__(self, row):
            self.itself, self.row = self, row
        def __del__(self):
            print("ROW", self.row, flush=True)
    class Raises(Prints):
        def __del__(self):
            raise ValueError(f"ROW {self.row}")
    Prints(block[0]), Raises(block[0])
    return 1.0

for how in ({}, {"n_jobs": 2}, {"n_jobs": 2, "time_limit": 600}):
    eq.subsample(leaves, np.ones(200), epsilon=10, blocks=50, default=0.0, **how)
gc.collect()
from joblib import Parallel, delayed
Parallel(n_jobs=2)(delayed(gc.collect)() for _ in range(20))
print("end", flush=True)
"""


def test_what_a_function_leaves_behind_does_not_speak_later() -> None:
    done = subprocess.run([sys.executable, "-c", GARBAGE], capture_output=True, text=True, timeout=600, check=True)
    assert (done.stdout, done.stderr) == ("end\n", "")


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_a_notebook_s_streams_have_no_number(monkeypatch: pytest.MonkeyPatch, stream: Any) -> None:
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", stream)
    release = eq.subsample(lambda block: print("ROW") or 1.0, HEIGHTS, epsilon=10, blocks=50, default=0.0)
    assert release.value is not None and sys.stdout is stream
    assert stream is None or stream.getvalue() == ""


def test_what_a_notebook_displays_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shell:
        display_pub: Any = None
        shown: list[Any] = []

        @classmethod
        def instance(cls) -> Any:
            return notebook

        @staticmethod
        def initialized() -> bool:
            return True

        def publish(self, *what: Any, **how: Any) -> None:
            self.shown.append(what)

    notebook = Shell()
    notebook.display_pub = notebook
    module = type(sys)("IPython.core.interactiveshell")
    module.InteractiveShell = Shell  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython.core.interactiveshell", module)
    eq.subsample(lambda block: notebook.display_pub.publish({"text/plain": "ROW"}) or 1.0, HEIGHTS, epsilon=10, blocks=50)
    assert notebook.shown == [] and notebook.display_pub is notebook


def test_questions_side_by_side_end_in_any_order(capfd: pytest.CaptureFixture[str]) -> None:
    from equipoise._quiet import silence

    inside, leave = [threading.Event() for _ in range(2)], [threading.Event() for _ in range(2)]

    def ask(place: int) -> None:
        with silence():
            inside[place].set()
            leave[place].wait(600)
            print("ROW", flush=True)

    before = (sys.stdout, list(warnings.filters))
    threads = [threading.Thread(target=ask, args=[place]) for place in range(2)]
    for place in range(2):
        threads[place].start()
        inside[place].wait(600)
    for place in range(2):  # the first to come is the first to go
        leave[place].set()
        threads[place].join()
    assert (sys.stdout, list(warnings.filters)) == before and capfd.readouterr().out == ""


def test_a_child_of_another_thread_is_not_struck_dumb() -> None:
    script = """
import os, threading
from equipoise._quiet import silence
inside, leave = threading.Event(), threading.Event()
def ask():
    with silence():
        inside.set()
        leave.wait(600)
thread = threading.Thread(target=ask)
thread.start()
inside.wait(600)
child = os.fork()
if child == 0:
    with silence():
        print("nothing", flush=True)
    print("child", flush=True)
    os._exit(0)
os.waitpid(child, 0)
leave.set()
thread.join()
with silence():
    if os.fork() == 0:
        print("nothing", flush=True)
        os._exit(0)
    os.wait()
print("parent", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600, check=True)
    assert (done.stdout, done.stderr) == ("child\nparent\n", "")
