"""What a function is, with all that it holds, as one digest: a request id belongs to one of them.

Its code, defaults, closure and attributes count, what is bound to it, and what its code names: constants, functions and classes of
one's own, each with what they hold and name in turn. What an installed library provides counts by its name and the
library's version. Values count by what they are made of when they are pickled, sets in an order of their own, so that the digest
is the same in every process. What a function looks up only as it runs (by a text, in a file, in the environment) cannot be
seen here.
"""

from __future__ import annotations

import copyreg
import dis
import functools
import hashlib
import importlib.util
import os
import site
import sys
import sysconfig
import types
from collections.abc import Iterable, Iterator
from typing import Any


class Untold(Exception):
    """Something that cannot be compared with what an earlier function held; its argument names it."""


def digest(f: Any) -> str:
    """What a function is. Raises :class:`Untold` where it holds something of which that cannot be told."""
    try:
        return _Teller().of(f).hex()
    except RecursionError:
        raise Untold("something that is nested too deeply") from None


#: Values that are their own text.
_PLAIN = (type(None), bool, float, complex, type(...), type(NotImplemented), range)
_SHORT = {type(None), bool, float, complex, str, bytes}
_CACHED = type(functools.lru_cache(abs))
#: What Python itself writes into classes.
_UNSAID = {
    "__annotate__", "__annotate_func__", "__annotations__", "__annotations_cache__", "__abstractmethods__", "__dict__", "__doc__",
    "__firstlineno__", "__module__", "__qualname__", "__static_attributes__", "__weakref__", "_abc_impl",
}  # fmt: skip
_DESCRIPTORS = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.ClassMethodDescriptorType,
)


class _Teller:
    def __init__(self) -> None:
        self._known: dict[int, bytes] = {}
        #: What is being told, and at which depth: a cycle is told as the way back.
        self._open: dict[int, int] = {}
        #: Modules as far as code uses them: those being told, and those told.
        self._used_now: set[tuple[int, frozenset[str]]] = set()
        self._used_before: dict[tuple[int, frozenset[str]], bytes] = {}
        #: Kept, so that no number of an object is used again.
        self._kept: list[Any] = []

    def of(self, value: Any) -> bytes:
        """The digest of a value."""
        return self._once(value, lambda: self._parts(value))

    def _once(self, value: Any, parts: Any) -> bytes:
        key = id(value)
        if key in self._known:
            return self._known[key]
        if key in self._open:
            return _sha("within", str(len(self._open) - self._open[key]))
        self._open[key] = len(self._open)
        self._kept.append(value)
        try:
            found = _sha(type(value).__name__, *parts())
        finally:
            del self._open[key]
        self._known[key] = found
        return found

    def _parts(self, value: Any) -> Iterable[bytes | str]:
        kind = type(value)
        if kind in _PLAIN:
            return [repr(value)]
        if kind is int:
            return [hex(value)]
        if kind in (str, bytes, bytearray):
            return [value if kind is str else bytes(value)]
        if kind in (tuple, list):
            # A million numbers are told as one text: no two lists of these types have the same.
            return [repr(value)] if {type(one) for one in value} <= _SHORT else self._all(value)
        if kind in (set, frozenset):
            return sorted(self._all(value))
        if kind in (dict, types.MappingProxyType):
            return self._pairs(value)
        if kind is types.CodeType:
            return self._code(value)
        if kind is types.FunctionType:
            return _by_name(value) or self._function(value)
        if kind is types.ModuleType:
            return self._module(value, None)
        if kind is types.MethodType:
            return self._all([value.__func__, value.__self__])
        if isinstance(value, type):
            return _by_name(value) or self._class(value)
        if kind is property:
            return self._all([value.fget, value.fset, value.fdel])
        if kind in (classmethod, staticmethod):
            return [self.of(value.__func__)]
        if kind is functools.cached_property:
            return [self.of(value.func)]
        if kind is _CACHED:
            return self._all([value.__wrapped__, value.cache_parameters()])
        if kind is types.CellType:
            return self._cell(value, set())
        if kind in _DESCRIPTORS:
            return [self.of(value.__objclass__), value.__name__]
        return _by_name(value) or self._bound(value) or self._reduced(value)

    def _all(self, values: Iterable[Any]) -> list[bytes]:
        return [self.of(value) for value in values]

    def _pairs(self, pairs: Any) -> Iterator[bytes]:
        for key, value in pairs.items():
            yield self.of(key)
            yield self.of(value)

    def _code(self, code: types.CodeType) -> Iterator[bytes | str]:
        yield code.co_code
        yield getattr(code, "co_exceptiontable", b"")
        yield repr((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags))
        yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
        yield from self._all(code.co_consts)

    def _function(self, f: types.FunctionType) -> Iterator[bytes | str]:
        yield self.of(f.__code__)
        yield from self._all([f.__defaults__, f.__kwdefaults__, vars(f)])
        codes = list(_codes(f.__code__))
        names = {name for code in codes for name in code.co_names}
        for cell in f.__closure__ or ():
            yield self._once(cell, functools.partial(self._cell, cell, names))
        for name in sorted({name for code in codes for name in _globals(code)}):
            yield name
            if name in f.__globals__:
                yield self._used(f.__globals__[name], names)
        for name in sorted({name for code in codes for name in _imports(code, f.__globals__.get("__package__"))}):
            yield name
            yield from self._imported(name, names)

    def _cell(self, cell: types.CellType, names: set[str]) -> Iterable[bytes]:
        try:
            return [self._used(cell.cell_contents, names)]
        except ValueError:  # not filled yet
            return []

    def _used(self, value: Any, names: set[str]) -> bytes:
        """A value that code uses, which names these attributes."""
        if type(value) is types.ModuleType:
            return self._part(value, names)
        return self.of(value)

    def _part(self, module: types.ModuleType, names: set[str]) -> bytes:
        """What code uses of a module that names these attributes: code of the module itself may use others."""
        key = (id(module), frozenset(names))
        if key in self._used_now:
            return _sha("within", module.__name__)
        if key not in self._used_before:
            self._used_now.add(key)
            self._kept.append(module)
            try:
                self._used_before[key] = _sha(*self._module(module, names))
            finally:
                self._used_now.remove(key)
        return self._used_before[key]

    def _module(self, module: types.ModuleType, names: set[str] | None) -> Iterator[bytes | str]:
        yield module.__name__
        if _is_library(module.__name__):
            yield _version(module.__name__)
        elif names is None:
            yield _source(getattr(module, "__file__", None))
        else:
            for name in sorted(names & vars(module).keys()):
                yield name
                yield self._used(vars(module)[name], names)

    def _imported(self, name: str, names: set[str]) -> Iterator[bytes | str]:
        """A module that code imports as it runs."""
        if name in sys.modules and sys.modules[name] is not None:
            yield self._used(sys.modules[name], names)
        elif not _is_library(name):
            try:
                found = importlib.util.find_spec(name)
            except (ImportError, ValueError):
                found = None
            yield "absent" if found is None else _source(found.origin)

    def _class(self, kind: type) -> Iterator[bytes | str]:
        yield kind.__name__
        yield from self._all([*kind.__bases__, *([] if type(kind) is type else [type(kind)])])
        for name in sorted(vars(kind).keys() - _UNSAID):
            yield name
            yield self.of(vars(kind)[name])

    def _bound(self, value: Any) -> list[bytes | str]:
        """A method of a built-in value."""
        if isinstance(value, (types.BuiltinFunctionType, types.MethodWrapperType)) and value.__self__ is not None:
            return [self.of(value.__self__), value.__name__]
        return []

    def _reduced(self, value: Any) -> Iterator[bytes | str]:
        """What pickle would write, but as a structure."""
        try:
            reduce = copyreg.dispatch_table.get(type(value))
            parts = value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception:
            raise Untold(_article(type(value).__name__)) from None
        if isinstance(parts, str):  # by its name, which led to nothing
            raise Untold(_article(type(value).__name__))
        yield from self._held(value)
        made, arguments, state, items, pairs, *setter = [*parts, *[None] * 5][:6]
        yield from self._all([made, arguments, state, *setter])
        yield from self._all([] if items is None else items)
        for key, one in [] if pairs is None else pairs:
            yield self.of(key)
            yield self.of(one)


    def _held(self, value: Any) -> Iterator[bytes | str]:
        """The attributes of an object of a class of one's own, which may leave some out when it is pickled."""
        own = [kind for kind in type(value).__mro__ if kind is not object and not _is_library(str(kind.__module__))]
        if not own:
            return
        yield self.of(getattr(value, "__dict__", None))
        for kind in own:
            slots = vars(kind).get("__slots__", ())
            for name in [slots] if isinstance(slots, str) else list(slots):
                # Names that begin with two underscores have that of their class before them.
                hidden = name.startswith("__") and not name.endswith("__")
                held = getattr(value, f"_{kind.__name__.lstrip('_')}{name}" if hidden else name, None)
                if name not in ("__dict__", "__weakref__"):
                    yield name
                    yield self.of(held)


def _sha(*parts: bytes | str) -> bytes:
    found = hashlib.sha256()
    for part in parts:
        written = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        found.update(len(written).to_bytes(8, "little"))
        found.update(written)
    return found.digest()


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A piece of code, and those inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _globals(code: types.CodeType) -> Iterator[str]:
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
            yield step.argval


def _imports(code: types.CodeType, package: str | None) -> Iterator[str]:
    constants: list[Any] = [0, None]  # how many levels up, and which names are wanted
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            level = constants[-2] if isinstance(constants[-2], int) else 0
            try:
                yield importlib.util.resolve_name("." * level + step.argval, package)
            except ImportError:
                yield step.argval
        elif step.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
            constants = [*constants[-1:], step.argval]


def _by_name(value: Any) -> list[bytes | str]:
    """What an installed library provides under a name; nothing for all else."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", getattr(value, "__name__", None))
    if not (isinstance(module, str) and isinstance(name, str)):
        return []
    found = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not value:
        return []
    # What is one's own counts by what it is made of: an object with a name may hold more than its module says.
    return [module, name, _version(module)] if _is_library(module) else []


@functools.lru_cache(maxsize=1)
def _installed() -> tuple[str, ...]:
    folders = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [*site.getsitepackages(), site.getusersitepackages()]
    return tuple(os.path.join(os.path.realpath(folder), "") for folder in folders if folder)


def _is_library(module: str) -> bool:
    """Is a module part of Python or of something installed, and not one's own?"""
    root = module.partition(".")[0]
    loaded = sys.modules.get(root)
    if loaded is None:
        return root in sys.stdlib_module_names
    path: str | None = getattr(loaded, "__file__", None) or next(iter(getattr(loaded, "__path__", ())), None)
    if path is None:
        return root in sys.stdlib_module_names
    return os.path.realpath(path).startswith(_installed())


def _version(module: str) -> str:
    root = module.partition(".")[0]
    if root in sys.stdlib_module_names:
        return sys.version
    found = getattr(sys.modules.get(root), "__version__", "")
    return found if isinstance(found, str) else ""


def _source(path: str | None) -> bytes:
    """The content of a module's file."""
    try:
        with open(path or "", "rb") as file:
            return file.read()
    except OSError:
        raise Untold("a module without a file") from None


def _article(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
