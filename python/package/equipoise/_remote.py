"""Data behind an Equipoise server: questions go there, no row comes here."""

from __future__ import annotations

import http.client
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from ._ask import request
from ._errors import BudgetError, EquipoiseError, LostError, RequestError
from ._release import Release, warn, warned
from ._wording import in_python, visible

#: How often a request is sent again where the server could not be reached. Asking again under one key is free.
TRIES = 4


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A token is sent to the server that it is for, and to no other."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Server(Mapping[str, "RemoteData"]):
    """The data sets of a server that one may see, by their ids. :func:`connect` makes it."""

    def __init__(self, url: str, token: str, timeout: float = 30, witness: str | None = None) -> None:
        if witness is not None and not re.fullmatch(r"[0-9a-f.]{1,400}", witness):
            raise RequestError("witness is not one of a server; give what server.witness was")
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise RequestError("url is the address of a server; give one such as 'https://answers.example.org'")
        here = parts.hostname in ("localhost", "127.0.0.1", "::1")
        if parts.scheme == "http" and not here:
            raise RequestError("a token is not sent without encryption; give an address that begins with https://")
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise RequestError("token is not one of a server; make one on its page 'Account'")
        self.url, self._token, self._timeout = url.rstrip("/"), token, timeout
        #: What was last seen of the server's ledger. It is sent with every request: a ledger that lacks it is an older copy, and is
        #: not charged any more. Keep it, and give it to :func:`connect` the next time.
        self.witness = witness
        self._opener = urllib.request.build_opener(_NoRedirect())

    def __repr__(self) -> str:
        return visible(f"<server {self.url}>")

    def __getitem__(self, id: str) -> RemoteData:
        return RemoteData(self, id, self._json("GET", f"/v1/data-sets/{urllib.parse.quote(id, safe='')}"))

    def __iter__(self) -> Iterator[str]:
        return iter([document["id"] for document in self._json("GET", "/v1/data-sets")])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _json(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
        return json.loads(self._send(method, path, body, headers)[1])

    def _send(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, str, Any]:
        """The status, the text and the headers of an answer; problems are errors of this package."""
        data = None if body is None else json.dumps(body).encode()
        sent = {"Authorization": f"Bearer {self._token}", **(headers or {})}
        if data is not None:
            sent["Content-Type"] = "application/json"
        if self.witness is not None:
            sent["Equipoise-Witness"] = self.witness
        for left in reversed(range(TRIES)):
            asked = urllib.request.Request(self.url + path, data=data, headers=sent, method=method)
            try:
                with self._opener.open(asked, timeout=self._timeout) as answer:
                    self.witness = answer.headers.get("Equipoise-Witness") or self.witness
                    return answer.status, answer.read().decode(), answer.headers
            except urllib.error.HTTPError as error:
                text = error.read().decode(errors="replace")
                # 409 without an id: an earlier try of this request is being taken in.
                waits = error.code in (429, 503) or (error.code == 409 and '"id"' not in text)
                if waits and left and error.headers.get("Retry-After"):
                    time.sleep(min(float(error.headers.get("Retry-After") or 1), 60))
                    continue
                raise _error(error.code, text) from None
            except (urllib.error.URLError, http.client.HTTPException, OSError):
                if not left:
                    line = "the server cannot be reached; ask again under the same request id, which charges once"
                    raise EquipoiseError(line) from None
                time.sleep(0.2 * 2 ** (TRIES - left))
        raise AssertionError("the last try ends")


class Problem(Exception):
    """A charge that waits for its answer."""

    def __init__(self, id: str) -> None:
        self.id = id


def _error(status: int, text: str) -> Exception:
    """The error of this package that a problem is."""
    try:
        problem = json.loads(text)
        line = str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        return EquipoiseError(f"the server answered {status} without saying why")
    if status == 409 and isinstance(problem.get("id"), str):
        return Problem(problem["id"])
    if problem.get("exit") == 4:
        return BudgetError(line, json.dumps({"remaining": problem.get("remaining")}))
    if status == 410:
        return LostError(line)
    if status >= 500:
        return EquipoiseError(line)
    return RequestError(line, problem.get("argument"), problem.get("hint"))


class RemoteData:
    """A data set behind a server. It goes where a table goes: ``eq.median(data, "salary", epsilon=1)``, ``eq.Session(data)``."""

    def __init__(self, server: Server, id: str, document: dict[str, Any]) -> None:
        self.server, self.id, self._document = server, id, document

    @property
    def name(self) -> str:
        """The name that its budget belongs to."""
        return str(self._document["data"])

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return [column["name"] for column in self._document["columns"] or []]

    @property
    def programs(self) -> list[str]:
        """The names of the programs that its steward allows: :func:`equipoise.run_program` takes one."""
        return [str(program["name"]) for program in self._document["programs"]]

    def balance(self) -> dict[str, Any]:
        """What was spent on it and what is left to you, now."""
        self._document = self.server[self.id]._document
        return {"spent": self._document["spent"], "remaining": self._document["remaining"], "earlier": []}

    def _path(self) -> str:
        return f"/v1/data-sets/{urllib.parse.quote(self.id, safe='')}"

    def __repr__(self) -> str:
        return visible(f"<data set {self.name!r} of {self.server.url}>")


class RemoteQuestion:
    """A question about data behind a server, planned there: free until it is released."""

    def __init__(
        self,
        statistic: str,
        data: RemoteData,
        column: str | None = None,
        words: dict[str, Any] | None = None,
        **keywords: Any,
    ) -> None:
        _here(keywords)
        # Questions that share a price come as the document that they are.
        self._data, self._words = data, request(statistic, column, keywords) if words is None else words
        self._path = data._path()

    def summarize(self) -> dict[str, Any]:
        """What it will cost and what can be told of the answer. Free."""
        summary: dict[str, Any] = self._data.server._json("POST", f"{self._path}/plans", self._words)
        summary["expected"] = in_python(summary["expected"])
        summary["warnings"] = [in_python(line) for line in summary["warnings"]]
        return summary

    def simulate(self, trials: int) -> tuple[list[Any], list[dict[str, Any] | None], list[dict[str, Any]]]:
        """Outcomes of many trials on made-up rows, their error bars, and what each number came to. Free."""
        said = {"question": self._words, "trials": trials}
        found = self._data.server._json("POST", f"{self._path}/rehearsals", said)
        return found["values"], found["errors"], found["series"]

    def release(self, request_id: str | None = None, anyway: bool = False) -> Release:
        """Pay, and wait until the answer is shown. What earlier counts show to be refused is an error for free, unless it is asked anyway."""
        server = self._data.server
        # Before the charge: who makes errors of warnings does not pay for one.
        before = warn(server._json("POST", f"{self._path}/plans", self._words)["warnings"])
        id = _asked(server, f"{self._path}/questions", self._words, request_id, anyway)
        return warned(_released(server, id), before)


def _here(keywords: dict[str, Any]) -> None:
    """What is said of data that lies here is the server's to say of its own."""
    for keyword in ("ledger", "name", "analyst", "apart"):
        if keywords.pop(keyword, None):
            raise RequestError(f"{keyword}= is for data that lies here; the server knows it, so leave it out", keyword)


def _asked(server: Server, path: str, said: dict[str, Any], request_id: str | None, anyway: bool = False) -> str:
    """The id of the charge."""
    path += "?anyway=true" if anyway else ""
    key = request_id or uuid.uuid4().hex
    try:
        return str(server._json("POST", path, said, {"Idempotency-Key": key})["id"])
    except Problem as waiting:
        # It was charged by a try whose answer never came here.
        return waiting.id


def _released(server: Server, id: str) -> Release:
    """The release, when it is shown."""
    while True:
        status, text, headers = server._send("GET", f"/v1/releases/{id}")
        if status == 200:
            return Release._of_json(text)
        time.sleep(min(float(headers.get("Retry-After") or 1), 60))


class RemoteStatement:
    """A query about data behind a server, which reads it: free until it is run."""

    def __init__(self, data: RemoteData, query: str, given: dict[str, Any], charging: dict[str, Any]) -> None:
        _here(dict(charging))
        given = {word: value for word, value in given.items() if word != "statistic"}
        self._server = data.server
        self._said = {"query": query, "data_set": data.id, "given": given}

    def run(self, request_id: str | None, anyway: bool) -> tuple[dict[str, Any], Release]:
        """Pay, and wait for the rows."""
        # Before the charge: who makes errors of warnings does not pay for one.
        before = warn(self._server._json("POST", "/v1/sql", {**self._said, "dry_run": True})["warnings"])
        id = _asked(self._server, "/v1/sql", self._said, request_id, anyway)
        release = warned(_released(self._server, id), before)
        rows: dict[str, Any] = self._server._json("POST", f"/v1/releases/{id}/rows", self._said)
        return rows, release


class RemoteProgram:
    """A program that the steward of data behind a server allows, by its name: free until it is run."""

    def __init__(self, program: Any, data: RemoteData, keywords: dict[str, Any]) -> None:
        _here(keywords)
        if not isinstance(program, str):
            raise RequestError("the programs of a server are named by its stewards; give a name, such as 'typical-salary'", "program")
        said = {word: value for word, value in keywords.items() if value is not None}
        self._server, self._path, self._said = data.server, data._path(), {"program": program, **said}

    def summarize(self) -> dict[str, Any]:
        """What it will cost and when its answer is shown. Free."""
        summary: dict[str, Any] = self._server._json("POST", f"{self._path}/plans", self._said)
        summary["expected"] = in_python(summary["expected"])
        return summary

    def release(self, request_id: str | None) -> Release:
        """Pay, and wait until the answer is shown."""
        before = warn(self.summarize()["warnings"])
        id = _asked(self._server, f"{self._path}/questions", self._said, request_id)
        return warned(_released(self._server, id), before)


class RemoteWatch:
    """A monitor of data behind a server: charged once, kept there."""

    def __init__(self, data: RemoteData, words: dict[str, Any], request_id: str | None) -> None:
        self._server = data.server
        said = {"data_set": data.id, **words}
        key = request_id or uuid.uuid4().hex
        planned = self._server._json("POST", "/v1/monitors", {**said, "dry_run": True})
        warn(planned["warnings"])
        status, text, _ = self._server._send("POST", "/v1/monitors", said, {"Idempotency-Key": key})
        begun = json.loads(text)
        self.id, self.scale, self.resumed = str(begun["id"]), float(begun["scale"]), status == 200

    def ask(self, line: str) -> str:
        """The answer to one question."""
        answers = self._server._json("POST", f"/v1/monitors/{self.id}/questions", {"questions": [json.loads(line)]})
        return json.dumps(answers["answers"][0])

    def earlier(self) -> list[str]:
        """Every question so far with its answer."""
        return [json.dumps(one) for one in self._server._json("GET", f"/v1/monitors/{self.id}/history")["answers"]]


def check_own(*data: Any) -> None:
    """What a caller computes or states is for whoever holds the rows: a server runs no functions and believes no statements."""
    if any(isinstance(one, RemoteData) for one in data):
        raise RequestError("a server runs no function of yours and takes no value that you state; ask it questions, as eq.median(data, ...) does")


def connect(url: str, token: str, *, timeout: float = 30, witness: str | None = None) -> Server:
    """The data sets of an Equipoise server.

    ``url``, ``token``
        The address of the server, and a token that you made on its page "Account". It is sent to that address alone, and
        without encryption only to this machine.
    ``timeout``
        How many seconds one request may take.
    ``witness``
        What :attr:`Server.witness` was the last time: a server whose ledger was put back from an older copy since then is found out.

    A data set goes where a table goes, with the same releases and errors; what it costs and who may ask is the server's to say:

        salaries = eq.connect("https://answers.example.org", token=token)["salaries"]
        eq.median(salaries, "salary", epsilon=1)
        session = eq.Session(salaries)
        eq.sql("SELECT town, COUNT(*) AS n FROM salaries GROUP BY town", salaries=salaries, epsilon=1, delta=1e-6)
        eq.run_program("typical-salary", salaries, epsilon=1)
    """
    return Server(url, token, timeout, witness)
