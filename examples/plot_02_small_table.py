"""
A small table, beside Boruta
============================

Ten measurements of 442 patients, and the progression of diabetes a year later. With few features
most of them may be relevant, so each is compared with *shadows*, permuted copies of its own.
"""

# %%

from time import perf_counter

from boruta import BorutaPy
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

import nullforest as nf

X, y = load_diabetes(return_X_y=True, as_frame=True)

start = perf_counter()
selection = nf.select(nf.grow(X, y, seed=1))
ours = perf_counter() - start
print(selection)

# %%
# Boruta compares importances with those of shadows over many forests, and gives no p-values.

start = perf_counter()
forest = RandomForestRegressor(max_depth=5, random_state=0)
boruta = BorutaPy(forest, n_estimators="auto", random_state=0).fit(X, y)
theirs = perf_counter() - start
print("Boruta confirms", X.columns[boruta.support_].tolist())
print("and leaves open", X.columns[boruta.support_weak_].tolist())
print(f"nullforest took {ours:.1f} s, Boruta {theirs:.1f} s.")

# %%
# Text, categories, dates and missing values may stay as they are in the DataFrame.

mixed = X.assign(
    sex=(X["sex"] > 0).map({True: "a", False: "b"}),
    ward=["north", "south", "east"] * 147 + ["east"],
)
selection = nf.select(nf.grow(mixed, y, seed=1))
print(selection.table.to_string(index=False))
selection.plot("features", X=mixed, y=y, number=3)
