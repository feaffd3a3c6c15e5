"""What do other packages say of the same data? Small adapters, used where they are installed."""

from nullforest.evaluation.packages.base import Peer, PeerAnswer, PeerTask
from nullforest.evaluation.packages.boruta_py import BorutaPy
from nullforest.evaluation.packages.r_packages import Explainer, RangerAltmann, RangerJanitza

#: The peers by the name that `compare` knows them by.
PEERS: dict[str, Peer] = {
    "boruta_py": BorutaPy(),
    "ranger_altmann": RangerAltmann(),
    "ranger_janitza": RangerJanitza(),
    "random_forest_explainer": Explainer(),
}

__all__ = ["PEERS", "Peer", "PeerAnswer", "PeerTask"]
