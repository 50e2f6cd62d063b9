"""What earlier counts tell: a question that takes more rows than there are is an error before the charge."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import equipoise as eq

PEOPLE = {"pay": [1000.0 + i for i in range(300)], "town": ["Ayr", "Bern"] * 150}


def people(folder: Path) -> Path:
    path = folder / "people.csv"
    path.write_text("pay,town\n" + "".join(f"{pay},{town}\n" for pay, town in zip(PEOPLE["pay"], PEOPLE["town"])))
    # What was told in the second of a change may be about the rows of before.
    before = path.stat().st_mtime - 60
    os.utime(path, (before, before))
    return path


def file_after_a_second(folder: Path) -> Path:
    """The file was also put into its place in an earlier second."""
    import time

    path = people(folder)
    second = int(time.time())
    while int(time.time()) == second:
        time.sleep(0.02)
    return path


def test_a_count_of_a_file_keeps_a_hopeless_question_from_being_charged(tmp_path: Path) -> None:
    path = file_after_a_second(tmp_path)
    before = eq.count(path, epsilon=10)
    with pytest.raises(eq.RequestError, match="this would be refused: it takes about") as caught:
        eq.median(path, "pay", epsilon=0.01)
    error = caught.value
    assert "anyway=True" in str(error) and "--" not in str(error) and error.argument == "epsilon"
    assert error.call is not None and error.call.startswith("eq.median(data, 'pay', epsilon=0.")
    assert eq.Session(path).spent == before.spent, "nothing was charged"
    assert eq.median(path, "pay", epsilon=0.01, anyway=True).refused
    # The call that the error names is answered.
    assert not eval(error.call, {"eq": eq, "data": path}).refused  # noqa: S307, our own text
    # Rows that changed are other rows.
    os.utime(path)
    assert eq.median(path, "pay", epsilon=0.01).refused


def test_a_stored_answer_is_given_again_whatever_is_known_by_now(tmp_path: Path) -> None:
    path = file_after_a_second(tmp_path)
    asked: dict[str, Any] = {"epsilon": 0.01, "request_id": "monday"}
    first = eq.median(path, "pay", **asked)
    eq.count(path, epsilon=10)
    assert eq.median(path, "pay", **asked) == first
    session = eq.Session(path)
    later = session.median("pay", epsilon=0.01)
    with pytest.raises(eq.RequestError, match="this would be refused"):
        later.release("tuesday")
    told = later.release("tuesday", anyway=True)
    assert later.release("tuesday") == told, "charged once, and given again"


def test_a_session_knows_what_it_was_told_of_its_rows() -> None:
    session = eq.Session(PEOPLE)
    hopeless = session.median("pay", epsilon=0.01)
    assert "would_be_refused" not in hopeless.summarize()
    session.count(epsilon=10).release()
    told = hopeless.summarize()["would_be_refused"]
    assert told["why"].startswith("this would be refused") and told["call"].startswith("session.median('pay', epsilon=")
    spent = session.spent
    with pytest.raises(eq.RequestError, match="this would be refused") as caught:
        hopeless.release()
    assert caught.value.call == told["call"]
    assert session.spent == spent
    assert hopeless.release(anyway=True).refused
    # Another session has other rows, and whoever asks without one may have any.
    assert eq.Session(PEOPLE).median("pay", epsilon=0.01).release().refused
    assert eq.median(PEOPLE, "pay", epsilon=0.01).refused


def test_the_next_call_is_charged_where_the_first_one_was(tmp_path: Path) -> None:
    """It named neither the session nor the ledger: what was asked next was charged elsewhere."""
    refused = eq.Session(PEOPLE).median("pay", epsilon=0.01).release()
    assert refused.next_step is not None and refused.next_step["call"].startswith("session.")
    with pytest.raises(eq.RequestError) as caught:
        eq.Session(PEOPLE, privacy_unit="town").median("pya", epsilon=1)
    assert caught.value.call == "session.median('pay', epsilon=1).release()"
    ledger = str(tmp_path / "pay.ledger")
    refused = eq.median(PEOPLE, "pay", epsilon=0.01, ledger=ledger, name="people", analyst="ana")
    assert refused.next_step is not None
    call = refused.next_step["call"]
    assert call.endswith(f", ledger={ledger!r}, name='people', analyst='ana')"), call
    eval(call, {"eq": eq, "data": PEOPLE})  # noqa: S307, our own text
    assert refused.receipt["ledger"] is not None


def test_parts_of_a_summary_can_be_left_out() -> None:
    session = eq.Session(PEOPLE)
    session.count(epsilon=10).release()
    with pytest.raises(eq.RequestError, match="some of this would be refused: the quantiles 0.05") as caught:
        session.summary("pay", epsilon=1, interval=True).release()
    assert "no_quantiles=True gives all of epsilon to the others" in str(caught.value)
    assert caught.value.call == "session.summary('pay', epsilon=1, no_quantiles=True).release()"
    release = session.summary("pay", epsilon=1, no_quantiles=True).release()
    assert [answer["statistic"] for answer in release.answers] == ["count", "mean", "standard-deviation"]


def test_questions_of_a_batch_can_be_left_out(tmp_path: Path) -> None:
    path = file_after_a_second(tmp_path)
    eq.count(path, epsilon=10)
    questions = [
        {"statistic": "count"},
        {"statistic": "iqr", "column": "pay"},
        {"statistic": "median", "column": "pay", "epsilon": 0.01},
    ]
    with pytest.raises(eq.RequestError, match="questions 2, 3 would be refused: they take up to about") as caught:
        eq.batch(questions, path, epsilon=0.5)
    assert "leave_out=(2, 3) gives what is shared to the others" in str(caught.value)
    assert caught.value.call is None  # all that was said of the batch would be missing
    release = eq.batch(questions, path, epsilon=0.5, leave_out=[2, 3])
    assert [answer["statistic"] for answer in release.answers] == ["count"]
    assert release.guarantee["epsilon"] == "0.5"
    asked = eq.batch(questions, path, epsilon=0.5, anyway=True)
    assert [answer["outcome"] for answer in asked.answers] == ["released", "refused", "refused"]
    with pytest.raises(eq.RequestError, match="there is no question 4 to leave out"):
        eq.batch(questions, path, epsilon=0.5, leave_out=4)


def test_aggregates_of_a_query_say_where_they_stand(tmp_path: Path) -> None:
    path = file_after_a_second(tmp_path)
    [(n,)] = eq.sql(f"SELECT COUNT(*) FROM '{path}'", epsilon=10)
    assert 280 < n < 320
    query = f"SELECT COUNT(*),\n  IQR(pay) FROM '{path}'"
    with pytest.raises(eq.RequestError, match="line 2, column 3: this would be refused: it takes about") as caught:
        eq.sql(query, epsilon=0.5)
    assert "raise epsilon, leave it out, or give anyway=True" in str(caught.value)
    [(n, spread)] = eq.sql(query, epsilon=0.5, anyway=True)
    assert n > 0 and spread is None


def test_a_batch_is_what_the_command_line_reads(tmp_path: Path) -> None:
    path = people(tmp_path)
    document = tmp_path / "questions.json"
    document.write_text('{"data": "people.csv", "epsilon": 2, "questions": [{"statistic": "count"}, {"statistic": "mean", "column": "pay"}]}')
    release = eq.batch(document)
    assert len(release.answers) == 2 and release.guarantee["epsilon"] == "2"
    same = eq.batch({"epsilon": 2, "questions": [{"statistic": "count"}]}, path, request_id="monday")
    assert eq.batch([{"statistic": "count"}], path, epsilon=2, request_id="monday") == same
    session = eq.Session(PEOPLE, budget=3)
    planned = session.batch([{"statistic": "count"}, {"statistic": "quantile", "column": "pay", "q": [0.1, 0.9], "weight": 2}], epsilon=3)
    assert session.spent["epsilon"] == "0" and planned.summarize()["charge"]["epsilon"] == "3"
    assert len(planned.release().answers) == 2
    for wrong, line in [
        ([{"column": "pay"}], "question 1 is not one"),
        ([{"statistic": "count", "colour": 1}], "question 1: count takes no keyword 'colour'"),
        ("no such file.json", "the questions cannot be read"),
        ({"epsilon": 1}, "a batch has a list of questions"),
    ]:
        with pytest.raises(eq.RequestError, match=line):
            eq.batch(wrong, PEOPLE, epsilon=1)  # type: ignore[arg-type]


def test_a_misspelt_keyword_of_a_query_is_no_table() -> None:
    with pytest.raises(eq.RequestError, match="sql takes no keyword 'epsilonn'"):
        eq.sql("SELECT COUNT(*) FROM people", people=PEOPLE, epsilonn=1)
    for keyword in ("unit", "privacy_unit"):
        rows = eq.sql("SELECT COUNT(*) FROM people", people=PEOPLE, epsilon=8, **{keyword: "town"})
        assert rows.release.guarantee["unit"] == "town", "no table of that name"


def test_a_public_table_may_stand_beside_and_is_not_asked_about() -> None:
    towns = eq.public({"town": ["Ayr", "Bern"]})
    assert len(eq.sql("SELECT COUNT(*) FROM people", people=PEOPLE, towns=towns, epsilon=1)) == 1
    with pytest.raises(eq.RequestError, match="line 1, column 22: the table 'towns' is public"):
        eq.sql("SELECT COUNT(*) FROM towns", people=PEOPLE, towns=towns, epsilon=1)
