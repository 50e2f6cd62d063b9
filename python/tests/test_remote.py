"""Data behind a server: the same releases, sessions and errors, over real sockets."""

import json
import os
import re
import subprocess
import urllib.request
from pathlib import Path

import pytest

import equipoise as eq

ROOT = Path(__file__).resolve().parents[2]
SERVER = Path(os.environ.get("EQUIPOISE_SERVER", ROOT / "target/debug/equipoise-server"))
# Where a server is named it has to be there: `./test` names the one that its tests in Rust have built.
pytestmark = pytest.mark.skipif(
    "EQUIPOISE_SERVER" not in os.environ and not SERVER.exists(), reason="equipoise-server is built by the tests in Rust"
)


@pytest.fixture(scope="module")
def server():
    """A demonstration, and a token of its analyst."""
    process = subprocess.Popen(
        [SERVER, "serve", "--demo", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    url = secret = None
    for line in process.stdout:
        if found := re.match(r"listening at (\S+)", line):
            url = found[1]
        if found := re.search(r"analyst\s+\S+/sign-in/(\S+)", line):
            secret = found[1]
        if "Ctrl-C" in line:
            break

    def post(path, body, **headers):
        said = {"Content-Type": "application/json", "Origin": url, **headers}
        asked = urllib.request.Request(url + path, json.dumps(body).encode(), said)
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return json.load(answer), answer.headers

    _, headers = post("/v1/sessions", {"secret": secret})
    token, _ = post("/v1/me/tokens", {}, Cookie=headers["Set-Cookie"].split(";")[0])
    yield eq.connect(url, token=token["token"])
    process.terminate()
    process.wait(10)


def test_a_data_set_goes_where_a_table_goes(server):
    assert list(server) == ["salaries"]
    salaries = server["salaries"]
    assert salaries.columns == ["person", "town", "department", "salary", "visits"]
    release = eq.median(salaries, "salary", epsilon=0.5, request_id="monday")
    assert 30_000 < float(release) < 60_000, "64 ranks of 5,000 rows"
    assert release.receipt["ledger"] is not None
    again = eq.median(salaries, "salary", epsilon=0.5, request_id="monday")
    assert again.value == release.value and again.receipt == release.receipt
    with pytest.raises(eq.RequestError, match="another request"):
        eq.median(salaries, "salary", epsilon=0.4, request_id="monday")


def test_a_session_plans_for_free_and_knows_what_is_left(server):
    session = eq.Session(server["salaries"])
    before = session.spent["epsilon"]
    query = session.count(epsilon=0.1)
    assert query.summarize()["charge"]["epsilon"] == "0.1"
    assert session.spent["epsilon"] == before
    assert 4_000 < query.release().value < 6_000
    assert float(session.spent["epsilon"]) == pytest.approx(float(before) + 0.1)
    groups = session.group_by("town", keys=["Arden", "Elsfield"]).count(epsilon=0.1).release()
    assert len(groups.groups) == 2


def test_several_questions_for_one_price(server):
    salaries = server["salaries"]
    questions = [{"statistic": "count"}, {"statistic": "median", "column": "salary"}, {"statistic": "mean", "column": "visits"}]
    release = eq.batch(questions, salaries, epsilon=0.2, leave_out=3, request_id="several")
    assert [answer["statistic"] for answer in release.answers] == ["count", "median"]
    assert release.guarantee["epsilon"] == "0.2" and 4_000 < release.answers[0]["value"] < 6_000
    again = eq.batch(questions, salaries, epsilon=0.2, leave_out=3, request_id="several")
    assert again.receipt == release.receipt
    planned = eq.Session(salaries).batch(questions, epsilon=0.1)
    assert planned.summarize()["charge"]["epsilon"] == "0.1"
    with pytest.raises(eq.RequestError, match="no question 4"):
        eq.batch(questions, salaries, epsilon=0.1, leave_out=4)
    with pytest.raises(eq.RequestError, match="analyst="):
        eq.batch(questions, salaries, epsilon=0.1, analyst="bob")


def test_errors_are_those_of_data_that_lies_here(server):
    salaries = server["salaries"]
    with pytest.raises(eq.BudgetError) as over:
        eq.count(salaries, epsilon=4)
    assert "epsilon" in over.value.remaining
    with pytest.raises(eq.RequestError, match="salry"):
        eq.median(salaries, "salry", epsilon=0.1)
    with pytest.raises(eq.RequestError, match="ledger="):
        eq.count(salaries, epsilon=0.1, ledger="x.ledger")
    with pytest.raises(eq.RequestError, match="leave them out"):
        eq.Session(salaries, budget=1)
    with pytest.raises(eq.RequestError, match="nothing that you may see"):
        server["payroll"]
    with pytest.raises(eq.RequestError, match="sign in"):
        list(eq.connect(server.url, token="eq_0"))


def test_a_token_is_sent_to_its_server_alone():
    with pytest.raises(eq.RequestError, match="https"):
        eq.connect("http://answers.example.org", token="eq_0")
    for url in ["", "ftp://x", "answers.example.org"]:
        with pytest.raises(eq.RequestError, match="address"):
            eq.connect(url, token="eq_0")
    for token in ["", "a b", "a\nX-Other: 1", "é"]:
        with pytest.raises(eq.RequestError, match="token"):
            eq.connect("https://answers.example.org", token=token)


def test_simulation_is_on_made_up_rows_and_free(server):
    salaries = server["salaries"]
    before = salaries.balance()["spent"]
    tried = eq.simulate("median", salaries, "salary", epsilon=1, trials=20)
    assert len(tried) == 20 and len(tried.errors) == 20 and tried.series
    assert all(0 <= value < 1000 for value in tried.released), "salaries lie above, made-up numbers below"
    grouped = eq.simulate("count", salaries, group_by="town", epsilon=2, delta=1e-6, trials=3)
    assert {key["key"] for key in grouped.values[0]} <= {f"made up {number}" for number in range(20)}
    with pytest.raises(eq.RequestError, match="trials"):
        eq.simulate("median", salaries, "salary", epsilon=1, trials=1001)
    with pytest.raises(eq.RequestError, match="salry"):
        eq.simulate("median", salaries, "salry", epsilon=1)
    assert salaries.balance()["spent"] == before


def test_a_monitor_is_kept_by_the_server(server):
    salaries = server["salaries"]
    before = float(salaries.balance()["spent"]["epsilon"])
    monitor = eq.ThresholdMonitor(salaries, epsilon=0.5, delta=1e-6, budget_per_unit=2)
    assert monitor.ask("salary >= 0", 500) is True
    assert monitor.ask("salary < 0", 3000) is False
    assert [line["answer"] for line in monitor.earlier] == ["above", "below"]
    assert monitor.scale > 0 and not monitor.resumed
    with pytest.raises(eq.RequestError, match="salry"):
        monitor.ask("salry > 3", 5)
    with pytest.raises(eq.RequestError, match="asked with a text"):
        monitor.ask(lambda rows: rows["salary"] > 3, 5)
    with pytest.raises(eq.RequestError, match="leave them out"):
        eq.ThresholdMonitor(salaries, epsilon=0.1, delta=1e-6, budget_per_unit=2, name="x")
    assert float(salaries.balance()["spent"]["epsilon"]) == pytest.approx(before + 0.5)


def test_sql_about_data_behind_a_server(server):
    salaries = server["salaries"]
    query = "SELECT town, COUNT(*) AS n FROM people GROUP BY town ORDER BY n DESC LIMIT 2"
    before = float(salaries.balance()["spent"]["epsilon"])
    rows = eq.sql(query, people=salaries, epsilon=0.3, delta=1e-7, request_id="sql")
    assert rows.columns == ["town", "n"] and len(rows) == 2
    assert all(isinstance(town, str) and n > 100 for town, n in rows)
    assert rows.errors[0][1]["kind"] == "noise" and rows.release.guarantee["unit"] == "person"
    again = eq.sql(query, people=salaries, epsilon=0.3, delta=1e-7, request_id="sql")
    assert list(again) == list(rows) and again.release.receipt == rows.release.receipt
    assert float(salaries.balance()["spent"]["epsilon"]) == pytest.approx(before + 0.3)
    with pytest.raises(eq.RequestError, match="line 1, column 8"):
        eq.sql("SELECT town FROM people", people=salaries, epsilon=0.1)
    with pytest.raises(eq.RequestError, match="salry"):
        eq.sql("SELECT AVG(salry) FROM people", people=salaries, epsilon=0.1)
    with pytest.raises(eq.RequestError, match="ledger="):
        eq.sql(query, people=salaries, epsilon=0.1, delta=1e-7, ledger="x.ledger")
    with pytest.raises(eq.BudgetError):
        eq.sql("SELECT COUNT(*) FROM people", people=salaries, epsilon=4)


def test_a_program_of_a_server_is_asked_for_by_its_name(server):
    salaries = server["salaries"]
    if not salaries.programs:
        pytest.skip("no sandbox can be built here")
    assert salaries.programs == ["typical-salary"]
    plan = eq.run_program("typical-salary", salaries, epsilon=0.3, dry_run=True)
    assert plan["charge"]["epsilon"] == "0.3" and plan["answer_time"] > 2 and "60 blocks" in plan["expected"]
    release = eq.run_program("typical-salary", salaries, epsilon=0.3, request_id="program")
    assert release.statistic == "program" and release.mechanism == "subsample, programs confined"
    assert release.to_dict()["blocks"]["count"] == 60
    again = eq.run_program("typical-salary", salaries, epsilon=0.3, request_id="program")
    assert again.receipt == release.receipt
    with pytest.raises(eq.RequestError, match="no program 'other'"):
        eq.run_program("other", salaries, epsilon=0.3)
    with pytest.raises(eq.RequestError, match="named by its stewards"):
        eq.run_program(["sh", "x.sh"], salaries, epsilon=0.3)
    with pytest.raises(eq.RequestError, match="range="):
        eq.run_program("typical-salary", salaries, epsilon=0.3, range=(0, 1))
    with pytest.raises(eq.RequestError, match="output="):
        eq.run_program(["sh", "x.sh"], {"a": [1.0]}, epsilon=1)


def test_the_last_answer_is_a_witness(server):
    assert server.witness is not None and re.fullmatch(r"[0-9a-f.]+", server.witness)
    again = eq.connect(server.url, token=server._token, witness=server.witness)
    assert list(again) == ["salaries"]
    for wrong in ["", "a b", "x\r\nSet-Cookie: a=1"]:
        with pytest.raises(eq.RequestError, match="witness"):
            eq.connect(server.url, token=server._token, witness=wrong)


def test_a_server_takes_no_function_and_no_statement_of_an_analyst(server):
    salaries = server["salaries"]
    for call in [
        lambda: eq.noise(len, data=salaries, sensitivity=1, epsilon=1),
        lambda: eq.choose(lambda option, rows: 0, [1, 2], data=salaries, sensitivity=1, epsilon=1),
        lambda: eq.stable(1, rows_to_change=9, data=salaries, epsilon=1, delta=1e-6),
        lambda: eq.graph(salaries, "edges", adjacency="edge", epsilon=1),
        lambda: eq.subsample(len, salaries, epsilon=1, output="number", range=(0, 1)),
    ]:
        with pytest.raises(eq.RequestError, match="a server runs no function of yours"):
            call()
