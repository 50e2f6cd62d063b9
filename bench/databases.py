"""What a table and a ledger in Postgres cost: a private median beside the server's own `percentile_cont`, and charges a second.

    databases.py median PROGRAM [--rows 10000000]     PROGRAM is `equipoise-postgres`; CPU and peak memory of the program, CPU of the server's process
    databases.py charges [--clients 8] [--each 100]   processes that ask for counts side by side, with a ledger in Postgres and one in a file (the Python package)

Both start a server of their own in a temporary folder and stop it; PostgreSQL's server has to be installed, and psql.
"""

from __future__ import annotations

import argparse
import glob
import json
import multiprocessing
import os
import pwd
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MAKE = """
CREATE TABLE salaries AS
  SELECT round((45000 * exp(0.6 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())))::numeric, 2)::float8 AS salary FROM generate_series(1, {rows});
VACUUM (ANALYZE, FREEZE) salaries;
CREATE ROLE reader LOGIN;
GRANT SELECT ON salaries TO reader;
"""


class Server:
    """A server of Postgres's with a database `staff`, as an ordinary user."""

    def __init__(self, folder: str) -> None:
        binaries = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not binaries and not shutil.which("initdb"):
            sys.exit("databases.py: PostgreSQL's server is not installed")
        self.bin = binaries[-1] if binaries else os.path.dirname(shutil.which("initdb") or "")
        self.folder, self.port = folder, random.randint(20000, 60000)
        self.user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        if os.getuid() == 0:
            shutil.chown(folder, self.user)
        self.server(f"initdb -D {folder}/data -A trust")
        said = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories={folder} -c max_wal_size=4GB"
        self.server(f"pg_ctl -D {folder}/data -w -l {folder}/log -o '{said}' start")
        self.sql("CREATE DATABASE staff", "postgres")

    def server(self, command: str) -> None:
        words = ["su", self.user, "-c", f"{self.bin}/{command}"] if os.getuid() == 0 else ["sh", "-c", f"{self.bin}/{command}"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)

    def sql(self, text: str, database: str = "staff") -> str:
        words = ["psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port), "-U", self.user, database]
        return subprocess.run(words, input=text, check=True, text=True, capture_output=True).stdout

    def stop(self) -> None:
        self.server(f"pg_ctl -D {self.folder}/data -m fast stop")

    def cpu(self) -> float:
        """CPU seconds of the server and of everything that it started and that ended, or still runs."""
        ticks, main = os.sysconf("SC_CLK_TCK"), Path(f"{self.folder}/data/postmaster.pid").read_text().split()[0]
        total = 0
        for stat in glob.glob("/proc/[0-9]*/stat"):
            try:
                words = Path(stat).read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if Path(stat).parent.name == main:
                total += sum(map(int, words[11:15]))
            elif words[1] == main:
                total += sum(map(int, words[11:13]))
        return total / ticks


@contextmanager
def started() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="equipoise-bench.", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        server = Server(folder)
        try:
            yield server
        finally:
            server.stop()


def ran(words: list[str], environment: dict[str, str]) -> tuple[float, float, float]:
    """Seconds, CPU seconds and peak megabytes of a program."""
    begin = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, env={**os.environ, **environment})
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"databases.py: {words[0]} failed")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def median(program: str, rows: int, as_json: bool) -> None:
    own = "SET max_parallel_workers_per_gather = 0; SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY salary) FROM salaries"
    found = []
    with started() as server, tempfile.TemporaryDirectory() as here:
        server.sql(MAKE.format(rows=rows))
        address = f"postgres://reader@127.0.0.1:{server.port}/staff?table=public.salaries"
        question = [program, "median", address, "salary", "--epsilon", "1", "--ledger", f"{here}/test.ledger"]
        for _ in range(5):
            before = server.cpu()
            seconds, client, megabytes = ran(question, {"PGSSLMODE": "disable"})
            between = server.cpu()
            begin = time.monotonic()
            server.sql(own)
            after = server.cpu()
            found.append((client, between - before, after - between, seconds, time.monotonic() - begin, megabytes))
    middle = [sorted(column)[len(found) // 2] for column in zip(*found, strict=True)]
    client, server_cpu, own_cpu, seconds, own_seconds, megabytes = middle
    if as_json:
        print(json.dumps({"rows": rows, "client": client, "server": server_cpu, "own": own_cpu, "megabytes": megabytes}))
        return
    print(f"median of {rows:,} rows, the middle of five runs, in turn:")
    print(f"  equipoise        {client:.2f} CPU s in the program, {server_cpu:.2f} in the server, {seconds:.2f} s, {megabytes:.0f} MB in the program")
    print(f"  percentile_cont  {own_cpu:.2f} CPU s in the server, {own_seconds:.2f} s")
    print(f"  ratio of CPU     {(client + server_cpu) / own_cpu:.2f}")


def client(path: str, ledger: str, each: int, ready: object, begin: object) -> None:
    import equipoise as eq

    session = eq.Session(path, ledger=ledger)
    session.count(epsilon="0.000001").release()
    ready.release()  # type: ignore[attr-defined]
    begin.wait()  # type: ignore[attr-defined]
    for _ in range(each):
        session.count(epsilon="0.000001").release()


def a_second(path: str, ledger: str, clients: int, each: int) -> float:
    """Charges a second with so many clients, each of which waits for its answer before it asks again."""
    context = multiprocessing.get_context("spawn")
    ready, begin = context.Semaphore(0), context.Event()
    processes = [context.Process(target=client, args=(path, ledger, each, ready, begin)) for _ in range(clients)]
    for process in processes:
        process.start()
    for _ in processes:
        ready.acquire()
    began = time.monotonic()
    begin.set()
    for process in processes:
        process.join()
        if process.exitcode != 0:
            sys.exit("databases.py: a client failed")
    return clients * each / (time.monotonic() - began)


def charges(clients: int, each: int, as_json: bool) -> None:
    os.environ["PGSSLMODE"] = "disable"
    with started() as server, tempfile.TemporaryDirectory() as here:
        server.sql("CREATE ROLE steward LOGIN; CREATE ROLE asking LOGIN; GRANT CREATE ON DATABASE staff TO steward")
        path = f"{here}/people.csv"
        Path(path).write_text("salary\n" + "".join(f"{1000 + row}\n" for row in range(100)))
        place = f"127.0.0.1:{server.port}/staff"
        subprocess.run([sys.executable, "-m", "equipoise", "budget", "init", "--ledger", f"postgres://steward@{place}", "--role", "asking"], check=True, stdout=subprocess.DEVNULL)
        found = {}
        for where, ledger in [("Postgres", f"postgres://asking@{place}"), ("a file", f"{here}/test.ledger")]:
            found[where] = {number: a_second(path, ledger, number, each) for number in (1, clients)}
    if as_json:
        print(json.dumps(found))
        return
    print("questions charged, answered and recorded a second, each two commits:")
    for where, speeds in found.items():
        print(f"  {where:<9}" + "".join(f"  {number} client{'s' * (number > 1)}: {speed:.0f}" for number, speed in speeds.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    words = parser.add_subparsers(dest="what", required=True)
    of_median = words.add_parser("median")
    of_median.add_argument("program")
    of_median.add_argument("--rows", type=int, default=10_000_000)
    of_charges = words.add_parser("charges")
    of_charges.add_argument("--clients", type=int, default=8)
    of_charges.add_argument("--each", type=int, default=100)
    said = parser.parse_args()
    if said.what == "median":
        median(os.path.realpath(said.program), said.rows, said.json)
    else:
        charges(said.clients, said.each, said.json)


if __name__ == "__main__":
    main()
