"""Builds the wheel: the helper that keeps the sandbox of programs first, then all else as maturin does.

``python backend.py PROFILE`` builds the helper alone and puts it into the package.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
HELPER = HERE / "package" / "equipoise" / "equipoise-sandbox"


def build_helper(profile: str = "dist") -> None:
    """Sandboxes are there on Linux only; elsewhere there is nothing to build."""
    if not sys.platform.startswith("linux"):
        return
    cargo = ["cargo", "build", "--quiet", "--locked", "--profile", profile, "--message-format", "json"]
    cargo += ["--package", "equipoise-runner", "--bin", "equipoise-sandbox"]
    said = subprocess.run(cargo, cwd=HERE.parent, check=True, stdout=subprocess.PIPE, text=True).stdout
    built = [json.loads(line).get("executable") for line in said.splitlines() if line.startswith("{")]
    shutil.copy(next(path for path in reversed(built) if path), HELPER)
    subprocess.run(["strip", str(HELPER)], check=False, stderr=subprocess.DEVNULL)


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    import maturin

    return list(maturin.get_requires_for_build_wheel(config_settings))


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Any = None) -> str:
    import maturin

    return str(maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings))


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    import maturin

    build_helper()
    return str(maturin.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    import maturin

    build_helper()
    return str(maturin.build_editable(wheel_directory, config_settings, metadata_directory))


if __name__ == "__main__":
    build_helper(sys.argv[1])
