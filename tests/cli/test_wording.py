"""Notes advise what the interface in use offers: arguments in Python, options in the shell."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import numpy as np
import pytest

import nullforest as nf
from nullforest._util.words import AUDIT, GROW, PERMUTATION_TEST, Sentence
from nullforest.cli.options import IN_SHELL, in_shell
from nullforest.data.targets import as_target
from nullforest.forest.settings import ForestSettings
from nullforest.nulls.probes import Basis
from nullforest.report.cautions import cautions
from nullforest.run.schedule import Question, UntilSettled
from nullforest.selection.agreement import Agreement
from nullforest.selection.selection import null_mean_notes


def _sentences():
    """Notes and cautions of runs that have something to note."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 40)), np.arange(60) % 2
    few = nf.grow(X, y, trees=30).tally
    yield from null_mean_notes(few, nf.null(few, "probes"))
    for null in ("bagged", "paper", "probes"):
        selection = nf.select(few, 0.001, "fpr", null)
        yield from selection.notes
        yield from cautions(selection, target=as_target(["a"] * 5 + ["b"] * 55, 60))
    pooled = nf.grow(X, y, trees=30, draw="tree", candidates=4, max_depth=None).tally
    for null in ("bagged", "probes"):
        yield from nf.select(pooled, null=null).notes
    yield from nf.watch(X, y, trees=40).notes
    yield from cautions(nf.watch(X, y, trees=40))
    yield from (basis.value for basis in Basis if basis.value)
    forest, unsettled = nf.grow(X, y, trees=30), Agreement(0.5, 0.1, 0.2, 3)
    schedule = UntilSettled(Question(), 30, watched=False)
    for early in (True, False):
        yield schedule._note(forest, early, unsettled)
        yield schedule._note(forest, early, None)
    yield from nf.Dataset.of(X, np.arange(60) % 4).notes
    yield nf.grow(X, y, trees=10**6, max_seconds=0.05).note


@pytest.fixture(scope="module")
def sentences():
    found = sorted(set(_sentences()))
    assert len(found) > 8
    return found


def test_python_is_told_arguments_that_exist(sentences):
    known = {*inspect.signature(nf.grow).parameters, *inspect.signature(nf.select).parameters}
    for words in sentences:
        assert "--" not in words
        assert "nullforest compare" not in words
        assert set(re.findall(r"\b([a-z_]+)=", words)) <= known, words
        for name in re.findall(r"\bnf\.[\w.]+\w", words):
            place = nf
            for part in name.split(".")[1:]:
                place = getattr(place, part)


def test_the_shell_is_told_options_that_exist(sentences, run):
    page = " ".join(run("select", "--help").output.split())
    for words in in_shell(sentences):
        assert "nf." not in words
        for pair in re.findall(r"--set (\w+)", words):
            assert pair in {field.name for field in fields(ForestSettings)}, words
        words = re.sub(r"--set \w+(=\w*)?", "--set", words)
        assert not re.search(r"\b[a-z_]+=", words), words
        assert "_" not in words
        for option in re.findall(r"--[\w-]+", words):
            assert option in page or option == "--nulls", words  # the latter of audit
        for command in re.findall(r"nullforest (?:select|compare|audit)", words):
            assert command in {AUDIT.command, GROW.command, PERMUTATION_TEST.command}


def test_a_sentence_speaks_both_languages():
    note = nf.select(nf.grow(*nf.simulate.independent(40, 30, 0)[:2], trees=20)).notes[0]
    assert isinstance(note, Sentence)
    assert "(shadows=)" in note
    assert "(--set shadows)" in note.in_shell(IN_SHELL)
    assert "(nullforest compare)" in note.in_shell(IN_SHELL)


def test_a_usual_run_has_no_notes():
    X, y, _ = nf.simulate.independent(100, 1000, 5, 0.6)
    selection = nf.select(nf.grow(X, y))
    assert selection.notes == ()
    assert cautions(selection) == []
