"""Selection counts of other libraries' forests, by walking what each library itself dumps."""

from __future__ import annotations

import json
import re


def lightgbm_counts(booster, n_features: int) -> tuple[list[int], list[int]]:
    """From `dump_model`, node by node."""
    counts, nodes = [0] * n_features, []
    for tree in booster.dump_model()["tree_info"]:
        stack, found = [tree["tree_structure"]], 0
        while stack:
            node = stack.pop()
            if "split_feature" in node:
                counts[node["split_feature"]] += 1
                found += 1
                stack += [node["left_child"], node["right_child"]]
        nodes.append(found)
    return counts, nodes


def xgboost_counts(booster, names: list[str]) -> tuple[list[int], list[int]]:
    """From `get_dump`, node by node."""
    counts, nodes = [0] * len(names), []
    for text in booster.get_dump(dump_format="json"):
        stack, found = [json.loads(text)], 0
        while stack:
            node = stack.pop()
            if "split" in node:
                counts[names.index(node["split"])] += 1
                found += 1
                stack += node["children"]
        nodes.append(found)
    return counts, nodes


def spark_counts(debug: str, n_features: int) -> tuple[list[int], list[int]]:
    """From `toDebugString`, in which each internal node has a line `If (feature 3 ...)`."""
    counts, nodes = [0] * n_features, []
    for line in debug.splitlines():
        if re.match(r"\s*Tree \d+", line):
            nodes.append(0)
        elif found := re.match(r"\s*If \(feature (\d+)", line):
            counts[int(found[1])] += 1
            nodes[-1] += 1
    return counts, nodes


def coupling(weight, y, whole: float) -> float:
    """Coupling of a node, by its definition; y has one row per sample."""
    total = sum(weight)
    mean = [
        sum(w * row[k] for w, row in zip(weight, y, strict=True)) / total for k in range(len(y[0]))
    ]
    squares = [sum((a - b) ** 2 for a, b in zip(row, mean, strict=True)) for row in y]
    first = sum(w * s for w, s in zip(weight, squares, strict=True))
    second = sum(w * w * s for w, s in zip(weight, squares, strict=True))
    return first**2 / (second * whole) if second else 0.0  # LightGBM splits pure nodes, too
