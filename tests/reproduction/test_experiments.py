"""Experiments in the smallest size: they run, resume, and give the expected tables."""

import json
from dataclasses import asdict
from typing import get_args

import numpy as np
import pandas as pd
import pytest

from nullforest._util.errors import InputError
from reproduction import NAMES, experiments, reproduce
from reproduction.computing import compute
from reproduction.experiment import Size
from reproduction.outcomes import Outcome, outcome_of, read_outcomes
from reproduction.running import finished_results, run_cells, unfinished, work
from reproduction.store import Cell, Store


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """All experiments, once."""
    out = tmp_path_factory.mktemp("reproduction")
    return out, reproduce(out=out, size="tiny", jobs=1)


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_gives_a_table_a_figure_and_claims(tiny, name):
    out, done = tiny
    table = pd.read_csv(out / f"{name}.csv")
    assert len(table) == len(done.finished[name].table) > 0
    assert set(table["null" if name != "comparison" else "method"]) >= {"bagged"}
    assert (table["seed"] == 0).all()
    assert set(table["strategy"]) == {"I", "II"}
    rates = table.filter(regex="^(fpr|fnr|tpr|observed|model)(_far|_near)?$")
    values = rates.to_numpy()
    assert np.all(np.isnan(values) | ((values >= 0) & (values <= 1)))
    assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (out / f"{name}.md").read_text("utf-8").count("\n") == len(table) + 4
    assert done.finished[name].claims
    assert all(claim.evidence for claim in done.finished[name].claims)


def test_page_shows_every_figure_and_loads_nothing(tiny):
    out, _ = tiny
    page = (out / "index.html").read_text("utf-8")
    assert page.count("<img ") == len(NAMES)
    assert page.count("data:image/png;base64,") == len(NAMES)
    assert "http" not in page


def test_verdict_lists_the_claims(tiny):
    out, done = tiny
    text = (out / "reproduction.md").read_text("utf-8")
    for one in done.finished.values():
        for claim in one.claims:
            assert f"| {claim.text} | {claim.evidence} |" in text


def test_near_and_far_false_positives_make_up_all(tiny):
    _, done = tiny
    table = done.finished["cortical"].table
    part = table[table["region_share"] > 0]
    low = part[["fpr_far", "fpr_near"]].min(axis=1)
    high = part[["fpr_far", "fpr_near"]].max(axis=1)
    # The means were rounded to six digits.
    assert ((part["fpr"] >= low - 1e-6) & (part["fpr"] <= high + 1e-6)).all()
    assert table[table["region_share"] == 0]["fpr_near"].isna().all()


def test_control_and_high_dimensional_share_their_forests(tiny):
    out, _ = tiny
    store = Store(out / "runs", seed=0)
    (control,) = experiments(["control"])
    assert unfinished(control.cells("tiny"), control.runs["tiny"], store) == []


def small_cells():
    (experiment,) = experiments(["control"])
    return experiment.cells("tiny")


def records(store, runs):
    """What was computed, without how long it took."""
    found = finished_results(small_cells(), runs, store)
    return [[{**r, "seconds": 0} for r in runs] for _, runs in found]


class InterruptedStore(Store):
    """A store that is interrupted before it keeps its third run."""

    written = 0

    def add(self, cell, run, record):
        """Keep a run, but for the third."""
        if self.written == 2:
            raise KeyboardInterrupt
        self.written += 1
        super().add(cell, run, record)


def test_resumed_work_equals_uninterrupted_work_on_any_number_of_cores(tmp_path):
    cells, runs = small_cells(), 2
    whole = Store(tmp_path / "whole", seed=3)
    run_cells(cells, runs, whole, jobs=1)
    torn = InterruptedStore(tmp_path / "torn", seed=3)
    with pytest.raises(KeyboardInterrupt):
        run_cells(cells, runs, torn, jobs=1)
    resumed = Store(tmp_path / "torn", seed=3)
    assert len(unfinished(cells, runs, resumed)) == runs * len(cells) - 2
    told = []
    run_cells(cells, runs, resumed, jobs=2, report=lambda done, total: told.append(done / total))
    assert records(resumed, runs) == records(whole, runs)
    assert told == sorted(told)
    assert told[0] > 0  # the finished part counts as done
    assert told[-1] == pytest.approx(1.0)
    assert unfinished(cells, runs, resumed) == []


def test_other_seeds_and_parameters_never_meet_old_results(tmp_path):
    cell = small_cells()[0]
    store = Store(tmp_path, seed=0)
    with store.checkpoint:
        store.add(cell, 0, {"seconds": 1.0})
    assert Store(tmp_path, seed=1).runs(cell) == {}
    changed = Cell(cell.kind, {**cell.parameters, "trees": cell.parameters["trees"] + 1})
    assert Store(tmp_path, seed=0).runs(changed) == {}
    assert Store(tmp_path, seed=0).runs(cell) == {0: {"seconds": 1.0}}


def test_strategies_and_stop_rules_meet_the_same_data():
    from reproduction.computing import _independent_data

    (experiment,) = experiments(["comparison"])
    tables = [
        _independent_data(cell.parameters, 0, 0)[0].matrix
        for cell in experiment.cells("full")
        if cell.kind == "one_forest"
        and (cell.parameters["n_samples"], cell.parameters["n_features"]) == (100, 500)
        and cell.parameters["relevant_share"] == 0.02
    ]
    assert len(tables) == 14  # seven stop rules, two strategies
    assert all(np.array_equal(tables[0], other) for other in tables[1:])


def test_prefixes_of_the_power_experiment_are_forests_of_their_own(tmp_path):
    (experiment,) = experiments(["power"])
    cell = experiment.cells("tiny")[0]
    grown = compute(cell, 0, 0)["outcomes"]
    short = Cell("growing_forest", {**cell.parameters, "trees": 2 * cell.parameters["block"]})
    assert compute(short, 0, 0)["outcomes"] == grown[:2]
    single = Cell("one_forest", {**cell.parameters})
    whole = compute(single, 0, 0)
    whole.pop("seconds")
    assert whole == grown[-1]


def test_outcome_agrees_with_selecting_by_the_threshold():
    from nullforest import grow, null, simulate

    X, y, relevant = simulate.independent(80, 150, 10, seed=2)
    tally = grow(X, y, trees=60, candidates=15, probes=0).tally
    outcome = outcome_of(tally, {"irrelevant": ~relevant, "relevant": relevant})
    (again,) = read_outcomes([json.loads(json.dumps(asdict(outcome)))])
    for kind in ("paper", "bagged"):
        for alpha in (0.05, 0.01, 0.001):
            kappa = null(tally, kind).threshold(alpha)
            assert again.threshold(kind, alpha) == kappa
            assert again.false_positive_rate(kappa) == np.mean(tally.counts[~relevant] > kappa)
            assert again.false_negative_rate(kappa) == pytest.approx(
                np.mean(tally.counts[relevant] <= kappa)
            )


def permuted_cell(size):
    (experiment,) = experiments(["comparison"])
    return next(cell for cell in experiment.cells(size) if cell.kind == "permuted_forests")


def test_permutation_rates_count_exceedances_naively():
    (experiment,) = experiments(["comparison"])
    exceeded = np.random.default_rng(0).integers(0, 60, size=(2, 300))  # by run
    relevant = np.arange(300) < 30
    records = []
    for run in np.minimum(exceeded, 26):
        irrelevant, found = np.bincount(run[~relevant]), np.bincount(run[relevant])
        by_truth = {"irrelevant": irrelevant.tolist(), "relevant": found.tolist()}
        records.append({"at_least": by_truth, "larger": by_truth})
    table = experiment.table([(permuted_cell("full"), records)])
    p = exceeded / 250
    for row in table.itertuples():
        # The means are rounded to six digits.
        assert row.fpr == pytest.approx(np.mean(p[:, ~relevant] <= row.alpha), abs=1e-6)
        assert row.fnr == pytest.approx(np.mean(p[:, relevant] > row.alpha), abs=1e-6)
    assert set(table["method"]) == {"permutation", "permutation_larger"}


def test_every_feature_is_exceeded_by_some_number_of_permutations():
    cell = permuted_cell("tiny")
    record = compute(cell, 0, 0)
    for by_truth in (record["at_least"], record["larger"]):
        assert {len(numbers) for numbers in by_truth.values()} == {27}
        assert sum(map(sum, by_truth.values())) == cell.parameters["n_features"]
    for name, numbers in record["at_least"].items():
        assert np.all(np.cumsum(numbers) <= np.cumsum(record["larger"][name]))


def test_every_cell_has_its_share_of_the_work():
    for experiment in experiments():
        for size in get_args(Size):
            cells = experiment.cells(size)
            assert len({cell.key(0) for cell in cells}) == len(cells)
            assert all(work(cell) > 0 for cell in cells)


def test_unknown_experiments_and_too_few_runs_are_refused(tmp_path):
    with pytest.raises(InputError, match="no experiment"):
        reproduce(["nothing"], out=tmp_path)
    with pytest.raises(InputError, match="at least 2"):
        reproduce(["power"], out=tmp_path, runs=1)


def test_outcome_refuses_a_level_that_was_not_kept():
    outcome = Outcome({"irrelevant": [(0, 1)]}, {"paper": [0.5, 0.2]}, 1.0)
    with pytest.raises(ValueError, match="kept"):
        outcome.threshold("paper", 0.1)


def test_without_relevant_features_there_is_no_false_negative_rate():
    outcome = Outcome(
        {"irrelevant": [(0, 1), (1, 1), (2, 1)], "relevant": []}, {"paper": [0.6, 0.01]}, 3.0
    )
    assert outcome.false_positive_rate(1) == pytest.approx(1 / 3)
    assert np.isnan(outcome.false_negative_rate(1))
