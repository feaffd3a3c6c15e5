"""The page on small tables, from the results of `studies.tables`."""

from __future__ import annotations

import pandas as pd

from nullforest.forest.null_column_budget import FEW_FEATURES
from studies.markdown import markdown
from studies.records import RESULTS
from studies.table_settings import summary
from studies.tables import FIRST_SEED, KINDS_SEED, MIXED_SEED, rates

_TEXT = """# Small tables: what is found, and the false positive rates reached

Written by `make study-tables` (`python -m studies.tables --page docs/tables.md`) from
`studies/results/tables_*.csv`. Defaults only; false discovery rate .05. With fewer than 500
features each feature is tested against its shadows
([theory](null_shadows.md)), from then on against virtual probes.

**What was set by hand.** The [constants](constants.md) of the shadows, on seeds below 10 000;
tables here have seeds from {first} on. After results with these seeds two rules for columns of
several kinds were changed (strata of categories, and the tail of a stratum), so the tables that
hold such columns have seeds from {mixed} and {kinds_from} on.

## Found

Features selected of the table's own, and of 50 columns of noise where these were appended; means
over seeds (with noise: over draws of the noise), and the range.

{found}

## Permuted labels

False positive rate ÷ level, ± one standard error over the data sets, and how often anything is
selected at a false discovery rate of .05. *Mixed* tables have 300 samples and 28 columns of seven
kinds, correlated with each other, and classes or log-normal numbers to predict.

{permuted}

## Kinds of columns

The same for null tables of 300 samples and 36 columns of nine kinds, by kind of column. Columns of
two values have small counts, so that p-values jump and stay below their level; they are randomised
here, which makes them continuous.

{kinds}

## Independent null tables

{independent}

## Where the default changes

{switch}

## Blocks

A batch agrees with the label in 85 % (or 50 %, that is not at all) of 120 samples. Of 2 000
features 10 differ between the labels and 100 between the batches, by 1.6 standard deviations. Means
of the selected features, and of the share of false ones (batch only, and noise) among them.

{blocks}

## Covariates

A label depends on one or three covariates (or not), and of 200 features 10 differ between the
labels by 1.2 standard deviations and 30 have a correlation of .8 with the covariates' sum. 200
samples. Means of the selected features, and of the share of false ones (covariate only, and noise)
among them.

{covariates}

## Settings

Share of the relevant features that is found when one setting differs from the defaults: half of the
samples per tree, leaves of one sample, depth 3, and 1 000 to 2 000 columns with the shadows. Tables
of 200 to 569 samples and 28 to 80 features (`studies/table_settings.py`); of diabetes and breast
cancer, to which 50 columns of noise are appended, all features count as relevant; an interaction is
the sign of a product of two features, which no search of one split at a time sees. The last columns
are the share of false features among the selected, and the number of runs over all tables. With two
or three runs of a table a difference of .2 may be chance, and none is larger: there is no reason
for other settings than those of wide tables.

{settings}

## scikit-learn's forests

`ForestSelector(RandomForestClassifier())` and `...Regressor()`, with their defaults, on 200 samples
of noise: 20 normal columns and 5 of two values, or 100 of each. Because the columns are of
different kinds, a second forest is fitted beside shadows. Data sets in which anything is selected.

{given}
"""


def _found() -> pd.DataFrame:
    rows = []
    for name, part in pd.read_csv(RESULTS / "tables_found.csv").groupby("data", sort=False):
        own, noise = part["selected"], part["noise"]
        share = (noise / (own + noise).clip(lower=1)).mean()
        rows.append(
            {
                "data": name,
                "runs": len(part),
                "selected": f"{own.mean():.1f} ({own.min()}–{own.max()})",
                "noise selected": f"{noise.mean():.2f}",
                "share of noise": f"{share:.1%}",
            }
        )
    return pd.DataFrame(rows)


def _switch() -> str:
    table = pd.read_csv(RESULTS / "tables_switch.csv")
    return (
        f"On {len(table)} tables of 150 samples and {FEW_FEATURES} features, the number from which "
        "on probes are used (one in ten relevant), shadows select "
        f"{table['shadows'].mean():.1f} features and probes {table['probes'].mean():.1f}; the two "
        f"selections have a mean Jaccard index of {table['jaccard'].mean():.3f}."
    )


def _blocks() -> pd.DataFrame:
    table = pd.read_csv(RESULTS / "tables_blocks.csv")
    false = table["batch only"] + table["noise"]
    table["false share"] = false / (false + table["true"]).clip(lower=1)
    rows = []
    for (agree, blocks), part in table.groupby(["agree", "blocks"], sort=False):
        rows.append(
            {
                "batch and label agree": f"{agree:.0%}",
                "blocks": "batch" if blocks else "none",
                "true": f"{part['true'].mean():.1f}",
                "batch only": f"{part['batch only'].mean():.1f}",
                "noise": f"{part['noise'].mean():.1f}",
                "false share": f"{part['false share'].mean():.2f}",
                "runs": len(part),
            }
        )
    return pd.DataFrame(rows)


def _covariates() -> pd.DataFrame:
    table = pd.read_csv(RESULTS / "tables_covariates.csv")
    false = table["covariate only"] + table["noise"]
    table["false share"] = false / (false + table["true"]).clip(lower=1)
    rows = []
    for (number, related, adjust), part in table.groupby(
        ["covariates", "related", "adjust"], sort=False
    ):
        rows.append(
            {
                "covariates": number,
                "label depends on them": "yes" if related else "no",
                "adjusted": "yes" if adjust else "no",
                **{n: f"{part[n].mean():.1f}" for n in ("true", "covariate only", "noise")},
                "false share": f"{part['false share'].mean():.2f}",
                "runs": len(part),
            }
        )
    return pd.DataFrame(rows)


def _given() -> pd.DataFrame:
    table = pd.read_csv(RESULTS / "tables_given_forests.csv")
    rows = []
    for (forest, columns), part in table.groupby(["forest", "columns"], sort=False):
        selected = part["normal"] + part["binary"]
        rows.append(
            {
                "forest": forest,
                "columns": columns,
                "anything selected": f"{(selected > 0).sum()} of {len(part)}",
                "a column of two values": f"{(part['binary'] > 0).sum()} of {len(part)}",
            }
        )
    return pd.DataFrame(rows)


def page() -> str:
    """The page."""
    return _TEXT.format(
        first=f"{FIRST_SEED:_}".replace("_", " "),
        mixed=f"{MIXED_SEED:_}".replace("_", " "),
        kinds_from=f"{KINDS_SEED:_}".replace("_", " "),
        found=markdown(_found()),
        permuted=markdown(rates("tables_permuted", ["data"])),
        kinds=markdown(rates("tables_kinds", ["target", "kind"])),
        independent=markdown(rates("tables_independent", ["F", "S"])),
        switch=_switch(),
        blocks=markdown(_blocks()),
        covariates=markdown(_covariates()),
        given=markdown(_given()),
        settings=markdown(summary()),
    )
