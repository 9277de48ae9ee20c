"""What a run is asked to do: from the command line, from a TOML file, or both, and written down beside the results."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from thalweg.errors import InvalidParameter

OPTIONS, METRICS, CHECKPOINT, PREDICTIONS = "options.toml", "metrics.json", "checkpoint", "predictions.csv"
MODEL, REPORT = "model.thalweg", "report.html"

Holds = Literal["no run", "a finished run", "a run that was cut off"]


def what_is_in(folder: Path) -> Holds:
    """What a folder holds; a run that was killed before its first checkpoint is none."""
    if (folder / CHECKPOINT).exists():
        return "a run that was cut off"
    return "a finished run" if (folder / METRICS).exists() else "no run"


def clear(folder: Path) -> None:
    """Take away the results of a run, the checkpoint last: nothing that is left looks like a run."""
    for name in (METRICS, REPORT, MODEL, PREDICTIONS, OPTIONS, CHECKPOINT):
        (folder / name).unlink(missing_ok=True)
    clear_unfinished(folder)


def clear_unfinished(folder: Path) -> None:
    """Take away files that a kill left unfinished."""
    for unfinished in folder.glob(".*.part"):
        unfinished.unlink(missing_ok=True)


@dataclass(frozen=True)
class RunOptions:
    """All options of a run; the names are those of the command line, with underscores."""

    source: str
    target: str
    model: str = "auto"
    rate: float | None = None
    adaptive: bool = False
    window: str | None = None
    delay: int = 0
    label_time: str | None = None
    time: str | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    missing: Literal["mean", "error"] = "mean"
    bad_rows: Literal["error", "skip"] = "error"
    delimiter: str | None = None
    encoding: str = "utf-8"
    decimal: Literal[".", ","] | None = None
    chunk: int | None = None
    limit: int | None = None
    seed: int = 0
    out: str = "thalweg-run"
    model_out: str | None = None

    def __post_init__(self) -> None:
        for name, least in (("delay", 0), ("chunk", 1), ("limit", 1), ("seed", 0)):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if value is not None and (not whole or value < least):
                raise InvalidParameter.of_option(name, f"be a whole number of at least {least}", value)
        for name, legal in (("missing", ("mean", "error")), ("bad_rows", ("error", "skip"))):
            if getattr(self, name) not in legal:
                raise InvalidParameter.of_option(name, f"be one of {', '.join(legal)}", getattr(self, name))
        if self.decimal not in (None, ".", ","):
            raise InvalidParameter.of_option("decimal", "be a point or a comma", self.decimal)
        if self.delay and self.label_time:
            raise InvalidParameter.of_option("delay", "be 0 where --label-time tells when a label comes", self.delay)
        if self.label_time and not self.time:
            raise InvalidParameter.of_option("time", "name the column of row times to go with --label-time", self.time)
        if self.target in self.drop:
            raise InvalidParameter(f"--drop {self.target} is the target: without labels there is nothing to learn")
        if self.adaptive and self.rate is not None:
            raise InvalidParameter.of_option("rate", "be left out with --adaptive", self.rate)

    @classmethod
    def of(cls, given: Mapping[str, Any], config: Path | None = None, *, resume: bool = False) -> RunOptions:
        """Options from a mapping, over those of a TOML file; what neither names has its default.

        With ``resume`` those that the run in the folder was begun with come before the defaults.
        """
        known = {each.name for each in dataclasses.fields(cls)}
        values = _from_file(config, known) if config is not None else {}
        values |= {name: value for name, value in given.items() if value is not None}
        begun = Path(values.get("out", cls.out)) / OPTIONS
        if resume and begun.exists():
            values = _from_file(begun, known) | {"out": str(begun.parent)} | values
        for name in ("drop", "categorical"):
            if name in values:
                values[name] = tuple(values[name])
        if "source" not in values:
            raise InvalidParameter("SOURCE is missing: name the file to learn, a folder of files, or - for a pipe")
        if "target" not in values:
            raise InvalidParameter("--target COL is missing: name the column of labels")
        return cls(**values)

    def first_other(self, begun: Mapping[str, Any], besides: Collection[str] = ()) -> str | None:
        """How a run was begun that was asked for something else: the first option that differs; `None` for the same."""
        if not begun:
            return "other options"
        for name, value in self.resolved().items():
            was = begun.get(name)
            if name == "out" or name in besides or was == value:
                continue
            if name == "source" and was is not None and Path(was).resolve() == Path(value).resolve():
                continue
            return f"{name} = {was!r} and not {value!r}"
        return None

    def resolved(self) -> dict[str, Any]:
        """Every option with its value, as JSON and TOML hold them."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}

    def to_toml(self) -> str:
        """A file that `--config` reads."""
        return "".join(f"{name} = {_toml(value)}\n" for name, value in self.resolved().items() if value is not None)

    def command(self) -> str:
        """The command that makes this run, with what differs from the defaults."""
        words = ["thalweg", "run", self.source, "--target", self.target]
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            if each.name in ("source", "target") or value == each.default:
                continue
            option = f"--{each.name.replace('_', '-')}"
            for item in value if isinstance(value, tuple) else (value,):
                words += [option] if item is True else [option, str(item)]
        return shlex.join(words)


def read_options(folder: Path) -> dict[str, Any]:
    """What the run in a folder was begun with; nothing where that is not to be had."""
    known = {each.name for each in dataclasses.fields(RunOptions)}
    unset: dict[str, Any] = {
        each.name: None if each.default is dataclasses.MISSING else each.default
        for each in dataclasses.fields(RunOptions)
    }
    try:
        return unset | {"drop": [], "categorical": []} | _from_file(folder / OPTIONS, known)
    except InvalidParameter:
        return {}


def _from_file(path: Path, known: set[str]) -> dict[str, Any]:
    import tomllib

    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidParameter(f"{path} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidParameter(f"{path} is not TOML: {error}") from error
    values = {name.replace("-", "_"): value for name, value in values.items()}
    unknown = sorted(set(values) - known)
    if unknown:
        raise InvalidParameter(f"{path}: there is no option {unknown[0]!r}; there are {', '.join(sorted(known))}")
    return values


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, str):
        import json

        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    return repr(value)
