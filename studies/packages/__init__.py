"""Tests of other packages: small adapters, used where the packages are installed."""

from time import monotonic

from nullforest.evaluation.baselines.comparison import Answer, Problem, Test
from nullforest.selection.error_rates import decide
from studies.packages.boruta_py import BorutaPy
from studies.packages.package import OtherPackage, PackageResult, PackageTask
from studies.packages.r_packages import InR

#: The tests by their names.
PACKAGES: dict[str, OtherPackage] = {
    "boruta_py": BorutaPy(),
    "ranger_altmann": InR(
        "Label permutation, by R's ranger on Gini importance", "altmann", permuted=True
    ),
    "ranger_janitza": InR(
        "Janitza's mirrored null, by R's ranger on corrected Gini importance",
        "janitza",
        survival=True,
    ),
    "random_forest_explainer": InR(
        "Binomial p-value of split counts, by R's randomForestExplainer on ranger's forest",
        "explainer",
        ("ranger", "randomForestExplainer"),
    ),
}

__all__ = ["PACKAGES", "OtherPackage", "PackageResult", "PackageTask", "compared"]


def compared(package: OtherPackage) -> Test:
    """The test of a package as `nullforest.compare` runs tests, with the settings of its forest."""

    def run(problem: Problem) -> Answer:
        forest, start = problem.forest(), monotonic()
        survival = forest.target.survival
        if survival is not None and not package.survival:
            raise ValueError(f"{package.title} does not take survival times")
        result = package.run(
            PackageTask(
                X=problem.data.table.matrix,
                y=problem.data.target.y,
                classes=forest.classes is not None,
                trees=forest.n_trees,
                candidates=forest.settings.candidates,
                samples=int(forest.settings.samples),
                replace=forest.settings.replace,
                permutations=problem.permutations,
                rounds=problem.rounds,
                alpha=problem.alpha,
                seed=problem.seed,
                n_jobs=problem.n_jobs,
            )
        )
        support = result.support
        if support is None:
            support = decide(result.pvalues, problem.alpha, problem.error).support
        return Answer(support, result.pvalues, result.forests, monotonic() - start)

    return run
