"""Options of a command as a class declares them, each with its name, type and help."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from thalweg.option_fields import OptionInfo, declared


def with_options(options: type[Any], environment: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a class before its own; it gets them as keywords, `None` if not given.

    An option that is typed by another name than its field has a variable of that name, which begins with
    ``environment``.
    """

    def extended(command: Callable[..., None]) -> Callable[..., None]:
        types = get_type_hints(options)
        own = inspect.signature(command, eval_str=True).parameters.values()
        defaults = {name: getattr(options, name, None) for name in types}
        parameters = [
            _parameter(name, info, types[name], defaults[name], environment) for name, info in declared(options).items()
        ]
        parameters += [each for each in own if each.kind is not each.VAR_KEYWORD]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return command

    return extended


def _parameter(name: str, info: OptionInfo, kind: Any, default: Any, environment: str) -> inspect.Parameter:
    """An option as Typer reads it: without a default, so that one in a file is not overruled."""
    kinds = {kind, *get_args(kind)}
    read: Any
    if info.path or Path in kinds:
        read = Path
    elif get_origin(kind) is tuple:
        read = list[str]
    else:
        read = str if info.read else next((each for each in (bool, int, float) if each in kinds), str)
    is_flag = read is bool and type(None) not in kinds  # else there is a --no-… as well
    variable = f"{environment}_{info.typed}".upper() if environment and info.typed else None
    flag = (f"--{(info.typed or name).replace('_', '-')}",) if is_flag or info.typed else ()
    text = info.help
    if "default" not in text and default not in (None, False, ()):
        text = f"{text.removesuffix('.')} (default: {default})."
    declaration: Any = typer.Option(*flag, help=text, metavar=info.metavar, min=info.least, envvar=variable)
    if name == "source":
        declaration = typer.Argument(help=text)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if is_flag else None,
        annotation=Annotated[read if is_flag else read | None, declaration],
    )
