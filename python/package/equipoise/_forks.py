"""What is made when it is first needed is made before the first fork: a child would wait for ever for a thread that was at it."""

from __future__ import annotations

import os

from . import _equipoise

_ready = False


def settle() -> None:
    """Make it now; if another thread is at it, wait for that one."""
    global _ready
    if not _ready:
        _ready = _equipoise.prepare()


settle()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=settle)
