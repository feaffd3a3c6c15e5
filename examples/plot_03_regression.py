"""
A number to predict
===================

Friedman's function depends on five of thirty features, one of them through its square, two
through their product. A forest finds them all; a correlation would miss some.
"""

# %%

import matplotlib.pyplot as plt
from scipy.stats import spearmanr
from sklearn.datasets import make_friedman1

import nullforest as nf

X, y = make_friedman1(500, 30, noise=1.0, random_state=0)
names = [f"x{i}" for i in range(1, 31)]
selection = nf.select(nf.grow(X, y, feature_names=names, seed=1))
print(selection)

# %%
# The third feature acts through the square of its distance from ½, so that its correlation with
# y is small.

figure, axes = plt.subplots(1, 5, figsize=(12, 2.6), sharey=True, layout="constrained")
for column, ax in enumerate(axes):
    ax.plot(X[:, column], y, ".", markersize=2, color="0.3")
    ax.set_title(f"{names[column]}, ρ = {spearmanr(X[:, column], y).statistic:.2f}")
plt.show()
