"""The compiled template of the page, kept beside Python's bytecode: compiling it takes longer than filling it in."""

from __future__ import annotations

import sys
from importlib.util import cache_from_source
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from thalweg.files import write_atomically


class TemplateCache(jinja2.BytecodeCache):
    """One file in ``__pycache__``, written where that can be; a template that changed is compiled anew."""

    @property
    def path(self) -> Path:
        compiled = Path(cache_from_source(__file__))
        return compiled.with_name(f"{compiled.stem}-{jinja2.__version__}.page")

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            bucket.bytecode_from_string(self.path.read_bytes())
        except Exception:  # there is none, or it is damaged
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if sys.dont_write_bytecode:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, bucket.bytecode_to_string())
        except OSError:
            pass
