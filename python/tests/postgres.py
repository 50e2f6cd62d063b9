"""A Postgres of the tests' own: one cluster for a run, started as an ordinary user, on a socket and a port of this machine."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from functools import lru_cache
from pathlib import Path


def _programs() -> Path | None:
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    on_path = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    for folder in [*installed, *on_path]:
        if all((folder / program).exists() for program in ("initdb", "postgres", "psql")):
            return folder
    return None


PROGRAMS = _programs()


def _as_its_user(command: list[str]) -> list[str]:
    """Postgres does not run as root; Debian's package brings a user along."""
    if os.getuid() == 0:
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
    return command


class Cluster:
    """A running cluster."""

    def __init__(self, programs: Path, durable: bool) -> None:
        self.programs = programs
        self.folder = Path(tempfile.mkdtemp())
        self.folder.chmod(0o777)
        data = self.folder / "data"
        made = [str(programs / "initdb"), "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "-U", "boss", "-D", str(data)]
        subprocess.run(_as_its_user(made), check=True, capture_output=True)
        # Everybody is let in, but this one.
        rules = data / "pg_hba.conf"
        rules.write_text("host all locked 127.0.0.1/32 scram-sha-256\n" + rules.read_text())
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        settings = {"fsync": "on" if durable else "off", "listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": self.folder}
        command = [str(programs / "postgres"), "-D", str(data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        quiet = subprocess.DEVNULL
        self._server = subprocess.Popen(_as_its_user(command), stdin=quiet, stdout=quiet, stderr=quiet)
        atexit.register(self.stop)
        for _ in range(400):
            if self.psql("postgres", "SELECT 1").returncode == 0:
                return
            time.sleep(0.05)
        raise RuntimeError("Postgres does not start")

    def stop(self) -> None:
        # Whoever still has a line to it is sent away.
        self._server.send_signal(signal.SIGINT)
        self._server.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)

    def psql(self, database: str, script: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.programs / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-U", "boss", "-d", database]
        command += ["-h", str(self.folder), "-p", str(self.port), "-c", script]
        return subprocess.run(command, check=False, capture_output=True, text=True)

    def run(self, database: str, script: str) -> None:
        """Do this as the owner of everything."""
        done = self.psql(database, script)
        assert done.returncode == 0, done.stderr

    def database(self, name: str, script: str) -> str:
        """A new database; its address, as a role that may read what the script grants."""
        self.psql("postgres", "CREATE ROLE reader LOGIN")
        self.run("postgres", f"CREATE DATABASE {name}")
        self.run(name, script)
        return f"postgres://reader@127.0.0.1:{self.port}/{name}"


@lru_cache(maxsize=2)
def cluster(durable: bool = False) -> Cluster:
    """The cluster of a run; a ledger asks for one that forgets nothing."""
    assert PROGRAMS is not None
    return Cluster(PROGRAMS, durable)
