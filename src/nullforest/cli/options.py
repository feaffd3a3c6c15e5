"""Options that several commands share, and groups of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_type_hints

import typer

from nullforest._util.errors import InputError
from nullforest._util.words import printable
from nullforest.cli.matrix_options import MatrixReading

if TYPE_CHECKING:
    from nullforest.cli.screen import Screen
    from nullforest.data.readers import Table
    from nullforest.data.readers.survival_columns import TargetName
    from nullforest.forest.settings import ForestSettings

# The same words as in the library, written out so that --help need not import it; a test holds
# the two together.
ErrorName = Literal["fdr", "fdr_by", "fpr", "fwer"]
NullName = Literal["auto", "probes", "shadows", "bagged", "paper"]
DrawName = Literal["node", "tree"]
TaskName = Literal["auto", "classification", "regression"]

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
Draw = Annotated[DrawName, _forest(help="Draw candidate features at each node, or once per tree.")]
Trees = Annotated[
    str,
    _forest(
        metavar="N|auto",
        help="Number of trees; auto: until another seed is expected to select the same features.",
    ),
]
MaxTrees = Annotated[
    int | None,
    _forest(min=1, help="With --trees auto: largest number of trees.", show_default="by the data"),
]
MaxSeconds = Annotated[
    float | None,
    _forest(min=0.0, help="Time for the forest; it ends with the trees grown by then."),
]
Candidates = Annotated[
    int | None, _forest(min=1, help="Features compared at each node.", show_default="by the data")
]
Samples = Annotated[float, _forest(help="Share of the samples each tree sees.")]
Seed = Annotated[int, _forest(min=0, help="The same seed gives the same result.")]
Bins = Annotated[
    str,
    _forest(
        metavar="N|auto|none",
        help="Rank columns into at most N quantile bins, 2 to 256; auto: 256 from 20 000 samples "
        "on; none for exact splits.",
    ),
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
FirstTree = Annotated[
    int,
    _forest(
        min=0,
        help="Number of the first tree: machines that grow different trees of one seed can add "
        "their tallies with nullforest merge.",
    ),
]
Resume = Annotated[
    Path | None,
    _forest(
        "--resume", help="Folder in which the run is kept, and from which it resumes after a kill."
    ),
]
SaveEvery = Annotated[float, _forest(min=0.0, help="With --resume: seconds between two savings.")]
TableOut = Annotated[Path | None, _out("--table", help="The table, as CSV.")]
JsonOut = Annotated[Path | None, _out("--json", help="The result, as JSON.")]
ReportOut = Annotated[Path | None, _out("--report", help="A page for the browser (HTML).")]
H5adOut = Annotated[
    Path | None, _out("--h5ad", help="The cells again as .h5ad, with the results in var and uns.")
]
MapsOut = Annotated[
    Path | None,
    _out("--maps", help="Folder for maps of −log10 p, q, selected features and effect of images."),
]
ClustersOut = Annotated[
    Path | None,
    _out("--clusters", help="Connected clusters of selected voxels or vertices, as CSV."),
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
GroupTableOut = Annotated[Path | None, _out("--group-table", help="The groups, as CSV.")]
SelectionPlotOut = Annotated[
    Path | None,
    _out(
        "--plot",
        help="A picture (PNG, SVG, PDF): glass brain, surfaces, Manhattan plot, or counts.",
    ),
]
TallyOut = Annotated[Path | None, _out("--tally", help="The selection counts, for merge and plan.")]
PlotOut = Annotated[Path | None, _out("--plot", help="A picture: PNG, SVG or PDF.")]
_page = partial(typer.Option, rich_help_panel="The report")
FeaturesInReport = Annotated[
    int,
    _page(
        min=0,
        help="Features that have a picture in the report, which holds their values; 0 for none.",
    ),
]
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


@dataclass(frozen=True)
class Reading(MatrixReading):
    """How the data are read."""

    takes_categories: ClassVar[bool] = False

    ids: Annotated[str | None, _data(help="Column that names the samples.", show_default=False)] = (
        None
    )
    drop: Annotated[list[str] | None, _data(help="Column to leave out; may be given again.")] = None
    task: Annotated[TaskName, _data(help="What the target is; told from its type.")] = "auto"
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
    transpose: Annotated[
        bool,
        _data(
            "--transpose",
            help="Rows are features and columns are samples, as in tables of genes × samples; the "
            "target is a row.",
        ),
    ] = False
    decimal: Annotated[
        Literal[".", ","] | None,
        _data(help="Decimal mark of the numbers.", show_default="told from the table"),
    ] = None

    def read(self, data: Path | list[Path], target: str | None, screen: Screen) -> Table:
        """The table of a file, or of several images."""
        from nullforest.data.readers import read_table

        given: dict[str, Any] = dict(vars(self)) | self.matrix_options()
        of_target = self.target_name(target)
        del given["time"], given["event"]
        lists: dict[str, Any] = {n: given[n] or () for n in ("drop", "adjust") if n in given}
        first = data if isinstance(data, Path) else data[0]
        with screen.waiting(f"Reading {first.name}"):
            table = read_table(data, of_target, **(given | lists))
        if table.categories is not None and not self.takes_categories:
            name = table.feature_names[table.categories.argmax()]
            raise InputError(
                f"Column {str(name)!r} holds text, and categories are taken by nullforest select "
                "alone; leave it out with --drop, or encode it as numbers."
            )
        return table

    def has_target(self, target: str | None) -> bool:
        """Whether any option names the target."""
        return any(name is not None for name in (target, self.time, self.event))

    def target_name(self, target: str | None) -> TargetName:
        """The target that --target, or --time and --event, name."""
        from nullforest.data.readers.survival_columns import SurvivalColumns

        if self.time is None and self.event is None:
            if target is None:
                raise InputError("Missing --target; give the column to predict.")
            return target
        if target is not None:
            raise InputError("--time and --event are the target; omit --target.")
        if self.time is None or self.event is None:
            raise InputError("Survival needs both --time and --event; give the other one, too.")
        return SurvivalColumns(self.event, self.time)

    def target_words(self, target: str | None) -> list[str]:
        """The options that name the target."""
        if self.time is None or self.event is None:
            return ["--target", str(target)]
        return ["--time", self.time, "--event", self.event]


@dataclass(frozen=True)
class BlockReading(Reading):
    """How the table is read, with blocks and covariates; text may be a feature."""

    takes_categories: ClassVar[bool] = True

    blocks: Annotated[
        str | None,
        _data(
            help="Column of blocks (site, batch, family): features are tested for association "
            "with the target within blocks.",
            show_default=False,
        ),
    ] = None
    adjust: Annotated[
        list[str] | None,
        _data(
            help="Covariate (age): features are tested for association with the target given "
            "it; repeat for several.",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True)
class Growing:
    """How the forest is grown."""

    trees: Trees = "auto"
    candidates: Candidates = None
    draw: Draw = "node"
    samples: Samples = 0.5
    replace: Annotated[bool, _forest("--replace", help="Draw samples with replacement.")] = False
    min_leaf: Annotated[
        int | None, _forest(min=1, help="Fewest samples in a leaf.", show_default="by the target")
    ] = None
    max_depth: Annotated[
        int, _forest(min=0, help="Most splits between root and leaf; 0 for no limit.")
    ] = 3
    shadows: Annotated[
        str,
        _forest(
            metavar="N|auto",
            help="Permuted copies of each feature that compete with it; auto: with --trees auto "
            "and fewer than 500 features, or with blocks.",
        ),
    ] = "auto"
    seed: Seed = 0

    def settings(self, first_tree: int = 0) -> ForestSettings:
        """The settings of the forest."""
        from nullforest.forest.settings import ForestSettings

        given = vars(self) | {"max_depth": self.max_depth or None, "first_tree": first_tree}
        for name in ("trees", "shadows"):
            word = given[name]
            given[name] = int(word) if word.isascii() and word.isdigit() else "auto"
            if str(given[name]) != word:
                raise InputError(f"--{name} {printable(word)} must be a whole number, or auto.")
        return ForestSettings(**given)


def bins_of(word: str) -> int | Literal["auto"] | None:
    """The option --bins as :class:`nullforest.RankTable` takes it."""
    if word in ("auto", "none"):
        return "auto" if word == "auto" else None
    if not (word.isascii() and word.isdigit()):
        raise InputError(f"--bins {printable(word)} must be a whole number, auto or none.")
    return int(word)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Turn every parameter that is a group into the options of that group."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    options: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if group := groups.get(name):
            own = get_type_hints(group, include_extras=True)  # each in the module of its class
            of_group = signature(group).parameters.items()
            options += [option.replace(annotation=own[key]) for key, option in of_group]
        else:
            options.append(parameter.replace(annotation=hints[name]))
    options = [option.replace(kind=Parameter.KEYWORD_ONLY) for option in options]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    run.__signature__ = Signature(options)  # type: ignore[attr-defined]  # typer reads it
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def check_level(alpha: float) -> None:
    """Refuse a level outside (0, 1) before the library, which is slow to import, does."""
    if not 0.0 < alpha < 1.0:
        raise InputError(f"alpha = {alpha} is no error rate; give a number between 0 and 1.")
