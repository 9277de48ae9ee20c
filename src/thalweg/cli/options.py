"""Options of a command as a class declares them, and the form of its help: usage, summary, examples, then options.

``--help`` of a command with many options describes the common ones under headings and names the others; ``--help-all``
describes all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperOption

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
        parameters += [parameter for parameter in own if parameter.kind is not parameter.VAR_KEYWORD]
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
        read = str if info.read else next((kind for kind in (bool, int, float) if kind in kinds), str)
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


#: Columns of a help text on a terminal that has as many.
WIDTH = 100
_SHORT = "thalweg.cli.options.short"


@dataclass(frozen=True)
class HelpLayout:
    """Examples of a command, and the order and headings of its options."""

    examples: tuple[str, ...]
    #: Heading, and names of the options below it, as in the signature of the command.
    common: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Headings that only ``--help-all`` describes.
    further: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Paragraph after the options.
    note: str | None = None


class LaidOutCommand(TyperCommand):
    """A command whose help follows a `HelpLayout`."""

    layout = HelpLayout(())

    def get_params(self, ctx: Any) -> list[Any]:
        """Add ``--help-all`` where there are options that ``--help`` only names."""
        params: list[Any] = list(super().get_params(ctx))
        for parameter in params:
            parameter.show_envvar = False  # all have one by the same rule, which the note says once
        if not self.layout.further:
            return params
        if not hasattr(self, "_help_all"):
            self._help_all = TyperOption(
                param_decls=["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                default=False,
                callback=_show_everything,
                help="Show every option and exit.",
            )
        return [*params, self._help_all]

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_common
        return option

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        super().format_help_text(ctx, formatter)
        with formatter.section("Examples"):
            for example in self.layout.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        params = self.get_params(ctx)
        _write_section(ctx, formatter, "Arguments", [param for param in params if param.param_type_name == "argument"])
        common, further = self._headed(ctx)
        for heading, options in common.items():
            _write_section(ctx, formatter, heading, options)
        if not ctx.meta.get(_SHORT):
            for heading, options in further.items():
                _write_section(ctx, formatter, heading, options)
        elif further:
            with formatter.section(f"Further options, described by {ctx.command_path} --help-all"):
                named = {
                    heading: " ".join(option.opts[0] for option in options) for heading, options in further.items()
                }
                formatter.write_dl(list(named.items()))
        if self.layout.note is not None:
            formatter.write_paragraph()
            formatter.write_text(self.layout.note)

    def _headed(self, ctx: Any) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
        """The options below each heading, common and further; one that the layout does not name is among the others."""
        rest = {param.name: param for param in self.get_params(ctx) if param.param_type_name == "option"}
        common, further = (
            {heading: [rest.pop(name) for name in names] for heading, names in headings.items()}
            for headings in (self.layout.common, self.layout.further)
        )
        if rest and further:
            further["Other options"] = list(rest.values())
        elif rest:
            common["Options"] = list(rest.values())
        return common, further


def with_help(layout: HelpLayout) -> type[LaidOutCommand]:
    """A class of commands with this help, for ``app.command(cls=...)``."""
    return type("Command", (LaidOutCommand,), {"layout": layout})


def with_examples(*examples: str) -> type[LaidOutCommand]:
    """The same for a command with few options: all of them are below one heading."""
    return with_help(HelpLayout(examples))


def _write_section(ctx: Any, formatter: Any, heading: str, params: list[Any]) -> None:
    records = [record for parameter in params if (record := parameter.get_help_record(ctx)) is not None]
    if records:
        with formatter.section(heading):
            formatter.write_dl(records)


def _show_common(ctx: Any, _: object, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        ctx.meta[_SHORT] = True
        _show_everything(ctx, _, asked)


def _show_everything(ctx: Any, _: object, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        typer.echo(ctx.get_help())
        ctx.exit()
