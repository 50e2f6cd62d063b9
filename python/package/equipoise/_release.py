"""What a question comes to: a value with its error bar and its receipt, or a refusal with advice."""

from __future__ import annotations

import html
import json
import math
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from . import _equipoise, _frames
from ._errors import DataError, PrivacyWarning, RefusedError
from ._next import Place
from ._wording import in_python, short, visible


def warn(lines: Sequence[str]) -> list[str]:
    """Say each line as a :class:`PrivacyWarning` of the line of code outside this package; the lines, for :func:`warned`."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(os.path.dirname(__file__)):
        level, frame = level + 1, frame.f_back
    for line in lines:
        warnings.warn(visible(in_python(line)), PrivacyWarning, stacklevel=level)
    return list(lines)


def warned(release: Release, before: Sequence[str] = ()) -> Release:
    """The release, after saying what it warns of and nobody said before it."""
    said = {line.split()[0] for line in before}
    try:
        warn([line for line in release._parts.get("warnings", []) if line.split()[0] not in said])
    except PrivacyWarning:
        # Who makes errors of warnings has paid by now: the answer is not thrown away, and says it too.
        pass
    return release


class Release:
    """An answer or a refusal, what it promises, what it cost, and its receipt.

    A refusal is a value, not an exception: ``release.refused`` tells, ``release.advice`` says what would help, and
    ``float(release)`` raises :class:`RefusedError`.

    >>> import equipoise as eq
    >>> release = eq.count([1.0] * 1000, epsilon=1)
    >>> release.refused, release.mechanism, release.guarantee["epsilon"]
    (False, 'laplace', '1')
    >>> release.receipt["ledger"] is None  # an odometer of this process, not a file
    True
    """

    __slots__ = ("_fractions", "_parts", "_place")

    def __init__(self, parts: dict[str, Any], fractions: tuple[str, ...] = (), place: Place | None = None) -> None:
        self._parts = parts
        # The quantiles that were asked for, by which pictures name them.
        self._fractions = fractions
        # Where it was asked, by which the next call is written.
        self._place = place or Place()

    @classmethod
    def _of_json(cls, text: str, fractions: tuple[str, ...] = (), place: Place | None = None) -> Release:
        return cls(json.loads(text), fractions, place)

    @property
    def value(self) -> Any:
        """The answer: a number, a text, or a list; ``None`` after a refusal."""
        return self._parts["value"]

    @property
    def type(self) -> str | None:
        """What the value is where it is no plain number or text: ``"date"``, ``"decimal:2"``, ``"days"`` between two dates."""
        kind: str | None = self._parts.get("type")
        return kind

    @property
    def refused(self) -> bool:
        """Was there no answer? The charge stands in either case."""
        return bool(self._parts["outcome"] == "refused")

    @property
    def error(self) -> dict[str, Any] | None:
        """The error bar: its confidence, its kind and its numbers, and what it ``covers``.

        The kinds: ``"exact"``; ``"noise"``, between ``low`` and ``high`` or within ``scale``; ``"rank"``; ``"interval"``; ``"gap"``,
        where the most frequent value has at most ``gap`` rows or votes more; ``"votes"``, of a set of labels, each of which at least
        ``least`` blocks name, and each other one at most ``most``. With ``stated_rows`` it holds if so many rows have a value.
        """
        return self._parts.get("error")

    @property
    def covers(self) -> str:
        """What the error bar is about: the true value of the rows, or for answers from blocks what the blocks answered.

        How far a mean of blocks' answers lies from the same function of all rows is a property of that function, and no error bar
        tells it.

        >>> import equipoise as eq
        >>> import numpy as np
        >>> heights = np.linspace(150, 190, 20_000)
        >>> release = eq.subsample(np.median, heights, epsilon=5, blocks=200, default=170)
        >>> release.covers.split("; ")[0], release.covers.split("; ")[-1]
        ("the mean of 200 blocks' answers", 'blocks without an answer count as 170')
        """
        covers = (self.error or {}).get("covers") or {}
        return "; ".join([str(covers.get("of", "the true value")), *map(str, covers.get("given", []))])

    @property
    def blocks(self) -> dict[str, Any] | None:
        """Where blocks answered: their ``count``, about how many ``answered`` (``None`` where a default was stated), how far off that
        may be, and what stands for a block without an answer (``missing_as``; ``None`` where it counts for nothing). Where it was
        paid for, about how many ``votes`` the answer has, and the ``analysis`` that the blocks chose first."""
        return self._parts.get("blocks")

    @property
    def interval(self) -> tuple[Any, Any] | list[tuple[Any, Any]] | None:
        """Where that lies which the error bar ``covers``, with its confidence; ``None`` where it is told in ranks or votes.

        Of several quantiles one pair each, which hold all at once; a pair of ``None`` where there were too few rows.
        """
        error = self.error
        if error is None:
            return None
        if error["kind"] == "exact" and isinstance(self.value, (int, float)) and not isinstance(self.value, bool):
            return (float(self.value), float(self.value))
        if error.get("low") is None or error.get("high") is None:
            return None
        if isinstance(error["low"], list):
            return list(zip(error["low"], error["high"], strict=True))
        return (error["low"], error["high"])

    @property
    def advice(self) -> str | None:
        """After a refusal: what to do, from public facts only."""
        advice = self._parts.get("advice")
        return None if advice is None else in_python(advice)

    @property
    def next_step(self) -> dict[str, Any] | None:
        """After a refusal: a whole question that would do, where there is one: its ``call``, ``why``, ``request`` and ``charge``."""
        step = self._parts.get("next_step")
        if step is None:
            return None
        call = self._place.call(_equipoise.next_call(json.dumps(step)))
        return {**step, "call": call, "why": in_python(step["why"])}

    @property
    def guarantee(self) -> dict[str, str]:
        """What is promised to the people in the data: epsilon, delta, adjacency and unit."""
        return dict(self._parts["guarantee"])

    @property
    def statistic(self) -> str:
        """What was computed."""
        return str(self._parts["statistic"])

    @property
    def mechanism(self) -> str:
        """By which mechanism."""
        return str(self._parts["mechanism"])

    @property
    def groups(self) -> list[dict[str, Any]] | None:
        """One entry for each group, where the question had groups."""
        return self._parts.get("groups")

    @property
    def answers(self) -> list[dict[str, Any]] | None:
        """One entry for each statistic, where several were asked for at once."""
        return self._parts.get("answers")

    @property
    def rows(self) -> int | None:
        """The noisy number of rows, where one was paid for."""
        return self._parts.get("rows")

    @property
    def warnings(self) -> list[str]:
        """What of its promise protects little, one line each; said as :class:`PrivacyWarning` too."""
        return [in_python(line) for line in self._parts.get("warnings", [])]

    @property
    def spent(self) -> dict[str, str]:
        """All that the data set has spent, this release included."""
        return dict(self._parts["spent"])

    @property
    def remaining(self) -> dict[str, str] | None:
        """What its limit leaves; ``None`` without a limit."""
        return self._parts.get("remaining")

    @property
    def receipt(self) -> dict[str, Any]:
        """Where the charge is written down; its ``ledger`` is ``None`` for the odometer of this process."""
        return dict(self._parts["receipt"])

    def to_dict(self) -> dict[str, Any]:
        """Everything, in the shape of the command line's ``--json``."""
        copied: dict[str, Any] = json.loads(json.dumps(self._parts))
        return copied

    def to_pandas(self) -> Any:
        """A data frame: one row for a number, one for each of a list or of the groups, with the ends of bars as ``low`` and ``high``.

        A list of quantiles has a column ``fraction``. The parts of a summary stand side by side (``mean``, ``mean_low``,
        ``mean_high``, ``q0.5``), the numbers of a list by group too, in the order that was asked for (``value_1``). Errors that are told in ranks are in ``rank``, and ``refused`` says where there is no answer.

        >>> import equipoise as eq
        >>> frame = eq.histogram(["a", "b"] * 500, keys=["a", "b"], epsilon=1).to_pandas()
        >>> list(frame.columns)[1:]
        ['value', 'low', 'high', 'refused']
        """
        return _frames.library("pandas", "to_pandas()").DataFrame(_frames.columns(self._parts, self._fractions))

    def to_polars(self) -> Any:
        """The same table as of :meth:`to_pandas`, for Polars."""
        return _frames.library("polars", "to_polars()").DataFrame(_frames.columns(self._parts, self._fractions), strict=False)

    def to_arrow(self) -> Any:
        """The same table as of :meth:`to_pandas`, for Arrow."""
        return _frames.library("pyarrow", "to_arrow()").table(_frames.columns(self._parts, self._fractions))

    def plot(self, ax: Any = None) -> Any:
        """Answers with their error bars: on axes of matplotlib where that is installed, or on ``ax``; otherwise :meth:`svg`."""
        from ._picture import plotted

        return plotted(self._parts, ax, self._fractions)

    def svg(self) -> Any:
        """The picture that the command line draws, as SVG, which notebooks show."""
        from ._picture import drawn

        return drawn(self._parts, self._fractions)

    def explain(self) -> str:
        """A paragraph about the release, for a paper or a privacy board.

        >>> import equipoise as eq
        >>> "e^1 = 2.8 times surer" in eq.count([1.0] * 1000, epsilon=1).explain()
        True
        """
        return visible(in_python(_equipoise.explain(json.dumps(self._parts))))

    def __float__(self) -> float:
        return float(self._number())

    def _number(self) -> int | float:
        if self.refused:
            raise RefusedError(f"the release was refused: {self.advice}")
        value = self.value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return value
        raise DataError(f"the released value is {_shown(value)}, not a number; take release.value")

    def __format__(self, code: str) -> str:
        """The number in this format; without a code what ``str`` gives.

        >>> import equipoise as eq
        >>> f"{eq.count([1.0] * 1000, epsilon=1000):.1f}"  # off by one or more with a chance of e^-1000
        '1000.0'
        """
        return format(self._number(), code) if code else str(self)

    def __bool__(self) -> bool:
        raise TypeError("a release is neither true nor false: ask release.refused, or compare release.value")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Release) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(json.dumps(self._parts, sort_keys=True))

    def __repr__(self) -> str:
        where = self._price()
        if self.refused:
            step = self.next_step
            then = f"; next: {step['call']}" if step else ""
            return visible(f"<{self._asked()} refused ({where}): {self.advice}{then}{self._stated()}>")
        if self.groups is not None:
            return _below(f"<{self._asked()}, {len(self.groups)} groups ({where})", self._lines())
        if self.answers is not None:
            lines = [f"  {name}: {value}" + (f"; {bar}" if bar else "") for name, value, bar in self._answers()]
            return _below(f"<{self._asked()} ({where})", lines)
        if self.error is None:
            return visible(f"<{self._asked()}: {_shown(self.value)}{self._stated()} ({where})>")
        value, bar = self._words()
        return visible(f"<{self._asked()}: {value}; {bar} ({where})>")

    def _price(self) -> str:
        """What was promised and charged, in short."""
        promise = self._parts["guarantee"]
        privacy = f"epsilon={short(promise['epsilon'])}"
        if promise["delta"] != "0":
            privacy += f", delta={short(promise['delta'])}"
        receipt = str((self._parts.get("receipt") or {}).get("id", ""))[:8]
        return f"{privacy}, {promise['adjacency']}, {self.mechanism}" + (f", receipt {receipt}" if receipt else "")

    def _stated(self) -> str:
        """What the caller stated, where no bar says it: the promise rests on it."""
        return "".join(f"; {clause}" for clause in self._parts.get("stated") or [])

    def _asked(self) -> str:
        """What was asked, in short, and what values were limited to where that is one range: a number is not read without it."""
        parts = self._parts
        by = [str(name) for name in parts.get("group_by") or []]
        of = {"share": "of rows where"}.get(self.statistic, "of")
        asked = self.statistic + (f" {of} {parts['column']}" if parts.get("column") else "")
        limits = _equipoise.limits_words(json.dumps(parts.get("error")))
        return asked + (f" by {', '.join(by)}" if by else "") + (f", {limits}" if limits else "")

    def _answers(self) -> list[tuple[str, str, str]]:
        """Each answer of several: its name, its value, and its bar with all that it is about."""
        found = []
        for part in self.answers or []:
            name = _frames.part_name(part)
            if self.statistic == "batch" and part.get("column") and part["statistic"] != "coefficient":
                name += f" of {part['column']}"
            if part["outcome"] == "refused":
                found.append((name, "refused", in_python(part.get("advice") or "")))
            elif part.get("groups") is not None or part.get("answers") is not None:
                inner = Release({**self._parts, "groups": None, "answers": None, "error": None, **part})
                found.append((name, f"{len(part['groups'])} groups" if part.get("groups") is not None else "several", ""))
                found.extend((f"  {key}", value, error) for key, value, error in inner._cells(_FEW) or inner._answers())
            else:
                words = _equipoise.answer_words(json.dumps(part["value"]), json.dumps(part.get("error")))
                found.append((name, *words))
        return found

    def _about(self) -> list[str]:
        """What the bars of all groups are about: a range that values were limited to is part of the answer."""
        groups = self.groups or []
        parts = [part for group in groups for part in (group.get("answers") or [group])]
        by_name: dict[str, list[Any]] = {}
        for part in parts:
            if part.get("error") is not None:
                by_name.setdefault(str(part.get("statistic", "")), []).append(part["error"])
        found: list[str] = []
        for name, bars in by_name.items():
            words = _equipoise.table_words(json.dumps(bars))
            lines = [] if words is None else [f"error: {words[0]}", *(f"about: {line}" for line in words[1])]
            found.extend(f"{name}: {line}" if name else line for line in lines)
        bars_of_rows = [(group.get("rows"), group["error"]) for group in groups if group.get("error") is not None]
        for group in groups:
            answers = group.get("answers") or []
            counted = next((part["value"] for part in answers if part["statistic"] == "count"), None)
            bars_of_rows.extend((counted, part["error"]) for part in answers if part.get("error") is not None)
        named_from = self._parts.get("keys_from")
        if named_from is not None and not self.refused:
            found.append(f"about: {_equipoise.rare_keys_words(named_from)}")
        ranks = _equipoise.table_ranks_words(self.statistic, json.dumps(bars_of_rows))
        return found + ([] if ranks is None else [f"ranks: {ranks}"])

    def _words(self) -> tuple[str, str]:
        """The value in as many digits as its bar justifies, and the bar with all that it is about, as the command line says them."""
        value, error = json.dumps(self._parts.get("value")), json.dumps(self._parts.get("error"))
        shown, bar = _equipoise.answer_words(value, error)
        if self.rows is not None:
            bar += _equipoise.rows_words(self.statistic, self.rows, value, error)
        return shown, bar

    def _cells(self, most: int) -> list[tuple[str, str, str]]:
        """The first groups by key: the key, the answer, and its error in short."""
        cells = []
        for group in _frames.by_key(self.groups or [])[:most]:
            key = ", ".join("(empty)" if part is None else str(part) for part in _frames._key(group["key"]))
            parts = [(key, group)]
            if group.get("answers") is not None:
                parts = [(f"{key}: {_frames.part_name(part)}", part) for part in group["answers"]]
            for name, part in parts:
                if part["outcome"] == "refused":
                    cells.append((name, "refused", ""))
                else:
                    cells.append((name, *_equipoise.short_words(json.dumps(part["value"]), json.dumps(part.get("error")))))
        return cells

    def _lines(self) -> list[str]:
        cells = self._cells(_FEW)
        widest = max((len(name) for name, *_ in cells), default=0)
        lines = [f"  {name:<{min(widest, 40)}}  {value}" + (f" ({error})" if error else "") for name, value, error in cells]
        more = len(self.groups or []) - _FEW
        more_lines = [f"  … {more} more; release.to_pandas() has all"] if more > 0 else []
        return lines + more_lines + [f"  {line}" for line in self._about()]

    def _answered(self) -> str:
        blocks = self.blocks
        if blocks is None or blocks.get("answered") is None:
            return ""
        about = min(max(blocks["answered"], 0), blocks["count"])
        return f"about {about} of {blocks['count']} answered, off by at most {blocks['answered_within']}"

    def _repr_html_(self) -> str:
        promise = self._parts["guarantee"]
        epsilon, delta = short(promise["epsilon"]), short(promise["delta"])
        value, bar = (_shown(self.value), "") if self.error is None else self._words()
        # Readable on a light page and on a dark one.
        colour, value = ("#d93025", "refused") if self.refused else ("#00897b", value)
        value = f"{len(self.groups)} groups" if self.groups is not None and not self.refused else value
        value = f"{len(self.answers)} answers" if self.answers is not None and not self.refused else value
        receipt = self._parts.get("receipt") or {}
        step = self.next_step
        delta = "" if delta == "0" else f", delta {delta}"
        rows = [
            ("", self._picture()),
            ("", self._table_html()),
            ("advice" if self.refused else "error", html.escape((self.advice or "") if self.refused else bar)),
            ("stated", html.escape(self._stated()[2:] if self.refused or not bar else "")),
            ("next", "" if step is None else f"<code>{html.escape(step['call'])}</code>"),
            ("blocks", html.escape(self._answered())),
            ("privacy", html.escape(f"epsilon {epsilon}{delta} for one {promise['unit']} ({promise['adjacency']}); {self.mechanism}")),
            ("spent", html.escape(f"epsilon {short(self.spent['epsilon'])} in all")),
            ("receipt", html.escape(str(receipt.get("id", ""))[:12])),
        ]
        left = "style='text-align:left"
        body = "".join(
            f"<tr><td {left};opacity:.65;padding-right:1em'>{name}</td><td {left}'>{text}</td></tr>" for name, text in rows if text
        )
        return visible(
            f"<div><b>{html.escape(self._asked())}</b> "
            f"<span style='color:{colour};font-size:1.3em'>{html.escape(value)}</span><table>{body}</table></div>"
        )

    def _table_html(self) -> str:
        """Groups, or several answers, as a table, with what their bars are about below it."""
        if self.groups is None and self.answers is None:
            return ""
        grouped = self.groups is not None
        cells = self._cells(_SCREENFUL) if grouped else self._answers()
        key = ", ".join(str(name) for name in self._parts.get("group_by") or ["key"]) if grouped else "answer"
        left = "style='text-align:left'"
        head = "".join(f"<th {left}>{html.escape(name)}</th>" for name in (key, "value", "error"))
        rows = "".join("<tr>" + "".join(f"<td {left}>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in cells)
        more = len(self.groups or []) - _SCREENFUL
        below = [f"… {more} more; release.to_pandas() has all"] if more > 0 else []
        below += self._about() if grouped else []
        lines = "".join(f"<div {left}>{html.escape(line)}</div>" for line in below)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{lines}"

    def _picture(self) -> str:
        """The value on its interval, as a small drawing."""
        interval = self.interval
        if interval is None or isinstance(interval, list) or self.refused or not isinstance(self.value, (int, float)):
            return ""
        low, high = interval
        if isinstance(low, str) or isinstance(high, str):
            return ""
        if not (low < high and math.isfinite(low) and math.isfinite(high)):
            return ""
        place = 10 + 180 * min(1.0, max(0.0, (self.value - low) / (high - low)))
        return (
            "<svg width='200' height='34' role='img' aria-label='value and interval'>"
            "<line x1='10' y1='10' x2='190' y2='10' stroke='#80cbc4' stroke-width='4'/>"
            f"<circle cx='{place:.1f}' cy='10' r='5' fill='#00695c'/>"
            f"<text x='10' y='30' font-size='10' fill='currentColor'>{low:g}</text>"
            f"<text x='190' y='30' font-size='10' fill='currentColor' text-anchor='end'>{high:g}</text></svg>"
        )


#: So many groups are shown in a line of code, and in a notebook.
_FEW, _SCREENFUL = 10, 40


def _below(head: str, lines: list[str]) -> str:
    """Lines below each other; a line break within one of them is somebody else's, and is written out."""
    return "\n".join(visible(line) for line in [head, *lines]) + ">"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list):
        shown = ", ".join(_shown(one) for one in value[:8])
        return f"[{shown}{', ...' if len(value) > 8 else ''}]"
    return str(value)
