"""Tables of databases by the engines that people have for them, and rows written to files by whoever may see them all."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Mapping
from typing import Any, TextIO
from urllib.parse import quote

from . import _data, _equipoise
from ._columns import quietly
from ._data import is_path
from ._errors import DataError, EquipoiseError, RequestError

#: What may be said beside an address of SQLAlchemy: none of it leads to another database.
_HARMLESS = {"connect_timeout", "timeout", "application_name", "check_same_thread", "keepalives", "keepalives_idle", "keepalives_interval"}
#: What an address of ours says as well.
_SETTINGS = ("host", "port", "sslmode", "sslrootcert", "connect_timeout", "application_name")


def table(engine: Any, name: str, *, schema: str | None = None) -> str:
    """The address of a table behind an engine of SQLAlchemy, which goes where the path of a file goes.

    Types are those that the database declares, the budget is that of the table whoever asks for it, and the engine itself reads nothing. The
    address has no password in it: that of the engine is kept for this server, database and role in the memory of this process.

    engine
        An engine for Postgres or SQLite. One that may lead elsewhere than its URL says is refused: ``creator=``, ``do_connect`` hooks,
        ``connect_args=`` that are not about waiting.
    name, schema
        The table as the database spells it. Without a schema it is one of ``public`` in Postgres.
    """
    engine, url = _looked_at(engine)
    if not isinstance(name, str) or not name or (schema is not None and (not isinstance(schema, str) or not schema)):
        raise RequestError("table() takes the name of a table, and of its schema where it has one; give them as texts")
    if engine.dialect.name == "sqlite":
        if schema not in (None, "main"):
            raise RequestError("a file of SQLite has one schema, main; leave out schema=, or name the file that is attached")
        return f"sqlite:{_file(url)}?table={name}"
    quoted = ".".join('"' + part.replace('"', '""') + '"' for part in (schema or "public", name))
    return f"{_server(url)}&table={quote(quoted)}"


def extract(
    data: Any, *, into: str | os.PathLike[str], query: str | None = None, types: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Write a table, a view or a query to an Arrow file that only its owner reads, as ``equipoise extract`` does. Free, for whoever may see every row.

    Questions about the file are charged to it. A new extract takes the place of the old one at once or not at all, with its name and budget.

    data
        A database (``sqlite:FILE``, ``postgres://ROLE@HOST/DATABASE``, ``duckdb:FILE``, an engine of SQLAlchemy), with ``query=``; or any
        data by its path or address.
    into
        The file to write.
    types
        How columns that have no type, or are texts, are to be read: ``{"born": "date"}``.

    Gives how many rows there were, the columns with their types, and those that were left out because their type is not read.
    """
    if query is not None and not isinstance(query, str):
        raise RequestError("query= is a text of SQL")
    if not is_path(data):
        engine, url = _looked_at(data)
        if query is None:
            raise RequestError("an engine has many tables; give query=, or table(engine, name) as the data")
        data = f"sqlite:{_file(url)}" if engine.dialect.name == "sqlite" else _server(url)
    path = os.fspath(data)
    said = dict(types or {})
    if path.startswith("duckdb:"):
        text = _of_duckdb(path.removeprefix("duckdb:"), query, os.fspath(into), said)
    else:
        text = _equipoise.extract(path, query, os.fspath(into), said)
    return {"into": os.fspath(into), **json.loads(text)}


def _of_duckdb(file: str, query: str | None, into: str, types: dict[str, str]) -> str:
    """Rows of a file of DuckDB's, read by its own package."""
    try:
        import duckdb
    except ImportError:
        raise RequestError("files of DuckDB are read by its own package, which is not there; install it with: pip install duckdb") from None
    path, mark, name = file.rpartition("?table=")
    path = path if mark else file
    if (query is None) == (not mark):
        raise RequestError("which rows? Give a query, or a table as in duckdb:FILE?table=NAME, and not both")
    if not os.path.exists(path):
        raise DataError("there is no such file of DuckDB's; check the path behind duckdb:")
    if query is None:
        query = 'SELECT * FROM "' + name.replace('"', '""') + '"'
    try:
        with duckdb.connect(path, read_only=True) as opened:
            rows = opened.sql(query)
            if rows is None:
                raise RequestError("the statement gives no rows; give a SELECT")
            found = _data.table(rows)
            assert isinstance(found, _data.Table)
            try:
                return _written(found, into, types)
            except DataError:
                # Rows that cannot be handed over say why where they are asked for one after another.
                again = opened.execute(query)
                while again.fetchmany(10_000):
                    pass
                raise
    except duckdb.Error as error:
        # Whoever extracts may see every row, and so may read what the database says of them.
        line = " ".join(str(error).split())
    raise DataError(f"the query failed, and nothing was written: {_equipoise.visible(line)}")


def _written(found: _data.Table, into: str, types: dict[str, str]) -> str:
    for name in types:
        found.place(name)
    kinds = [types.get(name) or kind for name, kind in zip(found.names, found.kinds())]
    wanted = [(place, kind) for place, kind in enumerate(kinds) if kind is not None]
    return _equipoise.extract_rows(found.source(wanted, types), found.names, wanted, found.rows, into)


def _looked_at(engine: Any) -> tuple[Any, Any]:
    """The same as :func:`_checked`, without the frames in which a password is read: some who show errors show their variables."""
    return quietly(lambda: _checked(engine), "the engine is none that can be looked at; name the table by its address")


def _checked(engine: Any) -> tuple[Any, Any]:
    """An engine whose URL says where it leads, and that URL."""
    engine = getattr(engine, "sync_engine", engine)
    if not type(engine).__module__.startswith("sqlalchemy.") or not all(hasattr(engine, part) for part in ("url", "dialect", "pool")):
        raise RequestError("this takes an engine of SQLAlchemy, as create_engine() gives it; other data goes where a path goes")
    if engine.dialect.name not in ("postgresql", "sqlite"):
        name = _equipoise.shown(engine.dialect.name)
        raise RequestError(f"engines for '{name}' are not read here; give a relation, a frame, or a file that extract() wrote")
    if list(engine.dialect.dispatch.do_connect):
        raise RequestError("the engine has a do_connect hook, which may lead elsewhere than its URL says; give an engine without")
    creator = engine.pool._creator
    made = getattr(creator, "__module__", "") == "sqlalchemy.engine.create" and inspect.isfunction(creator)
    said = inspect.getclosurevars(creator).nonlocals if made else {}
    if "cparams" not in said:
        raise RequestError("the engine has a creator or a pool of its own, which may lead elsewhere than its URL says; give one without")
    plain = engine.dialect.create_connect_args(engine.url)[1]
    other = {key for key in {**plain, **said["cparams"]} if key not in _HARMLESS and plain.get(key) != said["cparams"].get(key)}
    if other:
        keys = _equipoise.shown(", ".join(sorted(map(str, other))))
        raise RequestError(f"the engine has connect_args ({keys}), which may lead elsewhere than its URL says; say it in the URL")
    return engine, engine.url


def _file(url: Any) -> str:
    file: str | None = url.database
    if not file or file == ":memory:" or file.startswith("file:") or url.query:
        raise RequestError("the engine has no file of SQLite by its plain path, but one in memory or an address; write it to a file")
    return os.path.abspath(file)


def _server(url: Any) -> str:
    """The address of a database, without its password, which is handed over beside it."""
    settings = {"host": url.host, "port": url.port, "user": url.username, "dbname": url.database}
    for key, value in url.query.items():
        if key not in _SETTINGS or not isinstance(value, str):
            shown = _equipoise.shown(str(key))
            raise RequestError(f"the URL of the engine says '{shown}', which an address does not; leave it out, or name the table by its address")
        settings[key] = value
    said = "&".join(f"{key}={quote(str(value), safe='')}" for key, value in settings.items() if value is not None)
    address = f"postgres://?{said}"
    if url.password is not None:
        _equipoise.hand_password(address, str(url.password))
    return address


def _serve(lines: TextIO, out: TextIO) -> None:
    """For the command line, whose words others could read: what to extract comes in a line of JSON, what came of it goes out in another."""
    try:
        asked = json.loads(lines.readline())
        done = extract(asked["data"], into=asked["into"], query=asked["query"], types=asked["types"])
    except EquipoiseError as error:
        done = {"problem": str(error)}
    out.write(json.dumps(done) + "\n")


if __name__ == "__main__":
    _serve(sys.stdin, sys.stdout)
