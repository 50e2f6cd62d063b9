"""The console in a real browser: a steward, an analyst and a reviewer, with and without script.

    python3 crates/server/tests/browser/check.py target/debug/equipoise-server [FOLDER FOR PICTURES]
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from chromium import Chromium

CONTROLS = {"button", "link", "textbox", "combobox", "checkbox", "searchbox", "image", "meter", "table"}


def started(program):
    """A demonstration server: the process, its address and the links by role."""
    process = subprocess.Popen([program, "serve", "--demo", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    address, links = None, {}
    for line in process.stdout:
        if found := re.match(r"listening at (\S+)", line):
            address = found[1]
        if found := re.match(r"\s+(steward|analyst|reviewer)\s+(\S+)", line):
            links[found[1]] = found[2]
        if len(links) == 3:
            return process, address, links
    raise AssertionError("the server did not start")


class Visit:
    """A browser on the pages of one server."""

    def __init__(self, browser, address, pictures):
        self.browser, self.address, self.pictures, self.count = browser, address, pictures, 0

    def looked_at(self, name):
        """Whatever holds for every page."""
        browser = self.browser
        nodes = browser.nodes()
        unnamed = [role for role, text in nodes if role in CONTROLS - {"table"} and not text.strip()]
        assert not unnamed, f"{name}: without a name: {unnamed}"
        assert ("main", "") in nodes or any(role == "main" for role, _ in nodes), f"{name}: no main part"
        assert sum(role == "heading" for role, _ in nodes) >= 1, f"{name}: no heading"
        assert browser.run("document.documentElement.lang") == "en"
        for width in (1000, 360):
            browser.wide(width)
            assert browser.run("document.documentElement.scrollWidth <= innerWidth"), f"{name}: wider than a window of {width}"
        for scheme in ("light", "dark"):
            browser.picture(self.pictures / f"{name}-{scheme}.png", scheme)
        self.count += 1

    def sign_in(self, link):
        self.browser.open(link)
        self.browser.press("main button")
        assert self.browser.where().startswith(f"{self.address}/data-sets"), self.browser.where()

    def sign_out(self):
        self.browser.press("header .who button")
        assert self.browser.where() == f"{self.address}/sign-in"


def steward(visit, links):
    browser = visit.browser
    browser.open(f"{visit.address}/data-sets")
    assert browser.where() == f"{visit.address}/sign-in", "nobody sees anything"
    visit.looked_at("sign-in")
    browser.open(links["steward"])
    visit.looked_at("sign-in-by-link")
    visit.sign_in(links["steward"])
    visit.looked_at("data-sets-steward")
    browser.key("Tab", 9)
    assert browser.run("document.activeElement.className") == "skip", "the first key leads past the menu"
    browser.open(f"{visit.address}/data-sets/salaries")
    visit.looked_at("data-set-steward")
    browser.run("document.querySelector('#limits + form [name=epsilon]').value = '4';"
                "document.querySelector('#limits + form [name=delta]').value = '1e-5'; 1")
    browser.press("#limits + form button")
    assert "epsilon 4" in browser.text()
    browser.press("#sharing + form button")
    assert "Stop sharing answers" in browser.text()
    browser.open(f"{visit.address}/members")
    browser.run("document.querySelector('#name').value = '<b>eve'; document.querySelector('#role').value = 'reviewer'; 1")
    browser.press("#invite + form button")
    assert "/sign-in/eq_" in browser.text() and "<b>eve" in browser.text()
    visit.looked_at("members")
    visit.sign_out()


def analyst(visit, links, script):
    browser, name = visit.browser, "" if script else "-without-script"
    visit.sign_in(links["analyst"])
    visit.looked_at(f"data-sets{name}")
    browser.press("a.button")
    if script:
        browser.run("(() => { for (const [id, value] of [['column', 'salary'], ['epsilon', '0.5']]) {"
                    " const it = document.getElementById(id); it.value = value;"
                    " it.dispatchEvent(new Event('input', {bubbles: true})); } return 1; })()")
        browser.until("document.getElementById('plan').innerText.includes('Costs epsilon 0.5')")
    browser.open(f"{visit.address}/data-sets/salaries/ask?statistic=median&column=salary&epsilon=0.5")
    assert "Costs epsilon 0.5" in browser.text() and "more like it" in browser.text(), browser.text()
    visit.looked_at(f"ask{name}")
    browser.press("#plan form[method=get] button")
    assert "On made-up rows, free" in browser.text() and "mean nothing" in browser.text(), browser.text()
    visit.looked_at(f"rehearsal{name}")
    if not script:
        # The same question was answered before, and is offered without a charge.
        assert "Already answered, free" in browser.text() and "You have seen it" in browser.text()
        browser.press("form.already button")
        assert "Receipt" in browser.text(), browser.text()
        browser.open(f"{visit.address}/data-sets/salaries/ask?statistic=median&column=salary&epsilon=0.4")
    browser.press("#plan form[method=post]:not(.already) button")
    assert "/answers/" in browser.where()
    assert "Waiting for the answer" in browser.text(), browser.text()
    visit.looked_at(f"waiting{name}")
    browser.until("document.body.innerText.includes('Receipt')", 15)
    assert browser.run("(() => { const it = document.querySelector('img.picture'); return it.complete && it.naturalWidth > 100; })()")
    visit.looked_at(f"answer{name}")
    if script:
        browser.open(f"{visit.address}/data-sets/salaries/ask?statistic=median&column=salry&epsilon=0.5")
        assert "salry" in browser.text()
        visit.looked_at("ask-wrong")
        browser.open(f"{visit.address}/data-sets/salaries/ask?statistic=median&column=salary&epsilon=3.9")
        browser.press("#plan form[method=post] button")
        assert "Over budget" in browser.text() and "Who spent what" in browser.text(), browser.text()
        visit.looked_at("over-budget")
        for path, title in [("/review", "Not allowed"), ("/members", "Not allowed"), ("/data-sets/none", "Not found"), ("/none", "Not found")]:
            browser.open(visit.address + path)
            assert title in browser.text(), f"{path}: {browser.text()}"
        visit.looked_at("not-found")
        browser.open(f"{visit.address}/account")
        visit.looked_at("account")
        would_be_refused(visit)
        query(visit)
        program(visit)
        monitor(visit)
    visit.sign_out()


def would_be_refused(visit):
    """After a count: that there are too few rows for a median stands beside the button, while typing, and on the tab for SQL."""
    browser = visit.browser
    browser.open(f"{visit.address}/data-sets/salaries/ask?statistic=count&epsilon=0.1")
    browser.press("#plan form[method=post] button")
    browser.until("document.body.innerText.includes('Receipt')", 15)
    browser.open(f"{visit.address}/data-sets/salaries/ask")
    browser.run("(() => { for (const [id, value] of [['column', 'salary'], ['epsilon', '0.001']]) {"
                " const it = document.getElementById(id); it.value = value;"
                " it.dispatchEvent(new Event('input', {bubbles: true})); } return 1; })()")
    browser.until("document.getElementById('plan').innerText.includes('By earlier answers this would be refused')")
    browser.open(f"{visit.address}/data-sets/salaries/ask?statistic=median&column=salary&epsilon=0.001")
    assert "By earlier answers this would be refused: it takes about" in browser.text(), browser.text()
    visit.looked_at("ask-refused")
    browser.press("#plan .notice a")
    assert "Costs epsilon 0." in browser.text() and "By earlier answers" not in browser.text(), browser.text()
    browser.open(f"{visit.address}/data-sets/salaries/sql?query=SELECT+WITH+DIFFERENTIAL_PRIVACY+OPTIONS(epsilon=0.001)+MEDIAN(salary)+FROM+salaries")
    assert "By earlier answers this would be refused" in browser.text(), browser.text()
    visit.looked_at("sql-refused")


def query(visit):
    """The tab for SQL: a wrong query, a plan, and rows."""
    browser = visit.browser
    browser.open(f"{visit.address}/data-sets/salaries/sql")
    browser.run("document.querySelector('#query').value = 'SELECT town FROM salaries'; 1")
    browser.press("main form button")
    assert "line 1, column 8" in browser.text(), browser.text()
    text = ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, delta=1e-6) town, COUNT(*) AS people "
            "FROM salaries GROUP BY town ORDER BY people DESC LIMIT 3")
    browser.run(f"document.querySelector('#query').value = {text!r}; 1")
    browser.press("main form button")
    assert "Costs epsilon 0.5" in browser.text(), browser.text()
    visit.looked_at("sql")
    browser.press("#plan form button")
    browser.until("document.body.innerText.includes('Receipt')", 15)
    assert "The rows of the query" in browser.text(), browser.text()
    visit.looked_at("sql-answer")


def program(visit):
    """A program that the steward of the demonstration allows: its plan, and that it is waited for."""
    browser = visit.browser
    browser.open(f"{visit.address}/data-sets/salaries/programs")
    if "typical-salary" not in browser.text():
        print("SKIPPED: no sandbox can be built here, so there is no program to look at")
        return
    browser.run("document.querySelector('#epsilon').value = '0.25'; 1")
    browser.press("main form button")
    assert "Costs epsilon 0.25" in browser.text() and "60 blocks" in browser.text(), browser.text()
    visit.looked_at("program")
    browser.press("#plan form button")
    assert "Waiting for the answer" in browser.text(), browser.text()
    browser.open(f"{visit.address}/data-sets/salaries/programs?program=none&epsilon=1")
    assert "no program 'none'" in browser.text(), browser.text()


def monitor(visit):
    """A monitor: begun, asked, and what it answered, by keyboard where that matters."""
    browser = visit.browser
    browser.open(f"{visit.address}/monitors")
    assert "There are none" in browser.text()
    browser.open(f"{visit.address}/data-sets/salaries/watch?epsilon=0.2&delta=")
    assert "a monitor needs a" in browser.text(), browser.text()
    browser.open(f"{visit.address}/data-sets/salaries/watch?epsilon=0.2&delta=1e-6&budget_per_unit=1")
    assert "Costs epsilon 0.2" in browser.text(), browser.text()
    visit.looked_at("watch")
    browser.press("#plan form button")
    assert "/monitors/" in browser.where() and "Nothing was asked yet" in browser.text(), browser.text()
    browser.run("document.querySelector('#where').value = 'salry > 5'; document.querySelector('#threshold').value = '10'; 1")
    browser.press("main form button")
    assert "salry" in browser.run("document.querySelector('[role=alert]').innerText"), browser.text()
    for where, threshold, answer in [("salary > 0", "10", "yes, above"), ("salary < 0", "4000", "no, below")]:
        browser.run(f"document.querySelector('#where').value = '{where}'; document.querySelector('#threshold').value = '{threshold}';"
                    "document.querySelector('#threshold').focus(); 1")
        browser.enter()
        assert answer in browser.text(), browser.text()
    visit.looked_at("monitor")
    browser.open(f"{visit.address}/monitors")
    visit.looked_at("monitors")


def reviewer(visit, links):
    browser = visit.browser
    visit.sign_in(links["reviewer"])
    browser.open(f"{visit.address}/monitors")
    browser.press("tbody a")
    assert "yes, above" in browser.text() and "Ask, free" not in browser.text(), "reviewers read, and ask nothing"
    browser.open(f"{visit.address}/review")
    assert "charged epsilon 0.5 for median salary" in browser.text(), browser.text()
    assert "Not verified since" in browser.text()
    browser.press("form[action='/review/verify'] button")
    assert "VERIFIED at" in browser.text() and "A witness agreed with the ledger" in browser.text(), browser.text()
    assert "they have not run here yet" in browser.text()
    visit.looked_at("review")
    browser.open(f"{visit.address}/review?who=nobody")
    assert "charged epsilon 0.5" not in browser.text()
    visit.sign_out()


def main():
    began = time.monotonic()
    program, *rest = sys.argv[1:]
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "no Chromium is installed"
    pictures = Path(rest[0] if rest else tempfile.mkdtemp(prefix="equipoise-pictures-"))
    pictures.mkdir(parents=True, exist_ok=True)
    process, address, links = started(program)
    try:
        browser = Chromium(chromium)
        try:
            visit = Visit(browser, address, pictures)
            steward(visit, links)
            analyst(visit, links, script=True)
            browser.without_script(True)
            analyst(visit, links, script=False)
            browser.without_script(False)
            reviewer(visit, links)
        finally:
            browser.close()
    finally:
        process.terminate()
        process.wait(10)
    foreign = [url for url in browser.requests if not url.startswith((address, "about:", "data:"))]
    assert not foreign, f"requests elsewhere: {foreign}"
    # Pages that are meant to be refused are told by the browser as such.
    meant = re.compile(r"the server responded with a status of (400|401|403|404|409)")
    complaints = [text for text in browser.complaints if not meant.search(text)]
    assert not complaints, f"the browser complains: {complaints}"
    assert len(browser.requests) > 40, "hardly anything was asked for: this looked at nothing"
    print(f"{visit.count} pages, light and dark, {len(browser.requests)} requests, {time.monotonic() - began:.1f} s; pictures in {pictures}")


if __name__ == "__main__":
    main()
