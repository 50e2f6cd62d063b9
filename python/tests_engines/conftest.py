"""Spark with real executors, as processes, on a small disk of its own: one for all tests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = 4000


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of people with missing numbers, zeros of both signs and groups of several sizes."""
    generator = np.random.default_rng(7)
    pay = np.exp(generator.normal(10, 1, ROWS))
    pay[::97], pay[5::301] = np.nan, -0.0
    table = pa.table({"pay": pay, "town": generator.choice(["ayr", "bute", "cull", ""], ROWS), "person": (generator.integers(0, 1000, ROWS)).astype(str)})
    path = tmp_path_factory.mktemp("spark") / "people.parquet"
    pq.write_table(table, path, row_group_size=1000)
    return path


class Disk(NamedTuple):
    """A folder that can be full."""

    folder: Path
    is_small: bool

    def fill(self) -> None:
        with open(self.folder / "full", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError:
                pass

    def free(self) -> None:
        (self.folder / "full").unlink(missing_ok=True)


@pytest.fixture(scope="session")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    """A disk of 96 MB in memory, where this user may mount one."""
    folder = tmp_path_factory.mktemp("disk")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m", "equipoise", str(folder)], capture_output=True, check=False)
    yield Disk(folder, mounted.returncode == 0)
    if mounted.returncode == 0:
        subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="session")
def port() -> int:
    """Where other processes reach the same Spark."""
    return free_port()


@pytest.fixture(scope="session")
def spark(disk: Disk, port: int) -> Iterator[Any]:
    import pyspark
    from pyspark.sql import SparkSession

    os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.local.dir": str(disk.folder),
        # Where executors find the functions of the tests.
        "spark.executorEnv.PYTHONPATH": str(Path(__file__).parent),
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        # Queries are many and small here: to compile each costs more than to run it. `python/engines --all` compiles.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.ui.showConsoleProgress": "false",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.task.maxFailures": "8",
        # What is gone is given up soon.
        "spark.shuffle.io.maxRetries": "1",
        "spark.shuffle.io.retryWait": "200ms",
        "spark.network.timeout": "20s",
        "spark.network.timeoutInterval": "5s",
        "spark.rpc.askTimeout": "10s",
        "spark.rpc.lookupTimeout": "10s",
        "spark.executor.heartbeatInterval": "3s",
        "spark.deploy.maxExecutorRetries": "-1",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,512]").appName("equipoise")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
