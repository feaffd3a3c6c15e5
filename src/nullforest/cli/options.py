"""What can be asked on the command line? The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

# The same words as in the library, written out so that --help need not import it; a test holds
# the two together.
ErrorName = Literal["fpr", "fdr", "fdr_by", "fwer"]
NullName = Literal["auto", "probes", "bagged", "paper"]
DrawName = Literal["node", "tree"]
TaskName = Literal["auto", "classification", "regression"]

_HOW, _FOREST, _OUT = "How to decide", "The forest", "What to write"

Alpha = Annotated[float, typer.Option(help="Error rate to hold.", rich_help_panel=_HOW)]
ErrorOption = Annotated[
    ErrorName,
    typer.Option(
        "--error",
        help="What alpha limits: the false positive rate (fpr), the false discovery rate (fdr; "
        "fdr_by under any dependence), or the chance of any false positive (fwer).",
        rich_help_panel=_HOW,
    ),
]
NullOption = Annotated[
    NullName,
    typer.Option("--null", help="How a null feature behaves.", rich_help_panel=_HOW),
]
Draw = Annotated[
    DrawName,
    typer.Option(
        help="Draw candidate features anew at each node, or once per tree.",
        rich_help_panel=_FOREST,
    ),
]
Trees = Annotated[
    int | None,
    typer.Option(
        min=1, help="Number of trees.", show_default="by the data", rich_help_panel=_FOREST
    ),
]
Candidates = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Features compared at each node.",
        show_default="by the data",
        rich_help_panel=_FOREST,
    ),
]
Samples = Annotated[
    float, typer.Option(help="Share of the samples each tree sees.", rich_help_panel=_FOREST)
]
Replace = Annotated[
    bool,
    typer.Option("--replace", help="Draw samples with replacement.", rich_help_panel=_FOREST),
]
MinLeaf = Annotated[
    int, typer.Option(min=1, help="Fewest samples in a leaf.", rich_help_panel=_FOREST)
]
MaxDepth = Annotated[
    int | None,
    typer.Option(
        min=1, help="Deepest level of a tree.", show_default="no limit", rich_help_panel=_FOREST
    ),
]
Seed = Annotated[
    int,
    typer.Option(min=0, help="The same seed gives the same answer.", rich_help_panel=_FOREST),
]
FirstTree = Annotated[
    int,
    typer.Option(
        min=0,
        help="Number of the first tree: machines that grow different trees of one seed can add "
        "their tallies with nullforest merge.",
        rich_help_panel=_FOREST,
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        help="Folder in which the run is kept, and from which it goes on after a kill.",
        rich_help_panel=_FOREST,
    ),
]
SaveEvery = Annotated[
    float,
    typer.Option(
        min=0.0, help="With --resume: seconds between two savings.", rich_help_panel=_FOREST
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        help="Cores to use; -1 for all. No effect on the answer.", rich_help_panel=_FOREST
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        help="Grow on the workers of a cluster: address or scheduler file of a Dask scheduler, or "
        "'ray' (ray://… from elsewhere). No effect on the answer.",
        show_default=False,
        rich_help_panel=_FOREST,
    ),
]
TableOut = Annotated[
    Path | None, typer.Option("--table", help="All features, as CSV.", rich_help_panel=_OUT)
]
JsonOut = Annotated[
    Path | None, typer.Option("--json", help="The selection, as JSON.", rich_help_panel=_OUT)
]
ReportOut = Annotated[
    Path | None,
    typer.Option("--report", help="A page for the browser (HTML).", rich_help_panel=_OUT),
]
TallyOut = Annotated[
    Path | None,
    typer.Option(
        "--tally", help="What the forest chose, to add to or judge anew.", rich_help_panel=_OUT
    ),
]
PlotOut = Annotated[
    Path | None,
    typer.Option("--plot", help="A picture: PNG, SVG or PDF.", rich_help_panel=_OUT),
]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite existing files.", rich_help_panel=_OUT)
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=_OUT)
]
