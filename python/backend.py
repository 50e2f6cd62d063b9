"""Builds the wheel: the helper that keeps the sandbox of programs first, then all else as maturin does.

``python backend.py PROFILE [TARGET]`` builds the helper alone and puts it into the package. A target, such as
``aarch64-unknown-linux-gnu.2.17`` with the oldest C library that it must run with, is built for by ``cargo zigbuild``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
# In a source distribution this file lies at the top, beside the lock file.
ROOT = HERE if (HERE / "Cargo.lock").exists() else HERE.parent
PACKAGE = next(folder for folder in (HERE / "package", HERE / "python" / "package") if folder.is_dir())
HELPER = PACKAGE / "equipoise" / "equipoise-sandbox"
WINDOWS = (
    "equipoise: there is no build for Windows: the ledger tells files apart and keeps them from others as unix does; install it in WSL or in a container"
)


def build_helper(profile: str = "dist", target: str | None = None) -> None:
    """Sandboxes are there on Linux only; elsewhere there is nothing to build."""
    if sys.platform == "win32":
        raise SystemExit(WINDOWS)
    if not sys.platform.startswith("linux"):
        return
    cargo = ["cargo", "build"] if target is None else ["cargo", "zigbuild", "--target", target]
    cargo += ["--quiet", "--profile", profile, "--message-format", "json", *(["--locked"] if ROOT != HERE else [])]
    cargo += ["--package", "equipoise-runner", "--bin", "equipoise-sandbox"]
    said = subprocess.run(cargo, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    built = [json.loads(line).get("executable") for line in said.splitlines() if line.startswith("{")]
    shutil.copy(next(path for path in reversed(built) if path), HELPER)
    if target is None:
        subprocess.run(["strip", str(HELPER)], check=False, stderr=subprocess.DEVNULL)


def _settings(given: Any) -> Any:
    """In the project the lock file is the law; a source distribution has fewer crates, which cargo leaves out of its copy."""
    if ROOT == HERE:
        return given
    return {**(given or {}), "build-args": f"--locked {(given or {}).get('build-args', '')}".strip()}


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    import maturin

    return list(maturin.get_requires_for_build_wheel(config_settings))


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Any = None) -> str:
    import maturin

    return str(maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings))


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    import maturin

    build_helper()
    return str(maturin.build_wheel(wheel_directory, _settings(config_settings), metadata_directory))


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    import maturin

    return str(maturin.build_sdist(sdist_directory, config_settings))


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    import maturin

    build_helper()
    return str(maturin.build_editable(wheel_directory, _settings(config_settings), metadata_directory))


if __name__ == "__main__":
    build_helper(*sys.argv[1:])
