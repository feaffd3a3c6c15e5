"""Options of the commands: those of settings objects from their fields, and groups of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, make_dataclass
from functools import partial
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import typer

from nullforest._util.errors import InputError, refused
from nullforest._util.words import Sentence, Setting
from nullforest.data.readers.roles import MatrixOptions, Roles, SurvivalColumns, TargetName
from nullforest.forest.settings import ForestSettings, TreeSettings

if TYPE_CHECKING:
    from nullforest.cli.screen import Screen
    from nullforest.data.dataset import Dataset

# The same words as in the library, written out so that --help need not import it; a test holds
# the two together.
ErrorName = Literal["fdr", "fdr_by", "fpr", "fwer"]
NullName = Literal["auto", "probes", "shadows", "bagged", "paper"]

_data = partial(typer.Option, rich_help_panel="The data")
_how = partial(typer.Option, rich_help_panel="The error rate")
_forest = partial(typer.Option, rich_help_panel="The forest")
_out = partial(typer.Option, rich_help_panel="What to write")

DATA_HELP = (
    "Table of samples: CSV or TSV (also .gz, .bz2, .xz, .zst), Parquet, NPZ, NPY. Or images "
    "(NIfTI, GIFTI, MGH, CIFTI), genes (.h5ad, 10x) or genotypes (PLINK, VCF)."
)
Data = Annotated[Path, typer.Argument(help=DATA_HELP, show_default=False)]
Target = Annotated[
    str | None, _data("--target", "-t", help="Column to predict.", show_default=False)
]
Alpha = Annotated[float, _how(help="Level of the error rate.")]
ErrorOption = Annotated[
    ErrorName,
    _how(
        "--error",
        help="Error rate that alpha limits: false discovery rate (fdr; fdr_by under any "
        "dependence), false positive rate (fpr), or probability of any false positive (fwer).",
    ),
]
NullOption = Annotated[NullName, _how("--null", help="Null model of the selection counts.")]
DrawName = Literal["node", "tree"]
Draw = Annotated[DrawName, _forest(help="Draw candidate features at each node, or once per tree.")]
Seed = Annotated[int, _forest(min=0, help="The same seed gives the same result.")]
MaxTrees = Annotated[
    int | None,
    _forest(min=1, help="With --trees auto: largest number of trees.", show_default="by the data"),
]
MaxSeconds = Annotated[
    float | None,
    _forest(min=0.0, help="Time for the forest; it ends with the trees grown by then."),
]
Jobs = Annotated[int, _forest(help="Cores to use; -1 for all. No effect on the result.")]
Cluster = Annotated[
    str | None,
    _forest(
        help="Grow on the workers of a cluster: address or scheduler file of a Dask scheduler, or "
        "'ray' (ray://… from elsewhere). No effect on the result.",
        show_default=False,
    ),
]
Resume = Annotated[
    Path | None,
    _forest(
        "--resume", help="Folder in which the run is kept, and from which it resumes after a kill."
    ),
]
MapsOut = Annotated[
    Path | None,
    _out("--maps", help="Folder for maps of −log10 p, q, selected features and effect of images."),
]
GroupsIn = Annotated[
    str | None,
    _how(
        "--groups",
        metavar="FILE|atlas",
        help="Test groups of features too: gene sets (GMT), or the regions of --atlas.",
        show_default=False,
    ),
]
TallyOut = Annotated[Path | None, _out("--tally", help="The selection counts, for merge and plan.")]
PlotOut = Annotated[Path | None, _out("--plot", help="A picture: PNG, SVG or PDF.")]
_page = partial(typer.Option, rich_help_panel="The report")
Link = Annotated[
    str | None,
    _page(
        metavar="ADDRESS",
        help="Make names links, as in 'https://example.org/{feature}'; columns of --annotations "
        "can be used likewise.",
        show_default=False,
    ),
]
AnnotationsIn = Annotated[
    Path | None,
    _page(
        "--annotations",
        help="Columns about the features, for all results: CSV or TSV, names in the first column.",
        show_default=False,
    ),
]
Force = Annotated[bool, _out("--force", help="Overwrite existing files.")]
Quiet = Annotated[bool, _out("--quiet", "-q", help="Print nothing but errors.")]
TableOut = Annotated[Path | None, _out("--table", help="The table, as CSV.")]
JsonOut = Annotated[Path | None, _out("--json", help="The result, as JSON.")]
ReportOut = Annotated[Path | None, _out("--report", help="A page for the browser (HTML).")]
H5adOut = Annotated[
    Path | None, _out("--h5ad", help="The cells again as .h5ad, with the results in var and uns.")
]
SelectionPlotOut = Annotated[
    Path | None,
    _out(
        "--plot",
        help="A picture (PNG, SVG, PDF): glass brain, surfaces, Manhattan plot, or counts.",
    ),
]


def group_of(source: type, panel: str, names: Sequence[str] | None = None) -> Any:
    """A group of options, made from the fields of a settings object that have a help.

    Parameters
    ----------
    source : dataclass
        Its fields are annotated with their help, or have the metadata `help`, and `least`, `most`
        and `shown` where they apply.
    panel : str
        Where the options stand in the help of a command.
    names : sequence of str, optional
        Fields to take; all that have a help where not given.
    """
    hints = get_type_hints(source, include_extras=True)
    options: list[Any] = []
    for setting in fields(source):
        kind, rule = hints[setting.name], dict(setting.metadata)
        if get_origin(kind) is Annotated:
            kind, rule["help"] = get_args(kind)
        if "help" not in rule or not (names is None or setting.name in names):
            continue
        option = _option(setting.name, kind, setting.default, rule, panel)
        options.append((setting.name, option, field(default=setting.default)))
    return make_dataclass(f"{source.__name__}Options", options, frozen=True)


def _option(name: str, kind: Any, default: Any, rule: dict[str, Any], panel: str) -> Any:
    """The type of an option, as typer reads it."""
    words: dict[str, Any] = {"help": rule["help"], "rich_help_panel": panel}
    if default in (None, ()) or "shown" in rule:
        words["show_default"] = rule.get("shown") or False
    if rule.get("auto"):
        return Annotated[str, typer.Option(metavar="N|auto", **words)]
    parts = [part for part in get_args(kind) if part is not type(None)]
    several = get_origin(kind) not in (Union, UnionType, Literal, None)
    if several:  # a tuple or a sequence
        kind = list[parts[0]] | None  # type: ignore[valid-type]
    elif get_origin(kind) in (Union, UnionType):
        kind = parts[0] | None if get_origin(parts[0]) is not Literal else kind
    if kind is bool:
        return Annotated[bool, typer.Option(f"--{name.replace('_', '-')}", **words)]
    if "least" in rule:
        words["min"] = rule["least"]
    return Annotated[kind, typer.Option(**words)]


_ROLES: Any = group_of(Roles, "The data")
_MATRIX: Any = group_of(MatrixOptions, "Images, genes, genotypes")
#: Settings that have an option of their own; the others are given by --set.
OWN_OPTIONS = ("trees", "candidates", "draw", "seed")
_TREES: Any = group_of(ForestSettings, "The forest", OWN_OPTIONS)
#: Settings that --set takes beside those of the trees.
_SET_TOO = ("bins", "class_weight", "save_every")
#: Names of settings in the command line, where they are others than in Python.
IN_SHELL = {
    **{
        setting.name: f"--set {setting.name}="
        for setting in fields(ForestSettings)
        if setting.name not in OWN_OPTIONS
    },
    **{name: f"--set {name}=" for name in _SET_TOO},
    "n_jobs": "--jobs",
    "pool": "--draw",
    "criterion": "--task",
    "n_relevant": "--relevant",
    "n_features": "--features",
}


def in_shell(sentences: Iterable[str]) -> tuple[str, ...]:
    """Sentences that speak of options and commands in the place of arguments and functions."""
    return tuple(
        words.in_shell(IN_SHELL) if isinstance(words, Sentence) else words for words in sentences
    )


@dataclass(frozen=True)
class Reading(_MATRIX, _ROLES):  # type: ignore[misc]  # made above
    """How the data are read."""

    time: Annotated[
        str | None,
        _data(
            help="Survival, with --event instead of --target: column of the time to the event or "
            "to censoring.",
            show_default=False,
        ),
    ] = None
    event: Annotated[
        str | None,
        _data(
            help="Survival: column that is 1 for an event and 0 for a censored time.",
            show_default=False,
        ),
    ] = None

    def read(
        self, data: Path | list[Path], target: str | None, screen: Screen, **how: Any
    ) -> Dataset:
        """The data set of a file, or of several images."""
        from nullforest.data.readers.tables import read_table

        how |= {
            option.name: () if value is None and option.name in _LISTS else value
            for option in fields(self)
            if option.name not in ("time", "event")
            for value in [getattr(self, option.name)]
        }
        first = data if isinstance(data, Path) else data[0]
        with screen.waiting(f"Reading {first.name}"):
            return read_table(data, self.target_name(target), **how)

    def words(self, target: str | None) -> list[str]:
        """The options that were given, as words of a command."""
        words = [] if target is None else ["--target", target]
        for option in fields(self):
            value = getattr(self, option.name)
            if value == option.default or not value:
                continue
            several = value if isinstance(value, list | tuple) else [value]
            name = f"--{option.name.replace('_', '-')}"
            words += [name] if value is True else [w for one in several for w in (name, str(one))]
        return words

    def has_target(self, target: str | None) -> bool:
        """Whether any option names the target."""
        return any(name is not None for name in (target, self.time, self.event))

    def target_name(self, target: str | None) -> TargetName:
        """The target that --target, or --time and --event, name."""
        if self.time is None and self.event is None:
            if target is None:
                raise InputError("Missing ", Setting("target"), "; give the column to predict.")
            return target
        if target is not None:
            raise InputError("--time and --event are the target; omit --target.")
        if self.time is None or self.event is None:
            raise InputError("Survival needs both --time and --event; give the other one, too.")
        return SurvivalColumns(self.event, self.time)


#: Options that may be given several times.
_LISTS = tuple(
    option.name
    for source in (Roles, MatrixOptions)
    for option in fields(source)
    if option.default == ()
)


@dataclass(frozen=True)
class Growing(_TREES):  # type: ignore[misc]  # made above
    """How the forest is grown."""

    set: Annotated[
        list[str] | None,
        _forest(
            metavar="NAME=VALUE",
            help="Any other setting of the forest, such as min_leaf=5, max_depth=none, "
            "samples=0.7, replace=true, shadows=20, bins=none or class_weight=balanced; may be "
            "given again.",
            show_default=False,
        ),
    ] = None

    def others(self, *names: str) -> dict[str, Any]:
        """Settings of --set that are not those of trees: of the data, of the saving."""
        return {name: value for name, value in self._set.items() if name in names}

    def words(self, grown: TreeSettings, n_trees: int) -> list[str]:
        """The options that grow the same forest again, with numbers for what the data decided."""
        words = ["--trees", str(n_trees), "--candidates", str(grown.candidates)]
        words += ["--draw", grown.draw, "--seed", str(grown.seed)]
        pairs = [pair for pair in self.set or () if not pair.startswith("save_every=")]
        if grown.shadows and "shadows" not in self._set:  # a number of trees alone has none
            pairs.append(f"shadows={grown.shadows}")
        return [*words, *(word for pair in pairs for word in ("--set", pair))]

    @property
    def settings(self) -> ForestSettings:
        """The settings of the trees."""
        chosen = {option.name: getattr(self, option.name) for option in fields(_TREES)}
        chosen["trees"] = _value(chosen["trees"])
        further = {name: value for name, value in self._set.items() if name not in _SET_TOO}
        return ForestSettings(**chosen | further)

    @property
    def _set(self) -> dict[str, Any]:
        names = {setting.name for setting in fields(ForestSettings)} - {*OWN_OPTIONS}
        settings = {}
        for pair in self.set or ():
            name, equals, value = pair.partition("=")
            if not equals or name not in names | {*_SET_TOO}:
                raise InputError(
                    f"--set {pair} names no setting; give one of "
                    f"{', '.join(sorted(names | {*_SET_TOO}))}, such as --set min_leaf=5."
                )
            settings[name] = _value(value)
        return settings


def _value(word: str) -> Any:
    """The value that a word stands for."""
    constants = {"none": None, "true": True, "false": False}
    if word.casefold() in constants:
        return constants[word.casefold()]
    for number in (int, float):
        try:
            return number(word)
        except ValueError:
            continue
    return word


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Turn every parameter that is a group into the options of that group."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    options: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if group := groups.get(name):
            kinds = get_type_hints(group, include_extras=True)  # each in the module of its class
            of_group = signature(group).parameters.items()
            options += [option.replace(annotation=kinds[key]) for key, option in of_group]
        else:
            options.append(parameter.replace(annotation=hints[name]))
    options = [option.replace(kind=Parameter.KEYWORD_ONLY) for option in options]

    @functools.wraps(command)
    def run(**chosen: Any) -> None:
        for name, group in groups.items():
            chosen[name] = group(**{one.name: chosen.pop(one.name) for one in fields(group)})
        command(**chosen)

    run.__signature__ = Signature(options)  # type: ignore[attr-defined]  # typer reads it
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def check_level(alpha: float) -> None:
    """Refuse a level outside (0, 1) before the library, which is slow to import, does."""
    if not 0.0 < alpha < 1.0:
        raise refused("alpha", alpha, "is no error rate; give a number between 0 and 1.")
