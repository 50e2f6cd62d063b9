"""Broken files end in an exception of ours, never in the end of the interpreter.

``EQUIPOISE_MUTATED_FILES=20000 pytest tests/test_broken_files.py -s`` takes as many of each format.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

import equipoise as eq

ROWS = 60
REPEATED = 40

# Runs in an interpreter of its own with little memory: the files in a folder, each broken in many ways.
SURVIVOR = r"""
import json, random, resource, sys
from pathlib import Path

import equipoise as eq

folder, each = Path(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
EXTREMES = [0, 1, -1, 2**63 - 1, -(2**63), 2**31 - 1, -(2**31), 2**32 - 1, 2**40, 2**61, 28 * 10**17, 127, 255]

def mutated(whole, other, seed):
    numbers, data = random.Random(seed), bytearray(whole)
    for _ in range(numbers.randint(1, 3)):
        if not data:
            break
        near = numbers.randrange(min(len(data), 400))
        at = numbers.choice([near, len(data) - 1 - near, numbers.randrange(len(data)), numbers.randrange(len(data))])
        extreme = numbers.choice(EXTREMES)
        way = numbers.randrange(8)
        if way <= 1:
            data[at] ^= 1 << numbers.randrange(8)
        elif way == 2:
            data[at & ~7 : (at & ~7) + 8] = (extreme & 2**64 - 1).to_bytes(8, "little")
        elif way == 3:
            data[at & ~3 : (at & ~3) + 4] = (extreme & 2**32 - 1).to_bytes(4, "little")
        elif way == 4:
            data[at : at + 5] = b"\xff\xff\xff\xff\x0f"
        elif way == 5:
            del data[at:]
        elif way == 6:
            del data[at : at + numbers.randint(1, 64)]
        else:
            start = numbers.randrange(len(other))
            piece = other[start : start + numbers.randint(1, 100)]
            data[at : at + len(piece)] = piece
    return bytes(data)

QUESTIONS = [
    lambda path: eq.count(path, epsilon=1),
    lambda path: eq.median(path, "x", epsilon=1),
    lambda path: eq.mean(path, "x", epsilon=1),
    lambda path: eq.histogram(path, "kind", epsilon=1, delta=1e-6),
    lambda path: eq.median(path, "n", group_by="kind", epsilon=1, delta=1e-6),
]
originals = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
formats = sorted({name.split(".", 1)[1] for name in originals})
work = folder.parent / "work"
ends = {}
for format in formats:
    names = [name for name in originals if name.split(".", 1)[1] == format]
    for seed in range(each):
        if seed % 200 == 0:
            place = work / f"{format}-{seed}"
            place.mkdir(parents=True)
        name = names[seed % len(names)]
        other = list(originals.values())[(seed * 31 + 7) % len(originals)]
        path = place / name
        path.write_bytes(mutated(originals[name], other, seed))
        try:
            release = QUESTIONS[seed % len(QUESTIONS)](path)
            end = "refused" if getattr(release, "refused", False) else "released"
        except eq.EquipoiseError as error:
            text = str(error)
            assert "\n" not in text and "panic" not in text and len(text) < 2000, text
            end = type(error).__name__
        key = f"{format} {end}"
        ends[key] = ends.get(key, 0) + 1
print(json.dumps(ends))
"""


def write_originals(folder: Path) -> None:
    """The same table by writers that are not ours."""
    folder.mkdir()
    table = pa.table(
        {
            "x": pa.array([None if k % 5 == 0 else k * 1.5 for k in range(ROWS)], pa.float64()),
            "n": pa.array([k * 1_000_003 for k in range(ROWS)], pa.int64()),
            "kind": pa.array([["red", "green", "blue"][k % 3] for k in range(ROWS)]).dictionary_encode(),
            "name": pa.array([f"name {k * k}" for k in range(ROWS)]),
            "tags": pa.array([[k] * (k % 3) for k in range(ROWS)]),
        }
    )
    for codec in ("none", "snappy", "gzip", "lz4", "zstd"):
        for version in ("1.0", "2.0"):
            for dictionary in (True, False):
                name = f"{codec}-{version[0]}-{dictionary}.parquet"
                pq.write_table(
                    table, folder / name, compression=codec, data_page_version=version,
                    use_dictionary=dictionary, row_group_size=25, data_page_size=100,
                )  # fmt: skip
    deltas = {"n": "DELTA_BINARY_PACKED", "name": "DELTA_BYTE_ARRAY", "x": "BYTE_STREAM_SPLIT"}
    flat = table.select(["x", "n", "name"]).append_column("kind", table["kind"].cast(pa.string()))
    pq.write_table(flat, folder / "delta.parquet", use_dictionary=False, column_encoding=deltas)
    for packing in (None, "lz4", "zstd"):
        options = ipc.IpcWriteOptions(compression=packing)
        with ipc.new_file(folder / f"{packing}.arrow", table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=25)
        with ipc.new_stream(folder / f"{packing}.arrows", table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=25)
        feather.write_feather(table, folder / f"{packing}.feather", compression=packing or "uncompressed")
    frame = pl.from_arrow(flat)
    assert isinstance(frame, pl.DataFrame)
    frame.write_ipc(folder / "polars.arrow", compression="zstd")
    frame.with_columns(pl.col("kind").cast(pl.Categorical)).write_ipc(folder / "coded.arrow")
    frame.write_parquet(folder / "polars.parquet")
    # Longer, so that a header can be read where the rest is broken.
    long = pa.concat_tables([flat] * REPEATED)
    csv.write_csv(long, folder / "a.csv")
    with pa.output_stream(folder / "a.csv.gz", compression="gzip") as stream:
        csv.write_csv(long, stream)
    with pa.output_stream(folder / "a.csv.zst", compression="zstd") as stream:
        csv.write_csv(long, stream)


def test_whole_files_of_other_writers_are_read(tmp_path: Path) -> None:
    write_originals(tmp_path / "originals")
    for path in sorted((tmp_path / "originals").iterdir()):
        # With this much epsilon the noise is none; the chance of another count is below 1e-20.
        times = REPEATED if ".csv" in path.name else 1
        assert eq.count(path, epsilon=50).value == ROWS * times, path.name
        reds = eq.count(path, where="kind = 'red' and n > 5", epsilon=50)
        assert reds.value == (ROWS / 3 - 1) * times, path.name


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's")
def test_an_interpreter_survives_every_broken_file(tmp_path: Path) -> None:
    write_originals(tmp_path / "originals")
    each = os.environ.get("EQUIPOISE_MUTATED_FILES", "40")
    command = [sys.executable, "-c", SURVIVOR, str(tmp_path / "originals"), each]
    survivor = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (survivor.returncode, survivor.stderr) == (0, ""), survivor.stderr
    ends = json.loads(survivor.stdout)
    print(json.dumps(ends, indent=1))
    formats = {key.split()[0] for key in ends}
    assert len(formats) == 7 and sum(ends.values()) == 7 * int(each)
    # Before the charge, after it, and not at all.
    assert any("RequestError" in key for key in ends) and any("LostError" in key for key in ends)
    assert {key.split()[1] for key in ends} <= {"released", "refused", "RequestError", "LostError"}


def test_a_file_without_line_feeds_is_refused_and_nobody_is_named(tmp_path: Path) -> None:
    data = tmp_path / "old.csv"
    data.write_bytes(b"name,x\rAnna Secret,5\rBert Hidden,6\r")
    with pytest.raises(eq.EquipoiseError, match="carriage return") as caught:
        eq.median(data, "x", epsilon=1)
    assert "Anna" not in str(caught.value) and not (tmp_path / "equipoise.ledger").exists()
