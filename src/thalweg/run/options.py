"""What a run is asked to do: from the command line, from a TOML file, or both, and written down beside the results."""

from __future__ import annotations

import dataclasses
import itertools
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from thalweg.errors import InvalidParameter
from thalweg.evaluate.alert_rules import AlertRule
from thalweg.learners.base.catalogue_entry import COVERAGES, check_model_options
from thalweg.option_fields import OptionInfo, check_declared, declared, option_field, parse_costs
from thalweg.option_names import option
from thalweg.run.questions import REFERENCE_ROWS, AlertsAsked, check_hashing, parse_against

OPTIONS, METRICS, CHECKPOINT, PREDICTIONS = "options.toml", "metrics.json", "checkpoint", "predictions.csv"
ALERTS, TO_LABEL = "alerts.ndjson", "to_label.csv"
MODEL, REPORT = "model.thalweg", "report.html"

Holds = Literal["no run", "a finished run", "a run that was cut off"]


#: Options that may be given more than once.
_LISTS = ("drop", "categorical", "numeric", "text", "na", "alert", "feature")


def what_is_in(folder: Path) -> Holds:
    """What a folder holds; a run that was killed before its first checkpoint is none."""
    if (folder / CHECKPOINT).exists():
        return "a run that was cut off"
    return "a finished run" if (folder / METRICS).exists() else "no run"


def clear(folder: Path) -> None:
    """Take away the results of a run, the checkpoint last: nothing that is left looks like a run."""
    for name in (METRICS, REPORT, MODEL, PREDICTIONS, ALERTS, TO_LABEL, OPTIONS, CHECKPOINT):
        (folder / name).unlink(missing_ok=True)
    clear_unfinished(folder)


def clear_unfinished(folder: Path) -> None:
    """Take away files that a kill left unfinished."""
    for unfinished in folder.glob(".*.part"):
        unfinished.unlink(missing_ok=True)


@dataclass(frozen=True)
class RunOptions:
    """All options of a run, declared once: the command line, TOML files and the checks below read them here."""

    source: str = option_field(
        help="CSV, Parquet, Arrow, JSON, ARFF, svmlight or Vowpal Wabbit file, compressed or not; a folder or ZIP of "
        "them (part-2 before part-10); or - for standard input.",
        on_spark=True,
    )
    target: str = option_field(
        help="Column to predict: labels or numbers (required, except for formats that name one). Rows without a value "
        "are predicted and not learned.",
        metavar="COL",
        on_spark=True,
    )
    task: Literal["classification", "regression"] | None = option_field(
        None,
        help="classification (labels) or regression (numbers) (default: regression for numbers with decimals, or with "
        "more than 50 different values).",
        metavar="TASK",
        on_spark=True,
    )
    model: str = option_field(
        "auto", help="Model to train, one of `thalweg models` (default: auto).", metavar="NAME", on_spark=True
    )
    rate: float | None = option_field(
        None, help="Learning rate, for models that have one (default: the model's own).", metavar="X", on_spark=True
    )
    adaptive: bool = option_field(False, help="Adapt the learning rate to the model's recent errors.", on_spark=True)
    window: str | None = option_field(
        None,
        help="Rows of the window of the model trend, or auto (default: the model's own).",
        metavar="N",
        on_spark=True,
    )
    delay: int = option_field(0, help="Delay of the labels, in rows (default: 0).", metavar="N", least=0)
    label_time: str | None = option_field(
        None,
        help="Column with the time at which the label of a row arrives. Needs --time.",
        metavar="COL",
    )
    time: str | None = option_field(
        None, help="Column with the time of a row: times or numbers.", metavar="COL", on_spark=True
    )
    sort: bool = option_field(
        False,
        help="Sort the rows by --time first, on disk if need be; rows without a time come last.",
    )
    drop: tuple[str, ...] = option_field((), help="Column to leave out; may be repeated.", metavar="COL", on_spark=True)
    categorical: tuple[str, ...] = option_field(
        (),
        help="Column of numbers that are categories, such as codes; may be repeated.",
        metavar="COL",
    )
    numeric: tuple[str, ...] = option_field(
        (),
        help="Column of numbers that look like codes or names, such as 0042; may be repeated.",
        metavar="COL",
    )
    text: tuple[str, ...] = option_field(
        (),
        help="Column of text, whose words become features; may be repeated (default: detected, for models that take "
        "sparse rows).",
        metavar="COL",
    )
    feature: tuple[str, ...] = option_field(
        (),
        help="Feature from earlier rows, such as 'recent = mean(amount) by card over 7d'; may be repeated.",
        metavar="FEATURE",
    )
    features: str | None = option_field(
        None,
        help="File with features from earlier rows, one a line; or auto: a small set chosen from the columns.",
        metavar="FILE",
    )
    key: str | None = option_field(
        None,
        help="Column of keys, such as customers: each key gets a model of its own beside the shared one (with --engine "
        "spark, without one).",
        metavar="COL",
    )
    ngrams: str = option_field(
        "1",
        help="Lengths of the word n-grams of text, such as 1-2 for words and pairs of words (default: 1).",
        metavar="N-M",
    )
    hash_bits: int = option_field(
        20,
        help="Bits of the hash of words: a column has at most 2^N features (default: 20).",
        metavar="N",
        least=1,
    )
    missing: Literal["mean", "error"] = option_field(
        "mean",
        help="Treatment of missing values: mean (fill in the running mean, the default) or error. Missing are empty "
        "cells, absent keys of NDJSON and, in columns of numbers or times, NA, N/A, NaN, null, none, nil, ? and -.",
    )
    na: tuple[str, ...] = option_field(
        (),
        help="Value that means missing in every column but the target, such as -999; may be repeated.",
        metavar="VALUE",
    )
    keep_sentinels: bool = option_field(
        False,
        help="Keep codes such as -999, which are repeated and far from all other values (default: count them as "
        "missing, with a warning).",
    )
    head: int | None = option_field(
        None,
        help="Rows from which columns and their types are detected (default: 1000). Keys of NDJSON that appear later "
        "are ignored, with a warning.",
        metavar="N",
        least=1,
    )
    bad_rows: Literal["error", "skip"] = option_field(
        "error",
        help="Treatment of rows that cannot be read: error (stop, the default) or skip (leave out and list).",
    )
    positive: str | None = option_field(
        None,
        help="Label of interest, for recall, precision and PR AUC (default: the rarer of two).",
        metavar="LABEL",
    )
    costs: str | None = option_field(
        None,
        help="Costs of a false positive and a false negative, such as fp=1,fn=50. The models cost-sensitive and "
        "threshold decide by them.",
        metavar="COSTS",
    )
    alerts: str | None = option_field(
        None,
        help="Number of rows that people can check, such as 100/day (also minute, hour, week; needs --time) or "
        "100/10000rows: adds precision and recall of the rows with the highest P(positive).",
        metavar="N/PERIOD",
    )
    alert: tuple[str, ...] = option_field(
        (),
        help="Alert rule, such as error>0.2, 'mae>3 over 500 rows', missing(COL)>0.1, new_category(COL) or "
        "input_drift; may be repeated. Alerts go to alerts.ndjson; the exit code is 3 if one fired.",
        metavar="RULE",
    )
    probabilities: Literal["top", "all", "none"] = option_field(
        "top",
        help="Probabilities in predictions.csv: top (of the predicted label, the default), all (also one column for "
        "each label of the first rows) or none.",
    )
    coverage: float = option_field(
        0.9,
        help="Coverage of the prediction intervals of regression: 0.5, 0.8, 0.9 (the default), 0.95 or 0.99.",
        metavar="SHARE",
        on_spark=True,
    )
    season: int | None = option_field(
        None,
        help="Season of regression, in rows, such as 24 for hourly rows: adds the target N rows ago as a baseline.",
        metavar="N",
        least=1,
    )
    against: str | None = option_field(
        None,
        help="Also score, separated by commas: frozen, retrained (gradient boosting fitted once or regularly), prompt "
        "(the same model, had late labels come at once).",
        metavar="MODELS",
    )
    against_rows: int = option_field(
        REFERENCE_ROWS,
        help=f"Labelled rows that the frozen model is fitted to, and between two fits of the retrained one, which uses "
        f"the last 5 N (default: {REFERENCE_ROWS}).",
        metavar="N",
        least=20,
    )
    label_budget: str | None = option_field(
        None,
        help="Learn only the labels of rows that are asked for, as where each label costs money: a share of the rows, "
        "such as 0.1, or a number per period, such as 100/day (needs --time). Rows to label go to to_label.csv.",
        metavar="BUDGET",
    )
    labels_of: Literal["auto", "random", "uncertain", "rare", "flagged"] = option_field(
        "auto",
        help="Rows that are asked for: uncertain, rare (the highest P(positive), and rows unlike those asked for "
        "before), flagged (only the highest P(positive)), random, or auto (rare where the label of interest has less "
        "than a tenth of the rows, else uncertain; the default).",
    )
    explore: float | None = option_field(
        None,
        help="Share of the label budget that is spent on all rows alike (default: 0.1; 0 with --labels-of flagged).",
        metavar="SHARE",
    )
    label_start: int = option_field(
        0,
        help="Rows at the start whose labels are all learned, as a history at hand (default: 0).",
        metavar="N",
        least=0,
    )
    label_curve: bool = option_field(
        False, help="Also run with label budgets from 0.01 to 1: what each costs in errors, in the report."
    )
    delimiter: str | None = option_field(
        None, help="Delimiter of CSV, such as ;, tab or space (default: detected).", metavar="SIGN", on_spark=True
    )
    header: bool | None = option_field(
        None,
        help="Whether the first row of CSV has the column names (default: detected). Without, columns are named by "
        "their numbers: --target 5.",
    )
    encoding: str = option_field(
        "utf-8",
        help="Encoding of text files (default: utf-8, or what the first lines show).",
        metavar="NAME",
    )
    decimal: Literal[".", ","] | None = option_field(
        None,
        help="Decimal separator, . or , (default: detected).",
        metavar="SIGN",
        rule="be a point or a comma",
    )
    chunk: int | None = option_field(
        None,
        help="Rows read at a time (default: grows with the rows read). The results do not depend on it.",
        metavar="N",
        least=1,
    )
    limit: int | None = option_field(
        None, help="Number of rows after which to stop (default: all).", metavar="N", least=1
    )
    seed: int = option_field(
        0, help="Seed for the random number generator (default: 0).", metavar="N", least=0, on_spark=True
    )
    out: str = option_field(
        "thalweg-run", help="Folder for the results (default: thalweg-run).", metavar="DIR", path=True, on_spark=True
    )
    model_out: str | None = option_field(
        None, help="File for the model (default: model.thalweg in the folder).", metavar="FILE", path=True
    )

    def __post_init__(self) -> None:
        check_declared(self)
        if self.delay and self.label_time is not None:
            raise InvalidParameter.of_option(
                "delay", f"be 0 together with {option('label_time')}, which gives each label its own time", self.delay
            )
        for name in ("label_time", "sort"):
            if getattr(self, name) not in (None, False) and self.time is None:
                rule = f"name the column of row times, which {option(name)} needs"
                raise InvalidParameter.of_option("time", rule, self.time)
        if self.costs is not None:
            parse_costs(self.costs)
        if self.against is not None:
            names = parse_against(self.against)
            if "prompt" in names and not self.delay and self.label_time is None:
                late = f"{option('delay')} or {option('label_time')}"
                raise InvalidParameter.of_option("against", f"name prompt only with {late}", self.against)
        if self.alerts is not None and AlertsAsked.parse(self.alerts).unit and self.time is None:
            rule = (
                f"name the column of row times, which {option('alerts', self.alerts)} needs (100/10000rows needs none)"
            )
            raise InvalidParameter.of_option("time", rule, self.time)
        self._check_labels()
        for rule in self.alert:
            AlertRule.parse(rule)
        if self.target in self.drop:
            raise InvalidParameter(
                f"{option('drop', self.target)} names the target column: drop another column, or change "
                f"{option('target')}"
            )
        for name in ("time", "label_time"):
            if getattr(self, name) == self.target:
                raise InvalidParameter.of_option(name, "be a column of times beside the target", self.target)
        if not all(value.strip() for value in self.na):
            raise InvalidParameter.of_option("na", "name a value: an empty cell is missing anyway", "")
        if self.coverage not in COVERAGES:
            raise InvalidParameter.of_option("coverage", f"be one of {', '.join(map(str, COVERAGES))}", self.coverage)
        if self.task == "regression" and self.target in self.categorical:
            raise InvalidParameter(
                f"{option('categorical', self.target)} makes the target a class label: leave out "
                f"{option('task', 'regression')}"
            )
        if self.target in self.numeric:
            raise InvalidParameter(
                f"{option('numeric', self.target)} names the target column: {option('task', 'regression')} makes it a "
                "number"
            )
        features = (*self.drop, *self.categorical, *self.numeric, *self.text)
        if self.key is not None and self.key in (self.target, *features):
            raise InvalidParameter.of_option("key", "be a column that no other option names", self.key)
        if self.feature:
            from thalweg.history.planning import asked_features  # which loads NumPy, and help does without

            asked_features(self.feature)
        check_hashing(self.ngrams, self.hash_bits)
        for name in self.text:
            if name == self.target:
                raise InvalidParameter(
                    f"{option('text', name)} names the target column, which holds labels or numbers: leave it out"
                )
        kinds = {kind: getattr(self, kind) for kind in ("text", "categorical", "numeric")}
        for (one, names), (other, others) in itertools.combinations(kinds.items(), 2):
            if both := [name for name in names if name in others]:
                raise InvalidParameter(
                    f"column {both[0]} is given to {option(one)} and to {option(other)}: choose one of them"
                )
        check_model_options(rate=self.rate, adaptive=self.adaptive, seed=self.seed)

    def _check_labels(self) -> None:
        if self.label_budget is None:
            for name in ("labels_of", "explore", "label_start", "label_curve"):
                if (given := getattr(self, name)) != getattr(type(self), name):
                    raise InvalidParameter.of_option(name, f"be left out without {option('label_budget')}", given)
            return
        from thalweg.label_budget.period import RULE, parse_budget  # which loads NumPy, and help does without

        try:
            budget = parse_budget(self.label_budget)
        except ValueError as error:
            raise InvalidParameter.of_option("label_budget", RULE, self.label_budget) from error
        if not isinstance(budget, float) and self.time is None:
            rule = f"name the column of row times, which {option('label_budget', self.label_budget)} needs"
            raise InvalidParameter.of_option("time", rule, self.time)
        if self.explore is not None and not 0.0 <= self.explore <= 1.0:
            raise InvalidParameter.of_option("explore", "lie in [0, 1]", self.explore)
        if self.label_curve and self.source == "-":
            raise InvalidParameter.of_option("label_curve", "be left out for a pipe, which cannot be read again", True)

    @property
    def has_features(self) -> bool:
        """Whether features from earlier rows are asked for."""
        return bool(self.feature) or self.features is not None

    @classmethod
    def declared(cls) -> dict[str, OptionInfo]:
        return declared(cls)

    def make_model(self, task: str = "classification", *, sparse: bool = False) -> Any:
        from thalweg.catalogue import ask_of, make_model

        asked: dict[str, Any] = {"rate": self.rate, "adaptive": self.adaptive, "window": self.window, "seed": self.seed}
        model = make_model(self.model, task=task, sparse=sparse, **asked)
        if task == "regression":
            has_one = "coverage" in model.get_params(deep=False)
            return model.set_params(coverage=self.coverage) if has_one else model
        if self.costs is not None and self.positive is None and "costs" in model.get_params(deep=False):
            raise InvalidParameter(
                f"{option('costs')} with {self.model} needs {option('positive')}, the label that fp and fn refer to"
            )
        costs = None if self.costs is None else parse_costs(self.costs)
        return ask_of(model, costs=costs, positive=self.positive)

    @classmethod
    def of(cls, given: Mapping[str, Any], config: Path | None = None, *, resume: bool = False) -> RunOptions:
        """Options from a mapping, over those of a TOML file; what neither names has its default.

        With ``resume`` those that the run in the folder was begun with come before the defaults.
        """
        known = set(cls.declared())
        values = _from_file(config, known) if config is not None else {}
        values |= {name: value for name, value in given.items() if value is not None}
        begun = Path(values.get("out", cls.out)) / OPTIONS
        if resume and begun.exists():
            values = _from_file(begun, known) | {"out": str(begun.parent)} | values
        for name in _LISTS:
            if name in values:
                values[name] = (values[name],) if isinstance(values[name], str) else tuple(map(str, values[name]))
        if "source" not in values and resume:
            raise InvalidParameter(f"{begun.parent} holds no run to resume: name its folder with --out")
        if "source" not in values:
            raise InvalidParameter(
                "SOURCE is missing: name the file to learn from, a folder of files, or - for standard input"
            )
        if "target" not in values:
            reading = {name: values[name] for name in ("delimiter", "encoding", "header") if name in values}
            values["target"] = _target_of(values["source"], **reading)
        return cls(**values)

    def first_other(self, begun: Mapping[str, Any], besides: Collection[str] = ()) -> str | None:
        """How a run was begun that was asked for something else: the first option that differs; `None` for the same."""
        if not begun:
            return "other options"
        usual = _defaults()
        for name, value in self.resolved().items():
            was = begun.get(name, usual[name])  # an option that came later was at its default
            if name == "out" or name in besides or was == value:
                continue
            if name == "source" and was is not None and Path(was).resolve() == Path(value).resolve():
                continue
            return f"{name} = {was!r}, not {value!r}"
        return None

    def resolved(self) -> dict[str, Any]:
        """Every option with its value, as JSON and TOML hold them."""
        return {name: _as_json(value) for name, value in vars(self).items()}

    def to_toml(self) -> str:
        """A file that `--config` reads."""
        return "".join(f"{name} = {_toml(value)}\n" for name, value in self.resolved().items() if value is not None)

    def command(self) -> str:
        """The command that makes this run, with what differs from the defaults."""
        words = ["thalweg", "run", self.source, "--target", self.target]
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name in ("source", "target") or value == field.default:
                continue
            option = f"--{'no-' if value is False else ''}{field.name.replace('_', '-')}"
            for item in value if isinstance(value, tuple) else (value,):
                words += [option] if isinstance(item, bool) else [option, str(item)]
        return shlex.join(words)


def read_options(folder: Path) -> dict[str, Any]:
    """What the run in a folder was begun with; nothing where that is not to be had."""
    known = set(RunOptions.declared())
    try:
        return _defaults() | _from_file(folder / OPTIONS, known)
    except InvalidParameter:
        return {}


def _defaults() -> dict[str, Any]:
    """The default of every option, as JSON holds it; None for one that must be given."""
    fields = dataclasses.fields(RunOptions)
    return {field.name: None if field.default is dataclasses.MISSING else _as_json(field.default) for field in fields}


def _as_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _target_of(source: str, **reading: Any) -> str:
    """The column of labels where the format has one; else an error with a suggestion, where there is one."""
    from thalweg.tables.opening import declared_target

    label, last = declared_target(source, **reading)
    if label is not None:
        return label
    suggested = "" if last is None else f", such as the last one: --target {shlex.quote(last)}"
    raise InvalidParameter(f"--target COL is missing: name the column of labels{suggested}")


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
