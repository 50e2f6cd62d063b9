"""The same for the Python package: one change at a time, and which of them no test notices.

The package is copied to target/mutants/python with all changes written into it, each behind a question that is answered when
Python starts. First every test runs unchanged and records which changes it reaches; then each change is tried on those tests.
Only the bodies of functions are changed. The compiled part is that of target/python-venv: run python/check first.

    python mutants/python.py [FILE | FILE:LINE]... [--sample N] [--seed S] [--workers N] [--list]
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRATCH = ROOT / "target/mutants/python"
PYTHON = ROOT / "target/python-venv/bin/python"
PACKAGE = "python/package/equipoise"
ENOUGH = 0.95
# Beyond so many times its time a test is taken to hang, on a machine that others use too.
LONGER, AT_LEAST = 20, 200

SWITCH = '''"""Which change is chosen in this process."""
import os
_chosen = os.environ.get("EQUIPOISE_MUTANT")
_chosen = None if _chosen is None else int(_chosen)
_seen = set()
def on(number):
    if _chosen is not None:
        return number == _chosen
    path = os.environ.get("EQUIPOISE_MUTANT_REACHED")
    if path is not None and (path, number) not in _seen:
        _seen.add((path, number))
        try:
            with open(path, "ab") as file:
                file.write(number.to_bytes(4, "little"))
        except OSError:
            pass
    return False
'''

PLUGIN = '''"""Tells the switch which test is running, and writes down how long each took."""
import json, os, time, pytest
folder = os.environ["EQUIPOISE_MUTANT_FOLDER"]
tests = []
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    os.environ["EQUIPOISE_MUTANT_REACHED"] = os.path.join(folder, str(len(tests)))
    begun = time.monotonic()
    tests.append([item.nodeid, 0.0, True])
    yield
    tests[-1][1] = time.monotonic() - begun
def pytest_runtest_logreport(report):
    if not report.passed:
        tests[-1][2] = False
def pytest_sessionfinish():
    with open(os.path.join(folder, "tests.json"), "w") as file:
        json.dump(tests, file)
'''

COMPARED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
REPLACED: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.Pow: ast.Mult,
}  # fmt: skip
CALLED = {"max": "min", "min": "max", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}


class Mutant:
    def __init__(self, file: str, line: int, text: str, change: str) -> None:
        self.file, self.line, self.text, self.change = file, line, text, change


class Writer(ast.NodeTransformer):
    """Writes every change of one file into its tree."""

    def __init__(self, file: str, text: str, mutants: list[Mutant]) -> None:
        self.file, self.lines, self.mutants = file, text.splitlines(), mutants
        self.inside = 0

    def number(self, node: ast.AST, change: str) -> ast.expr:
        line = node.lineno  # type: ignore[attr-defined]
        self.mutants.append(Mutant(self.file, line, self.lines[line - 1].strip(), change))
        name = ast.Name("_equipoise_mutant_on", ast.Load())
        return ast.Call(name, [ast.Constant(len(self.mutants) - 1)], [])

    def either(self, node: ast.expr, changed: ast.expr, was: ast.expr) -> ast.expr:
        short = lambda tree: " ".join(ast.unparse(tree).split())[:60]  # noqa: E731
        return ast.IfExp(self.number(node, f"`{short(node)}` to `{short(changed)}`"), changed, was)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.inside += 1
        # What stands outside a body is worked out on import.
        node.body = [part for old in node.body for part in self.statement(old)]
        self.inside -= 1
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.body = self.visit(node.body)
        return node

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        new = self.visit(node)
        return new if isinstance(new, list) else [new]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if not self.inside or not isinstance(node.value, ast.Call):
            return node if isinstance(node.value, ast.Constant) else self.generic_visit(node)
        change = f"`{' '.join(ast.unparse(node).split())[:60]}` left out"
        test = ast.UnaryOp(ast.Not(), self.number(node, change))
        return ast.If(test, [self.generic_visit(node)], [])  # type: ignore[list-item]

    def visit_If(self, node: ast.If) -> ast.AST:
        alone = self.inside and not node.orelse
        change = f"`if {' '.join(ast.unparse(node.test).split())[:60]}` never"
        chosen = self.number(node, change) if alone else None
        self.generic_visit(node)
        if chosen is not None:
            node.test = ast.BoolOp(ast.And(), [ast.UnaryOp(ast.Not(), chosen), node.test])
        return node

    def expression(self, node: ast.expr, changed: ast.expr | None) -> ast.expr:
        if not self.inside or changed is None:
            return self.generic_visit(node)  # type: ignore[return-value]
        before = copy.deepcopy(node)
        placed = self.either(before, changed, node)
        self.generic_visit(node)
        return placed

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        changed = copy.deepcopy(node)
        changed.ops[0] = COMPARED[type(node.ops[0])]()
        return self.expression(node, changed)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        changed = copy.deepcopy(node)
        by = REPLACED.get(type(node.op))
        if by is None or isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            return self.generic_visit(node)
        changed.op = by()
        return self.expression(node, changed)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return self.expression(node, changed)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        changed = copy.deepcopy(node.operand) if isinstance(node.op, (ast.Not, ast.USub)) else None
        return self.expression(node, changed)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        changed = copy.deepcopy(node)
        if isinstance(node.func, ast.Name) and node.func.id in CALLED:
            changed.func.id = CALLED[node.func.id]  # type: ignore[attr-defined]
        elif isinstance(node.func, ast.Attribute) and node.func.attr in CALLED:
            changed.func.attr = CALLED[node.func.attr]  # type: ignore[attr-defined]
        else:
            return self.generic_visit(node)
        return self.expression(node, changed)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        value = node.value
        if isinstance(value, bool):
            return self.expression(node, ast.Constant(not value))
        if isinstance(value, int) and value <= 4096:
            return self.expression(node, ast.Constant(value + 1))
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node  # words

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return node  # words

    def visit_Match(self, node: ast.Match) -> ast.AST:
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.body = [part for old in case.body for part in self.statement(old)]
        return node


def write_package() -> list[Mutant]:
    installed = next((ROOT / "target/python-venv/lib").glob("python3*/site-packages/equipoise"))
    folder = SCRATCH / "equipoise"
    shutil.rmtree(SCRATCH, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in installed.iterdir():
        if file.suffix != ".py" and file.is_file():
            shutil.copy2(file, folder)
    mutants: list[Mutant] = []
    for file in sorted((ROOT / PACKAGE).glob("*.py")):
        text = file.read_text()
        tree = ast.parse(text)
        Writer(f"{PACKAGE}/{file.name}", text, mutants).visit(tree)
        after = next(i for i, node in enumerate(tree.body) if not introduces(node))
        tree.body.insert(after, ast.parse("from ._mutant import on as _equipoise_mutant_on").body[0])
        (folder / file.name).write_text(ast.unparse(ast.fix_missing_locations(tree)))
    (folder / "_mutant.py").write_text(SWITCH)
    (SCRATCH / "equipoise_mutant_plugin.py").write_text(PLUGIN)
    return mutants


def introduces(node: ast.stmt) -> bool:
    """A docstring, or an import that must stand first."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def run(words: list[str], extra: dict[str, str], limit: float) -> bool | None:
    """Whether pytest passed; None where it hung."""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        environment = {**os.environ, "PYTHONPATH": str(SCRATCH), "TMPDIR": folder, "MPLBACKEND": "Agg", **extra}
        environment |= {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [str(PYTHON), "-m", "pytest", "-x", "-p", "no:cacheprovider", *words]
        process = subprocess.Popen(
            command, cwd=ROOT / "python", env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            return process.wait(limit) == 0
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


def baseline(only: list[str]) -> list[tuple[str, float, set[int]]]:
    folder = SCRATCH / "reached"
    folder.mkdir()
    extra = {"EQUIPOISE_MUTANT_FOLDER": str(folder)}
    run(["-p", "equipoise_mutant_plugin", "--maxfail=1000", *only], extra, 3600)
    found = []
    for at, (name, seconds, passed) in enumerate(json.loads((folder / "tests.json").read_text())):
        data = (folder / str(at)).read_bytes() if (folder / str(at)).exists() else b""
        if passed:
            found.append((name, seconds, {int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)}))
        else:
            print(f"left out, since it fails in the unchanged copy too: {name}", file=sys.stderr)
    return found


def fate(number: int, tests: list[tuple[str, float, set[int]]]) -> str:
    reaching = sorted((seconds, name) for name, seconds, reaches in tests if number in reaches)
    # Quick ones first; loading the libraries takes longer than most of them.
    for batch in batches(reaching):
        limit = LONGER * sum(seconds for seconds, _ in batch) + AT_LEAST
        passed = run([name for _, name in batch], {"EQUIPOISE_MUTANT": str(number)}, limit)
        if not passed:
            return "noticed"
    return "not noticed" if reaching else "not noticed (no test runs this line)"


def batches(tests: list[tuple[float, str]]) -> Iterator[list[tuple[float, str]]]:
    batch: list[tuple[float, str]] = []
    for seconds, name in tests:
        if batch and sum(other for other, _ in batch) + seconds > 20:
            yield batch
            batch = []
        batch.append((seconds, name))
    if batch:
        yield batch


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("wanted", nargs="*")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--tests", nargs="*", default=[], help="only these files of tests")
    said = parser.parse_args()
    mutants = write_package()
    entries = [one for one in json.loads((ROOT / "mutants/equivalent.json").read_text()) if one["file"].endswith(".py")]
    listed = {(one["file"], one["line"], one["change"]) for one in entries}
    if stale := listed - {(one.file, one.text, one.change) for one in mutants}:
        print(f"mutants: mutants/equivalent.json speaks of lines that are gone; delete {sorted(stale)}", file=sys.stderr)
        return 2
    wanted = lambda one: not said.wanted or {one.file, f"{one.file}:{one.line}"} & set(said.wanted)  # noqa: E731
    possible = [number for number, one in enumerate(mutants) if wanted(one)]
    if said.list:
        for number in possible:
            print(f"{mutants[number].file}:{mutants[number].line}: {mutants[number].change}")
        return 0
    tests = baseline(said.tests)
    print(f"{len(tests)} tests, {len(possible)} changes", file=sys.stderr)
    tried = sorted(random.Random(said.seed).sample(possible, min(said.sample or len(possible), len(possible))))

    def one(number: int) -> str:
        mutant = mutants[number]
        found = "equivalent" if (mutant.file, mutant.text, mutant.change) in listed else fate(number, tests)
        if found.startswith("not "):
            print(f"{mutant.file}:{mutant.line}: {mutant.change}: {found}", file=sys.stderr, flush=True)
        return found

    with ThreadPoolExecutor(said.workers) as pool:
        fates = list(pool.map(one, tried))
    return report(mutants, possible, list(zip(tried, fates)))


def report(mutants: list[Mutant], possible: list[int], fates: list[tuple[int, str]]) -> int:
    rows: dict[str, list[int]] = {}
    for number in possible:
        rows.setdefault(mutants[number].file, [0, 0, 0, 0, 0])[0] += 1
    for number, found in fates:
        row = rows[mutants[number].file]
        row[1] += 1
        row[2 if found == "noticed" else 4 if found == "equivalent" else 3] += 1
    rows["all"] = [sum(column) for column in zip(*rows.values())]
    print(f"{'':<44}{'changes':>8}{'tried':>8}{'noticed':>9}{'not noticed':>12}{'equivalent':>12}{'noticed':>10}")
    share = 1.0
    for name, (points, tried, noticed, unnoticed, equivalent) in rows.items():
        share = noticed / (noticed + unnoticed) if noticed + unnoticed else 1.0
        print(f"{name:<44}{points:>8}{tried:>8}{noticed:>9}{unnoticed:>12}{equivalent:>12}{100 * share:>8.1f} %")
    unnoticed_ones = [(number, found) for number, found in fates if found.startswith("not ")]
    if unnoticed_ones:
        print("\nnot noticed:")
        for number, found in unnoticed_ones:
            print(f"{mutants[number].file}:{mutants[number].line}: {mutants[number].change}{found[len('not noticed'):]}")
    entries = [
        {"file": one.file, "line_number": one.line, "line": one.text, "change": one.change, "fate": found}
        for one, found in ((mutants[number], found) for number, found in fates)
    ]
    text = json.dumps({"changes": len(possible), "tried": entries}, indent=1)
    (ROOT / "target/mutants/report_python.json").write_text(text)
    return 0 if share >= ENOUGH else 1


if __name__ == "__main__":
    sys.exit(main())
