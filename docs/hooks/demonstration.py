"""Compiles the kernels to WebAssembly for `watch.md`, as a script that holds them, so that the page needs no server."""

from __future__ import annotations

import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from tempfile import TemporaryDirectory

from kept import ROOT, folder_of
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

SOURCES = ROOT / "docs" / "demonstration"
KERNELS = ROOT / "src" / "thalweg" / "kernels"
#: The kernels that are not in headers alone.
COMPILED = ("learner.cpp", "state.cpp", "running_variance.cpp", "linear_algebra/buffer.cpp")
#: The level of x86-64's SSE2: two lanes, and no product and sum at once.
FLAGS = ("-target", "wasm32-wasi", "-mexec-model=reactor", "-std=gnu++17", "-Os", "-s", "-msimd128", "-DNDEBUG")
FLAGS += ("-DTHALWEG_LEVEL=base", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden", "-Wno-psabi")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The compiled kernels become a file of the site."""
    script = compiled() / "kernels.js"
    files.append(File.generated(config, "demonstration/kernels.js", abs_src_path=str(script)))
    return files


def compiled() -> Path:
    """The folder of ``kernels.js``."""
    recipe = [SOURCES / "learners.cpp", SOURCES / "composition.py", Path(__file__)]
    return folder_of("kernels", recipe, compile_into)


def compile_into(folder: Path) -> None:
    """Write ``kernels.js``."""
    with TemporaryDirectory() as room:
        composition, module = Path(room) / "composition.inc", Path(room) / "kernels.wasm"
        composition.write_text(run(str(SOURCES / "composition.py")), encoding="utf-8")
        sources = [SOURCES / "learners.cpp", *(KERNELS / name for name in COMPILED)]
        run("-m", "ziglang", "c++", *FLAGS, f"-I{KERNELS}", f"-I{room}", *map(str, sources), "-o", str(module))
        script = f'const KERNELS = "{b64encode(module.read_bytes()).decode()}";\n'
    (folder / "kernels.js").write_text(script, encoding="ascii")


def run(*arguments: str) -> str:
    """What a Python command prints; an error ends the build."""
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PluginError(f"Compiling the kernels to WebAssembly failed: {' '.join(arguments)}\n{done.stderr}")
    return done.stdout
