"""Runs the notebooks of this folder, each in a folder of its own with the example file.

run.py [--write] [NAME ..]      all of them, or these; --write keeps what they put out. Fails where a cell does.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "examples" / "salaries.csv"


def run(path: Path, write: bool = False) -> nbformat.NotebookNode:
    """The notebook as it ran; an exception where a cell raised one."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(EXAMPLE, folder)
        NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    if write:
        notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
        for cell in notebook.cells:
            # When it ran is nobody's concern, and differs each time.
            cell.metadata = {}
        nbformat.write(notebook, path)
    return notebook


def main(arguments: list[str]) -> None:
    names = [argument for argument in arguments if argument != "--write"]
    for path in sorted(HERE.glob("*.ipynb")):
        if not names or path.stem in names:
            begin = time.perf_counter()
            run(path, "--write" in arguments)
            print(f"{path.stem}: {time.perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
