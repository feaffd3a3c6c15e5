"""Does an estimator keep scikit-learn's promises? Its own checks, one test each."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import scipy
from sklearn.utils.estimator_checks import estimator_checks_generator

#: Needs a variable of the environment that scipy reads when it is first imported, so it runs in a
#: process of its own (`check_array_api`).
APART = "check_array_api_input"
#: The paper's null is the quickest, and a high level keeps columns of the checks' small noisy data;
#: neither makes a difference to the promises.
LENIENT = {"null": "paper", "error": "fpr", "alpha": 0.9}


def parametrize(*cases):
    """Parametrize a test `(estimator, check)` with all checks of each `(estimator, failures)`.

    `failures` names the checks that are expected to fail, each with its reason.
    """
    parameters = []
    for number, (estimator, failures) in enumerate(cases):
        for case in estimator_checks_generator(
            estimator, expected_failed_checks=failures, mark="xfail"
        ):
            marks = getattr(case, "marks", ())
            instance, check = getattr(case, "values", case)
            name = check.func.__name__
            if name != APART:
                parameters.append(
                    pytest.param(
                        instance, check, marks=marks, id=f"{type(instance).__name__}{number}-{name}"
                    )
                )
    return pytest.mark.parametrize(("estimator", "check"), parameters)


def check_array_api(*expressions):
    """Run the check that stands apart on the estimators that the expressions make."""
    if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 14):
        pytest.skip("array namespaces of scikit-learn need SciPy 1.14")
    code = (
        "import inspect\n"
        "import nullforest as nf\n"
        f"from sklearn.utils.estimator_checks import {APART}\n"
        f"newer = 'expect_only_array_outputs' in inspect.signature({APART}).parameters\n"
        "options = {'expect_only_array_outputs': False} if newer else {}\n"
        f"for estimator in ({', '.join(expressions)},):\n"
        f"    {APART}('estimator', estimator, array_namespace='numpy', **options)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
