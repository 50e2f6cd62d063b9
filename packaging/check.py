"""Holds what a release consists of against what is promised: names, sizes, what is inside, and a first answer from an empty environment.

check.py FOLDER VERSION
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

MOST = 10_000_000
FIRST = "import equipoise as eq; print(eq.median(list(range(5000)), epsilon=1).value)"


def check_wheel(path: Path) -> None:
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        scripts = [name for name in names if name.endswith("entry_points.txt")]
        says = wheel.read(scripts[0]).decode() if scripts else ""
        helper = [entry for entry in wheel.infolist() if entry.filename == "equipoise/equipoise-sandbox"]
    size = path.stat().st_size
    assert size < MOST, f"{path.name} has {size / 1e6:.2f} MB, and {MOST / 1e6:.0f} are the most"
    assert "-cp310-abi3-" in path.name, f"{path.name} is for one version of Python"
    assert "manylinux" in path.name or "musllinux" in path.name or "macosx" in path.name, path.name
    assert "equipoise=equipoise.__main__:main" in says.replace(" ", ""), f"{path.name} has no command"
    assert "linux" not in path.name or (helper and helper[0].external_attr >> 16 & 0o111), f"{path.name} has no helper that can be run"
    print(f"{path.name}: {size / 1e6:.2f} MB")


def try_wheel(path: Path) -> None:
    """Into an empty environment, then a first answer from Python and one from the command: in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        subprocess.run([sys.executable, "-m", "venv", here / "empty"], check=True)
        bin = here / "empty" / "bin"
        begin = time.perf_counter()
        subprocess.run([bin / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", path], check=True)
        installed = time.perf_counter()
        subprocess.run([bin / "python", "-c", FIRST], check=True, cwd=here, stdout=subprocess.DEVNULL)
        answered = time.perf_counter()
        (here / "numbers.csv").write_text("x\n" + "\n".join(map(str, range(5000))) + "\n")
        said = subprocess.run([bin / "equipoise", "median", "numbers.csv", "x", "--epsilon", "1"], check=True, cwd=here, capture_output=True, text=True).stdout
        commanded = time.perf_counter()
        assert said.startswith("median of x: "), said
        print(
            f"{path.name}: installed in {installed - begin:.1f} s, first answer from Python {answered - installed:.1f} s later, "
            f"from the command {commanded - answered:.1f} s later"
        )


def check_source(path: Path) -> None:
    with tarfile.open(path) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
    for needed in ["Cargo.lock", "pyproject.toml", "PKG-INFO"]:
        assert any(name.endswith(needed) for name in names), f"{path.name} lacks {needed}"
    assert any(name.endswith("backend.py") for name in names), f"{path.name} cannot build itself: backend.py is missing"
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB, {len(names)} files")


def runs_here(path: Path) -> bool:
    libc = "musllinux" if os.path.exists("/etc/alpine-release") else "manylinux"
    return sys.platform == "linux" and libc in path.name and path.name.endswith(f"_{platform.machine()}.whl")


def main(folder: Path, version: str) -> None:
    wheels = sorted(folder.glob(f"equipoise-{version}-*.whl"))
    assert wheels, f"{folder} has no wheel of version {version}"
    for wheel in wheels:
        check_wheel(wheel)
    for wheel in filter(runs_here, wheels):
        try_wheel(wheel)
    for source in folder.glob(f"equipoise-{version}.tar.gz"):
        check_source(source)
    for crate in sorted(folder.glob("*.crate")):
        assert crate.stat().st_size < MOST, f"{crate.name} is larger than crates.io takes"


main(Path(sys.argv[1]).resolve(), sys.argv[2])
