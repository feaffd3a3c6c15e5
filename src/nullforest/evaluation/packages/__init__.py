"""Tests of other packages: small adapters, used where the packages are installed."""

from nullforest.evaluation.packages.boruta_py import BorutaPy
from nullforest.evaluation.packages.package import OtherPackage, PackageResult, PackageTask
from nullforest.evaluation.packages.r_packages import Explainer, RangerAltmann, RangerJanitza

#: The tests by their names in `compare`.
PACKAGES: dict[str, OtherPackage] = {
    "boruta_py": BorutaPy(),
    "ranger_altmann": RangerAltmann(),
    "ranger_janitza": RangerJanitza(),
    "random_forest_explainer": Explainer(),
}

__all__ = ["PACKAGES", "OtherPackage", "PackageResult", "PackageTask"]
