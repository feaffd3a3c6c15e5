"""The tables of the page on speed, from benchmarks/results."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pandas as pd

from studies.markdown import filled, markdown

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
_WAYS = {
    "nullforest": "ratio",
    "nullforest, with virtual probes": "with virtual probes",
    "nullforest, trees kept and out-of-bag": "trees kept, out-of-bag",
    "nullforest, bootstrap": "bootstrap",
}
PERMUTATION_TEST = "the paper's 250 label permutations"
_SETS = {"avx512": "AVX-512", "avx2": "AVX2", "portable": "portable"}


def seconds(value: float) -> str:
    """A time with two or three digits."""
    return f"{value:.3f} s" if value < 0.1 else f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def multiple(value: float) -> str:
    """A ratio of times."""
    return f"{value:.1f} ×" if value < 10 else f"{value:.0f} ×"


def answers() -> pd.DataFrame:
    """Time to the default answer beside other tests."""
    rows = []
    table = pd.read_csv(RESULTS / "answer.csv").dropna(subset="seconds")
    for data in table.loc[table["test"] == "nullforest", "data"]:
        times = table[table["data"] == data].set_index("test")["seconds"]
        row = {"data": data, "nullforest": seconds(times["nullforest"])}
        for test, name in {"ranger_janitza": "ranger, Janitza", "boruta_py": "boruta_py"}.items():
            stopped = f"{test}, stopped" in times  # in the same run; to its end in another
            found = times[f"{test}, stopped" if stopped else test]
            more = "> " if stopped else ""
            ratio = multiple(found / times["nullforest"])
            row[name] = f"{more}{seconds(found)} ({more}{ratio})"
        rows.append(row)
    return pd.DataFrame(rows)


def small_tables() -> pd.DataFrame:
    """The whole answer on small tables beside one fit of other forests and boruta_py."""
    rows = []
    for _, found in pd.read_csv(RESULTS / "tables.csv").iterrows():
        ours = found["nullforest"]
        row = {"table": found["table"], "trees": f"{found['trees']:,}".replace(",", " ")}
        row |= {"selected": found["selected"], "nullforest": seconds(ours)}
        for other in ("scikit-learn", "scikit-learn-intelex", "boruta_py"):
            more = "> " if pd.isna(found[f"{other} selected"]) else ""
            row[other] = f"{more}{seconds(found[other])} ({more}{multiple(found[other] / ours)})"
        rows.append(row)
    return pd.DataFrame(rows)


def forests() -> pd.DataFrame:
    """Time of a forest beside scikit-learn's, and ratios to other forests."""
    table = pd.read_csv(RESULTS / "engine.csv").dropna(subset="samples")
    rows = []
    for work, part in table.groupby("work", sort=False):
        ours = part[part["other"] == "scikit-learn"].set_index("engine")
        plain = part[part["engine"] == "nullforest"].set_index("other")
        first = ours.iloc[0]
        shape = f"{first['samples']:,.0f} × {first['features']:,.0f}".replace(",", " ")
        row = {
            "work": work,
            "samples × features": shape,
            "trees": f"{first['trees']:,.0f}".replace(",", " "),
            "candidates": int(first["candidates"]),
            "scikit-learn": seconds(ours.loc["nullforest", "other_seconds"]),
            "nullforest": seconds(ours.loc["nullforest", "seconds"]),
        }
        for way, name in _WAYS.items():
            row[name] = multiple(ours.loc[way, "ratio"]) if way in ours.index else "–"
        for other in ("scikit-learn-intelex", "ranger"):
            known = other in plain.index
            row[f"to {other}"] = multiple(plain.loc[other, "ratio"]) if known else "–"
        rows.append(row)
    return pd.DataFrame(rows)


def scaling() -> pd.DataFrame:
    """Ranking and growing with more features and more trees."""
    table = pd.read_csv(RESULTS / "scaling.csv")
    kept = (table["n_features"] == 10_000) | (table["trees"] == 1_000)
    table = table[kept & (table["trees"] != 2_000)]
    counts = {"n_features": "features", "trees": "trees"}
    columns = {name: table[key].map("{:,}".format) for key, name in counts.items()}
    shown = pd.DataFrame(columns).replace(",", " ", regex=True)
    memory = table["memory_over_input"].map("{:.2f}".format)
    return shown.assign(
        ranking=table["ranking_seconds"].map(seconds),
        growing=table["growing_seconds"].map(seconds),
        # Where X is small, what Python needs besides is more.
        **{"additional memory ÷ memory of X": memory.where(table["n_features"] > 1_000, "(small)")},
    )


def permutations() -> pd.DataFrame:
    """Forests on permuted labels in one call, beside as many calls."""
    table = pd.read_csv(RESULTS / "engine.csv")
    table = table[table["engine"] == "nullforest.grow_many"]
    return pd.DataFrame(
        {
            "250 forests in one call": table["work"].str.split(", ").str[1],
            "time": table["seconds"].map(seconds),
            "as long as": table["ratio"].map("{:.0f} single forests".format),
        }
    )


def short_text() -> str:
    """What the README says of speed."""
    table = pd.read_csv(RESULTS / "engine.csv")
    found = table[table["work"] == "A"]
    other = found[found["engine"] == "nullforest"].set_index("other")["ratio"]
    taken = found[found["other"] == "scikit-learn"].set_index("engine")["seconds"]
    parts = pd.read_csv(RESULTS / "parts.csv").set_index("part")["seconds"]
    text = (
        "A forest of 500 fully grown trees on 250 samples and 5 000 features (250 candidates per "
        f"node) takes {seconds(taken['nullforest'])} on two cores; scikit-learn takes "
        f"{other['scikit-learn']:.0f} times as long, ranger {other['ranger']:.0f} times. With "
        f"virtual probes it takes {seconds(taken['nullforest, with virtual probes'])}. The paper's "
        "test by 250 label permutations, for which it reports 22 hours, takes "
        f"{seconds(parts[PERMUTATION_TEST])}."
    )
    # No line begins with a unit.
    return textwrap.fill(text.replace(" s", "\0s"), 100).replace("\0", " ")


def instruction_sets() -> pd.DataFrame:
    """Processor time by the kernels of each instruction set."""
    table = pd.read_csv(RESULTS / "instruction_sets.csv")
    wide = table.pivot_table("processor_seconds", "work", "instruction_set", sort=False)
    ratio = wide.div(wide.min(axis=1), axis=0)
    shown = {
        name: wide[key].map(seconds) + " (" + ratio[key].map(multiple) + ")"
        for key, name in _SETS.items()
    }
    return pd.DataFrame(shown).reset_index()


def short_time(value: float) -> str:
    """A time that may be less than a millisecond."""
    if value < 1e-4:
        return f"{1e6 * value:.2f} µs"
    return f"{1000 * value:.1f} ms" if value < 0.1 else seconds(value)


def parts() -> pd.DataFrame:
    """Times of single parts."""
    table = pd.read_csv(RESULTS / "parts.csv")
    return pd.DataFrame(
        {
            "part": table["part"],
            "time": table["seconds"].map(short_time),
            "script": "`benchmarks/" + table["script"] + "`",
        }
    )


TABLES = {
    "answer": answers,
    "tables": small_tables,
    "engine": forests,
    "permutations": permutations,
    "scaling": scaling,
    "instruction sets": instruction_sets,
    "parts": parts,
}


def with_tables(text: str) -> str:
    """The page with every table between its markers."""
    return filled(text, {name: markdown(make()) for name, make in TABLES.items()})
