"""Tests of other packages: small adapters, used where the packages are installed."""

from nullforest.evaluation.packages.boruta_py import BorutaPy
from nullforest.evaluation.packages.package import OtherPackage, PackageResult, PackageTask
from nullforest.evaluation.packages.r_packages import InR

#: The tests by their names in `compare`.
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

__all__ = ["PACKAGES", "OtherPackage", "PackageResult", "PackageTask"]
