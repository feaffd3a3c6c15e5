from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

class RankTable:
    @overload
    def __init__(self, x: NDArray[Any], n_threads: int, first_feature: int = 0) -> None: ...
    @overload
    def __init__(
        self,
        x: Any,
        n_samples: int,
        block: NDArray[np.uint8],
        differs: NDArray[np.uint64],
        n_known: NDArray[np.uint32],
        flags: NDArray[np.uint8],
        fingerprint: int,
        most_resident: int,
        value_bytes: int,
    ) -> None: ...
    def column(self, number: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8], int]: ...
    def arrays(
        self,
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint8]]: ...
    @property
    def n_samples(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def has_missing(self) -> bool: ...
    @property
    def fingerprint(self) -> int: ...
    @property
    def infinite_feature(self) -> int: ...

class Probes:
    def __init__(
        self,
        table: RankTable,
        feature_strata: NDArray[np.int64],
        n_probes: list[int],
        copies: list[bool],
        seed: int,
        in_tree: int,
        at_node: int,
        sides: list[int],
        rankings: NDArray[np.uint32],
        weights: NDArray[np.float64],
    ) -> None: ...
    @property
    def ids(self) -> NDArray[np.int64]: ...
    @property
    def strata(self) -> NDArray[np.int64]: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...
    def column(self, number: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8], int]: ...

def tie_profile(
    table: RankTable,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def luck_of_rankings(
    table: RankTable,
    feature_strata: NDArray[np.int64],
    copies: list[bool],
    criterion: str,
    y: NDArray[Any],
    n_classes: int,
    weight: NDArray[np.float64] | None,
    seed: int,
    stratum: int,
    side: int,
    least: int,
) -> NDArray[np.float32]: ...
def grow(
    table: RankTable,
    criterion: str,
    y: NDArray[Any],
    n_classes: int,
    weight: NDArray[np.float64] | None,
    settings: dict[str, Any],
    probes: Probes | None,
    coupling_edges: list[float],
    n_threads: int,
    max_seconds: float,
    earlier: dict[str, Any],
    progress: Any,
) -> dict[str, Any]: ...
def predict(
    trees: dict[str, Any], x: Any, n_samples: int, n_threads: int
) -> NDArray[np.float64]: ...
def apply(trees: dict[str, Any], x: Any, n_samples: int, n_threads: int) -> NDArray[np.int32]: ...
def permuted_errors(
    trees: dict[str, Any],
    x: Any,
    n_samples: int,
    y: NDArray[Any],
    is_classes: bool,
    settings: dict[str, Any],
    n_threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def shuffle(n: int, key: int, count: int) -> list[int]: ...
def tree_key(seed: int, tree: int) -> int: ...
def isa() -> str: ...
